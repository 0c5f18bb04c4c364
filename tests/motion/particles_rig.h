// A world with one group of particles, for tests.
#ifndef MF_TESTS_MOTION_PARTICLES_RIG_H
#define MF_TESTS_MOTION_PARTICLES_RIG_H

#include "rig/rig.h"

typedef struct Rig {
    mf_Context *context;
    mf_World *world;
    mf_Model *model, *box_model;
    mf_Group *group, *box; // particles, and one box
    uint32_t count;
} Rig;

typedef struct RigConfig {
    uint32_t threads, count;
    mf_Isa isa;
    bool precise;
    double step, gravity;
} RigConfig;

static inline RigConfig rig_config(uint32_t count) {
    return (RigConfig){.threads = 1, .count = count, .step = 5e-4, .gravity = 9.81};
}

static inline mf_Model *rig_body(Rig *rig, bool sphere, double size, double mass) {
    static const double origin[3] = {0.0, 0.0, 0.0};
    const double sizes[3] = {size, size, size};
    AUTO_BUILDER *builder;
    mf_Model *model;
    MUST(mf_builder_create(rig->context, "body", &builder, &error));
    if (sphere)
        mf_body_create_sphere(builder, origin, 0.5 * size, mass, NULL);
    else
        mf_body_create_box(builder, sizes, origin, mass, NULL);
    MUST(mf_builder_finalize(builder, &model, &error));
    return model;
}

// Particles of 0.02 m, 0.008 kg, without a motion.
static inline Rig rig_open(RigConfig config) {
    mf_ContextConfig context = mf_context_config();
    mf_WorldConfig world = mf_world_config();
    mf_GroupConfig group = mf_group_config();
    Rig rig = {.count = config.count};
    context.threads = config.threads;
    MUST(mf_context_create(&context, &rig.context, &error));
    world.step = mf_time_from_seconds(config.step);
    world.gravity = config.gravity;
    world.isa = config.isa;
    rig.world = open_world(rig.context, &world);
    rig.model = rig_body(&rig, true, 0.02, 0.008);
    group.name = "particles";
    group.model = rig.model;
    group.count = config.count;
    group.isolated = false;
    group.double_precision = config.precise;
    rig.group = add_group(rig.world, &group);
    return rig;
}

// A box of 0.2 m that particles push.
static inline void rig_box(Rig *rig, double mass, const double position[3]) {
    mf_GroupConfig group = mf_group_config();
    rig->box_model = rig_body(rig, false, 0.2, mass);
    group.name = "box";
    group.model = rig->box_model;
    group.isolated = false;
    group.double_precision = true;
    rig->box = add_group(rig->world, &group);
    MUST(mf_collisions_prepare(rig->box, &error));
    MUST(mf_motion_add(rig->box, MF_MOTION_RIGID, NULL, &error));
    MUST(mf_group_set_start(rig->box, 0, position, NULL, NULL, &error));
}

static inline void rig_fill(Rig *rig, uint32_t columns, uint32_t rows, double spacing) {
    for (uint32_t i = 0; i < rig->count; i++) {
        const double at[3] = {spacing * (i % columns + 0.5), spacing * (i / columns % rows + 0.5),
                              spacing * (i / columns / rows + 0.5)};
        MUST(mf_group_set_start(rig->group, i, at, NULL, NULL, &error));
    }
}

static inline void rig_close(Rig *rig) {
    mf_world_destroy(rig->world);
    mf_model_destroy(rig->model);
    mf_model_destroy(rig->box_model);
    mf_context_destroy(rig->context);
}

#endif
