// A step of the run-time joints of a world:
//
//   1  where the joined links are, how far joints are open      blocks of robots, in parallel
//   2  trial steps: where the last step's forces lead, and how  blocks of robots, in parallel
//      the links answer to small further ones
//   3  A = sum of responses + gamma, L D L^T in the order of the graph
//   4  forces -= A^-1 (what is wrong), a trial step with them   blocks of robots, in parallel
//      again while that is not exact enough; from 2 on where that does not help, for there contacts
//      or limits take hold or let go
//   5  forces into the fields of the links, where the motions find them
//
// 3 and 4 are Newton's method on the map from forces to the state at the end of the step, with the
// derivative of 2. Without contacts one round is exact but for what is quadratic in the step. A
// round that made it worse is taken back by half.
//
// Invariants: a task works on its own block; nodes and parts are passed through in order; so no bit
// depends on the threads. Nothing is allocated.
#include "dynamics/joints.h"
#include "math/float_mode.h"
#include "math/scalar.h"

// [m] or [rad]: stiff joints that are wider open raise the warning of open loops, and [1] forces
// that are less exact that of the solver.
static const double open_most = 1e-3, inexact_most = 0.1;

enum { PROBES = 3 }; // [1] most of a step

typedef void (*Task)(mf_WorldJoints *all, uint32_t block);

typedef struct Tasks {
    mf_WorldJoints *all;
    Task task;
} Tasks;

static void run_task(void *user, uint32_t index) {
    const Tasks *tasks = user;
    unsigned mode = mf_float_mode_enter();
    tasks->task(tasks->all, index);
    mf_float_mode_leave(mode);
}

