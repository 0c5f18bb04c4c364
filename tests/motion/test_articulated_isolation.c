// Robots that move by `articulated` are independent of each other (batch.h).
#include "motion/articulated_rig.h"
#include "motion/batch.h"

static const BatchOption options[] = {
    {MF_MOTION_ARTICULATED, MF_ARTICULATED_IMPLICIT, 5, false, false, false, BILINEAR},
    {MF_MOTION_ARTICULATED, MF_ARTICULATED_IMPLICIT, 5, true, true, false, NEAREST},
    {MF_MOTION_ARTICULATED, MF_ARTICULATED_EULER, 1, false, true, false, BILINEAR},
    {MF_MOTION_ARTICULATED, MF_ARTICULATED_RK4, 1, false, false, false, BILINEAR},
    {MF_MOTION_ARTICULATED, MF_ARTICULATED_RK4, 1, true, false, true, NEAREST},
};

// A base with two legs of oblique hinges, a ball joint, a slide, and a free body that belongs to
// the same model.
static void build_mixed(Batch *batch) {
    mf_HandModel *hand = batch->rig.hand;
    const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0}, up[3] = {0, 0, 1};
    art_body(hand, 0, 3.0, 0.01, 0, 0, 0.02, 0.03, 0.03);
    for (int side = -1; side <= 1; side += 2) {
        uint32_t thigh = mf_hand_hinge(hand, 0, 0, 0.1 * side, 0, oblique);
        art_body(hand, thigh, 0.5, 0, 0, -0.1, 0.002, 0.002, 0.001);
        uint32_t shin = mf_hand_slide(hand, thigh, 0, 0, -0.2, up);
        art_body(hand, shin, 0.3, 0, 0, -0.05, 0.001, 0.001, 0.0005);
        mf_hand_point(hand, shin, 0, 0, -0.15, 0.0, true);
        hand->joints[shin - 1].lower = -0.05;
        hand->joints[shin - 1].upper = 0.05;
        hand->joints[thigh - 1].friction = 0.05;
        hand->joints[thigh - 1].damping = 0.05;
        hand->joints[thigh - 1].stiffness = 0.5;
    }
    uint32_t head = mf_hand_hinge(hand, 0, 0.1, 0, 0.1, up);
    hand->joints[head - 1].type = MF_JOINT_BALL;
    hand->joints[head - 1].damping = 0.01;
    art_body(hand, head, 0.4, 0.05, 0, 0.05, 0.001, 0.002, 0.001);
    uint32_t loose = mf_hand_hinge(hand, 0, -0.3, 0, 0.2, up);
    hand->joints[loose - 1].type = MF_JOINT_FLOATING;
    art_body(hand, loose, 0.2, 0, 0, 0, 0.0005, 0.0005, 0.0005);
    mf_hand_point(hand, loose, 0, 0, -0.05, 0.0, true);
    mf_hand_point(hand, 0, 0, 0, -0.1, 0.0, true);
    batch->shapes[0] = (mf_Shape){.type = MF_SHAPE_SPHERE,
                                  .link = 2,
                                  .collides = true,
                                  .position = {0, 0, -0.1},
                                  .rotation = {1, 0, 0, 0},
                                  .size = {0.05, 0, 0}};
    batch->shapes[1] = (mf_Shape){.type = MF_SHAPE_CYLINDER,
                                  .link = 4,
                                  .collides = true,
                                  .position = {0, 0, -0.1},
                                  .rotation = {1, 0, 0, 0},
                                  .size = {0.03, 0.1, 0}};
    hand->model.shapes = batch->shapes;
    hand->model.shape_count = 2;
    // A position servo with a lag on a thigh and a thruster on a shin.
    batch->actuators[0] = (mf_Actuator){.name = "servo",
                                        .drive = MF_DRIVE_JOINT,
                                        .dynamics = MF_DYNAMICS_FILTER,
                                        .joint = 0,
                                        .gear = {1.5, 0, 0, 0, 0, 0},
                                        .gain = {3, 0, 0},
                                        .bias = {0, -3, -0.1},
                                        .time_constant = 0.05,
                                        .control_lower = -0.5,
                                        .control_upper = 0.5,
                                        .force_lower = -1.0,
                                        .force_upper = 1.0,
                                        .activation_lower = -1.0,
                                        .activation_upper = 1.0};
    batch->actuators[1] = (mf_Actuator){.name = "thruster",
                                        .drive = MF_DRIVE_SITE,
                                        .reference_site = MF_NONE,
                                        .frame = {.link = 4, .rotation = {1, 0, 0, 0}},
                                        .gear = {0, 0, 1, 0, 0.1, 0},
                                        .gain = {1, 0, 0},
                                        .control_lower = -INFINITY,
                                        .control_upper = INFINITY,
                                        .force_lower = -INFINITY,
                                        .force_upper = INFINITY};
    hand->model.actuators = batch->actuators;
    hand->model.actuator_count = 2;
    hand->links[head].lift_mass = 0.2;
    hand->links[head].lift_moment[0] = 0.01;
}

