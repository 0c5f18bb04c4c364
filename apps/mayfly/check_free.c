// Check cases of free bodies, under `articulated`: tumbling, wheels, flailing limbs, composite
// inertia (the E cases of the literature list).
#include <math.h>
#include <stdio.h>

#include "check_rig.h"

#include <mayfly/dynamics.h>

static const double along_x[3] = {1, 0, 0}, along_z[3] = {0, 0, 1};
static const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
static const double none[3] = {0, 0, 0};

// ---- one body -----------------------------------------------------------------------------------

static mf_Status open_body(mf_Rig *rig, mf_Context *context, const double moments[3], mf_Time step,
                           mf_Error *error) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, step);
    config.world.gravity = 0.0;
    mf_hand_start(&rig->hand, context);
    mf_rig_body(rig, 0, 1.0, none, moments);
    return mf_rig_open(rig, context, &config, error);
}

// NESC check case 2 (NASA/TM-2015-218675): an independent integration at 1 ms.
static void brick_rates(mf_CheckRun *run, const mf_Rig *rig, const char *of) {
    static const double expected[4][4] = {{5, -16.939485149, 9.631939377, 33.406628079},
                                          {10, -2.418902222, -23.552569520, 28.128592630},
                                          {20, -5.422734680, 22.715930576, 28.608281747},
                                          {30, 12.618390776, -17.397474762, 31.119588887}};
    for (uint32_t c = 0; c < 3; c++)
        mf_rig_set(rig, "base.angular_velocity", c, 10.0 * (c + 1) * MF_CHECK_DEGREE);
    for (int row = 0, now = 0; row < 4; row++) {
        mf_world_step(rig->world, (uint64_t)(1000 * ((int)expected[row][0] - now)));
        now = (int)expected[row][0];
        for (uint32_t c = 0; c < 3; c++) {
            char what[64];
            snprintf(what, sizeof what, "%s rate about %c at %d s [deg/s]", of, 'x' + (int)c, now);
            mf_check_near(run, what, expected[row][1 + c],
                          mf_rig_get(rig, "base.angular_velocity", c) / MF_CHECK_DEGREE, 1e-8);
        }
    }
}

static mf_Status check_brick(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double moments[3] = {0.00189422, 0.006211019, 0.007194665};
    mf_Rig rig;
    mf_Status status = open_body(&rig, context, moments, MF_MILLISECOND, error);
    if (status != MF_OK)
        return status;
    brick_rates(run, &rig, "brick:");
    return mf_rig_close(&rig, error);
}

// The same brick in two halves of equal center and inertia on an oblique hinge away from it, which
// an equality constraint locks.
static mf_Status check_locked(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double half[3] = {0.00094711, 0.0031055095, 0.0035973325};
    static const double center[3] = {-0.1, 0.2, -0.3};
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_Rig rig;
    config.world.gravity = 0.0;
    mf_hand_start(&rig.hand, context);
    mf_rig_body(&rig, 0, 0.5, none, half);
    mf_rig_body(&rig, mf_hand_hinge(&rig.hand, 0, 0.1, -0.2, 0.3, oblique), 0.5, center, half);
    mf_Equality lock = {.name = "lock",
                        .type = MF_EQUALITY_JOINT,
                        .active = true,
                        .objects = {0, MF_NONE},
                        .sites = {MF_NONE, MF_NONE}};
    rig.hand.model.equalities = &lock;
    rig.hand.model.equality_count = 1;
    mf_Status status = mf_rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    brick_rates(run, &rig, "halves:");
    mf_check_below(run, "rotation of the locked joint [rad]", 1e-12,
                   fabs(mf_rig_get(&rig, "joint.angle", 0)));
    return mf_rig_close(&rig, error);
}

