// Check cases of free bodies: tumbling, wheels, flailing limbs, composite inertia (the E cases of
// the literature list), under `articulated`, and under `rigid` and `prescribed`, whose joints are
// driven.
#include <math.h>

#include "check.h"
#include "math/scalar.h"

#include <mayfly/dynamics.h>

static const double along_x[3] = {1, 0, 0}, along_z[3] = {0, 0, 1};
static const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
static const double none[3] = {0, 0, 0};
static const mf_Motion driven[2] = {MF_MOTION_RIGID, MF_MOTION_PRESCRIBED};

// Runge-Kutta without gravity.
static mf_RigConfig in_space(mf_Motion level, mf_Time step) {
    mf_RigConfig config = mf_rig_config_at(level, MF_ARTICULATED_RK4, step);
    config.world.gravity = 0.0;
    return config;
}

// The variant is the motion, but for `articulated`.
static void name_motion(mf_CheckRun *run, mf_Motion motion) {
    mf_check_variant(run, "%s", motion == MF_MOTION_ARTICULATED ? "" : mf_motion_name(motion));
}

// ---- one body -----------------------------------------------------------------------------------

static void open_body(mf_CheckRun *run, mf_Motion level, const double moments[3], mf_Time step) {
    const mf_RigConfig config = in_space(level, step);
    name_motion(run, level);
    mf_rig_start(run);
    mf_rig_body(run, 0, 1.0, none, moments);
    mf_rig_open(run, &config);
}

// NESC check case 2 (NASA/TM-2015-218675): an independent integration at 1 ms.
static void brick_rates(mf_CheckRun *run, const char *of) {
    static const double expected[4][4] = {{5, -16.939485149, 9.631939377, 33.406628079},
                                          {10, -2.418902222, -23.552569520, 28.128592630},
                                          {20, -5.422734680, 22.715930576, 28.608281747},
                                          {30, 12.618390776, -17.397474762, 31.119588887}};
    for (uint32_t c = 0; c < 3; c++)
        mf_rig_set(run, "base.angular_velocity", c, 10.0 * (c + 1) * MF_CHECK_DEGREE);
    mf_check_variant(run, "%s", of);
    for (int row = 0, now = 0; row < 4; row++) {
        mf_rig_step(run, (uint64_t)(1000 * ((int)expected[row][0] - now)));
        now = (int)expected[row][0];
        mf_rig_near3(run, "base.angular_velocity", expected[row] + 1, MF_CHECK_DEGREE, 1e-8,
                     mf_check_name(run, "rate about ? at %d s [deg/s]", now));
    }
}

static void check_brick(mf_CheckRun *run) {
    static const double moments[3] = {0.00189422, 0.006211019, 0.007194665};
    open_body(run, MF_MOTION_ARTICULATED, moments, MF_MILLISECOND);
    brick_rates(run, "brick");
}

// The same brick in two halves of equal center and inertia on an oblique hinge away from it.
static void build_halves(mf_CheckRun *run) {
    static const double half[3] = {0.00094711, 0.0031055095, 0.0035973325};
    static const double center[3] = {-0.1, 0.2, -0.3};
    mf_HandModel *hand = mf_rig_start(run);
    mf_rig_body(run, 0, 0.5, none, half);
    mf_rig_body(run, mf_hand_hinge(hand, 0, 0.1, -0.2, 0.3, oblique), 0.5, center, half);
}

// An equality constraint locks the hinge.
static void check_locked(mf_CheckRun *run) {
    const mf_RigConfig config = in_space(MF_MOTION_ARTICULATED, MF_MILLISECOND);
    static mf_Equality lock = {.name = "lock",
                               .type = MF_EQUALITY_JOINT,
                               .active = true,
                               .objects = {0, MF_NONE},
                               .sites = {MF_NONE, MF_NONE}};
    build_halves(run);
    run->rig.hand.model.equalities = &lock;
    run->rig.hand.model.equality_count = 1;
    mf_rig_open(run, &config);
    brick_rates(run, "halves");
    mf_check_variant(run, "%s", "");
    mf_check_below(run, "rotation of the locked joint [rad]", 1e-12,
                   fabs(mf_rig_get(run, "joint.angle", 0)));
}

