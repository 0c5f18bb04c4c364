// A world with one group of particles among boxes, for check cases.
#ifndef MAYFLY_APP_CHECK_PARTICLES_RIG_H
#define MAYFLY_APP_CHECK_PARTICLES_RIG_H

#include <mayfly/mayfly.h>

#include "check.h"

enum { MF_RIG_BOXES = 6 };

typedef struct mf_ParticleRig {
    mf_World *world;
    mf_Group *group; // of the particles
    mf_Model *model, *models[MF_RIG_BOXES];
    mf_Group *boxes[MF_RIG_BOXES]; // moved by nobody, they feel what the particles do
    uint32_t box_count;            // [1]
    mf_Field *position, *velocity;
    uint32_t count; // [1] particles
} mf_ParticleRig;

// A world of this step [s] and gravity [m/s^2], tilted [rad] towards x.
void mf_particle_rig_world(mf_ParticleRig *rig, mf_CheckRun *run, double step, double gravity,
                           double tilt);
// Particles in double precision at the origin.
void mf_particle_rig_particles(mf_CheckRun *run, mf_ParticleRig *rig, uint32_t count, double mass,
                               double radius);
void mf_particle_rig_box(mf_CheckRun *run, mf_ParticleRig *rig, const double low[3],
                         const double high[3]);
// Four walls and a floor around a box, which is open above.
void mf_particle_rig_tank(mf_CheckRun *run, mf_ParticleRig *rig, const double low[3],
                          const double high[3]);
void mf_particle_rig_put(mf_CheckRun *run, mf_ParticleRig *rig, uint32_t particle,
                         const double position[3], const double velocity[3]);
// Particles on a cubic lattice, x first, from a corner on.
void mf_particle_rig_fill(mf_CheckRun *run, mf_ParticleRig *rig, const double low[3],
                          const uint32_t size[3], double spacing);
void mf_particle_rig_close(mf_ParticleRig *rig);

static inline double mf_particle_rig_get(const mf_Field *field, uint32_t i, uint32_t c) {
    return mf_field_get(field, i, c);
}
// [kg m/s] Sum over all particles.
void mf_particle_rig_momentum(const mf_ParticleRig *rig, double out[3]);
// [J] Kinetic; and potential.
double mf_particle_rig_kinetic(const mf_ParticleRig *rig);
double mf_particle_rig_potential(const mf_ParticleRig *rig);

#endif
