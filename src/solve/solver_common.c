// Islands of robots whose motion is `articulated` with MuJoCo's law, and of nothing else that
// moves: the constraint problems of all their robots and the contacts between them are one problem,
// as if all were in one file, for the solver of large plans
// (motion/articulated/constraint/sparse.h). Its solution gives the forces of these contacts; under
// them the robots' own steps, which solve for the rest, find the same accelerations.
//
// Invariant: a task works on its own block or island. What finds no space leaves its island to the
// trial steps of the others.
#include "motion/articulated/host.h"
#include "motion/articulated/constraint/sparse.h"
#include "base/memory.h"
#include "contact/collide.h"
#include "contact/softness.h"
#include "math/kernel_table.h"
#include "math/scalar.h"
#include "solve/solver.h"

#include <string.h>

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
    MF_CARVE(carver, out->axis, most->dofs);
    MF_CARVE(carver, out->origin, links + 1);
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

typedef struct Whole { // the problem of an island
    mf_SparseSize size;
    uint32_t *start;
    uint16_t *column, *slots;
    double *mass, *free, *speed, *warm, *weight, *rest, *numbers, *x, *force, *slack;
    mf_SparseConstraint *constraints;
} Whole;

static void carve_whole(const mf_SparseSize *size, mf_Carver *carver, Whole *w) {
    MF_CARVE(carver, w->start, size->dofs + 1);
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
    Whole none;
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
    uint32_t chain = 0;
    for (uint32_t g = 0; g < solver->group_count; g++) {
        const mf_SolverCommon *common = &solver->common[g];
        if (common->motion == NULL)
            continue;
        add_sizes(&most, &common->most, mf_group_count(solver->trials[g]->group));
        chain = common->chain > chain ? common->chain : chain;
    }
    const mf_SparseSize contact = {
        .constraints = 1, .rows = MF_JOINT_ROWS, .numbers = 2 * MF_JOINT_ROWS * chain};
    add_sizes(&most, &contact, solver->contact_capacity);
    return chain == 0 ? 0 : LEAST + common_bytes(&most);
}

// ---- islands ------------------------------------------------------------------------------------

static const mf_SolverCommon *common_of(const mf_Solver *solver, const mf_SolverBody *body) {
    return &solver->common[body->group];
}

static bool is_common_body(const mf_Solver *solver, const mf_SolverBody *body) {
    return body->assembly == MF_NONE && common_of(solver, body)->motion != NULL &&
           mf_trial_step_motion(solver->trials[body->group], body->instance) ==
               MF_MOTION_ARTICULATED;
}

static bool is_common(const mf_Solver *solver, const mf_SolverIsland *island) {
    for (uint32_t q = island->first; q < island->end; q++)
        if (!is_common_body(solver, &solver->bodies[solver->nodes[solver->queue[q]].body]))
            return false;
    for (uint32_t row = island->row; row < island->row_end; row++) {
        const mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        if (constraint->contact == MF_NONE || !solver->contacts[constraint->contact].as_stated)
            return false;
    }
    return true;
}

