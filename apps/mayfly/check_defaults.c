// Check cases with default settings of motions and worlds.
#include <mayfly/motion.h>

#include <math.h>
#include <stdio.h>

#include "check_rig.h"

static const mf_Motion levels[2] = {MF_MOTION_RIGID, MF_MOTION_ARTICULATED};

// One robot given as MJCF on a plane, gravity tilted about y by `angle` degrees.
static mf_Status open_default(mf_Rig *rig, mf_Context *context, const char *text, mf_Motion motion,
                              double angle, mf_Error *error) {
    mf_WorldConfig world = mf_world_config();
    mf_MotionsConfig motions = mf_motions_config();
    mf_motions_set_shapes(&motions, true); // as mayfly run does
    world.step = 2 * MF_MILLISECOND;       // default of files
    world.gravity_direction[0] = sin(angle * MF_CHECK_DEGREE);
    world.gravity_direction[2] = -cos(angle * MF_CHECK_DEGREE);
    return mf_rig_open_motion(rig, context, text, &world, motion, &motions, error);
}

static const char *named(char out[96], mf_Motion motion, const char *what) {
    snprintf(out, 96, "%s: %s", mf_motion_name(motion), what);
    return out;
}

static void run_for(const mf_Rig *rig, double seconds) {
    const mf_Time step = mf_world_config_of(rig->world)->step;
    mf_world_step(rig->world, (uint64_t)(mf_time_from_seconds(seconds) / step));
}

