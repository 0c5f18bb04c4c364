// Check cases of contacts of the motions with driven joints, `rigid` and `prescribed`: the same
// results as under `articulated`, and the contact law of `rigid`. The E cases of these motions are
// in check_free.c.
#include <math.h>

#include "check.h"

static const double none[3] = {0, 0, 0};
static const mf_Motion both[2] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED};

// ---- contacts -----------------------------------------------------------------------------------

static mf_RigConfig rig_config(mf_CheckRun *run, mf_Motion motion, mf_Time step) {
    mf_check_variant(run, "%s", mf_motion_name(motion));
    return mf_rig_config_at(motion, MF_ARTICULATED_IMPLICIT, step);
}

static void check_rest(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        mf_RigConfig config = rig_config(run, both[i], 5 * MF_MILLISECOND);
        mf_rig_start_block(run, 2.0, none, 0.2, 0.2, 0.1);
        config.motions.rigid.contact_stiffness = 1000.0;
        config.motions.prescribed.contact_stiffness = 1000.0;
        config.motions.rigid.slip_speed = 0.01; // a contact relaxes within depth / slip speed
        mf_rig_open(run, &config);
        mf_rig_step(run, 20000);
        mf_check_near(run, "penetration at rest [m]", 0.004905,
                      0.1 - mf_rig_get(run, "base.position", 2), 1e-9);
        for (uint32_t k = 0; k < 4; k++)
            mf_rig_near(run, "contact.load", k, "load of a contact [N]", 4.905, 1e-6);
    }
}

static void check_table(mf_CheckRun *run) {
    static const double expected[4] = {15.12375, 27.38625, 21.66375, 33.92625};
    static const double center[3] = {0.05, 0.02, 0.0};
    for (int i = 0; i < 2; i++) {
        mf_RigConfig config = rig_config(run, both[i], MF_MILLISECOND);
        mf_rig_start_block(run, 10.0, center, 0.2, 0.15, 0.0);
        mf_rig_open(run, &config);
        mf_rig_step(run, 5000);
        for (uint32_t k = 0; k < 4; k++)
            mf_rig_near(run, "contact.load", k, "load of a foot [N]", expected[k], 1e-4);
    }
}

// Restitution along the normal is the square root of the stiffness ratio.
static void check_bounce(mf_CheckRun *run) {
    static const double shares[3] = {0.1, 0.5, 1.0};
    static const double expected[3] = {0.3162278, 0.7071068, 1.0};
    for (int i = 0; i < 3; i++) {
        mf_RigConfig config =
            mf_rig_config_at(MF_MOTION_RIGID, MF_ARTICULATED_IMPLICIT, MF_MILLISECOND / 100);
        config.world.gravity = 0.0;
        config.motions.rigid.contact_stiffness = 2e4;
        config.motions.rigid.contact_depth = 1.0;
        config.motions.rigid.separation = shares[i];
        mf_HandModel *hand = mf_rig_start(run);
        mf_rig_body(run, 0, 2.0, none, (double[3]){0.01, 0.01, 0.01});
        mf_hand_point(hand, 0, 0, 0, 0, 0.0, true);
        mf_rig_open(run, &config);
        mf_rig_set3(run, "base.position", 0, 0, 0.001);
        mf_rig_set3(run, "base.linear_velocity", 0, 0, -1.0);
        mf_rig_step(run, 30000);
        // A backward Euler step loses w dt / 4 of an oscillation's speed per radian: 1e-3 for pi
        // radians.
        mf_rig_near(run, "base.linear_velocity", 2,
                    mf_check_name(run, "rebound speed, separation %g [1]", shares[i]), expected[i],
                    2e-3);
    }
}

// A block on four feet where gravity is tilted. Returns its speed after `steps` of 1 ms.
static double slide(mf_CheckRun *run, mf_Motion motion, double angle, double friction, double slow,
                    uint64_t steps) {
    mf_RigConfig config = rig_config(run, motion, MF_MILLISECOND);
    mf_rig_start_block(run, 2.0, none, 0.2, 0.2, 0.02);
    mf_rig_tilt(&config, angle * MF_CHECK_DEGREE);
    config.motions.rigid.friction = config.motions.prescribed.friction = friction;
    config.motions.rigid.slip_speed = config.motions.prescribed.slip_speed = slow;
    mf_rig_open(run, &config);
    mf_rig_set3(run, "base.position", 0, 0, 0.02);
    mf_rig_step(run, steps);
    return mf_rig_get(run, "base.linear_velocity", 0);
}

