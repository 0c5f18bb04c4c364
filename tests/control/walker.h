// Robots that walk by one gait, for tests of gaits under a motion.
#pragma once

#include "rig/rig.h"

typedef struct Walker {
    mf_Context *context;
    mf_Model *model;
    mf_Gait *gait;
    mf_World *world;
    mf_Group *group;
    double angles[64]; // [rad] of the gait at its start
} Walker;

static inline Walker load_walker(const char *robot, const char *name) {
    static const double none[3] = {0, 0, 0};
    const char *models = MAYFLY_SOURCE_DIR "/models";
    Walker walker = {.context = open_context(0)};
    MUST(mf_model_load(walker.context, formatted("%s/%s.urdf", models, robot), NULL, &walker.model,
                       &error));
    MUST(mf_gait_load(walker.context, formatted("%s/gaits/%s/%s.yaml", models, robot, name),
                      walker.model, &walker.gait, &error));
    MUST(mf_gait_sample(walker.gait, walker.model, 0, none, walker.angles, &error));
    return walker;
}

// A world with a group of them; a motion and the gait can be added.
static inline void add_walkers(Walker *walker, mf_Time step, mf_GroupConfig group) {
    walker->world = open_world(walker->context, &WITH(mf_world_config(), .step = step));
    walker->group = add_group(walker->world, &WITH(group, .model = walker->model));
}

static inline void add_gait(Walker *walker) {
    MUST(mf_gaits_add(walker->group, (const mf_Gait *const[]){walker->gait}, 1, NULL, &error));
}

static inline void close_walker(Walker *walker) {
    mf_world_destroy(walker->world);
    mf_gait_destroy(walker->gait);
    mf_model_destroy(walker->model);
    mf_context_destroy(walker->context);
}
#define AUTO_WALKER AUTO(close_walker) Walker
