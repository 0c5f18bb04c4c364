// A plan of collisions while it is made: its structure, and its arrays as ordinary pointers, NULL
// until they are there.
#pragma once

#include "contact/collide.h"

typedef struct mf_CollideDraft {
    mf_CollidePlan plan;
    MF_COLLIDE_ARRAYS(MF_FLAT_POINTER, )
    const mf_HullSet *hulls; // the caller's
    mf_Context *context;
} mf_CollideDraft;

// The link with the floating joint that carries `link` and hangs on nothing that moves; MF_NONE.
uint32_t mf_collide_floating_root(const mf_Model *model, uint32_t link);

// Fills classes, pairs, floating shapes and their surfaces of a plan of which the shapes stand.
mf_Status mf_collide_make_pairs(mf_CollideDraft *draft, const mf_Model *model, mf_Error *error);

// Fills nodes and tests of a plan of which shapes and pairs stand. `groups` has one number per
// shape: shapes of one group move together, groups[i] is an index into `parents`, which has for
// each of the `group_count` groups the group that carries it (smaller) or MF_NONE.
mf_Status mf_collide_make_tree(mf_CollideDraft *draft, const uint32_t *groups,
                               const uint32_t *parents, uint32_t group_count, mf_Error *error);