// I = (1, 2, 3), w = (0.01, 1, 0): rotation about the intermediate axis is unstable.
static mf_Status check_middle_axis(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double moments[3] = {1, 2, 3}, expected[2] = {10.37730, 31.13191};
    mf_Rig rig;
    mf_Status status = open_body(&rig, context, moments, MF_MILLISECOND, error);
    if (status != MF_OK)
        return status;
    mf_rig_set3(&rig, "base.angular_velocity", 0.01, 1, 0);
    double before = 1.0;
    int crossings = 0;
    for (int n = 0; n < 35000 && crossings < 2; n++) {
        mf_world_step(rig.world, 1);
        double now = mf_rig_get(&rig, "base.angular_velocity", 1);
        if ((now > 0.0) != (before > 0.0))
            mf_check_near(run, "zero of the middle rate [s]", expected[crossings++],
                          mf_rig_time(&rig) - 1e-3 * now / (now - before), 1e-5);
        before = now;
    }
    mf_check_near(run, "passes in 35 s", 2, crossings, 0);
    status = mf_rig_close(&rig, error);
    if (status != MF_OK)
        return status;
    // A disturbance d of the rate about x grows as d cosh(g t), until its square matters.
    status = open_body(&rig, context, moments, MF_MILLISECOND, error);
    if (status != MF_OK)
        return status;
    mf_rig_set3(&rig, "base.angular_velocity", 1e-9, 1, 0);
    mf_world_step(rig.world, 10000);
    mf_check_near(run, "growth of a disturbance [1/s]", 0.5773503,
                  acosh(mf_rig_get(&rig, "base.angular_velocity", 0) / 1e-9) / 10.0, 1e-7);
    return mf_rig_close(&rig, error);
}

// A box of 0.2 x 0.4 x 0.6 m and 1 kg. At this step Runge-Kutta itself is off by 1e-8.
static mf_Status check_box(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double moments[3] = {0.52 / 12, 0.40 / 12, 0.20 / 12};
    static const double expected[3] = {0.28086194, -2.43226694, 2.75010148};
    mf_Rig rig;
    mf_Status status = open_body(&rig, context, moments, 10 * MF_MILLISECOND, error);
    if (status != MF_OK)
        return status;
    mf_rig_set3(&rig, "base.angular_velocity", 1, 2, 3);
    double center[3], linear[3], before[3], after[3], energy = mf_rig_energy(&rig);
    mf_articulated_momentum(rig.group, 0, center, linear, before);
    mf_world_step(rig.world, 500);
    mf_articulated_momentum(rig.group, 0, center, linear, after);
    for (uint32_t c = 0; c < 3; c++) {
        char what[48];
        snprintf(what, sizeof what, "rate about %c after 5 s [rad/s]", 'x' + (int)c);
        mf_check_near(run, what, expected[c], mf_rig_get(&rig, "base.angular_velocity", c), 2e-8);
    }
    double size = sqrt(before[0] * before[0] + before[1] * before[1] + before[2] * before[2]);
    double now = sqrt(after[0] * after[0] + after[1] * after[1] + after[2] * after[2]);
    mf_check_near(run, "energy drift [1]", -1.7e-10, mf_rig_energy(&rig) / energy - 1.0, 0.1e-10);
    mf_check_near(run, "momentum drift [1]", -8.3e-11, now / size - 1.0, 0.1e-11);
    return mf_rig_close(&rig, error);
}

// ---- trees --------------------------------------------------------------------------------------

// A wheel of moment 0.2 rotates on a base of moment 0.8: the base rotates by -0.2/(0.2 + 0.8) of
// it.
static mf_Status open_wheel(mf_Rig *rig, mf_Context *context, const mf_RigConfig *config,
                            mf_Error *error) {
    static const double base[3] = {1, 1, 0.8}, wheel[3] = {0.1, 0.1, 0.2};
    mf_hand_start(&rig->hand, context);
    mf_rig_body(rig, 0, 3.0, none, base);
    mf_rig_body(rig, mf_hand_hinge(&rig->hand, 0, 0, 0, 0, along_z), 1.0, none, wheel);
    return mf_rig_open(rig, context, config, error);
}

static double yaw_of(const mf_Rig *rig) {
    return 2.0 *
           atan2(mf_rig_get(rig, "base.orientation", 3), mf_rig_get(rig, "base.orientation", 0));
}

