// Robots that move by `kinematic` are independent of each other (batch.h).
#include "motion/batch.h"
#include "motion/kinematic_rig.h"

static const BatchOption options[] = {
    {MF_MOTION_KINEMATIC, 0, 2, false, false, false, LEVEL},
    {MF_MOTION_KINEMATIC, 0, 2, true, false, false, LEVEL},
    {MF_MOTION_KINEMATIC, 0, 2, false, true, false, BILINEAR},
    {MF_MOTION_KINEMATIC, 0, 2, true, true, false, NEAREST},
    {MF_MOTION_KINEMATIC, 0, 2, false, false, false, NEAREST},
};

// Two legs with soles, a leg of slides, one of an oblique hinge and a ball joint; a free body.
static void build_mixed(Batch *batch) {
    mf_HandModel *hand = batch->rig.hand;
    const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0}, up[3] = {0, 0, 1};
    mf_hand_point(hand, 0, 0.01, 0, 0.1, 2.0, true);
    kin_leg(hand, 0.05);
    kin_leg(hand, -0.05);
    kin_post(hand, -0.15, 0, 0.21);
    uint32_t ball = mf_hand_hinge(hand, 0, 0.15, 0, 0, up);
    hand->joints[ball - 1].type = MF_JOINT_BALL;
    uint32_t tip = mf_hand_hinge(hand, ball, 0, 0, -0.1, oblique);
    mf_hand_point(hand, tip, 0, 0.01, -0.11, 0.1, true);
    uint32_t loose = mf_hand_hinge(hand, 0, -0.3, 0, 0.2, up);
    hand->joints[loose - 1].type = MF_JOINT_FLOATING;
    mf_hand_point(hand, loose, 0, 0, -0.41, 0.1, true);
    hand->joints[2].lower = -0.5;
    hand->joints[2].upper = 0.4;
    hand->joints[9].mimic = 3;
    hand->joints[9].multiplier = 0.9;
    const mf_Shape ground = {.collides = true, .rotation = {1, 0, 0, 0}};
    batch->shapes[0] = batch->shapes[1] = batch->shapes[2] = ground;
    batch->shapes[0].type = MF_SHAPE_SPHERE;
    batch->shapes[0].link = tip;
    batch->shapes[0].position[2] = -0.1;
    batch->shapes[0].size[0] = 0.02;
    batch->shapes[1].type = MF_SHAPE_CYLINDER;
    batch->shapes[1].link = tip - 2;
    batch->shapes[1].position[2] = -0.2;
    batch->shapes[1].size[0] = 0.03;
    batch->shapes[1].size[1] = 0.04;
    batch->shapes[2].type = MF_SHAPE_ELLIPSOID;
    batch->shapes[2].link = loose;
    batch->shapes[2].position[2] = -0.4;
    batch->shapes[2].size[0] = 0.01;
    batch->shapes[2].size[1] = 0.02;
    batch->shapes[2].size[2] = 0.03;
    hand->model.shapes = batch->shapes;
    hand->model.shape_count = 3;
    for (uint32_t j = 0; j < hand->model.joint_count; j++)
        hand->joints[j].armature = 0.01; // for motions that ask for inertia
}

// Robots begin in the air, tilted, or on the ground; their joints swing.
static void place_robot(const Batch *batch, uint32_t instance, uint32_t number) {
    mf_Field *position = rig_field(&batch->rig, "base.position");
    mf_Field *rotation = rig_field(&batch->rig, "base.orientation");
    double tilt = number % 3 == 0 ? 0.0 : 0.05 * random_signed(301, number);
    mf_field_set(position, instance, 0, random_signed(300, number));
    mf_field_set(position, instance, 2,
                 mf_field_get(position, instance, 2) + (number % 4 == 1 ? 0.02 : 0.0));
    mf_field_set(rotation, instance, 0, cos(tilt));
    mf_field_set(rotation, instance, 1, sin(tilt));
}

static void steer(const mf_SystemRun *run, void *user) {
    const uint32_t first = ((const Batch *)user)->first;
    mf_Field *target = mf_group_find_field(run->group, "joint.target");
    for (uint32_t i = run->first_block * MF_BLOCK;
         i < (run->first_block + run->block_count) * MF_BLOCK && i < mf_group_count(run->group);
         i++)
        for (uint32_t j = 0; j < target->components; j++) {
            uint64_t key = ((first + i) * 64 + j) * 64 + run->tick / 4 % 64;
            batch_put(target, i, j, 0.15 * random_signed(302, key));
        }
}

static mf_Status open(Batch *batch, mf_Error *error) {
    const BatchOption *option = &options[batch->option];
    mf_MotionsConfig *motions = &batch->motions;
    build_mixed(batch);
    MF_TRY(batch_set(batch, option, 0.02, error));
    motions->kinematic.shapes = option->shapes;
    return batch_add(batch, error);
}

static void change(mf_MotionsConfig *motions) {
    motions->kinematic.settle_time = 0.03;
}

static uint32_t standing(const Batch *batch, uint32_t lane) {
    const mf_Field *holds = rig_field(&batch->rig, "stance.holds");
    uint32_t count = 0;
    for (uint32_t c = 0; c < holds->components; c++)
        count += mf_field_get(holds, lane, c) > 0.0;
    return count;
}

static const BatchKind batch_kind = {.options = sizeof options / sizeof *options,
                                     .robots = 20,
                                     .steps = 60,
                                     .many = 200,
                                     .open = open,
                                     .change = change,
                                     .place = place_robot,
                                     .steer = steer,
                                     .touches = 60,
                                     .touching = standing,
                                     .poisoned = 1 << 0 | 1 << 3};
