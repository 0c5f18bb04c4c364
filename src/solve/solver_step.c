// A step of the world solver:
//
//   1  links that joints and contacts connect, with their poses             (solver_graph.c)
//   2  trial steps: effect of the last step's forces, and response of the    (solver_respond.c)
//      links to small additional ones
//   3  forces that balance by these                                         (solver_newton.c)
//   4  a trial step with them; repeat 3 about it until the residual is small, and from 2 on if
//      that fails, because contacts with the ground or limits have changed
//   5  forces into the fields of the links, for the motions
//
// A correction that increases the residual is halved. Without contacts with the ground one round is
// exact up to second order in the step.
//
// Invariants: a task works on its own block or island; nodes and islands are processed in order, so
// results do not depend on threads. Nothing is allocated except for systems added since.
#include "solve/modules/assemblies.h"
#include "base/context.h"
#include "math/scalar.h"

#include <float.h>
#include <string.h>

// Limits of warnings: openings of stiff joints [m] or [rad] (`loops`), and residual [1] (`solver`).
static const double open_most = 1e-3, inexact_most = MF_SOLVER_INEXACT;
static const double residual_most = 1e9; // [1] largest reported residual
static const double usual_change = 10.0; // [m/s^2], [rad/s^2] scale of residuals

static const double large_enough = 1e-2; // [1] residual of large islands that ends corrections

enum { PROBES = 8 }; // [1] most of a step

typedef void (*Task)(mf_Solver *solver, uint32_t index);

typedef struct Tasks {
    mf_Solver *solver;
    Task task;
} Tasks;

static void run_task(void *user, uint32_t index) {
    const Tasks *tasks = user;
    tasks->task(tasks->solver, index);
}

static void run_tasks(mf_Solver *solver, uint32_t count, Task task) {
    Tasks tasks = {solver, task};
    mf_parallel_for(solver->context, count, run_task, &tasks);
}

static void copy_rows(double *to, const double *from) {
    memcpy(to, from, MF_JOINT_ROWS * sizeof *to);
}

// ---- trials -------------------------------------------------------------------------------------

static void add_wrenches(mf_Solver *solver, const mf_SolverConstraint *constraint) {
    for (uint32_t s = 0; s < 2; s++) {
        double wrench[6];
        if (constraint->node[s] == MF_NONE)
            continue;
        mf_SolverNode *node = &solver->nodes[constraint->node[s]];
        mf_solver_wrench(constraint, s, constraint->force, wrench);
        for (uint32_t c = 0; c < 6; c++)
            node->wrench[c] += wrench[c];
    }
}

// The wrenches of the present forces.
static void sum_wrenches(mf_Solver *solver) {
    for (uint32_t n = 0; n < solver->node_count; n++)
        memset(solver->nodes[n].wrench, 0, sizeof solver->nodes[n].wrench);
    for (uint32_t c = 0; c < solver->constraint_count; c++)
        if (solver->constraints[c].island != MF_NONE)
            add_wrenches(solver, &solver->constraints[c]);
}

static void measure_island(mf_Solver *solver, uint32_t index) {
    mf_SolverIsland *island = &solver->islands[index];
    island->residual = 0.0;
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        mf_solver_measure(solver, constraint);
        const double residual = mf_solver_residual(constraint);
        if (!mf_is_finite(residual) || !mf_all_finite(constraint->force, MF_JOINT_ROWS))
            island->residual = DBL_MAX;
        else if (residual > island->residual)
            island->residual = residual;
    }
    for (uint32_t q = island->first; q < island->end; q++)
        if (solver->bodies[solver->nodes[solver->queue[q]].body].lost)
            island->residual = DBL_MAX;
}

