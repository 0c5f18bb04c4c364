// The world of check_particles_rig.h.
#include "check_particles_rig.h"

#include <math.h>

void mf_particle_rig_world(mf_ParticleRig *rig, mf_CheckRun *run, double step, double gravity,
                           double tilt) {
    mf_WorldConfig config = mf_world_config();
    *rig = (mf_ParticleRig){.world = NULL};
    config.step = mf_time_from_seconds(step);
    config.gravity = gravity;
    config.gravity_direction[0] = sin(tilt);
    config.gravity_direction[2] = -cos(tilt);
    mf_check_must(run, mf_world_create(run->context, &config, &rig->world, &run->error));
}

void mf_particle_rig_particles(mf_CheckRun *run, mf_ParticleRig *rig, uint32_t count, double mass,
                               double radius) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    mf_Builder *builder;
    mf_GroupConfig config = mf_group_config();
    mf_check_must(run, mf_builder_create(run->context, "particle", &builder, &run->error));
    mf_body_create_sphere(builder, origin, radius, mass, NULL);
    mf_check_must(run, mf_builder_finalize(builder, &rig->model, &run->error));
    mf_builder_destroy(builder);
    config.name = "particles";
    config.model = rig->model;
    config.count = rig->count = count;
    config.isolated = false;
    config.double_precision = true;
    mf_check_must(run, mf_world_add_group(rig->world, &config, &rig->group, &run->error));
    rig->position = mf_group_find_field(rig->group, "base.position");
    rig->velocity = mf_group_find_field(rig->group, "base.linear_velocity");
}

void mf_particle_rig_box(mf_CheckRun *run, mf_ParticleRig *rig, const double low[3],
                         const double high[3]) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    static const char *const names[MF_RIG_BOXES] = {"box0", "box1", "box2", "box3", "box4", "box5"};
    double size[3], middle[3];
    mf_Builder *builder;
    mf_GroupConfig config = mf_group_config();
    const uint32_t b = rig->box_count;
    for (int c = 0; c < 3; c++) {
        size[c] = high[c] - low[c];
        middle[c] = 0.5 * (high[c] + low[c]);
    }
    mf_check_must(run, mf_builder_create(run->context, names[b], &builder, &run->error));
    mf_body_create_box(builder, size, origin, 1.0, NULL);
    mf_check_must(run, mf_builder_finalize(builder, &rig->models[b], &run->error));
    mf_builder_destroy(builder);
    rig->box_count++;
    config.name = names[b];
    config.model = rig->models[b];
    config.isolated = false;
    config.double_precision = true;
    mf_check_must(run, mf_world_add_group(rig->world, &config, &rig->boxes[b], &run->error));
    mf_check_must(run, mf_collisions_prepare(rig->boxes[b], &run->error));
    mf_check_must(run, mf_motion_add(rig->boxes[b], MF_MOTION_EXTERNAL, NULL, &run->error));
    mf_check_must(run, mf_group_set_start(rig->boxes[b], 0, middle, NULL, NULL, &run->error));
}

void mf_particle_rig_tank(mf_CheckRun *run, mf_ParticleRig *rig, const double low[3],
                          const double high[3]) {
    const double thick = 0.5, x0 = low[0], x1 = high[0], y0 = low[1], y1 = high[1];
    const double z0 = low[2] - thick, z1 = high[2];
    const double boxes[5][2][3] = {
        {{x0 - thick, y0 - thick, z0}, {x1 + thick, y1 + thick, low[2]}},
        {{x0 - thick, y0 - thick, z0}, {x0, y1 + thick, z1}},
        {{x1, y0 - thick, z0}, {x1 + thick, y1 + thick, z1}},
        {{x0 - thick, y0 - thick, z0}, {x1 + thick, y0, z1}},
        {{x0 - thick, y1, z0}, {x1 + thick, y1 + thick, z1}},
    };

    for (int b = 0; b < 5; b++)
        mf_particle_rig_box(run, rig, boxes[b][0], boxes[b][1]);
}

void mf_particle_rig_put(mf_CheckRun *run, mf_ParticleRig *rig, uint32_t particle,
                         const double position[3], const double velocity[3]) {
    mf_check_must(run,
                  mf_group_set_start(rig->group, particle, position, NULL, velocity, &run->error));
}

void mf_particle_rig_fill(mf_CheckRun *run, mf_ParticleRig *rig, const double low[3],
                          const uint32_t size[3], double spacing) {
    for (uint32_t i = 0; i < rig->count; i++) {
        const uint32_t at[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
        double position[3];
        for (int c = 0; c < 3; c++)
            position[c] = low[c] + (at[c] + 0.5) * spacing;
        mf_particle_rig_put(run, rig, i, position, NULL);
    }
}

void mf_particle_rig_close(mf_ParticleRig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    for (uint32_t b = 0; b < MF_RIG_BOXES; b++)
        mf_model_destroy(rig->models[b]);
    *rig = (mf_ParticleRig){0};
}

void mf_particle_rig_momentum(const mf_ParticleRig *rig, double out[3]) {
    out[0] = out[1] = out[2] = 0.0;
    for (uint32_t i = 0; i < rig->count; i++) {
        double center[3], linear[3], angular[3];
        mf_motion_momentum(rig->group, i, center, linear, angular);
        for (int c = 0; c < 3; c++)
            out[c] += linear[c];
    }
}

double mf_particle_rig_kinetic(const mf_ParticleRig *rig) {
    double sum = 0.0;
    for (uint32_t i = 0; i < rig->count; i++)
        sum += mf_motion_energy(rig->group, i).kinetic;
    return sum;
}

double mf_particle_rig_potential(const mf_ParticleRig *rig) {
    double sum = 0.0;
    for (uint32_t i = 0; i < rig->count; i++)
        sum += mf_motion_energy(rig->group, i).potential;
    return sum;
}
