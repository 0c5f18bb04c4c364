// Check cases of robots with motors and controllers, under `articulated`: servos, the cart with a
// pole, the inverted pendulum.
#include <math.h>
#include <string.h>

#include "check.h"
#include "math/scalar.h"

#include <mayfly/dynamics.h>

static const double along_x[3] = {1, 0, 0}, along_y[3] = {0, 1, 0}, along_z[3] = {0, 0, 1};
static const double none[3] = {0, 0, 0};

// ---- servos -------------------------------------------------------------------------------------

// A wheel of inertia 0.5 kg m^2 on a fixed base.
static void open_wheel(mf_CheckRun *run, mf_RigConfig *config) {
    mf_HandModel *hand = mf_rig_start(run);
    uint32_t link = mf_hand_hinge(hand, 0, 0, 0, 0, along_z);
    mf_rig_body(run, link, 1.0, none, (double[3]){0.3, 0.3, 0.5});
    config->motions.articulated.base = MF_ARTICULATED_FIXED;
    mf_rig_open(run, config);
}

// Mean torque over a step of 1 ms from the change of the joint rate, at `rate`. Within the step the
// torque falls with the time constant of 1 s.
static double motor_torque(const mf_CheckRun *run, double rate) {
    mf_rig_set(run, "joint.rate", 0, rate);
    mf_rig_step(run, 1);
    return 0.5 * (mf_rig_get(run, "joint.rate", 0) - rate) / -expm1(-1e-3);
}

// Motor: w = w0 (1 - exp(-t/T)), T = J w0 / stall torque = 1 s. Servo step of damping ratio 0.3:
// overshoot exp(-pi z / sqrt(1 - z^2)).
static void check_servo(mf_CheckRun *run) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    config.motions.articulated.servo.gain = 1e6;
    config.motions.articulated.servo.effort = 3.0;
    config.motions.articulated.servo.no_load_speed = 6.0;
    open_wheel(run, &config);
    mf_rig_set(run, "joint.target", 0, 1000.0);
    mf_check_near(run, "torque at rest [N m]", 3.0, motor_torque(run, 0.0), 1e-9);
    mf_check_near(run, "torque at a third of the no-load speed [N m]", 2.0, motor_torque(run, 2.0),
                  1e-9);
    mf_check_near(run, "torque at the no-load speed [N m]", 0.0, motor_torque(run, 6.0), 1e-9);
    mf_check_near(run, "torque backwards at half of it [N m]", 4.5, motor_torque(run, -3.0), 1e-9);
    mf_rig_set(run, "joint.rate", 0, 0.0);
    mf_rig_step(run, 1000);
    mf_rig_near(run, "joint.rate", 0, "speed of a motor after its time constant [rad/s]",
                6.0 * (1.0 - 0.36787944117144233), 1e-9);
    mf_rig_step(run, 29000);
    mf_rig_near(run, "joint.rate", 0, "no-load speed [rad/s]", 6.0, 1e-9);
    config.motions.articulated.servo = mf_servo();
    config.motions.articulated.servo.gain = 50.0;
    config.motions.articulated.servo.damping = 3.0;
    open_wheel(run, &config);
    mf_rig_set(run, "joint.target", 0, 1.0);
    double highest = 0.0;
    for (int n = 0; n < 1000; n++) {
        mf_rig_step(run, 1);
        highest = fmax(highest, mf_rig_get(run, "joint.angle", 0));
    }
    mf_check_near(run, "overshoot of a servo, damping ratio 0.3", 0.372326, highest - 1.0, 2e-6);
}

// ---- the cart with a pole -----------------------------------------------------------------------

// Gymnasium 1.4.0, classic_control/cartpole.py, from (0.02, -0.03, 0.04, 0.01) with the forces
// below: cart's position and speed, pole's angle and rate after some steps, for both of its
// integrators.
typedef struct CartRow {
    int step;
    double state[4]; // [m], [m/s], [rad], [rad/s]
} CartRow;

enum { CART_ROWS = 7, CART_STEPS = 60 };