static mf_Status check_wheel(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_Rig rig;
    config.world.gravity = 0.0;
    mf_Status status = open_wheel(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    for (int n = 0; n < 2000; n++) {
        mf_rig_set(&rig, "joint.torque", 0, n < 1000 ? 0.1 : -0.05);
        mf_world_step(rig.world, 1);
    }
    mf_check_near(run, "rotation of the base over that of its wheel", -0.2,
                  yaw_of(&rig) / mf_rig_get(&rig, "joint.angle", 0), 1e-12);
    return mf_rig_close(&rig, error);
}

// A servo that follows p(t) lags by J p'' / gain (J = 0.2 * 0.8 / 1.0 of wheel against base, where
// p' is 0), so the base is that close to its position for a wheel with prescribed motion. p = a (1
// - cos w t)^2 with a 0.1, w 2: at w t = pi p is 4 a, p' 0 and p'' -4 a w^2.
static mf_Status check_stiff(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    double off[3];
    for (int i = 0; i < 3; i++) {
        mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
        mf_Rig rig;
        char what[64];
        config.world.gravity = 0.0;
        config.motion.servo.gain = pow(10, 2 + i);
        config.motion.servo.damping = 1.0;
        mf_Status status = open_wheel(&rig, context, &config, error);
        if (status != MF_OK)
            return status;
        for (int n = 0; n < 1571;
             n++) { // a target is constant over a step: the value at its middle
            double part = 1.0 - cos(2.0 * 1e-3 * (n + 0.5));
            mf_rig_set(&rig, "joint.target", 0, 0.1 * part * part);
            mf_world_step(rig.world, 1);
        }
        off[i] = yaw_of(&rig) + 0.2 * 0.4;
        snprintf(what, sizeof what, "base with servo minus prescribed base, gain %g [rad]",
                 pow(10, 2 + i));
        mf_check_near(run, what, -0.2 * 0.16 * 1.6 / pow(10, 2 + i), off[i],
                      0.05 * 0.0512 / pow(10, 2 + i));
        status = mf_rig_close(&rig, error);
        if (status != MF_OK)
            return status;
    }
    mf_check_near(run, "inversely proportional to the gain: ratio", 10.0, off[0] / off[1], 0.5);
    mf_check_near(run, "and again", 10.0, off[1] / off[2], 0.5);
    return MF_OK;
}

// The same with a wheel on a slide.
static void build_flailer(mf_Rig *rig) {
    static const double centers[2][3] = {{0, 0.1, 0}, {0.01, 0.02, 0}};
    static const double moments[2][3] = {{0.004, 0.005, 0.006}, {0.003, 0.003, 0.005}};
    mf_rig_build_arm(rig);
    uint32_t other = mf_hand_slide(&rig->hand, 0, -0.2, 0, 0.1, along_x);
    mf_rig_body(rig, other, 0.7, centers[0], moments[0]);
    uint32_t wheel = mf_hand_hinge(&rig->hand, other, 0, 0.1, 0.1, along_z);
    mf_rig_body(rig, wheel, 0.4, centers[1], moments[1]);
}

static void flail(const mf_Rig *rig, int steps) {
    for (int n = 0; n < steps; n++) {
        for (uint32_t j = 0; j < 4; j++)
            mf_rig_set(rig, "joint.torque", j, sin(0.01 * n * (j + 1.0)) * (j == 2 ? 2.0 : 0.5));
        mf_world_step(rig->world, 1);
    }
    for (uint32_t j = 0; j < 4; j++)
        mf_rig_set(rig, "joint.torque", j, 0.0);
}

static mf_Status check_flailing(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_Rig rig;
    mf_hand_start(&rig.hand, context);
    build_flailer(&rig);
    mf_Status status = mf_rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    mf_rig_set3(&rig, "base.position", 0, 0, 100);
    mf_rig_set3(&rig, "base.linear_velocity", 1, -2, 3);
    mf_rig_set3(&rig, "base.angular_velocity", 0.5, 1, -0.7);
    double center[3], linear[3], angular[3], position[3], force[3], rate[3];
    double distance = 0.0, angle = 0.0, size = 0.0, mass = rig.hand.model.mass;
    mf_articulated_momentum(rig.group, 0, center, linear, angular);
    flail(&rig, 1000);
    mf_articulated_momentum(rig.group, 0, position, force, rate);
    for (int c = 0; c < 3; c++) {
        double fall = c == 2 ? -0.5 * 9.81 : 0.0;
        distance =
            mf_check_worse(distance, fabs(position[c] - center[c] - linear[c] / mass - fall));
        angle = mf_check_worse(angle, fabs(rate[c] - angular[c]));
        size = fmax(size, fabs(angular[c]));
    }
    mf_check_below(run, "distance of the center of mass from a parabola [m]", 1e-10, distance);
    mf_check_below(run, "change of angular momentum, relative [1]", 1e-10, angle / size);
    return mf_rig_close(&rig, error);
}

// The arm, its hinges at 0.7 and -1.1 rad: mass, moment and inertia
// about the base's origin by the parallel axis theorem, added up independently in 64-bit mantissas.
static mf_Status check_composite(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    static const double h[3] = {0.8767018850583683697, 0.3238764920180259449,
                                0.2501209927962044531};
    static const double inertia[3][3] = {
        {0.2744704695626444819, -0.2107198106310429915, 0.0258092925565131961},
        {-0.2107198106310429915, 0.5982225654477778915, 0.0352792589846450798},
        {0.0258092925565131961, 0.0352792589846450798, 0.6452122474533123547}};
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_Rig rig;
    enum { N = 8 };
    double m[N * N], worst = 0.0;
    mf_hand_start(&rig.hand, context);
    mf_rig_build_arm(&rig);
    mf_Status status = mf_rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    mf_rig_set(&rig, "joint.angle", 0, 0.7);
    mf_rig_set(&rig, "joint.angle", 1, -1.1);
    mf_group_mass_matrix(rig.group, 0, 1, m, NULL);
    const double cross[3][3] = {{0, -h[2], h[1]}, {h[2], 0, -h[0]}, {-h[1], h[0], 0}};
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            worst = mf_check_worse(worst, fabs(m[N * i + k] - (i == k ? 4.5 : 0.0)));
            worst = mf_check_worse(worst, fabs(m[N * i + 3 + k] + cross[i][k]));
            worst = mf_check_worse(worst, fabs(m[N * (3 + i) + k] - cross[i][k]));
            worst = mf_check_worse(worst, fabs(m[N * (3 + i) + 3 + k] - inertia[i][k]));
        }
    }
    mf_check_below(run, "inertia of a tree minus the sum [kg m^2]", 1e-14, worst);
    return mf_rig_close(&rig, error);
}