bool mf_solver_find_common(mf_Solver *solver) {
    bool any = false;
    for (uint32_t i = 0; i < solver->island_count; i++) {
        mf_SolverIsland *island = &solver->islands[i];
        island->common = is_common(solver, island);
        any = any || island->common;
        for (uint32_t q = island->first; q < island->end && island->common; q++) {
            const mf_SolverBody *body = &solver->bodies[solver->nodes[solver->queue[q]].body];
            const mf_SolverCommon *common = common_of(solver, body);
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

static mf_ArtProblem *problem_of(const mf_Solver *solver, const mf_SolverBody *body) {
    return &common_of(solver, body)->problems[body->instance];
}

// The body of a node, where it comes first; NULL elsewhere.
static mf_SolverBody *first_seen(const mf_Solver *solver, uint32_t node) {
    mf_SolverBody *body = &solver->bodies[solver->nodes[node].body];
    return body->first == node ? body : NULL;
}

static const mf_SolverBody *side_of(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                                    uint32_t side) {
    if (constraint->node[side] == MF_NONE)
        return NULL;
    const mf_SolverBody *body = &solver->bodies[solver->nodes[constraint->node[side]].body];
    return body->moves ? body : NULL;
}

// What an island has at most; false: a robot's problem is not whole, or there are too many dofs.
static bool measure(const mf_Solver *solver, const mf_SolverIsland *island, mf_SparseSize *size) {
    *size = (mf_SparseSize){.dofs = 0};
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverBody *body = first_seen(solver, solver->queue[q]);
        if (body == NULL)
            continue;
        const mf_ArtProblem *own = problem_of(solver, body);
        if (!own->whole || size->dofs + own->size.dofs > UINT16_MAX)
            return false;
        add_sizes(size, &own->size, 1);
    }
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SparseSize one = {.constraints = 1, .rows = MF_JOINT_ROWS};
        for (uint32_t s = 0; s < 2; s++) {
            const mf_SolverBody *body = side_of(solver, mf_solver_member(solver, row), s);
            one.numbers += body != NULL ? MF_JOINT_ROWS * common_of(solver, body)->chain : 0;
        }
        add_sizes(size, &one, 1);
    }
    return true;
}

static void add_constraints(Whole *w, const mf_ArtProblem *own, uint32_t dof) {
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

static void add_robot(const mf_Solver *solver, Whole *w, mf_SolverBody *body) {
    const mf_ArtProblem *own = problem_of(solver, body);
    const mf_ArtMotion *motion = common_of(solver, body)->motion;
    const uint32_t dof = w->size.dofs, entry = w->size.entries;
    body->rates = dof;
    for (uint32_t d = 0; d <= own->size.dofs; d++)
        w->start[dof + d] = entry + motion->tree_start[d];
    for (uint32_t e = 0; e < own->size.entries; e++)
        w->column[entry + e] = (uint16_t)(dof + motion->tree_column[e]);
    memcpy(w->mass + entry, own->mass, own->size.entries * sizeof *w->mass);
    memcpy(w->free + dof, own->free, own->size.dofs * sizeof *w->free);
    memcpy(w->speed + dof, own->speed, own->size.dofs * sizeof *w->speed);
    memcpy(w->warm + dof, own->warm, own->size.dofs * sizeof *w->warm);
    add_constraints(w, own, dof);
    add_sizes(&w->size, &own->size, 1);
}

// ---- contacts -----------------------------------------------------------------------------------

typedef struct Arm { // the side of a contact that moves
    const mf_ArtMotion *motion;
    const mf_ArtProblem *own;
    int32_t link;    // of the plan
    uint32_t dof;    // [1] the robot's first one in the island
    double point[3]; // [m] from the base
    double sign;
} Arm;

static Arm arm_of(const mf_Solver *solver, const mf_SolverConstraint *constraint, uint32_t side) {
    const mf_SolverBody *body = side_of(solver, constraint, side);
    if (body == NULL)
        return (Arm){.motion = NULL};
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    const mf_TrialStep *trial = solver->trials[body->group];
    Arm arm = {.motion = common_of(solver, body)->motion,
               .own = problem_of(solver, body),
               .dof = (uint32_t)body->rates,
               .sign = side == 0 ? -1.0 : 1.0};
    arm.link = arm.motion->frames[solver->nodes[constraint->node[side]].link].link;
    for (uint32_t c = 0; c < 3; c++)
        arm.point[c] =
            contact->point[c] - mf_field_get(trial->links.fields.position, body->instance, c);
    return arm;
}

static uint32_t link_dof(const Arm *arm, int32_t link, uint32_t *count) {
    const mf_ArtMotion *motion = arm->motion;
    if (link < 0) {
        *count = link == MF_ART_WORLD || motion->plan->fixed ? 0 : 6;
        return 0;
    }
    *count = motion->links[link].kind == MF_ART_BALL ? 3 : 1;
    return motion->links[link].dof;
}

static int32_t link_up(const Arm *arm, int32_t link) {
    return link >= 0 ? arm->motion->links[link].parent : MF_ART_WORLD;
}

static uint32_t arm_dofs(const Arm *arm) {
    uint32_t sum = 0, count;
    for (int32_t link = arm->motion != NULL ? arm->link : MF_ART_WORLD; link != MF_ART_WORLD;
         link = link_up(arm, link)) {
        link_dof(arm, link, &count);
        sum += count;
    }
    return sum;
}

// Numbers of a dof: what the rows measure of its velocity.
static void fill_dof(const Arm *arm, const double (*axes)[3], uint32_t rows, int32_t link,
                     uint32_t dof, bool rotates, double *to) {
    const double *axis = arm->own->axis[dof];
    double lever[3], velocity[3];
    mf_vec3_sub(lever, arm->point, arm->own->origin[link + 1]);
    mf_vec3_cross(velocity, axis, lever);
    for (uint32_t r = 0; r < rows; r++)
        to[r] = r >= 3 && !rotates
                    ? 0.0
                    : arm->sign * mf_vec3_dot(axes[r], r < 3 && rotates ? velocity : axis);
}

// Slots rise, so the chain is filled from its end.
static void fill_arm(const Arm *arm, const double (*axes)[3], uint32_t rows, uint32_t end,
                     uint16_t *slots, double *numbers) {
    for (int32_t link = arm->motion != NULL ? arm->link : MF_ART_WORLD; link != MF_ART_WORLD;
         link = link_up(arm, link)) {
        uint32_t count;
        const uint32_t dof = link_dof(arm, link, &count);
        for (uint32_t k = count; k-- > 0;) {
            const bool rotates = link < 0 ? k >= 3 : arm->motion->links[link].kind != MF_ART_SLIDE;
            end--;
            slots[end] = (uint16_t)(arm->dof + dof + k);
            fill_dof(arm, axes, rows, link, dof + k, rotates, numbers + (size_t)rows * end);
        }
    }
}

// As in a file (frame_side of problem_points.h): the world's y axis across the normal, or the z
// axis where that is too steep.
static void set_axes(mf_SolverConstraint *constraint, const double normal[3]) {
    double *side = constraint->axes[1];
    const bool steep = !(mf_abs(normal[1]) < 0.5);
    mf_vec3_copy(constraint->axes[0], normal);
    mf_vec3_set(side, 0, !steep, steep);
    mf_vec3_add_scaled(side, side, -mf_vec3_dot(normal, side), normal);
    mf_vec3_normalize(side);
    mf_vec3_cross(constraint->axes[2], normal, side);
    for (uint32_t r = 0; r < 3; r++)
        mf_vec3_copy(constraint->axes[3 + r], constraint->axes[r]);
}

// [m/s], [rad/s] What the rows measure of the side that does not answer.
static void add_given(const mf_Solver *solver, const mf_SolverConstraint *constraint, uint32_t side,
                      double *speed) {
    double rows[MF_BLOCK_VALUES];
    if (constraint->node[side] == MF_NONE || side_of(solver, constraint, side) != NULL)
        return;
    mf_solver_jacobian(constraint, side, rows);
    for (uint32_t r = 0; r < constraint->rows; r++)
        for (uint32_t c = 0; c < 6; c++)
            speed[r] +=
                rows[MF_BLOCK_ROWS * r + c] * solver->nodes[constraint->node[side]].velocity[c];
}

// [1/kg] Of both shapes.
static double ease_of(const mf_Solver *solver, const mf_SolverConstraint *constraint) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    double sum = 0.0;
    for (uint32_t s = 0; s < 2; s++) {
        const mf_SolverBody *body = side_of(solver, constraint, s);
        if (body != NULL)
            sum += common_of(solver, body)->motion->shape_ease[contact->model_shape[s]];
    }
    return sum;
}

// Weights and references, as contact_law of problem_points.h has them within a robot.
static void set_law(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                    const mf_ArtLaw *law, mf_SparseConstraint *out, Whole *w) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    const double depth = contact->overlap;
    const double z = mf_softness_impedance(&contact->pair.softness, depth);
    const double ease = ease_of(solver, constraint);
    double speed[MF_JOINT_ROWS] = {0}, free[MF_JOINT_ROWS] = {0};
    for (uint32_t i = 0; i < out->count; i++)
        for (uint32_t r = 0; r < out->rows; r++) {
            const uint32_t slot = w->slots[out->first_slot + i];
            speed[r] += w->numbers[out->first + out->rows * i + r] * w->speed[slot];
            free[r] += w->numbers[out->first + out->rows * i + r] * w->free[slot];
        }
    for (uint32_t s = 0; s < 2; s++)
        add_given(solver, constraint, s, speed);
    for (uint32_t r = 0; r < out->rows; r++) {
        const double rest = r == 0 ? law->stiffness * z * depth - law->damping * speed[0]
                                   : -law->friction_damping * speed[r];
        w->weight[out->row + r] = z / ((1.0 - z) * ease * law->ease[r] / law->over[r]);
        w->rest[out->row + r] = rest - free[r];
    }
    if (out->kind == CONSTRAINT_ELLIPTIC)
        out->stiff = w->weight[out->row] / (law->cone * law->cone * (law->cone * law->cone + 1.0));
}