// The target of the hinge is constant.
static void check_driven_brick(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        const mf_RigConfig config = in_space(driven[i], MF_MILLISECOND);
        build_halves(run);
        mf_rig_open(run, &config);
        brick_rates(run, mf_motion_name(driven[i]));
    }
}

static const double middle_moments[3] = {1, 2, 3};

// w = (0.01, 1, 0): rotation about the intermediate axis is unstable.
static void tumble(mf_CheckRun *run, mf_Motion level, mf_Time step) {
    static const double expected[2] = {10.37730, 31.13191};
    double before = 1.0;
    int crossings = 0;
    open_body(run, level, middle_moments, step);
    mf_rig_set3(run, "base.angular_velocity", 0.01, 1, 0);
    for (mf_Time t = 0; t < 35 * MF_SECOND && crossings < 2; t += step) {
        mf_rig_step(run, 1);
        double now = mf_rig_get(run, "base.angular_velocity", 1);
        if ((now > 0.0) != (before > 0.0))
            mf_check_near(run, "zero of the middle rate [s]", expected[crossings++],
                          mf_rig_time(run) - mf_time_to_seconds(step) * now / (now - before), 1e-5);
        before = now;
    }
    mf_check_near(run, "passes in 35 s", 2, crossings, 0);
}

static void check_middle_axis(mf_CheckRun *run) {
    tumble(run, MF_MOTION_ARTICULATED, MF_MILLISECOND);
    // A disturbance d of the rate about x grows as d cosh(g t), until its square matters.
    open_body(run, MF_MOTION_ARTICULATED, middle_moments, MF_MILLISECOND);
    mf_rig_set3(run, "base.angular_velocity", 1e-9, 1, 0);
    mf_rig_step(run, 10000);
    mf_check_near(run, "growth of a disturbance [1/s]", 0.5773503,
                  acosh(mf_rig_get(run, "base.angular_velocity", 0) / 1e-9) / 10.0, 1e-7);
}

static void check_driven_middle_axis(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++)
        tumble(run, driven[i], 2 * MF_MILLISECOND);
}

// A box of 0.2 x 0.4 x 0.6 m and 1 kg. At this step Runge-Kutta itself is off by 1e-8.
static void fly_box(mf_CheckRun *run, mf_Motion level) {
    static const double moments[3] = {0.52 / 12, 0.40 / 12, 0.20 / 12};
    static const double expected[3] = {0.28086194, -2.43226694, 2.75010148};
    open_body(run, level, moments, 10 * MF_MILLISECOND);
    mf_rig_set3(run, "base.angular_velocity", 1, 2, 3);
    const mf_RigMomentum before = mf_rig_momentum(run);
    const double energy = mf_rig_kinetic(run);
    mf_rig_step(run, 500);
    const mf_RigMomentum after = mf_rig_momentum(run);
    mf_rig_near3(run, "base.angular_velocity", expected, 1.0, 2e-8,
                 "rate about ? after 5 s [rad/s]");
    if (level == MF_MOTION_ARTICULATED) {
        const double size = mf_vec3_length(before.angular), now = mf_vec3_length(after.angular);
        mf_check_near(run, "energy drift [1]", -1.7e-10, mf_rig_kinetic(run) / energy - 1.0,
                      0.1e-10);
        mf_check_near(run, "momentum drift [1]", -8.3e-11, now / size - 1.0, 0.1e-11);
    }
}

static void check_box(mf_CheckRun *run) {
    fly_box(run, MF_MOTION_ARTICULATED);
}

static void check_driven_box(mf_CheckRun *run) {
    fly_box(run, MF_MOTION_RIGID);
    fly_box(run, MF_MOTION_PRESCRIBED);
}

// ---- trees --------------------------------------------------------------------------------------

// A wheel of moment 0.2 rotates on a base of moment 0.8: the base rotates by -0.2/(0.2 + 0.8) of
// it.
static void open_wheel(mf_CheckRun *run, const mf_RigConfig *config) {
    static const double base[3] = {1, 1, 0.8}, wheel[3] = {0.1, 0.1, 0.2};
    mf_HandModel *hand = mf_rig_start(run);
    mf_rig_body(run, 0, 3.0, none, base);
    mf_rig_body(run, mf_hand_hinge(hand, 0, 0, 0, 0, along_z), 1.0, none, wheel);
    mf_rig_open(run, config);
}

