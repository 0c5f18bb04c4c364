// Quality of the control loops of the three published cars: speed steps, a circle, a line, a figure
// eight and a rounded track, stops at positions. The measured values are those of the tables in
// docs/explanation/vehicles.md.
#include "motion/car_rig.h"

static const double pi = 3.14159265358979323846;

typedef struct Vehicle {
    const char *name;
    mf_Car car;
    mf_CarTire tire;
    double speed; // [m/s] of the tests
} Vehicle;

enum { VEHICLES = 3 };

static Vehicle vehicle(int index) {
    switch (index) {
    case 0:
        return (Vehicle){"1:43", mf_car(), MF_CAR_TIRE_PACEJKA, 1.0};
    case 1:
        return (Vehicle){"full size", rig_car("car_full_size"), MF_CAR_TIRE_PACEJKA, 12.0};
    default:
        return (Vehicle){"race car", rig_car("car_racing"), MF_CAR_TIRE_CURVATURE, 10.0};
    }
}

static double wheelbase(const Vehicle *v) {
    return v->car.front + v->car.rear;
}

static RigConfig vehicle_config(const Vehicle *v, mf_CarCommand command) {
    return WITH(rig_config(MF_CAR_BLENDED, command), .car = v->car, .config.tire = v->tire);
}

// ---- speed --------------------------------------------------------------------------------------

typedef struct Response {
    double rise;      // [s] from 10 % to 90 %
    double overshoot; // [1] of the step
    double error;     // [m/s] at the end
} Response;

static Response speed_step(const Vehicle *v) {
    RigConfig config = vehicle_config(v, MF_CAR_COMMAND_SPEED);
    Response r = {0};
    double low = 0.0, top = 0.0, speed = 0.0;
    AUTO_RIG rig = rig_open(config);
    rig_set(&rig, "command.speed", 0, v->speed);
    for (int i = 1; i <= 20000; i++) {
        rig_step(&rig, 1);
        speed = rig_speed(&rig);
        top = fmax(top, speed);
        if (low == 0.0 && speed >= 0.1 * v->speed)
            low = i * 1e-3;
        if (r.rise == 0.0 && speed >= 0.9 * v->speed)
            r.rise = i * 1e-3 - low;
    }
    r.overshoot = top / v->speed - 1.0;
    r.error = fabs(speed - v->speed);
    return r;
}

TEST(speed_steps_are_followed) {
    for (int i = 0; i < VEHICLES; i++) {
        Vehicle v = vehicle(i);
        Response r = speed_step(&v);
        print_message("%s: 0 to %g m/s: rise %.3f s, overshoot %.2f %%, error %.1e m/s\n", v.name,
                      v.speed, r.rise, 100.0 * r.overshoot, r.error);
        assert_true(r.rise > 0.0 && r.rise < 1.1 * 0.8 * v.speed / v.car.acceleration + 0.3);
        assert_true(r.overshoot < 0.06);
        assert_true(r.error < 1e-4 * v.speed);
    }
}

TEST(a_car_brakes_to_a_stop_and_reverses) {
    for (int i = 0; i < VEHICLES; i++) {
        Vehicle v = vehicle(i);
        AUTO_RIG rig = rig_open(vehicle_config(&v, MF_CAR_COMMAND_SPEED));
        rig_set(&rig, "base.linear_velocity", 0, v.speed);
        rig_set(&rig, "command.speed", 0, 0.0);
        double expected = v.speed * v.speed / (2.0 * v.car.braking);
        rig_run(&rig, 10.0);
        double distance = rig_get(&rig, "base.position", 0);
        assert_true(rig_get(&rig, "base.linear_velocity", 0) == 0.0);
        assert_true(distance > 0.9 * expected && distance < 1.4 * expected);
        rig_set(&rig, "command.speed", 0, -0.5 * v.speed);
        rig_run(&rig, 15.0);
        assert_near(rig_speed(&rig), -0.5 * v.speed, 1e-3 * v.speed);
        assert_near(rig_get(&rig, "base.position", 1), 0.0, 0.0);
    }
}

