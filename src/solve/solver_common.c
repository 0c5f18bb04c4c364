// Islands of robots whose motion is `articulated` with MuJoCo's law, and of nothing else that
// moves: the constraint problems of all their robots, the contacts between them and the run-time
// joints that connect them are one problem, as if all were in one file, for the solver of large
// plans (motion/articulated/constraint/sparse.h). Its solution gives the forces between the robots;
// under them the robots' own steps, which solve for the rest, find the same accelerations.
//
// Invariant: a task works on its own block or island. What finds no space leaves its island to the
// trial steps of the others.
#include "motion/articulated/host.h"
#include "base/memory.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "solve/solver_common.h"

#include <float.h>
#include <string.h>

// [1] Residual of joints with which they are left where further solutions do not halve it, as where
// the robots' rounding is all that is left.
static const double rough = 0.05;
// [1] The part of the files' tolerance to which problems with joints are solved: their weights are
// large.
static const double exact = 1e-4;

// ---- who takes part -----------------------------------------------------------------------------

// [1] What a robot can have of its own constraints in a common problem, at most.
static void limit_size(mf_SparseSize *size) {
    const uint32_t dofs = size->dofs, constraints = 256 + 2 * dofs, rows = 512 + 4 * dofs,
                   numbers = 4096 + 64 * dofs;
    size->constraints = size->constraints < constraints ? size->constraints : constraints;
    size->rows = size->rows < rows ? size->rows : rows;
    size->numbers = size->numbers < numbers ? size->numbers : numbers;
}

static void carve_problem(mf_Carver *carver, const mf_SparseSize *most, uint32_t links,
                          mf_ArtProblem *out) {
    out->most = *most;
    MF_CARVE(carver, out->mass, most->entries);
    MF_CARVE(carver, out->free, most->dofs);
    MF_CARVE(carver, out->speed, most->dofs);
    MF_CARVE(carver, out->warm, most->dofs);
    MF_CARVE(carver, out->slope, most->dofs);
    MF_CARVE(carver, out->change, most->dofs);
    MF_CARVE(carver, out->axis, most->dofs);
    MF_CARVE(carver, out->origin, links + 1);
    MF_CARVE(carver, out->drift, links + 1);
    MF_CARVE(carver, out->constraints, most->constraints);
    MF_CARVE(carver, out->slots, most->numbers);
    MF_CARVE(carver, out->weight, most->rows);
    MF_CARVE(carver, out->rest, most->rows);
    MF_CARVE(carver, out->numbers, most->numbers);
}

// [1] Dofs of the longest way from the base to a link.
static uint32_t longest_chain(const mf_ArtMotion *motion) {
    uint32_t most = 0;
    for (uint32_t d = 0; d < motion->plan->dof_count; d++) {
        const uint32_t own = motion->tree_start[d + 1] - motion->tree_start[d];
        most = own > most ? own : most;
    }
    return most;
}

mf_Status mf_solver_common_create(mf_Solver *solver, mf_Group *group, mf_SolverCommon *out,
                                  mf_Error *error) {
    typedef void (*SizeFn)(const mf_ArtPlan *plan, mf_SparseSize *most);
    static const SizeFn sizes[MF_KERNEL_ROWS][1] =
        MF_KERNEL_TABLE_DOUBLE(mf_articulated_problem_size);
    static const mf_SparseFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_articulated_sparse);
    const mf_KernelPick pick = mf_kernel_pick(mf_world_isa(solver->world), true);
    const mf_ArtMotion *motion = mf_art_motion_of(group);
    const uint32_t count = mf_group_count(group);
    const size_t lanes = (count + MF_BLOCK - 1) / MF_BLOCK * MF_BLOCK;
    *out = (mf_SolverCommon){.motion = NULL};
    if (motion == NULL || !motion->plan->law || motion->plan->integrator == MF_ARTICULATED_RK4)
        return MF_OK;
    memcpy(solver->sparse, kernels[pick.wide], sizeof solver->sparse);
    sizes[pick.wide][0](motion->plan, &out->most);
    limit_size(&out->most);
    out->chain = longest_chain(motion);
    mf_ArtProblem none;
    mf_Carver carver = {NULL, 0};
    carve_problem(&carver, &out->most, motion->plan->link_count, &none);
    MF_TRY(MF_ALLOCATE(solver->context, "solver", error, MF_ARRAY(out->problems, count)));
    MF_TRY(MF_ALLOCATE(solver->context, "solver", error, MF_ARRAY(out->requested, lanes)));
    out->memory = mf_allocate(solver->context, count, carver.used);
    MF_NEED_MEMORY(out->memory != NULL, error, "solver");
    for (uint32_t i = 0; i < count; i++) {
        mf_Carver own = {out->memory + i * carver.used, 0};
        carve_problem(&own, &out->most, motion->plan->link_count, &out->problems[i]);
    }
    out->motion = motion;
    return MF_OK;
}

