// The `articulated` motion against independent results: pendulums, free bodies, conserved
// quantities, orders of convergence, servos, friction, limits.
#include "motion/articulated_rig.h"

static const double along_y[3] = {0, 1, 0}, along_z[3] = {0, 0, 1}, along_x[3] = {1, 0, 0};
static const double degree = 3.14159265358979323846 / 180.0;

// ---- pendulums ----------------------------------------------------------------------------------

// Point masses of 1 kg on massless rods of 1 m, hanging from a fixed base.
static Rig pendulum(uint32_t count, ArtConfig wish) {
    ArtConfig config = wish;
    Rig rig = rig_begin(1);
    config.motion.base = MF_ARTICULATED_FIXED;
    uint32_t link = 0;
    for (uint32_t i = 0; i < count; i++) {
        link = mf_hand_hinge(rig.hand, link, 0, 0, i == 0 ? 0 : -1, along_y);
        art_body(rig.hand, link, 1.0, 0, 0, -1, 0, 0, 0);
    }
    art_open(&rig, config);
    return rig;
}

// T/T0 = (2/pi) K(sin(A/2)) with l = 1 m, g = 9.81 m/s^2: T0 = 2.0060667 s (validation list, F1).
TEST(f1_pendulum_period) {
    static const double expected[][2] = {{30, 1.0174088},  {60, 1.0731820},  {90, 1.1803406},
                                         {120, 1.3728805}, {150, 1.7622037}, {170, 2.4393627}};
    ArtConfig config = art_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        AUTO_RIG rig = pendulum(1, config);
        rig_set(&rig, "joint.angle", 0, expected[i][0] * degree);
        double before = 1.0, now = 1.0;
        for (int n = 0; n < 10000 && now > 0.0; n++) {
            before = now;
            mf_world_step(rig.world, 1);
            now = rig_get(&rig, "joint.angle", 0);
        }
        double time = mf_time_to_seconds(mf_world_time(rig.world));
        double quarter = time - 1e-3 * now / (now - before);
        assert_near(4.0 * quarter / 2.0060667, expected[i][1], 2e-7);
    }
}

// Small swings of two equal pendulums: w^2 l/g = 2 -+ sqrt 2, T = 2.6210524 and 1.0856755 s; the
// second angle (absolute) is +-sqrt 2 times the first.
TEST(f2_double_pendulum_modes) {
    static const double period[2] = {2.6210524, 1.0856755};
    ArtConfig config = art_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    for (int mode = 0; mode < 2; mode++) {
        AUTO_RIG rig = pendulum(2, config);
        double root = mode == 0 ? sqrt(2.0) : -sqrt(2.0), small = 1e-5;
        rig_set(&rig, "joint.angle", 0, small);
        rig_set(&rig, "joint.angle", 1, small * (root - 1.0));
        double before = 1.0, now = 1.0;
        while (now > 0.0) {
            before = now;
            mf_world_step(rig.world, 1);
            now = rig_get(&rig, "joint.angle", 0);
        }
        double time = mf_time_to_seconds(mf_world_time(rig.world));
        assert_near(4.0 * (time - 1e-3 * now / (now - before)), period[mode], 2e-6);
    }
}

// Both rods level at the start, 10 s, largest energy error over 3 m g l of a classical Runge-Kutta
// method (validation list, F4).
TEST(f4_double_pendulum_energy) {
    static const double expected[3] = {1.6694e-8, 1.0716e-9, 6.787e-11};
    static const mf_Time step[3] = {2 * MF_MILLISECOND, MF_MILLISECOND, MF_MILLISECOND / 2};
    for (int i = 0; i < 3; i++) {
        AUTO_RIG rig = pendulum(2, art_config(MF_ARTICULATED_RK4, step[i]));
        rig_set(&rig, "joint.angle", 0, 90 * degree);
        double start = rig_energy(&rig), worst = 0.0;
        for (mf_Time t = 0; t < 10 * MF_SECOND; t += step[i]) {
            mf_world_step(rig.world, 1);
            worst = fmax(worst, fabs(rig_energy(&rig) - start));
        }
        assert_near(worst / (3 * 9.81), expected[i], 0.01 * expected[i]);
    }
}

