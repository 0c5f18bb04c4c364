// A car's motion against closed forms and independent numbers: circles, steady cornering, yaw gain,
// top speed, order of the integrators, energy, symmetry, reversing, standing, slopes, wind.
#include "motion/car_rig.h"
#include "motion/vehicle/body.h"

// ---- circles ------------------------------------------------------------------------------------

// Validation case G10: without slip the rear axle runs on a circle of radius L / tan(d).
static void check_circle(double speed, double angle) {
    RigConfig config = rig_config(MF_CAR_KINEMATIC, MF_CAR_COMMAND_DRIVE);
    config.car.rolling = config.car.drag = 0.0;
    AUTO_RIG rig = rig_open(config);
    rig_steer(&rig, angle);
    rig_set(&rig, "base.linear_velocity", 0, speed);
    const double base = config.car.front + config.car.rear, seconds = 3.0;
    const double radius = base / tan(angle), rotated = speed * seconds / radius;
    rig_run(&rig, seconds);
    // The rear axle begins at (-l_r, 0) and its circle is centered at (-l_r, radius).
    double x = -config.car.rear + radius * sin(rotated) + config.car.rear * cos(rotated);
    double y = radius - radius * cos(rotated) + config.car.rear * sin(rotated);
    assert_near(rig_get(&rig, "base.position", 0), x, 1e-9);
    assert_near(rig_get(&rig, "base.position", 1), y, 1e-9);
    assert_near(remainder(rig_heading(&rig) - rotated, 2 * 3.14159265358979324), 0.0, 1e-8);
    assert_near(rig_get(&rig, "base.angular_velocity", 2), speed / radius, 1e-10);
    assert_near(rig_speed(&rig), speed, 1e-11);
}

TEST(a_car_without_slip_drives_circles) {
    check_circle(1.0, 0.2);
    check_circle(2.5, -0.05);
    check_circle(-0.7, 0.3); // backwards
}

// ---- tires --------------------------------------------------------------------------------------

// Validation cases G11 and G13: steady values at a held forward speed, from an independent solution
// of the equations in double precision.
typedef struct Cornering {
    double speed, angle, yaw_rate;
} Cornering;

TEST(steady_cornering_has_the_published_values) {
    static const Cornering cases[] = {{1.0, 0.05, 0.68402054},
                                      {1.0, 0.1, 1.36400799},
                                      {2.0, 0.05, 0.93231514},
                                      {1.5, 0.1, 1.69873689}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        RigConfig config =
            rig_config(i % 2 ? MF_CAR_DYNAMIC : MF_CAR_BLENDED, MF_CAR_COMMAND_SPEED);
        config.car.speed_integral = 16.0; // the speed has settled to all digits after a minute
        double along, across;
        AUTO_RIG rig = rig_open(config);
        rig_set(&rig, "command.speed", 0, cases[i].speed);
        rig_steer(&rig, cases[i].angle);
        rig_run(&rig, 60.0);
        rig_velocity(&rig, &along, &across);
        double angle = rig_get(&rig, "base.angular_velocity", 2);
        assert_near(along, cases[i].speed, 1e-9);
        assert_near(angle, cases[i].yaw_rate, 1.5e-8);
        if (i == 0) {
            assert_near(across, 0.00495487, 1e-8);
            double front = 0.05 - atan((across + 0.029 * angle) / along);
            double rear = -atan((across - 0.033 * angle) / along);
            assert_near(front, 0.02521361, 1e-8);
            assert_near(rear, 0.01761599, 1e-8);
        }
    }
}

static double yaw_gain(const RigConfig *config, double speed) {
    const double angle = 1e-4;
    AUTO_RIG rig = rig_open(*config);
    rig_set(&rig, "command.speed", 0, speed);
    rig_steer(&rig, angle);
    rig_run(&rig, 40.0);
    assert_near(rig_speed(&rig), speed, 1e-7);
    double gain = rig_get(&rig, "base.angular_velocity", 2) / angle;
    return gain;
}

