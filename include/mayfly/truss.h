// Mayfly: trusses of ball-jointed bars, some of which are actuators: a kind of model beside trees
// of links. Their files are models/*.truss.yaml (docs/reference/models.md).
#pragma once

#include <mayfly/model.h>
#include <mayfly/neurons.h>

#define MF_TRUSS_MOST 4096u   // [1] most vertices, and most bars, of a truss
#define MF_TRUSS_TRACE 65536u // [1] most energies of a frame that are kept

typedef struct mf_TrussMaterial {
    double elasticity; // [Pa] > 0 modulus
    double density;    // [kg/m^3] >= 0
    double yield;      // [Pa] >= 0 stress at which it yields; 0: never
} mf_TrussMaterial;
// That of the machines of Lipson and Pollack (2000), the default: 0.896 GPa, 1000 kg/m^3, 19 MPa.
MF_API mf_TrussMaterial mf_truss_material(void);
// "golem", "steel", "aluminum", "abs", "pla", "nylon"; false if unknown.
MF_API bool mf_truss_material_find(const char *name, mf_TrussMaterial *out);

typedef struct mf_TrussVertex {
    double position[3]; // [m] in the frame of the file; z up
    bool fixed[3];      // axes along which it is held
    double load[3];     // [N] that acts on it, in the world
    double mass;        // [kg] >= 0 in addition to its share of the bars
} mf_TrussVertex;

typedef struct mf_TrussBar {
    uint32_t ends[2];   // [1] vertices
    double diameter;    // [m] > 0; default 0.01
    double rest_length; // [m] without force; 0: the distance of its ends
} mf_TrussBar;

typedef struct mf_TrussActuator { // makes a bar change its rest length
    uint32_t bar;                 // [1]
    double lower, upper;          // [m] range of the rest length
    uint32_t neuron;              // [1] that drives it; MF_NONE: the actuator's command
} mf_TrussActuator;

typedef struct mf_Truss {
    const char *file; // path it was read from, or NULL
    const char *name;
    mf_TrussMaterial material;
    const mf_TrussVertex *vertices;
    const mf_TrussBar *bars;
    const mf_TrussActuator *actuators;
    const mf_Neuron *neurons;
    const mf_Synapse *synapses;
    uint32_t vertex_count, bar_count, actuator_count, neuron_count, synapse_count; // [1]
    double cycle;        // [s] period of the network; 0: 0.2
    double delay;        // [s] before its first cycle
    double change;       // [m] most that an actuator changes in a cycle; 0: 0.01
    mf_Context *context; // of what it was read with, or NULL
} mf_Truss;

// ---- files -------------------------------------------------------------------------------------

// Reads and checks a truss's file; errors name file:line:column and what was expected. Free with
// mf_truss_destroy.
MF_API mf_Status mf_truss_load(mf_Context *context, const char *path, mf_Truss **out,
                               mf_Error *error);
MF_API void mf_truss_destroy(mf_Truss *truss); // NULL is fine; of mf_truss_load
// A truss as YAML text; reading it again gives the same truss, but for digits beyond double's.
// From mf_allocate.
MF_API mf_Status mf_truss_write(mf_Context *context, const mf_Truss *truss, char **text,
                                mf_Error *error);

// Gives an instance of a group with neurons the network of a truss that drives its actuators: as
// mf_neurons_set.
MF_API mf_Status mf_neurons_set_truss(mf_Group *group, uint32_t instance, const mf_Truss *truss,
                                      mf_Error *error);

// ---- what a truss is ---------------------------------------------------------------------------

// Whether the truss can be one: counts, finite numbers in range, bars between two different
// vertices, no bar twice, actuators of bars. MF_BAD_ARGUMENT names the member that is wrong:
// "bars[3].ends: ...". MF_LIMIT: more than MF_TRUSS_MOST. NULL: MF_BAD_ARGUMENT.
MF_API mf_Status mf_truss_check(const mf_Truss *truss, mf_Error *error);

typedef struct mf_TrussMass {
    double mass;       // [kg]
    double center[3];  // [m]
    double inertia[6]; // [kg m^2] xx, yy, zz, xy, xz, yz about the center: solid cylinders between
                       // the vertices, and the vertices' own masses
} mf_TrussMass;
// Of a truss that mf_truss_check accepts, at the positions of its vertices. NULL: zeros.
MF_API mf_TrussMass mf_truss_mass(const mf_Truss *truss);

// The model of a group of trusses: one link with the mass and inertia of this one, whose origin is
// the center of mass. The caller destroys *out.
MF_API mf_Status mf_truss_model(mf_Context *context, const mf_Truss *truss, mf_Model **out,
                                mf_Error *error);

// What the geometry says, by the rank of the equilibrium matrix (Pellegrino and Calladine 1986).
typedef struct mf_TrussStatics {
    uint32_t rank;        // [1] of the 3 V x B matrix of bar directions, fixed axes left out
    uint32_t freedoms;    // [1] free axes of vertices
    uint32_t rigid_modes; // [1] of the whole as a body, at most 6
    uint32_t mechanisms;  // [1] further movements without stretching a bar: freedoms - rank -
                          // rigid_modes
    uint32_t redundant;   // [1] states of self-stress: bars - rank
    uint32_t parts;       // [1] that no bar connects
    uint32_t dangling;    // [1] vertices at the end of one bar only, not held
} mf_TrussStatics;
// MF_NO_MEMORY.
MF_API mf_Status mf_truss_statics(mf_Context *context, const mf_Truss *truss, mf_TrussStatics *out,
                                  mf_Error *error);

// Axial force [N] at which a bar of the truss buckles between its joints: pi^2 E I / L^2 (Euler).
// 0: no such bar.
MF_API double mf_truss_euler_load(const mf_Truss *truss, uint32_t bar);