// Semi-implicit Euler is symplectic: the energy of a pendulum swings and does not drift.
TEST(f4_no_drift) {
    ArtConfig config = art_config(MF_ARTICULATED_EULER, MF_MILLISECOND);
    AUTO_RIG rig = pendulum(1, config);
    rig_set(&rig, "joint.angle", 0, 90 * degree);
    double lowest[2] = {INFINITY, INFINITY}, highest[2] = {-INFINITY, -INFINITY};
    const int steps = STEPS_OF(1000000);
    for (int n = 0; n < steps; n++) {
        mf_world_step(rig.world, 1);
        int late = n >= steps - steps / 10;
        if (n < steps / 10 || late) {
            double energy = rig_energy(&rig);
            lowest[late] = fmin(lowest[late], energy);
            highest[late] = fmax(highest[late], energy);
        }
    }
    assert_true(highest[0] - lowest[0] < 0.1);
    assert_near(lowest[1], lowest[0], 1e-4);
    assert_near(highest[1], highest[0], 1e-4);
}

// ---- free bodies --------------------------------------------------------------------------------

static Rig free_body(const double moment[3], mf_Time step, double gravity) {
    Rig rig = rig_begin(1);
    art_body(rig.hand, 0, 1.0, 0, 0, 0, moment[0], moment[1], moment[2]);
    art_open(&rig, WITH(art_config(MF_ARTICULATED_RK4, step), .world.gravity = gravity));
    return rig;
}

TEST(e1_nesc_case_2) {
    AUTO_RIG rig = free_body(nesc_moment, MF_MILLISECOND, 0.0);
    check_nesc_case_2(&rig);
}

// I = (1, 2, 3), w = (0.01, 1, 0): the middle axis turns over with zero crossings of its rate at
// 10.37730 and 31.13191 s (validation list, E6).
TEST(e6_turning_over) {
    static const double moment[3] = {1, 2, 3}, expected[2] = {10.37730, 31.13191};
    AUTO_RIG rig = free_body(moment, MF_MILLISECOND, 0.0);
    rig_set3(&rig, "base.angular_velocity", 0.01, 1, 0);
    double before = 1.0;
    int crossings = 0;
    for (int n = 0; n < 35000 && crossings < 2; n++) {
        mf_world_step(rig.world, 1);
        double now = rig_get(&rig, "base.angular_velocity", 1);
        if ((now > 0) != (before > 0)) {
            double time = mf_time_to_seconds(mf_world_time(rig.world));
            assert_near(time - 1e-3 * now / (now - before), expected[crossings++], 1e-5);
        }
        before = now;
    }
    assert_int_equal(crossings, 2);
}

// A box of 0.2 x 0.4 x 0.6 m and 1 kg, w = (1, 2, 3), after 5 s (validation list, E7).
TEST(e7_free_box) {
    static const double moment[3] = {0.52 / 12, 0.40 / 12, 0.20 / 12};
    static const double expected[3] = {0.28086194, -2.43226694, 2.75010148};
    AUTO_RIG rig = free_body(moment, 10 * MF_MILLISECOND, 0.0);
    rig_set3(&rig, "base.angular_velocity", 1, 2, 3);
    double center[3], linear[3], before[3], after[3], energy = rig_energy(&rig);
    mf_motion_momentum(rig.group, 0, center, linear, before);
    mf_world_step(rig.world, 500);
    // (At this step the method itself is off by 1e-8.)
    assert_field3(rig.group, "base.angular_velocity", 0, expected[0], expected[1], expected[2],
                  2e-8);
    mf_motion_momentum(rig.group, 0, center, linear, after);
    for (uint32_t c = 0; c < 3; c++)
        assert_near(after[c], before[c], 5e-10);
    double size = sqrt(before[0] * before[0] + before[1] * before[1] + before[2] * before[2]);
    double now = sqrt(after[0] * after[0] + after[1] * after[1] + after[2] * after[2]);
    assert_near(now / size - 1.0, -8.3e-11, 0.2e-11);
    assert_near(rig_energy(&rig) / energy - 1.0, -1.7e-10, 0.2e-10);
}