// r / d = V / (L (1 + K V^2)) with K = 0.1778588 s^2/m^2; backwards the axles change places and K
// its sign. A car with equal axles is neutral: V / L, whatever presses it to the ground.
TEST(the_yaw_gain_is_that_of_the_linear_car) {
    RigConfig config = rig_config(MF_CAR_DYNAMIC, MF_CAR_COMMAND_SPEED);
    config.car.speed_integral = 16.0;
    assert_near(yaw_gain(&config, 1.0), 0.6846760 / 0.05, 2e-5);
    config.config.tire = MF_CAR_TIRE_LINEAR;
    assert_near(yaw_gain(&config, 1.0), 0.6846760 / 0.05, 2e-5);
    assert_near(yaw_gain(&config, -0.8), -0.8 / (0.062 * (1.0 - 0.1778588 * 0.64)), 5e-5);
    config.car = rig_car("car_racing");
    config.car.speed_integral = 4.0;
    config.config.tire = MF_CAR_TIRE_CURVATURE;
    assert_near(yaw_gain(&config, 10.0), 10.0 / 1.53, 2e-5);
}

// Straight ahead, the motor's force stays within the ellipse: (D / 2 - 180 N - 0.7 v^2) / (m + m_w)
// with D = 1.6 * 190 kg * 9.81 m/s^2 / 2 * (1 + downforce / weight).
TEST(the_ellipse_limits_the_drive) {
    AUTO_RIG rig = rig_open(WITH(rig_config(MF_CAR_DYNAMIC, MF_CAR_COMMAND_DRIVE),
                                 .car = rig_car("car_racing"), .car.ellipse = 0.5,
                                 .car.downforce = 0.0, .car.drag = 0.0));
    rig_set(&rig, "command.duty", 0, 1.0);
    rig_set(&rig, "base.linear_velocity", 0, 5.0);
    rig_run(&rig, 1.0);
    const double wheels = 4.0 * 0.4 / (0.231 * 0.231);
    assert_near(rig_speed(&rig), 5.0 + (745.56 - 180.0) / (190.0 + wheels), 1e-9);
}

// ---- along the road -----------------------------------------------------------------------------

// Validation case G14: (Cm1 - Cm2 v) = Cr0 + Cr2 v^2.
TEST(the_top_speed_is_where_the_forces_balance) {
    for (int sign = -1; sign <= 1; sign += 2) {
        AUTO_RIG rig = rig_open(rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_DRIVE));
        rig_set(&rig, "command.duty", 0, sign);
        rig_run(&rig, 20.0);
        assert_near(rig_speed(&rig), sign * 4.2021936, 1e-6);
        assert_near(rig_get(&rig, "base.position", 1), 0.0, 0.0);
    }
}

// u' = -k u |u| for the speed u against the air, so u = u0 / (1 + k u0 t).
TEST(the_air_slows_as_the_closed_form) {
    AUTO_RIG rig = rig_open(WITH(rig_config(MF_CAR_DYNAMIC, MF_CAR_COMMAND_DRIVE),
                                 .car.rolling = 0.0, .car.drag = 0.02));
    rig_set(&rig, "base.linear_velocity", 0, 3.0);
    rig_set(&rig, "wind.velocity", 0, -2.0);
    rig_run(&rig, 0.5);
    double k = 0.02 / 0.041;
    assert_near(rig_speed(&rig), 5.0 / (1.0 + k * 5.0 * 0.5) - 2.0, 1e-10);
}

// With the lag the rest of the way shrinks by e in each time constant; the rate comes first.
TEST(the_steering_has_rate_and_lag) {
    RigConfig config = rig_config(MF_CAR_KINEMATIC, MF_CAR_COMMAND_DRIVE);
    config.car.steering_rate = 2.0;
    AUTO_RIG rig = rig_open(config);
    rig_set(&rig, "command.steering", 0, 0.3);
    rig_run(&rig, 0.1);
    assert_near(rig_get(&rig, "car.steering", 0), 0.2, 1e-12);
    rig_run(&rig, 0.06);
    assert_near(rig_get(&rig, "car.steering", 0), 0.3, 1e-15);
    rig_close(&rig);
    config.car.steering_rate = 100.0;
    config.car.steering_lag = 0.05;
    rig = rig_open(config);
    rig_set(&rig, "command.steering", 0, 0.3);
    rig_run(&rig, 0.1);
    assert_near(rig_get(&rig, "car.steering", 0), 0.3 * (1.0 - exp(-2.0)), 1e-9);
}