static const CartRow cart_traces[2][CART_ROWS] = {
    {{1, {0.0194, 0.16452614664163978, 0.0402, -0.2697989554581428}},
     {2, {0.022690522932832795, 0.35905205635149195, 0.034804020890837145, -0.5495364635525646}},
     {5, {0.04030539979421958, 0.16285032220042348, 0.008267974067390242, -0.2325964934750832}},
     {10, {0.04877020562633846, 0.3577067410836889, -0.0029449251453937137, -0.5194104120850711}},
     {20, {0.10896573422472709, -0.025829865980822153, -0.0973501521999068, -0.0823615423737627}},
     {40, {0.20814796026624477, 0.03179969287766479, -0.4747370018348387, -1.5099747635141239}},
     {60, {0.3170782752787601, -0.12574481655160472, -1.9601245098884175, -6.592777991523075}}},
    {{1, {0.023290522932832795, 0.16452614664163978, 0.034604020890837146, -0.2697989554581428}},
     {2, {0.030473275613514275, 0.35913763403407395, 0.02357662337754067, -0.5513698756648239}},
     {5, {0.04418431083218644, 0.16331428932821285, 0.0029269808973375775, -0.24300142814486586}},
     {10, {0.05660658780281963, 0.3584145555611506, -0.01537173875869449, -0.5352141595065623}},
     {20, {0.10948215492007557, -0.023048729265824908, -0.10887688447974872, -0.14418056006245716}},
     {40, {0.2125176533502413, 0.04368566723870709, -0.5870801980887957, -1.8998086175237208}},
     {60, {0.30253982335854057, -0.2537506294997892, -2.4436186598592142, -7.543844275182505}}}};

static double cart_force(int step) {
    return 10.0 * ("++-+--+-++-++--+-+--"[step % 20] == '+' ? 1.0 : -1.0);
}

// A cart of 1 kg with an inverted rod of 0.1 kg and 1 m, g = 9.8.
static void open_cart(mf_CheckRun *run) {
    mf_RigConfig config = mf_rig_config(MF_ARTICULATED_EULER, 20 * MF_MILLISECOND);
    mf_HandModel *hand = mf_rig_start(run);
    uint32_t cart = mf_hand_slide(hand, 0, 0, 0, 0, along_x);
    uint32_t pole = mf_hand_hinge(hand, cart, 0, 0, 0, along_y);
    mf_rig_body(run, cart, 1.0, none, none);
    mf_rig_body(run, pole, 0.1, (double[3]){0, 0, 0.5}, (double[3]){0.1 / 12, 0.1 / 12, 0});
    config.world.gravity = 9.8;
    config.motions.articulated.base = MF_ARTICULATED_FIXED;
    mf_rig_open(run, &config);
}

// Gymnasium's equations and order of operations, to verify the rows.
static void gym_step(double s[4], double force, bool explicit) {
    const double tau = 0.02, total = 0.1 + 1.0, moment = 0.1 * 0.5;
    double sine, cosine;
    mf_sin_cos(s[2], &sine, &cosine);
    double temp = (force + moment * (s[3] * s[3]) * sine) / total;
    double pole_acceleration =
        (9.8 * sine - cosine * temp) / (0.5 * (4.0 / 3.0 - 0.1 * (cosine * cosine) / total));
    double cart_acceleration = temp - moment * pole_acceleration * cosine / total;
    double old[2] = {s[1], s[3]};
    s[1] = s[1] + tau * cart_acceleration;
    s[3] = s[3] + tau * pole_acceleration;
    s[0] = s[0] + tau * (explicit ? old[0] : s[1]);
    s[2] = s[2] + tau * (explicit ? old[1] : s[3]);
}

// The motion's own step is Gymnasium's "semi-implicit euler"; its "euler" moves positions with the
// old rates, which is done here with the motion's accelerations.
static void cart_step(const mf_CheckRun *run, double force, bool explicit) {
    mf_rig_set(run, "joint.torque", 0, force);
    if (!explicit) {
        mf_rig_step(run, 1);
        return;
    }
    double torque[2] = {force, 0.0}, gain[2];
    mf_articulated_forward(run->rig.group, 0, torque, gain);
    for (uint32_t j = 0; j < 2; j++) {
        double rate = mf_rig_get(run, "joint.rate", j);
        mf_rig_set(run, "joint.angle", j, mf_rig_get(run, "joint.angle", j) + 0.02 * rate);
        mf_rig_set(run, "joint.rate", j, rate + 0.02 * gain[j]);
    }
}

