// Check cases of the `points` motion: flight, rotation, internal motion, support and friction, all
// in double precision. The expected values are closed forms or independent computations;
// tests/motion/ states the source of each and the budget of each tolerance.
#include <math.h>

#include <mayfly/points.h>

#include "check.h"

static const double pi = 3.14159265358979323846;

static mf_RigConfig rig_config(double gravity) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, 10 * MF_MILLISECOND);
    config.motion = MF_MOTION_POINTS;
    config.world.gravity = gravity;
    return config;
}

// ---- flight -------------------------------------------------------------------------------------

static void fly(mf_CheckRun *run, double mass, const double moment[3], double gravity,
                const double rate[3]) {
    mf_HandModel *hand = mf_rig_start(run);
    mf_hand_inertia(hand, 0, mass, moment);
    mf_RigConfig config = rig_config(gravity);
    config.motions.points.joint_interval = 1000 * MF_SECOND; // nothing to move
    mf_rig_open(run, &config);
    mf_rig_set3(run, "base.angular_velocity", rate[0], rate[1], rate[2]);
}

static void check_spin(mf_CheckRun *run) {
    static const double moment[3] = {2, 2, 2}, rate[3] = {0.6, 0.0, 0.8};
    fly(run, 1.0, moment, 0.0, rate);
    mf_rig_step(run, 1000000);
    double q[4], norm = 0.0;
    for (uint32_t c = 0; c < 4; c++) {
        q[c] = mf_rig_get(run, "base.orientation", c);
        norm += q[c] * q[c];
    }
    double angle = 2.0 * atan2(0.6 * q[1] + 0.8 * q[3], q[0]);
    // The method rotates by 9999.999999947917 rad in 10^6 steps; a quaternion gives it modulo 4 pi.
    double off = remainder(angle - remainder(9999.999999947917132, 4 * pi), 4 * pi);
    mf_check_near(run, "angle after 1e6 steps minus that of the method [rad]", 0.0, off, 4e-10);
    mf_check_near(run, "angle after 1e6 steps minus w t [rad]", 0.0,
                  remainder(angle - remainder(10000.0, 4 * pi), 4 * pi), 5.3e-8);
    mf_check_near(run, "norm of the quaternion [1]", 1.0, sqrt(norm), 1e-12);
}

static void check_fall(mf_CheckRun *run) {
    static const double moment[3] = {1, 2, 3}, rate[3] = {0, 0, 0};
    fly(run, 1.0, moment, 9.81, rate);
    mf_rig_step(run, 100);
    mf_rig_near(run, "base.position", 2, "height after 100 steps of 10 ms [m]", -4.95405, 5e-12);
    mf_rig_near(run, "base.linear_velocity", 2, "speed [m/s]", -9.81, 1e-11);
}

static void check_middle_axis(mf_CheckRun *run) {
    static const double moment[3] = {1, 2, 3}, rate[3] = {0.01, 1.0, 0.0};
    static const double expected[2] = {10.37730, 31.13191};
    fly(run, 6.0, moment, 0.0, rate);
    double before = 1.0;
    for (int n = 1, found = 0; n <= 3500 && found < 2; n++) {
        mf_rig_step(run, 1);
        double now = mf_rig_get(run, "base.angular_velocity", 1);
        if ((before > 0) != (now > 0))
            mf_check_near(run, "zero of the middle rate [s]", expected[found++],
                          0.01 * (n - 1 + before / (before - now)), 1e-5);
        before = now;
    }
}

static void check_box(mf_CheckRun *run) {
    static const double moment[3] = {0.52 / 12, 0.40 / 12, 0.20 / 12}, rate[3] = {1, 2, 3};
    static const double expected[3] = {0.28086194, -2.43226694, 2.75010148};
    fly(run, 1.0, moment, 0.0, rate);
    double first = mf_rig_kinetic(run);
    mf_rig_step(run, 500);
    mf_rig_near3(run, "base.angular_velocity", expected, 1.0, 2e-8, "w? [rad/s]");
    mf_check_near(run, "energy drift [1]", -1.7e-10, mf_rig_kinetic(run) / first - 1.0, 0.06e-10);
}

// ---- joints in the air --------------------------------------------------------------------------