// A wheel of moment 0.2 turns by 1 rad on a base of moment 0.8 about the same axis: the base turns
// by -0.2/(0.2 + 0.8) rad.
TEST(e2_wheel_in_a_free_base) {
    AUTO_RIG rig = rig_begin(1);
    art_body(rig.hand, 0, 3.0, 0, 0, 0, 1, 1, 0.8);
    uint32_t wheel = mf_hand_hinge(rig.hand, 0, 0, 0, 0, along_z);
    art_body(rig.hand, wheel, 1.0, 0, 0, 0, 0.1, 0.1, 0.2);
    art_open(&rig, WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND), .world.gravity = 0.0));
    for (int n = 0; n < 2000; n++) {
        rig_set(&rig, "joint.torque", 0, n < 1000 ? 0.1 : -0.05);
        mf_world_step(rig.world, 1);
    }
    double angle = rig_get(&rig, "joint.angle", 0);
    double base =
        2.0 * atan2(rig_get(&rig, "base.orientation", 3), rig_get(&rig, "base.orientation", 0));
    assert_true(angle > 0.5);
    assert_near(base, -0.2 * angle, 1e-10);
}

// ---- trees --------------------------------------------------------------------------------------

// A base with two oblique arms, a slide and a wheel.
static void build_flailer(mf_HandModel *hand) {
    const double oblique[3] = {2.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0};
    art_body(hand, 0, 3.0, 0.05, -0.02, 0.1, 0.1, 0.15, 0.12);
    uint32_t arm = mf_hand_hinge(hand, 0, 0.2, 0.1, 0, oblique);
    art_body(hand, arm, 1.0, 0.2, 0, 0.05, 0.01, 0.02, 0.015);
    uint32_t hand_link = mf_hand_hinge(hand, arm, 0.4, 0, 0, along_y);
    art_body(hand, hand_link, 0.5, 0, 0, -0.2, 0.006, 0.006, 0.001);
    uint32_t other = mf_hand_slide(hand, 0, -0.2, 0, 0.1, along_x);
    art_body(hand, other, 0.7, 0, 0.1, 0, 0.004, 0.005, 0.006);
    uint32_t wheel = mf_hand_hinge(hand, other, 0, 0.1, 0.1, along_z);
    art_body(hand, wheel, 0.4, 0.01, 0.02, 0, 0.003, 0.003, 0.005);
}

static void flail(const Rig *rig, int n) {
    for (uint32_t j = 0; j < 4; j++)
        rig_set(rig, "joint.torque", j, sin(0.01 * n * (j + 1.0)) * (j == 2 ? 2.0 : 0.5));
}

// Inner torques change neither the path of the center of mass nor the angular momentum about it.
TEST(e3_flailing_joints) {
    ArtConfig config = art_config(MF_ARTICULATED_RK4, MF_MILLISECOND);
    AUTO_RIG rig = rig_begin(1);
    build_flailer(rig.hand);
    art_open(&rig, config);
    rig_set3(&rig, "base.position", 0, 0, 100);
    rig_set3(&rig, "base.linear_velocity", 1, -2, 3);
    rig_set3(&rig, "base.angular_velocity", 0.5, 1, -0.7);
    double center[3], linear[3], angular[3], position[3], force[3], rate[3];
    mf_motion_momentum(rig.group, 0, center, linear, angular);
    for (int n = 0; n < 1000; n++) {
        flail(&rig, n);
        mf_world_step(rig.world, 1);
    }
    mf_motion_momentum(rig.group, 0, position, force, rate);
    for (int c = 0; c < 3; c++) {
        double fall = c == 2 ? -9.81 : 0.0, mass = rig.hand->model.mass;
        assert_near(rate[c], angular[c], 1e-10);
        assert_near(force[c], linear[c] + mass * fall, 1e-10 * mass * 10);
        assert_near(position[c], center[c] + linear[c] / mass + 0.5 * fall, 1e-9);
    }
}

