// A world with one group of cars.
#pragma once

#include "motion/rig.h"
#include "motion/vehicle/car/motion.h"
#include "motion/vehicle/keys.h"
#include "rig/bodies.h"

typedef struct RigConfig {
    mf_WorldConfig world;
    mf_GroupConfig group;
    mf_Car car;
    mf_CarConfig config;
    uint32_t threads;
    double slope; // [rad] of the ground along x, 0 = level
    bool rough;   // noise instead of a slope
} RigConfig;

static inline RigConfig rig_config(mf_CarModel model, mf_CarCommand command) {
    RigConfig config = {.world = mf_world_config(),
                        .group = mf_group_config(),
                        .car = mf_car(),
                        .config = mf_motions_config().car_config,
                        .threads = 1};
    config.world.step = MF_MILLISECOND;
    config.group.double_precision = true;
    config.config.model = model;
    config.config.command = command;
    return config;
}

static inline Rig rig_open(RigConfig config) {
    Rig rig = {.context = open_context(config.threads)};
    if (config.slope != 0.0 || config.rough)
        rig.terrain = make_terrain(rig.context, config.rough ? MF_TERRAIN_NOISE : MF_TERRAIN_SLOPE,
                                   MF_BILINEAR, config.rough ? 0.05 : config.slope, 1.0, 0.1);
    config.world.terrain = rig.terrain;
    MUST(mf_car_body(rig.context, &config.car, "car", &rig.model, &error));
    rig_add_group(&rig, &config.world, config.group);
    MUST(rig_add_car(rig.group, &config.car, &config.config, &error));
    return rig;
}

static inline void rig_step(const Rig *rig, uint64_t steps) {
    mf_world_step(rig->world, steps);
}

static inline void rig_run(const Rig *rig, double seconds) {
    mf_Time step = mf_world_config_of(rig->world)->step;
    rig_step(rig, (uint64_t)(mf_time_from_seconds(seconds) / step));
}

static inline double rig_heading(const Rig *rig) {
    return 2.0 * atan2(rig_get(rig, "base.orientation", 3), rig_get(rig, "base.orientation", 0));
}

// Velocity along and across the car, on level ground.
static inline void rig_velocity(const Rig *rig, double *along, double *across) {
    double a = rig_heading(rig), vx = rig_get(rig, "base.linear_velocity", 0);
    double vy = rig_get(rig, "base.linear_velocity", 1);
    *along = cos(a) * vx + sin(a) * vy;
    *across = cos(a) * vy - sin(a) * vx;
}

static inline double rig_speed(const Rig *rig) {
    double along, across;
    rig_velocity(rig, &along, &across);
    return along;
}

// Steering held at once, without waiting for its rate.
static inline void rig_steer(const Rig *rig, double angle) {
    rig_set(rig, "car.steering", 0, angle);
    rig_set(rig, "command.steering", 0, angle);
}

static inline double car_energy(const Rig *rig) {
    const mf_Car *car = mf_vehicle_parameters(rig->group, MF_VEHICLE_CAR);
    double spin = rig_get(rig, "base.angular_velocity", 2), square = 0.0;
    for (uint32_t c = 0; c < 3; c++)
        square += pow(rig_get(rig, "base.linear_velocity", c), 2);
    return 0.5 * car->mass * square + 0.5 * car->yaw_inertia * spin * spin;
}