void mf_solver_common_release(mf_Context *context, mf_SolverCommon *common) {
    mf_release(context, common->problems);
    mf_release(context, common->requested);
    mf_release(context, common->memory);
}

static void add_sizes(mf_SparseSize *sum, const mf_SparseSize *one, uint32_t count) {
    sum->dofs += one->dofs * count;
    sum->entries += one->entries * count;
    sum->constraints += one->constraints * count;
    sum->rows += one->rows * count;
    sum->numbers += one->numbers * count;
}

// ---- memory -------------------------------------------------------------------------------------

static void carve_whole(const mf_SparseSize *size, mf_Carver *carver, mf_CommonProblem *w) {
    MF_CARVE(carver, w->start, size->dofs + 1);
    MF_CARVE(carver, w->tree, size->dofs);
    MF_CARVE(carver, w->column, size->entries);
    MF_CARVE(carver, w->slots, size->numbers);
    MF_CARVE(carver, w->mass, size->entries);
    MF_CARVE(carver, w->free, size->dofs);
    MF_CARVE(carver, w->speed, size->dofs);
    MF_CARVE(carver, w->warm, size->dofs);
    MF_CARVE(carver, w->x, size->dofs);
    MF_CARVE(carver, w->weight, size->rows);
    MF_CARVE(carver, w->rest, size->rows);
    MF_CARVE(carver, w->force, size->rows);
    MF_CARVE(carver, w->slack, size->rows);
    MF_CARVE(carver, w->numbers, size->numbers);
    MF_CARVE(carver, w->constraints, size->constraints);
}

// [byte] With the solver's own memory where half of its lanes are filled.
static size_t common_bytes(const mf_SparseSize *size) {
    mf_Carver carver = {NULL, 0};
    mf_CommonProblem none;
    carve_whole(size, &carver, &none);
    const mf_SparseSize lanes = {.dofs = size->dofs,
                                 .entries = size->entries,
                                 .constraints = 2 * size->constraints,
                                 .rows = 2 * size->rows,
                                 .numbers = 3 * size->numbers}; // rounded up
    return carver.used + 32 * (size_t)size->constraints + mf_sparse_bytes(&lanes);
}

size_t mf_solver_common_bytes(const mf_Solver *solver) {
    enum { LEAST = 1 << 20 }; // [byte] few constraints fill few lanes
    mf_SparseSize most = {.dofs = 0};
    uint32_t chain = 0, dofs = 0;
    for (uint32_t g = 0; g < solver->group_count; g++) {
        const mf_SolverCommon *common = &solver->common[g];
        if (common->motion == NULL)
            continue;
        add_sizes(&most, &common->most, mf_group_count(solver->trials[g]->group));
        chain = common->chain > chain ? common->chain : chain;
        dofs = common->most.dofs > dofs ? common->most.dofs : dofs;
    }
    const mf_SparseSize contact = {
        .constraints = 1, .rows = MF_JOINT_ROWS, .numbers = 2 * MF_JOINT_ROWS * chain};
    const mf_SparseSize joint = {.entries = dofs * chain,
                                 .constraints = MF_COMMON_JOINT_CONSTRAINTS,
                                 .rows = MF_COMMON_JOINT_ROWS,
                                 .numbers = 2 * MF_COMMON_JOINT_ROWS * chain};
    add_sizes(&most, &contact, solver->contact_capacity);
    add_sizes(&most, &joint, solver->joint_capacity);
    return chain == 0 ? 0 : LEAST + solver->node_capacity * sizeof(uint32_t) + common_bytes(&most);
}

// ---- islands ------------------------------------------------------------------------------------