// ---- order --------------------------------------------------------------------------------------

// Where a turn at 2 m/s with full tire forces ends, with steps of `step`.
static void arc_end(mf_Integrator integrator, mf_Time step, double out[3]) {
    AUTO_RIG rig =
        rig_open(WITH(rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_DRIVE), .world.step = step,
                      .config.integrator = integrator, .car.steering_lag = 0.1));
    rig_set(&rig, "command.steering", 0, 0.12);
    rig_set(&rig, "command.duty", 0, 0.4);
    rig_set(&rig, "base.linear_velocity", 0, 2.0);
    rig_run(&rig, 0.512);
    for (uint32_t c = 0; c < 2; c++)
        out[c] = rig_get(&rig, "base.position", c);
    out[2] = rig_heading(&rig);
}

TEST(integrators_have_their_order) {
    static const struct {
        mf_Integrator integrator;
        double order, tolerance;
    } cases[] = {{MF_INTEGRATOR_EULER, 1, 0.15},
                 {MF_INTEGRATOR_SEMI_IMPLICIT, 1, 0.15},
                 {MF_INTEGRATOR_HEUN, 2, 0.15},
                 {MF_INTEGRATOR_RK4, 4, 0.15}};
    double truth[3], coarse[3], fine[3];
    arc_end(MF_INTEGRATOR_RK4, MF_MILLISECOND / 8, truth);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        arc_end(cases[i].integrator, 4 * MF_MILLISECOND, coarse);
        arc_end(cases[i].integrator, 2 * MF_MILLISECOND, fine);
        double order = log2(distance3(coarse, truth) / distance3(fine, truth));
        print_message("%s: order %.3f, error %.2e at 2 ms\n",
                      mf_integrator_names[cases[i].integrator], order, distance3(fine, truth));
        assert_near(order, cases[i].order, cases[i].tolerance);
    }
}

// Single precision keeps to double within what rounding of places and turns adds up to.
TEST(float_follows_double) {
    double position[2][2];
    for (int precise = 0; precise < 2; precise++) {
        AUTO_RIG rig = rig_open(WITH(rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_DRIVE),
                                     .group.double_precision = precise));
        rig_set(&rig, "command.duty", 0, 0.3);
        rig_set(&rig, "command.steering", 0, 0.1);
        rig_run(&rig, 5.0);
        for (uint32_t c = 0; c < 2; c++)
            position[precise][c] = rig_get(&rig, "base.position", c);
    }
    assert_near(position[0][0], position[1][0], 1e-3);
    assert_near(position[0][1], position[1][1], 1e-3);
    assert_true(position[0][0] != position[1][0]);
}

// ---- energy -------------------------------------------------------------------------------------

// Tires, rolling and air only take energy, however the car slides; in the end it stands exactly.
TEST(a_coasting_car_never_gains_energy) {
    for (uint64_t n = 0; n < 40; n++) {
        AUTO_RIG rig = rig_open(rig_config(MF_CAR_DYNAMIC, MF_CAR_COMMAND_DRIVE));
        rig_steer(&rig, 0.35 * random_signed(1, n));
        rig_set(&rig, "base.linear_velocity", 0, 3.0 * random_signed(2, n));
        rig_set(&rig, "base.linear_velocity", 1, 2.0 * random_signed(3, n));
        rig_set(&rig, "base.angular_velocity", 2, 20.0 * random_signed(4, n));
        double before = car_energy(&rig), first = before;
        for (int i = 0; i < 4000; i++) {
            rig_step(&rig, 1);
            double after = car_energy(&rig);
            if (!(after <= before + 1e-15 * first))
                fail_msg("car %d, step %d: %.17g J after %.17g", (int)n, i, after, before);
            before = after;
        }
        assert_near(rig_speed(&rig), 0.0, 1e-9);
        assert_int_equal(mf_group_fault_total(rig.group), 0);
    }
}