static void for_blocks(mf_WorldJoints *all, Task task) {
    Tasks tasks = {all, task};
    const uint32_t count = all->graph.block_count;
    if (count > 1 && mf_context_threads(all->context) > 1) {
        mf_parallel_for(all->context, count, run_task, &tasks);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        task(all, i);
}

// ---- 1: where things are ------------------------------------------------------------------------

void mf_joints_look(const mf_WorldJoints *all, const mf_JointBlock *block, uint32_t first,
                    uint32_t end) {
    const mf_LinkChoice choice = {block->links, block->link_count, first, end};
    mf_link_motions_find(&all->trials[block->group]->links, block->block, &choice, block->motions);
}

static void look(mf_WorldJoints *all, uint32_t index) {
    const mf_JointGraph *graph = &all->graph;
    const mf_JointBlock *block = &graph->blocks[index];
    const mf_TrialStep *trial = all->trials[block->group];
    mf_trial_step_save(trial, block->block, block->saved);
    mf_joints_look(all, block, block->first_lane, block->end_lane);
    for (uint32_t b = block->first; b < block->first + block->count; b++) {
        const mf_JointBody *body = &graph->bodies[b];
        const bool still = mf_trial_step_frozen(trial, body->instance);
        for (uint32_t i = body->first; i < body->first + body->count; i++) {
            mf_JointNode *node = &graph->nodes[graph->incidents[i].node];
            for (uint32_t s = 0; s < 2; s++)
                if (graph->incidents[i].sides & 1u << s)
                    mf_link_motion(&node->sides[s].motion, block->motions,
                                   body->instance % MF_BLOCK, all->records[node->slot].link[s],
                                   still);
        }
    }
}

static void begin(mf_WorldJoints *all) {
    const mf_JointGraph *graph = &all->graph;
    const double step = (double)all->run.step * 1e-9;
    for (uint32_t p = 0; p < graph->part_count; p++)
        graph->parts[p].done = false;
    for (uint32_t n = 0; n < graph->node_count; n++) {
        mf_JointNode *node = &graph->nodes[n];
        mf_JointRecord *record = &all->records[node->slot];
        node->active = record->enabled && !record->broken;
        for (uint32_t s = 0; s < 2; s++)
            if (node->body[s] == MF_NONE)
                node->sides[s].motion = mf_link_motion_world();
        mf_joint_begin(record, step, node);
        const mf_LinkMotion motions[2] = {node->sides[0].motion, node->sides[1].motion};
        double opening[3], turning[3];
        mf_joint_error(record, motions, opening, turning);
        node->opening = mf_vec3_length(opening);
        node->turning = mf_vec3_length(turning);
        record->residual = 0.0;
    }
}

static bool any_enabled(const mf_WorldJoints *all) {
    for (uint32_t n = 0; n < all->graph.node_count; n++) {
        const mf_JointRecord *record = &all->records[all->graph.nodes[n].slot];
        if (record->enabled && !record->broken)
            return true;
    }
    return false;
}

// ---- 5: what it leaves behind -------------------------------------------------------------------

static void push(mf_WorldJoints *all) {
    const mf_JointGraph *graph = &all->graph;
    for (uint32_t b = 0; b < graph->body_count; b++) {
        const mf_JointBody *body = &graph->bodies[b];
        for (uint32_t i = body->first; i < body->first + body->count; i++) {
            const mf_JointNode *node = &graph->nodes[graph->incidents[i].node];
            if (node->active)
                mf_joints_push(all, node, graph->incidents[i].sides, body->instance, node->force);
        }
    }
}

static void store(mf_WorldJoints *all) {
    for (uint32_t n = 0; n < all->graph.node_count; n++) {
        const mf_JointNode *node = &all->graph.nodes[n];
        mf_JointRecord *record = &all->records[node->slot];
        if (!node->active)
            continue;
        mf_joint_wrench(node, node->force, record->force, record->moment);
        record->rounds = all->rounds;
        record->broken = mf_vec3_length(record->force) > record->force_limit ||
                         mf_vec3_length(record->moment) > record->moment_limit;
    }
}

static void raise_warning(const mf_TrialStep *trial, uint32_t instance, uint32_t bit, uint32_t kind,
                          double residual) {
    if (trial->word == NULL || mf_trial_step_frozen(trial, instance))
        return;
    const uint32_t word = (uint32_t)mf_field_get(trial->word, instance, 0);
    mf_field_set(trial->word, instance, 0, (double)(word | bit));
    mf_field_set(trial->steps, instance, kind, mf_field_get(trial->steps, instance, kind) + 1.0);
    if (residual > mf_field_get(trial->residual, instance, kind))
        mf_field_set(trial->residual, instance, kind, residual);
}

// Once per robot and step, with the largest of its joints.
static void warn(const mf_WorldJoints *all) {
    const mf_JointGraph *graph = &all->graph;
    for (uint32_t b = 0; b < graph->body_count; b++) {
        const mf_JointBody *body = &graph->bodies[b];
        double open = 0.0, inexact = 0.0;
        for (uint32_t i = body->first; i < body->first + body->count; i++) {
            const mf_JointNode *node = &graph->nodes[graph->incidents[i].node];
            const mf_JointRecord *record = &all->records[node->slot];
            if (!node->active)
                continue;
            if (!(record->stiffness > 0.0) && node->opening > open)
                open = node->opening;
            if (!(record->turning_stiffness > 0.0) && node->turning > open)
                open = node->turning;
            inexact = record->residual > inexact ? record->residual : inexact;
        }
        if (open > open_most)
            raise_warning(all->trials[body->group], body->instance, MF_WARNING_LOOPS, 3, open);
        if (inexact > inexact_most)
            raise_warning(all->trials[body->group], body->instance, MF_WARNING_SOLVER, 0, inexact);
    }
}

// ---- a step -------------------------------------------------------------------------------------

void mf_joints_run(const mf_WorldRun *run, void *user) {
    mf_WorldJoints *all = user;
    all->acting = false;
    if (!any_enabled(all))
        return;
    all->run = (mf_SystemRun){.time = run->time, .step = run->step, .tick = run->tick};
    for_blocks(all, look);
    begin(all);
    all->rounds = 0;
    for (uint32_t probes = 0; probes < PROBES; probes++) {
        for_blocks(all, mf_joints_probe);
        mf_joints_solve_begin(all, probes == 0);
        for (uint32_t round = 0; round < all->config.rounds && mf_joints_solve_next(all); round++) {
            for_blocks(all, mf_joints_try);
            all->rounds++;
            mf_joints_solve_learn(all);
        }
        if (!mf_joints_solve_again(all))
            break;
    }
    mf_joints_solve_end(all);
    push(all);
    store(all);
    warn(all);
    all->acting = true;
}

// The forces were for this step's motions only.
void mf_joints_end(const mf_WorldRun *run, void *user) {
    mf_WorldJoints *all = user;
    (void)run;
    for (uint32_t i = 0; all->acting && i < all->graph.block_count; i++) {
        const mf_JointBlock *block = &all->graph.blocks[i];
        mf_trial_step_restore_pushes(all->trials[block->group], block->block, block->saved);
    }
    all->acting = false;
}