static bool is_common_body(const mf_Solver *solver, const mf_SolverBody *body) {
    return body->assembly == MF_NONE && mf_common_of(solver, body)->motion != NULL &&
           mf_trial_step_motion(solver->trials[body->group], body->instance) ==
               MF_MOTION_ARTICULATED;
}

// Of links of one robot.
static bool is_within(const mf_Solver *solver, const mf_SolverConstraint *constraint) {
    const mf_SolverBody *body = mf_common_side(solver, constraint, 0);
    return body != NULL && body == mf_common_side(solver, constraint, 1);
}

static bool is_common(const mf_Solver *solver, const mf_SolverIsland *island) {
    for (uint32_t q = island->first; q < island->end; q++)
        if (!is_common_body(solver, &solver->bodies[solver->nodes[solver->queue[q]].body]))
            return false;
    for (uint32_t row = island->row; row < island->row_end; row++) {
        const mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        if (constraint->joint != MF_NONE ? is_within(solver, constraint)
                                         : !solver->contacts[constraint->contact].as_stated)
            return false;
    }
    return true;
}

static bool has_joints(const mf_Solver *solver, const mf_SolverIsland *island) {
    for (uint32_t row = island->row; row < island->row_end; row++)
        if (mf_solver_member(solver, row)->joint != MF_NONE)
            return true;
    return false;
}

bool mf_solver_find_common(mf_Solver *solver) {
    bool any = false;
    for (uint32_t i = 0; i < solver->island_count; i++) {
        mf_SolverIsland *island = &solver->islands[i];
        island->common = is_common(solver, island);
        island->joined = has_joints(solver, island);
        any = any || island->common;
        for (uint32_t q = island->first; q < island->end && island->common; q++) {
            const mf_SolverBody *body = &solver->bodies[solver->nodes[solver->queue[q]].body];
            const mf_SolverCommon *common = mf_common_of(solver, body);
            common->requested[body->instance] = &common->problems[body->instance];
        }
    }
    return any;
}

static void request(mf_Solver *solver, bool on) {
    for (uint32_t g = 0; g < solver->group_count; g++)
        if (solver->common[g].motion != NULL)
            mf_art_request_problems(solver->trials[g]->group,
                                    on ? solver->common[g].requested : NULL);
}

void mf_solver_state_problems(mf_Solver *solver, uint32_t index) {
    const mf_SolverBlock *block = &solver->blocks[index];
    const mf_TrialStep *trial = solver->trials[block->group];
    const mf_SolverCommon *common = &solver->common[block->group];
    bool any = false;
    for (uint32_t b = block->first; b < block->first + block->count && common->motion != NULL; b++)
        any = any || common->requested[solver->bodies[b].instance] != NULL;
    if (!any)
        return;
    mf_trial_step_run(trial, &solver->run, block->block, mf_trial_step_lanes(trial, block->block));
    mf_trial_step_restore(trial, block->block, block->saved);
}

// ---- robots -------------------------------------------------------------------------------------

// The body of a node, where it comes first; NULL elsewhere.
static mf_SolverBody *first_seen(const mf_Solver *solver, uint32_t node) {
    mf_SolverBody *body = &solver->bodies[solver->nodes[node].body];
    return body->first == node ? body : NULL;
}

// Lists the robots that joints hold to one.
static uint32_t list_joined(const mf_Solver *solver, const mf_SolverBody *body, uint32_t *order,
                            uint32_t count) {
    for (uint32_t n = body->first; n < body->first + body->count; n++)
        for (uint32_t i = solver->starts[n]; i < solver->starts[n + 1]; i++) {
            const mf_SolverConstraint *constraint = &solver->constraints[solver->touch[i]];
            for (uint32_t s = 0; s < 2 && constraint->joint != MF_NONE; s++) {
                if (mf_common_side(solver, constraint, s) == NULL)
                    continue;
                const uint32_t number = solver->nodes[constraint->node[s]].body;
                if (solver->bodies[number].listed)
                    continue;
                solver->bodies[number].listed = true;
                solver->bodies[number].stem = solver->touch[i];
                order[count++] = number;
            }
        }
    return count;
}