static void add_contact(const mf_Solver *solver, mf_SolverConstraint *constraint, Whole *w) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    Arm arms[2];
    for (uint32_t s = 0; s < 2; s++)
        arms[s] = arm_of(solver, constraint, s);
    const Arm *one = arms[0].motion != NULL ? &arms[0] : &arms[1];
    const uint32_t first = arms[0].motion != NULL && arms[1].motion != NULL &&
                           arms[1].dof < arms[0].dof; // the side whose dofs come first
    mf_ArtLaw law;
    const mf_SolverBody *stating = side_of(solver, constraint, one == &arms[0] ? 0 : 1);
    mf_art_contact_law(one->motion, mf_group_model(solver->trials[stating->group]->group),
                       &contact->pair, &law);
    set_axes(constraint, contact->normal);
    constraint->rows = law.dimension;
    mf_SparseConstraint *out = &w->constraints[w->size.constraints++];
    const uint32_t counts[2] = {arm_dofs(&arms[first]), arm_dofs(&arms[1 - first])};
    *out = (mf_SparseConstraint){.kind = law.dimension == 1            ? CONSTRAINT_ONE_SIDED
                                         : one->motion->plan->elliptic ? CONSTRAINT_ELLIPTIC
                                                                       : CONSTRAINT_PYRAMID,
                                 .rows = law.dimension,
                                 .row = w->size.rows,
                                 .first = w->size.numbers,
                                 .first_slot = w->size.numbers,
                                 .count = counts[0] + counts[1],
                                 .cone = law.cone};
    memcpy(out->friction, law.friction, sizeof out->friction);
    for (uint32_t k = 0, end = 0; k < 2; k++) {
        end += counts[k];
        fill_arm(&arms[k == 0 ? first : 1 - first], constraint->axes, out->rows, end,
                 w->slots + out->first_slot, w->numbers + out->first);
    }
    w->size.rows += out->rows;
    w->size.numbers += out->rows * out->count;
    set_law(solver, constraint, &law, out, w);
}

