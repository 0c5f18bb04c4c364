// Run-time joints and bodies moved from outside in scenes.
#include "rig/rig.h"
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

#define BALLS                                                                                      \
    "world: {step: 0.001}\n"                                                                       \
    "groups:\n  - name: balls\n    model: ../models/ball.xml\n    motion: rigid\n    count: 2\n"   \
    "    placement: {poses: [[0, 0, 0], [0.5, 0, 0]]}\n    height: 2\n"

TEST(defaults_are_those_of_the_library) {
    AUTO_SCENE_FILE *file =
        parse_scene(*state, BALLS "joints: [{name: a, first: {group: balls}}]\n");
    const mf_WorldJointConfig expected = mf_world_joint_config();
    const mf_SceneJoint *joint = file->joints;
    assert_int_equal(file->joint_count, 1);
    assert_int_equal(joint->kind, expected.kind);
    assert_true(joint->stiffness == expected.stiffness && joint->damping == expected.damping);
    assert_true(joint->angular_stiffness == expected.angular_stiffness);
    assert_true(joint->angular_damping == expected.angular_damping && joint->time == expected.time);
    assert_true(joint->force_limit == expected.force_limit);
    assert_true(joint->moment_limit == expected.moment_limit);
    assert_true(isnan(joint->range[0]) && joint->motor_rate == expected.motor_rate);
    assert_true(joint->motor_torque == expected.motor_torque);
    assert_true(joint->enabled && isnan(joint->position[0]));
    assert_string_equal(joint->sides[1].group, "");
}

TEST(what_is_read_is_written) {
    AUTO_SCENE_FILE *again,
        *file = parse_scene(
            *state, BALLS
            "joints:\n  - {name: axle, kind: hinge, first: {group: balls, robot: 1, link: ball},\n "
            "    second: {group: balls}, position: [0.25, 0, 2], axis: [0, 1, 0],\n     stiffness: "
            "100, damping: 2, force_limit: 50, range: [-1, 0.5], motor_rate: -3, motor_torque: 2, "
            "enabled: false}\n  - {name: rope, kind: ball, second: {group: balls}}\n");
    write_twice(*state, file, &again);
    for (int both = 0; both < 2; both++) {
        const mf_SceneJoint *joint = (both == 0 ? file : again)->joints;
        assert_int_equal(joint[0].kind, MF_WORLD_JOINT_HINGE);
        assert_int_equal(joint[0].sides[0].robot, 1);
        assert_string_equal(joint[0].sides[0].link, "ball");
        assert_true(joint[0].position[2] == 2 && joint[0].axis[1] == 1);
        assert_true(joint[0].stiffness == 100 && joint[0].damping == 2);
        assert_true(joint[0].force_limit == 50 && isinf(joint[0].moment_limit));
        assert_true(joint[0].range[0] == -1 && joint[0].range[1] == 0.5);
        assert_true(joint[0].motor_rate == -3 && joint[0].motor_torque == 2);
        assert_true(!joint[0].enabled && joint[1].enabled);
        assert_int_equal(joint[1].kind, MF_WORLD_JOINT_BALL);
        assert_true(isnan(joint[1].position[1]));
    }
}

