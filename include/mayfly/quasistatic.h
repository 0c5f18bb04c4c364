// Mayfly: quasi-static trusses. Each step is one frame: the vertices move to the nearest minimum of
// the energy of bars, weight, loads, ground and bars that meet (docs/explanation/quasistatic.md).
#pragma once

#include <mayfly/truss.h>
#include <mayfly/world.h>

// The way to the minimum; both end at the same tolerance.
typedef enum mf_QuasistaticMethod {
    MF_QUASISTATIC_NEWTON,   // second derivatives, in a band matrix
    MF_QUASISTATIC_GRADIENT, // steepest descent, for comparisons: 1,000 and more times the
                             // iterations
} mf_QuasistaticMethod;

// Of groups in double precision, whose model is mf_truss_model() of the truss; the fields are in
// docs/explanation/quasistatic.md. MF_BAD_ARGUMENT names the setting that is wrong. MF_UNSUPPORTED:
// the group is in float, in which bars as stiff as these have no digits left.
typedef struct mf_QuasistaticConfig {
    uint32_t struct_size;               // [byte] set by mf_motions_config()
    const mf_Truss *truss;              // of every instance at first; borrowed while it is added
    uint32_t vertices, bars, actuators; // [1] space for other trusses; 0, or less than the truss
                                        // has: as many as it has
    bool contacts;                      // with the ground; default true
    bool collisions;                    // of bars with bars of the same truss; default true
    uint32_t samples;      // [1] points between a bar's ends that meet a height map, 0 .. 16;
                           // default 3. Level ground meets vertices only
    double friction;       // [1] >= 0 with the ground; default 0.5
    double stiffness;      // [N/m] > 0 of contacts; default 1e5
    double grip;           // [N/m] > 0 of sticking contacts along the ground; default 1e4
    double strengthening;  // [1/m] >= 0 by which friction rises with the slip of a frame:
                           // of equal feet that push against each other all slip; default 2. Not of
                           // `elastic`
    double noise;          // [N] >= 0 standard deviation of a random force on each axis of
                           // each vertex, new in each frame; default 0
    double actuator_speed; // [m/s] > 0 fastest change of an actuator; default 0.1
    double tolerance;      // [1] > 0 largest force left at a vertex, as a share of the load
                           // (weight and loads of the truss); default 1e-6
    mf_QuasistaticMethod method; // default MF_QUASISTATIC_NEWTON
    double relaxation;           // [m/N] >= 0 movement per force in an iteration of the gradient,
                                 // the relaxation factor of Lipson and Pollack: stable below twice
                                 // the inverse of the largest stiffness; 0, the default: it adapts
    uint32_t trace;              // [1] 0 .. MF_TRUSS_TRACE iterations of a frame whose energies are
                                 // kept in frame.trace; default 0. Not of `elastic`
    uint32_t iterations;         // [1] >= 1 most in a frame; default 500
    double reach;                // [m] > 0 longest movement of a vertex in an iteration; default
                                 // 0.02
    double jump;                 // [m] > 0 a longer movement in a frame raises a warning: it would
                                 // need time; default 0.05
    double damping; // [s] >= 0 of bars, for the motion `elastic` only: force per rate of
                    // the length, over their stiffness; default 0
} mf_QuasistaticConfig;

// Makes an instance another truss, also under the motion `elastic`, which must fit into the group's
// capacity, and resets it. Other instances do not change. MF_LIMIT: it does not fit.
// MF_BAD_ARGUMENT: as mf_truss_check.
MF_API mf_Status mf_quasistatic_set(mf_Group *group, uint32_t instance, const mf_Truss *truss,
                                    mf_Error *error);
