// The flight of a quadrotor against closed forms and published figures: hover, motor lag, drag,
// free rotation, orders of the integrators; and rejected parameters. The results G1, G2, G8, G9 and
// the reference rates of the NASA brick are independent computations, see
// docs/explanation/vehicles.md.
#include "motion/quadrotor_rig.h"
#include "motion/table.h"

static const double degree = 3.14159265358979323846 / 180.0;

// ---- hover --------------------------------------------------------------------------------------

TEST(hover_speed_is_the_published_one) {
    const mf_Quadrotor vehicle[3] = {crazyflie(), mf_quadrotor(), hummingbird()};
    const double expected[3] = {1788.5505, 1086.4265, 469.2042}; // sqrt(m g / 4 k) [rad/s]
    for (int i = 0; i < 3; i++) {
        double speed[4];
        mf_quadrotor_hover(&vehicle[i], 9.81, speed);
        for (int r = 0; r < 4; r++)
            assert_near(speed[r], expected[i], 5e-5);
    }
    const mf_Quadrotor sun = mf_quadrotor();
    double most = 4.0 * sun.thrust_coefficient * sun.rotor_speed_max * sun.rotor_speed_max;
    assert_near(most / (sun.mass * 9.81), 3.3889, 5e-5);
}

// With the position loop closed; open loop any rounding of a torque tilts the body in the end.
TEST(hovering_does_not_drift) {
    const mf_Quadrotor vehicle[3] = {crazyflie(), mf_quadrotor(), hummingbird()};
    for (int i = 0; i < 3; i++) {
        AUTO_RIG rig = rig_open(
            WITH(rig_config(), .quadrotor = vehicle[i], .config.command = MF_QUADROTOR_POSITION));
        double start = rig_get(&rig, "base.position", 2);
        mf_world_step(rig.world, 1000000);
        assert_near(rig_get(&rig, "base.position", 2), start, 1e-9);
        assert_near(rig_get(&rig, "base.position", 0), 0.0, 1e-9);
        assert_near(rig_get(&rig, "base.position", 1), 0.0, 1e-9);
    }
}

// ---- rotors -------------------------------------------------------------------------------------

// With RK4 one step leaves 1 - x + x^2/2 - x^3/6 + x^4/24 of a speed error, x = h / tau.
TEST(motors_lag_as_runge_kutta_says) {
    RigConfig config = WITH(rig_config(), .config.command = MF_QUADROTOR_ROTORS);
    config.world.step = 3300000; // a tenth of the time constant
    AUTO_RIG rig = rig_open(config);
    set_fields(rig.group, "rotor.speed", 0, 4, (double[4]){0, 0, 0, 0});
    set_fields(rig.group, "command.rotors", 0, 4, (double[4]){1000, 1000, 1000, 1000});
    mf_world_step(rig.world, 1);
    const double rest = 1.0 - 0.1 + 0.01 / 2 - 0.001 / 6 + 0.0001 / 24;
    assert_near(rig_get(&rig, "rotor.speed", 0), 1000.0 * (1.0 - rest), 1e-10);
    mf_world_step(rig.world, 9);
    for (uint32_t r = 0; r < 4; r++)
        assert_near(rig_get(&rig, "rotor.speed", r), 632.12, 5e-3);
}

TEST(rotors_keep_their_limits) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .quadrotor.rotor_speed_min = 200.0,
                                 .config.command = MF_QUADROTOR_ROTORS));
    set_fields(rig.group, "command.rotors", 0, 4, (double[4]){0, 2000, 100, 1990});
    mf_world_step(rig.world, 1000);
    assert_field3(rig.group, "rotor.speed", 0, 200.0, 2000.0, 200.0, 1e-6);
    assert_near(rig_get(&rig, "rotor.speed", 3), 1990.0, 1e-6);
}

TEST(rotors_without_lag_are_there_at_once) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .quadrotor.motor_time_constant = 0.0,
                                 .config.command = MF_QUADROTOR_ROTORS));
    set_fields(rig.group, "command.rotors", 0, 4, (double[4]){1500, 1500, 1500, 1500});
    mf_world_step(rig.world, 1);
    const double force = 4.0 * 1.562522e-6 * 1500.0 * 1500.0 / 0.752 - 9.81;
    assert_near(rig_get(&rig, "rotor.speed", 0), 1500.0, 1e-10);
    assert_near(rig_get(&rig, "base.linear_velocity", 2), 0.001 * force, 1e-12);
}

