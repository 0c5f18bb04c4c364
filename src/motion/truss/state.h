// What a frame works on: the trusses of some lanes, copied from their fields.
//
// Lanes may hold different trusses. Where all have the same bars (copies, mutants of weights) the
// ends of a bar are one number for all lanes and vertices are loaded; else they are gathered. Both
// give the same bits. Functions have that as a constant argument `same`.
#pragma once

#include "math/carve.h"
#include "math/lane_vector.h"
#include "motion/truss/plan.h"
#include "motion/warn.h"
#include "terrain/lookup_lane.h"

typedef struct End {   // a vertex of a bar
    mf_index vertex;   // [1] per lane
    mf_index row;      // [1] its place in the matrix, in vertices
    uint32_t same;     // [1] the vertex where lanes agree
    uint32_t same_row; // [1]
} End;

typedef struct Bar {
    End ends[2];
    mf_lane stiffness; // [N/m] 0: the lane has no such bar
    mf_lane own;       // [N/m] the same, but for a prediction with soft bars
    mf_lane rest;      // [m]
    mf_lane radius;    // [m]
} Bar;

// A point that can touch the ground. All of it is kept during an iteration.
typedef struct Touch {
    mf_lane radius;       // [m]
    mf_lane normal_force; // [N]
    mf_lane rim;          // [m] height of the center above the surface where they touch
    Vec normal;           // [1] of the ground
    Vec anchor;           // [m] where it sticks
    mf_mask stood;        // it touched the ground when the frame began
} Touch;

// What a bar is in the stages of a dynamic step.
typedef struct BarStep {
    mf_lane before, after; // [m] rest length when the step begins and ends
    mf_lane rigidity;      // [N]
    mf_lane length, rate;  // [m], [m/s] when the step begins
    mf_lane reference;     // [m] length from which the stage counts the rate of the length
} BarStep;

typedef struct Pair { // two bars that may meet
    uint32_t first, second;
    mf_real apart; // [m] least distance of their surfaces when they were listed
} Pair;

typedef struct ClosestPoints {
    mf_lane share[2]; // [1] 0 .. 1 of the closest points along the bars
    Vec normal;       // [1] from the first to the second
    mf_lane depth;    // [m] <= 0: apart
} ClosestPoints;

typedef struct BarContact { // of a pair, at the positions
    ClosestPoints closest;
    mf_mask deep; // lanes in which the bars meet
    uint32_t first, second;
} BarContact;

typedef struct Hull { // sphere around a bar
    Vec center;       // [m]
    mf_lane radius;   // [m]
} Hull;

typedef struct Frame {
    const mf_TrussBlock *block;
    const mf_TrussPlan *plan;
    mf_mask alive;
    bool same;                                 // all lanes that are alive have the same bars
    uint32_t vertices, bars, actuators, width; // [1] most of these lanes; width in vertices
    bool direct;                               // bars that meet are in the matrix
    mf_LaneMap map;
    mf_lane share;        // [1] of the stiffness of contacts in the energy; 1 in a frame
    mf_lane spring, grip; // [N/m] of contacts times `share`
    mf_lane stage;        // [s] duration of a stage of a dynamic step
    mf_mask driven;       // lanes in which an actuator changes
    mf_mask nearly;       // lanes whose matrix is complete: near the minimum, or slow
    mf_lane load;         // [N] of the lane, which the tolerance is relative to
    Vec *position;        // per vertex
    Vec *start;           // per vertex, at the beginning of the frame
    Vec *gradient;        // per vertex, of the energy at `position`
    Vec *trial;           // per vertex
    Vec *pull;            // per vertex: weight, load and noise [N]
    mf_lane *mass;        // per vertex [kg]
    End *own;             // per vertex: itself
    mf_index *fixed;      // per vertex: bits of axes
    bool holds;           // some vertex is fixed along some axis
    Vec *movement;        // per vertex, of the last frame [m]; without inertia
    Vec *change;          // per vertex, of the movement from the frame before; without inertia
    Vec *entry;           // per vertex, before the prediction; without inertia
    Vec *velocity;        // per vertex, at the beginning of a dynamic step
    Vec *early;           // per vertex: gradient of the energy of bars and loads then
    Vec *base;            // per vertex: (position - base) / stage is the velocity in a stage
    Vec *predicted;       // per vertex: where a stage would end without forces
    Bar *bar;
    BarStep *bar_step;
    Touch *touch;
    Pair *pair;
    uint32_t pair_count;
    mf_real closer; // [m] most by which two bars can have come closer since they were listed
    Hull *hull;     // per bar, when pairs are listed
    BarContact
        *bar_contacts; // of the first pairs that touch at the positions, kept for an iteration
    uint32_t bar_contact_count;
    uint32_t bar_contact_next;                // [1] the first pair behind those
    uint32_t *bars_first, *first;             // of the rows of vertices: by bars, with what meets
    mf_lane *matrix, *factor;                 // bands, row after row
    mf_lane *inverse;                         // of the factor's diagonal
    mf_lane *step;                            // per row: right-hand side, then the solution
    mf_lane *rest, *search, *image, *product; // per row, for systems with pairs (newton.h)
    Warnings warnings;
} Frame;

enum { AXES = 3 };

// ---- vertices of a bar -------------------------------------------------------------------------