TEST(a_coasting_car_comes_to_rest_exactly) {
    for (int model = MF_CAR_KINEMATIC; model <= MF_CAR_BLENDED; model++) {
        AUTO_RIG rig =
            rig_open(WITH(rig_config((mf_CarModel)model, MF_CAR_COMMAND_DRIVE), .car.drag = 0.0));
        rig_set(&rig, "base.linear_velocity", 0, 2.0);
        rig_run(&rig, 2.0);
        // v^2 / (2 a) with a = Cr0 / m; the last step is cut off.
        double distance = 4.0 / (2.0 * 0.0518 / 0.041);
        assert_near(rig_get(&rig, "base.position", 0), distance, 2e-6);
        assert_true(rig_get(&rig, "base.linear_velocity", 0) == 0.0);
    }
}

// ---- symmetry -----------------------------------------------------------------------------------

TEST(left_and_right_are_mirror_images_to_the_bit) {
    static const mf_CarCommand modes[] = {MF_CAR_COMMAND_DRIVE, MF_CAR_COMMAND_CIRCLE,
                                          MF_CAR_COMMAND_WAYPOINT};
    static const struct {
        const char *name;
        uint32_t component;
        bool odd;
    } rows[] = {{"base.position", 0, false},
                {"base.position", 1, true},
                {"base.orientation", 0, false},
                {"base.orientation", 3, true},
                {"base.linear_velocity", 0, false},
                {"base.linear_velocity", 1, true},
                {"base.angular_velocity", 2, true},
                {"car.steering", 0, true},
                {"car.duty", 0, false}};
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        for (int precise = 0; precise < 2; precise++) {
            AUTO_RIG rig = rig_open(WITH(rig_config(MF_CAR_BLENDED, modes[m]), .group.count = 2,
                                         .group.double_precision = precise));
            for (uint32_t i = 0; i < 2; i++) {
                double side = i == 0 ? 1.0 : -1.0;
                if (modes[m] == MF_CAR_COMMAND_DRIVE) {
                    set_field(rig.group, "command.duty", i, 0, 0.6);
                    set_field(rig.group, "command.steering", i, 0, 0.21 * side);
                } else {
                    bool circle = modes[m] == MF_CAR_COMMAND_CIRCLE;
                    mf_Field *position =
                        rig_field(&rig, circle ? "command.circle" : "command.waypoint");
                    set_field(rig.group, "command.speed", i, 0, 1.3);
                    mf_field_set(position, i, 0, 0.3);
                    mf_field_set(position, i, 1, 0.7 * side);
                    if (circle)
                        mf_field_set(position, i, 2, 0.5 * side);
                }
            }
            rig_run(&rig, 2.0);
            for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
                mf_Field *field = rig_field(&rig, rows[r].name);
                double left = mf_field_get(field, 0, rows[r].component);
                double right = mf_field_get(field, 1, rows[r].component);
                assert_true(left == (rows[r].odd ? -right : right));
                assert_true(r == 0 || left != 0.0 || r == 8);
            }
        }
    }
}

// ---- standing and slopes ------------------------------------------------------------------------

