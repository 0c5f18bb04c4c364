// Inside of common problems: solver_common.c makes and solves them, solver_common_rows.c adds the
// rows between robots.
#pragma once

#include "motion/articulated/constraint/sparse.h"
#include "solve/solver.h"

typedef struct mf_CommonProblem { // of an island
    mf_SparseSize size;           // so far
    uint32_t *start, *tree;
    uint16_t *column, *slots;
    double *mass, *free, *speed, *warm, *weight, *rest, *numbers, *x, *force, *slack;
    mf_SparseConstraint *constraints;
} mf_CommonProblem;

// The side of a constraint that moves; motion NULL: there is none.
typedef struct mf_CommonArm {
    const mf_ArtMotion *motion;
    const mf_ArtProblem *own;
    int32_t link;    // of the plan
    uint32_t dof;    // [1] the robot's first one in the island
    double point[3]; // [m] where it acts, from the base
    double sign;
} mf_CommonArm;

// What a joint may have: a row along and about each axis, motor and stops.
enum { MF_COMMON_JOINT_CONSTRAINTS = 4, MF_COMMON_JOINT_ROWS = MF_JOINT_ROWS + 3 };

static inline const mf_SolverCommon *mf_common_of(const mf_Solver *solver,
                                                  const mf_SolverBody *body) {
    return &solver->common[body->group];
}

static inline mf_ArtProblem *mf_common_problem_of(const mf_Solver *solver,
                                                  const mf_SolverBody *body) {
    return &mf_common_of(solver, body)->problems[body->instance];
}

// The body of a side, or NULL if it does not answer.
static inline const mf_SolverBody *
mf_common_side(const mf_Solver *solver, const mf_SolverConstraint *constraint, uint32_t side) {
    if (constraint->node[side] == MF_NONE)
        return NULL;
    const mf_SolverBody *body = &solver->bodies[solver->nodes[constraint->node[side]].body];
    return body->moves ? body : NULL;
}

mf_CommonArm mf_common_arm(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                           uint32_t side);
// [1] Dofs that move the link of an arm.
uint32_t mf_common_arm_dofs(const mf_CommonArm *arm);
// Their numbers in the island, rising, at slots[end - count] .. slots[end - 1], and what `rows`
// rows along and about `axes` measure of them, row after row per dof, at the same places of
// `numbers`.
void mf_common_arm_fill(const mf_CommonArm *arm, const double (*axes)[3], uint32_t rows,
                        uint32_t end, uint16_t *slots, double *numbers);
// Adds the constraints of one between robots; they begin at constraint->values.
void mf_common_add_rows(const mf_Solver *solver, mf_SolverConstraint *constraint,
                        mf_CommonProblem *problem);
// Sets the forces of one from those of the solution.
void mf_common_take_forces(const mf_Solver *solver, mf_SolverConstraint *constraint,
                           const mf_CommonProblem *problem);
