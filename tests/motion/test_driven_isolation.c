// Robots that move by `rigid` or `prescribed` are independent of each other (batch.h).
#include "motion/batch.h"
#include "motion/body/driven.h"
#include "motion/driven_rig.h"

enum { JOINTS = 7 };

static const BatchOption options[] = {
    {MF_MOTION_RIGID, MF_ARTICULATED_IMPLICIT, 5, false, false, false, BILINEAR},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_IMPLICIT, 5, false, true, false, BILINEAR},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_IMPLICIT, 5, true, false, false, NEAREST},
    {MF_MOTION_RIGID, MF_ARTICULATED_EULER, 1, true, true, false, NEAREST},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_RK4, 1, false, true, false, BILINEAR},
    {MF_MOTION_RIGID, MF_ARTICULATED_RK4, 1, true, false, false, BILINEAR},
    {MF_MOTION_PRESCRIBED, MF_ARTICULATED_IMPLICIT, 5, false, false, true, BILINEAR},
};

// The flailer with feet of every kind, a joint that follows another, limits and speeds.
static void build_mixed(Batch *batch) {
    mf_HandModel *hand = batch->rig.hand;
    make_flailer(hand, true);
    hand->joints[5].mimic = 4;
    hand->joints[5].multiplier = -1.5;
    hand->joints[5].offset = 0.1;
    for (uint32_t j = 0; j < JOINTS - 1; j++) {
        hand->joints[j].lower = -0.8;
        hand->joints[j].upper = 0.7;
        hand->joints[j].speed = 6.0;
    }
    const mf_ShapeType types[3] = {MF_SHAPE_SPHERE, MF_SHAPE_CYLINDER, MF_SHAPE_ELLIPSOID};
    const uint32_t links[3] = {2, 4, 5};
    for (int i = 0; i < 3; i++)
        batch->shapes[i] = (mf_Shape){.type = types[i],
                                      .link = links[i],
                                      .collides = true,
                                      .position = {0, 0.01, -0.1},
                                      .rotation = {1, 0, 0, 0},
                                      .size = {0.05, 0.08, 0.06},
                                      .contact_type = 1,
                                      .contact_with = 1,
                                      .dimension = 6,
                                      .friction = {0.8, 0.01, 0.005}};
    hand->model.shapes = batch->shapes;
    hand->model.shape_count = 3;
}

static void place_robot(const Batch *batch, uint32_t instance, uint32_t number) {
    mf_Group *group = batch->rig.group;
    static const char *const names[] = {"base.position",         "base.linear_velocity",
                                        "base.angular_velocity", "joint.rate",
                                        "joint.angle",           "joint.target"};
    for (uint32_t f = 0; f < sizeof names / sizeof *names; f++) {
        mf_Field *field = mf_group_find_field(group, names[f]);
        for (uint32_t c = 0; c < field->components; c++)
            mf_field_set(field, instance, c,
                         (f == 0 ? 0.3 : 0.6) * random_signed(300 + f, number * 16 + c) +
                             (f == 0 && c == 2 ? 0.35 : 0.0));
    }
    set_field(group, "base.force", instance, 0, random_signed(320, number));
}

static void steer(const mf_SystemRun *run, void *user) {
    const Batch *batch = user;
    mf_Field *target = mf_group_find_field(run->group, "joint.target");
    for (uint32_t b = run->first_block; b < run->first_block + run->block_count; b++)
        for (uint32_t i = b * MF_BLOCK; i < (b + 1) * MF_BLOCK && i < mf_group_count(run->group);
             i++)
            for (uint32_t j = 0; j < JOINTS; j++)
                mf_field_set(target, i, j,
                             random_signed(330, (run->tick * 64 + batch->first + i) * 16 + j));
}

static mf_Status open(Batch *batch, mf_Error *error) {
    const BatchOption *option = &options[batch->option];
    mf_MotionsConfig *motions = &batch->motions;
    build_mixed(batch);
    MF_TRY(batch_set(batch, option, 0.05, error));
    mf_RigidConfig *rigid = &motions->rigid;
    mf_PrescribedConfig *prescribed = &motions->prescribed;
    rigid->integrator = prescribed->integrator = option->integrator;
    rigid->shapes = prescribed->shapes = option->shapes;
    rigid->base = prescribed->base = option->fixed ? MF_ARTICULATED_FIXED : MF_ARTICULATED_FREE;
    rigid->contact_time = prescribed->contact_time = 0.02;
    rigid->slip_speed = prescribed->slip_speed = 0.05;
    rigid->friction_rate = prescribed->friction_rate = 0.05;
    rigid->torsional_friction = 0.01;
    return batch_add(batch, error);
}

static void change(mf_MotionsConfig *motions) {
    motions->rigid.separation = 0.2;
}

// A target that is read while it is not a number stops the robot.
TEST(a_corrupted_target_is_an_input_fault) {
    for (int i = 0; i < 2; i++) {
        DrivenConfig config = driven_config(i == 0 ? MF_MOTION_RIGID : MF_MOTION_PRESCRIBED,
                                            MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        AUTO_RIG rig = rig_begin(1);
        make_flailer(rig.hand, false);
        driven_open(&rig, config);
        rig_set(&rig, "joint.target", 2, (double)NAN);
        mf_world_step(rig.world, 1);
        assert_int_equal(mf_group_fault(rig.group, 0), MF_FAULT_INPUT);
    }
}

// What cannot be told where to go is refused by name, with the motion that can move it.
TEST(floating_joints_are_refused) {
    mf_Error error = {0};
    mf_GroupConfig group = mf_group_config();
    AUTO_RIG rig = rig_begin(1);
    make_flailer(rig.hand, true);
    rig.hand->joints[JOINTS - 1].type = MF_JOINT_FLOATING;
    rig.hand->joints[JOINTS - 1].name = "loose";
    group.model = &rig.hand->model;
    must(mf_world_create(rig.context, NULL, &rig.world, &error), &error);
    rig.group = add_group(rig.world, &group);
    assert_fails(mf_motion_add(rig.group, MF_MOTION_PRESCRIBED, NULL, &error), MF_UNSUPPORTED,
                 &error, "loose");
    assert_non_null(strstr(error.message, "articulated"));
}

static const BatchKind batch_kind = {.options = sizeof options / sizeof *options,
                                     .robots = 20,
                                     .steps = 60,
                                     .many = 200,
                                     .open = open,
                                     .change = change,
                                     .place = place_robot,
                                     .steer = steer,
                                     .rate = {100, 1},
                                     .touches = 60,
                                     .fixed = 1 << 6,
                                     .touching = batch_loaded,
                                     .poisoned = 1 << 0 | 1 << 1};
