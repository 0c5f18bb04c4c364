// Check cases of the `articulated` motion: pendulums and closed loops, in double precision. The
// expected values come from closed forms or independent computations.
#include <math.h>

#include "check.h"

static const double along_x[3] = {1, 0, 0}, along_y[3] = {0, 1, 0};
static const double none[3] = {0, 0, 0};

// ---- pendulums ----------------------------------------------------------------------------------

// Point masses of 1 kg on rods of 1 m, hanging from a fixed base.
static void open_pendulum(mf_CheckRun *run, uint32_t count, mf_ArticulatedIntegrator integrator,
                          mf_Time step) {
    static const double below[3] = {0, 0, -1};
    mf_RigConfig config = mf_rig_config(integrator, step);
    uint32_t link = 0;
    mf_HandModel *hand = mf_rig_start(run);
    for (uint32_t i = 0; i < count; i++) {
        link = mf_hand_hinge(hand, link, 0, 0, i == 0 ? 0 : -1, along_y);
        mf_rig_body(run, link, 1.0, below, none);
    }
    config.motions.articulated.base = MF_ARTICULATED_FIXED;
    mf_rig_open(run, &config);
}

// Four times the time until the first joint passes through 0.
static double find_period(mf_CheckRun *run, double step) {
    double before = 1.0, now = 1.0;
    for (int n = 0; n < 100000 && now > 0.0; n++) {
        before = now;
        mf_rig_step(run, 1);
        now = mf_rig_get(run, "joint.angle", 0);
    }
    return 4.0 * (mf_time_to_seconds(mf_world_time(run->rig.world)) - step * now / (now - before));
}

// T/T0 = (2/pi) K(sin(A/2)), T0 = 2 pi sqrt(l/g) = 2.0060667 s.
static void check_pendulum(mf_CheckRun *run) {
    static const double expected[][2] = {{30, 1.0174088},  {60, 1.0731820},  {90, 1.1803406},
                                         {120, 1.3728805}, {150, 1.7622037}, {170, 2.4393627},
                                         {179, 3.9010652}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        open_pendulum(run, 1, MF_ARTICULATED_RK4, MF_MILLISECOND);
        mf_rig_set(run, "joint.angle", 0, expected[i][0] * MF_CHECK_DEGREE);
        const char *what = mf_check_name(
            run, "period from %g degrees over that of small amplitudes", expected[i][0]);
        double period = find_period(run, 1e-3);
        mf_check_near(run, what, expected[i][1], period / 2.0060667, 2e-7);
        if (i == 2)
            mf_check_near(run, "period from 90 degrees [s]", 2.3678419, period, 2e-7);
    }
}

// w^2 l/g = 2 -+ sqrt 2.
static void check_modes(mf_CheckRun *run) {
    static const double period[2] = {2.6210524, 1.0856755};
    for (int mode = 0; mode < 2; mode++) {
        open_pendulum(run, 2, MF_ARTICULATED_RK4, MF_MILLISECOND);
        mf_rig_set(run, "joint.angle", 0, 1e-5);
        mf_rig_set(run, "joint.angle", 1, 1e-5 * ((mode == 0 ? sqrt(2.0) : -sqrt(2.0)) - 1.0));
        mf_check_near(run,
                      mode == 0 ? "period of the slow mode [s]" : "period of the fast mode [s]",
                      period[mode], find_period(run, 1e-3), 2e-6);
    }
}

// Energy of both rods level at the start, against an independent classical Runge-Kutta.
static void check_double_pendulum(mf_CheckRun *run) {
    static const double expected[3] = {1.6694e-8, 1.0716e-9, 6.787e-11};
    static const mf_Time steps[3] = {2 * MF_MILLISECOND, MF_MILLISECOND, MF_MILLISECOND / 2};
    double errors[3];
    for (int i = 0; i < 3; i++) {
        open_pendulum(run, 2, MF_ARTICULATED_RK4, steps[i]);
        mf_rig_set(run, "joint.angle", 0, 90 * MF_CHECK_DEGREE);
        double start = mf_rig_energy(run), worst = 0.0;
        for (mf_Time t = 0; t < 10 * MF_SECOND; t += steps[i]) {
            mf_rig_step(run, 1);
            worst = mf_check_worse(worst, fabs(mf_rig_energy(run) - start));
        }
        const char *what = mf_check_name(run, "energy error over 3 m g l, step %g ms",
                                         1e3 * mf_time_to_seconds(steps[i]));
        errors[i] = worst / (3 * 9.81);
        mf_check_near(run, what, expected[i], errors[i], 0.01 * expected[i]);
    }
    mf_check_near(run, "order from 2 to 1 ms", 3.96, log2(errors[0] / errors[1]), 0.02);
    mf_check_near(run, "order from 1 to 0.5 ms", 3.98, log2(errors[1] / errors[2]), 0.02);
}