static void balance_island(mf_Solver *solver, uint32_t index) {
    mf_SolverIsland *island = &solver->islands[index];
    bool finite = true;
    if (!island->moved || island->done)
        return;
    if (island->swept)
        mf_solver_balance_large(solver, island);
    else
        mf_solver_balance(solver, island);
    for (uint32_t row = island->row; row < island->row_end; row++)
        finite = finite && mf_all_finite(mf_solver_member(solver, row)->target, MF_JOINT_ROWS);
    for (uint32_t row = island->row; row < island->row_end && !finite; row++)
        copy_rows(mf_solver_member(solver, row)->target, mf_solver_member(solver, row)->best);
}

static void invert_block(mf_Solver *solver, uint32_t index) {
    const mf_SolverBlock *block = &solver->blocks[index];
    for (uint32_t b = block->first; b < block->first + block->count; b++)
        if (solver->bodies[b].moves && !solver->bodies[b].swept &&
            !solver->islands[solver->bodies[b].island].done)
            mf_solver_invert(solver, &solver->bodies[b]);
}

static void invert_tree(mf_Solver *solver, uint32_t index) {
    const mf_SolverBody *body = &solver->bodies[solver->robot_count + index];
    if (!solver->islands[body->island].done)
        mf_solver_invert(solver, body);
}

// ---- residuals ----------------------------------------------------------------------------------

// Residuals are relative to the effect of the forces before and after the first correction, which
// counts at most ten times the initial error, as it may be far off.
static void measure_scale(const mf_Solver *solver, mf_SolverConstraint *constraint) {
    const double usual = usual_change * (double)solver->run.step * 1e-9;
    constraint->scale[0] = constraint->scale[1] = usual;
    for (uint32_t r = 0; r < constraint->rows; r++) {
        const double before = constraint->gives[r] * mf_abs(constraint->force[r]);
        const double after = constraint->gives[r] * mf_abs(constraint->target[r]);
        const double there = usual + before + mf_abs(constraint->now[r]);
        const double change = usual + (before > after ? before : after);
        const double scale = change < 10.0 * there ? change : 10.0 * there;
        if (scale > constraint->scale[r >= 3])
            constraint->scale[r >= 3] = scale;
    }
}

// [1] Residual at which corrections end.
static double enough_of(const mf_Solver *solver, const mf_SolverIsland *island) {
    const bool rough = island->swept && solver->tolerance < large_enough;
    return rough ? large_enough : solver->tolerance;
}

// `probed`: the present forces are those of new probes, so corrections begin there in any case.
// `first`: they are those of the last step, which are always corrected.
static void judge(mf_Solver *solver, mf_SolverIsland *island, bool probed, bool first) {
    const double residual = island->residual;
    if (island->done)
        return;
    island->moved = probed || residual < island->from || (island->swept && residual < DBL_MAX);
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        if (residual < island->best)
            copy_rows(constraint->best, constraint->force);
        if (island->moved)
            copy_rows(constraint->from, constraint->force);
    }
    island->best = residual < island->best ? residual : island->best;
    if (probed || residual < island->least) {
        island->least = probed ? DBL_MAX : residual;
        island->least_stretch = probed ? 1.0 : island->stretch;
    }
    island->nearer = !probed && (island->nearer || island->moved);
    island->from = island->moved ? residual : island->from;
    island->stretch = island->moved ? 1.0 : 0.5 * island->stretch;
    island->done = !first && island->best <= enough_of(solver, island);
}

// Forces of an island for the next trial.
static void set_forces(const mf_Solver *solver, const mf_SolverIsland *island, double stretch) {
    for (uint32_t row = island->row; row < island->row_end; row++) {
        mf_SolverConstraint *constraint = mf_solver_member(solver, row);
        for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
            constraint->force[r] =
                island->done
                    ? constraint->best[r]
                    : constraint->from[r] + stretch * (constraint->target[r] - constraint->from[r]);
    }
}

static bool any_left(const mf_Solver *solver) {
    for (uint32_t i = 0; i < solver->island_count; i++)
        if (!solver->islands[i].done)
            return true;
    return false;
}

// ---- a step -------------------------------------------------------------------------------------

