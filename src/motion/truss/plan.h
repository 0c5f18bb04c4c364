// What the kernels of trusses read: settings and sizes as a flat image, and the rows of the fields
// of some lanes. docs/explanation/quasistatic.md has the equations.
#pragma once

#include <mayfly/quasistatic.h>

#include "math/kernel.h"
#include "motion/dispatch.h"
#include "terrain/image.h"

// Sizes and settings of a group, frozen before the first step.
typedef struct mf_TrussPlan {
    uint32_t bytes;
    uint32_t vertices, bars, actuators; // [1] most of an instance
    uint32_t width;                     // [1] most of the matrix's band, in vertices
    uint32_t samples;           // [1] points of a bar between its ends that touch the ground
    bool ground;                // vertices and bars touch it
    bool level;                 // it is flat
    bool pairs;                 // bars touch bars
    bool descend;               // by the gradient, instead of Newton's method
    bool dynamic;               // vertices have inertia: the motion `elastic`
    uint32_t iterations;        // [1] most of a frame
    uint32_t trace;             // [1] iterations of a frame whose energies are kept
    double relaxation;          // [m/N] fixed step of a descent; 0: it adapts
    double gravity[3];          // [m/s^2]
    double height;              // [m] of level ground
    double stiffness, friction; // [N/m] of contacts, [1]
    double grip;                // [N/m] of a contact that sticks, along the ground
    double strengthening;       // [1/m] of friction with the slip of a frame
    double tolerance;           // [1] of the load
    double reach;               // [m] longest movement of a vertex in an iteration
    double noise;               // [N]
    double change;              // [m] most by which an actuator changes in a frame
    double yield, elasticity;   // [Pa]
    double jump;                // [m] longer movement in a frame is flagged
    double damping;             // [s] of bars: force per rate, over their stiffness
    uint64_t seed;
} mf_TrussPlan;

// The rows of the lanes to step, each from the first of these lanes on; components are MF_BLOCK
// apart. Integers are uint32_t, the others double.
typedef struct mf_TrussBlock {
    const mf_TrussPlan *plan;
    const mf_TerrainImage *terrain;
    void *scratch;
    uint64_t tick;
    double step;                         // [s]
    uint32_t *counts;                    // truss.counts: vertices, bars, actuators, band width
    uint32_t *ends, *order, *fixed;      // bar.ends, vertex.order, vertex.fixed
    double *mass, *radius, *load;        // vertex.mass, vertex.radius, vertex.load
    double *rest, *rigidity, *diameter;  // bar.rest_length, bar.rigidity, bar.diameter
    uint32_t *actuator;                  // actuator.bar
    uint32_t *stream;                    // noise.stream
    double *range, *command;             // actuator.range, actuator.control
    double *position, *anchor, *contact; // vertex.position, contact.anchor, contact.force
    double *velocity;                    // vertex.velocity; NULL: quasi-static
    double *movement, *change;           // vertex.movement, .movement_change
    double *force, *stress;              // bar.force, bar.stress
    double *base, *linear;               // base.position, base.linear_velocity
    double *relaxation;                  // frame.relaxation: energy, residual, movement
    uint32_t *iterations;                // frame.iterations
    double *trace;                       // frame.trace; NULL: not kept
    uint32_t *traced;                    // frame.traced; likewise
    uint32_t *fault;
    mf_WarningRows warnings;
} mf_TrussBlock;

enum { MF_TRUSS_VERTICES, MF_TRUSS_BARS, MF_TRUSS_ACTUATORS, MF_TRUSS_WIDTH, MF_TRUSS_COUNTS };

// Working memory of the lanes at once [byte], and one frame of them.
#define MF_TRUSS_COPIES(result, name, arguments)                                                   \
    result name##_scalar_f64 arguments;                                                            \
    result name##_avx2_f64 arguments;                                                              \
    result name##_avx512_f64 arguments;                                                            \
    result name##_single_f64 arguments
MF_TRUSS_COPIES(size_t, mf_truss_scratch_size, (const mf_TrussPlan *plan));
MF_TRUSS_COPIES(void, mf_truss_frame, (const mf_TrussBlock *block));
typedef void (*mf_TrussFrameFn)(const mf_TrussBlock *block);

// Points that can touch the ground: the vertices, then `samples` of each bar.
static inline uint32_t mf_truss_contacts(const mf_TrussPlan *plan) {
    return plan->ground ? plan->vertices + plan->bars * plan->samples : 0;
}
