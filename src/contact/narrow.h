// Where shapes touch, for kernels: MF_LANES robots at once.
//
// The functions are compiled once per instruction set in collide_kernel.c, not again in every
// kernel that calls them. They allocate nothing and hold nothing. A lane depends on its own frames
// only; a lane with a frame that is not finite has no contact. Lanes have the shapes of one plan;
// or, in the copies with MF_COLLIDE_VARIED (collide_varied_kernel.c), shapes of their own.
#pragma once

#include <mayfly/world.h>

#include "contact/collide.h"
#include "math/carve.h"
#include "math/lane_vector.h"

// A value of a shape (MF_COLLIDE_*) or of its box.
#if defined(MF_COLLIDE_VARIED)
#define MF_COLLIDE_KERNEL(name) MF_KERNEL(name##_varied)
typedef struct ShapeValue {
    mf_real lane[MF_BLOCK];
} ShapeValue;
static MF_INLINE mf_lane shape_value(const ShapeValue *value) {
    return mf_load(value->lane);
}
#else
#define MF_COLLIDE_KERNEL(name) MF_KERNEL(name)
typedef mf_real ShapeValue;
static MF_INLINE mf_lane shape_value(const ShapeValue *value) {
    return mf_set(*value);
}
#endif

// The frames that the shapes of a plan move with: frame f is the 12 lanes at first + f stride: axes
// to the world's (9, row after row), then its origin [m] in the world.
typedef struct Frames {
    const mf_lane *first;
    size_t stride;         // [1] lanes from frame to frame
    const ShapeValue *own; // the plan's values of all lanes, where these differ; else NULL
} Frames;

static MF_INLINE Vec shape_vec(const ShapeValue *values) {
    return MF_VALUE(Vec, shape_value(&values[0]), shape_value(&values[1]), shape_value(&values[2]));
}

static MF_INLINE const mf_real *collide_values(const mf_CollidePlan *plan) {
#if defined(MF_KERNEL_F64)
    return mf_collide_values_f64(plan);
#else
    return mf_collide_values_f32(plan);
#endif
}

// The values of shapes and boxes.
static MF_INLINE const ShapeValue *shape_values(const mf_CollidePlan *plan, const ShapeValue *own) {
#if defined(MF_COLLIDE_VARIED)
    (void)plan;
    return own;
#else
    (void)own;
    return collide_values(plan);
#endif
}

typedef struct ShapeContact {
    mf_mask exists; // the lanes that have it; in all others the rest is 0
    Vec point;      // [m] world, in the middle between both surfaces
    Vec normal;     // [1] world, from shape a to shape b of the pair
    mf_lane depth;  // [m] > 0 inside; > -(margin of the pair + reach)
} ShapeContact;

typedef struct Manifold {
    uint32_t count; // [1] contacts that some lane has at most; the others are not set
    mf_mask unsure; // lanes in which the search ended before the depth was known to a thousandth of
                    // the smaller shape
    mf_lane gap;    // [m] in these by how much it may be off, else 0
    ShapeContact contact[MF_COLLIDE_CONTACTS];
} Manifold;

// Corners of a hull, in its axes from its center [m]; 0 where there is none.
typedef struct HullCorners {
    mf_mask exists[4];
    Vec at[4];
} HullCorners;

// Those with which a hull touches a plane (hull.h), in the lanes `where`; `up` is the plane's
// normal in the hull's axes.
void MF_KERNEL(mf_hull_on_plane)(const mf_ConvexHull *hull, mf_mask where, Vec up,
                                 HullCorners *out);

// A box along the world's axes that holds something in all lanes, with a margin.
typedef struct NearBox {
    mf_real low[3], high[3]; // [m]
    uint32_t last;           // [1] the last one of the floating shapes in it
} NearBox;

// Working memory of the broad phase.
typedef struct NearSearch {
    uint32_t *near;   // [1] numbers of pairs
    mf_lane *spheres; // 4 lanes per node of the plan, 3 per shape
    // The tree of boxes over floating shapes (near_boxes.h).
    uint64_t *keys; // 2 per floating shape: in the first half they are in order
    NearBox *boxes; // of floating shapes
    NearBox *nodes; // 1 .. 2 leaf_count - 1: node i holds nodes 2 i and 2 i + 1
    uint32_t leaf_count, next;
} NearSearch;

enum { MF_NEAR_LEAF = 4 }; // [1] floating shapes of a leaf

static inline uint32_t near_leaves(const mf_CollidePlan *plan) {
    uint32_t count = 1;
    while (count * MF_NEAR_LEAF < plan->floating_count)
        count *= 2;
    return count;
}

// [1] Pairs that are found at a time.
static inline uint32_t near_most(const mf_CollidePlan *plan) {
    const uint32_t some = 4 * plan->floating_count;
    return plan->pair_count > some ? plan->pair_count : some;
}

static inline void near_carve(const mf_CollidePlan *plan, mf_Carver *carver, NearSearch *search) {
    const uint32_t floating = plan->floating_count;
    MF_CARVE(carver, search->near, near_most(plan));
    MF_CARVE(carver, search->spheres, 4 * (size_t)plan->node_count + 3 * (size_t)plan->shape_count);
    MF_CARVE(carver, search->keys, 2 * (size_t)floating);
    MF_CARVE(carver, search->boxes, floating);
    MF_CARVE(carver, search->nodes, floating > 0 ? 2 * (size_t)near_leaves(plan) : 0);
}

// The numbers of the listed pairs of which the bounding spheres (of capsules with capsules and
// spheres: they themselves, nearly) are within margin + reach of each other in some lane, in the
// order of the plan's tests, to search->near; returns how many.
uint32_t MF_COLLIDE_KERNEL(mf_collide_near)(const mf_CollidePlan *plan, const Frames *frames,
                                            mf_real reach, NearSearch *search);
// After that, until it returns 0: the same for further pairs of floating shapes, in the order of
// their numbers, as many as there is space for.
uint32_t MF_COLLIDE_KERNEL(mf_collide_near_more)(const mf_CollidePlan *plan, const Frames *frames,
                                                 mf_real reach, NearSearch *search);

// The contacts of a pair that are deeper than -(its margin + reach), `reach` [m] >= 0.
void MF_COLLIDE_KERNEL(mf_collide_pair)(const mf_CollidePlan *plan, uint32_t pair,
                                        const Frames *frames, mf_real reach, Manifold *out);
