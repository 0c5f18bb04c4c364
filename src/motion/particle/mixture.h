// Groups of particles that act on each other: fluids with grains, and fluids with fluids. They are
// stepped together, with the substeps of the one that needs most (docs/explanation/particles.md).
#pragma once

#include "motion/particle/motion.h"

enum { MF_MIXTURE_GROUPS = 16 }; // [1] most

typedef struct mf_ParticleMixture {
    mf_Particles *groups[MF_MIXTURE_GROUPS];
    uint32_t count; // [1]
} mf_ParticleMixture;

// Makes a mixture of all groups of particles of the world where two of them act on each other, else
// NULL. They know it from then on. MF_LIMIT: too many groups. MF_UNSUPPORTED: grains that are
// larger than the reach of a fluid. MF_NO_MEMORY.
mf_Status mf_mixture_create(mf_World *world, mf_ParticleMixture **out, mf_Error *error);
void mf_mixture_destroy(mf_Context *context, mf_ParticleMixture *mixture);

// Between the sorting and the step of a substep: what the groups do to each other.
void mf_mixture_exchange(mf_ParticleMixture *mixture);
