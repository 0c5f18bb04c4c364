// Files of robots: what is read is written back, mistakes are told in one line with their place,
// and docs/reference/robots.md holds the table of keys (MAYFLY_UPDATE=1 writes it there).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "experiment/robots_keys.h"
#include "robots/support.h"
#include "torture.h"

#include <stdlib.h>

static void what_is_read_is_written(void **state) {
    mf_Robots *robots = NULL, *again = NULL;
    mf_Error error = {0};
    char *once, *twice;
    if (mf_robots_load(*state, MAYFLY_SOURCE_DIR "/scenes/soccer.yaml", NULL, 0, &robots, &error) !=
        MF_OK)
        fail_msg("%s", error.message);
    assert_int_equal(robots->group_count, 4);
    assert_int_equal(mf_robots_count(robots), 10);
    const mf_RobotsGroup *blue = &robots->groups[2];
    assert_int_equal(blue->count, 4);
    assert_int_equal(blue->gait_count, 8);
    assert_string_equal(blue->gaits[1], "walk");
    assert_int_equal(blue->rule_count, 2);
    assert_int_equal(blue->rules[0].to, MF_MOTION_ARTICULATED);
    assert_int_equal(blue->rules[0].event, MF_SWITCH_NEAR);
    assert_int_equal(blue->rules[0].other, 1);
    assert_int_equal(blue->behaviour.ball_group, 1);
    assert_int_equal(mf_robots_write(robots, &once, NULL), MF_OK);
    assert_int_equal(
        mf_robots_parse(*state, ROBOTS_PATH, once, strlen(once), NULL, 0, &again, &error), MF_OK);
    assert_int_equal(mf_robots_write(again, &twice, NULL), MF_OK);
    assert_string_equal(once, twice);
    mf_release(*state, once);
    mf_release(*state, twice);
    mf_robots_destroy(robots);
    mf_robots_destroy(again);
}

static void overrides_reach_lists_in_lists(void **state) {
    const mf_Override overrides[] = {{"robots.blue.switch.1.when.far.distance", "3.5"},
                                     {"robots.red.gaits", "[walk]"},
                                     {"robots.red.behaviour", "none"},
                                     {"robots.red.count", "4"}};
    mf_Robots *robots = NULL;
    mf_Error error = {0};
    if (mf_robots_load(*state, MAYFLY_SOURCE_DIR "/scenes/soccer.yaml", overrides, 4, &robots,
                       &error) != MF_OK)
        fail_msg("%s", error.message);
    assert_true(robots->groups[2].rules[1].distance == 3.5);
    assert_int_equal(robots->groups[3].gait_count, 1);
    assert_int_equal(robots->groups[3].behaviour.kind, MF_ROBOTS_NONE);
    mf_robots_destroy(robots);
}

typedef struct Mistake {
    const char *text, *part; // of the message
    int line;
} Mistake;

#define ROBOT "robots:\n  - name: a\n    model: ../models/hexapod.urdf\n"

// A group that plays; four lines.
#define TEAM(name, model, ball, goal)                                                              \
    "  - name: " name "\n    model: ../models/" model ".urdf\n"                                    \
    "    gaits: [walk, stand, kick_left, kick_right, get_up_front, get_up_back]\n"                 \
    "    behaviour: {soccer: {ball: " ball ", keeper: false, goal: [" goal                         \
    "], own_goal: [-1, 0]}}\n"

static void mistakes_are_told_in_one_line(void **state) {
    static const Mistake mistakes[] = {
        {"robots: []\n", "expected a list", 1},
        {"robots:\n  - name: a\n", "expected the key robots.a.model", 2},
        {ROBOT "    motion: magic\n", "one of kinematic, points, rigid", 4},
        {ROBOT "    modle: x\n", "modle", 4},
        {ROBOT "    count: 2\n    places: [[0, 0, 0]]\n", "as many as robots (2), found 1", 5},
        {ROBOT "    control_interval: 0.0015\n", "a multiple of world.step", 4},
        {ROBOT "    switch:\n      - to: rigid\n", "expected the key robots.a.switch.0.when", 5},
        {ROBOT "    switch:\n      - {to: rigid, when: {near: {group: b, distance: 1}}}\n",
         "expected the name of a group, found 'b'", 5},
        {ROBOT "    behaviour: {gait: {name: walk}}\n", "expected `walk` in the list gaits", 4},
        {ROBOT "    gaits: walk\n", "a list of names", 4},
        {ROBOT "  - name: a\n    model: x.urdf\n", "each name once", 4},
        {ROBOT "    behaviour: {soccer: {goal: [1, 0], own_goal: [-1, 0]}}\n",
         "expected `walk` in the list gaits", 4},
        {"world: {switch_interval: 0.0005}\n" ROBOT, "a multiple of world.step", 1},
        {"robots:\n" TEAM("a", "x", "a", "1, 0") TEAM("b", "x", "b", "1, 0"),
         "robots.b.behaviour.soccer.ball: expected the ball of group a, 'a', found 'b'", 9},
        {"robots:\n" TEAM("a", "x", "a", "-1, 0"), "on the other side of x = 0", 5},
        {"robots:\n" TEAM("a", "x", "a", "0, 0"), "on the other side of x = 0", 5},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        mf_Robots *robots = NULL;
        mf_Error error = {0};
        assert_int_not_equal(try_robots(*state, mistakes[i].text, &robots, &error), MF_OK);
        assert_null(robots);
        if (strstr(error.message, mistakes[i].part) == NULL || error.line != mistakes[i].line ||
            strchr(error.message, '\n') != NULL)
            fail_msg("case %zu: line %d: %s", i, (int)error.line, error.message);
    }
}

