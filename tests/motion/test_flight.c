// Free flight: gravity and torque-free rotation of one rigid body against independent results.
// "validation" below is the project's list of check cases; all are in double precision.
#include "motion/rig.h"

// A body without contact points, without gravity unless said.
static Rig fly(double mass, const double moment[3], mf_Time step, double gravity) {
    Rig rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, mass, moment);
    PointsConfig config = WITH(points_config(true), .world.step = step, .world.gravity = gravity);
    config.points.joint_interval = 1000000 * step; // rates are not touched
    points_open(&rig, config);
    return rig;
}

static void get_rate(const Rig *rig, double rate[3]) {
    get_fields(rig->group, "base.angular_velocity", 0, 3, rate);
}

// C9. Semi-implicit Euler has the closed form z = -g h^2 n(n+1)/2; h = 0.01 s, n = 100, g = 9.81:
// -4.95405 m (the continuous parabola ends at -4.905 m). v = -g n h = -9.81 m/s.
TEST(c9_free_fall_is_the_discrete_parabola) {
    static const double moment[3] = {1, 2, 3};
    AUTO_RIG rig = fly(1.0, moment, 10 * MF_MILLISECOND, 9.81);
    mf_world_step(rig.world, 100);
    assert_near(rig_get(&rig, "base.position", 2), -4.95405, 1e-12 * 4.95405);
    assert_near(rig_get(&rig, "base.linear_velocity", 2), -9.81, 1e-12 * 9.81);
    assert_near(rig_get(&rig, "base.position", 0), 0.0, 0.0);
}

// C9 in float: the same within the rounding of 100 additions of values below 9.81, each off by at
// most half a unit in the last place (2^-24 relative).
TEST(c9_in_float) {
    static const double moment[3] = {1, 2, 3};
    AUTO_RIG rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 1.0, moment);
    points_open(&rig, points_config(false));
    mf_world_step(rig.world, 100);
    assert_near(rig_get(&rig, "base.position", 2), -4.95405, 100 * 0x1p-24 * 9.81);
}

// B2. A constant body rate of 1 rad/s, 10^6 steps of 10 ms. Runge-Kutta of fourth order with a
// normalized quaternion turns by 2 atan2(x - x^3/6, 1 - x^2/2 + x^4/24) per step, x = h/2 = 0.005:
// 9999.999999947917 rad in all (computed with 40 digits), 5.2e-8 rad short of w t = 10^4 rad.
// Rounding: each step is off by at most a few 2^-53, 10^6 of them by at most 4e-10 rad.
TEST(b2_constant_rate) {
    static const double moment[3] = {2, 2, 2};
    AUTO_RIG rig = fly(1.0, moment, 10 * MF_MILLISECOND, 0.0);
    rig_set3(&rig, "base.angular_velocity", 0.6, 0.0, 0.8);
    mf_world_step(rig.world, 1000000);
    double q[4], norm = 0.0;
    for (uint32_t c = 0; c < 4; c++) {
        q[c] = rig_get(&rig, "base.orientation", c);
        norm += q[c] * q[c];
    }
    assert_near(sqrt(norm), 1.0, 4e-16);
    double sine = 0.6 * q[1] + 0.8 * q[3], angle = 2.0 * atan2(sine, q[0]);
    // A quaternion tells angles apart up to 4 pi.
    double expected = remainder(9999.999999947917132, 4.0 * 3.14159265358979323846);
    assert_near(remainder(angle - expected, 4.0 * 3.14159265358979323846), 0.0, 4e-10);
    assert_near(q[2], 0.0, 1e-12);
    assert_near(0.8 * q[1] - 0.6 * q[3], 0.0, 4e-10);
}

// E6, Dzhanibekov. I = (1, 2, 3), w = (0.01, 1, 0): the rate about the middle axis first crosses
// zero at 10.37730 s, then at 31.13191 s (a period of 41.5092195 s), from the elliptic integral.
TEST(e6_tumbling_about_the_middle_axis) {
    static const double moment[3] = {1, 2, 3}, expected[2] = {10.37730, 31.13191};
    AUTO_RIG rig = fly(6.0, moment, 10 * MF_MILLISECOND, 0.0);
    rig_set3(&rig, "base.angular_velocity", 0.01, 1.0, 0.0);
    double before = 1.0;
    int found = 0;
    for (int n = 1; n <= 4000 && found < 2; n++) {
        mf_world_step(rig.world, 1);
        double now = rig_get(&rig, "base.angular_velocity", 1);
        if ((before > 0) != (now > 0)) // the rate is a straight line here to 1e-7
            assert_near(0.01 * (n - 1 + before / (before - now)), expected[found++], 1e-5);
        before = now;
    }
    assert_int_equal(found, 2);
}

// E6. A small disturbance grows like cosh(lambda t) with lambda = sqrt((I3-I2)(I2-I1)/(I1 I3)) =
// 0.5773503; a disturbance of 1e-4 leaves its linear range by 1e-7 in 4 s.
TEST(e6_growth) {
    static const double moment[3] = {1, 2, 3};
    AUTO_RIG rig = fly(6.0, moment, 10 * MF_MILLISECOND, 0.0);
    rig_set3(&rig, "base.angular_velocity", 1e-4, 1.0, 0.0);
    mf_world_step(rig.world, 400);
    double grown = rig_get(&rig, "base.angular_velocity", 0) / 1e-4;
    assert_near(acosh(grown) / 4.0, 0.5773503, 1e-6);
}