// Free fall after a second of forcing keeps the energy (validation list, F14).
TEST(f14_energy_of_a_free_tree) {
    AUTO_RIG rig = rig_begin(1);
    build_flailer(rig.hand);
    art_open(&rig, WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND), .world.gravity = 0.0));
    for (int n = 0; n < 1000; n++) {
        flail(&rig, n);
        mf_world_step(rig.world, 1);
    }
    for (uint32_t j = 0; j < 4; j++)
        rig_set(&rig, "joint.torque", j, 0.0);
    double energy = rig_energy(&rig);
    mf_world_step(rig.world, 1000);
    assert_near(rig_energy(&rig) / energy, 1.0, 1e-8);
}

// Power of the torques is the change of the energy: Simpson's rule over two steps.
TEST(f7_power_balance) {
    ArtConfig config = art_config(MF_ARTICULATED_RK4, MF_MILLISECOND / 10);
    AUTO_RIG rig = rig_begin(1);
    build_flailer(rig.hand);
    art_open(&rig, config);
    const double torque[4] = {0.5, -0.2, 1.5, 0.1};
    set_fields(rig.group, "joint.torque", 0, 4, torque);
    mf_world_step(rig.world, 1000);
    double energy = rig_energy(&rig), work = 0.0;
    for (int n = 0; n <= 1000; n++) {
        double power = 0.0;
        for (uint32_t j = 0; j < 4; j++)
            power += torque[j] * rig_get(&rig, "joint.rate", j);
        work += power * 1e-4 / 3.0 * (n == 0 || n == 1000 ? 1 : n % 2 == 1 ? 4 : 2);
        if (n < 1000)
            mf_world_step(rig.world, 1);
    }
    assert_near((rig_energy(&rig) - energy) / work, 1.0, 1e-9);
}

static double flailer_at(mf_ArticulatedIntegrator integrator, mf_Time step, double state[8]) {
    ArtConfig config = art_config(integrator, step);
    AUTO_RIG rig = rig_begin(1);
    build_flailer(rig.hand);
    for (int j = 0; j < 4; j++) {
        rig.hand->joints[j].damping = 0.05;
        rig.hand->joints[j].stiffness = 1.0;
        rig.hand->joints[j].spring_reference = 0.3;
        rig.hand->joints[j].armature = 0.01;
    }
    art_open(&rig, config);
    rig_set3(&rig, "base.angular_velocity", 0.5, 1, -0.7);
    mf_world_step(rig.world, (uint64_t)(MF_SECOND / 2 / step));
    for (uint32_t c = 0; c < 4; c++) {
        state[c] = rig_get(&rig, "joint.angle", c);
        state[4 + c] = rig_get(&rig, "base.orientation", c);
    }
    return 0.0;
}

