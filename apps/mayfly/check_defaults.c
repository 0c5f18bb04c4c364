// Check cases with default settings of motions and worlds.
#include <math.h>

#include "check.h"

static const char plane[] = "<geom type='plane' size='9 9 1'/>";
static const mf_Motion levels[2] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED};

// A body of that geom on a plane [m] below its center, gravity tilted about y by `angle` degrees.
static void open_default(mf_CheckRun *run, const char *ground, const char *geom, double height,
                         mf_Motion motion, double angle) {
    mf_RigConfig config = mf_rig_config_of(motion, 2 * MF_MILLISECOND); // default of files
    mf_motions_set_shapes(&config.motions, true);                       // as mayfly run does
    mf_rig_tilt(&config, angle * MF_CHECK_DEGREE);
    mf_rig_open_geom(run, ground, geom, &config);
    mf_rig_set3(run, "base.position", 0, 0, height);
    mf_check_variant(run, "%s", mf_motion_name(motion));
}

// A ball of 5 cm radius gains 5/7 g sin(15 degrees) = 1.813582 m/s in each second.
static void check_roll(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        open_default(run, plane, "type='sphere' size='.05' mass='1'", 0.05, levels[i], 15.0);
        mf_rig_run(run, 0.5);
        const double early = mf_rig_get(run, "base.linear_velocity", 0);
        mf_rig_run(run, 1.0);
        mf_check_near(run, "acceleration of a ball [m/s^2]", 1.813582,
                      mf_rig_get(run, "base.linear_velocity", 0) - early, 0.02);
    }
}

// A box three times as high as wide tips over an edge from atan(1/3) = 18.43 degrees on. The ground
// yields by 0.7 mm (`rigid`) and the weight is applied suddenly, which reduces the angle by up to 2
// degrees.
static void check_tip(mf_CheckRun *run) {
    static const double angles[2] = {15.9, 20.4};
    for (int i = 0; i < 2; i++)
        for (int side = 0; side < 2; side++) {
            open_default(run, plane, "type='box' size='.05 .05 .15' mass='1'", 0.15, levels[i],
                         angles[side]);
            mf_rig_run(run, 3.0);
            const double height = mf_rig_get(run, "base.position", 2);
            if (side == 0)
                mf_check_above(run, "height of a box at 15.9 degrees [m]", 0.145, height);
            else
                mf_check_below(run, "height of a box at 20.4 degrees [m]", 0.06, height);
        }
}

// A flat box thrown at 1 m/s goes v^2 / (2 mu g) = 0.2039 m with mu 0.25.
static void check_throw(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        open_default(run, "<geom type='plane' size='9 9 1' friction='.25'/>",
                     "type='box' size='.1 .1 .02' mass='1' friction='.25'", 0.02, levels[i], 0.0);
        mf_rig_run(run, 1.0); // at rest
        const double start = mf_rig_get(run, "base.position", 0);
        mf_rig_set3(run, "base.linear_velocity", 1, 0, 0);
        mf_rig_run(run, 2.0);
        mf_check_near(run, "distance of a box thrown at 1 m/s [m]", 0.2039,
                      mf_rig_get(run, "base.position", 0) - start, 0.01);
    }
}

// A ball that starts half in the ground leaves it at no more than 1 m/s, for any step.
static void check_exit(mf_CheckRun *run) {
    for (mf_Time step = 10 * MF_MILLISECOND; step >= MF_MILLISECOND / 10; step /= 10) {
        mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, step);
        double fastest = 0.0;
        config.motions.articulated.shapes = true;
        mf_rig_open_geom(run, "", "type='sphere' size='.2' mass='2'", &config);
        mf_rig_set3(run, "base.position", 0, 0, 0.1);
        for (mf_Time now = 0; now < MF_SECOND; now += step) {
            mf_rig_step(run, 1);
            fastest = fmax(fastest, mf_rig_get(run, "base.linear_velocity", 2));
        }
        mf_check_below(
            run,
            mf_check_name(run, "separating speed at %g ms [m/s]", 1e3 * mf_time_to_seconds(step)),
            1.0, fastest);
    }
}

// A symmetric top on a ball joint, 200 rad/s at 60 degrees: steady precession at the slow root of
// I1 cos(t) W^2 - I3 s W + M g l = 0 (Goldstein 1980, chapter 5.7), 10 s in steps of 1 ms.
static void check_top(mf_CheckRun *run) {
    static const char top[] =
        "<mujoco><worldbody><body><joint type='ball'/><inertial pos='0 0 .05' "
        "mass='.1' diaginertia='5e-5 5e-5 1e-4'/></body></worldbody></mujoco>";
    const double theta = 60.0 * MF_CHECK_DEGREE, b = 1e-4 * 200.0, a = 3e-4 * cos(theta),
                 slow = (b - sqrt(b * b - 4.0 * a * 0.1 * 9.81 * 0.05)) / (2.0 * a);
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    mf_rig_open_text(run, top, &config);
    mf_rig_set(run, "ball.orientation", 0, cos(0.5 * theta));
    mf_rig_set(run, "ball.orientation", 1, sin(0.5 * theta));
    mf_rig_set3(run, "ball.rate", 0.0, slow * sin(theta), 200.0);
    const double start = mf_rig_energy(run);
    double angle = 0.0, before = -90.0 * MF_CHECK_DEGREE;
    for (int n = 0; n < 10000; n++) {
        double q[4];
        mf_rig_step(run, 1);
        for (uint32_t c = 0; c < 4; c++)
            q[c] = mf_rig_get(run, "ball.orientation", c);
        const double now = atan2(q[2] * q[3] - q[0] * q[1], q[1] * q[3] + q[0] * q[2]);
        angle += remainder(now - before, 360.0 * MF_CHECK_DEGREE);
        before = now;
    }
    mf_check_near(run, "precession [rad/s]", slow, angle / 10.0, 2e-3 * slow);
    mf_check_near(run, "energy over initial energy", 1.0, mf_rig_energy(run) / start, 1e-3);
}

const mf_CheckCase mf_check_defaults_cases[] = {
    {"C5-defaults", "a box thrown along the ground", check_throw},
    {"D5-defaults", "a ball of 5 cm rolls down 15 degrees", check_roll},
    {"D7-defaults", "the slope at which a box tips", check_tip},
    {"D16", "a body that starts in the ground leaves it at a bounded speed", check_exit},
    {"E8-top", "a fast heavy top under the default integrator", check_top},
    {NULL, NULL, NULL}};
