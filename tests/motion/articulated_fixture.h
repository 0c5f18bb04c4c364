// A world with one group of a hand-built model that moves by `articulated`.
#ifndef MF_TESTS_MOTION_ARTICULATED_FIXTURE_H
#define MF_TESTS_MOTION_ARTICULATED_FIXTURE_H

#include "motion/fixture.h"

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

// After fixture_begin and building stage->hand.
static inline void art_open(Fixture *fixture, ArtConfig config) {
    config.group.model = &fixture->hand->model;
    fixture->world = open_world(fixture->context, &config.world);
    fixture->group = add_group(fixture->world, &config.group);
    MUST(rig_add_articulated(fixture->group, &config.motion, &error));
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

static inline double art_energy(const Fixture *fixture) {
    mf_MotionEnergy energy = mf_motion_energy(fixture->group, 0);
    return energy.kinetic + energy.potential + energy.elastic;
}

#endif