// Errors against a step eight times smaller than the smallest fall with the step's power.
TEST(orders_of_convergence) {
    static const struct {
        mf_ArticulatedIntegrator integrator;
        mf_Time step;
        double order;
    } cases[] = {{MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND, 1.0},
                 {MF_ARTICULATED_EULER, 2 * MF_MILLISECOND, 1.0},
                 {MF_ARTICULATED_RK4, 20 * MF_MILLISECOND, 4.0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double coarse[8], fine[8], truth[8], error[2] = {0, 0};
        flailer_at(cases[i].integrator, cases[i].step, coarse);
        flailer_at(cases[i].integrator, cases[i].step / 2, fine);
        flailer_at(MF_ARTICULATED_RK4, MF_MILLISECOND, truth);
        for (int c = 0; c < 8; c++) {
            error[0] += fabs(coarse[c] - truth[c]);
            error[1] += fabs(fine[c] - truth[c]);
        }
        assert_near(log2(error[0] / error[1]), cases[i].order, 0.15);
    }
}

// ---- what acts on joints ------------------------------------------------------------------------

// A wheel of moment 0.5 on a fixed base, no gravity about its axis.
static Rig wheel(ArtConfig config, double friction) {
    Rig rig = rig_begin(1);
    uint32_t link = mf_hand_hinge(rig.hand, 0, 0, 0, 0, along_z);
    art_body(rig.hand, link, 1.0, 0, 0, 0, 0.3, 0.3, 0.5);
    rig.hand->joints[0].friction = friction;
    config.motion.base = MF_ARTICULATED_FIXED;
    art_open(&rig, config);
    return rig;
}

// A motor of 3 N m stall torque and 6 rad/s no-load speed at full duty:
// w = 6 (1 - exp(-t / T)), T = J w0 / torque = 0.5 * 6 / 3 = 1 s.
TEST(f15_motor_runs_up) {
    AUTO_RIG rig =
        wheel(WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND), .motion.servo.gain = 1e6,
                   .motion.servo.effort = 3.0, .motion.servo.no_load_speed = 6.0),
              0.0);
    rig_set(&rig, "joint.target", 0, 1000.0);
    mf_world_step(rig.world, 1);
    assert_near(rig_get(&rig, "joint.rate", 0), 6.0 * (1.0 - exp(-0.001)), 1e-12);
    mf_world_step(rig.world, 999);
    assert_near(rig_get(&rig, "joint.rate", 0), 6.0 * (1.0 - exp(-1.0)), 1e-9);
    mf_world_step(rig.world, 29000);
    assert_near(rig_get(&rig, "joint.rate", 0), 6.0, 1e-9);
}

// Gear 10 and a rotor of 0.001 add 0.1 to the wheel's 0.5: twice the torque 1.2 gives 2 rad/s^2.
TEST(rotor_behind_a_gear) {
    AUTO_RIG rig = wheel(WITH(art_config(MF_ARTICULATED_EULER, MF_MILLISECOND),
                              .motion.servo.rotor_inertia = 0.001, .motion.servo.gear = 10.0),
                         0.0);
    rig_set(&rig, "joint.torque", 0, 1.2);
    mf_world_step(rig.world, 1000);
    assert_near(rig_get(&rig, "joint.rate", 0), 2.0, 1e-12);
}

// Step of a servo with damping ratio 0.3: overshoot exp(-pi z / sqrt(1 - z^2)) = 0.372326.
TEST(f15_overshoot) {
    const double z = 0.3, frequency = 10.0;
    AUTO_RIG rig = wheel(WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND),
                              .motion.servo.gain = 0.5 * frequency * frequency,
                              .motion.servo.damping = 0.5 * 2.0 * z * frequency),
                         0.0);
    rig_set(&rig, "joint.target", 0, 1.0);
    double highest = 0.0;
    for (int n = 0; n < 1000; n++) {
        mf_world_step(rig.world, 1);
        highest = fmax(highest, rig_get(&rig, "joint.angle", 0));
    }
    assert_near(highest, 1.0 + 0.372326, 2e-6);
}