// The robots of an island: those that joints connect follow each other, breadth first, each from
// the second on with the joint that holds it (`stem`). Returns their number.
static uint32_t find_order(const mf_Solver *solver, const mf_SolverIsland *island,
                           uint32_t *order) {
    uint32_t count = 0, next = 0;
    for (uint32_t q = island->first; q < island->end; q++)
        solver->bodies[solver->nodes[solver->queue[q]].body].listed = false;
    for (uint32_t q = island->first; q < island->end; q++) {
        mf_SolverBody *root = first_seen(solver, solver->queue[q]);
        if (root == NULL || root->listed)
            continue;
        root->listed = true;
        root->stem = MF_NONE;
        order[count++] = solver->nodes[root->first].body;
        for (; next < count; next++)
            count = list_joined(solver, &solver->bodies[order[next]], order, count);
    }
    return count;
}

// [1] Entries of each of a robot's rows besides its own: the dofs that move what holds it.
static uint32_t stem_dofs(const mf_Solver *solver, const mf_SolverBody *body, mf_CommonArm *arm) {
    arm->motion = NULL;
    if (body->stem == MF_NONE)
        return 0;
    const mf_SolverConstraint *constraint = &solver->constraints[body->stem];
    const uint32_t side = mf_common_side(solver, constraint, 0) == body ? 1 : 0;
    *arm = mf_common_arm(solver, constraint, side);
    return mf_common_arm_dofs(arm);
}

// What a constraint between robots has at most.
static mf_SparseSize size_of(const mf_Solver *solver, const mf_SolverConstraint *constraint) {
    const bool joint = constraint->joint != MF_NONE;
    mf_SparseSize size = {.constraints = joint ? MF_COMMON_JOINT_CONSTRAINTS : 1,
                          .rows = joint ? MF_COMMON_JOINT_ROWS : MF_JOINT_ROWS};
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverBody *body = mf_common_side(solver, constraint, s);
        size.numbers += body != NULL ? size.rows * mf_common_of(solver, body)->chain : 0;
    }
    return size;
}

// What an island has at most; false: a robot's problem is not whole, or there are too many dofs.
static bool measure(const mf_Solver *solver, const mf_SolverIsland *island, const uint32_t *order,
                    uint32_t count, mf_SparseSize *size) {
    *size = (mf_SparseSize){.dofs = 0};
    for (uint32_t i = 0; i < count; i++) {
        const mf_SolverBody *body = &solver->bodies[order[i]];
        const mf_ArtProblem *own = mf_common_problem_of(solver, body);
        mf_CommonArm arm;
        if (!own->whole || size->dofs + own->size.dofs > UINT16_MAX)
            return false;
        add_sizes(size, &own->size, 1);
        size->entries += own->size.dofs * stem_dofs(solver, body, &arm);
    }
    for (uint32_t row = island->row; row < island->row_end; row++) {
        const mf_SparseSize one = size_of(solver, mf_solver_member(solver, row));
        add_sizes(size, &one, 1);
    }
    return true;
}

static void add_constraints(mf_CommonProblem *w, const mf_ArtProblem *own, uint32_t dof) {
    mf_SparseSize *size = &w->size;
    for (uint32_t n = 0; n < own->size.constraints; n++) {
        mf_SparseConstraint *to = &w->constraints[size->constraints + n];
        *to = own->constraints[n];
        to->row += size->rows;
        to->first += size->numbers;
        to->first_slot += size->numbers;
    }
    memcpy(w->weight + size->rows, own->weight, own->size.rows * sizeof *w->weight);
    memcpy(w->rest + size->rows, own->rest, own->size.rows * sizeof *w->rest);
    memcpy(w->numbers + size->numbers, own->numbers, own->size.numbers * sizeof *w->numbers);
    for (uint32_t i = 0; i < own->size.numbers; i++)
        w->slots[size->numbers + i] = (uint16_t)(own->slots[i] + dof);
}

// Its rows of the pattern: those of its trees, behind the dofs that move what holds it.
static void add_pattern(const mf_Solver *solver, mf_CommonProblem *w, const mf_SolverBody *body) {
    const mf_ArtProblem *own = mf_common_problem_of(solver, body);
    const mf_ArtMotion *motion = mf_common_of(solver, body)->motion;
    const uint32_t dof = w->size.dofs;
    uint32_t entry = w->size.entries;
    mf_CommonArm arm;
    const uint32_t stem = stem_dofs(solver, body, &arm);
    for (uint32_t d = 0; d < own->size.dofs; d++) {
        const uint32_t first = motion->tree_start[d], end = motion->tree_start[d + 1];
        w->start[dof + d] = entry;
        w->tree[dof + d] = dof + motion->tree_column[first];
        mf_common_arm_fill(&arm, NULL, 0, stem, w->column + entry, w->numbers);
        memset(w->mass + entry, 0, stem * sizeof *w->mass);
        entry += stem;
        for (uint32_t e = first; e < end; e++, entry++) {
            w->column[entry] = (uint16_t)(dof + motion->tree_column[e]);
            w->mass[entry] = own->mass[e];
        }
    }
    w->start[dof + own->size.dofs] = entry;
    w->size.entries = entry;
}