static void place_robot(const Batch *batch, uint32_t instance, uint32_t number) {
    static const char *const names[] = {"base.position", "base.linear_velocity",
                                        "base.angular_velocity", "joint.rate"};
    static const char *const servo_inputs[] = {"servo.gain", "servo.damping", "servo.target_rate",
                                               "servo.torque"};
    for (uint32_t f = 0; f < 4; f++) {
        mf_Field *field = rig_field(&batch->rig, names[f]);
        for (uint32_t c = 0; c < field->components; c++) {
            double value = random_signed(300 + f, number * 16 + c) * (f == 0 ? 0.1 : 1.0);
            double start = mf_field_get(field, instance, c);
            if (f == 0 && c == 2)
                value = number % 4 == 1 ? 10.0 : number % 4 == 2 ? 1.0 : 0.2;
            mf_field_set(field, instance, c, start + value);
        }
    }
    for (uint32_t i = 0; i < 2; i++)
        set_field(batch->rig.group, "actuator.control", instance, i,
                  random_signed(312, number * 2 + i));
    for (uint32_t j = 0; j < 4; j++) {
        set_field(batch->rig.group, "joint.torque", instance, j,
                  random_signed(310, number * 16 + j));
        set_field(batch->rig.group, "joint.target", instance, j,
                  random_signed(311, number * 16 + j));
        for (uint32_t i = 0; i < 4; i++) {
            mf_Field *input = mf_group_find_field(batch->rig.group, servo_inputs[i]);
            if (input != NULL) // gains from 0 to 2
                mf_field_set(input, instance, j,
                             random_signed(313 + i, number * 16 + j) + (i < 2 ? 1.0 : 0.0));
        }
    }
}

static mf_Status open(Batch *batch, mf_Error *error) {
    const BatchOption *option = &options[batch->option];
    mf_MotionsConfig *motions = &batch->motions;
    build_mixed(batch);
    MF_TRY(batch_set(batch, option, 0.05, error));
    mf_ArticulatedConfig *config = &motions->articulated;
    config->integrator = option->integrator;
    config->shapes = option->shapes;
    config->base = option->fixed ? MF_ARTICULATED_FIXED : MF_ARTICULATED_FREE;
    config->contact_time = 0.02;
    config->limit_time = 0.02;
    config->friction_rate = 0.05;
    config->slip_speed = 0.05;
    config->servo.gain = 2.0;
    config->servo.damping = 0.1;
    config->servo.effort = 1.0;
    config->servo.speed = 3.0;
    config->servo.backlash = 0.01;
    config->servo_inputs = option->ground == NEAREST || option->fixed;
    return batch_add(batch, error);
}

static void change(mf_MotionsConfig *motions) {
    motions->articulated.friction = 0.9;
}

// A joint that moves nothing has no motion.
TEST(a_massless_link_is_refused) {
    AUTO(batch_close)
    Batch batch = batch_begin(open_context(1), 0, MF_ISA_AUTO, 0, 1);
    build_mixed(&batch);
    mf_Link *link = &batch.rig.hand->links[2];
    *link = (mf_Link){.parent = 1, .joint = link->joint};
    batch.motion = MF_MOTION_ARTICULATED;
    MUST_FAIL(batch_add(&batch, &error), MF_BAD_ARGUMENT, "articulated: ");
    assert_null(mf_articulated_config_of(batch.rig.group));
}

static const BatchKind batch_kind = {.options = sizeof options / sizeof *options,
                                     .robots = 20,
                                     .steps = 60,
                                     .many = 200,
                                     .open = open,
                                     .change = change,
                                     .place = place_robot,
                                     .touches = 300,
                                     .fixed = 1 << 4,
                                     .touching = batch_loaded,
                                     .poisoned = 1 << 0 | 1 << 2 | 1 << 4};
