// `draw` and `control` in scripts: what they draw, what their controls tell them, that a mistake
// ends the run with its line, and that the world has the same bits without them.
#include "script/support.h"
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

// A script, of which each line is indented, up to its start.
static Run *start_run(const char *script) {
    mf_Context *context = open_context(1);
    Run *run = open_run(context, parse_scene(context, formatted("%s%s", SCENE, script)));
    expect_good(run);
    run->status = mf_scene_start_scripts(&run->scene, &run->error);
    return run;
}

static void step(Run *run, uint64_t steps) {
    assert_int_equal(step_run(run, steps), steps);
    expect_good(run);
}

TEST(test_a_script_draws_all_kinds) {
    static const char *const names[] = {"cloud", "line", "push", "sign", "twin"};
    mf_DrawnLayer layer = {.serial = 0};
    AUTO_RUN *run = start_run(
        "      draw.points{name = 'cloud', at = {{1, 2, 3}, {4, 5, 6}}, size = 0.5}\n"
        "      draw.lines{name = 'line', at = {0, 0, 0, 1, 1, 1}, color = '#11223344'}\n"
        "      draw.arrows{name = 'push', at = {{0, 0, 0}, {0, 0, 1}}, group = 'robots',\n"
        "                  robot = 1, link = 'femur1'}\n"
        "      draw.text{name = 'sign', at = {0, 0, 1}, text = 'here', color = '#ff0000'}\n"
        "      draw.ghost{name = 'twin', group = 'robots', pose = {0, 0, 1, 1, 0, 0, 0}}\n"
        "      function tick(time) if time > 0.045 then draw.clear('cloud') end end\n");
    expect_good(run);
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
        start_run("      gain = control.slider{name = 'gain', low = 0, high = 2, value = 1,\n"
                  "        unit = 'm', change = function(x) print('gain', x) end}\n"
                  "      control.button{name = 'kick', change = function(n) print('kick', n) end}\n"
                  "      quiet = control.checkbox{name = 'quiet', value = true}\n"
                  "      function tick(time) print(gain(), quiet()) end\n");
    step(run, 1);
    assert_true(mf_control_move(run->scene.world, 0, 0.5));
    assert_true(mf_control_move(run->scene.world, 1, 1.0));
    assert_true(mf_control_move(run->scene.world, 2, 0.0));
    step(run, 1);
    assert_string_equal(run->printed, "s: 1.0\t1.0\ns: gain\t0.5\ns: kick\t1.0\ns: 0.5\t0.0\n");
}

static void fails_with(const char *script, const char *words) {
    AUTO_RUN *run = start_run(script);
    assert_int_equal(run->status, MF_BAD_ARGUMENT);
    assert_contains(run->error.message, words);
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
    AUTO_RUN *run = start_run(script);
    step(run, 50);
    return mf_world_hash(run->scene.world);
}

TEST(test_no_bit_depends_on_it) {
    assert_true(hash_of("      function tick(time)\n"
                        "        draw.points{name = tostring(time), at = {time, 0, 0}}\n"
                        "        control.slider{name = 's'}\n"
                        "      end\n") == hash_of("      function tick(time) end\n"));
}