static void check_wheel(mf_CheckRun *run) {
    const mf_RigConfig config = in_space(MF_MOTION_ARTICULATED, MF_MILLISECOND);
    open_wheel(run, &config);
    for (int n = 0; n < 2000; n++) {
        mf_rig_set(run, "joint.torque", 0, n < 1000 ? 0.1 : -0.05);
        mf_rig_step(run, 1);
    }
    mf_check_near(run, "rotation of the base over that of its wheel", -0.2,
                  mf_rig_yaw(run) / mf_rig_get(run, "joint.angle", 0), 1e-12);
}

// Under `rigid` the base does not rotate, since moving limbs have no reaction there.
static void check_driven_wheel(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        const mf_RigConfig config = in_space(driven[i], MF_MILLISECOND);
        open_wheel(run, &config);
        for (int n = 0; n < 100; n++) {
            mf_rig_set(run, "joint.target", 0, 0.5 * sin(0.07 * n) + 0.01 * n);
            mf_rig_step(run, 10);
        }
        name_motion(run, driven[i]);
        mf_check_near(run, "rotation of the base over that of its wheel",
                      driven[i] == MF_MOTION_RIGID ? 0.0 : -0.2,
                      mf_rig_yaw(run) / mf_rig_get(run, "joint.angle", 0), 1e-12);
    }
}

// [rad] Of the base while its wheel follows p = a (1 - cos w t)^2 with a 0.1, w 2, until w t = pi,
// where p is 4 a, p' 0 and p'' -4 a w^2. The target is constant over a step: the value after `part`
// of it.
static double follow(mf_CheckRun *run, const mf_RigConfig *config, double part) {
    open_wheel(run, config);
    for (int n = 0; n < 1571; n++) {
        const double wave = 1.0 - cos(2.0 * 1e-3 * (n + part));
        mf_rig_set(run, "joint.target", 0, 0.1 * wave * wave);
        mf_rig_step(run, 1);
    }
    return mf_rig_yaw(run);
}

// A servo lags by J p'' / gain (J = 0.2 * 0.8 / 1.0 of wheel against base, where p' is 0), so the
// base is that close to its position for a wheel with prescribed motion, `rails` [rad].
static void compare_servos(mf_CheckRun *run, double rails, const char *what, double off[3]) {
    for (int i = 0; i < 3; i++) {
        mf_RigConfig config = in_space(MF_MOTION_ARTICULATED, MF_MILLISECOND);
        const double gain = config.motions.articulated.servo.gain = pow(10, 2 + i);
        config.motions.articulated.servo.damping = 1.0;
        off[i] = follow(run, &config, 0.5) - rails;
        mf_check_near(run, mf_check_name(run, "%s, gain %g [rad]", what, gain),
                      -0.2 * 0.16 * 1.6 / gain, off[i], 0.05 * 0.0512 / gain);
    }
}

static void check_stiff(mf_CheckRun *run) {
    double off[3];
    compare_servos(run, -0.2 * 0.4, "base with servo minus prescribed base", off);
    mf_check_near(run, "inversely proportional to the gain: ratio", 10.0, off[0] / off[1], 0.5);
    mf_check_near(run, "and again", 10.0, off[1] / off[2], 0.5);
}

static void check_driven_stiff(mf_CheckRun *run) {
    mf_RigConfig config = in_space(MF_MOTION_PRESCRIBED, MF_MILLISECOND);
    double off[3];
    config.motions.prescribed.control_interval = MF_MILLISECOND;
    const double rails = follow(run, &config, 1.0); // reached at the end of the step
    mf_check_near(run, "base with prescribed joints [rad]", -0.2 * 0.4, rails, 1e-6);
    compare_servos(run, rails, "articulated minus prescribed", off);
}

// The same with a wheel on a slide.
static void build_flailer(mf_CheckRun *run) {
    static const double centers[2][3] = {{0, 0.1, 0}, {0.01, 0.02, 0}};
    static const double moments[2][3] = {{0.004, 0.005, 0.006}, {0.003, 0.003, 0.005}};
    mf_rig_build_arm(run);
    uint32_t other = mf_hand_slide(&run->rig.hand, 0, -0.2, 0, 0.1, along_x);
    mf_rig_body(run, other, 0.7, centers[0], moments[0]);
    uint32_t wheel = mf_hand_hinge(&run->rig.hand, other, 0, 0.1, 0.1, along_z);
    mf_rig_body(run, wheel, 0.4, centers[1], moments[1]);
}