// Signs of the allocation: rotor 0 is ahead on the left and turns clockwise.
TEST(one_rotor_turns_the_body_as_it_should) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .quadrotor.motor_time_constant = 0.0,
                                 .world.gravity = 0.0, .config.command = MF_QUADROTOR_ROTORS));
    set_fields(rig.group, "command.rotors", 0, 4, (double[4]){1000, 0, 0, 0});
    mf_world_step(rig.world, 1);
    const double thrust = 1.562522; // [N]
    assert_near(rig_get(&rig, "base.angular_velocity", 0), 0.001 * thrust * 0.1 / 2.5e-3, 1e-6);
    assert_near(rig_get(&rig, "base.angular_velocity", 1), -0.001 * thrust * 0.075 / 2.1e-3, 1e-6);
    assert_near(rig_get(&rig, "base.angular_velocity", 2), 0.001 * 0.025 / 4.3e-3, 2e-6);
}

// ---- drag ---------------------------------------------------------------------------------------

TEST(quadratic_drag_ends_the_fall) {
    AUTO_RIG rig = rig_open(WITH(rig_config(), .quadrotor.mass = 1.0, .quadrotor.body_drag[2] = 0.1,
                                 .config.command = MF_QUADROTOR_ROTORS));
    set_fields(rig.group, "rotor.speed", 0, 4, (double[4]){0, 0, 0, 0});
    set_fields(rig.group, "command.rotors", 0, 4, (double[4]){0, 0, 0, 0});
    mf_world_step(rig.world, 1000);
    assert_near(rig_get(&rig, "base.linear_velocity", 2), -7.5032474, 5e-8);
    mf_world_step(rig.world, 19000);
    assert_near(rig_get(&rig, "base.linear_velocity", 2), -9.9045444, 5e-8);
}

// Rotors at one speed brake by the same in all directions: a projectile with linear drag, which has
// a closed form, in a wind.
TEST(linear_drag_follows_its_closed_form) {
    const double wind[3] = {2.0, -1.0, 0.5}, start[3] = {10.0, 3.0, 12.0}, time = 2.0;
    RigConfig config = rig_config();
    for (int i = 0; i < 3; i++)
        config.quadrotor.rotor_drag[i] = 1e-3;
    config.config.command = MF_QUADROTOR_ROTORS;
    AUTO_RIG rig = rig_open(config);
    set_fields(rig.group, "rotor.speed", 0, 4, (double[4]){100, 100, 100, 100});
    set_fields(rig.group, "command.rotors", 0, 4, (double[4]){100, 100, 100, 100});
    set_fields(rig.group, "base.position", 0, 3, (double[3]){0, 0, 0});
    set_fields(rig.group, "base.linear_velocity", 0, 3, start);
    set_fields(rig.group, "wind.velocity", 0, 3, wind);
    mf_world_step(rig.world, 2000);
    const double k = 4.0 * 100.0 * 1e-3 / 0.752;
    const double rest[3] = {0, 0, 4.0 * 1.562522e-6 * 1e4 / 0.752 - 9.81};
    for (uint32_t c = 0; c < 3; c++) {
        double last = wind[c] + rest[c] / k, gap = start[c] - last, fade = exp(-k * time);
        assert_near(rig_get(&rig, "base.linear_velocity", c), last + gap * fade, 1e-10);
        assert_near(rig_get(&rig, "base.position", c), last * time + gap * (1.0 - fade) / k, 1e-10);
    }
    assert_near(rig_get(&rig, "base.orientation", 0), 1.0, 1e-12);
}

// ---- free rotation ------------------------------------------------------------------------------

static Rig open_brick(double step, bool products) {
    // NASA NESC check cases: a brick of 0.155404754 slug; with products the same body in axes
    // turned by 30 degrees about z.
    RigConfig config = rig_config();
    const double unit = 1.3558179483314004; // [kg m^2] of a slug ft^2
    const double xx = 0.00189422 * unit, yy = 0.006211019 * unit, zz = 0.007194665 * unit;
    const double inertia[6] = {xx, yy, zz, 0, 0, 0};
    const double rotated[6] = {
        0.75 * xx + 0.25 * yy, 0.25 * xx + 0.75 * yy, zz, sqrt(0.1875) * (xx - yy), 0, 0};
    config.quadrotor.mass = 2.26796190;
    memcpy(config.quadrotor.inertia, products ? rotated : inertia, sizeof inertia);
    config.world.gravity = 0.0;
    config.world.step = mf_time_from_seconds(step);
    config.quadrotor.motor_time_constant = 1.0;
    config.config.command = MF_QUADROTOR_ROTORS;
    Rig rig = rig_open(config);
    const double rate[3] = {10 * degree, 20 * degree, 30 * degree};
    const double c = sqrt(0.75), s = 0.5;
    const double other[3] = {c * rate[0] - s * rate[1], s * rate[0] + c * rate[1], rate[2]};
    set_fields(rig.group, "base.angular_velocity", 0, 3, products ? other : rate);
    return rig;
}