static void what_a_world_lacks_is_told(void **state) {
    static const Mistake mistakes[] = {
        {"robots:\n  - name: a\n    model: nothing.urdf\n", "cannot open", 0},
        {ROBOT "    gaits: [fly]\n", "cannot open", 0},
        {"robots:\n  - name: a\n    model: ../models/ball.xml\n    motion: kinematic\n", "feet", 0},
        {"robots:\n  - {name: ball, model: ../models/soccer_field.xml}\n" TEAM("a", "humanoid",
                                                                               "ball", "1, 0"),
         "expected a body that can move", 0},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        mf_Robots *robots = parse_robots(*state, mistakes[i].text);
        mf_RobotsScene scene;
        mf_Error error = {0};
        assert_int_not_equal(mf_robots_scene_create(*state, robots, &scene, &error), MF_OK);
        assert_null(scene.world);
        if (strstr(error.message, mistakes[i].part) == NULL || strchr(error.message, '\n') != NULL)
            fail_msg("case %zu: %s", i, error.message);
        mf_robots_destroy(robots);
    }
}

// As the names of models are.
static void files_of_gaits_are_meant_from_the_file_on(void **state) {
    mf_Robots *robots =
        parse_robots(*state, ROBOT "    gaits: [../models/gaits/hexapod/tripod.yaml]\n");
    mf_RobotsScene scene;
    mf_Error error = {0};
    if (mf_robots_scene_create(*state, robots, &scene, &error) != MF_OK)
        fail_msg("%s", error.message);
    assert_string_equal(scene.gaits[0][0]->name, "tripod");
    mf_robots_scene_destroy(&scene);
    mf_robots_destroy(robots);
}

static void every_failing_call_is_survived(void **state) {
    char text[] = ROBOT "    motion: points\n    gaits: [tripod]\n"
                        "    behaviour: {gait: {name: tripod}}\n"
                        "    switch:\n      - {to: kinematic, when: {at: {time: 1}}}\n";
    assert_true(torture(*state, make_once, text, TORTURE_MUST_FAIL) > 100);
}

static void the_documents_hold_the_table(void **state) {
    static const char path[] = MAYFLY_SOURCE_DIR "/docs/reference/robots.md";
    static const char begin[] = "<!-- keys: begin -->\n", end[] = "<!-- keys: end -->";
    char *text, *page;
    size_t size;
    assert_int_equal(mf_file_read(*state, path, 1 << 20, &page, &size, NULL), MF_OK);
    assert_int_equal(mf_keys_describe(*state, mf_robots_table(), true, &text, NULL), MF_OK);
    char *start = strstr(page, begin);
    assert_non_null(start);
    start += strlen(begin);
    char *stop = strstr(start, end);
    assert_non_null(stop);
    if (getenv("MAYFLY_UPDATE") != NULL) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%.*s%s%s", (int)(start - page), page, text, stop);
        fclose(file);
    } else if ((size_t)(stop - start) != strlen(text) || strncmp(start, text, strlen(text)) != 0) {
        fail_msg("docs/reference/robots.md is out of date: run this test with MAYFLY_UPDATE=1");
    }
    mf_release(*state, text);
    mf_release(*state, page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_is_written),
        cmocka_unit_test(overrides_reach_lists_in_lists),
        cmocka_unit_test(mistakes_are_told_in_one_line),
        cmocka_unit_test(what_a_world_lacks_is_told),
        cmocka_unit_test(files_of_gaits_are_meant_from_the_file_on),
        cmocka_unit_test(every_failing_call_is_survived),
        cmocka_unit_test(the_documents_hold_the_table),
    };
    return cmocka_run_group_tests(tests, make_context, drop_context);
}