TEST(mistakes_have_a_position) {
    static const struct {
        const char *joints, *message; // after the path; in line 9
    } cases[] = {
        {"[{kind: ball}]", ":9:10: expected the key joints.0.name, which is missing"},
        {"[{name: a, kind: rope}]",
         ":9:26: joints.a.kind: expected one of fixed, ball, hinge, found rope"},
        {"[{name: a}]",
         ":9:10: joints.a.first: expected a group on one side at least, found the world on both"},
        {"[{name: a, first: {group: b}}]",
         ":9:35: joints.a.first.group: expected the name of a group, found 'b'"},
        {"[{name: a, first: {group: balls}}, {name: a, second: {group: balls}}]",
         ":9:51: joints.a.name: expected each name once, found it again"},
        {"[{name: a, first: {group: balls}, force_limit: 0}]",
         ":9:56: joints.a.force_limit: expected a number above 0 up to 1e+300 N or .inf, found 0"},
        {"[{name: a, first: {group: balls, robot: 2}}]", // the rest is found with the models
         ":9:10: joints.a: robot: the group has fewer robots"},
        {"[{name: a, first: {group: balls}, kind: ball, motor_torque: 1}]",
         ":9:49: joints.a: joint.kind: only a hinge has a range of angles and a motor"},
        {"[{name: a, first: {group: balls}, kind: hinge, range: [1, 0]}]",
         ":9:49: joints.a: joint.lower_angle, joint.upper_angle: 1 .. 0, need a range of at most 6 "
         "rad within -2 pi .. 2 pi, or none"},
        {"[{name: a, first: {group: balls, link: wheel}}]",
         ":9:10: joints.a: link: group balls (ball) has no link 'wheel'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = formatted(BALLS "joints: %s\n", cases[i].joints);
        assert_string_equal(scene_error(*state, text, false), cases[i].message);
    }
}

// ---- worlds ------------------------------------------------------------------------------------

static double apart(const mf_Scene *scene, uint32_t robot, const double from[3]) {
    double sum = 0.0;
    for (uint32_t c = 0; c < 3; c++) {
        double d = get(scene, 0, "base.position", robot, c) - from[c];
        sum += d * d;
    }
    return sqrt(sum);
}

// A rope of half a meter: the ball swings around its end, the other one falls.
TEST(a_ball_on_a_rope_swings) {
    static const double end[3] = {0, 0.4, 2.37};
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, BALLS "joints: [{name: rope, kind: ball, first: {group: "
                               "balls}, position: [0, 0.4, 2.37]}]\n");
    assert_non_null(scene.joints);
    const double length = apart(&scene, 0, end);
    assert_near(length, 0.5, 1e-6);
    double right = 0.0;
    for (int i = 0; i < 20; i++) {
        mf_world_step(scene.world, 100);
        assert_near(apart(&scene, 0, end), length, 2e-3);
        right = fmax(right, get(&scene, 0, "base.position", 0, 1));
    }
    assert_true(right > 0.7 && right < 0.81); // to the other side, no farther than it began
    assert_true(get(&scene, 0, "base.position", 1, 2) < 0.1);
    assert_int_equal(mf_group_fault_total(scene.group), 0);
}

static mf_WorldJointState state_of(const mf_Scene *scene, uint32_t index) {
    mf_WorldJointState joint;
    mf_WorldJointId id = mf_world_joint_next(scene->joints, MF_WORLD_JOINT_NONE);
    for (uint32_t i = 0; i < index; i++)
        id = mf_world_joint_next(scene->joints, id);
    MUST(mf_world_joint_state(scene->joints, id, &joint, &error));
    return joint;
}