// Semi-implicit Euler is symplectic: it conserves E - h/2 times rate and torque (Hairer, Lubich,
// Wanner 2006, chapter IX), so a pendulum's energy swings by h m g l times the largest rate
// sin(angle) and stays there. From 90 degrees that is sqrt(4 g / (3 sqrt 3)) = 2.7480467 1/s.
static void check_trend(mf_CheckRun *run) {
    double lowest[2] = {INFINITY, INFINITY}, highest[2] = {-INFINITY, -INFINITY};
    open_pendulum(run, 1, MF_ARTICULATED_EULER, MF_MILLISECOND);
    mf_rig_set(run, "joint.angle", 0, 90 * MF_CHECK_DEGREE);
    for (int n = 0; n < 1000000; n++) {
        int late = n >= 900000;
        mf_rig_step(run, 1);
        if (n >= 100000 && !late)
            continue;
        double energy = mf_rig_energy(run) / 9.81;
        lowest[late] = fmin(lowest[late], energy);
        highest[late] = fmax(highest[late], energy);
    }
    mf_check_near(run, "amplitude of the energy over m g l", 1e-3 * 2.7480467,
                  highest[0] - lowest[0], 1e-6);
    mf_check_near(run, "its minimum after 900,000 steps", lowest[0], lowest[1], 1e-8);
    mf_check_near(run, "its maximum after them", highest[0], highest[1], 1e-8);
}

// ---- loops --------------------------------------------------------------------------------------

// The slider's position when the crank passes `angle`, by the cubic through four steps.
static double position_at(const double angles[4], const double positions[4], double angle) {
    double sum = 0.0;
    for (int i = 0; i < 4; i++) {
        double weight = positions[i];
        for (int k = 0; k < 4; k++)
            if (k != i)
                weight *= (angle - angles[k]) / (angles[i] - angles[k]);
        sum += weight;
    }
    return sum;
}

// A crank of 0.05 m, a rod of 0.2 m and a slider, closed by a constraint:
// x = r sin q + sqrt(l^2 - r^2 cos^2 q), q from upright.
static void check_loop(mf_CheckRun *run) {
    const double far = 0.19364916731037085; // sqrt(l^2 - r^2)
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    mf_HandModel *hand = mf_rig_start(run);
    uint32_t crank = mf_hand_hinge(hand, 0, 0, 0, 0, along_y);
    uint32_t rod = mf_hand_hinge(hand, crank, 0, 0, 0.05, along_y);
    uint32_t slider = mf_hand_slide(hand, 0, far, 0, 0, along_x);
    mf_rig_body(run, crank, 1.0, none, (double[3]){0.01, 0.01, 0.01});
    mf_rig_body(run, rod, 0.5, none, (double[3]){0.002, 0.002, 0.002});
    mf_rig_body(run, slider, 0.3, none, (double[3]){1, 1, 1});
    mf_Equality loop = {
        .name = "loop",
        .type = MF_EQUALITY_CONNECT,
        .active = true,
        .sites = {MF_NONE, MF_NONE},
        .frames = {{slider, {0, 0, 0}, {1, 0, 0, 0}}, {rod, {far, 0, -0.05}, {1, 0, 0, 0}}}};
    hand->model.equalities = &loop;
    hand->model.equality_count = 1;
    config.world.gravity = 0.0;
    config.motions.articulated.base = MF_ARTICULATED_FIXED;
    mf_rig_open(run, &config);
    mf_rig_set(run, "joint.rate", 0, 6.0);
    // A crank 60 degrees from the slider's line, one turn and 30 degrees from its start.
    const double sixty = 390 * MF_CHECK_DEGREE;
    double worst = 0.0, angles[4] = {0}, positions[4] = {0};
    for (int n = 0; n < 100000; n++) {
        mf_rig_step(run, 1);
        double q = mf_rig_get(run, "joint.angle", 0), x = mf_rig_get(run, "joint.angle", 2) + far;
        for (int i = 0; i < 3; i++) {
            angles[i] = angles[i + 1];
            positions[i] = positions[i + 1];
        }
        angles[3] = q;
        positions[3] = x;
        if (angles[1] < sixty && sixty <= angles[2])
            mf_check_near(run, "slider with the crank at 60 degrees [m]", 0.22025624,
                          position_at(angles, positions, sixty), 5e-9);
        double target = 0.05 * sin(q) + sqrt(0.04 - 0.0025 * cos(q) * cos(q));
        if (n >= 100) // at first only the crank rotated
            worst = mf_check_worse(worst, fabs(x - target));
    }
    mf_check_below(run, "error of a slider crank in 100,000 steps [m]", 1e-8, worst);
    mf_check_above(run, "revolutions of the crank in them", 50.0,
                   fabs(mf_rig_get(run, "joint.angle", 0)) / (2.0 * 3.14159265));
}

const mf_CheckCase mf_check_articulated_cases[] = {
    {"F1", "pendulum: period of large amplitudes", check_pendulum},
    {"F2", "double pendulum: periods of small amplitudes", check_modes},
    {"F4", "double pendulum: energy error of Runge-Kutta", check_double_pendulum},
    {"F4-trend", "pendulum: semi-implicit Euler bounds the energy for 1,000,000 steps",
     check_trend},
    {"F12", "a slider crank closed by a constraint", check_loop},
    {NULL, NULL, NULL}};