static void add_robot(const mf_Solver *solver, mf_CommonProblem *w, mf_SolverBody *body) {
    const mf_ArtProblem *own = mf_common_problem_of(solver, body);
    const uint32_t dof = w->size.dofs;
    body->rates = dof;
    add_pattern(solver, w, body);
    memcpy(w->free + dof, own->free, own->size.dofs * sizeof *w->free);
    memcpy(w->speed + dof, own->speed, own->size.dofs * sizeof *w->speed);
    memcpy(w->warm + dof, own->warm, own->size.dofs * sizeof *w->warm);
    add_constraints(w, own, dof);
    w->size.dofs += own->size.dofs;
    w->size.constraints += own->size.constraints;
    w->size.rows += own->size.rows;
    w->size.numbers += own->size.numbers;
}

// Robots that joints connect are one tree of the pattern.
static void add_robots(const mf_Solver *solver, mf_CommonProblem *w, const uint32_t *order,
                       uint32_t count) {
    uint32_t root = 0; // the first dof of the present ones
    for (uint32_t i = 0; i < count; i++) {
        mf_SolverBody *body = &solver->bodies[order[i]];
        const bool follows = body->stem != MF_NONE;
        const bool leads = i + 1 < count && solver->bodies[order[i + 1]].stem != MF_NONE;
        const uint32_t dof = w->size.dofs;
        root = follows ? root : dof;
        add_robot(solver, w, body);
        for (uint32_t d = dof; d < w->size.dofs && (follows || leads); d++)
            w->tree[d] = root;
    }
}

// ---- the solution -------------------------------------------------------------------------------

static void build(mf_Solver *solver, const mf_SolverIsland *island, const uint32_t *order,
                  uint32_t count, mf_CommonProblem *w) {
    w->size = (mf_SparseSize){.dofs = 0};
    add_robots(solver, w, order, count);
    for (uint32_t row = island->row; row < island->row_end; row++)
        mf_common_add_rows(solver, mf_solver_member(solver, row), w);
}

// As in one file: gains are in units of the mean of the mass matrix's diagonal times the dofs.
static void set_tolerances(const mf_Solver *solver, const mf_SolverIsland *island,
                           mf_Sparse *sparse) {
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverBody *body = first_seen(solver, solver->queue[q]);
        if (body == NULL)
            continue;
        const mf_ArtPlan *plan = mf_common_of(solver, body)->motion->plan;
        if (sparse->steps_most < plan->solver_steps)
            sparse->steps_most = plan->solver_steps;
        sparse->gain += (island->joined ? exact : 1.0) * plan->solver_gain;
    }
}

// Whether a robot of the island has its state in double, or there are joints, whose weights are
// large.
static bool is_wide(const mf_Solver *solver, const mf_SolverIsland *island) {
    bool wide = island->joined;
    for (uint32_t q = island->first; q < island->end; q++)
        wide = wide || solver->trials[solver->nodes[solver->queue[q]].group]->wide;
    return wide;
}

// Makes floats of doubles, in place.
static void narrow(double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const float value = (float)values[i];
        memcpy((char *)values + i * sizeof value, &value, sizeof value);
    }
}

static void narrow_all(mf_CommonProblem *w) {
    narrow(w->mass, w->size.entries);
    narrow(w->free, w->size.dofs);
    narrow(w->warm, w->size.dofs);
    narrow(w->weight, w->size.rows);
    narrow(w->rest, w->size.rows);
    narrow(w->numbers, w->size.numbers);
}

static void widen(double *values, uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
        float value;
        memcpy(&value, (char *)values + i * sizeof value, sizeof value);
        values[i] = (double)value;
    }
}

