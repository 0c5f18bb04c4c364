// The distance of two solids, apart or overlapping, for one pair at a time in double.
#pragma once

#include "contact/collide.h"

typedef struct mf_GapSolid {
    mf_CollideKind kind;       // no plane
    const double *values;      // rows MF_COLLIDE_HALF .. MF_COLLIDE_RADIUS are read
    const mf_ConvexHull *hull; // of MF_COLLIDE_HULL
    double rotation[9];        // [1] its axes to the world's, row after row
    double position[3];        // [m] its center, world
} mf_GapSolid;

typedef struct mf_Gap {
    double distance;     // [m] between the surfaces; < 0: how far one must move to part them
    double normal[3];    // [1] from a to b
    double points[2][3]; // [m] nearest points of a and b, world; of overlapping solids the deepest
} mf_Gap;

// False, with nothing set, where a solid is not finite.
bool mf_gap_between(const mf_GapSolid *a, const mf_GapSolid *b, mf_Gap *out);

typedef struct mf_GapContact {
    double point[3];  // [m] in the middle between both surfaces, world
    double normal[3]; // [1] from a to b
    double depth;     // [m] < 0: apart by so much
} mf_GapContact;

// The same in the arithmetic of the kernels, for finite solids with kind of a <= kind of b.
bool mf_gap_search_scalar_f64(const mf_GapSolid *a, const mf_GapSolid *b, mf_GapContact *out);