// Islands of which all robots state their constraints are solved at once; trials show how well
// joints hold.
static void solve_common(mf_Solver *solver) {
    if (!mf_solver_find_common(solver))
        return;
    mf_solver_request_common(solver, true);
    run_tasks(solver, solver->block_count, mf_solver_state_problems);
    mf_solver_request_common(solver, false);
    run_tasks(solver, solver->island_count, mf_solver_solve_common);
    solver->only_common = true;
    for (uint32_t round = 0; round < solver->rounds && mf_solver_common_left(solver); round++) {
        sum_wrenches(solver);
        run_tasks(solver, solver->block_count, mf_solver_try);
        solver->tried++;
        run_tasks(solver, solver->island_count, mf_solver_correct_common);
    }
    run_tasks(solver, solver->island_count, mf_solver_end_common);
    solver->only_common = false;
}

static void begin(mf_Solver *solver) {
    mf_solver_assemble(solver);
    run_tasks(solver, solver->block_count, mf_solver_look);
    mf_solver_look_trees(solver);
    for (uint32_t c = 0; c < solver->constraint_count; c++)
        mf_solver_begin(solver, &solver->constraints[c]);
    for (uint32_t i = 0; i < solver->island_count; i++)
        solver->islands[i].best = solver->islands[i].from = DBL_MAX;
    solve_common(solver);
    mf_solver_find_large(solver);
    run_tasks(solver, solver->block_count, mf_solver_prepare_large);
}

static void probe(mf_Solver *solver, bool first) {
    sum_wrenches(solver);
    run_tasks(solver, solver->block_count, mf_solver_probe);
    mf_solver_try_trees(solver);
    run_tasks(solver, solver->body_count - solver->robot_count, mf_solver_probe_tree);
    for (uint32_t c = 0; c < solver->constraint_count; c++)
        if (solver->constraints[c].island != MF_NONE &&
            !solver->islands[solver->constraints[c].island].done)
            mf_solver_soften(solver, &solver->constraints[c]);
    run_tasks(solver, solver->block_count, invert_block);
    run_tasks(solver, solver->body_count - solver->robot_count, invert_tree);
    for (uint32_t i = 0; i < solver->island_count; i++) {
        solver->islands[i].moved = !solver->islands[i].done;
        for (uint32_t row = solver->islands[i].row; row < solver->islands[i].row_end; row++)
            mf_solver_measure(solver, mf_solver_member(solver, row));
    }
    run_tasks(solver, solver->island_count, balance_island);
    for (uint32_t c = 0; c < solver->constraint_count && first; c++)
        if (solver->constraints[c].island != MF_NONE)
            measure_scale(solver, &solver->constraints[c]);
    run_tasks(solver, solver->island_count, measure_island);
    for (uint32_t i = 0; i < solver->island_count; i++)
        judge(solver, &solver->islands[i], true, first);
}

static void correct(mf_Solver *solver) {
    for (uint32_t round = 0; round < solver->rounds && any_left(solver); round++) {
        for (uint32_t i = 0; i < solver->island_count; i++)
            set_forces(solver, &solver->islands[i], solver->islands[i].stretch);
        sum_wrenches(solver);
        run_tasks(solver, solver->block_count, mf_solver_try);
        mf_solver_try_trees(solver);
        solver->tried++;
        run_tasks(solver, solver->island_count, measure_island);
        for (uint32_t i = 0; i < solver->island_count; i++)
            judge(solver, &solver->islands[i], false, false);
        if (round + 1 < solver->rounds)
            run_tasks(solver, solver->island_count, balance_island);
    }
}

// Sets the forces for further probes: if no correction improved the residual, contacts may have
// changed, and the best forces are used.
static void again(mf_Solver *solver) {
    for (uint32_t i = 0; i < solver->island_count; i++) {
        mf_SolverIsland *island = &solver->islands[i];
        island->done = island->done || (island->swept && island->best <= inexact_most);
        set_forces(solver, island, island->nearer ? 0.0 : island->least_stretch);
    }
}

// ---- results ------------------------------------------------------------------------------------

