// A world with one group of a model, built by hand or given as text, that moves by `articulated`.
#pragma once

#include "motion/rig.h"

typedef struct ArtConfig {
    mf_WorldConfig world;
    mf_GroupConfig group;
    mf_ArticulatedConfig motion;
} ArtConfig;

static inline ArtConfig art_config(mf_ArticulatedIntegrator integrator, mf_Time step) {
    ArtConfig config = {.world = mf_world_config(),
                        .group = mf_group_config(),
                        .motion = mf_motions_config().articulated};
    config.world.step = step;
    config.group.double_precision = true;
    config.motion.integrator = integrator;
    config.motion.contact_law = MF_CONTACT_LAW_COMPLIANT;
    return config;
}

// After rig_begin and building rig->hand.
static inline void art_open(Rig *rig, ArtConfig config) {
    rig_add_group(rig, &config.world, config.group);
    MUST(rig_add_articulated(rig->group, &config.motion, &error));
}

static inline Rig text_open(const char *text, ArtConfig config) {
    Rig rig = {.context = open_context(1)};
    rig.model = load_text(rig.context, text);
    art_open(&rig, config);
    return rig;
}

// Gives a link mass, center and principal moments about the center.
static inline void art_body(mf_HandModel *hand, uint32_t link, double mass, double x, double y,
                            double z, double xx, double yy, double zz) {
    hand->links[link].mass = mass;
    hand->model.mass += mass;
    hand->links[link].center[0] = x;
    hand->links[link].center[1] = y;
    hand->links[link].center[2] = z;
    hand->links[link].inertia[0] = xx;
    hand->links[link].inertia[1] = yy;
    hand->links[link].inertia[2] = zz;
}