// Gains far beyond what an explicit step of 10 ms bears: the wheel arrives and rests; effort and
// backlash hold.
TEST(servos_are_stable_at_any_gain) {
    static const double gains[][2] = {{1e3, 0}, {1e6, 0}, {1e6, 1e5}, {1e9, 1e3}, {10, 1e7}};
    for (size_t i = 0; i < sizeof gains / sizeof *gains; i++) {
        AUTO_RIG rig =
            wheel(WITH(art_config(MF_ARTICULATED_IMPLICIT, 10 * MF_MILLISECOND),
                       .motion.servo.gain = gains[i][0], .motion.servo.damping = gains[i][1]),
                  0.0);
        rig_set(&rig, "joint.target", 0, 1.0);
        double largest = 0.0;
        for (int n = 0; n < 2000; n++) {
            mf_world_step(rig.world, 1);
            largest = fmax(largest, fabs(rig_get(&rig, "joint.angle", 0)));
        }
        assert_true(largest < 2.0);
        if (gains[i][0] > gains[i][1])
            assert_near(rig_get(&rig, "joint.angle", 0), 1.0, 1e-6);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
    }
}

TEST(effort_and_backlash) {
    AUTO_RIG rig =
        wheel(WITH(art_config(MF_ARTICULATED_EULER, MF_MILLISECOND), .motion.servo.gain = 100.0,
                   .motion.servo.effort = 2.0, .motion.servo.backlash = 0.2),
              0.0);
    rig_set(&rig, "joint.target", 0, 0.0999);
    mf_world_step(rig.world, 100);
    assert_true(rig_get(&rig, "joint.rate", 0) == 0.0); // within the play
    rig_set(&rig, "joint.target", 0, -5.0);
    mf_world_step(rig.world, 100);
    assert_near(rig_get(&rig, "joint.rate", 0), -2.0 / 0.5 * 0.1, 1e-12); // all the effort
}

// Dry friction of 1 N m: half of it as torque leaves the wheel where it is, twice of it moves it by
// the rest, and a moving wheel stops and stays.
TEST(dry_friction) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, 5 * MF_MILLISECOND);
    AUTO_RIG rig = wheel(config, 1.0);
    rig_set(&rig, "joint.torque", 0, 0.5);
    mf_world_step(rig.world, 1000);
    assert_near(rig_get(&rig, "joint.rate", 0), 0.0, 1e-12);
    rig_set(&rig, "joint.torque", 0, 2.0);
    mf_world_step(rig.world, 200);
    double rate = rig_get(&rig, "joint.rate", 0);
    mf_world_step(rig.world, 200);
    assert_near(rig_get(&rig, "joint.rate", 0) - rate, (2.0 - 1.0) / 0.5, 1e-9);
    rig_set(&rig, "joint.torque", 0, 0.0);
    rate = rig_get(&rig, "joint.rate", 0);
    double stop = rate * 0.5 / 1.0;
    mf_world_step(rig.world, (uint64_t)(stop / 0.005) - 40);
    assert_true(rig_get(&rig, "joint.rate", 0) > 0.2);
    mf_world_step(rig.world, 80);
    assert_near(rig_get(&rig, "joint.rate", 0), 0.0, 1e-12);
}

// A pendulum falls onto its limit at 0.5 rad: it comes to rest there, no deeper than gravity
// presses it into a spring of that time constant, and its energy never rises.
TEST(limits_hold) {
    static const mf_Time steps[] = {MF_MILLISECOND, 5 * MF_MILLISECOND, 20 * MF_MILLISECOND};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        AUTO_RIG rig = rig_begin(1);
        uint32_t link = mf_hand_hinge(rig.hand, 0, 0, 0, 0, along_y);
        art_body(rig.hand, link, 1.0, 0, 0, -1, 0, 0, 0);
        rig.hand->joints[0].lower = 0.5;
        rig.hand->joints[0].upper = 3.0;
        art_open(&rig, WITH(art_config(MF_ARTICULATED_IMPLICIT, steps[i]),
                            .motion.base = MF_ARTICULATED_FIXED));
        rig_set(&rig, "joint.angle", 0, 2.0);
        double deepest = INFINITY, fastest = 0.0;
        for (mf_Time t = 0; t < 20 * MF_SECOND; t += steps[i]) {
            mf_world_step(rig.world, 1);
            deepest = fmin(deepest, rig_get(&rig, "joint.angle", 0));
            fastest = fmax(fastest, rig_get(&rig, "joint.rate", 0));
        }
        double time = 2.0 * mf_time_to_seconds(steps[i]);
        double rest = 0.5 - 9.81 * sin(0.5) * time * time;
        assert_near(rig_get(&rig, "joint.angle", 0), rest, 2e-2 * time);
        assert_near(rig_get(&rig, "joint.rate", 0), 0.0, 1e-6);
        assert_true(deepest > 0.5 - 4.5 * time);
        assert_true(fastest < 1.5); // it does not bounce back as fast as it fell (4.5 rad/s)
    }
}