// Free fall from 2 m after a second of forcing (SimBenchmark).
static mf_Status check_drop(mf_Context *context, mf_CheckRun *run, mf_Error *error) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_Rig rig;
    mf_hand_start(&rig.hand, context);
    build_flailer(&rig);
    mf_Status status = mf_rig_open(&rig, context, &config, error);
    if (status != MF_OK)
        return status;
    mf_rig_set3(&rig, "base.position", 0, 0, 2.0 + 0.5 * 9.81); // at 2 m when the forcing ends
    flail(&rig, 1000);
    double energy = mf_rig_energy(&rig), kinetic = mf_articulated_energy(rig.group, 0).kinetic;
    mf_world_step(rig.world, 600);
    mf_check_below(run, "relative change of the energy [1]", 1e-8,
                   fabs(mf_rig_energy(&rig) / energy - 1.0));
    mf_check_above(run, "kinetic energy gained over the energy [1]", 0.1,
                   (mf_articulated_energy(rig.group, 0).kinetic - kinetic) / energy);
    return mf_rig_close(&rig, error);
}

const mf_CheckCase mf_check_free_cases[] = {
    {"E1", "the tumbling brick of NASA's check case 2, as a tree of one link", check_brick},
    {"E1-locked", "the same brick in two halves, their joint locked", check_locked},
    {"E2-articulated", "a base rotates against its wheel", check_wheel},
    {"E3-articulated", "moving joints change neither the path of the center of mass nor momentum",
     check_flailing},
    {"E4-articulated", "composite inertia of a tree: the parallel axis theorem", check_composite},
    {"E5", "a stiff servo converges to a prescribed joint as 1 over its gain", check_stiff},
    {"E6-articulated", "tumbling about the middle axis", check_middle_axis},
    {"E7-articulated", "free box, 5 s", check_box},
    {"F14", "a forced tree falls from 2 m: energy", check_drop},
    {NULL, NULL, NULL}};
