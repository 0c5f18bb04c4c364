// A fixture for tests of quadrotors: published parameter sets as literals, one call to open, fields
// by name.
#ifndef TESTS_MOTION_QUADROTOR_FIXTURE_H
#define TESTS_MOTION_QUADROTOR_FIXTURE_H

#include "rig/rig.h"
#include "motion/vehicle/quadrotor/motion.h"

typedef struct Fixture {
    mf_Context *context;
    mf_Model *model;
    mf_World *world;
    mf_Group *group;
} Fixture;

typedef struct FixtureConfig {
    mf_Quadrotor quadrotor;
    mf_QuadrotorConfig config;
    mf_WorldConfig world;
    uint32_t count;
    bool single_precision, shared;
} FixtureConfig;

// Sun et al. 2022, in double precision, a step of 1 ms, gravity 9.81.
static inline FixtureConfig fixture_config(void) {
    FixtureConfig config = {.quadrotor = mf_quadrotor(),
                            .config = mf_motions_config().quadrotor_config,
                            .world = mf_world_config(),
                            .count = 1};
    config.world.step = MF_MILLISECOND;
    return config;
}

// Crazyflie 2.x as in rotorpy.
static inline mf_Quadrotor fixture_crazyflie(void) {
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
static inline mf_Quadrotor fixture_hummingbird(void) {
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

static inline Fixture fixture_open(FixtureConfig config) {
    Fixture fixture = {0};
    mf_Error error = {0};
    mf_GroupConfig group = mf_group_config();
    assert_int_equal(mf_context_create(NULL, &fixture.context, &error), MF_OK);
    assert_int_equal(
        mf_quadrotor_model(fixture.context, &config.quadrotor, "quadrotor", &fixture.model, &error),
        MF_OK);
    fixture.world = open_world(fixture.context, &config.world);
    group.model = fixture.model;
    group.count = config.count;
    group.isolated = !config.shared;
    group.double_precision = !config.single_precision;
    fixture.group = add_group(fixture.world, &group);
    mf_Status status = rig_add_quadrotor(fixture.group, &config.quadrotor, &config.config, &error);
    if (status != MF_OK)
        fail_msg("%s", error.message);
    return fixture;
}

static inline void fixture_close(Fixture *fixture) {
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    mf_context_destroy(fixture->context);
}

static inline double fixture_get(const Fixture *fixture, uint32_t agent, const char *field,
                                 uint32_t component) {
    return get_field(fixture->group, field, agent, component);
}

static inline void fixture_set(Fixture *fixture, uint32_t agent, const char *field,
                               uint32_t component, double value) {
    set_field(fixture->group, field, agent, component, value);
}

static inline void fixture_fill(Fixture *fixture, uint32_t agent, const char *field, uint32_t count,
                                const double *values) {
    set_fields(fixture->group, field, agent, count, values);
}

#endif