// Without brakes the motor stops the car.
TEST(a_car_without_brakes_stops_by_its_motor) {
    Vehicle v = vehicle(0);
    v.car.brake = 0.0;
    AUTO_RIG rig = rig_open(vehicle_config(&v, MF_CAR_COMMAND_SPEED));
    rig_set(&rig, "base.linear_velocity", 0, 2.0);
    rig_run(&rig, 5.0);
    assert_near(rig_speed(&rig), 0.0, 1e-6);
    assert_true(rig_get(&rig, "base.position", 0) < 1.5);
}

// The integral does not grow while the motor gives all it has: after a commanded speed that the car
// cannot reach, a lower one is met without delay.
TEST(the_speed_loop_does_not_wind_up) {
    Vehicle v = vehicle(0);
    v.car.motor = 0.12;
    v.car.motor_slope = 0.04;
    AUTO_RIG rig = rig_open(vehicle_config(&v, MF_CAR_COMMAND_SPEED));
    rig_set(&rig, "command.speed", 0, 3.5);
    rig_run(&rig, 60.0);
    double top = rig_speed(&rig);
    assert_true(top > 1.5 && top < 1.8); // 0.12 - 0.0518 = 0.04 v + 0.00035 v^2
    assert_near(rig_get(&rig, "car.duty", 0), 1.0, 0.0);
    rig_set(&rig, "command.speed", 0, 0.5 * top);
    double least = top;
    for (int i = 0; i < 5000; i++) {
        rig_step(&rig, 1);
        least = fmin(least, rig_speed(&rig));
    }
    assert_near(rig_speed(&rig), 0.5 * top, 1e-3);
    assert_true(least > 0.4 * top);
}

// ---- paths --------------------------------------------------------------------------------------

static void rear_axle(const Rig *rig, double out[2]) {
    const mf_Car *car = mf_vehicle_parameters(rig->group, MF_VEHICLE_CAR);
    const double a = rig_heading(rig), rear = car->rear;
    out[0] = rig_get(rig, "base.position", 0) - rear * cos(a);
    out[1] = rig_get(rig, "base.position", 1) - rear * sin(a);
}

static double follow_circle(const Vehicle *v, double radius) {
    RigConfig config = vehicle_config(v, MF_CAR_COMMAND_CIRCLE);
    double worst = 0.0, position[2];
    AUTO_RIG rig = rig_open(config);
    rig_set(&rig, "command.speed", 0, v->speed);
    set_field3(rig.group, "command.circle", 0, 2.0 * wheelbase(v), 0.0, radius);
    rig_run(&rig, 20.0);
    for (int i = 0; i < 10000; i++) {
        rig_step(&rig, 1);
        rear_axle(&rig, position);
        double distance = hypot(position[0] - 2.0 * wheelbase(v), position[1]);
        worst = fmax(worst, fabs(distance - fabs(radius)));
    }
    double angle = rig_get(&rig, "base.angular_velocity", 2);
    assert_true(angle * radius > 0.0);
    return worst;
}

TEST(circles_are_followed) {
    for (int i = 0; i < VEHICLES; i++) {
        Vehicle v = vehicle(i);
        double radius = i == 0 ? 0.6 : 30.0;
        double left = follow_circle(&v, radius), right = follow_circle(&v, -radius);
        print_message("%s: circle of %g m at %g m/s: off by %.4f m\n", v.name, radius, v.speed,
                      fmax(left, right));
        assert_true(fmax(left, right) < 0.1 * wheelbase(&v));
        assert_near(left, right, 1e-6 + 0.01 * left);
    }
}

// A circle that a car without slip starts on is kept exactly.
TEST(a_circle_is_kept_without_slip) {
    RigConfig config = rig_config(MF_CAR_KINEMATIC, MF_CAR_COMMAND_CIRCLE);
    double position[2];
    AUTO_RIG rig = rig_open(config);
    rig_set(&rig, "command.speed", 0, 1.0);
    set_field3(rig.group, "command.circle", 0, -config.car.rear, 0.5, 0.5);
    rig_set(&rig, "car.steering", 0, atan(0.062 / 0.5));
    rig_run(&rig, 10.0);
    rear_axle(&rig, position);
    assert_near(hypot(position[0] + config.car.rear, position[1] - 0.5), 0.5, 1e-6);
}

