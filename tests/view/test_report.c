// The report page: well-formed, complete, escaped, with the result of the small step, the same
// bytes every time, and safe when memory runs out. Created from synthetic data (support.h), and
// once from a small real evolution.
#include "rig/rig.h"
#include "view/report_data.h"

#include <locale.h>

#include "view/page.h"
#include "view/run.h"
#include "view/support.h"

GROUP_FIXTURE(setup_context, teardown_context);

// ---- rendering ---------------------------------------------------------------------------------

static mf_Text render(const Fake *fake) {
    mf_Text text = mf_text_begin(fake->context);
    mf_report_render(&text, &fake->data);
    assert_false(text.failed);
    return text;
}

static void assert_has(const mf_Text *text, const char *part) {
    if (strstr(text->data, part) == NULL)
        fail_msg("the page lacks: %s", part);
}

static void assert_lacks(const mf_Text *text, const char *part) {
    if (strstr(text->data, part) != NULL)
        fail_msg("the page has: %s", part);
}

TEST(page_is_well_formed_and_complete) {
    static const char *const sections[] = {"levels", "fitness",    "path",     "step",
                                           "gait",   "controller", "settings", "repeat"};
    for (int flat = 0; flat < 2; flat++) {
        AUTO(fake_free) Fake fake;
        assert_true(fake_make(&fake, *state, flat));
        AUTO(mf_text_free) mf_Text text = render(&fake);
        assert_int_equal(count_elements(text.data, "section"), 8);
        assert_int_equal(count_elements(text.data, "svg"), 4);
        assert_int_equal(count_elements(text.data, "image"), flat ? 0 : 1);
        assert_int_equal(count_elements(text.data, "script"), 0);
        for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++) {
            assert_has(&text, formatted("<section id=\"%s\">", sections[i]));
        }
    }
}

TEST(the_page_contains_the_facts) {
    AUTO(fake_free) Fake fake;
    assert_true(fake_make(&fake, *state, true));
    AUTO(mf_text_free) mf_Text text = render(&fake);
    assert_has(&text, "After 300 generations the best robot gets <b>4.25 m</b> away");
    // 300 x 100 lives of 24 s are 720,000 s, 8.33 days, in 46.25 s: 15,568 times real time.
    assert_has(&text, "<b>8.3 days</b>");
    assert_has(&text, "<b>15,600 \xc3\x97</b>");
    assert_has(&text, "<code>0123456789abcdef</code>");
    assert_has(&text, "individual 29871 of generation 300, child of 27001");
    assert_has(&text, "the same bits");
    assert_has(&text, "population 100, survivors 50");
    assert_has(&text, "instruction set avx512, float precision");
    assert_has(&text, "spider: 12 joints");
    // The tripod gait is on the ground for 0.6 s of every 0.8 s.
    assert_has(&text, ">75 %</text>");
}

TEST(program_is_explained) {
    AUTO(fake_free) Fake fake;
    assert_true(fake_make(&fake, *state, true));
    AUTO(mf_text_free) mf_Text text = render(&fake);
    assert_has(&text, "<td>00</td><td>right 4</td><td>hip_2 +0.06 rad</td>");
    assert_has(&text, "<td>01</td><td>sensor 0</td><td>acc = contact of toe_0: 1 or 0");
    assert_has(&text, "if acc is not 0, jump to 06");
    assert_has(&text, "<b>12 of the 32 instructions are reachable</b>");
    // Programs whose rest are NOTs, which no sensor and no motor knows.
    static const struct {
        uint8_t program[4];
        const char *part;
    } rows[] = {
        {{MF_GP_NOT << 5, MF_GP_NOT << 5, MF_GP_NOT << 5, MF_GP_NOT << 5},
         ": 0 of them move a joint's target, 0 read a sensor. It uses no sensors"},
        // 00 load 1, 01 jump 00: nothing else is ever reached. With 00 load 0 all is.
        {{MF_GP_LOAD << 5 | 1, MF_GP_JUMP << 5, MF_GP_NOT << 5, MF_GP_NOT << 5},
         "<b>2 of the 32 instructions are reachable</b>"},
        {{MF_GP_LOAD << 5 | 1, MF_GP_JUMP << 5, MF_GP_NOT << 5, MF_GP_NOT << 5},
         "<tr class=\"never\"><td>02</td>"},
        {{MF_GP_LOAD << 5, MF_GP_JUMP << 5, MF_GP_NOT << 5, MF_GP_NOT << 5},
         "<b>32 of the 32 instructions"},
        // 00 sensor 0 (a contact, 0 or 1), 01 dec, 02 jump 00: 255 or 0, so both ways are open;
        // with a second dec it is 254 or 255, and the jump is always taken.
        {{MF_GP_SENSOR << 5, MF_GP_DEC << 5, MF_GP_JUMP << 5, MF_GP_NOT << 5},
         "<b>32 of the 32 instructions"},
        {{MF_GP_SENSOR << 5, MF_GP_DEC << 5, MF_GP_DEC << 5, MF_GP_JUMP << 5},
         "<b>4 of the 32 instructions"},
    };
    memset(fake.data.genome, MF_GP_NOT << 5, MF_GP_BYTES);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        memcpy(fake.data.genome, rows[i].program, sizeof rows[i].program);
        AUTO(mf_text_free) mf_Text page = render(&fake);
        assert_has(&page, rows[i].part);
    }
}

