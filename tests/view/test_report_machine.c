// The page of a run of machines: complete, well-formed, the same bytes every time, safe when memory
// runs out, and whole for runs in which nothing moves or trials end early. Runs are small but real.
#include "rig/rig.h"

#include "view/page.h"
#include "view/report_machine.h"
#include "view/run.h"

GROUP_FIXTURE(setup_context, teardown_context);

// A tetrahedron with an actuator that a neuron moves back and forth, a redundant bar that dangles,
// a neuron that matters by another, and one that does not.
static const char ancestor_text[] =
    "truss:\n"
    "  vertices:\n"
    "    - {position: [0, 0, 0.005]}\n"
    "    - {position: [0.1, 0, 0.005]}\n"
    "    - {position: [0.05, 0.09, 0.005]}\n"
    "    - {position: [0.05, 0.03, 0.08]}\n"
    "    - {position: [0.15, 0.03, 0.08]}\n"
    "  bars:\n"
    "    - {ends: [0, 1]}\n    - {ends: [1, 2]}\n    - {ends: [0, 2]}\n"
    "    - {ends: [0, 3]}\n    - {ends: [1, 3]}\n    - {ends: [2, 3]}\n    - {ends: [3, 4]}\n"
    "  actuators: [{bar: 0, range: [0.08, 0.12], neuron: 0}]\n"
    "  neurons:\n"
    "    - {kind: threshold, bias: 0.5}\n"
    "    - {kind: sigmoid, bias: -1}\n"
    "    - {kind: sigmoid, bias: 2}\n"
    "  synapses:\n"
    "    - {from: 0, to: 0, weight: -1}\n"
    "    - {from: 1, to: 0, weight: 0.25}\n"
    "    - {from: 0, to: 2, weight: 3}\n";

typedef struct Recipe {
    bool from_nothing;
    double jump; // [m]
    const char *search;
    int generations;
} Recipe;

static const Recipe usual = {.jump = 0.05, .search = "selection: rank", .generations = 3};

static Run evolve(mf_Context *context, const Recipe *recipe) {
    Run run = begin_run();
    const char *ancestor = formatted("%s/ancestor.truss.yaml", run.folder);
    file_put_text(ancestor, ancestor_text);
    evolve_run(
        context, &run,
        formatted("name: crawlers\nworld: {step: 0.25, seed: 2}\nground: {shape: flat}\ngroups:\n"
                  "  - name: machines\n%s    motion: {quasistatic: {tolerance: 0.0001, jump: %g, "
                  "actuator_speed: 0.04}}\n"
                  "    controller: {machine: {cycle: 0.5, change: 0.02, rest: 0.5}}\n"
                  "run: {duration: 3}\nsearch: {population: 8, survivors: 4, generations: 3, %s}\n",
                  recipe->from_nothing ? "" : formatted("    model: %s\n", ancestor), recipe->jump,
                  recipe->search),
        recipe->generations);
    return run;
}

static void assert_has(const char *page, const char *part) {
    if (strstr(page, part) == NULL)
        fail_msg("the page lacks: %s", part);
}