// False: they are not finite.
static bool keep_forces(mf_Solver *solver, const mf_SolverIsland *island,
                        const mf_CommonProblem *w) {
    if (!mf_all_finite(w->force, w->size.rows))
        return false;
    for (uint32_t row = island->row; row < island->row_end; row++)
        mf_common_take_forces(solver, mf_solver_member(solver, row), w);
    return true;
}

// One that ended early is reported; the files' tolerance may be reached before the world's.
static double residual_of(const mf_Solver *solver, const mf_Sparse *sparse) {
    const double early = 2.0 * MF_SOLVER_INEXACT;
    if (sparse->ended)
        return sparse->residual < solver->tolerance ? sparse->residual : solver->tolerance;
    return sparse->residual > early ? sparse->residual : early;
}

// A further solution begins with this one.
static void keep_warm(const mf_Solver *solver, const uint32_t *order, uint32_t count,
                      const mf_CommonProblem *w) {
    for (uint32_t i = 0; i < count; i++) {
        const mf_SolverBody *body = &solver->bodies[order[i]];
        mf_ArtProblem *own = mf_common_problem_of(solver, body);
        for (uint32_t d = 0; d < own->size.dofs; d++)
            own->warm[d] = own->free[d] + w->x[body->rates + d];
    }
}

static void keep_best(mf_Solver *solver, const mf_SolverIsland *island) {
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        memcpy(constraint->best, constraint->force, sizeof constraint->best);
    }
}

// The best forces are those of the step.
static void finish(mf_SolverIsland *island) {
    island->best = island->joined && island->from > island->left ? island->from : island->left;
    island->done = true;
}

static void solve_island(mf_Solver *solver, mf_SolverIsland *island, char *memory) {
    mf_Carver carver = {memory, 0};
    mf_SparseSize most;
    mf_CommonProblem w;
    uint32_t *order;
    MF_CARVE(&carver, order, island->end - island->first);
    island->too_large = true;
    if (carver.used > solver->common_size)
        return;
    const uint32_t count = find_order(solver, island, order);
    if (!measure(solver, island, order, count, &most))
        return;
    carve_whole(&most, &carver, &w);
    if (carver.used > solver->common_size)
        return;
    build(solver, island, order, count, &w);
    mf_Sparse sparse = {.dofs = w.size.dofs,
                        .entries = w.size.entries,
                        .start = w.start,
                        .column = w.column,
                        .tree = w.tree,
                        .constraint_count = w.size.constraints,
                        .constraints = w.constraints,
                        .slots = w.slots,
                        .stride = 1,
                        .warm_stride = 1,
                        .weight = w.weight,
                        .rest = w.rest,
                        .numbers = w.numbers,
                        .mass = w.mass,
                        .free = w.free,
                        .warm = w.warm,
                        .memory = carver,
                        .memory_size = solver->common_size,
                        .x = w.x,
                        .force = w.force,
                        .slack = w.slack};
    const bool wide = is_wide(solver, island);
    set_tolerances(solver, island, &sparse);
    if (!wide)
        narrow_all(&w);
    solver->sparse[wide](&sparse);
    if (!wide)
        widen(w.force, w.size.rows);
    island->too_large = !sparse.solved;
    if (!sparse.solved || !keep_forces(solver, island, &w))
        return;
    island->iterations += sparse.steps;
    island->solved = true;
    island->left = residual_of(solver, &sparse);
    if (island->joined) {
        keep_warm(solver, order, count, &w);
        return;
    }
    keep_best(solver, island);
    finish(island);
}

// From now on a robot's problem has what resists at the end of the step, which joints feel.
static void brake(const mf_ArtMotion *motion, mf_ArtProblem *own) {
    for (uint32_t i = 0; i < own->size.dofs; i++) {
        own->mass[motion->tree_start[i + 1] - 1] += own->slope[i];
        own->free[i] += own->change[i];
    }
    for (uint32_t n = 0; n < own->size.constraints; n++) {
        const mf_SparseConstraint *c = &own->constraints[n];
        for (uint32_t i = 0; i < c->count; i++)
            for (uint32_t r = 0; r < c->rows; r++)
                own->rest[c->row + r] -= own->numbers[c->first + c->rows * i + r] *
                                         own->change[own->slots[c->first_slot + i]];
    }
}

static void brake_all(const mf_Solver *solver, const mf_SolverIsland *island) {
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverBody *body = first_seen(solver, solver->queue[q]);
        if (body != NULL && mf_common_problem_of(solver, body)->whole)
            brake(mf_common_of(solver, body)->motion, mf_common_problem_of(solver, body));
    }
}

