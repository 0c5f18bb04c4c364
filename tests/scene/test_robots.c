// Scenes with robots: gaits, behaviors and values of their own; missing parts of a world
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
    assert_int_equal(blue->gait_count, 6);
    assert_string_equal(blue->gaits[1], "walk_agile");
    assert_int_equal(blue->rule_count, 2);
    assert_int_equal(blue->rules[0].to, MF_MOTION_ARTICULATED);
    assert_int_equal(blue->rules[0].event, MF_SWITCH_NEAR);
    assert_int_equal(blue->rules[0].other, 1);
    assert_int_equal(blue->value_count, 3);
    write_twice(*state, file, &again);
    assert_string_equal(again->groups[3].values[2], "falls");
    assert_true(again->groups[3].placement.poses[1][0] == 1.0);
}

#define ROBOT "groups:\n  - name: a\n    model: ../models/hexapod.urdf\n"

// Fields of the world, 0 at first, which anybody writes, snapshots hold and a reset keeps.
TEST(values_of_a_scene_are_fields) {
    AUTO_WHOLE_SCENE scene = scene_of(*state, ROBOT "    count: 3\n    values: [score, laps]\n");
    mf_Group *group = mf_world_group(scene.world, 0);
    assert_true(get_field(group, "value.laps", 2, 0) == 0.0);
    set_field(group, "value.laps", 2, 0, 0.1);
    size_t size;
    AUTO(end_memory) void *image = take_snapshot(scene.world, &size);
    set_field(group, "value.laps", 2, 0, 5.0);
    MUST(mf_world_restore(scene.world, image, size, &error));
    mf_group_reset(group, 2);
    assert_true(get_field(group, "value.laps", 2, 0) == 0.1);
    assert_true(get_field(group, "value.laps", 1, 0) == 0.0);
}

TEST(mistakes_in_values_are_reported_in_one_line) {
    static const SceneMistake mistakes[] = {
        {ROBOT "    values: [two words]\n", "expected names of a-z, 0-9 and _, at most 41 long", 4},
        {ROBOT "    values: [abcdefghijabcdefghijabcdefghijabcdefghijabcd]\n",
         "found 'abcdefghijabcdefghijabcdefghijabcdefghijabcd'", 4},
        {ROBOT "    values: [score, laps, score]\n", "score is there twice", 4},
    };
    check_mistakes(*state, mistakes, sizeof mistakes / sizeof *mistakes, true);
}

TEST(missing_parts_of_a_world_are_reported) {
    static const SceneMistake mistakes[] = {
        {"groups:\n  - name: a\n    model: nothing.urdf\n", "cannot open", 0},
        {ROBOT "scripts:\n  - name: s\n    file: nothing.lua\n", "scripts.s.file: ", 6},
        {ROBOT "    gaits: [fly]\n", "no gait 'fly': expected one of those in ", 0},
        {ROBOT "    gaits: [tripot]\n", "did you mean 'tripod'?", 0},
        {ROBOT "    keyframe: sit\n",
         "group a: keyframe: expected the name of one (none), found 'sit'", 0},
        {ROBOT "    controller: gp\n    gaits: [tripod]\n", "both write joint.target", 0},
        {"groups:\n  - name: a\n    model: ../models/ball.xml\n    motion: kinematic\n", "feet", 0},
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