static void flail(const mf_CheckRun *run, int steps) {
    for (int n = 0; n < steps; n++) {
        for (uint32_t j = 0; j < 4; j++)
            mf_rig_set(run, "joint.torque", j, sin(0.01 * n * (j + 1.0)) * (j == 2 ? 2.0 : 0.5));
        mf_rig_step(run, 1);
    }
    for (uint32_t j = 0; j < 4; j++)
        mf_rig_set(run, "joint.torque", j, 0.0);
}

// A robot that drives its joints in flight.
static mf_RigMomentum take_off(mf_CheckRun *run, mf_Motion level) {
    const mf_RigConfig config = mf_rig_config_at(level, MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_rig_start(run);
    build_flailer(run);
    mf_rig_open(run, &config);
    mf_rig_set3(run, "base.position", 0, 0, 100);
    mf_rig_set3(run, "base.linear_velocity", 1, -2, 3);
    mf_rig_set3(run, "base.angular_velocity", 0.5, 1, -0.7);
    return mf_rig_momentum(run);
}

static void land(mf_CheckRun *run, const mf_RigMomentum *start) {
    const mf_RigMomentum end = mf_rig_momentum(run);
    double path[3];
    for (int c = 0; c < 3; c++)
        path[c] = start->center[c] + start->linear[c] / run->rig.hand.model.mass;
    path[2] -= 0.5 * 9.81;
    mf_check_below(run, "distance of the center of mass from a parabola [m]", 1e-10,
                   mf_rig_apart(end.center, path));
    mf_check_below(run, "change of angular momentum, relative [1]", 1e-10,
                   mf_rig_apart(end.angular, start->angular) / mf_rig_apart(start->angular, NULL));
}

static void check_flailing(mf_CheckRun *run) {
    const mf_RigMomentum start = take_off(run, MF_MOTION_ARTICULATED);
    flail(run, 1000);
    land(run, &start);
}

static void check_driven_flailing(mf_CheckRun *run) {
    const mf_RigMomentum start = take_off(run, MF_MOTION_PRESCRIBED);
    double swept = 0.0;
    for (int n = 0; n < 100; n++) {
        for (uint32_t j = 0; j < 4; j++)
            mf_rig_set(run, "joint.target", j,
                       (j == 2 ? 0.1 : 0.6) * (1.0 - cos(0.02 * n * (j + 1.0))));
        mf_rig_step(run, 10);
        swept = fmax(swept, fabs(mf_rig_get(run, "joint.rate", 0)));
    }
    land(run, &start);
    mf_check_above(run, "largest rate of the arm [rad/s]", 1.0, swept);
}

// The arm, its hinges at 0.7 and -1.1 rad: mass, moment and inertia about the base's origin by the
// parallel axis theorem, added up independently in 64-bit mantissas.
static const double arm_inertia[3][3] = {
    {0.2744704695626444819, -0.2107198106310429915, 0.0258092925565131961},
    {-0.2107198106310429915, 0.5982225654477778915, 0.0352792589846450798},
    {0.0258092925565131961, 0.0352792589846450798, 0.6452122474533123547}};
static const double arm_cross[3][3] = {{0, -0.2501209927962044531, 0.3238764920180259449},
                                       {0.2501209927962044531, 0, -0.8767018850583683697},
                                       {-0.3238764920180259449, 0.8767018850583683697, 0}};

static void open_arm(mf_CheckRun *run, const mf_RigConfig *config) {
    mf_rig_start(run);
    mf_rig_build_arm(run);
    mf_rig_open(run, config);
    for (uint32_t j = 0; j < 2; j++) {
        mf_rig_set(run, "joint.angle", j, j == 0 ? 0.7 : -1.1);
        mf_rig_set(run, "joint.target", j, j == 0 ? 0.7 : -1.1);
    }
    mf_group_refresh(run->rig.group, 0);
}

static void check_composite(mf_CheckRun *run) {
    const mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    enum { N = 8 };
    double m[N * N], worst = 0.0;
    open_arm(run, &config);
    mf_group_mass_matrix(run->rig.group, 0, 1, m, NULL);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            worst = mf_check_worse(worst, fabs(m[N * i + k] - (i == k ? 4.5 : 0.0)));
            worst = mf_check_worse(worst, fabs(m[N * i + 3 + k] + arm_cross[i][k]));
            worst = mf_check_worse(worst, fabs(m[N * (3 + i) + k] - arm_cross[i][k]));
            worst = mf_check_worse(worst, fabs(m[N * (3 + i) + 3 + k] - arm_inertia[i][k]));
        }
    mf_check_below(run, "inertia of a tree minus the sum [kg m^2]", 1e-14, worst);
}