TEST(the_brick_tumbles_as_published) {
    static const double expected[4][4] = {{5, -16.939485149, 9.631939377, 33.406628079},
                                          {10, -2.418902222, -23.552569520, 28.128592630},
                                          {20, -5.422734680, 22.715930576, 28.608281747},
                                          {30, 12.618390776, -17.397474762, 31.119588887}};
    AUTO_RIG rig = open_brick(1e-3, false);
    for (int row = 0, now = 0; row < 4; row++) {
        mf_world_step(rig.world, (uint64_t)(1000 * ((int)expected[row][0] - now)));
        now = (int)expected[row][0];
        for (uint32_t c = 0; c < 3; c++)
            assert_near(rig_get(&rig, "base.angular_velocity", c) / degree, expected[row][1 + c],
                        2e-9);
    }
}

// The same body in other axes: the products of inertia do what the principal values do.
TEST(products_of_inertia_turn_with_the_axes) {
    AUTO_RIG rig = open_brick(1e-3, true);
    mf_world_step(rig.world, 5000);
    double x = rig_get(&rig, "base.angular_velocity", 0) / degree;
    double y = rig_get(&rig, "base.angular_velocity", 1) / degree;
    assert_near(sqrt(0.75) * x + 0.5 * y, -16.939485149, 2e-9);
    assert_near(sqrt(0.75) * y - 0.5 * x, 9.631939377, 2e-9);
    assert_near(rig_get(&rig, "base.angular_velocity", 2) / degree, 33.406628079, 2e-9);
}

static void read_spin(const Rig *rig, double momentum[3], double *energy) {
    const double inertia[3] = {0.00189422, 0.006211019, 0.007194665}; // only ratios matter
    double q[4], w[3], l[3];
    *energy = 0.0;
    get_fields(rig->group, "base.orientation", 0, 4, q);
    for (uint32_t c = 0; c < 3; c++) {
        w[c] = rig_get(rig, "base.angular_velocity", c);
        l[c] = inertia[c] * w[c];
        *energy += 0.5 * l[c] * w[c];
    }
    const double rotation[9] = {
        1 - 2 * (q[2] * q[2] + q[3] * q[3]), 2 * (q[1] * q[2] - q[0] * q[3]),
        2 * (q[1] * q[3] + q[0] * q[2]),     2 * (q[1] * q[2] + q[0] * q[3]),
        1 - 2 * (q[1] * q[1] + q[3] * q[3]), 2 * (q[2] * q[3] - q[0] * q[1]),
        2 * (q[1] * q[3] - q[0] * q[2]),     2 * (q[2] * q[3] + q[0] * q[1]),
        1 - 2 * (q[1] * q[1] + q[2] * q[2])};
    for (int c = 0; c < 3; c++)
        momentum[c] =
            rotation[3 * c] * l[0] + rotation[3 * c + 1] * l[1] + rotation[3 * c + 2] * l[2];
}

TEST(a_free_body_keeps_energy_and_momentum) {
    double before[3], after[3], first, last, size = 0.0;
    AUTO_RIG rig = open_brick(1e-3, false);
    read_spin(&rig, before, &first);
    mf_world_step(rig.world, 100000);
    read_spin(&rig, after, &last);
    for (int c = 0; c < 3; c++)
        size += before[c] * before[c];
    assert_near(last / first, 1.0, 1e-11);
    for (int c = 0; c < 3; c++)
        assert_near(after[c] / sqrt(size), before[c] / sqrt(size), 1e-10);
}

// ---- orders -------------------------------------------------------------------------------------

static void fly_for_order(mf_Integrator integrator, double step, bool hard, double out[13]) {
    RigConfig config =
        WITH(rig_config(), .config.command = MF_QUADROTOR_ROTORS, .config.integrator = integrator,
             .world.step = mf_time_from_seconds(step));
    if (hard) { // everything that the plain path leaves out
        config.quadrotor.inertia[3] = 2e-4;
        config.quadrotor.rotor_drag[0] = config.quadrotor.rotor_drag[1] = 1e-4;
        config.quadrotor.body_drag[2] = 0.02;
    }
    AUTO_RIG rig = rig_open(config);
    set_fields(rig.group, "command.rotors", 0, 4, (double[4]){1120, 1100, 1090, 1095});
    set_fields(rig.group, "base.angular_velocity", 0, 3, (double[3]){0.5, -0.3, 0.8});
    set_fields(rig.group, "base.linear_velocity", 0, 3, (double[3]){1.0, 2.0, -3.0});
    set_fields(rig.group, "base.position", 0, 3, (double[3]){0, 0, 0});
    mf_world_step(rig.world, (uint64_t)(0.4 / step + 0.5));
    for (uint32_t c = 0; c < 3; c++) {
        out[c] = rig_get(&rig, "base.position", c);
        out[3 + c] = rig_get(&rig, "base.linear_velocity", c);
        out[6 + c] = rig_get(&rig, "base.angular_velocity", c);
        out[9 + c] = rig_get(&rig, "base.orientation", c);
    }
    out[12] = rig_get(&rig, "base.orientation", 3);
    assert_int_equal(mf_group_fault(rig.group, 0), 0);
}

