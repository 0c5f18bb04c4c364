// Agents for tests of interaction: spheres that move at random or in a straight line, in shared
// groups.
#pragma once

#include "motion/vehicle/body.h"
#include "base/random.h"
#include "rig/rig.h"

static inline double unit(uint32_t stream, uint32_t number) {
    uint32_t word[4];
    mf_random(7, number, stream, 0, word);
    return mf_random_unit_double(word[0], word[1]);
}

typedef struct Fixture {
    mf_Context *context;
    mf_World *world;
    mf_Model *model;
    mf_Terrain *terrain;
    mf_Interaction *interaction;
    mf_Error error;
} Fixture;

typedef struct FixtureConfig {
    uint32_t threads; // [1]
    mf_Isa isa;
    double radius;    // [m]
    double clearance; // [m]
    mf_Time step;     // [ns]
} FixtureConfig;

static inline FixtureConfig fixture_config(void) {
    return (FixtureConfig){1, MF_ISA_AUTO, 0.2, 0.1, 10 * MF_MILLISECOND};
}

static inline Fixture fixture_open(FixtureConfig config) {
    Fixture fixture = {0};
    fixture.context = open_context(config.threads);
    fixture.world = open_world(fixture.context,
                               &WITH(mf_world_config(), .step = config.step, .isa = config.isa));
    mf_VehicleBody body = {.name = "ball",
                           .mass = 1.0,
                           .inertia = {0.016, 0.016, 0.016, 0, 0, 0},
                           .radius = config.radius,
                           .clearance = config.clearance};
    MUST(mf_vehicle_model(fixture.context, &body, &fixture.model, &error));
    return fixture;
}

static inline void fixture_close(Fixture *fixture) {
    mf_world_destroy(fixture->world);
    mf_model_destroy(fixture->model);
    close_context(fixture->context);
}

// ---- a motion: straight on with the velocity, plus the wind, plus a random walk
// ------------------

typedef struct Walk {
    mf_Field *position, *velocity, *wind, *fault;
    double speed; // [m/s] of the random part
} Walk;

static inline void walk(const mf_SystemRun *run, void *user) {
    const Walk *walker = user;
    double step = mf_time_to_seconds(run->step);
    uint32_t end = (run->first_block + run->block_count) * MF_BLOCK;
    for (uint32_t i = run->first_block * MF_BLOCK; i < end; i++) {
        if (mf_field_get(walker->fault, i, 0) != 0.0)
            continue;
        uint32_t word[4];
        mf_random(11, i, 3, run->tick, word);
        for (uint32_t c = 0; c < 3; c++) {
            double speed = mf_field_get(walker->velocity, i, c) + mf_field_get(walker->wind, i, c) +
                           walker->speed * (2.0 * (double)mf_random_unit_float(word[c]) - 1.0);
            mf_field_set(walker->position, i, c,
                         mf_field_get(walker->position, i, c) + step * speed);
        }
    }
}

static inline void walk_destroy(mf_Context *context, void *user) {
    mf_release(context, user);
}

static inline mf_Group *add_walkers(Fixture *fixture, const char *name, uint32_t count, bool wide,
                                    double speed) {
    mf_Group *group = add_group(fixture->world,
                                &WITH(mf_group_config(), .name = name, .model = fixture->model,
                                      .count = count, .isolated = false, .double_precision = wide));
    static const mf_FieldInfo wind = {"wind.velocity",
                                      "m/s",
                                      "world",
                                      MF_REAL,
                                      MF_PER_INSTANCE,
                                      3,
                                      MF_FIELD_STATE | MF_FIELD_INPUT,
                                      "velocity of the air"};
    Walk *walker = mf_allocate(fixture->context, 1, sizeof *walker);
    walker->speed = speed;
    walker->position = mf_group_find_field(group, "base.position");
    walker->velocity = mf_group_find_field(group, "base.linear_velocity");
    walker->fault = mf_group_find_field(group, "fault.word");
    MUST(mf_group_add_field(group, &wind, 0, &walker->wind, &error));
    MUST(mf_group_add_system(group,
                             &WITH(mf_system_config(), .name = "walk", .phase = MF_PHASE_MOTION,
                                   .run = walk, .destroy = walk_destroy, .user = walker),
                             &error));
    return group;
}

static inline void put(mf_Group *group, uint32_t instance, double x, double y, double z, double vx,
                       double vy, double vz) {
    const double position[3] = {x, y, z}, velocity[3] = {vx, vy, vz};
    MUST(mf_group_set_start(group, instance, position, NULL, velocity, &error));
}
