// Mayfly: particles. A group whose instances are the particles of one fluid or of one heap of dry
// grains, or debris: instance i is particle i. docs/explanation/particles.md has the equations.
//
// The model is a body of one link without joints, free in the world; its mass is that of a
// particle and its sphere what films show. The group must be shared. Particles of one group act on
// each other (debris does not), and where coupled fluids on grains, debris and other fluids; grains
// of two groups do not.
#pragma once

#include <mayfly/world.h>

#define MF_EMITTERS 16u // [1] most of a group

// A round nozzle: particles leave it in layers, as dense as the fluid at rest (grains: as spheres
// that touch), so `radius` and `speed` give the flow.
typedef struct mf_Emitter {
    double position[3];  // [m] center of the nozzle, world
    double direction[3]; // [1] of the jet, of any length > 0; default 0, 0, -1
    double radius;       // [m] > 0; default 0.05
    double speed;        // [m/s] > 0; default 1
    double start, stop;  // [s] of the world's time; default 0, INFINITY
} mf_Emitter;
// The defaults of mf_Emitter.
MF_API mf_Emitter mf_emitter(void);

// The motion `fluid`: weakly compressible smoothed particle hydrodynamics. A step of the world is
// divided into as many equal ones as stability demands. Adds the fields
//     particle.pressure       [Pa]    may be negative near the surface
//     particle.pressure_rate  [Pa/s]  in the last step
//     particle.waiting        [1]     1: not emitted yet
// A compression above 5 %, or a depth in a wall of more than 5 % of the spacing, raises
// MF_WARNING_SOLVER with that fraction as residual. MF_BAD_ARGUMENT: a setting, or the group is
// isolated. MF_UNSUPPORTED: the model. MF_NO_MEMORY.
typedef struct mf_FluidConfig {
    uint32_t struct_size; // [byte] set by mf_motions_config()
    double density;       // [kg/m^3] > 0 at rest; default 1000. With the mass m of the model it
                          // gives the spacing of particles at rest, the cube root of m / density
    double sound_speed;   // [m/s] > 0; default 20. At least ten times the fastest flow, and ten
                          // times sqrt(g depth): then the density varies by 1 %
    double viscosity;     // [m^2/s] >= 0 kinematic; default 1e-6. Walls hold the fluid by it
    double artificial_viscosity; // [1] >= 0, alpha of Monaghan (1992): adds alpha c R / 20 between
                                 // particles; default 0.02
    double reach;                // [1] R, the radius within which particles act on each other, over
                                 // the spacing; 1.8 .. 4; default 2
    double diffusion; // [1] 0 .. 0.5 of density (Molteni and Colagrossi 2009); default 0.1
    const mf_Emitter *emitters; // copied
    uint32_t emitter_count;     // [1]
    uint32_t placed;            // [1] particles that are in the world from the start, the first
                                // ones; the others wait for an emitter; default MF_NONE: all
} mf_FluidConfig;

// The motion `grains`: spheres that touch, with the friction of Cundall and Strack (1979), which
// holds piles at rest; the diameter is that of the model's sphere. A step of the world is divided
// into as many equal ones as stability demands. Adds the fields
//     particle.waiting  [1]  1: not emitted yet
//     contact.partner   [1]  of up to 16 contacts: the other grain + 1; 2^31: the ground; 2^31 + 1
//                            + i: solid i; 0: none
//     contact.slip      [m]  elastic displacement of each, world axes: 3 values
// and uses base.angular_velocity [rad/s]. Grains that overlap by more than 5 % of the diameter
// raise MF_WARNING_SOLVER with that fraction as residual, those with more contacts than there is
// space for MF_WARNING_CONTACTS. Errors as of `fluid`.
typedef struct mf_GrainsConfig {
    uint32_t struct_size; // [byte] set by mf_motions_config()
    double stiffness;     // [N/m] >= 0 of a contact along its normal; default 0: such that a column
                          // of 100 grains presses the lowest ones 1 % of the diameter together
    double restitution;   // [1] 0.05 .. 1 of an impact of two grains; default 0.5
    double friction;      // [1] >= 0 between grains; default 0.5
    double wall_friction; // [1] >= 0 with the ground; default 0.5. With solids: of their shapes
    double rolling;       // [1] >= 0 rolling resistance: largest torque over load times radius;
                          // default 0
    const mf_Emitter *emitters; // copied
    uint32_t emitter_count;     // [1]
    uint32_t placed;            // [1] as in mf_FluidConfig
} mf_GrainsConfig;

// The motion `debris`: spheres that collide with the ground and the shapes of robots, by impulses,
// and not with each other; so one step of the world is one step of theirs, however long. The
// diameter is that of the model's sphere. Adds the field particle.waiting as above and uses
// base.angular_velocity [rad/s]. Debris inside of something by more than 10 % of its diameter
// raises MF_WARNING_SOLVER with that fraction as residual. Errors as of `fluid`.
typedef struct mf_DebrisConfig {
    uint32_t struct_size; // [byte] set by mf_motions_config()
    double restitution;   // [1] 0 .. 1 of an impact; default 0.5
    double friction;      // [1] >= 0 with the ground; default 0.5. With solids: of their shapes
    double rolling;       // [1] >= 0 as in mf_GrainsConfig; default 0.1
    const mf_Emitter *emitters; // copied
    uint32_t emitter_count;     // [1]
    uint32_t placed;            // [1] as in mf_FluidConfig
} mf_DebrisConfig;

// [m] Distance of particles at rest: of a fluid as above, of others their diameter. 0: the group
// has neither motion.
MF_API double mf_particles_spacing(const mf_Group *group);
// [1] Substeps of a step of the world; 0: the group does not consist of particles.
MF_API uint32_t mf_particles_substeps(const mf_Group *group);

// Couples all particles of a world with the shapes that collide of its other shared groups, both
// ways: particles are pushed by all convex shapes and the hulls of meshes,
// and robots by particles, where mf_collisions_prepare was called for their group. Fluids act on
// grains and on other fluids from then on, and all have the substeps of the group that needs most.
// Call it after all groups, motions and collisions were added. Without particles it does nothing.
// MF_BAD_ARGUMENT: a second call. MF_UNSUPPORTED: grains larger than the reach of a fluid.
// MF_LIMIT: too many shapes, or more than 16 groups of particles. MF_NO_MEMORY.
MF_API mf_Status mf_particles_couple(mf_World *world, mf_Error *error);
