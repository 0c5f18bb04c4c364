// Memory: a step allocates nothing, and creating worlds, groups and the motion survives the failure
// of every single allocation.
#include "motion/rig.h"

TEST(a_step_makes_no_fallible_call) {
    for (int option = 0; option < 4; option++) {
        AUTO_RIG rig = rig_begin(1 + (uint32_t)option % 2);
        make_hexapod(rig.hand);
        points_open(&rig,
                    WITH(points_config((option & 2) != 0), .group.count = 100,
                         .points.friction = option & 1 ? MF_FRICTION_COUPLED : MF_FRICTION_FIT,
                         .points.keep_momentum = true, .group.fault_policy = MF_FAULT_RESET));
        set_field(rig.group, "base.force", 7, 0, NAN); // a reset on the way
        uint64_t calls = mf_context_call_count(rig.context);
        size_t bytes = mf_context_live_bytes(rig.context);
        mf_world_step(rig.world, 50);
        assert_int_equal(mf_context_call_count(rig.context), calls);
        assert_int_equal(mf_context_live_bytes(rig.context), bytes);
        assert_int_equal((int)get_field(rig.group, "fault.count", 7, 0), 1);
    }
}

static mf_Status make_and_step(mf_Context *context, void *user, mf_Error *error) {
    static mf_HandModel hand;
    mf_hand_start(&hand, context);
    make_hexapod(&hand);
    AUTO_WORLD *world = NULL;
    mf_Group *group;
    mf_Status status = try_group(context, NULL,
                                 &WITH(mf_group_config(), .model = &hand.model, .count = 20,
                                       .double_precision = *(const bool *)user),
                                 &world, &group, error);
    if (world == NULL)
        return status;
    if (status == MF_OK)
        status = mf_motion_add(group, MF_MOTION_POINTS, NULL, error);
    else
        assert_null(group);
    // A group without its motion, or no group at all, can still be stepped and hashed.
    mf_world_step(world, 2);
    mf_world_hash(world);
    return status;
}

TEST(making_survives_every_failure) {
    AUTO_CONTEXT *context = open_context(1);
    for (int wide = 0; wide < 2; wide++) {
        bool user = wide != 0;
        assert_true(torture(context, make_and_step, &user, TORTURE_MUST_FAIL) > 20);
    }
}

TEST(bad_settings_are_refused) {
    for (int which = 0; which < 9; which++) {
        Rig rig = rig_begin(1);
        make_hexapod(rig.hand);
        mf_GroupConfig group = mf_group_config();
        mf_PointsConfig points = mf_motions_config().points;
        mf_Error error = {0};
        group.model = &rig.hand->model;
        must(mf_world_create(rig.context, NULL, &rig.world, &error), &error);
        rig.group = add_group(rig.world, &group);
        size_t bytes = mf_context_live_bytes(rig.context);
        switch (which) {
        case 0:
            points.struct_size = 0;
            break;
        case 1:
            points.joint_interval = 5 * MF_MILLISECOND;
            break;
        case 2:
            points.joint_interval = 15 * MF_MILLISECOND;
            break;
        case 3:
            points.friction_coefficient = 0.0;
            break;
        case 4:
            points.friction_coefficient = NAN;
            break;
        case 5:
            points.compliance = 0.0;
            break;
        case 6:
            points.compliance = NAN;
            break;
        case 7:
            points.contact_margin = -1.0;
            break;
        default:
            points.contact_margin = NAN;
            break;
        }
        assert_int_equal(rig_add_points(rig.group, &points, &error), MF_BAD_ARGUMENT);
        assert_true(error.message[0] != '\0');
        assert_int_equal(mf_context_live_bytes(rig.context), bytes);
        assert_false(mf_motion_in(rig.group, MF_MOTION_POINTS));
        must(mf_motion_add(rig.group, MF_MOTION_POINTS, NULL, &error), &error);
        assert_int_equal(mf_motion_add(rig.group, MF_MOTION_POINTS, NULL, &error),
                         MF_BAD_ARGUMENT); // twice
        rig_close(&rig);
    }
}