static void push(mf_Solver *solver, bool contacts) {
    for (uint32_t c = 0; c < solver->constraint_count; c++) {
        const mf_SolverConstraint *constraint = &solver->constraints[c];
        double force[3] = {0}, moment[3] = {0}, point[3];
        if ((constraint->contact != MF_NONE) != contacts || constraint->island == MF_NONE)
            continue;
        for (uint32_t r = 0; r < constraint->rows; r++)
            mf_vec3_add_scaled(r < 3 ? force : moment, r < 3 ? force : moment, constraint->force[r],
                               constraint->axes[r]);
        for (uint32_t s = 2; s-- > 0;) { // the second side first, then the opposite on the first
            const mf_SolverNode *node =
                constraint->node[s] != MF_NONE ? &solver->nodes[constraint->node[s]] : NULL;
            if (node != NULL && (contacts || node->robot == MF_NONE)) {
                mf_vec3_add(point, node->point, constraint->arm[s]);
                mf_trial_step_apply(solver->trials[node->group], node->instance, node->link, point,
                                    force, moment);
            }
            mf_vec3_scale(force, force, -1.0);
            mf_vec3_scale(moment, moment, -1.0);
        }
    }
}

static void store_joint(const mf_Solver *solver, const mf_SolverConstraint *constraint,
                        double residual) {
    const mf_JointNode *joint = &solver->joint_nodes[constraint->joint];
    mf_JointRecord *record = joint->record;
    mf_joint_wrench(joint, constraint->force, record->force, record->moment);
    record->torque = joint->drive.acts ? constraint->force[5] : 0.0;
    for (uint32_t r = 0; r < 3; r++) {
        record->load[r] = mf_vec3_dot(joint->axes[r], record->force);
        record->load[3 + r] = mf_vec3_dot(joint->axes[r], record->moment);
    }
    record->residual = residual < residual_most ? residual : residual_most;
    record->rounds = solver->tried;
    record->broken = mf_vec3_length(record->force) > record->force_limit ||
                     mf_vec3_length(record->moment) > record->moment_limit;
}

static void store_contact(const mf_Solver *solver, const mf_SolverConstraint *constraint) {
    const mf_SolverContact *contact = &solver->contacts[constraint->contact];
    if (contact->load == NULL)
        return;
    *contact->load = constraint->force[0];
    mf_vec3_set(contact->force, 0, 0, 0);
    for (uint32_t r = 0; r < constraint->rows && r < 3; r++)
        mf_vec3_add_scaled(contact->force, contact->force, constraint->force[r],
                           constraint->axes[r]);
}

static void store(mf_Solver *solver) {
    solver->residual = 0.0;
    for (uint32_t i = 0; i < solver->island_count; i++)
        if (solver->islands[i].best > solver->residual)
            solver->residual = solver->islands[i].best;
    for (uint32_t c = 0; c < solver->constraint_count; c++) {
        const mf_SolverConstraint *constraint = &solver->constraints[c];
        const double residual =
            constraint->island != MF_NONE ? solver->islands[constraint->island].best : 0.0;
        if (constraint->joint != MF_NONE)
            store_joint(solver, constraint, residual);
        else
            store_contact(solver, constraint);
    }
}

// Opening of the stiff joints at a node.
static double opening_at(const mf_Solver *solver, uint32_t node) {
    double open = 0.0;
    for (uint32_t i = solver->starts[node]; i < solver->starts[node + 1]; i++) {
        const uint32_t number = solver->constraints[solver->touch[i]].joint;
        if (number == MF_NONE)
            continue;
        const mf_JointNode *joint = &solver->joint_nodes[number];
        if (!(joint->record->stiffness > 0.0) && joint->opening > open)
            open = joint->opening;
        if (!(joint->record->angular_stiffness > 0.0) && joint->angular_opening > open)
            open = joint->angular_opening;
    }
    return open;
}

