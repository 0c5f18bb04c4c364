// Dispatch of a motion's kernels over the blocks of a group: in parts of as many lanes as the
// kernel has, and only for robots with that motion. In a group of several motions the field
// motion.level has the motion of each robot; a kernel treats a robot with another one like one that
// is frozen by a fault, so kernels do not depend on levels.
#pragma once

#include <mayfly/motion.h>

#include "base/scratch.h"
#include "math/kernel.h"
#include "world/attach.h"

typedef struct mf_Dispatch {
    mf_Field *fault; // fault.word
    mf_Field *level; // motion.level; NULL: all robots move by this motion
    // Per robot, in whole blocks: not 0 where others move it in this step; NULL: none.
    const uint32_t *carried;
    mf_Motion own;
    uint32_t lanes;      // [1] of the wide kernel
    mf_Scratch *scratch; // working memory of a piece, the world's; NULL: none
} mf_Dispatch;

// A piece of a block: the lanes from `lane` on, as many as the wide kernel has, or one.
typedef struct mf_DispatchUnit {
    uint32_t block, lane;
    bool single;
    uint32_t *fault; // fault words of the lanes, nonzero for robots to pass over
    void *scratch;   // a block of pieces->scratch, NULL where there is none
} mf_DispatchUnit;

// Steps the lanes of a piece.
typedef void (*mf_DispatchFn)(const void *plan, const mf_DispatchUnit *piece);

// The fault and level fields of the group as they are now; a motion that is to share a group with
// others finds motion.level there when it is added.
mf_Dispatch mf_dispatch_bind(mf_Group *group, mf_Motion own);

// The copies of kernels for the group's instruction set and precision.
mf_KernelPick mf_dispatch_kernels(const mf_Group *group);

// Where a kernel finds a field: the value of component 0 of a lane of a block. Components are
// MF_BLOCK values apart.
typedef struct mf_Row {
    char *base;    // NULL: the group does not have the field
    size_t stride; // [byte] from block to block
    size_t value;  // [byte]
    size_t low;    // [byte] from a value to its remainder (math/lane_sum.h); 0: it has none
} mf_Row;
mf_Row mf_row(const mf_Field *field); // of NULL: a row without base
static inline void *mf_row_at(const mf_Row *row, uint32_t block, uint32_t lane) {
    return row->base == NULL ? NULL : row->base + block * row->stride + lane * row->value;
}

// The fields that every group has, in this order: base.position, .orientation, .linear_velocity,
// .angular_velocity; and of models with joints joint.angle, .rate, .target.
enum { MF_BODY_ROWS = 4, MF_TREE_ROWS = 7 };
void mf_canonical_rows(mf_Group *group, mf_Field **rows, uint32_t count);
// The same for motions that compute them from other fields: they are no inputs.
void mf_derived_rows(mf_Group *group, mf_Field **rows, uint32_t count);

// The rows of warnings of the lanes to step, from the first one on; components are MF_BLOCK apart.
typedef struct mf_WarningRows {
    uint32_t *word, *steps; // NULL: none are kept
    void *residual;
} mf_WarningRows;
mf_WarningRows mf_warning_rows(const mf_WarningFields *fields, uint32_t block, uint32_t lane);

// Working memory of at least `size` bytes, which all groups of the world share for work that takes
// no other of it meanwhile; the world owns it. MF_NO_MEMORY.
mf_Status mf_world_scratch(mf_World *world, size_t size, mf_Scratch **out, mf_Error *error);

// Takes working memory for kernels that need `wide` and `one` bytes.
mf_Status mf_dispatch_make_scratch(mf_Group *group, mf_Dispatch *dispatch, size_t wide, size_t one,
                                   mf_Error *error);

// Calls `step` for all pieces of the blocks of `run`.
void mf_dispatch_run(const mf_Dispatch *dispatch, const mf_SystemRun *run, mf_DispatchFn step,
                     const void *plan);