// Sections in this order and no others; drawings hold numbers only.
static void check_page(const char *page, const char *const *sections) {
    const char *at = page;
    uint32_t count = 0;
    for (; sections[count] != NULL; count++) {
        at = strstr(at, formatted("<section id=\"%s\">", sections[count]));
        if (at == NULL)
            fail_msg("the page lacks, or has elsewhere: %s", sections[count]);
    }
    assert_int_equal(count_elements(page, "section"), count);
    assert_int_equal(count_elements(page, "script"), 0);
    static const char *const wrong[] = {"=\"nan", " nan", "-nan", "inf\"", "Mnan", "1000000000"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (strstr(page, wrong[i]) != NULL)
            fail_msg("the page has: %s", wrong[i]);
}

// ---- pages -------------------------------------------------------------------------------------

TEST(page_is_complete_and_repeats) {
    static const char *const sections[] = {"crawl",   "body",     "path",    "network",   "stress",
                                           "gallery", "descent",  "fitness", "diversity", "family",
                                           "levels",  "settings", "repeat",  NULL};
    AUTO_RUN run = evolve(*state, &usual);
    AUTO(end_memory) char *page = page_of(*state, &run), *second = page_of(*state, &run);
    check_page(page, sections);
    assert_string_equal(page, second);
    assert_has(page, "the same bits");
    assert_has(page, "After 3 generations the best machine gets <b>");
    assert_has(page, "body lengths</span>");
    assert_has(page, "<iframe class=\"film\"");
    assert_has(page, "degrees of freedom of its vertices, rank ");
    assert_has(page, ">bar 0</text>");
    assert_has(page, "All bars in numbers");
    assert_has(page, "times smaller step");
    assert_null(strstr(page, "walk"));
    assert_null(strstr(page, "<th>robot</th>"));
}

// From nothing: in the first generation nobody has a bar.
TEST(nobody_has_a_body) {
    static const char *const sections[] = {"crawl",  "body",     "network", "fitness", "diversity",
                                           "family", "settings", "repeat",  NULL};
    const Recipe recipe = {
        .from_nothing = true, .jump = 0.05, .search = "selection: rank", .generations = 1};
    AUTO_RUN run = evolve(*state, &recipe);
    AUTO(end_memory) char *page = page_of(*state, &run);
    check_page(page, sections);
    assert_has(page, "does not move");
    assert_has(page, "It has no bars");
    assert_has(page, "It has no neurons");
}

TEST(ends_of_trials_are_reported) {
    const Recipe recipe = {.jump = 0.001, .search = "selection: rank", .generations = 2};
    AUTO_RUN run = evolve(*state, &recipe);
    AUTO(end_memory) char *page = page_of(*state, &run);
    count_elements(page, "section");
    assert_has(page, "Its trial ended after ");
    assert_has(page, "best fitness: its trial ended early");
    assert_has(page, "jump (");
}

TEST(repertoires_have_pages) {
    const Recipe recipe = {
        .jump = 0.05,
        .search = "selection: uniform, replacement: cell, descriptors: [{measure: bars, lower: 0, "
                  "upper: 20, cells: 20}, {measure: duty, lower: 0, upper: 1, cells: 4}]",
        .generations = 3};
    AUTO_RUN run = evolve(*state, &recipe);
    AUTO(end_memory) char *page = page_of(*state, &run);
    count_elements(page, "section");
    assert_has(page, "<section id=\"gallery\">");
    assert_has(page, "<section id=\"repertoire\">");
}

TEST(memory_may_run_out) {
    const Recipe recipe = {.jump = 0.05, .search = "selection: rank", .generations = 2};
    AUTO_RUN run = evolve(*state, &recipe);
    check_failing_reports(*state, &run, SANITIZED ? 37 : 5);
}

// ---- pictures ----------------------------------------------------------------------------------

static mf_Machine two_bars(void) {
    mf_Machine m = {.vertex_count = 4, .bar_count = 2, .actuator_count = 1};
    static const double at[4][3] = {
        {0, 0, 0.005}, {0.1, 0, 0.005}, {0, 0.05, 0.005}, {0, 0.05, 0.1}};
    for (int v = 0; v < 4; v++)
        memcpy(m.vertices[v].position, at[v], sizeof at[v]);
    m.bars[0] = (mf_TrussBar){.ends = {0, 1}, .diameter = 0.01};
    m.bars[1] = (mf_TrussBar){.ends = {2, 3}, .diameter = 0.01};
    m.actuators[0] = (mf_TrussActuator){.bar = 1, .lower = 0.05, .upper = 0.14};
    return m;
}

// Views are right-handed, lengths are to scale, and what is near is drawn last.
TEST(pictures_are_to_scale) {
    mf_Machine m = two_bars();
    double vertex[12], p[2], q[2];
    for (int i = 0; i < 12; i++)
        vertex[i] = m.vertices[i / 3].position[i % 3];
    const mf_MachinePose pose = {&m, vertex};
    static const double heading[2] = {1, 0};
    mf_MachineView side = mf_view_side(heading);
    mf_Box box = mf_box_none();
    mf_box_add_machine(&box, &side, &pose);
    mf_view_fit(&side, &box, 400.0, 400.0, 1000.0);
    assert_true(side.scale == 1000.0);
    mf_view_point(&side, vertex, p);
    mf_view_point(&side, vertex + 3, q);
    assert_true(q[0] - p[0] > 99.99 && q[0] - p[0] < 100.01 && p[1] == q[1]);
    assert_true(mf_pose_ground(&pose) > -1e-12 && mf_pose_ground(&pose) < 1e-12);
    mf_Text text = mf_text_begin(*state);
    mf_picture_machine(&text, &side, &pose, NULL);
    assert_false(text.failed);
    // Seen from y < 0 the actuator at y = 0.05 is behind the other bar.
    const char *rod = strstr(text.data, "class=\"rod\""),
               *tube = strstr(text.data, "class=\"tube\"");
    assert_true(rod != NULL && tube != NULL && rod < tube);
    assert_non_null(strstr(text.data, "class=\"rim\" stroke-width=\"10.0\"")); // 1 cm
    mf_text_free(&text);
    for (int k = 0; k < 4; k++) {
        const mf_MachineView views[4] = {side, mf_view_above(heading), mf_view_front(heading),
                                         mf_view_slanted(&pose)};
        const double *r = views[k].right, *u = views[k].up, *n = views[k].near;
        const double triple = n[0] * (r[1] * u[2] - r[2] * u[1]) +
                              n[1] * (r[2] * u[0] - r[0] * u[2]) +
                              n[2] * (r[0] * u[1] - r[1] * u[0]);
        assert_true(triple > 0.9999 && triple < 1.0001);
    }
}
