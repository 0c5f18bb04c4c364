// The `rigid` motion: moving limbs have no reaction but carry the robot by friction; the contact
// law that is softer on separation; pseudo friction against spin.
#include "motion/driven_rig.h"

static DrivenConfig usual(mf_Motion motion) {
    return driven_config(motion, MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
}

// In the air, without gravity, a base at rest stays at rest whatever its limbs do.
TEST(limbs_have_no_reaction) {
    AUTO_RIG rig = rig_begin(1);
    make_flailer(rig.hand, true);
    driven_open(&rig, WITH(usual(MF_MOTION_RIGID), .world.gravity = 0.0));
    rig_set(&rig, "base.position", 2, 5.0);
    for (int n = 0; n < 100; n++) {
        for (uint32_t j = 0; j < 6; j++)
            rig_set(&rig, "joint.target", j, sin(0.2 * n * (j + 1.0)));
        mf_world_step(rig.world, 10);
    }
    for (uint32_t c = 0; c < 3; c++) {
        assert_near(rig_get(&rig, "base.position", c), c == 2 ? 5.0 : 0.0, 0.0);
        assert_near(rig_get(&rig, "base.angular_velocity", c), 0.0, 0.0);
    }
    assert_true(fabs(rig_get(&rig, "joint.angle", 3)) > 0.1);
}

// A block on a slide with four feet below. The feet stick, so the block goes as far as the slide;
// without friction it stays under `rigid`, and its center of mass does under `prescribed`.
static double walk(mf_Motion motion, double friction) {
    static const double forward[3] = {1, 0, 0};
    AUTO_RIG rig = rig_begin(1);
    art_body(rig.hand, 0, 3.0, 0, 0, 0, 0.03, 0.03, 0.03);
    uint32_t feet = mf_hand_slide(rig.hand, 0, 0, 0, 0, forward);
    art_body(rig.hand, feet, 1.0, 0, 0, -0.05, 0.01, 0.01, 0.01);
    for (int i = 0; i < 4; i++)
        mf_hand_point(rig.hand, feet, i & 1 ? 0.2 : -0.2, i & 2 ? 0.2 : -0.2, -0.1, 0.0, true);
    driven_open(&rig, WITH(usual(motion), .motions.rigid.friction = friction,
                           .motions.prescribed.friction = friction));
    mf_world_step(rig.world, 500);
    double start = rig_get(&rig, "base.position", 0);
    for (int n = 1; n <= 100; n++) {
        rig_set(&rig, "joint.target", 0, -0.05 * (1.0 - cos(3.14159265358979 * 0.01 * n)));
        mf_world_step(rig.world, 10);
    }
    mf_world_step(rig.world, 100);
    double distance = rig_get(&rig, "base.position", 0) - start;
    assert_int_equal(mf_group_fault(rig.group, 0), 0);
    return distance;
}

TEST(joint_rates_carry_the_robot) {
    assert_near(walk(MF_MOTION_RIGID, 1.0), 0.1, 1e-4);
    assert_near(walk(MF_MOTION_PRESCRIBED, 1.0), 0.1, 1e-4);
    assert_near(walk(MF_MOTION_RIGID, 0.0), 0.0, 1e-6);        // it nods, as its weight goes back
    assert_near(walk(MF_MOTION_PRESCRIBED, 0.0), 0.025, 1e-6); // 1 kg of 4 goes back by 0.1 m
}

// A top on one point slows down by the constant torque nu m g: w = w0 - nu m g t / I.
TEST(spin_has_friction) {
    AUTO_RIG rig = rig_begin(1);
    art_body(rig.hand, 0, 2.0, 0, 0, -0.2, 0.05, 0.05, 0.01);
    mf_hand_point(rig.hand, 0, 0, 0, 0, 0.0, true);
    driven_open(&rig, WITH(usual(MF_MOTION_RIGID), .motions.rigid.torsional_friction = 0.002));
    mf_world_step(rig.world, 500); // the load has settled
    rig_set(&rig, "base.angular_velocity", 2, 5.0);
    mf_world_step(rig.world, 500);
    // a = 0.002 m * 2 kg * 9.81 m/s^2 / 0.01 kg m^2 = 3.924 rad/s^2. Friction goes by the rate at
    // the beginning of a step and acts on that at its end: w'/w of it, so a dt ln(w0 / w) is left.
    assert_near(rig_get(&rig, "base.angular_velocity", 2),
                5.0 - 0.5 * 3.924 + 3.924e-3 * log(5.0 / 3.038), 1e-5);
    mf_world_step(rig.world, 1500);
    assert_near(rig_get(&rig, "base.angular_velocity", 2), 0.0, 1e-6);
}

// Dropped from h, a ball goes in to the depth d with k d^2 / 2 = m g (h + d) and comes out to the
// height where m g (h' + d) = z k d^2 / 2, z being the share of the stiffness on separation.
TEST(drops_come_back_to_their_share) {
    for (int i = 1; i <= 4; i++) {
        AUTO_RIG rig = rig_begin(1);
        art_body(rig.hand, 0, 1.0, 0, 0, 0, 0.01, 0.01, 0.01);
        mf_hand_point(rig.hand, 0, 0, 0, 0, 0.0, true);
        driven_open(&rig, WITH(usual(MF_MOTION_RIGID), .world.step = MF_MILLISECOND / 100,
                               .motions.rigid.separation = 0.2 * i,
                               .motions.rigid.contact_stiffness = 2e4,
                               .motions.rigid.contact_depth = 1.0));
        rig_set(&rig, "base.position", 2, 0.5);
        double highest = 0.0;
        bool down = false;
        for (int n = 0; n < 100000; n++) {
            mf_world_step(rig.world, 1);
            down = down || rig_get(&rig, "base.position", 2) < 0.0;
            if (down)
                highest = fmax(highest, rig_get(&rig, "base.position", 2));
            if (down && rig_get(&rig, "base.linear_velocity", 2) < -0.1 && highest > 0.0)
                break;
        }
        const double weight = 9.81, k = 2e4, h = 0.5, z = 0.2 * i;
        double depth = (weight + sqrt(weight * weight + 2.0 * k * weight * h)) / k;
        // Backward Euler steps take pi / 2 w dt = 0.22 % of the energy in each quarter of a swing.
        assert_near(highest, z * (h + depth) - depth, 0.005 * h);
    }
}

// Set down three times as deep as it rests, a body comes up within the time of a few swings: near
// rest it obeys x'' + c x' + w^2 x = 0 with c = 4 w for one contact (docs/explanation/rigid.md),
// whose slower rate is (2 - sqrt(3)) w = 22/s; with four contacts it is 4 w. 0.5 s leave 3 exp(-11)
// of the depth.
TEST(what_is_pressed_rises_to_rest) {
    for (int feet = 1; feet <= 4; feet += 3) {
        AUTO_RIG rig = rig_begin(1);
        art_body(rig.hand, 0, 2.0, 0, 0, 0, 0.01, 0.01, 0.01);
        for (int k = 0; k < feet; k++)
            mf_hand_point(rig.hand, 0, feet > 1 ? (k & 1 ? 0.1 : -0.1) : 0,
                          feet > 1 ? (k & 2 ? 0.1 : -0.1) : 0, -0.05, 0.0, true);
        driven_open(&rig, WITH(usual(MF_MOTION_RIGID), .motions.rigid.contact_time = 0.012));
        // Stiffness m / (12 ms)^2 of each.
        const double depth = 9.81 * 0.012 * 0.012 / feet;
        rig_set(&rig, "base.position", 2, 0.05 - 3.0 * depth);
        mf_world_step(rig.world, 500);
        assert_near(rig_get(&rig, "base.position", 2), 0.05 - depth, 1e-3 * depth);
        assert_near(rig_get(&rig, "base.linear_velocity", 2), 0.0, 1e-4);
    }
}

// Heavier loads, steps and contacts than anybody should use: nothing flies off.
TEST(stiff_contacts_rest) {
    static const double stiffness[3] = {1e4, 1e7, 1e10};
    for (int i = 0; i < 6; i++) {
        DrivenConfig config = usual(i < 3 ? MF_MOTION_RIGID : MF_MOTION_PRESCRIBED);
        config.world.step = 2 * MF_MILLISECOND;
        config.motions.rigid.contact_stiffness = config.motions.prescribed.contact_stiffness =
            stiffness[i % 3];
        AUTO_RIG rig = rig_begin(1);
        art_body(rig.hand, 0, 2.0, 0.03, 0, 0, 0.01, 0.01, 0.01);
        for (int k = 0; k < 4; k++)
            mf_hand_point(rig.hand, 0, k & 1 ? 0.1 : -0.1, k & 2 ? 0.1 : -0.1, -0.05, 0.0, true);
        driven_open(&rig, config);
        rig_set(&rig, "base.position", 2, 0.15);
        rig_set3(&rig, "base.angular_velocity", 1, 2, 3);
        rig_set3(&rig, "base.linear_velocity", 1, 0, -1);
        mf_world_step(rig.world, 5000);
        double sum = 0.0;
        for (uint32_t c = 0; c < 4; c++)
            sum += rig_get(&rig, "contact.load", c);
        assert_near(sum, 2.0 * 9.81, 1e-3);
        for (uint32_t c = 0; c < 3; c++) {
            assert_near(rig_get(&rig, "base.linear_velocity", c), 0.0, 1e-4);
            assert_near(rig_get(&rig, "base.angular_velocity", c), 0.0, 1e-3);
        }
    }
}