static MF_INLINE mf_index component_of(mf_index vertex, int axis) {
    return (vertex * mf_set_index(AXES) + mf_set_index(axis)) * mf_set_index(MF_LANES) +
           mf_lane_numbers();
}

static MF_INLINE Vec vertex_get(const Vec *table, const End *end, bool same) {
    if (same)
        return table[end->same];
    const mf_real *values = (const mf_real *)(const void *)table;
    return MF_VALUE(Vec, mf_gather(values, component_of(end->vertex, 0)),
                    mf_gather(values, component_of(end->vertex, 1)),
                    mf_gather(values, component_of(end->vertex, 2)));
}

static MF_INLINE void vertex_add(Vec *table, const End *end, bool same, mf_mask where, Vec value) {
    Vec sum = vec_add(vertex_get(table, end, same), value);
    if (same) {
        table[end->same] = vec_select(where, sum, table[end->same]);
        return;
    }
    mf_real *values = (mf_real *)(void *)table;
    mf_scatter(where, values, component_of(end->vertex, 0), sum.x);
    mf_scatter(where, values, component_of(end->vertex, 1), sum.y);
    mf_scatter(where, values, component_of(end->vertex, 2), sum.z);
}

// The same vertex where arrays have the order of the matrix.
static MF_INLINE End end_in_rows(const End *end) {
    return MF_VALUE(End, end->row, end->row, end->same_row, end->same_row);
}

// The largest of the lanes' values; what is no number does not count.
static inline mf_real lanes_most(mf_lane a) {
    MF_ALIGNED(64) mf_real values[MF_LANES];
    mf_store(values, a);
    mf_real most = (mf_real)-1e30;
    for (int lane = 0; lane < MF_LANES; lane++)
        most = values[lane] > most ? values[lane] : most;
    return most;
}

// Largest size of a component.
static MF_INLINE mf_lane vec_most(Vec a) {
    return mf_max(mf_abs(a.x), mf_max(mf_abs(a.y), mf_abs(a.z)));
}

// ---- working memory ----------------------------------------------------------------------------

// Entries of a row of a band: those at most `width` vertices before the diagonal's.
static MF_INLINE uint32_t band_entries(uint32_t width) {
    return AXES * (width + 1);
}

// [1] Up to so many vertices, bars that meet are in the matrix, whose band is then as wide as they
// need. For more it is faster to leave them out and correct the solution (newton.h).
enum { MF_TRUSS_DIRECT = 32 };

static inline size_t band_values(const mf_TrussPlan *plan) {
    const size_t band = (size_t)AXES * plan->vertices * band_entries(plan->width);
    const uint32_t few = plan->vertices < MF_TRUSS_DIRECT ? plan->vertices : MF_TRUSS_DIRECT;
    const size_t full = (size_t)AXES * few * band_entries(few - 1);
    return plan->pairs && full > band ? full : band;
}

static inline uint32_t bar_contacts_kept(const mf_TrussPlan *plan) {
    return 4 * plan->bars;
}

static inline void frame_carve(const mf_TrussPlan *plan, mf_Carver *carver, Frame *f) {
    const uint32_t rows = AXES * plan->vertices;
    MF_CARVE(carver, f->position, plan->vertices);
    MF_CARVE(carver, f->start, plan->vertices);
    MF_CARVE(carver, f->gradient, plan->vertices);
    MF_CARVE(carver, f->trial, plan->vertices);
    MF_CARVE(carver, f->pull, plan->vertices);
    MF_CARVE(carver, f->mass, plan->vertices);
    MF_CARVE(carver, f->own, plan->vertices);
    MF_CARVE(carver, f->fixed, plan->vertices);
    const uint32_t moving = plan->dynamic ? plan->vertices : 0;
    MF_CARVE(carver, f->velocity, moving);
    MF_CARVE(carver, f->movement, plan->vertices - moving);
    MF_CARVE(carver, f->change, plan->vertices - moving);
    MF_CARVE(carver, f->entry, plan->vertices - moving);
    MF_CARVE(carver, f->early, moving);
    MF_CARVE(carver, f->base, moving);
    MF_CARVE(carver, f->predicted, moving);
    MF_CARVE(carver, f->bar, plan->bars);
    MF_CARVE(carver, f->bar_step, plan->dynamic ? plan->bars : 0);
    MF_CARVE(carver, f->touch, mf_truss_contacts(plan));
    MF_CARVE(carver, f->pair, plan->pairs ? (size_t)plan->bars * (plan->bars + 1) / 2 : 0);
    MF_CARVE(carver, f->hull, plan->pairs ? plan->bars : 0);
    MF_CARVE(carver, f->bar_contacts, plan->pairs ? bar_contacts_kept(plan) : 0);
    MF_CARVE(carver, f->bars_first, plan->vertices);
    MF_CARVE(carver, f->first, plan->vertices);
    MF_CARVE(carver, f->matrix, band_values(plan));
    MF_CARVE(carver, f->factor, band_values(plan));
    MF_CARVE(carver, f->inverse, rows);
    MF_CARVE(carver, f->step, rows);
    MF_CARVE(carver, f->rest, plan->pairs ? rows : 0);
    MF_CARVE(carver, f->search, plan->pairs ? rows : 0);
    MF_CARVE(carver, f->image, plan->pairs ? rows : 0);
    MF_CARVE(carver, f->product, plan->pairs ? rows : 0);
}