static void check_wheel(mf_CheckRun *run) {
    static const double up[3] = {0, 0, 1}, moment[3] = {0.03, 0.03, 0.02};
    mf_HandModel *hand = mf_rig_start(run);
    mf_hand_inertia(hand, 0, 1.0, moment);
    uint32_t wheel = mf_hand_hinge(hand, 0, 0, 0, 0.05, up);
    for (int i = 0; i < 4; i++)
        mf_hand_point(hand, wheel, 0.1 * (i == 0) - 0.1 * (i == 1), 0.1 * (i == 2) - 0.1 * (i == 3),
                      0, 0.1, false);
    mf_RigConfig config = rig_config(0.0);
    config.motions.points.keep_momentum = true;
    mf_rig_open(run, &config);
    mf_rig_set(run, "joint.target", 0, 1.0);
    mf_rig_step(run, 24);
    mf_check_near(run, "rotation of the base for 1 rad of the wheel [rad]", -0.16666666666666667,
                  mf_rig_yaw(run), 1e-14);
}

static void check_flailing(mf_CheckRun *run) {
    static const double axis[2][3] = {{1, 0, 0}, {0, 0.6, 0.8}}, moment[3] = {0.01, 0.02, 0.025};
    mf_HandModel *hand = mf_rig_start(run);
    mf_hand_inertia(hand, 0, 1.0, moment);
    uint32_t arm = mf_hand_hinge(hand, 0, 0.1, 0.05, 0, axis[0]);
    mf_hand_point(hand, arm, 0, 0.25, 0.05, 0.3, false);
    uint32_t tip = mf_hand_hinge(hand, arm, 0, 0.25, 0.05, axis[1]);
    mf_hand_point(hand, tip, 0.2, 0, 0, 0.2, false);
    mf_RigConfig config = rig_config(9.81);
    config.motions.points.keep_momentum = true;
    mf_rig_open(run, &config);
    mf_rig_set3(run, "base.angular_velocity", 0.5, -0.7, 0.4);
    const mf_RigMomentum start = mf_rig_momentum(run);
    for (int update = 0; update < 25; update++) {
        mf_rig_set(run, "joint.target", 0, sin(1.3 * update));
        mf_rig_set(run, "joint.target", 1, cos(2.1 * update));
        mf_rig_step(run, 8);
    }
    mf_RigMomentum end = mf_rig_momentum(run);
    for (int i = 0; i < 3; i++)
        end.center[i] -= start.center[i] + start.linear[i] / run->rig.hand.model.mass * 2.0;
    // g h^2 n(n+1)/2 for 200 steps of 10 ms
    mf_check_near(run, "fall of the center of mass in 2 s [m]", -19.7181, end.center[2], 2e-9);
    mf_check_below(run, "its sideways error [m]", 1e-10,
                   fmax(fabs(end.center[0]), fabs(end.center[1])));
    mf_check_below(run, "relative change of the angular momentum [1]", 1e-10,
                   mf_rig_apart(end.angular, start.angular) / mf_rig_apart(start.angular, NULL));
}

// ---- support ------------------------------------------------------------------------------------

// Feet at (x, y, 0), the center of mass at `center`.
static void stand(mf_CheckRun *run, double mass, const double center[3], const double (*feet)[2],
                  int count) {
    mf_HandModel *hand = mf_rig_start(run);
    for (int i = 0; i < 6; i++)
        mf_hand_point(hand, 0, center[0] + 0.1 * (i == 0) - 0.1 * (i == 1),
                      center[1] + 0.08 * (i == 2) - 0.08 * (i == 3),
                      center[2] + 0.05 * (i == 4) - 0.05 * (i == 5), mass / 6, false);
    for (int i = 0; i < count; i++)
        mf_hand_point(hand, 0, feet[i][0], feet[i][1], 0, 0, true);
    mf_RigConfig config = rig_config(9.81);
    mf_rig_open(run, &config);
    mf_rig_step(run, 2000);
}

static void check_four_feet(mf_CheckRun *run) {
    static const double feet[4][2] = {{0.2, 0.15}, {0.2, -0.15}, {-0.2, 0.15}, {-0.2, -0.15}};
    static const double center[3] = {0.05, 0.02, 0};
    static const double expected[4] = {33.92625, 27.38625, 21.66375, 15.12375};
    stand(run, 10.0, center, feet, 4);
    for (uint32_t i = 0; i < 4; i++)
        mf_rig_near(run, "point.load", i, "load of a foot [N]", expected[i], 1.4e-7);
}