// The solid box of E7: 1 kg, 0.2 x 0.4 x 0.6 m; m/12 (b^2 + c^2).
static const double box_moment[3] = {0.52 / 12.0, 0.40 / 12.0, 0.20 / 12.0};

static void e7_run(mf_Time step, double rate[3], double *energy, double *momentum) {
    AUTO_RIG rig = fly(1.0, box_moment, step, 0.0);
    rig_set3(&rig, "base.angular_velocity", 1.0, 2.0, 3.0);
    double center[3], linear[3], start[3], end[3];
    mf_motion_momentum(rig.group, 0, center, linear, start);
    double first = rig_energy(&rig);
    mf_world_step(rig.world, (uint64_t)(5 * MF_SECOND / step));
    get_rate(&rig, rate);
    mf_motion_momentum(rig.group, 0, center, linear, end);
    *energy = rig_energy(&rig) / first - 1.0;
    *momentum = sqrt(end[0] * end[0] + end[1] * end[1] + end[2] * end[2]) /
                    sqrt(start[0] * start[0] + start[1] * start[1] + start[2] * start[2]) -
                1.0;
}

// E7. w(5 s) = (0.28086194, -2.43226694, 2.75010148) from an independent integration to 8 digits;
// the classical Runge-Kutta method with h = 0.01 loses 1.7e-10 of the energy and 8.3e-11 of the
// momentum (validation, both to two digits).
TEST(e7_free_box) {
    double rate[3], energy, momentum;
    e7_run(10 * MF_MILLISECOND, rate, &energy, &momentum);
    assert_near(rate[0], 0.28086194, 2e-8);
    assert_near(rate[1], -2.43226694, 2e-8);
    assert_near(rate[2], 2.75010148, 2e-8);
    assert_near(energy, -1.7e-10, 0.05e-10 + 1e-14);
    assert_near(momentum, -8.3e-11, 0.05e-11 + 1e-14);
}

// The order is 4: measured from three step widths.
TEST(e7_order) {
    static const mf_Time step[] = {40 * MF_MILLISECOND, 20 * MF_MILLISECOND, 10 * MF_MILLISECOND};
    double rate[3][3], energy, momentum, error[2] = {0, 0};
    for (int s = 0; s < 3; s++)
        e7_run(step[s], rate[s], &energy, &momentum);
    for (int c = 0; c < 3; c++)
        for (int s = 0; s < 2; s++)
            error[s] += fabs(rate[s + 1][c] - rate[s][c]);
    assert_near(log2(error[0] / error[1]), 4.0, 0.1);
}

TEST(nesc_case_2) {
    AUTO_RIG rig = fly(0.155404754, nesc_moment, MF_MILLISECOND, 0.0);
    check_nesc_case_2(&rig);
}

// A force through the center of mass for n steps: v = F n h / m, x = F/m h^2 n(n+1)/2 (an impulse
// at the start of each step). A torque about a principal axis: w = T n h / I.
TEST(outside_forces) {
    static const double moment[3] = {1, 2, 2.5};
    AUTO_RIG rig = fly(4.0, moment, 10 * MF_MILLISECOND, 0.0);
    rig_set3(&rig, "base.force", 2.0, -1.0, 0.5);
    mf_world_step(rig.world, 100);
    assert_near(rig_get(&rig, "base.linear_velocity", 0), 0.5, 1e-14);
    assert_near(rig_get(&rig, "base.position", 0), 0.2525, 1e-14);
    assert_near(rig_get(&rig, "base.position", 1), -0.12625, 1e-14);
    rig_set3(&rig, "base.force", 0, 0, 0);
    rig_set3(&rig, "base.torque", 0, 0.3, 0);
    mf_world_step(rig.world, 50);
    assert_near(rig_get(&rig, "base.angular_velocity", 1), 0.075, 1e-14);
    assert_near(rig_get(&rig, "base.linear_velocity", 0), 0.5, 1e-14);
}

// A force acts on the base's origin: with the center of mass r away it turns the body by -r x F as
// well as moving it. 4 kg at (0.1, 0, 0.2), I = (1, 2, 2.5), F = (0, 3, 0) for one step of 10 ms:
// -r x F = (0.6, 0, -0.3) N m, so w = (0.006, 0, -0.0012) rad/s; the center gets 0.0075 m/s and the
// origin that less w x r, of which the part along y is (wz rx - wx rz) = -0.00132.
TEST(a_force_acts_on_the_origin) {
    static const double moment[3] = {1, 2, 2.5};
    AUTO_RIG rig = rig_begin(1);
    mf_hand_inertia(rig.hand, 0, 4.0, moment);
    for (uint32_t i = 0; i < rig.hand->model.point_count; i++) {
        rig.hand->points[i].position[0] += 0.1;
        rig.hand->points[i].position[2] += 0.2;
    }
    points_open(&rig, WITH(points_config(true), .world.gravity = 0.0));
    rig_set3(&rig, "base.force", 0, 3, 0);
    mf_world_step(rig.world, 1);
    assert_field3(rig.group, "base.angular_velocity", 0, 0.006, 0.0, -0.0012, 1e-7);
    assert_near(rig_get(&rig, "base.linear_velocity", 1), 0.0075 + 0.00132, 1e-7);
}
