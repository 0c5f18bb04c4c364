// What pulls a robot by hand: it comes to the goal, its inputs stay those of others, and without a
// robot it is mf_world_step to the bit.
#include "rig/rig.h"
#include "view/ball.h"
#include "view/push.h"

GROUP_FIXTURE(make_context, drop_context);

static const double middle_of[3] = {0, 0, 0};

typedef struct Rig {
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
    mf_Pusher *pusher;
} Rig;

// In the air, without gravity.
static Rig open_rig(mf_Context *context, mf_Motion motion) {
    Rig rig = {.model = ball_with_arm(context, "ball")};
    rig.world =
        open_world(context, &WITH(mf_world_config(), .gravity = 0.0, .step = 2 * MF_MILLISECOND));
    rig.group = add_group(rig.world, &WITH(mf_group_config(), .model = rig.model, .count = 3));
    MUST(mf_motion_add(rig.group, motion, NULL, &error));
    for (uint32_t i = 0; i < 3; i++) {
        set_field(rig.group, "base.position", i, 1, 3.0 * i);
        set_field(rig.group, "base.position", i, 2, 2.0);
        mf_group_refresh(rig.group, i);
    }
    MUST(mf_pusher_create(rig.world, &rig.pusher, &error));
    return rig;
}

static void rig_close(Rig *rig) {
    mf_pusher_destroy(rig->pusher);
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
}

TEST(test_it_comes_to_the_goal) {
    static const mf_Motion motions[] = {MF_MOTION_ARTICULATED, MF_MOTION_RIGID, MF_MOTION_EXTERNAL};
    static const double goal[3] = {0.5, 3.0, 2.5};
    for (int m = 0; m < 3; m++) {
        AUTO_RIG rig = open_rig(*state, motions[m]);
        assert_int_equal(mf_pusher_take(rig.pusher, rig.group, 1, 0, middle_of, goal, NULL), MF_OK);
        assert_true(mf_pusher_holds(rig.pusher));
        mf_pusher_step(rig.pusher, 2000);
        assert_field3(rig.group, "base.position", 1, goal[0], goal[1], goal[2], 0.02);
        assert_true(fabs(get_field(rig.group, "base.position", 0, 0)) < 1e-6); // another robot
        mf_pusher_release(rig.pusher);
        assert_false(mf_pusher_holds(rig.pusher));
    }
}

TEST(test_inputs_stay_those_of_others) {
    static const double goal[3] = {0.2, 3.0, 2.1};
    AUTO_RIG rig = open_rig(*state, MF_MOTION_ARTICULATED);
    mf_Field *force = mf_group_find_field(rig.group, "base.force");
    mf_Field *torque = mf_group_find_field(rig.group, "joint.torque");
    assert_non_null(torque);
    assert_int_equal(mf_pusher_take(rig.pusher, rig.group, 1, 1, middle_of, goal, NULL), MF_OK);
    for (int i = 1; i <= 20; i++) {
        const double own = mf_field_get(torque, 1, 0), expected = 0.25 * i; // exact as a float
        assert_true(own == (i == 1 ? 0.0 : 0.25 * (i - 1)));
        mf_field_set(torque, 1, 0, expected);
        mf_pusher_step(rig.pusher, 3);
        assert_true(mf_field_get(torque, 1, 0) == expected);
        assert_true(mf_field_get(force, 1, 0) == 0.0 && mf_field_get(force, 1, 2) == 0.0);
        // Another robot is taken meanwhile, whose release must not bring old inputs back.
        const uint32_t robot = i % 5 == 0 ? 2 : 1;
        assert_int_equal(mf_pusher_take(rig.pusher, rig.group, robot, 1, middle_of, goal, NULL),
                         MF_OK);
        assert_true(mf_field_get(torque, 1, 0) == expected);
    }
    assert_true(fabs(get_field(rig.group, "base.linear_velocity", 1, 0)) > 0.0);
}

TEST(test_without_a_robot_it_is_a_step) {
    AUTO_RIG one = open_rig(*state, MF_MOTION_ARTICULATED);
    AUTO_RIG other = open_rig(*state, MF_MOTION_ARTICULATED);
    set_field(one.group, "joint.torque", 0, 0, 0.1);
    set_field(other.group, "joint.torque", 0, 0, 0.1);
    static const double goal[3] = {1, 1, 1};
    // What is let go of before a step has changed nothing.
    assert_int_equal(mf_pusher_take(one.pusher, one.group, 0, 0, middle_of, goal, NULL), MF_OK);
    mf_pusher_release(one.pusher);
    mf_pusher_step(one.pusher, 500);
    mf_world_step(other.world, 500);
    assert_true(mf_world_hash(one.world) == mf_world_hash(other.world));
}

TEST(test_what_cannot_be_pushed_is_refused) {
    static const double goal[3] = {1, 1, 1}, nowhere[3] = {0, NAN, 0}, far[3] = {0, 0, 2e6};
    AUTO_RIG rig = open_rig(*state, MF_MOTION_RIGID);
    AUTO_RIG other = open_rig(*state, MF_MOTION_RIGID);
    mf_Pusher *pusher = rig.pusher, *none = NULL;
    MUST_FAIL_AS(mf_pusher_take(pusher, rig.group, 3, 0, middle_of, goal, &error), MF_BAD_ARGUMENT,
                 "push: expected a robot below 3, found 3");
    assert_int_equal(mf_pusher_take(pusher, rig.group, 0, 9, middle_of, goal, NULL),
                     MF_UNSUPPORTED);
    assert_int_equal(mf_pusher_take(pusher, rig.group, 0, 0, nowhere, goal, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_pusher_take(pusher, rig.group, 0, 0, middle_of, far, NULL),
                     MF_BAD_ARGUMENT);
    assert_int_equal(mf_pusher_take(pusher, other.group, 0, 0, middle_of, goal, NULL),
                     MF_BAD_ARGUMENT);
    assert_false(mf_pusher_holds(pusher));
    assert_int_equal(mf_pusher_create(NULL, &none, NULL), MF_BAD_ARGUMENT);
}

static mf_Status create_pusher(mf_Context *context, void *user, mf_Error *error) {
    mf_Pusher *pusher = NULL;
    const mf_Status status = mf_pusher_create(user, &pusher, error);
    mf_pusher_destroy(pusher);
    return status;
}

TEST(test_memory_runs_out) {
    AUTO_RIG rig = open_rig(*state, MF_MOTION_RIGID);
    assert_true(torture(*state, create_pusher, rig.world, TORTURE_MUST_FAIL) >= 2);
}
