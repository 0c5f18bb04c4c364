// Kernels of compounds: poses of the links of robots, and contacts of two compounds. Robots are
// lanes of blocks of sixteen; the pairs of solids of any two robots are put into the lanes of one
// call of the narrow phase.
//
// Nothing is allocated or stored. A robot whose state is not finite has no contacts.
#pragma once

#include "contact/compound.h"
#include "math/kernel.h"

#include <mayfly/world.h>

enum { MF_ALL_ROBOTS = (1 << MF_BLOCK) - 1 };

// Writes the rows of `parts` (mf_compound_rows(compound) of 16 values in the kernel's precision)
// for those of the sixteen robots of a block whose bits are set in `robots`; the others' rows are
// written or left.
MF_KERNEL_COPIES(void, mf_compound_refit,
                 (const mf_Compound *compound, const mf_TreeState *state, uint32_t robots,
                  void *parts));

// How far any point of a solid can have moved against the base's origin since the last call [m], at
// most, along the world's axes, of the sixteen robots of a block of a compound that is `hinged`:
// the rotation of the base times the reach of the robot, and that of each joint times the reach of
// what it carries.
// `memory` is space for mf_compound_drift_rows(compound) rows of 16 values in the kernel's
// precision, which a call leaves for the next; NaN where one of both states was not a number.
MF_KERNEL_COPIES(void, mf_compound_drift,
                 (const mf_Compound *compound, const mf_TreeState *state, void *memory,
                  double drift[MF_BLOCK]));

static inline size_t mf_compound_drift_rows(const mf_Compound *compound) {
    return 4 + (size_t)compound->link_count;
}

typedef struct mf_CompoundSide {
    const mf_Compound *compound;
    const void *parts; // of its block
    uint32_t lane;
} mf_CompoundSide;

typedef struct mf_CompoundPair {
    mf_CompoundSide sides[2];
    double direction[3]; // [m] from the first one's base origin to the second one's
    bool inner;          // both sides are one robot: its limbs against each other
    bool fixed;          // something holds a link of each together, so that these do not touch
    uint32_t links[2];   // [1] these
} mf_CompoundPair;

typedef struct mf_CompoundTouch {
    uint32_t pair;      // [1] of the call
    uint32_t solids[2]; // [1] of the first and second side
    uint32_t order;     // [1] rises
    double point[3];    // [m] from the first one's base origin, world axes
    double normal[3];   // [1] from the first to the second
    double depth;       // [m] > 0
} mf_CompoundTouch;

// A pair of solids that is to be examined.
typedef struct mf_CompoundLeaf {
    uint32_t pair;      // [1]
    uint32_t solids[2]; // [1] of the first and second side
    bool swapped;       // the narrow phase takes the second first
    uint32_t next;      // [1] leaf of the same kinds
} mf_CompoundLeaf;

// A pair of nodes that is to be descended into.
typedef struct mf_CompoundTwo {
    uint32_t a, b;
    bool apart; // what they are parts of does not touch: only the gap is requested
} mf_CompoundTwo;

enum { MF_COMPOUND_LEAVES = 512 }; // [1] pairs of solids that are gathered before they are examined

// [byte] of scratch for mf_compound_search with compounds of at most `solids` solids: the leaves,
// then the pairs of nodes.
static inline size_t mf_compound_search_scratch_size(uint32_t solids) {
    return MF_COMPOUND_LEAVES * sizeof(mf_CompoundLeaf) +
           4 * ((size_t)solids + 1) * sizeof(mf_CompoundTwo);
}

typedef struct mf_CompoundSearch {
    const mf_CompoundPair *pairs;
    uint32_t pair_count;       // [1]
    mf_CompoundTouch *touches; // in order of pairs, then of the descent; space for `capacity`
    uint32_t capacity;         // [1]
    uint32_t touch_count;      // [1] of them, set
    // NULL, or per pair: set to how far its solids are apart [m] at least; 0 where nothing is
    // known, as of `fixed` pairs. The descent goes on, for the gap alone, until it is as wide as
    // `target_gap` or down to the leaves.
    double *gaps;
    double target_gap;                       // [m]
    uint64_t bound_tests, solid_tests, lost; // [1] set; lost: touches beyond the capacity
    void *scratch; // mf_compound_search_scratch_size bytes, aligned to 8, which nobody else uses
                   // meanwhile
} mf_CompoundSearch;

// Where the compounds of each pair touch: descends into the bigger of two spheres.
MF_KERNEL_COPIES(void, mf_compound_search, (mf_CompoundSearch * search));

// Whether a ball about `position` [m], from the base origin of `side`, reaches the sphere of a
// solid.
MF_KERNEL_COPIES(bool, mf_compound_within,
                 (const mf_CompoundSide *side, const double position[3], double radius,
                  uint64_t *tests));

typedef void (*mf_CompoundRefitFn)(const mf_Compound *, const mf_TreeState *, uint32_t robots,
                                   void *);
typedef void (*mf_CompoundDriftFn)(const mf_Compound *, const mf_TreeState *, void *, double *);
typedef void (*mf_CompoundSearchFn)(mf_CompoundSearch *);
typedef bool (*mf_CompoundWithinFn)(const mf_CompoundSide *, const double *, double, uint64_t *);
