// The constraint problem of one robot (problem.h) for a solver whose cost grows with the number of
// constraints: for models of many dofs, such as a thousand boxes in a bin.
#pragma once

#include "math/carve.h"
#include "math/kernel.h"
#include "motion/articulated/plan.h"

typedef enum ConstraintKind {
    CONSTRAINT_QUADRATIC, // both ways: equality constraints
    CONSTRAINT_DRY,       // Huber's cost: dry friction
    CONSTRAINT_ONE_SIDED, // one way: limits, contacts without friction
    CONSTRAINT_PYRAMID,
    CONSTRAINT_ELLIPTIC
} ConstraintKind;

// As Constraint of problem.h, for one robot.
typedef struct mf_SparseConstraint {
    ConstraintKind kind;
    uint32_t rows, row, first, first_slot, count; // [1]
    double most, cone, stiff, friction[5];
} mf_SparseConstraint;

// Values are mf_real of the kernel, `stride` of them apart, in the layout of Problem.
typedef struct mf_Sparse {
    const mf_ArtPlan *plan;
    uint32_t constraint_count; // [1]
    const mf_SparseConstraint *constraints;
    const uint16_t *slots;
    uint32_t stride; // [1]
    const void *weight, *rest, *numbers, *mass, *free;
    const void *warm;        // accelerations of the previous step, MF_BLOCK apart; NULL: none
    mf_Carver memory;        // of mf_articulated_sparse_scratch_size bytes
    void *x, *force, *slack; // out: also slacks, which the pass against slip reads
    double residual;         // [1] out: root of the relative gain of a further step
    uint32_t steps;          // [1] out
    bool ended;              // out: within the tolerance, not by the number of steps
} mf_Sparse;

MF_KERNEL_COPIES(void, mf_articulated_sparse, (mf_Sparse * sparse));
// [byte]
MF_KERNEL_COPIES(size_t, mf_articulated_sparse_scratch_size, (const mf_ArtPlan *plan));