static double order_error(mf_Integrator integrator, double step, bool hard,
                          const double exact[13]) {
    double got[13], sum = 0.0;
    fly_for_order(integrator, step, hard, got);
    for (int c = 0; c < 13; c++)
        sum += (got[c] - exact[c]) * (got[c] - exact[c]);
    return sqrt(sum);
}

TEST(every_integrator_has_its_order) {
    static const struct {
        mf_Integrator integrator;
        double order, slack;
    } rows[] = {{MF_INTEGRATOR_EULER, 1.0, 0.1},
                {MF_INTEGRATOR_SEMI_IMPLICIT, 1.0, 0.1},
                {MF_INTEGRATOR_HEUN, 2.0, 0.1},
                {MF_INTEGRATOR_RK4, 4.0, 0.15}};
    for (int hard = 0; hard < 2; hard++) {
        double exact[13];
        fly_for_order(MF_INTEGRATOR_RK4, 1e-4, hard != 0, exact);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            double coarse = order_error(rows[i].integrator, 4e-3, hard != 0, exact);
            double fine = order_error(rows[i].integrator, 2e-3, hard != 0, exact);
            assert_near(log2(coarse / fine), rows[i].order, rows[i].slack);
        }
    }
}

// ---- refusals -----------------------------------------------------------------------------------

// Of several parameters; what single ones may be is in test_settings.c.
TEST(impossible_rotors_are_refused) {
    mf_Quadrotor q = mf_quadrotor();
    memset(q.rotor_y, 0, sizeof q.rotor_y);
    MUST_FAIL(mf_quadrotor_check(&q, &error), MF_BAD_ARGUMENT, "cannot be inverted");
    q = WITH(mf_quadrotor(), .rotor_direction[0] = 1.0, .rotor_direction[2] = 1.0);
    MUST_FAIL(mf_quadrotor_check(&q, &error), MF_BAD_ARGUMENT, "cannot be inverted");
    q = WITH(mf_quadrotor(), .rotor_x[1] = 0.075, .rotor_y[1] = 0.1);
    MUST_FAIL(mf_quadrotor_check(&q, &error), MF_BAD_ARGUMENT, "not between the rotors");
    q = mf_quadrotor();
    for (int i = 0; i < 4; i++)
        q.rotor_x[i] += 0.2;
    MUST_FAIL(mf_quadrotor_check(&q, &error), MF_BAD_ARGUMENT, "not between the rotors");
    const mf_Quadrotor good[] = {mf_quadrotor(), crazyflie(), hummingbird()};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        MUST(mf_quadrotor_check(&good[i], &error));
}

TEST(settings_that_do_not_fit_are_refused) {
    RigConfig config = rig_config();
    AUTO_RIG rig = rig_open(config);
    mf_Group *second =
        add_group(rig.world, &WITH(mf_group_config(), .model = rig.model, .name = "second"));
    const mf_QuadrotorConfig slow = WITH(config.config, .control_interval = 4 * MF_MILLISECOND,
                                         .outer_interval = 6 * MF_MILLISECOND);
    const mf_Quadrotor heavy = WITH(config.quadrotor, .mass = 1.0),
                       fast = WITH(config.quadrotor, .motor_time_constant = 4e-4);
    MUST_FAIL(rig_add_quadrotor(second, &config.quadrotor, &slow, &error), MF_BAD_ARGUMENT,
              "quadrotor.outer_interval");
    MUST_FAIL(rig_add_quadrotor(second, &heavy, NULL, &error), MF_BAD_ARGUMENT, "quadrotor.mass");
    MUST_FAIL(rig_add_quadrotor(second, &fast, NULL, &error), MF_BAD_ARGUMENT, "");
    assert_false(mf_motion_in(second, MF_MOTION_QUADROTOR));
    MUST(rig_add_quadrotor(second, &config.quadrotor, NULL, &error));
    const mf_QuadrotorMotion *motion = mf_motion_plan(second, &mf_quadrotor_row);
    assert_near(motion->parameters.mass, 0.752, 0.0);
    assert_int_equal(motion->config.command, MF_QUADROTOR_RATES);
}