// ---- the solution -------------------------------------------------------------------------------

static void build(mf_Solver *solver, const mf_SolverIsland *island, Whole *w) {
    w->size = (mf_SparseSize){.dofs = 0};
    for (uint32_t q = island->first; q < island->end; q++) {
        mf_SolverBody *body = first_seen(solver, solver->queue[q]);
        if (body != NULL)
            add_robot(solver, w, body);
    }
    for (uint32_t row = island->row; row < island->row_end; row++)
        add_contact(solver, mf_solver_member(solver, row), w);
}

// As in one file: gains are in units of the mean of the mass matrix's diagonal times the dofs.
static void set_tolerances(const mf_Solver *solver, const mf_SolverIsland *island,
                           mf_Sparse *sparse) {
    for (uint32_t q = island->first; q < island->end; q++) {
        const mf_SolverBody *body = first_seen(solver, solver->queue[q]);
        if (body == NULL)
            continue;
        const mf_ArtPlan *plan = common_of(solver, body)->motion->plan;
        if (sparse->steps_most < plan->solver_steps)
            sparse->steps_most = plan->solver_steps;
        sparse->gain += plan->solver_gain;
    }
}

// Whether a robot of the island has its state in double.
static bool is_wide(const mf_Solver *solver, const mf_SolverIsland *island) {
    bool wide = false;
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

static void narrow_all(Whole *w) {
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
static bool keep_forces(mf_Solver *solver, const mf_SolverIsland *island, const Whole *w) {
    const uint32_t count = island->row_end - island->row;
    const mf_SparseConstraint *from = w->constraints + w->size.constraints - count;
    if (!mf_all_finite(w->force, w->size.rows))
        return false;
    for (uint32_t row = island->row; row < island->row_end; row++, from++)
        memcpy(mf_solver_member(solver, row)->best, w->force + from->row,
               from->rows * sizeof *w->force);
    return true;
}

// One that ended early is reported; the files' tolerance may be reached before the world's.
static double residual_of(const mf_Solver *solver, const mf_Sparse *sparse) {
    const double early = 2.0 * MF_SOLVER_INEXACT;
    if (sparse->ended)
        return sparse->residual < solver->tolerance ? sparse->residual : solver->tolerance;
    return sparse->residual > early ? sparse->residual : early;
}

static void solve_island(mf_Solver *solver, mf_SolverIsland *island, char *memory) {
    mf_Carver carver = {memory, 0};
    mf_SparseSize most;
    Whole w;
    if (!measure(solver, island, &most))
        return;
    carve_whole(&most, &carver, &w);
    if (carver.used > solver->common_size)
        return;
    build(solver, island, &w);
    mf_Sparse sparse = {.dofs = w.size.dofs,
                        .entries = w.size.entries,
                        .start = w.start,
                        .column = w.column,
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
    if (!sparse.solved || !keep_forces(solver, island, &w))
        return;
    island->best = residual_of(solver, &sparse);
    island->iterations = sparse.steps;
    island->done = true;
}

void mf_solver_solve_common(mf_Solver *solver, uint32_t index) {
    if (!solver->islands[index].common)
        return;
    char *memory = mf_scratch_borrow(solver->common_scratch);
    solve_island(solver, &solver->islands[index], memory);
    mf_scratch_return(solver->common_scratch, memory);
}

void mf_solver_request_common(mf_Solver *solver, bool on) {
    request(solver, on);
    for (uint32_t b = 0; b < solver->body_count && !on; b++) {
        const mf_SolverCommon *common = &solver->common[solver->bodies[b].group];
        if (common->motion != NULL)
            common->requested[solver->bodies[b].instance] = NULL;
    }
}