static void check_slope(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        const double early = slide(run, both[i], 30.0, 0.3, 1e-4, 500);
        const double late = slide(run, both[i], 30.0, 0.3, 1e-4, 1500);
        const double below = slide(run, both[i], 26.5651 - 0.01, 0.5, 1e-4, 5000);
        const double above = slide(run, both[i], 26.5651 + 0.01, 0.5, 1e-4, 5000);
        mf_check_near(run, "acceleration on 30 degrees [m/s^2]", 2.356287, late - early, 1e-5);
        // The first contact step has no friction yet: 5 mm/s, which decay in 3 s.
        mf_check_below(run, "speed 0.01 degrees below the limit [m/s]", 1e-4, below);
        mf_check_above(run, "speed 0.01 degrees above it [m/s]", 5e-4, above);
    }
}

static void check_creep(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        const double coarse = slide(run, both[i], 15.0, 0.5, 1e-4, 2000);
        const double fine = slide(run, both[i], 15.0, 0.5, 1e-5, 2000);
        mf_check_near(run, "creep, slip speed 0.1 mm/s [m/s]", 5.358984e-5, coarse, 1e-8);
        mf_check_near(run, "proportional to the slip speed: ratio", 10.0, coarse / fine, 1e-2);
    }
}

// A solid sphere where gravity is tilted by 15 degrees, for 1 s: 5/7 g sin. Relative 5.5e-4, the
// tolerance of Drake's test; the distance of a first-order step is off by half a step at the final
// speed, 4.5e-4 m.
static void check_roll(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        mf_RigConfig config = rig_config(run, both[i], MF_MILLISECOND / 2);
        config.motions.rigid.shapes = config.motions.prescribed.shapes = true;
        mf_rig_tilt(&config, 15 * MF_CHECK_DEGREE);
        mf_rig_open_geom(run, "", "type='sphere' size='0.1' mass='3'", &config);
        mf_rig_set3(run, "base.position", 0, 0, 0.1);
        mf_rig_step(run, 2000);
        const double speed = mf_rig_get(run, "base.linear_velocity", 0);
        mf_rig_near(run, "base.position", 0, "distance after 1 s [m]", 0.9067910,
                    5.5e-4 * 0.906791);
        mf_check_near(run, "speed after 1 s [m/s]", 1.8135820, speed, 5.5e-4 * 1.813582);
        mf_check_near(run, "rate times radius over speed", 1.0,
                      0.1 * mf_rig_get(run, "base.angular_velocity", 1) / speed, 5.5e-4);
    }
}

// A box on its eight corners tumbles down from 1 m. Elastic energy of contacts is not counted, so
// its energy may rise while a contact opens, but never above the initial value.
static void check_energy(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        mf_RigConfig config = rig_config(run, both[i], MF_MILLISECOND);
        config.motions.rigid.separation = 0.5;
        mf_rig_start(run);
        mf_rig_body(run, 0, 2.0, none, (double[3]){0.02, 0.03, 0.04});
        mf_rig_corners(run, 8, 0.2, 0.15, 0.1, 0.0);
        mf_rig_open(run, &config);
        mf_rig_set3(run, "base.position", 0, 0, 1);
        mf_rig_set3(run, "base.angular_velocity", 3, 2, 1);
        const double start = mf_rig_energy(run);
        double most = 0.0;
        for (int n = 0; n < 10000; n++) {
            mf_rig_step(run, 1);
            most = fmax(most, mf_rig_energy(run) - start);
        }
        mf_check_below(run, "energy above the initial energy, relative", 1e-12, most / start);
        mf_check_below(run, "kinetic energy after 10 s, relative", 1e-9,
                       mf_rig_kinetic(run) / start);
    }
}

const mf_CheckCase mf_check_ladder_cases[] = {
    {"C1-ladder", "loads of four feet with the weight off the center", check_table},
    {"C3-ladder", "a block on a slope", check_slope},
    {"D1-ladder", "depth at rest", check_rest},
    {"D2-ladder", "bounce of a contact that is softer on separation", check_bounce},
    {"D5-ladder", "a sphere rolls down a slope", check_roll},
    {"D9-ladder", "creep of stiction", check_creep},
    {"D12-ladder", "a tumbling box gains no energy and comes to rest", check_energy},
    {NULL, NULL, NULL}};