TEST(everything_from_outside_is_escaped) {
    AUTO(fake_free) Fake fake;
    assert_true(fake_make(&fake, *state, true));
    fake.file.name = "<script>alert(1)</script>";
    fake.data.facts.command = "mayfly evolve \"a&b\" \xff";
    AUTO(mf_text_free) mf_Text text = render(&fake);
    count_elements(text.data, "script");
    assert_lacks(&text, "<script");
    assert_has(&text, "<h1>&lt;script&gt;alert(1)&lt;/script&gt;</h1>");
    assert_has(&text, "scenes/legs&amp;hills.yaml");
    assert_has(&text, "toe&lt;&amp;&quot;5");
    assert_has(&text, "mayfly evolve &quot;a&amp;b&quot; \xef\xbf\xbd");
}

TEST(nothing_comes_from_the_network) {
    AUTO(fake_free) Fake fake;
    assert_true(fake_make(&fake, *state, false));
    AUTO(mf_text_free) mf_Text text = render(&fake);
    for (const char *at = text.data; (at = strstr(at, "http")) != NULL; at++) {
        bool name_space = strncmp(at, "http://www.w3.org/", 18) == 0;
        bool attribute = strncmp(at - 7, "xmlns=\"", 7) == 0;
        assert_true(name_space && attribute);
    }
    assert_lacks(&text, "url(h");
    assert_lacks(&text, "@import");
    assert_lacks(&text, "src=");
}

// A walk that only the level knows where it evolved is marked, and so is one that falls over.
TEST(levels_are_judged_honestly) {
    static const struct {
        double share, tilt;
        const char *row;
    } rows[] = {
        {1.0, 0.1, "<span class=\"good\">100 %</span></td><td>stays up, at most 6 degrees"},
        {0.76, 1.0, "<span class=\"good\">76 %</span></td><td>stays up, at most 57 degrees"},
        {0.74, 1.1, "<span class=\"warn\">74 %</span></td><td><span class=\"warn\">falls over"},
        {0.0, 3.0, "<span class=\"warn\">0 %</span></td><td><span class=\"warn\">falls over"},
    };
    AUTO(fake_free) Fake fake;
    assert_true(fake_make(&fake, *state, true));
    fake.data.level_count = 2;
    fake.data.levels[1] = (mf_ReportLevel){
        .motion = MF_MOTION_KINEMATIC, .step = 0.001, .reason = "needs feet & has none"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake.data.levels[0] = (mf_ReportLevel){.motion = MF_MOTION_ARTICULATED,
                                               .possible = true,
                                               .step = 0.002,
                                               .distance = rows[i].share * FAKE_DISTANCE,
                                               .tilt = rows[i].tilt};
        AUTO(mf_text_free) mf_Text text = render(&fake);
        const char *row = strstr(text.data, "<tr><td>articulated</td><td class=\"num\">2 ms</td>");
        assert_non_null(row);
        if (strncmp(strstr(row, "<span"), rows[i].row, strlen(rows[i].row)) != 0)
            fail_msg("%s", rows[i].row);
        assert_has(&text, "<td colspan=\"3\">needs feet &amp; has none</td>");
    }
}

TEST(small_step_is_judged_honestly) {
    static const struct {
        double fine;
        const char *verdict;
    } rows[] = {{4.25, "Within 30 %"},
                {2.98, "Within 30 %"},
                {2.97, "Beyond 30 %"},
                {5.6, "Beyond 30 %"},
                {0.0, "a change of 100 %"}};
    AUTO(fake_free) Fake fake;
    assert_true(fake_make(&fake, *state, true));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fake.data.fine.distance = rows[i].fine;
        AUTO(mf_text_free) mf_Text text = render(&fake);
        assert_has(&text, rows[i].verdict);
    }
    fake.data.trial.distance = 0.0;
    mf_Text text = render(&fake);
    assert_has(&text, "No ratio");
    assert_has(&text, "does not move");
    mf_text_free(&text);
    mf_trial_free(&fake.data.fine);
    fake.data.fine_divisor = 1;
    text = render(&fake);
    assert_has(&text, "cannot be reduced further");
    count_elements(text.data, "svg");
    mf_text_free(&text);
}

// Robots that stand still, fly away or leave no contacts, one generation only, fitness that is no
// number: the page stays well-formed and holds no "nan" where a drawing needs a number.
TEST(odd_runs_give_whole_pages) {
    for (int kind = 0; kind < 4; kind++) {
        AUTO(fake_free) Fake fake;
        assert_true(fake_make(&fake, *state, kind % 2));
        mf_Trial *trial = &fake.data.trial;
        if (kind == 0)
            fake.data.generation_count = 1;
        if (kind == 1)
            memset(trial->position, 0, trial->sample_count * 3 * sizeof(double));
        if (kind == 2)
            trial->contact_count = 0;
        if (kind == 3) {
            for (uint32_t i = 600; i < trial->sample_count; i++)
                trial->position[3 * i] = NAN;
            for (uint32_t i = 0; i < FAKE_GENERATIONS; i += 2)
                fake.data.generations[i].mean = NAN;
        }
        AUTO(mf_text_free) mf_Text text = render(&fake);
        assert_int_equal(count_elements(text.data, "section"), 8);
        assert_lacks(&text, "=\"nan");
        assert_lacks(&text, " nan");
        assert_lacks(&text, "inf\"");
    }
}