TEST(lines_are_followed) {
    for (int i = 0; i < VEHICLES; i++) {
        Vehicle v = vehicle(i);
        AUTO_RIG rig = rig_open(vehicle_config(&v, MF_CAR_COMMAND_LINE));
        rig_set(&rig, "command.speed", 0, v.speed);
        rig_set(&rig, "command.line", 1, wheelbase(&v));
        rig_set(&rig, "command.line", 2, 0.5);
        rig_run(&rig, 30.0);
        double x = rig_get(&rig, "base.position", 0), y = rig_get(&rig, "base.position", 1);
        double off = -sin(0.5) * x + cos(0.5) * (y - wheelbase(&v));
        assert_near(off, 0.0, 1e-3 * wheelbase(&v));
        assert_near(rig_heading(&rig), 0.5, 1e-3);
    }
}

enum { COURSE = 400 };

// A figure eight (Gerono's lemniscate) `size` long each way, and a track of two straights of `size`
// and two half circles of radius `size` / 2.
static void make_course(bool eight, double size, double positions[COURSE][2]) {
    for (int i = 0; i < COURSE; i++) {
        double t = 2.0 * pi * i / COURSE;
        if (eight) {
            positions[i][0] = size * sin(t);
            positions[i][1] = size * sin(t) * cos(t);
            continue;
        }
        int quarter = i / (COURSE / 4);
        double part = (double)(i % (COURSE / 4)) / (COURSE / 4), a = pi * (part - 0.5);
        double side = quarter < 2 ? 1.0 : -1.0;
        if (quarter % 2 == 0) {
            positions[i][0] = side * size * (part - 0.5);
            positions[i][1] = -side * 0.5 * size;
        } else {
            positions[i][0] = side * (0.5 * size + 0.5 * size * cos(a));
            positions[i][1] = side * 0.5 * size * sin(a);
        }
    }
}

static double distance_to_course(const double positions[COURSE][2], const double p[2]) {
    double best = INFINITY;
    for (int i = 0; i < COURSE; i++) {
        const double *a = positions[i], *b = positions[(i + 1) % COURSE];
        double ex = b[0] - a[0], ey = b[1] - a[1];
        double part = ((p[0] - a[0]) * ex + (p[1] - a[1]) * ey) / (ex * ex + ey * ey);
        part = fmin(fmax(part, 0.0), 1.0);
        best = fmin(best, hypot(p[0] - a[0] - part * ex, p[1] - a[1] - part * ey));
    }
    return best;
}

static double follow_course(const Vehicle *v, bool eight, double size, double *laps) {
    RigConfig config = vehicle_config(v, MF_CAR_COMMAND_PATH);
    double positions[COURSE][2], position[2], worst = 0.0, distance = 0.0;
    make_course(eight, size, positions);
    AUTO_RIG rig = rig_open(config);
    MUST(mf_car_set_path(rig.group, (const double(*)[2])positions, COURSE, true, &error));
    rig_set(&rig, "command.speed", 0, v->speed);
    double last = -1.0, length = 0.0;
    for (int i = 0; i < COURSE; i++)
        length += hypot(positions[(i + 1) % COURSE][0] - positions[i][0],
                        positions[(i + 1) % COURSE][1] - positions[i][1]);
    for (int i = 0; i < 60000; i++) {
        rig_step(&rig, 1);
        double progress = rig_get(&rig, "car.progress", 0);
        if (last >= 0.0)
            distance += remainder(progress - last, length);
        last = progress;
        rear_axle(&rig, position);
        if (i > 20000 && i % 10 == 0)
            worst = fmax(worst, distance_to_course((const double(*)[2])positions, position));
    }
    assert_int_equal(mf_group_fault_total(rig.group), 0);
    assert_near(rig_speed(&rig), v->speed, 0.05 * v->speed);
    *laps = distance / length;
    assert_true(distance > 0.9 * 60.0 * v->speed - 20.0 * v->speed); // all branches, none skipped
    return worst;
}

TEST(courses_are_followed) {
    for (int i = 0; i < VEHICLES; i++) {
        for (int eight = 0; eight < 2; eight++) {
            Vehicle v = vehicle(i);
            double laps, size = i == 0 ? 1.5 : i == 1 ? 90.0 : 60.0;
            double off = follow_course(&v, eight, size, &laps);
            print_message("%s: %s of %g m at %g m/s: off by %.4f m, %.1f laps\n", v.name,
                          eight ? "figure eight" : "track", size, v.speed, off, laps);
            assert_true(off < (eight ? 0.25 : 0.15) * wheelbase(&v));
        }
    }
}

