// The world of check_particles_rig.h.
#include "check_particles_rig.h"

#include <stdio.h>

static const double origin[3] = {0.0, 0.0, 0.0};

void mf_particle_rig_world(mf_ParticleRig *rig, mf_CheckRun *run, double step, double gravity,
                           double tilt) {
    mf_RigConfig config = {.world = mf_world_config()};
    config.world.step = mf_time_from_seconds(step);
    config.world.gravity = gravity;
    mf_rig_tilt(&config, tilt);
    *rig = (mf_ParticleRig){.run = run};
    mf_rig_start(run);
    mf_check_must(run, mf_world_create(run->context, &config.world, &run->rig.world, &run->error));
}

// A group of one body, made by `builder`, which is destroyed.
static mf_Group *add_group(mf_CheckRun *run, mf_Builder *builder, const char *name,
                           uint32_t count) {
    mf_GroupConfig config = mf_group_config();
    mf_Model **model = mf_rig_own(run);
    mf_check_must(run, mf_builder_finalize(builder, model, &run->error));
    mf_builder_destroy(builder);
    config.name = name;
    config.model = *model;
    config.count = count;
    config.isolated = false;
    config.double_precision = true;
    mf_check_must(run, mf_world_add_group(run->rig.world, &config, &run->rig.group, &run->error));
    return run->rig.group;
}

mf_Group *mf_particle_rig_spheres(mf_CheckRun *run, const char *name, uint32_t count, double mass,
                                  double radius) {
    mf_Builder *builder;
    mf_check_must(run, mf_builder_create(run->context, name, &builder, &run->error));
    mf_body_create_sphere(builder, origin, radius, mass, NULL);
    return add_group(run, builder, name, count);
}

void mf_particle_rig_particles(mf_ParticleRig *rig, uint32_t count, double mass, double radius) {
    rig->group = mf_particle_rig_spheres(rig->run, "particles", count, mass, radius);
    rig->count = count;
    rig->position = mf_group_find_field(rig->group, "base.position");
    rig->velocity = mf_group_find_field(rig->group, "base.linear_velocity");
}

void mf_particle_rig_box(mf_ParticleRig *rig, const double low[3], const double high[3]) {
    mf_CheckRun *run = rig->run;
    char name[8];
    double size[3], middle[3];
    mf_Builder *builder;
    snprintf(name, sizeof name, "box%u", rig->boxes++);
    for (int c = 0; c < 3; c++) {
        size[c] = high[c] - low[c];
        middle[c] = 0.5 * (high[c] + low[c]);
    }
    mf_check_must(run, mf_builder_create(run->context, name, &builder, &run->error));
    mf_body_create_box(builder, size, origin, 1.0, NULL);
    mf_Group *box = add_group(run, builder, name, 1);
    if (rig->floor == NULL)
        rig->floor = box;
    mf_check_must(run, mf_collisions_prepare(box, &run->error));
    mf_check_must(run, mf_motion_add(box, MF_MOTION_EXTERNAL, NULL, &run->error));
    mf_check_must(run, mf_group_set_start(box, 0, middle, NULL, NULL, &run->error));
}

void mf_particle_rig_tank(mf_ParticleRig *rig, const double low[3], const double high[3]) {
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
        mf_particle_rig_box(rig, boxes[b][0], boxes[b][1]);
}

void mf_particle_rig_put(mf_ParticleRig *rig, uint32_t particle, const double position[3],
                         const double velocity[3]) {
    mf_check_must(rig->run, mf_group_set_start(rig->group, particle, position, NULL, velocity,
                                               &rig->run->error));
}

void mf_particle_rig_fill(mf_ParticleRig *rig, const double low[3], const uint32_t size[3],
                          double spacing) {
    for (uint32_t i = 0; i < rig->count; i++) {
        const uint32_t at[3] = {i % size[0], i / size[0] % size[1], i / size[0] / size[1]};
        double position[3];
        for (int c = 0; c < 3; c++)
            position[c] = low[c] + (at[c] + 0.5) * spacing;
        mf_particle_rig_put(rig, i, position, NULL);
    }
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

mf_MotionEnergy mf_particle_rig_energy(const mf_ParticleRig *rig) {
    mf_MotionEnergy sum = {0};
    for (uint32_t i = 0; i < rig->count; i++) {
        const mf_MotionEnergy energy = mf_motion_energy(rig->group, i);
        sum.kinetic += energy.kinetic;
        sum.potential += energy.potential;
        sum.elastic += energy.elastic;
    }
    return sum;
}
