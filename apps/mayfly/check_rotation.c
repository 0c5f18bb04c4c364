// Check cases of rotation: spinning and thrown bodies conserve energy and momentum, with the
// default integrator and law at steps of 1 and 5 ms.
#include <math.h>

#include "check.h"

static const mf_Time rotation_steps[2] = {MF_MILLISECOND, 5 * MF_MILLISECOND};

// The variant's name is `what` and the step.
static void open_rotation(mf_CheckRun *run, const char *what, const char *text, mf_Motion motion,
                          mf_Time step) {
    mf_RigConfig config = mf_rig_config_of(motion, step);
    // The default except for MJCF.
    config.motions.articulated.contact_law = MF_CONTACT_LAW_COMPLIANT;
    mf_rig_open_text(run, text, &config);
    mf_check_variant(run, "%s, %g ms", what, 1e3 * mf_time_to_seconds(step));
}

// Three links on a fixed base that rotate at 13 rad/s: no force but gravity, so energy is
// conserved.
static void check_chain(mf_CheckRun *run) {
    static const char chain[] = "<mujoco><worldbody><body><joint axis='0 0 1'/>"
                                "<inertial pos='.1 0 0' mass='1' diaginertia='2e-3 4e-3 4e-3'/>"
                                "<body pos='.2 0 0'><joint axis='0 1 0'/>"
                                "<inertial pos='.1 0 0' mass='.5' diaginertia='1e-3 2e-3 2e-3'/>"
                                "<body pos='.2 0 0'><joint axis='0 1 0'/>"
                                "<inertial pos='.1 0 0' mass='.3' diaginertia='3e-4 1e-3 1e-3'/>"
                                "</body></body></body></worldbody></mujoco>";
    static const double angle[3] = {0, .3, .7}, rate[3] = {15, 2, 3}, most[2] = {5e-3, 5e-2};

    for (int s = 0; s < 2; s++) {
        open_rotation(run, "chain", chain, MF_MOTION_ARTICULATED, rotation_steps[s]);
        mf_rig_set3(run, "joint.angle", angle[0], angle[1], angle[2]);
        mf_rig_set3(run, "joint.rate", rate[0], rate[1], rate[2]);
        const double before = mf_rig_energy(run);
        const double kinetic = mf_rig_kinetic(run);
        double worst = 0.0;
        for (mf_Time t = 0; t < 4 * MF_SECOND; t += rotation_steps[s]) {
            mf_rig_step(run, 1);
            worst = mf_check_worse(worst, fabs(mf_rig_energy(run) - before) / kinetic);
        }
        mf_check_below(run, "change of energy in 4 s [1]", most[s], worst);
    }
}

// A heavy top in a gimbal of three hinges, 200 rad/s at 60 degrees (M 0.1 kg, l 0.05 m, I1 3e-4, I3
// 1e-4 kg m^2): its mean precession is the slow root of I1 cos(t) W^2 - I3 s W + M g l = 0
// (Goldstein 1980, chapter 5.7).
static void check_gimbal(mf_CheckRun *run) {
    static const char gimbal[] = "<mujoco><worldbody><body><joint axis='0 0 1'/>"
                                 "<inertial pos='0 0 0' mass='1e-6' diaginertia='1e-9 1e-9 1e-9'/>"
                                 "<body><joint axis='1 0 0'/>"
                                 "<inertial pos='0 0 0' mass='1e-6' diaginertia='1e-9 1e-9 1e-9'/>"
                                 "<body><joint axis='0 0 1'/>"
                                 "<inertial pos='0 0 .05' mass='.1' diaginertia='5e-5 5e-5 1e-4'/>"
                                 "</body></body></body></worldbody></mujoco>";
    const double tilt = 60.0 * MF_CHECK_DEGREE, b = 1e-4 * 200.0, a = 3e-4 * cos(tilt);
    const double slow = (b - sqrt(b * b - 4.0 * a * 0.1 * 9.81 * 0.05)) / (2.0 * a);

    for (int s = 0; s < 2; s++) {
        open_rotation(run, "top in a gimbal", gimbal, MF_MOTION_ARTICULATED, rotation_steps[s]);
        mf_rig_set3(run, "joint.angle", 0.0, tilt, 0.0);
        mf_rig_set3(run, "joint.rate", 1.02 * slow, 0.0, 200.0 - slow * cos(tilt)); // nutates
        const double before = mf_rig_energy(run);
        double worst = 0.0;
        for (mf_Time t = 0; t < 4 * MF_SECOND; t += rotation_steps[s]) {
            mf_rig_step(run, 1);
            worst = mf_check_worse(worst, fabs(mf_rig_energy(run) / before - 1.0));
        }
        mf_check_below(run, "change of energy [1]", 1e-3, worst);
        mf_check_near(run, "precession [rad/s]", slow, mf_rig_get(run, "joint.angle", 0) / 4.0,
                      0.02 * slow);
    }
}

static double energy_of_motion(const double linear[3]) { // of 1 kg
    return 0.5 * (linear[0] * linear[0] + linear[1] * linear[1] + linear[2] * linear[2]);
}

// A brick of unequal moments, thrown at 100 rad/s almost about its intermediate axis, so that it
// tumbles.
static void check_brick(mf_CheckRun *run) {
    static const char brick[] =
        "<mujoco><worldbody><body pos='0 0 1000'><freejoint/>"
        "<inertial pos='.1 .02 -.05' mass='1' diaginertia='1e-2 2e-2 2.8e-2'/></body>"
        "</worldbody></mujoco>";
    static const mf_Motion motions[] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED,
                                        MF_MOTION_ARTICULATED};

    for (int i = 0; i < 6; i++) {
        const mf_Motion motion = motions[i / 2];
        const mf_Time step = rotation_steps[i % 2];
        open_rotation(run, mf_motion_name(motion), brick, motion, step);
        mf_rig_set3(run, "base.angular_velocity", 3, 100, 3);
        const mf_RigMomentum start = mf_rig_momentum(run);
        const double kinetic = mf_rig_kinetic(run) - energy_of_motion(start.linear);
        mf_rig_step(run, (uint64_t)(10 * MF_SECOND / step));
        const mf_RigMomentum now = mf_rig_momentum(run);
        double off = 0.0, size = 0.0;
        for (int c = 0; c < 3; c++) {
            off += (now.angular[c] - start.angular[c]) * (now.angular[c] - start.angular[c]);
            size += start.angular[c] * start.angular[c];
        }
        mf_check_below(run, "energy of the spin [1]", 1e-9,
                       fabs((mf_rig_kinetic(run) - energy_of_motion(now.linear)) / kinetic - 1.0));
        mf_check_below(run, "angular momentum [1]", 1e-9, sqrt(off / size));
    }
}

const mf_CheckCase mf_check_rotation_cases[] = {
    {"D17", "energy of a rotating chain", check_chain},
    {"D18", "a heavy top in a gimbal precesses", check_gimbal},
    {"D19", "thrown bodies conserve energy and momentum of their spin", check_brick},
    {NULL, NULL, NULL}};