static void cart_trace(mf_CheckRun *run, int kind) {
    static const char *const names[2] = {"euler", "semi-implicit euler"};
    double worst = 0.0, gym[4] = {0.02, -0.03, 0.04, 0.01};
    int row = 0;
    uint64_t unlike = 0;
    mf_rig_set(run, "joint.angle", 0, 0.02);
    mf_rig_set(run, "joint.rate", 0, -0.03);
    mf_rig_set(run, "joint.angle", 1, 0.04);
    mf_rig_set(run, "joint.rate", 1, 0.01);
    for (int n = 0; n < CART_STEPS; n++) {
        cart_step(run, cart_force(n), kind == 0);
        gym_step(gym, cart_force(n), kind == 0);
        const CartRow *truth = &cart_traces[kind][row];
        if (n + 1 != truth->step)
            continue;
        unlike += memcmp(gym, truth->state, sizeof gym) != 0;
        for (uint32_t i = 0; i < 4; i++) {
            double got = mf_rig_get(run, i % 2 == 0 ? "joint.angle" : "joint.rate", i / 2);
            worst = mf_check_worse(worst, fabs(got - truth->state[i]));
        }
        row++;
    }
    mf_check_near(run, mf_check_name(run, "%s: rows compared", names[kind]), CART_ROWS, row, 0);
    mf_check_below(run, mf_check_name(run, "%s: largest error in 60 steps", names[kind]), 2e-14,
                   worst);
    mf_check_bits(run, mf_check_name(run, "%s: its formulas, differing bits", names[kind]), 0,
                  unlike);
}

static void check_cart(mf_CheckRun *run) {
    open_cart(run);
    const double force[2] = {0, 0};
    double gain[2];
    mf_rig_set(run, "joint.angle", 1, 1e-6);
    mf_articulated_forward(run->rig.group, 0, force, gain);
    mf_check_near(run, "growth of a tilt of the pole [1/s]", 3.9718522, sqrt(gain[1] / 1e-6), 5e-8);
    cart_trace(run, 0);
    cart_trace(run, 1);
}

// ---- the inverted pendulum ----------------------------------------------------------------------

// A point of 1 kg on an inverted rod of 1 m, under the linear quadratic regulator of Q = 1 and R =
// 1: gains from the scalar Riccati equations, then the decay along both of its eigenvectors.
static void check_regulator(mf_CheckRun *run) {
    static const double poles[2] = {-2.7018543, -3.6496552};
    const double k1 = 19.6708367, k2 = 6.3515095;
    for (int i = 0; i < 2; i++) {
        mf_RigConfig config = mf_rig_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
        mf_HandModel *hand = mf_rig_start(run);
        mf_rig_body(run, mf_hand_hinge(hand, 0, 0, 0, 0, along_y), 1.0, (double[3]){0, 0, 1}, none);
        config.motions.articulated.base = MF_ARTICULATED_FIXED;
        config.motions.articulated.servo.gain = k1;
        config.motions.articulated.servo.damping = k2;
        mf_rig_open(run, &config);
        const double small = 1e-6;
        double bias, moment;
        mf_rig_set(run, "joint.angle", 0, small);
        mf_group_bias(run->rig.group, 0, 1, &bias, NULL);
        mf_group_mass_matrix(run->rig.group, 0, 1, &moment, NULL);
        double tip = -bias / small, first = tip + sqrt(tip * tip + 1.0);
        if (i == 0) {
            mf_check_near(run, "gain of the angle [N m/rad]", k1, first, 5e-8);
            mf_check_near(run, "gain of the rate [N m s/rad]", k2, sqrt(1.0 + 2.0 * moment * first),
                          5e-8);
        }
        mf_rig_set(run, "joint.rate", 0, poles[i] * small);
        mf_rig_step(run, 1000);
        mf_check_near(run, i == 0 ? "slow pole [1/s]" : "fast pole [1/s]", poles[i],
                      log(mf_rig_get(run, "joint.angle", 0) / small), 5e-7);
    }
}

const mf_CheckCase mf_check_control_cases[] = {
    {"F9", "cart and pole: Gymnasium's trace", check_cart},
    {"F10", "inverted pendulum: the regulator's gains and poles", check_regulator},
    {"F15", "motor and servo", check_servo},
    {NULL, NULL, NULL}};
