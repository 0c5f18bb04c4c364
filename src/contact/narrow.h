// Where shapes touch, for kernels: MF_LANES robots at once.
//
// The functions are compiled once per instruction set in collide_kernel.c, not again in every
// kernel that calls them. They allocate nothing and hold nothing. A lane depends on its own frames
// only; a lane with a frame that is not finite has no contact.
#pragma once

#include "contact/collide.h"
#include "math/lane_vector.h"

// The frames that the shapes of a plan move with: frame f is the 12 lanes at first + f stride: axes
// to the world's (9, row after row), then its origin [m] in the world.
typedef struct Frames {
    const mf_lane *first;
    size_t stride; // [1] lanes from frame to frame
} Frames;

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

// The numbers of the pairs of which the bounding spheres (of capsules with capsules and spheres:
// they themselves, nearly) are within margin + reach of each other in some lane, in the order of
// the plan's tests, to `near` (space for pair_count); returns how many. `spheres` is space for 4
// lanes per node of the plan and 3 per shape.
uint32_t MF_KERNEL(mf_collide_near)(const mf_CollidePlan *plan, const Frames *frames, mf_real reach,
                                    mf_lane *spheres, uint32_t *near);

// The contacts of a pair that are deeper than -(its margin + reach), `reach` [m] >= 0.
void MF_KERNEL(mf_collide_pair)(const mf_CollidePlan *plan, uint32_t pair, const Frames *frames,
                                mf_real reach, Manifold *out);
