// Particles among boxes in the world of the rig, for check cases.
#pragma once

#include <mayfly/mayfly.h>

#include "check.h"

typedef struct mf_ParticleRig {
    mf_CheckRun *run;
    mf_Group *group; // of the particles
    mf_Group *floor; // the first box; moved by nobody, boxes feel what the particles do
    uint32_t count;  // [1] particles
    uint32_t boxes;  // [1]
    mf_Field *position, *velocity;
} mf_ParticleRig;

// A world of this step [s] and gravity [m/s^2], tilted [rad] towards x.
void mf_particle_rig_world(mf_ParticleRig *rig, mf_CheckRun *run, double step, double gravity,
                           double tilt);
// A group of spheres in double precision at the origin.
mf_Group *mf_particle_rig_spheres(mf_CheckRun *run, const char *name, uint32_t count, double mass,
                                  double radius);
// The same as the rig's particles.
void mf_particle_rig_particles(mf_ParticleRig *rig, uint32_t count, double mass, double radius);
void mf_particle_rig_box(mf_ParticleRig *rig, const double low[3], const double high[3]);
// Four walls and a floor around a box, which is open above.
void mf_particle_rig_tank(mf_ParticleRig *rig, const double low[3], const double high[3]);
void mf_particle_rig_put(mf_ParticleRig *rig, uint32_t particle, const double position[3],
                         const double velocity[3]);
// Particles on a cubic lattice, x first, from a corner on.
void mf_particle_rig_fill(mf_ParticleRig *rig, const double low[3], const uint32_t size[3],
                          double spacing);

// [kg m/s] Sum over all particles.
void mf_particle_rig_momentum(const mf_ParticleRig *rig, double out[3]);
// [J] Kinetic, potential and elastic, of all particles.
mf_MotionEnergy mf_particle_rig_energy(const mf_ParticleRig *rig);