void mf_solver_solve_common(mf_Solver *solver, uint32_t index) {
    mf_SolverIsland *island = &solver->islands[index];
    if (!island->common || island->done)
        return;
    char *memory = mf_scratch_borrow(solver->common_scratch);
    island->solved = false;
    if (island->joined && !(island->from < DBL_MAX)) // the first time
        brake_all(solver, island);
    solve_island(solver, island, memory);
    island->common = island->solved;
    mf_scratch_return(solver->common_scratch, memory);
}

// ---- joints to their residual -------------------------------------------------------------------

uint32_t mf_solver_too_large(const mf_Solver *solver) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < solver->island_count; i++)
        sum += solver->islands[i].too_large;
    return sum;
}

bool mf_solver_common_left(const mf_Solver *solver) {
    for (uint32_t i = 0; i < solver->island_count; i++)
        if (solver->islands[i].common && !solver->islands[i].done)
            return true;
    return false;
}

// [1] Of the joints, after a trial step.
static double measure_joints(mf_Solver *solver, const mf_SolverIsland *island) {
    double most = 0.0;
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        if (constraint->joint == MF_NONE)
            continue;
        mf_solver_measure(solver, constraint);
        const double residual = mf_solver_residual(constraint);
        most = residual > most || !mf_is_finite(residual) ? residual : most;
    }
    for (uint32_t q = island->first; q < island->end; q++)
        if (solver->bodies[solver->nodes[solver->queue[q]].body].lost)
            return DBL_MAX; // it stands still in trials, so its joints seem to hold
    return most;
}

// What the trial step shows beyond the model is taken into account from now on: all of it the first
// time, later the part that the change since suggests (Aitken; Irons and Tuck 1969), since servos
// and contacts with the ground may respond otherwise than the model.
static void take_beyond(mf_Solver *solver, mf_SolverIsland *island) {
    double along = 0.0, square = 0.0;
    for (uint32_t row = island->row; row < island->row_end; row++) {
        const mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        for (uint32_t r = 0; constraint->joint != MF_NONE && r < constraint->rows; r++) {
            const double scale = constraint->scale[r >= 3], before = constraint->direction[r];
            const double change = constraint->now[r] - constraint->moved[r] - before;
            along += before * change / (scale * scale);
            square += change * change / (scale * scale);
        }
    }
    const bool first = !(island->part > 0.0);
    island->part =
        first || !(square > 0.0) ? 1.0 : mf_clamp(-island->part * along / square, 0.1, 1.0);
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        for (uint32_t r = 0; constraint->joint != MF_NONE && r < constraint->rows; r++) {
            constraint->direction[r] = constraint->now[r] - constraint->moved[r];
            constraint->beyond[r] += island->part * constraint->direction[r];
        }
    }
}

void mf_solver_correct_common(mf_Solver *solver, uint32_t index) {
    mf_SolverIsland *island = &solver->islands[index];
    if (!island->common || island->done)
        return;
    const double residual = measure_joints(solver, island), before = island->from;
    if (residual < before) {
        keep_best(solver, island);
        island->from = residual;
    }
    if (residual <= solver->tolerance || (before <= rough && !(residual < 0.5 * before))) {
        finish(island);
    } else if (mf_is_finite(residual) && solver->tried < solver->rounds) {
        take_beyond(solver, island);
        mf_solver_solve_common(solver, index);
    }
}

void mf_solver_end_common(mf_Solver *solver, uint32_t index) {
    mf_SolverIsland *island = &solver->islands[index];
    if (!island->common || island->done)
        return;
    if (island->from <= rough) {
        finish(island);
        return;
    }
    island->common = false;
    island->best = island->from; // trial steps begin with these forces, and may find better ones
    for (uint32_t row = island->row; row < island->row_end && island->from < DBL_MAX; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        memcpy(constraint->force, constraint->best, sizeof constraint->force);
    }
}

void mf_solver_request_common(mf_Solver *solver, bool on) {
    request(solver, on);
    for (uint32_t b = 0; b < solver->body_count && !on; b++) {
        const mf_SolverCommon *common = &solver->common[solver->bodies[b].group];
        if (common->motion != NULL)
            common->requested[solver->bodies[b].instance] = NULL;
    }
}
