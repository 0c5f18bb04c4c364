// A constraint problem (problem.h) for a solver whose cost grows with the number of constraints: of
// a robot of many dofs, such as a thousand boxes in a bin, or of several robots that touch.
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

// As Constraint of problem.h, for one lane.
typedef struct mf_SparseConstraint {
    ConstraintKind kind;
    uint32_t rows, row, first, first_slot, count; // [1]
    double most, cone, stiff, friction[5];
} mf_SparseConstraint;

// Counts of a problem, or the most that there is space for.
typedef struct mf_SparseSize {
    uint32_t dofs, entries;              // [1] entries of half the mass matrix
    uint32_t constraints, rows, numbers; // [1] numbers of Jacobians, at least as many as slots
} mf_SparseSize;

enum { MF_SPARSE_LANES = 16 };

// [byte] of memory that the solver takes in any case, whatever its lanes: the constraints, rows and
// numbers of `size` are those of lanes, full ones or not, MF_SPARSE_LANES for a class at least.
static inline size_t mf_sparse_bytes(const mf_SparseSize *size) {
    const size_t arrays = 60 * 64 + 4096;
    return arrays + (size_t)1600 * size->dofs + (size_t)272 * size->entries +
           (size_t)448 * size->constraints + (size_t)56 * size->rows + (size_t)16 * size->numbers;
}

// Values are mf_real of the kernel, `stride` of them apart, in the layout of Problem.
typedef struct mf_Sparse {
    uint32_t dofs, entries;    // [1]
    const uint32_t *start;     // rows of half the mass matrix: the trees
    const uint16_t *column;    // of a row: its dof last, and before it ends the row of any of them
    const uint32_t *tree;      // [1] per dof the first one of its tree; NULL: the first of its row
    uint32_t steps_most;       // [1] of Newton's method
    double gain;               // smallest gain worth a step
    uint32_t constraint_count; // [1]
    const mf_SparseConstraint *constraints;
    const uint16_t *slots;
    uint32_t stride, warm_stride; // [1]
    const void *weight, *rest, *numbers, *mass, *free;
    const void *warm; // accelerations of the previous step; NULL: none
    mf_Carver memory;
    size_t memory_size;      // [byte] mf_articulated_sparse_scratch_size are enough
    void *x, *force, *slack; // out: also slacks, which the pass against slip reads
    double residual;         // [1] out: root of the relative gain of a further step
    uint32_t steps;          // [1] out
    bool ended;              // out: within the tolerance, not by the number of steps
    bool solved;             // out: there was memory for it
} mf_Sparse;

// The problem of one robot for a solver of several, in double. What it has space for is the
// caller's.
typedef struct mf_ArtProblem {
    mf_SparseSize most, size;
    bool whole;                         // out: all of it is there
    double *mass, *free, *speed, *warm; // per entry; per dof
    // Per dof: with what resists at the end of the step M has `slope` more on its diagonal, and the
    // acceleration without constraints is `change` more.
    double *slope, *change;
    double (*axis)[3];   // [1] per dof, world axes
    double (*origin)[3]; // [m] of plan link l at l + 1, from the base's, world axes
    // Likewise the link's rate [rad/s], and its angular acceleration [rad/s^2] and that of its
    // origin [m/s^2] while the velocities of all dofs stay.
    double (*drift)[9];
    mf_SparseConstraint *constraints;
    uint16_t *slots;
    double *weight, *rest, *numbers;
} mf_ArtProblem;

MF_KERNEL_COPIES(void, mf_articulated_sparse, (mf_Sparse * sparse));
// [byte] Of a large plan; 0: of another one.
MF_KERNEL_COPIES(size_t, mf_articulated_sparse_scratch_size, (const mf_ArtPlan *plan));
// The most that the problem of a robot can have.
MF_KERNEL_COPIES(void, mf_articulated_problem_size, (const mf_ArtPlan *plan, mf_SparseSize *most));