// A joint that follows another at twice its angle plus 0.1, as a gear: the leader moves both wheels
// (0.5 kg m^2), the second with the square of the ratio.
TEST(a_joint_follows_another) {
    double angle = 0.0, rate = 0.0;
    AUTO_RIG rig = rig_begin(1);
    for (int i = 0; i < 2; i++) {
        uint32_t link = mf_hand_hinge(rig.hand, 0, i, 0, 0, along_z);
        art_body(rig.hand, link, 1.0, 0, 0, 0, 0.3, 0.3, 0.5);
    }
    rig.hand->joints[1].mimic = 0;
    rig.hand->joints[1].multiplier = 2.0;
    rig.hand->joints[1].offset = 0.1;
    art_open(&rig, WITH(art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND),
                        .motion.base = MF_ARTICULATED_FIXED));
    rig_set(&rig, "joint.angle", 1, 0.1);
    for (int n = 0; n < 2000; n++) {
        double lead = sin(0.005 * n), follow = 0.3 * sin(0.011 * n);
        rig_set(&rig, "joint.torque", 0, lead);
        rig_set(&rig, "joint.torque", 1, follow);
        mf_world_step(rig.world, 1);
        rate += 1e-3 * (lead + 2.0 * follow) / (0.5 + 4.0 * 0.5);
        angle += 1e-3 * rate;
        assert_near(rig_get(&rig, "joint.angle", 1), 0.1 + 2.0 * rig_get(&rig, "joint.angle", 0),
                    1e-11);
    }
    assert_true(angle > 0.1);
    assert_near(rig_get(&rig, "joint.angle", 0), angle, 1e-9);
}

// ---- actuators of the model ---------------------------------------------------------------------

static mf_Actuator plain_actuator(void) {
    return (mf_Actuator){.name = "motor",
                         .drive = MF_DRIVE_JOINT,
                         .reference_site = MF_NONE,
                         .frame = {.rotation = {1, 0, 0, 0}},
                         .gear = {1, 0, 0, 0, 0, 0},
                         .gain = {1, 0, 0},
                         .control_lower = -INFINITY,
                         .control_upper = INFINITY,
                         .force_lower = -INFINITY,
                         .force_upper = INFINITY,
                         .activation_lower = -INFINITY,
                         .activation_upper = INFINITY};
}

static Rig actuated_wheel(ArtConfig config, const mf_Actuator *actuator) {
    Rig rig = rig_begin(1);
    uint32_t link = mf_hand_hinge(rig.hand, 0, 0, 0, 0, along_z);
    art_body(rig.hand, link, 1.0, 0, 0, 0, 0.3, 0.3, 0.5);
    rig.hand->model.actuators = actuator;
    rig.hand->model.actuator_count = 1;
    config.motion.base = MF_ARTICULATED_FIXED;
    art_open(&rig, config);
    return rig;
}

