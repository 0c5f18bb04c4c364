// Check cases of cars, in double precision: circles without slip, steady cornering on Pacejka
// tires, yaw gain, top speed, and a single car against the same car in a swarm. The expected values
// are from closed forms and an independent solution of the equations; see
// docs/explanation/vehicles.md.
#include <math.h>

#include <mayfly/car.h>

#include "check.h"

static mf_RigConfig rig_config(mf_CarModel model, mf_CarCommand command) {
    mf_RigConfig config = mf_rig_config_of(MF_MOTION_CAR, MF_MILLISECOND);
    config.motions.car_config.model = model;
    config.motions.car_config.command = command;
    return config;
}

static void find_velocity(const mf_CheckRun *run, double *along, double *across) {
    double a = mf_rig_yaw(run), vx = mf_rig_get(run, "base.linear_velocity", 0);
    double vy = mf_rig_get(run, "base.linear_velocity", 1);
    *along = cos(a) * vx + sin(a) * vy;
    *across = cos(a) * vy - sin(a) * vx;
}

// ---- the cases ----------------------------------------------------------------------------------

static void circle_without_slip(mf_CheckRun *run) {
    static const double angles[] = {0.05, 0.2, -0.3};
    for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
        mf_RigConfig config = rig_config(MF_CAR_KINEMATIC, MF_CAR_COMMAND_DRIVE);
        config.motions.car.rolling = config.motions.car.drag = 0.0;
        mf_rig_open_motion(run, &config);
        mf_rig_set(run, "car.steering", 0, angles[i]);
        mf_rig_set(run, "command.steering", 0, angles[i]);
        mf_rig_set(run, "base.linear_velocity", 0, 1.0);
        mf_rig_step(run, 2000);
        double a = mf_rig_yaw(run), rear = config.motions.car.rear;
        double x = mf_rig_get(run, "base.position", 0) - rear * cos(a) + rear;
        double y = mf_rig_get(run, "base.position", 1) - rear * sin(a);
        // The circle through the start with the rear axle's direction: x^2 + y^2 = 2 R y.
        double radius = (x * x + y * y) / (2.0 * y);
        mf_check_near(run, "radius of the rear axle's circle [m]", 0.062 / tan(angles[i]), radius,
                      1e-9);
    }
}

static void corner(mf_CheckRun *run, double speed, double angle, mf_CarTire tire) {
    mf_RigConfig config = rig_config(MF_CAR_DYNAMIC, MF_CAR_COMMAND_SPEED);
    config.motions.car_config.tire = tire;
    config.motions.car.speed_integral = 16.0;
    mf_rig_open_motion(run, &config);
    mf_rig_set(run, "command.speed", 0, speed);
    mf_rig_set(run, "command.steering", 0, angle);
    mf_rig_step(run, 60000);
}

static void steady_cornering(mf_CheckRun *run) {
    static const struct {
        double speed, angle, rotation;
        const char *what;
    } cases[] = {{1.0, 0.05, 0.68402054, "yaw rate at 1 m/s, 0.05 rad [rad/s]"},
                 {1.0, 0.1, 1.36400799, "yaw rate at 1 m/s, 0.1 rad [rad/s]"},
                 {2.0, 0.05, 0.93231514, "yaw rate at 2 m/s, 0.05 rad [rad/s]"},
                 {1.5, 0.1, 1.69873689, "yaw rate at 1.5 m/s, 0.1 rad [rad/s]"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double along, across;
        corner(run, cases[i].speed, cases[i].angle, MF_CAR_TIRE_PACEJKA);
        double yaw_rate = mf_rig_get(run, "base.angular_velocity", 2);
        find_velocity(run, &along, &across);
        mf_check_near(run, cases[i].what, cases[i].rotation, yaw_rate, 1.5e-8);
        if (i == 0) {
            mf_check_near(run, "lateral velocity [m/s]", 0.00495487, across, 1e-8);
            mf_check_near(run, "front slip angle [rad]", 0.02521361,
                          0.05 - atan((across + 0.029 * yaw_rate) / along), 1e-8);
            mf_check_near(run, "rear slip angle [rad]", 0.01761599,
                          -atan((across - 0.033 * yaw_rate) / along), 1e-8);
        }
    }
}

static void yaw_gain(mf_CheckRun *run) {
    corner(run, 1.0, 1e-4, MF_CAR_TIRE_LINEAR);
    double yaw_rate = mf_rig_get(run, "base.angular_velocity", 2) * 0.05 / 1e-4;
    mf_check_near(run, "yaw rate for 0.05 rad, linear [rad/s]", 0.6846760, yaw_rate, 1e-6);
}

static void top_speed(mf_CheckRun *run) {
    mf_RigConfig config = rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_DRIVE);
    double along, across;
    mf_rig_open_motion(run, &config);
    mf_rig_set(run, "command.duty", 0, 1.0);
    mf_rig_step(run, 20000);
    find_velocity(run, &along, &across);
    mf_check_near(run, "speed at full duty [m/s]", 4.2021936, along, 1e-7);
}

// Car `number` of `count` on a circle of its own after a second, as the hash of its state.
static uint64_t lane_hash(mf_CheckRun *run, uint32_t first, uint32_t count, uint32_t number) {
    mf_RigConfig config = rig_config(MF_CAR_BLENDED, MF_CAR_COMMAND_CIRCLE);
    config.group.count = count;
    config.group.double_precision = false;
    mf_rig_open_motion(run, &config);
    for (uint32_t i = 0; i < count; i++) {
        double n = first + i;
        mf_field_set(mf_group_find_field(run->rig.group, "command.speed"), i, 0, 0.5 + 1e-4 * n);
        mf_field_set(mf_group_find_field(run->rig.group, "command.circle"), i, 2, 0.5 + 1e-5 * n);
    }
    mf_rig_step(run, 1000);
    return mf_group_instance_hash(run->rig.group, number - first);
}

static void swarm_lanes(mf_CheckRun *run) {
    const uint64_t alone = lane_hash(run, 4321, 1, 4321);
    mf_check_bits(run, "hash of a car among 8", alone, lane_hash(run, 4318, 8, 4321));
    mf_check_bits(run, "hash of a car among 10000", alone, lane_hash(run, 0, 10000, 4321));
}

const mf_CheckCase mf_check_car_cases[] = {
    {"G10", "kinematic bicycle: radius of the circle", circle_without_slip},
    {"G11", "dynamic bicycle: steady cornering on Pacejka tires", steady_cornering},
    {"G13", "dynamic bicycle: linear yaw gain", yaw_gain},
    {"G14", "1:43 car: top speed", top_speed},
    {"G15-car", "a single car and in swarms of 8 and 10,000", swarm_lanes},
    {NULL, NULL, NULL}};