// A ball of 5 cm radius gains 5/7 g sin(15 degrees) = 1.813582 m/s in each second.
static mf_Status check_roll(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const char ball[] = "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body>"
                               "<freejoint/><geom type='sphere' size='.05' mass='1'/></body>"
                               "</worldbody></mujoco>";
    for (int i = 0; i < 2; i++) {
        mf_Rig rig;
        char line[96];
        mf_Status status = open_default(&rig, context, ball, levels[i], 15.0, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.position", 0, 0, 0.05);
        run_for(&rig, 0.5);
        const double early = mf_rig_get(&rig, "base.linear_velocity", 0);
        run_for(&rig, 1.0);
        mf_check_near(run, named(line, levels[i], "acceleration of a ball [m/s^2]"), 1.813582,
                      mf_rig_get(&rig, "base.linear_velocity", 0) - early, 0.02);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// A box three times as high as wide tips over an edge from atan(1/3) = 18.43 degrees on. The ground
// yields by 0.7 mm (`rigid`) and the weight is applied suddenly, which reduces the angle by up to 2
// degrees.
static mf_Status check_tip(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const char box[] = "<mujoco><worldbody><geom type='plane' size='9 9 1'/><body>"
                              "<freejoint/><geom type='box' size='.05 .05 .15' mass='1'/></body>"
                              "</worldbody></mujoco>";
    static const double angles[2] = {15.9, 20.4};
    for (int i = 0; i < 2; i++)
        for (int side = 0; side < 2; side++) {
            mf_Rig rig;
            char line[96];
            mf_Status status = open_default(&rig, context, box, levels[i], angles[side], error);
            if (status != MF_OK)
                return status;
            mf_rig_set3(&rig, "base.position", 0, 0, 0.15);
            run_for(&rig, 3.0);
            const double height = mf_rig_get(&rig, "base.position", 2);
            if (side == 0)
                mf_check_above(run, named(line, levels[i], "height of a box at 15.9 degrees [m]"),
                               0.145, height);
            else
                mf_check_below(run, named(line, levels[i], "height of a box at 20.4 degrees [m]"),
                               0.06, height);
            status = mf_rig_close(&rig, error);
            if (status != MF_OK)
                return status;
        }
    return MF_OK;
}

// A flat box thrown at 1 m/s goes v^2 / (2 mu g) = 0.2039 m with mu 0.25.
static mf_Status check_throw(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const char box[] =
        "<mujoco><worldbody><geom type='plane' size='9 9 1' friction='.25'/><body><freejoint/>"
        "<geom type='box' size='.1 .1 .02' mass='1' friction='.25'/></body></worldbody></mujoco>";
    for (int i = 0; i < 2; i++) {
        mf_Rig rig;
        char line[96];
        mf_Status status = open_default(&rig, context, box, levels[i], 0.0, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.position", 0, 0, 0.02);
        run_for(&rig, 1.0); // at rest
        const double start = mf_rig_get(&rig, "base.position", 0);
        mf_rig_set3(&rig, "base.linear_velocity", 1, 0, 0);
        run_for(&rig, 2.0);
        mf_check_near(run, named(line, levels[i], "distance of a box thrown at 1 m/s [m]"), 0.2039,
                      mf_rig_get(&rig, "base.position", 0) - start, 0.01);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// A ball that starts half in the ground leaves it at no more than 1 m/s, for any step.
static mf_Status check_exit(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const char ball[] =
        "<mujoco><worldbody><body><freejoint/>"
        "<geom type='sphere' size='.2' mass='2'/></body></worldbody></mujoco>";
    for (mf_Time step = 10 * MF_MILLISECOND; step >= MF_MILLISECOND / 10; step /= 10) {
        mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, step);
        mf_Rig rig;
        char what[80];
        double fastest = 0.0;
        config.motion.shapes = true;
        mf_Status status = mf_rig_open_text(&rig, context, ball, &config, error);
        if (status != MF_OK)
            return status;
        mf_rig_set3(&rig, "base.position", 0, 0, 0.1);
        for (mf_Time now = 0; now < MF_SECOND; now += step) {
            mf_world_step(rig.world, 1);
            fastest = fmax(fastest, mf_rig_get(&rig, "base.linear_velocity", 2));
        }
        snprintf(what, sizeof what, "separating speed at %g ms [m/s]",
                 1e3 * mf_time_to_seconds(step));
        mf_check_below(run, what, 1.0, fastest);
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// A symmetric top on a ball joint, 200 rad/s at 60 degrees: steady precession at the slow root of
// I1 cos(t) W^2 - I3 s W + M g l = 0 (Goldstein 1980, chapter 5.7), 10 s in steps of 1 ms.
static mf_Status check_top(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const char top[] =
        "<mujoco><worldbody><body><joint type='ball'/><inertial pos='0 0 .05' "
        "mass='.1' diaginertia='5e-5 5e-5 1e-4'/></body></worldbody></mujoco>";
    const double theta = 60.0 * MF_CHECK_DEGREE, b = 1e-4 * 200.0, a = 3e-4 * cos(theta),
                 slow = (b - sqrt(b * b - 4.0 * a * 0.1 * 9.81 * 0.05)) / (2.0 * a);
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    mf_Rig rig;
    mf_Status status = mf_rig_open_text(&rig, context, top, &config, error);
    if (status != MF_OK)
        return status;
    mf_rig_set(&rig, "ball.orientation", 0, cos(0.5 * theta));
    mf_rig_set(&rig, "ball.orientation", 1, sin(0.5 * theta));
    mf_rig_set3(&rig, "ball.rate", 0.0, slow * sin(theta), 200.0);
    const double start = mf_rig_energy(&rig);
    double angle = 0.0, before = -90.0 * MF_CHECK_DEGREE;
    for (int n = 0; n < 10000; n++) {
        double q[4];
        mf_world_step(rig.world, 1);
        for (uint32_t c = 0; c < 4; c++)
            q[c] = mf_rig_get(&rig, "ball.orientation", c);
        const double now = atan2(q[2] * q[3] - q[0] * q[1], q[1] * q[3] + q[0] * q[2]);
        angle += remainder(now - before, 360.0 * MF_CHECK_DEGREE);
        before = now;
    }
    mf_check_near(run, "precession [rad/s]", slow, angle / 10.0, 2e-3 * slow);
    mf_check_near(run, "energy over initial energy", 1.0, mf_rig_energy(&rig) / start, 1e-3);
    return mf_rig_close(&rig, error);
}

const mf_CheckCase mf_check_defaults_cases[] = {
    {"C5-defaults", "a box thrown along the ground", check_throw},
    {"D5-defaults", "a ball of 5 cm rolls down 15 degrees", check_roll},
    {"D7-defaults", "the slope at which a box tips", check_tip},
    {"D16", "a body that starts in the ground leaves it at a bounded speed", check_exit},
    {"E8-top", "a fast heavy top under the default integrator", check_top},
    {NULL, NULL, NULL}};
