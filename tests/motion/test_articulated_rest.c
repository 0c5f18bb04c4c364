// Robots at rest stay at rest: a robot on legs that springs press into their limits bears its
// weight in every step and comes to a stop.
#include "motion/articulated_rig.h"

static const double along_y[3] = {0, 1, 0};

// A trunk of 8 kg on two pairs of legs with knees and flat feet; springs stretch all joints beyond
// their limits with up to 100 N m, as the tendons of a humanoid do.
static void build_crouch(mf_HandModel *hand) {
    art_body(hand, 0, 8.0, 0, 0, 0, 0.1, 0.2, 0.2);
    for (int i = 0; i < 4; i++) {
        double x = i & 1 ? 0.25 : -0.25, y = i & 2 ? 0.15 : -0.15, side = i & 1 ? 1.0 : -1.0;
        uint32_t parent = 0;
        for (int k = 0; k < 3; k++) {
            const double rotation[3] = {-0.5, 1.0, -0.5}; // hip, knee, ankle end level
            uint32_t link = mf_hand_hinge(hand, parent, k == 0 ? x : 0, k == 0 ? y : 0,
                                          k == 0 ? -0.05 : -0.2, along_y);
            mf_Joint *joint = &hand->joints[hand->model.joint_count - 1];
            joint->lower = side * rotation[k] < 0 ? side * rotation[k] : -1.5;
            joint->upper = side * rotation[k] < 0 ? 1.5 : side * rotation[k];
            joint->stiffness = 50.0;
            joint->spring_reference = side * rotation[k] + (side * rotation[k] < 0 ? -2.0 : 2.0);
            joint->damping = 0.2;
            art_body(hand, link, k < 2 ? 0.5 : 0.1, 0, 0, k < 2 ? -0.1 : -0.02, 1e-3, 1e-3, 1e-3);
            parent = link;
        }
        mf_hand_point(hand, parent, -0.06, 0, -0.03, 0.0, true);
        mf_hand_point(hand, parent, 0.08, 0, -0.03, 0.0, true);
    }
}

// Over ten seconds after five to settle: in double the ground bears the weight within 1e-6 in every
// step; in float within 1e-3, rounding of places in stiff contacts, and 1e-5 on average.
TEST(robots_on_their_limits_rest) {
    for (int i = 0; i < 8; i++) {
        static const mf_Time steps[] = {MF_MILLISECOND, 2 * MF_MILLISECOND, 5 * MF_MILLISECOND,
                                        10 * MF_MILLISECOND};
        AUTO_RIG rig = rig_begin(1);
        build_crouch(rig.hand);
        art_open(&rig, WITH(art_config(MF_ARTICULATED_IMPLICIT, steps[i / 2]),
                            .group.double_precision = i % 2 == 0, .motion.friction = 0.8));
        rig_set3(&rig, "base.position", 0, 0, 0.5);
        rig_set(&rig, "base.orientation", 0, cos(0.1));
        rig_set(&rig, "base.orientation", 2, sin(0.1));
        mf_world_step(rig.world, (uint64_t)(5 * MF_SECOND / steps[i / 2]));
        double least = INFINITY, most = 0.0, sum = 0.0, speed = 0.0;
        const uint32_t count = (uint32_t)(10 * MF_SECOND / steps[i / 2]);
        for (uint32_t n = 0; n < count; n++) {
            double load = 0.0;
            mf_world_step(rig.world, 1);
            for (uint32_t c = 0; c < rig_field(&rig, "contact.load")->components; c++)
                load += rig_get(&rig, "contact.load", c) / (rig.hand->model.mass * 9.81);
            for (uint32_t j = 0; j < rig_field(&rig, "joint.rate")->components; j++)
                speed = fmax(speed, fabs(rig_get(&rig, "joint.rate", j)));
            least = fmin(least, load);
            most = fmax(most, load);
            sum += load;
        }
        assert_near(least, 1.0, i % 2 == 0 ? 1e-6 : 1e-3);
        assert_near(most, 1.0, i % 2 == 0 ? 1e-6 : 1e-3);
        assert_near(sum / count, 1.0, i % 2 == 0 ? 1e-6 : 1e-5);
        assert_near(speed, 0.0, 1e-3);
    }
}

// Robots that fall and end as heaps, limbs on limbs, are not shaken by their own contacts, whose
// forces the ground's contacts have to expect when they settle: few of 96 swing by more than a
// hundredth of their weight (24 of them; 60 when nothing is expected).
TEST(heaps_rest) {
    enum { HEAPS = SANITIZED ? 16 : 96 };
    AUTO_CONTEXT *context = open_context(1);
    AUTO_MODEL *model;
    mf_Group *group;
    MUST(mf_model_load(context, MAYFLY_SOURCE_DIR "/models/figure.xml", NULL, &model, &error));
    AUTO_WORLD *world = open_world(context, &WITH(mf_world_config(), .step = 5 * MF_MILLISECOND));
    group = add_group(world, &WITH(mf_group_config(), .model = model, .count = HEAPS));
    MUST(
        rig_add_articulated(group, &WITH(mf_motions_config().articulated, .shapes = true), &error));
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    mf_Field *rate = mf_group_find_field(group, "joint.rate");
    for (uint32_t i = 0; i < HEAPS; i++) {
        set_field(group, "base.position", i, 2, 1.29);
        for (uint32_t j = 0; j < rate->components; j++)
            mf_field_set(rate, i, j,
                         0.002 * ((i * 37 + j * 11 + i / 19 * (j + 3) * 5) % 97) - 0.09);
    }
    double worst[HEAPS] = {0};
    uint32_t shaken = 0;
    mf_world_step(world, 3600);
    for (int n = 0; n < 400; n++) {
        mf_world_step(world, 1);
        for (uint32_t i = 0; i < HEAPS; i++) {
            double sum = 0.0;
            for (uint32_t c = 0; c < load->components; c++)
                sum += mf_field_get(load, i, c) / (model->mass * 9.81);
            worst[i] = fmax(worst[i], fabs(sum - 1.0));
        }
    }
    for (uint32_t i = 0; i < HEAPS; i++)
        shaken += worst[i] > 0.01;
    assert_in_range(shaken, 0, HEAPS / 3);
}