TEST(a_standing_car_stays_to_the_bit) {
    static const char *const names[] = {"base.position", "base.orientation", "base.linear_velocity",
                                        "base.angular_velocity"};
    for (int model = MF_CAR_KINEMATIC; model <= MF_CAR_BLENDED; model++) {
        for (int precise = 0; precise < 2; precise++) {
            double before[14], after[14];
            AUTO_RIG rig = rig_open(WITH(rig_config((mf_CarModel)model, MF_CAR_COMMAND_DRIVE),
                                         .group.double_precision = precise,
                                         .slope = model == MF_CAR_DYNAMIC ? 0.0 : 0.2));
            rig_set(&rig, "command.brake", 0, 1.0);
            for (int pass = 0; pass < 2; pass++) {
                double *out = pass == 0 ? before : after;
                for (int f = 0, n = 0; f < 4; f++)
                    for (uint32_t c = 0; c < rig_field(&rig, names[f])->components; c++)
                        out[n++] = rig_get(&rig, names[f], c);
                rig_set(&rig, "command.steering", 0, 0.3);
                rig_set(&rig, "wind.velocity", 0, 2.0);
                if (pass == 0)
                    rig_step(&rig, 2000);
            }
            for (int i = 0; i < 13; i++)
                if (before[i] != after[i])
                    fail_msg("model %d: value %d was %.17g, is %.17g", model, i, before[i],
                             after[i]);
        }
    }
}

// Down the slope with g sin(a), and what was height is speed; the car lies on the plane.
TEST(a_car_rolls_down_a_slope_as_a_block_slides) {
    const double angle = 0.2, seconds = 0.8;
    for (int model = MF_CAR_KINEMATIC; model <= MF_CAR_BLENDED; model++) {
        AUTO_RIG rig = rig_open(WITH(rig_config((mf_CarModel)model, MF_CAR_COMMAND_DRIVE),
                                     .car.rolling = 0.0, .car.drag = 0.0, .slope = angle));
        double height = rig_get(&rig, "base.position", 2);
        rig_run(&rig, seconds);
        double speed = 9.81 * sin(angle) * seconds, direction = 0.5 * speed * seconds;
        assert_near(rig_get(&rig, "base.position", 0), -direction * cos(angle), 1e-9);
        assert_near(rig_get(&rig, "base.position", 2), height - direction * sin(angle), 1e-9);
        assert_near(rig_get(&rig, "base.linear_velocity", 0), -speed * cos(angle), 1e-9);
        assert_near(rig_get(&rig, "base.linear_velocity", 2), -speed * sin(angle), 1e-9);
        double pitch =
            2.0 * atan2(rig_get(&rig, "base.orientation", 2), rig_get(&rig, "base.orientation", 0));
        assert_near(pitch, -angle, 1e-9); // nose up, towards +x
    }
}

// Rolling resistance holds a car up to sin(a) = Cr0 / (m g): 7.39 degrees for the 1:43 car.
TEST(rolling_resistance_holds_on_a_slope_up_to_its_limit) {
    const double limit = asin(0.0518 / (0.041 * 9.81));
    for (int steeper = 0; steeper < 2; steeper++) {
        RigConfig config = rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_DRIVE);
        config.slope = limit * (steeper ? 1.001 : 0.999);
        AUTO_RIG rig = rig_open(config);
        double x = rig_get(&rig, "base.position", 0);
        rig_run(&rig, 2.0);
        double moved = x - rig_get(&rig, "base.position", 0);
        if (steeper)
            assert_near(moved, 0.5 * 9.81 * 4.0 * (sin(config.slope) - sin(limit)) * cos(limit),
                        1e-4);
        else
            assert_true(moved == 0.0);
    }
}

// Without losses the energy of a car that is driven by its weight alone over hills is kept.
TEST(energy_is_kept_over_hills) {
    AUTO_RIG rig = rig_open(WITH(rig_config(MF_CAR_KINEMATIC, MF_CAR_COMMAND_DRIVE),
                                 .car.rolling = 0.0, .car.drag = 0.0, .rough = true));
    rig_set(&rig, "base.linear_velocity", 0, 2.0);
    rig_step(&rig, 1);
    double weight = 0.041 * 9.81, least = 1e9, most = -1e9;
    double first = car_energy(&rig) + weight * rig_get(&rig, "base.position", 2);
    for (int i = 0; i < 2000; i++) {
        rig_step(&rig, 1);
        double height = rig_get(&rig, "base.position", 2);
        least = fmin(least, height);
        most = fmax(most, height);
        double energy = car_energy(&rig) + weight * height;
        assert_near(energy, first, 0.01 * first);
    }
    assert_true(most - least > 0.01); // there were hills
}
