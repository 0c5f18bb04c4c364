// `draw` and `control` in scripts: what they draw, what their controls tell them, that a mistake
// ends the run with its line, and that the world has the same bits without them.
#include "rig/rig.h"
#include "scene/support.h"
#include "script/script.h"
#include "visual/draw.h"

#define SCENE                                                                                      \
    "world: {step: 0.01, seed: 7}\n"                                                               \
    "groups:\n"                                                                                    \
    "  - name: robots\n"                                                                           \
    "    model: ../models/hexapod.urdf\n"                                                          \
    "    motion: points\n"                                                                         \
    "    count: 2\n"                                                                               \
    "scripts:\n"                                                                                   \
    "  - name: s\n"                                                                                \
    "    text: |\n"

typedef struct Run {
    mf_Context *context;
    mf_SceneFile *file;
    mf_Scene scene;
    mf_Scripts *scripts;
    mf_Error error;
    char printed[400];
} Run;

static void take_line(const char *script, const char *line, void *user) {
    Run *run = user;
    const size_t used = strlen(run->printed);
    snprintf(run->printed + used, sizeof run->printed - used, "%s;", line);
}

// Runs a script, of which each line is indented, up to its start.
static Run *open_run(const char *script) {
    char text[4000];
    Run *run = calloc(1, sizeof *run);
    snprintf(text, sizeof text, "%s%s", SCENE, script);
    run->context = open_context(1);
    run->file = parse_scene(run->context, text);
    mf_SceneConfig scene = WITH(mf_scene_config(), .scripts = true);
    run->scene = make_with(run->context, run->file, &scene);
    const mf_ScriptHost host = {.print = take_line, .user = run};
    MUST(mf_scripts_create(&run->scene, &host, &run->scripts, &error));
    return run;
}

static void close_run(Run **run) {
    mf_scripts_destroy((*run)->scripts);
    drop_scene(&(*run)->scene, (*run)->file);
    close_context((*run)->context);
    free(*run);
}
#define AUTO_RUN AUTO(close_run) Run

static void step(Run *run, uint64_t steps) {
    uint64_t done;
    MUST(mf_scripts_step(run->scripts, steps, &done, &error));
    assert_int_equal(done, steps);
}

TEST(test_a_script_draws_all_kinds) {
    static const char *const names[] = {"cloud", "line", "push", "sign", "twin"};
    mf_DrawnLayer layer = {.serial = 0};
    AUTO_RUN *run = open_run(
        "      draw.points{name = 'cloud', at = {{1, 2, 3}, {4, 5, 6}}, size = 0.5}\n"
        "      draw.lines{name = 'line', at = {0, 0, 0, 1, 1, 1}, color = '#11223344'}\n"
        "      draw.arrows{name = 'push', at = {{0, 0, 0}, {0, 0, 1}}, group = 'robots',\n"
        "                  robot = 1, link = 'femur1'}\n"
        "      draw.text{name = 'sign', at = {0, 0, 1}, text = 'here', color = '#ff0000'}\n"
        "      draw.ghost{name = 'twin', group = 'robots', pose = {0, 0, 1, 1, 0, 0, 0}}\n"
        "      function tick(time) if time > 0.045 then draw.clear('cloud') end end\n");
    MUST(mf_scripts_start(run->scripts, &error));
    for (uint32_t k = 0; k < MF_DRAW_KINDS; k++) {
        assert_true(mf_draw_next(run->scene.world, layer.serial, &layer));
        assert_int_equal(layer.kind, k);
        assert_string_equal(layer.name, names[k]);
        if (k == MF_DRAW_POINTS)
            assert_true(layer.count == 6 && layer.numbers[5] == 6.0f && layer.thickness == 0.5f);
        if (k == MF_DRAW_LINES)
            assert_int_equal(layer.color, 0x11223344);
        if (k == MF_DRAW_ARROWS)
            assert_true(layer.robot == 1 && layer.link > 0 && layer.group != NULL);
        if (k == MF_DRAW_TEXT)
            assert_true(strcmp(layer.text, "here") == 0 && layer.color == 0xff0000ff);
    }
    assert_false(mf_draw_next(run->scene.world, layer.serial, &layer));
    step(run, 5);
    assert_false(mf_draw_next(run->scene.world, layer.serial, &layer));
    step(run, 1);
    assert_true(mf_draw_next(run->scene.world, layer.serial, &layer));
    assert_int_equal(layer.kind, MF_DRAW_CLEARED);
}

TEST(test_controls_call_their_functions_before_the_tick) {
    AUTO_RUN *run =
        open_run("      gain = control.slider{name = 'gain', low = 0, high = 2, value = 1,\n"
                 "        unit = 'm', change = function(x) print('gain', x) end}\n"
                 "      control.button{name = 'kick', change = function(n) print('kick', n) end}\n"
                 "      quiet = control.checkbox{name = 'quiet', value = true}\n"
                 "      function tick(time) print(gain(), quiet()) end\n");
    MUST(mf_scripts_start(run->scripts, &error));
    step(run, 1);
    assert_true(mf_control_move(run->scene.world, 0, 0.5));
    assert_true(mf_control_move(run->scene.world, 1, 1.0));
    assert_true(mf_control_move(run->scene.world, 2, 0.0));
    step(run, 1);
    assert_string_equal(run->printed, "1.0\t1.0;gain\t0.5;kick\t1.0;0.5\t0.0;");
}

static void fails_with(const char *script, const char *words) {
    AUTO_RUN *run = open_run(script);
    MUST_FAIL(mf_scripts_start(run->scripts, &error), MF_BAD_ARGUMENT, words);
}

TEST(test_a_mistake_is_one_line) {
    fails_with("      draw.points{name = 'x', at = {1, 2}}\n", "main: draw: layer x: expected");
    fails_with("      draw.points{name = 'x', at = {{1, 2, {3}}}}\n", "found a table");
    fails_with("      draw.points{at = {}}\n", "expected a text `name`");
    fails_with("      draw.points{name = 'x'}\n", "expected a list of numbers `at`");
    fails_with("      draw.lines{name = 'x', at = {}, color = 'red'}\n", "'#rrggbb'");
    fails_with("      draw.ghost{name = 'x', group = 'no', pose = {}}\n", "no group no");
    fails_with("      draw.lines{name = 'x', at = {}, group = 'robots', link = 'no'}\n",
               "it has no link no");
    fails_with("      draw.lines{name = 'x', at = {}, group = 'robots', robot = -1}\n",
               "expected a number of a robot");
    fails_with("      control.slider{name = 'x', low = 2, high = 1}\n", "low < high");
    fails_with("      control.button{name = 'x', change = 3}\n", "a function `change`");
}

static uint64_t hash_of(const char *script) {
    AUTO_RUN *run = open_run(script);
    MUST(mf_scripts_start(run->scripts, &error));
    step(run, 50);
    return mf_world_hash(run->scene.world);
}

TEST(test_no_bit_depends_on_it) {
    assert_true(hash_of("      function tick(time)\n"
                        "        draw.points{name = tostring(time), at = {time, 0, 0}}\n"
                        "        control.slider{name = 's'}\n"
                        "      end\n") == hash_of("      function tick(time) end\n"));
}