// Control 3 clamped to 2, gear -4: torque -8 on a moment of 0.5 for 10 ms; force clamped to 1: -4.
TEST(an_actuator_has_ranges_and_a_gear) {
    for (int i = 0; i < 2; i++) {
        ArtConfig config = art_config(MF_ARTICULATED_EULER, MF_MILLISECOND);
        mf_Actuator motor = plain_actuator();
        motor.control_upper = 2.0;
        motor.gear[0] = -4.0;
        motor.force_upper = i == 0 ? 5.0 : 1.0;
        AUTO_RIG rig = actuated_wheel(config, &motor);
        rig_set(&rig, "actuator.control", 0, 3.0);
        mf_world_step(rig.world, 10);
        assert_near(rig_get(&rig, "joint.rate", 0), (i == 0 ? -16.0 : -8.0) * 0.01, 1e-14);
        assert_near(rig_get(&rig, "actuator.force", 0), i == 0 ? 2.0 : 1.0, 0.0);
    }
}

// After n steps an exact filter holds 1 - exp(-n h / T), an Euler filter 1 - (1 - h/T)^n, an
// integrator n h; the force of a step comes from the activation before it.
TEST(activations_have_dynamics) {
    static const mf_ActuatorDynamics kinds[] = {MF_DYNAMICS_FILTER_EXACT, MF_DYNAMICS_FILTER,
                                                MF_DYNAMICS_INTEGRATOR};
    const double expected[] = {1.0 - exp(-0.25), 1.0 - pow(0.9975, 100), 0.1};
    for (int i = 0; i < 3; i++) {
        ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, MF_MILLISECOND);
        mf_Actuator motor = plain_actuator();
        motor.dynamics = kinds[i];
        motor.time_constant = 0.4;
        AUTO_RIG rig = actuated_wheel(config, &motor);
        rig_set(&rig, "actuator.control", 0, 1.0);
        mf_world_step(rig.world, 1);
        assert_true(rig_get(&rig, "joint.rate", 0) == 0.0);
        mf_world_step(rig.world, 99);
        assert_near(rig_get(&rig, "actuator.activation", 0), expected[i], 1e-13);
    }
}

// A position actuator with a gain of 1e7 at 10 ms arrives and rests.
TEST(a_stiff_actuator_is_stable) {
    ArtConfig config = art_config(MF_ARTICULATED_IMPLICIT, 10 * MF_MILLISECOND);
    mf_Actuator servo = plain_actuator();
    servo.gain[0] = 1e7;
    servo.bias[1] = -1e7;
    servo.bias[2] = -1e3;
    servo.force_lower = -50.0;
    servo.force_upper = 50.0;
    AUTO_RIG rig = actuated_wheel(config, &servo);
    rig_set(&rig, "actuator.control", 0, 0.7);
    mf_world_step(rig.world, 2000);
    assert_near(rig_get(&rig, "joint.angle", 0), 0.7, 1e-6);
}

// A pendulum whose weight is compensated stays where it is; half of the weight left, it swings
// like one in half of the gravity.
TEST(compensated_weight) {
    for (int i = 0; i < 2; i++) {
        AUTO_RIG rig = rig_begin(1);
        uint32_t link = mf_hand_hinge(rig.hand, 0, 0, 0, 0, along_y);
        art_body(rig.hand, link, 1.0, 0, 0, -1, 0, 0, 0);
        rig.hand->links[link].lift_mass = i == 0 ? 1.0 : 0.5;
        rig.hand->links[link].lift_moment[2] = i == 0 ? -1.0 : -0.5;
        art_open(&rig, WITH(art_config(MF_ARTICULATED_RK4, MF_MILLISECOND),
                            .motion.base = MF_ARTICULATED_FIXED));
        rig_set(&rig, "joint.angle", 0, 1.0);
        mf_world_step(rig.world, 1);
        double expected = i == 0 ? 0.0 : -0.5 * 9.81 * sin(1.0) * 1e-3;
        assert_near(rig_get(&rig, "joint.rate", 0), expected, 1e-8);
    }
}