static void check_three_feet(mf_CheckRun *run) {
    static const double middle[3] = {0.02, -0.01, 0.1};
    static const double feet[3][2] = {{0.2, 0.03}, {-0.1, 0.17}, {-0.12, -0.14}};
    stand(run, 3.0, middle, feet, 3);
    const mf_RigMomentum now = mf_rig_momentum(run);
    double force = 0, roll = 0, pitch = 0;
    for (uint32_t i = 0; i < 3; i++) {
        double load = mf_rig_get(run, "point.load", i);
        force += load;
        pitch += load * (mf_rig_get(run, "point.anchor", 3 * i) - now.center[0]);
        roll += load * (mf_rig_get(run, "point.anchor", 3 * i + 1) - now.center[1]);
    }
    mf_check_near(run, "sum of the loads [N]", 29.43, force, 3e-11);
    mf_check_near(run, "moment about x [N m]", 0.0, roll, 3e-11);
    mf_check_near(run, "moment about y [N m]", 0.0, pitch, 3e-11);
}

// ---- friction -----------------------------------------------------------------------------------

static void open_block(mf_CheckRun *run, const mf_RigConfig *config) {
    mf_rig_start(run);
    mf_rig_corners(run, 8, .2, .2, .01, .25);
    mf_rig_open(run, config);
}

// Gain of speed in the second second on a slope of 30 degrees with mu = 0.3.
static double slide(mf_CheckRun *run, mf_FrictionModel friction) {
    const double angle = pi / 6;
    double speed[2];
    mf_RigConfig config = rig_config(9.81);
    config.world.terrain = mf_rig_slope(run, angle);
    config.motions.points.friction = friction;
    config.motions.points.friction_coefficient = 0.3;
    open_block(run, &config);
    mf_rig_set3(run, "base.position", -0.01 * sin(angle), 0, 0.01 * cos(angle));
    mf_rig_set(run, "base.orientation", 0, cos(angle / 2));
    mf_rig_set(run, "base.orientation", 2, -sin(angle / 2));
    for (int i = 0; i < 2; i++) {
        mf_rig_step(run, 100);
        speed[i] = -mf_rig_get(run, "base.linear_velocity", 0) * cos(angle) -
                   mf_rig_get(run, "base.linear_velocity", 2) * sin(angle);
    }
    return speed[1] - speed[0];
}

static void check_slope(mf_CheckRun *run) {
    mf_check_near(run, "acceleration at 30 deg, mu 0.3, fit [m/s^2]", 2.356287,
                  slide(run, MF_FRICTION_FIT), 5e-7);
    mf_check_near(run, "the same, coupled [m/s^2]", 2.356287, slide(run, MF_FRICTION_COUPLED),
                  5e-7);
}

// Pushes a block with 0.5 % less and 1 % more than mu m g in many directions.
static void check_push(mf_CheckRun *run) {
    double still = 0.0, least = INFINITY, most = 0.0;
    for (int i = 0; i < 48; i++) {
        double angle = 2 * pi * (i / 2) / 24, force = 0.5 * 2 * 9.81 * (i & 1 ? 1.01 : 0.995);
        mf_RigConfig config = rig_config(9.81);
        config.motions.points.friction_coefficient = 0.5;
        open_block(run, &config);
        mf_rig_step(run, 200);
        mf_rig_set3(run, "base.force", force * cos(angle), force * sin(angle), 0);
        mf_rig_step(run, 200);
        double moved = mf_rig_get(run, "base.position", 0) * cos(angle) +
                       mf_rig_get(run, "base.position", 1) * sin(angle);
        if (i & 1) {
            least = fmin(least, moved);
            most = fmax(most, moved);
        } else {
            still = fmax(still, fabs(moved));
        }
    }
    mf_check_below(run, "distance at 0.995 mu m g, 24 directions [m]", 1e-4, still);
    // h^2 a n(n+1)/2 with a = 0.01 mu g, n = 200
    mf_check_near(run, "smallest distance at 1.01 mu m g [m]", 0.0985905, least, 1e-5);
    mf_check_near(run, "largest distance at 1.01 mu m g [m]", 0.0985905, most, 1e-5);
}

const mf_CheckCase mf_check_points_cases[] = {
    {"B2", "constant body rate: angle and norm of the quaternion", check_spin},
    {"C1", "four feet share the weight", check_four_feet},
    {"C2", "three feet: statics", check_three_feet},
    {"C3", "block on a slope", check_slope},
    {"C4", "friction is the same in all directions", check_push},
    {"C9", "free fall is the discrete parabola", check_fall},
    {"E2", "a base rotates against its wheel", check_wheel},
    {"E3", "moving joints change neither the path of the center of mass nor momentum",
     check_flailing},
    {"E6", "tumbling about the middle axis", check_middle_axis},
    {"E7", "free box, 5 s", check_box},
    {NULL, NULL, NULL}};