TEST(same_run_gives_the_same_bytes) {
    AUTO(fake_free) Fake first, second;
    assert_true(fake_make(&first, *state, false));
    assert_true(fake_make(&second, *state, false));
    AUTO(mf_text_free) mf_Text a = render(&first), b = render(&second);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
}

static mf_Status render_again(mf_Context *context, void *user, mf_Error *error) {
    AUTO(mf_text_free) mf_Text text = mf_text_begin(context);
    mf_report_render(&text, user);
    return text.failed ? mf_fail(error, MF_NO_MEMORY, "report: out of memory") : MF_OK;
}

TEST(rendering_survives_every_failed_allocation) {
    for (int flat = 0; flat < 2; flat++) {
        AUTO(fake_free) Fake fake;
        assert_true(fake_make(&fake, *state, flat));
        assert_in_range(torture(*state, render_again, &fake.data, TORTURE_MUST_FAIL), 8, 1000);
    }
}

// ---- a real run --------------------------------------------------------------------------------

static const char scene_text[] =
    "name: small\nworld: {step: 0.01, seed: 5}\ngroups:\n  - name: walkers\n"
    "    model: " MAYFLY_SOURCE_DIR "/models/quadruped.urdf\n    motion: points\n"
    "    controller: gp\n    count: 8\nrun: {duration: 2}\n"
    "search: {population: 8, survivors: 4, generations: 3}\n";

// The trial repeats the archive's fitness bit for bit, a failed report leaves no file, and a number
// is written with a point even where the locale has a comma.
TEST(real_run_is_reported) {
    AUTO_RUN run = begin_run();
    evolve_run(*state, &run, scene_text, 3);
    check_failing_reports(*state, &run, 37);
    setlocale(LC_ALL, "de_DE.UTF-8"); // where it is installed
    AUTO(end_memory) char *page = page_of(*state, &run);
    setlocale(LC_ALL, "C");
    assert_int_equal(count_elements(page, "section"), 10);
    assert_non_null(strstr(page, "the same bits"));
    assert_non_null(strstr(page, "After 3 generations"));
    assert_non_null(strstr(page, "<section id=\"diversity\">"));
    assert_non_null(strstr(page, "The line of the champion has <b>"));
    for (int motion = 0; motion < MF_MOTION_LEVELS; motion++) { // in the first lines, then the film
        const char *row =
            strstr(page, formatted("<tr><td>%s</td>", mf_motion_name((mf_Motion)motion)));
        assert_true(row != NULL && row < strstr(page, "<section id=\"fitness\">"));
    }
    assert_non_null(strstr(page, "<iframe class=\"film\""));
}

static mf_Status run_trial(mf_Context *context, mf_SceneFile *file, uint32_t divisor,
                           uint32_t bytes, double period, mf_Trial *trial) {
    static const uint8_t genome[MF_GP_BYTES] = {0};
    mf_SceneConfig config = WITH(mf_scene_config(), .divisor = divisor);
    return mf_trial_run(context, file, &config, genome, bytes, period, trial, NULL);
}

TEST(trial_refuses_what_it_cannot_do) {
    AUTO_SCENE_FILE *file;
    AUTO(mf_trial_free) mf_Trial trial;
    assert_int_equal(mf_scene_file_parse(*state, "small.yaml", scene_text, strlen(scene_text), NULL,
                                         0, &file, NULL),
                     MF_OK);
    // 10 ms are not a whole number of nanoseconds times 3.
    assert_int_equal(run_trial(*state, file, 3, MF_GP_BYTES, 0.1, &trial), MF_BAD_ARGUMENT);
    assert_int_equal(run_trial(*state, file, 1, MF_GP_BYTES, 0.015, &trial), MF_BAD_ARGUMENT);
    assert_int_equal(run_trial(*state, file, 1, MF_GP_BYTES, NAN, &trial), MF_BAD_ARGUMENT);
    assert_int_equal(run_trial(*state, file, 1, MF_GP_BYTES, 0, &trial), MF_BAD_ARGUMENT);
    assert_int_equal(run_trial(*state, file, 1, 5, 0.1, &trial), MF_BAD_ARGUMENT);
    assert_null(trial.position);
    assert_int_equal(mf_trial_run(*state, NULL, NULL, NULL, 0, 0.1, &trial, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(run_trial(*state, file, 10, MF_GP_BYTES, 0.1, &trial), MF_OK);
    assert_int_equal(trial.sample_count, 21); // 2 s, both ends included
    assert_int_equal(trial.contact_count, 4);
    assert_true(trial.step == 0.001);
}
