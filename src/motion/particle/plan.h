// The data that the kernels of particles read. Particles are sorted by cells first (cells.h): a row
// of cells along x is contiguous in memory, and the lanes of a kernel are neighbors in such a row.
#pragma once

#include "contact/solid.h"
#include "math/kernel.h"
#include "motion/particle/shape.h"
#include "terrain/image.h"

enum {
    MF_PARTICLE_FINE = 4, // [1] columns of cells per edge of a cell, along x
    MF_PARTICLE_PAD = 64  // [1] values behind the last particle that lanes may read
};

// Rows of sorted values.
enum {
    MF_PARTICLE_X,
    MF_PARTICLE_Y,
    MF_PARTICLE_Z,
    MF_PARTICLE_OWN,                     // rows of the motion
    MF_FLUID_PRESSURE = MF_PARTICLE_OWN, // [Pa]
    MF_FLUID_ANCHOR,                     // [m] 3 rows: position when the neighbors were listed
    MF_GRAIN_VX = MF_PARTICLE_OWN,       // [m/s]
    MF_GRAIN_VY,
    MF_GRAIN_VZ,
    MF_GRAIN_WX, // [rad/s] world axes
    MF_GRAIN_WY,
    MF_GRAIN_WZ,
    MF_PARTICLE_ROWS
};

// What neighbors read of a particle of a fluid, side by side: position [m], then
enum {
    MF_FLUID_VX = 3,   // [m/s] and two more
    MF_FLUID_PUSH = 6, // [1/s] pressure expected at the end of the step, over 2 nu rho
    MF_FLUID_DYNAMIC,  // [m^2/s] pressure without that of the column above, over -rho c^2 / 2 D
    MF_FLUID_RECORD
};

// Rows of sorted values from other groups of particles.
enum {
    MF_EXTRA_X, // [m/s^2] acceleration
    MF_EXTRA_Y,
    MF_EXTRA_Z,
    MF_EXTRA_RATE,    // [Pa/s] of a fluid's pressure
    MF_EXTRA_DENSITY, // [1] in a fluid's density
    MF_EXTRA_ROWS
};

// Settings, and constants that follow from them.
typedef struct mf_ParticlePlan {
    uint32_t bytes;
    uint32_t substeps;   // [1] of a step of the world
    double step;         // [s] of a substep
    double reach;        // [m] range of forces between particles; edge of a cell
    double spacing;      // [m] fluid: of the particles at rest; grains: the diameter
    double mass;         // [kg]
    double gravity[3];   // [m/s^2]
    double gravity_size; // [m/s^2]
    // Fluid.
    double density;        // [kg/m^3] at rest
    double volume;         // [m^3] of a particle
    double bulk;           // [Pa] density times the square of the speed of sound
    mf_FluidShape shape;   // the kernel
    double viscosity;      // [m^2/s] between particles, with the artificial one
    double wall_viscosity; // [m^2/s]
    double diffusion;      // [m^2/s] of density
    double ahead;          // [s] for which the pressure is extrapolated
    double tension;        // [Pa] least pressure, <= 0
    double follow;         // [1/s] rate at which the pressure follows that density
    double compression;    // [1] above it a warning is raised
    // Grains.
    double stiffness, damping;      // [N/m], [N s/m] along the normal; debris: damping is the
                                    // restitution
    double sliding_stiffness;       // [N/m]
    double sliding_damping;         // [N s/m]
    double friction, wall_friction; // [1]
    double rolling;                 // [1] of the radius
    double inertia;                 // [kg m^2]
    double overlap;                 // [m] above it a warning is raised
} mf_ParticlePlan;

// A field, as kernels write it: component c of instance i is at
// base[((i / 16) * width + c) * 16 + i % 16].
typedef struct mf_ParticleField {
    void *base; // NULL: the motion has none
    uint32_t width;
    size_t low; // [byte] from values to their remainders (math/lane_sum.h); 0: none
} mf_ParticleField;

// Contacts of a grain: partner and elastic displacement of each.
enum { MF_GRAIN_CONTACTS = 16 };
#define MF_GRAIN_GROUND UINT32_C(0x80000000) // [1] partners: the ground, then solids

// A step of all particles. Kernels write only particles of their own rows of cells.
typedef struct mf_ParticleTask {
    const mf_ParticlePlan *plan;
    const mf_TerrainImage *terrain;
    // Cells and sorted particles.
    const int32_t *starts; // [1] first rank of each cell, and behind the last one
    const int32_t *column; // [1] per rank: index of its cell along x
    const uint32_t *order; // [1] per rank: the particle
    int32_t size[3];       // [1] cells along x (columns), y, z
    uint32_t count;        // [1] sorted particles
    void *rows[MF_PARTICLE_ROWS];
    void *records; // of fluids, a record per rank, and MF_PARTICLE_PAD of padding
    // Of fluids, ranks of neighbors, interleaved by lane, with space for `list_capacity` per rank.
    int32_t *lists;
    uint32_t *list_count;       // [1] of the lanes from a rank on; MF_NONE: there was no space
    uint32_t list_capacity;     // [1]
    double list_reach;          // [m]
    bool listed;                // the lists are still valid
    void *extra[MF_EXTRA_ROWS]; // NULL: no other group acts on this one
    // Fields.
    mf_ParticleField position, velocity, rate, orientation, pressure, pressure_rate;
    mf_ParticleField contact_with, contact_slip; // of grains
    uint32_t *fault, *warning, *warning_steps;
    void *warning_residual;
    const mf_Solid *solids;
    uint32_t solid_count; // [1]
} mf_ParticleTask;

// Steps the particles of rows first .. first + count - 1 of cells. `wrench`: per solid the force
// [N] on it and the torque [N m] about its point, which are added to.
typedef void (*mf_ParticleStepFn)(const mf_ParticleTask *task, uint32_t first, uint32_t count,
                                  double (*wrench)[6]);
// Fills the rows of ranks first .. first + count - 1. Returns for fluids the largest squared
// displacement [m^2] since they were listed, or more if one has a fault; else 0.
typedef double (*mf_ParticleGatherFn)(const mf_ParticleTask *task, uint32_t first, uint32_t count);

MF_KERNEL_COPIES(double, mf_fluid_gather,
                 (const mf_ParticleTask *task, uint32_t first, uint32_t count));
MF_KERNEL_COPIES(void, mf_fluid_step,
                 (const mf_ParticleTask *task, uint32_t first, uint32_t count,
                  double (*wrench)[6]));
MF_KERNEL_COPIES(void, mf_debris_step,
                 (const mf_ParticleTask *task, uint32_t first, uint32_t count,
                  double (*wrench)[6]));
MF_KERNEL_COPIES(double, mf_grains_gather,
                 (const mf_ParticleTask *task, uint32_t first, uint32_t count));
MF_KERNEL_COPIES(void, mf_grains_step,
                 (const mf_ParticleTask *task, uint32_t first, uint32_t count,
                  double (*wrench)[6]));