// Once per robot and step, with the largest of its joints and its island.
static void warn(const mf_Solver *solver) {
    for (uint32_t n = 0, next; n < solver->node_count; n = next) {
        const mf_SolverNode *node = &solver->nodes[n];
        const mf_SolverBody *body = &solver->bodies[node->body];
        const mf_TrialStep *trial = solver->trials[node->group];
        double open = 0.0;
        double inexact = body->island != MF_NONE ? solver->islands[body->island].best : 0.0;
        for (next = n;
             next < body->first + body->count && solver->nodes[next].group == node->group &&
             solver->nodes[next].instance == node->instance;
             next++) {
            const double own = opening_at(solver, next);
            open = own > open ? own : open;
        }
        inexact = body->crowded ? 1.0 : inexact < residual_most ? inexact : residual_most;
        if (open > open_most)
            mf_trial_step_warn(trial, node->instance, MF_WARNING_LOOPS, 3, open);
        if (inexact > inexact_most)
            mf_trial_step_warn(trial, node->instance, MF_WARNING_SOLVER, 0, inexact);
    }
}

// If no solution was found, contacts use their explicit law, which is bounded.
static void set_final(const mf_Solver *solver, mf_SolverConstraint *constraint) {
    copy_rows(constraint->force, constraint->best);
    if (constraint->contact == MF_NONE || constraint->island == MF_NONE ||
        mf_solver_is_usable(&solver->islands[constraint->island]))
        return;
    const double *spare = solver->contacts[constraint->contact].spare;
    for (uint32_t r = 0; r < constraint->rows; r++)
        constraint->force[r] = mf_vec3_dot(constraint->axes[r], r < 3 ? spare : spare + 3);
}

// Contacts first: they remain in the fields after the step.
static void finish(mf_Solver *solver) {
    for (uint32_t c = 0; c < solver->constraint_count; c++)
        set_final(solver, &solver->constraints[c]);
    sum_wrenches(solver);
    mf_solver_press_trees(solver, true);
    push(solver, true);
    for (uint32_t i = 0; i < solver->block_count; i++) {
        const mf_SolverBlock *block = &solver->blocks[i];
        mf_trial_step_save_pushes(solver->trials[block->group], block->block, block->saved);
    }
    push(solver, false);
    store(solver);
    mf_solver_keep_warm(solver);
    warn(solver);
}

// Forces of all joints and contacts outside of the trees of assemblies.
static void balance(mf_Solver *solver) {
    if ((solver->contact_count == 0 && solver->joints->count == 0) || !mf_solver_refresh(solver)) {
        mf_solver_forget(solver);
        return;
    }
    begin(solver);
    for (uint32_t probes = 0; probes < PROBES && any_left(solver); probes++) {
        probe(solver, probes == 0);
        correct(solver);
        again(solver);
    }
    finish(solver);
    solver->acting = true;
}

void mf_solver_run(const mf_WorldRun *run, void *user) {
    mf_Solver *solver = user;
    solver->acting = false;
    solver->tried = solver->island_count = 0;
    solver->residual = 0.0;
    solver->run = (mf_SystemRun){.time = run->time, .step = run->step, .tick = run->tick};
    mf_joint_requests_run(solver->joints);
    mf_Assemblies *assemblies = solver->joints->assemblies;
    const bool trees = mf_assemblies_begin(assemblies, &solver->run);
    balance(solver);
    if (trees) {
        mf_assemblies_solve(assemblies);
        mf_assemblies_finish(assemblies);
    }
}

// Removes the forces of joints, which only apply to this step's motions.
void mf_solver_end(const mf_WorldRun *run, void *user) {
    mf_Solver *solver = user;
    (void)run;
    for (uint32_t i = 0; solver->acting && i < solver->block_count; i++) {
        const mf_SolverBlock *block = &solver->blocks[i];
        mf_trial_step_restore_wrenches(solver->trials[block->group], block->block, block->saved);
    }
    solver->acting = false;
    mf_assemblies_end(solver->joints->assemblies);
    mf_joint_slots_measure(solver->joints);
}