// The base's twist after a step from rest under one small force or moment, divided by its impulse:
// a column of the inverse of the kernel's inertia.
static void respond(mf_CheckRun *run, mf_Motion motion, uint32_t push, double out[6]) {
    const double small = 1e-12; // [N] or [N m]
    mf_RigConfig config = mf_rig_config_at(motion, MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
    config.world.gravity = 0.0;
    open_arm(run, &config);
    mf_rig_set(run, push < 3 ? "base.force" : "base.torque", push % 3, small);
    mf_rig_step(run, 1);
    for (uint32_t c = 0; c < 3; c++) {
        out[c] = mf_rig_get(run, "base.linear_velocity", c) / (1e-3 * small);
        out[3 + c] = mf_rig_get(run, "base.angular_velocity", c) / (1e-3 * small);
    }
}

// The base starts at rest in the world's axes, and the force is so small that its rotation is
// negligible.
static void check_driven_composite(mf_CheckRun *run) {
    for (int i = 0; i < 2; i++) {
        double worst = 0.0;
        for (uint32_t push = 0; push < 6; push++) {
            double twist[6];
            respond(run, driven[i], push, twist);
            for (uint32_t r = 0; r < 3; r++) {
                double force = 4.5 * twist[r], torque = 0.0;
                for (int c = 0; c < 3; c++) {
                    force -= arm_cross[r][c] * twist[3 + c];
                    torque += arm_cross[r][c] * twist[c] + arm_inertia[r][c] * twist[3 + c];
                }
                worst = mf_check_worse(worst, fabs(force - (r == push ? 1.0 : 0.0)));
                worst = mf_check_worse(worst, fabs(torque - (r + 3 == push ? 1.0 : 0.0)));
            }
        }
        name_motion(run, driven[i]);
        mf_check_below(run, "inertia times response minus the wrench", 1e-14, worst);
    }
}

// Free fall from 2 m after a second of forcing (SimBenchmark).
static void check_drop(mf_CheckRun *run) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    mf_rig_start(run);
    build_flailer(run);
    mf_rig_open(run, &config);
    mf_rig_set3(run, "base.position", 0, 0, 2.0 + 0.5 * 9.81); // at 2 m when the forcing ends
    flail(run, 1000);
    double energy = mf_rig_energy(run), kinetic = mf_rig_kinetic(run);
    mf_rig_step(run, 600);
    mf_check_below(run, "relative change of the energy [1]", 1e-8,
                   fabs(mf_rig_energy(run) / energy - 1.0));
    mf_check_above(run, "kinetic energy gained over the energy [1]", 0.1,
                   (mf_rig_kinetic(run) - kinetic) / energy);
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

const mf_CheckCase mf_check_driven_cases[] = {
    {"E1-ladder", "the tumbling brick in two halves, with a constant joint target",
     check_driven_brick},
    {"E2-ladder", "a base rotates against its wheel, where limbs have reactions",
     check_driven_wheel},
    {"E3-ladder", "commanded joints change neither the path of the center of mass nor momentum",
     check_driven_flailing},
    {"E4-ladder", "composite inertia from responses to wrenches: the parallel axis theorem",
     check_driven_composite},
    {"E5-ladder", "articulated converges to prescribed as 1 over the servo's gain",
     check_driven_stiff},
    {"E6-ladder", "tumbling about the middle axis", check_driven_middle_axis},
    {"E7-ladder", "free box, 5 s", check_driven_box},
    {NULL, NULL, NULL}};
