// What the host knows of a group of particles: `fluid`, `grains` and `debris` have this in common.
#pragma once

#include <mayfly/particles.h>
#include "motion/particle/cells.h"
#include "motion/particle/plan.h"
#include "motion/table.h"

enum {
    MF_PARTICLE_PIECES = 32,  // [1] pieces of work of a step, whatever the number of threads
    MF_PARTICLE_SOLIDS = 4096 // [1] most solids that particles of a world can meet
};

// Solids of other groups near the particles, in every step anew.
typedef struct mf_ParticleCoupling {
    void *user;
    // Fills the members below for a step of the world.
    void (*find)(void *user);
    const mf_Solid *solids;
    uint32_t count;      // [1]
    double (*wrench)[6]; // [N], [N m] per solid, means of the step; added to
} mf_ParticleCoupling;

typedef struct mf_ParticleBox {
    double low[3], high[3]; // [m]
} mf_ParticleBox;

typedef struct mf_ParticleSite {
    double across[2]; // [m] in the plane of a nozzle
} mf_ParticleSite;

typedef struct mf_ParticleNozzle {
    mf_Emitter emitter;
    double axes[3][3]; // [1] two across, then the direction
    double pitch;      // [m] between layers
    mf_ParticleSite *sites;
    uint32_t count; // [1] sites
} mf_ParticleNozzle;

typedef struct mf_Particles {
    mf_Context *context;
    mf_Group *group;
    const mf_MotionRow *row;
    union {
        mf_FluidConfig fluid;
        mf_GrainsConfig grains;
        mf_DebrisConfig debris;
    } config;
    mf_ParticlePlan plan;
    bool wide;       // the fields are double
    uint32_t placed; // [1] particles that do not wait for an emitter
    mf_ParticleCells cells;
    mf_ParticleTask task;
    mf_ParticleGatherFn gather;
    mf_ParticleStepFn step;
    mf_Field *position, *velocity, *orientation, *rate, *fault, *waiting;
    mf_Field *pressure, *pressure_rate;
    mf_Field *contact_with, *contact_slip;
    mf_WarningFields warnings;
    mf_ParticleNozzle nozzles[MF_EMITTERS];
    uint32_t nozzle_count;              // [1]
    uint32_t next_waiting;              // [1] no particle before it waits
    mf_ParticleCoupling *coupling;      // NULL: none
    struct mf_ParticleMixture *mixture; // NULL: no other group acts on this one
    double *means;       // of grains in a mixture, per rank what the fluid around does
    double ahead;        // [1] steps for which a fluid's pressure is extrapolated
    mf_Solid *solids;    // [1] of a substep
    double (*wrench)[6]; // [1] per piece and solid
    double skin;         // [m] of a fluid, how much farther than its reach it lists neighbors
    double moved[MF_PARTICLE_PIECES]; // [m^2] as gathers return it
    mf_ParticleBox box;               // of all, until they are sorted again
    mf_ParticleBox boxes[MF_PARTICLE_PIECES];
    uint32_t first_row[MF_PARTICLE_PIECES + 1]; // [1] of cells, of each piece
} mf_Particles;

// What follows from the settings of a motion.
typedef struct mf_ParticleDraft {
    mf_ParticlePlan plan; // without step and substeps
    double longest;       // [s] longest stable step
    double ahead;         // [1] as in mf_Particles
    const mf_Emitter *emitters;
    uint32_t emitter_count, placed; // [1]
} mf_ParticleDraft;

// Fills the particles of a group, which are zeros, but for fields and kernels of the motion's own.
mf_Status mf_particles_make(mf_Particles *all, mf_Group *group, const mf_MotionRow *row,
                            const mf_ParticleDraft *draft, mf_Error *error);

// What the rows of these motions have alike.
#define MF_PARTICLE_ROW(title)                                                                     \
    .name = #title, .noun = "particle", .dynamic = true, .any_gravity = true,                      \
    .look = {.kind = MF_VISUAL_POINTS, .color = {0.20f, 0.45f, 0.85f}},                            \
    .plan_size = sizeof(mf_Particles), .make = make_##title, .hash = hash_##title,                 \
    .begin = mf_particles_begin, .run = mf_particles_run, .reset = mf_particles_reset,             \
    .destroy = mf_particles_destroy, .reads = reads, .writes = writes, .defaults = row_defaults,   \
    .keys = row_keys, .key_count = sizeof row_keys / sizeof *row_keys,                             \
    .momentum = mf_particles_momentum
// Adds the system of the world.
mf_Status mf_particles_begin(mf_Group *group, const mf_MotionsConfig *motions, void *plan,
                             mf_Error *error);
void mf_particles_destroy(mf_Context *context, void *plan);
// Does nothing: the system of the world steps the particles before the groups' own systems run.
void mf_particles_run(const mf_SystemRun *run, void *plan);
void mf_particles_reset(mf_Group *group, uint32_t instance, void *plan);
void mf_particles_momentum(const mf_Group *group, const void *plan, uint32_t instance,
                           double center[3], double linear[3], double angular[3]);
// Kinetic and potential.
mf_MotionEnergy mf_particles_energy(const mf_Group *group, const void *plan, uint32_t instance);

// Does a step's work in pieces, with all threads; and the first of `count` things of a piece.
void mf_particles_share(mf_Particles *all, void (*run)(mf_Particles *all, uint32_t piece));
uint32_t mf_particles_part(uint32_t count, uint32_t piece);
// Other substeps, at least those that stability demands.
void mf_particles_set_substeps(mf_Particles *all, uint32_t substeps);

// The particles of a group; NULL: it does not consist of particles.
mf_Particles *mf_particles_of(const mf_Group *group);

// The mass [kg] of a particle, and the radius [m] of its sphere. MF_UNSUPPORTED: the model is no
// particle.
mf_Status mf_particles_model(const mf_Group *group, const char *motion, double *mass,
                             double *radius, mf_Error *error);

// ---- emitters (emitters.c) ----------------------------------------------------------------------

mf_Status mf_particles_make_nozzles(mf_Particles *all, const mf_ParticleDraft *draft,
                                    mf_Error *error);
void mf_particles_free_nozzles(mf_Particles *all);
// Of what emitters and the number of placed particles change.
uint64_t mf_emitters_hash(uint64_t hash, const mf_Particles *all);
// Puts the layers that leave nozzles in [begin, end) [s] into the world; true: there were any.
bool mf_particles_emit(mf_Particles *all, double begin, double end);

// Keys of emitters in scene files.
extern const mf_KeyTable mf_emitter_table;