// Without a place it is where the first robot is. What carries too much breaks; what is not enabled
// carries nothing.
TEST(joints_carry_break_or_wait) {
    static const struct {
        const char *keys;
        bool holds, broken;
    } cases[] = {{"", true, false}, // 0.19 kg weigh 1.86 N
                 {", force_limit: 2.5", true, false},
                 {", force_limit: 1", false, true},
                 {", enabled: false", false, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO_WHOLE_SCENE scene = scene_of(
            *state, formatted(BALLS "joints: [{name: a, kind: ball, first: {group: balls}%s}]\n",
                              cases[i].keys));
        const double z = get(&scene, 0, "base.position", 0, 2);
        mf_world_step(scene.world, 1500);
        const mf_WorldJointState joint = state_of(&scene, 0);
        assert_true(joint.broken == cases[i].broken);
        const double now = get(&scene, 0, "base.position", 0, 2);
        assert_true(cases[i].holds ? fabs(now - z) < 1e-3 : now < 0.1);
        if (cases[i].holds)
            assert_near(fabs(joint.force[2]), 0.19 * 9.81, 0.02);
    }
}

// Two balls as one dumbbell fall together; without the joint in the middle they roll apart.
TEST(a_fixed_joint_keeps_both_together) {
    AUTO_WHOLE_SCENE scene =
        scene_of(*state, BALLS "    speed: 1\njoints: [{name: bar, first: {group: balls}, "
                               "second: {group: balls, robot: 1}}]\n");
    mf_world_step(scene.world, 1500);
    double other[3];
    for (uint32_t c = 0; c < 3; c++)
        other[c] = get(&scene, 0, "base.position", 1, c);
    assert_near(apart(&scene, 0, other), 0.5, 5e-3);
    assert_true(get(&scene, 0, "base.position", 0, 0) > 0.5);
}

// ---- from outside ------------------------------------------------------------------------------

#define PUSHER                                                                                     \
    "world: {step: 0.001}\n"                                                                       \
    "groups:\n  - name: box\n    model: ../models/resting_box.xml\n    motion: external\n"         \
    "    placement: {poses: [[-0.3, 0, 0]]}\n"                                                     \
    "    initial: [{property: base.linear_velocity, values: [0.2, 0, 0]}]\n"                       \
    "  - {name: ball, model: ../models/ball.xml, motion: rigid, placement: {poses: [[0, 0, "       \
    "0]]}}\n"

// The box goes on as commanded, whatever is in its way; the ball is pushed.
TEST(external_bodies_push_others) {
    AUTO_SCENE_FILE *again, *file = parse_scene(*state, PUSHER);
    const char *text = write_twice(*state, file, &again);
    assert_int_equal(again->groups[0].motion, MF_MOTION_EXTERNAL);
    assert_non_null(strstr(text, "    motion:\n      external:\n        targets: false\n"));
    AUTO_SCENE scene = make_scene(*state, file), other = make_scene(*state, again);
    mf_world_step(scene.world, 3000);
    mf_world_step(other.world, 3000);
    assert_true(mf_world_hash(scene.world) == mf_world_hash(other.world));
    assert_near(get(&scene, 0, "base.position", 0, 0), 0.3, 1e-4);
    assert_true(get(&scene, 1, "base.position", 0, 0) > 0.4);
}

static const char both[] =
    PUSHER "  - {name: balls, model: ../models/ball.xml, count: 3, placement: {poses: [[2, 0, 0], "
           "[2, 1, 0], [2, 2, 0]]}, height: 1}\n"
           "joints:\n  - {name: rope, kind: ball, first: {group: balls}, position: [2, 0.5, 1.5]}\n"
           "  - {name: bar, first: {group: balls, robot: 1}, second: {group: balls, robot: 2}}\n";

TEST(threads_change_nothing) {
    uint64_t hashes[2];
    for (int i = 0; i < 2; i++) {
        AUTO_CONTEXT *context = open_context(i == 0 ? 1 : 3);
        AUTO_WHOLE_SCENE scene = scene_of(context, both);
        mf_world_step(scene.world, 1000);
        hashes[i] = mf_world_hash(scene.world);
    }
    assert_true(hashes[0] == hashes[1]);
}

TEST(every_failing_call_is_survived) {
    char text[sizeof both];
    memcpy(text, both, sizeof both);
    assert_true(torture(*state, make_once, text, TORTURE_MUST_FAIL) > 60);
}

// ---- joints created by plugins ------------------------------------------------------------------

#define CRANE                                                                                      \
    "world: {step: 0.002}\n"                                                                       \
    "groups:\n  - name: crane\n    model: ../models/ball.xml\n    motion: external\n"              \
    "    height: 2\n    joint_slots: 1\n    plugins:\n"                                            \
    "      - {file: \"" MAYFLY_BINARY_DIR "/plugins/plugin_magnet.so\", tick: 0.01,\n"             \
    "         settings: {reach: 0.6, on: 0.1, off: 0.5}}\n"                                        \
    "  - name: balls\n    model: ../models/ball.xml\n    motion: rigid\n    height: 1.6\n"

TEST(a_magnet_of_a_scene_holds_a_ball) {
    AUTO_SCENE_FILE *again, *file;
    mf_plugins_allow(*state, true);
    file = parse_scene(*state, CRANE);
    write_twice(*state, file, &again);
    assert_int_equal(again->groups[0].joint_slots, 1);
    mf_Scene scene = make_scene(*state, again);
    mf_Group *balls = mf_world_find_group(scene.world, "balls");
    const mf_Field *height = mf_group_find_field(balls, "base.position");
    mf_world_step(scene.world, 55); // it fell for 0.1 s
    assert_int_equal(mf_world_joints_count(scene.joints), 1);
    const double clamped = mf_field_get(height, 0, 2);
    mf_world_step(scene.world, 150); // 0.41 s
    assert_near(mf_field_get(height, 0, 2), clamped, 1e-3);
    mf_world_step(scene.world, 95); // 0.6 s: it was let go at 0.5 s
    assert_int_equal(mf_world_joints_count(scene.joints), 0);
    assert_true(mf_field_get(height, 0, 2) < clamped - 0.03);
    mf_scene_destroy(&scene);
    mf_plugins_allow(*state, false);
}

int main(void) {
    KEEP_SHARED();
    return run_listed_tests();
}
