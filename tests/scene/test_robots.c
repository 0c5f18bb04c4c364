// Scenes with robots: gaits, behaviors and the keys needed for soccer; missing parts of a world
// give one line of error, and every failing call is survived.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

TEST(a_game_is_read_and_written) {
    AUTO_SCENE_FILE *again, *file = load_scene(*state, "scenes/soccer.yaml", NULL, 0);
    assert_int_equal(file->group_count, 4);
    assert_int_equal(mf_scene_file_count(file), 10);
    const mf_SceneGroup *blue = &file->groups[2];
    assert_int_equal(blue->count, 4);
    assert_int_equal(blue->placement.pose_count, 4);
    assert_int_equal(blue->gait_count, 8);
    assert_string_equal(blue->gaits[1], "walk");
    assert_int_equal(blue->rule_count, 2);
    assert_int_equal(blue->rules[0].to, MF_MOTION_ARTICULATED);
    assert_int_equal(blue->rules[0].event, MF_SWITCH_NEAR);
    assert_int_equal(blue->rules[0].other, 1);
    assert_int_equal(blue->behavior.kind, MF_BEHAVIOR_SOCCER);
    assert_string_equal(blue->behavior.soccer.ball, "ball");
    assert_true(blue->behavior.soccer.goal[0] == 4.5);
    write_twice(*state, file, &again);
    assert_int_equal(again->groups[3].behavior.kind, MF_BEHAVIOR_SOCCER);
    assert_true(again->groups[3].placement.poses[1][0] == 1.0);
}

#define ROBOT "groups:\n  - name: a\n    model: ../models/hexapod.urdf\n"

// A group that plays; four lines.
#define TEAM(name, model, ball, goal)                                                              \
    "  - name: " name "\n    model: ../models/" model ".urdf\n"                                    \
    "    gaits: [walk, stand, kick_left, kick_right, get_up_front, get_up_back]\n"                 \
    "    behavior: {soccer: {ball: " ball ", keeper: false, goal: [" goal                          \
    "], own_goal: [-1, 0]}}\n"

// Those of all scenes are in test_mistakes.c.
TEST(mistakes_in_games_are_reported_in_one_line) {
    static const SceneMistake mistakes[] = {
        {ROBOT "    behavior: {soccer: {goal: [1, 0], own_goal: [-1, 0]}}\n",
         "expected `walk` in the list gaits", 4},
        {ROBOT "    behavior: {soccer: {goal: [1, 0]}}\n",
         "expected the key groups.a.behavior.soccer.own_goal", 2},
        {"groups:\n" TEAM("a", "x", "ball", "1, 0"), "expected the name of a group, found 'ball'",
         5},
        {"groups:\n" TEAM("a", "x", "a", "1, 0") TEAM("b", "x", "b", "1, 0"),
         "groups.b.behavior.soccer.ball: expected the ball of group a, 'a', found 'b'", 9},
        {"groups:\n" TEAM("a", "x", "a", "1, 0")
             TEAM("b", "x", "a", "1, 0") "    behavior_interval: 0.04\n",
         "groups.b.behavior_interval: expected that of group a: all teams have the same interval",
         10},
        {"groups:\n" TEAM("a", "x", "a", "-1, 0"), "on the other side of x = 0", 5},
        {"groups:\n" TEAM("a", "x", "a", "0, 0"), "on the other side of x = 0", 5},
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes, true);
}

TEST(missing_parts_of_a_world_are_reported) {
    static const SceneMistake mistakes[] = {
        {"groups:\n  - name: a\n    model: nothing.urdf\n", "cannot open", 0},
        {ROBOT "    gaits: [fly]\n", "no gait 'fly': expected one of those in ", 0},
        {ROBOT "    gaits: [tripot]\n", "did you mean 'tripod'?", 0},
        {ROBOT "    keyframe: sit\n",
         "group a: keyframe: expected the name of one (none), found 'sit'", 0},
        {ROBOT "    controller: gp\n    gaits: [tripod]\n", "both write joint.target", 0},
        {"groups:\n  - name: a\n    model: ../models/ball.xml\n    motion: kinematic\n", "feet", 0},
        {"groups:\n  - {name: ball, model: ../models/soccer_field.xml}\n" TEAM("a", "humanoid",
                                                                               "ball", "1, 0"),
         "expected a body that can move", 0},
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes, false);
}

// As the names of models are.
TEST(files_of_gaits_are_meant_from_the_file_on) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, ROBOT "    gaits: [../models/gaits/hexapod/tripod.yaml]\n");
    assert_string_equal(scene.gaits[0][0]->name, "tripod");
}

TEST(every_failing_call_is_survived) {
    char text[] = ROBOT "    motion: points\n    gaits: [tripod]\n"
                        "    behavior: {gait: {name: tripod}}\n"
                        "    switch:\n      - {to: kinematic, when: {at: {time: 1}}}\n";
    assert_true(torture(*state, make_once, text, TORTURE_MUST_FAIL) > 100);
}
