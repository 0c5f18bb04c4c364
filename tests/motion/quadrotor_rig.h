// A world with one group of quadrotors, and published parameter sets.
#pragma once

#include "motion/rig.h"
#include "motion/vehicle/quadrotor/motion.h"

typedef struct RigConfig {
    mf_Quadrotor quadrotor;
    mf_QuadrotorConfig config;
    mf_WorldConfig world;
    uint32_t count;
    bool single_precision, shared;
} RigConfig;

// Sun et al. 2022, in double precision, a step of 1 ms, gravity 9.81.
static inline RigConfig rig_config(void) {
    RigConfig config = {.quadrotor = mf_quadrotor(),
                        .config = mf_motions_config().quadrotor_config,
                        .world = mf_world_config(),
                        .count = 1};
    config.world.step = MF_MILLISECOND;
    return config;
}

// Crazyflie 2.x as in rotorpy.
static inline mf_Quadrotor crazyflie(void) {
    const double arm = 0.043 * 0.70710678118654752;
    mf_Quadrotor q = WITH(mf_quadrotor(), .mass = 0.03);
    memcpy(q.inertia, (double[6]){1.43e-5, 1.43e-5, 2.89e-5}, sizeof q.inertia);
    memcpy(q.rotor_x, (double[4]){arm, -arm, -arm, arm}, sizeof q.rotor_x);
    memcpy(q.rotor_y, (double[4]){arm, arm, -arm, -arm}, sizeof q.rotor_y);
    q.rotor_speed_max = 2500.0;
    q.thrust_coefficient = 2.3e-8;
    q.torque_coefficient = 7.8e-10;
    q.motor_time_constant = 0.072;
    return q;
}

// Hummingbird as in rotorpy, a plus.
static inline mf_Quadrotor hummingbird(void) {
    mf_Quadrotor q = WITH(mf_quadrotor(), .mass = 0.5);
    memcpy(q.inertia, (double[6]){3.65e-3, 3.68e-3, 7.03e-3}, sizeof q.inertia);
    memcpy(q.rotor_x, (double[4]){0.17, 0.0, -0.17, 0.0}, sizeof q.rotor_x);
    memcpy(q.rotor_y, (double[4]){0.0, 0.17, 0.0, -0.17}, sizeof q.rotor_y);
    q.rotor_speed_max = 1500.0;
    q.thrust_coefficient = 5.57e-6;
    q.torque_coefficient = 1.36e-7;
    q.motor_time_constant = 0.005;
    return q;
}

static inline Rig rig_open(RigConfig config) {
    Rig rig = {.context = open_context(0)};
    mf_GroupConfig group = mf_group_config();
    group.count = config.count;
    group.isolated = !config.shared;
    group.double_precision = !config.single_precision;
    MUST(mf_quadrotor_model(rig.context, &config.quadrotor, "quadrotor", &rig.model, &error));
    rig_add_group(&rig, &config.world, group);
    MUST(rig_add_quadrotor(rig.group, &config.quadrotor, &config.config, &error));
    return rig;
}