// An open path ends: the car stands with its center of mass at the end.
TEST(a_car_stops_at_the_end_of_an_open_path) {
    for (int i = 0; i < VEHICLES; i++) {
        Vehicle v = vehicle(i);
        RigConfig config = vehicle_config(&v, MF_CAR_COMMAND_PATH);
        double far = i == 0 ? 3.0 : 80.0;
        const double positions[3][2] = {{0, 0}, {0.7 * far, 0}, {far, 0.1 * far}};
        AUTO_RIG rig = rig_open(config);
        MUST(mf_car_set_path(rig.group, positions, 3, false, &error));
        rig_set(&rig, "command.speed", 0, v.speed);
        rig_run(&rig, 40.0);
        double off = hypot(rig_get(&rig, "base.position", 0) - far,
                           rig_get(&rig, "base.position", 1) - 0.1 * far);
        print_message("%s: end of a path at %g m/s: off by %.4f m\n", v.name, v.speed, off);
        assert_true(off < 0.1 * wheelbase(&v));
        assert_true(rig_speed(&rig) == 0.0);
    }
}

// ---- places -------------------------------------------------------------------------------------

TEST(cars_stop_at_positions_all_around) {
    for (int i = 0; i < VEHICLES; i++) {
        Vehicle v = vehicle(i);
        RigConfig config = WITH(vehicle_config(&v, MF_CAR_COMMAND_WAYPOINT), .group.count = 48);
        double worst = 0.0;
        AUTO_RIG rig = rig_open(config);
        mf_Field *goal = rig_field(&rig, "command.waypoint");
        for (uint32_t n = 0; n < config.group.count; n++) {
            // Three rings; the nearest lies within the smallest turning circles.
            double distance = wheelbase(&v) * (n < 16 ? 2.0 : n < 32 ? 8.0 : 30.0);
            double angle = 2.0 * pi * (n % 16) / 16.0;
            set_field(rig.group, "command.speed", n, 0, v.speed);
            mf_field_set(goal, n, 0, distance * cos(angle));
            mf_field_set(goal, n, 1, distance * sin(angle));
        }
        rig_run(&rig, 60.0);
        for (uint32_t n = 0; n < config.group.count; n++) {
            mf_Field *position = rig_field(&rig, "base.position");
            double off = hypot(mf_field_get(position, n, 0) - mf_field_get(goal, n, 0),
                               mf_field_get(position, n, 1) - mf_field_get(goal, n, 1));
            if (!(off < 0.25 * wheelbase(&v)))
                fail_msg("%s: car %u stands %g m from its position", v.name, n, off);
            worst = fmax(worst, off);
            assert_true(get_field(rig.group, "base.linear_velocity", n, 0) == 0.0);
        }
        print_message("%s: 48 places at %g m/s: off by %.4f m at most\n", v.name, v.speed, worst);
    }
}

TEST(bad_paths_are_refused) {
    RigConfig config = rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_PATH);
    const double same[2][2] = {{1, 1}, {1, 1}}, endless[2][2] = {{0, 0}, {NAN, 1}};
    const double good[2][2] = {{0, 0}, {1, 0}};
    AUTO_RIG rig = rig_open(config);
    // Without a path cars stand.
    rig_set(&rig, "command.speed", 0, 1.0);
    rig_run(&rig, 0.5);
    assert_true(rig_get(&rig, "base.position", 0) == 0.0);
    MUST_FAIL(mf_car_set_path(rig.group, same, 2, true, &error), MF_BAD_ARGUMENT, "m long");
    MUST_FAIL(mf_car_set_path(rig.group, endless, 2, true, &error), MF_BAD_ARGUMENT,
              "point 1 is (nan, 1)");
    MUST_FAIL(mf_car_set_path(rig.group, good, 1, false, &error), MF_BAD_ARGUMENT, "");
    MUST(mf_car_set_path(rig.group, good, 2, false, &error));
    MUST(mf_car_set_path(rig.group, good, 2, true, &error));
}
