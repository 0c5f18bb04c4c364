// How robots answer to wrenches on their links: trial steps of a block (trial_step.h). A robot
// takes several slots of its block, the first under the present wrenches and each further one
// under a small one more; what its links do differently for that is a column of the response,
//     change of velocity at the end of the step per force.
// The robots of a block follow each other in its slots until all have had theirs.
// It holds what the motion itself does within a step: articulated inertia, armature, implicit
// damping and servos, limits, contacts with the ground.
//
// Invariant: a block is as it was when a function here returns.
#include "solve/solver.h"
#include "math/scalar.h"

#include <string.h>

// How much a trial wrench should change velocities: small compared with what a step of gravity
// does, so that contacts stay, large compared with the rounding of the fields.
static const double change_wide = 1e-6, change_narrow = 1e-4; // [m/s]
static const double least_share = 1e-4; // [1] of a robot's mass that a link is taken to have
static const double least_arm = 1e-3;   // [m] of inertia about the center of mass

static const mf_TrialStep *trial_of(const mf_Solver *solver, const mf_SolverBody *body) {
    return solver->trials[body->group];
}

// Computes how the links of nodes move, from the fields of the robots in lanes first .. end - 1.
static void find_motions(const mf_Solver *solver, const mf_SolverBlock *block, uint32_t first,
                         uint32_t end) {
    const mf_LinkChoice choice = {block->links, block->link_count, first, end};
    mf_link_motions_find(&solver->trials[block->group]->links, block->block, &choice,
                         block->motions);
}

// The same of the lanes that hold the block's own robots.
static void find_own_motions(const mf_Solver *solver, const mf_SolverBlock *block) {
    const mf_SolverBody *bodies = solver->bodies + block->first;
    find_motions(solver, block, bodies[0].instance % MF_BLOCK,
                 bodies[block->count - 1].instance % MF_BLOCK + 1);
}

// Of the motions that were computed last.
static void read_node(const mf_SolverBlock *block, mf_SolverNode *node, uint32_t instance,
                      bool still, double velocity[6]) {
    mf_link_motion(&node->end, block->motions, instance % MF_BLOCK, node->link, still);
    mf_link_point(&node->end, node->center, NULL, velocity);
    mf_vec3_copy(velocity + 3, node->end.rate);
}

// ---- the beginning ------------------------------------------------------------------------------

// The link is in between its own mass and that of the whole robot.
static void size_trials(const mf_Solver *solver, const mf_TrialStep *trial, mf_SolverNode *node) {
    const mf_Link *link = &mf_group_model(trial->group)->links[node->link];
    const double target = trial->wide ? change_wide : change_narrow;
    const double own =
        link->mass > least_share * trial->mass ? link->mass : least_share * trial->mass;
    const double inertia = (link->inertia[0] + link->inertia[1] + link->inertia[2]) / (3.0 * own);
    const double arm = mf_sqrt(inertia > least_arm * least_arm ? inertia : least_arm * least_arm);
    node->size[0] = mf_sqrt(own * trial->mass) * target / ((double)solver->run.step * 1e-9);
    node->size[1] = node->size[0] * arm;
}

// Links with nodes and all on the way from them to the base, in rising order.
static void list_links(const mf_Solver *solver, mf_SolverBlock *block) {
    const mf_Model *model = mf_group_model(solver->trials[block->group]->group);
    const mf_SolverBody *last = &solver->bodies[block->first + block->count - 1];
    uint32_t *needed = block->links; // first a flag per link
    memset(needed, 0, model->link_count * sizeof *needed);
    for (uint32_t n = solver->bodies[block->first].first; n < last->first + last->count; n++)
        for (uint32_t l = solver->nodes[n].link; l != 0; l = model->links[l].parent)
            needed[l] = 1;
    block->link_count = 0;
    for (uint32_t l = 1; l < model->link_count; l++)
        if (needed[l])
            needed[block->link_count++] = l;
}

void mf_solver_look(mf_Solver *solver, uint32_t index) {
    mf_SolverBlock *block = &solver->blocks[index];
    const mf_TrialStep *trial = solver->trials[block->group];
    mf_trial_step_save(trial, block->block, block->saved);
    list_links(solver, block);
    find_own_motions(solver, block);
    for (uint32_t b = block->first; b < block->first + block->count; b++) {
        const mf_SolverBody *body = &solver->bodies[b];
        const bool still = mf_trial_step_frozen(trial, body->instance);
        for (uint32_t n = body->first; n < body->first + body->count; n++) {
            mf_SolverNode *node = &solver->nodes[n];
            mf_vec3_copy(node->center, mf_group_model(trial->group)->links[node->link].center);
            read_node(block, node, body->instance, still, node->velocity);
            node->begin = node->end;
            mf_link_point(&node->begin, node->center, node->point, NULL);
            size_trials(solver, trial, node);
        }
    }
}

// ---- one robot in a slot of a block -------------------------------------------------------------

static void apply_all(const mf_Solver *solver, const mf_SolverBody *body, uint32_t instance) {
    for (uint32_t n = body->first; n < body->first + body->count && body->moves; n++) {
        const mf_SolverNode *node = &solver->nodes[n];
        mf_trial_step_apply(trial_of(solver, body), instance, node->link, node->point, node->wrench,
                            node->wrench + 3);
    }
}

// [m/s], [rad/s] Trials that end faster were of wrong forces: what comes of them says nothing.
static const double fastest = 1e4;

static bool is_slow(const double velocity[6]) {
    for (uint32_t r = 0; r < 6; r++)
        if (!(mf_abs(velocity[r]) < fastest)) // (also what is not a number)
            return false;
    return true;
}

// False: not finite, or out of range, or a fault froze it within the trial.
static bool read_all(mf_Solver *solver, const mf_SolverBlock *block, const mf_SolverBody *body,
                     uint32_t instance) {
    bool finite = !mf_trial_step_frozen(trial_of(solver, body), instance);
    for (uint32_t n = body->first; n < body->first + body->count; n++) {
        mf_SolverNode *node = &solver->nodes[n];
        read_node(block, node, instance, false, node->velocity);
        finite = finite && mf_all_finite(node->end.position, 3) &&
                 mf_all_finite(node->end.orientation, 4) && is_slow(node->velocity);
    }
    return finite;
}

// The robot as it is at the beginning of the step and stays: its fields are of that state.
static void stand_still(mf_Solver *solver, const mf_SolverBlock *block, mf_SolverBody *body) {
    body->lost = true;
    find_own_motions(solver, block);
    for (uint32_t n = body->first; n < body->first + body->count; n++) {
        mf_SolverNode *node = &solver->nodes[n];
        read_node(block, node, body->instance, true, node->velocity);
    }
}

static bool is_done(const mf_Solver *solver, const mf_SolverBody *body) {
    return body->island != MF_NONE && solver->islands[body->island].done;
}

// ---- probes -------------------------------------------------------------------------------------

typedef struct Probing { // of a robot
    mf_SolverBody *body;
    bool begun;    // it has a slot without a further wrench
    bool finite;   // all that was read
    uint32_t next; // [1] row of the next probe
} Probing;

// Who stands in a slot of a block during a trial step.
typedef struct ProbeSlot {
    Probing *probing;
    bool plain;   // under the present wrenches only
    uint32_t row; // [1] else with a further one in this row
} ProbeSlot;

// Who comes next of the robots from *robot on; false: nobody.
static bool next_slot(Probing *robots, uint32_t count, uint32_t *robot, ProbeSlot *out) {
    for (; *robot < count; (*robot)++) {
        Probing *probing = &robots[*robot];
        *out = (ProbeSlot){.probing = probing, .plain = !probing->begun, .row = probing->next};
        if (!probing->begun) {
            probing->begun = true;
            return true;
        }
        if (probing->next < MF_BLOCK_ROWS * probing->body->count) {
            probing->next++;
            return true;
        }
    }
    return false;
}

static double size_of(const mf_Solver *solver, const mf_SolverBody *body, uint32_t row) {
    return solver->nodes[body->first + row / MF_BLOCK_ROWS].size[row % MF_BLOCK_ROWS >= 3];
}

static void apply_probe(const mf_Solver *solver, const mf_SolverBody *body, uint32_t row,
                        uint32_t instance) {
    const mf_SolverNode *node = &solver->nodes[body->first + row / MF_BLOCK_ROWS];
    double wrench[MF_BLOCK_ROWS] = {0};
    wrench[row % MF_BLOCK_ROWS] = size_of(solver, body, row);
    mf_trial_step_apply(trial_of(solver, body), instance, node->link, node->point, wrench,
                        wrench + 3);
}

static void read_probe(mf_Solver *solver, const mf_SolverBlock *block, Probing *probing,
                       uint32_t column, uint32_t instance) {
    const mf_SolverBody *body = probing->body;
    const double size = size_of(solver, body, column);
    const size_t width = (size_t)MF_BLOCK_ROWS * body->count;
    double *response = mf_solver_response(solver, body);
    if (mf_trial_step_frozen(trial_of(solver, body), instance))
        probing->finite = false;
    for (uint32_t n = 0; n < body->count; n++) {
        mf_SolverNode moved = solver->nodes[body->first + n];
        double velocity[6];
        read_node(block, &moved, instance, false, velocity);
        probing->finite = probing->finite && is_slow(velocity);
        for (uint32_t r = 0; r < MF_BLOCK_ROWS; r++)
            response[(MF_BLOCK_ROWS * n + r) * width + column] =
                (velocity[r] - moved.velocity[r]) / size;
    }
}

// Steps robots in the first lanes of a block, or one in its own lane.
static void step_slots(mf_Solver *solver, const mf_SolverBlock *block, const ProbeSlot *slots,
                       uint32_t count) {
    const mf_TrialStep *trial = solver->trials[block->group];
    const uint32_t own = slots[0].probing->body->instance % MF_BLOCK;
    const uint32_t first = trial->alone ? own : 0, base = block->block * MF_BLOCK + first;
    uint32_t from[MF_BLOCK];
    for (uint32_t i = 0; i < MF_BLOCK; i++) // lanes that are left take as long as the others
        from[i] = slots[i < count ? i : 0].probing->body->instance % MF_BLOCK;
    if (trial->alone)
        mf_trial_step_restore(trial, block->block, block->saved);
    else
        mf_trial_step_spread(trial, block->block, block->saved, from);
    for (uint32_t i = 0; i < count; i++) {
        apply_all(solver, slots[i].probing->body, base + i);
        if (!slots[i].plain)
            apply_probe(solver, slots[i].probing->body, slots[i].row, base + i);
    }
    mf_trial_step_run(trial, &solver->run, block->block, first + count);
    find_motions(solver, block, first, first + count);
    for (uint32_t i = 0; i < count; i++) {
        Probing *probing = slots[i].probing;
        if (slots[i].plain)
            probing->finite = read_all(solver, block, probing->body, base + i) && probing->finite;
        else
            read_probe(solver, block, probing, slots[i].row, base + i);
    }
}

// Steps robots until each has had all its slots.
static void step_robots(mf_Solver *solver, const mf_SolverBlock *block, Probing *robots) {
    const mf_TrialStep *trial = solver->trials[block->group];
    const uint32_t lanes = trial->alone ? 1 : MF_BLOCK;
    ProbeSlot slots[MF_BLOCK];
    uint32_t robot = 0, count = 0;
    bool any = false;
    for (;;) {
        for (count = 0; count < lanes && next_slot(robots, block->count, &robot, &slots[count]);)
            count++;
        if (count == 0)
            break;
        any = true;
        step_slots(solver, block, slots, count);
    }
    if (any)
        mf_trial_step_restore(trial, block->block, block->saved);
    for (uint32_t b = 0; b < block->count; b++)
        if (!robots[b].finite)
            stand_still(solver, block, robots[b].body);
}

void mf_solver_probe(mf_Solver *solver, uint32_t index) {
    const mf_SolverBlock *block = &solver->blocks[index];
    Probing robots[MF_BLOCK];
    for (uint32_t b = 0; b < block->count; b++) {
        mf_SolverBody *body = &solver->bodies[block->first + b];
        const bool left =
            is_done(solver, body) || mf_trial_step_frozen(trial_of(solver, body), body->instance);
        const bool probed = !left && body->moves && !body->swept;
        robots[b] = (Probing){.body = body,
                              .begun = left,
                              .finite = true,
                              .next = probed ? 0 : MF_BLOCK_ROWS * body->count};
        body->lost = false;
    }
    step_robots(solver, block, robots);
    for (uint32_t b = 0; b < block->count; b++) {
        mf_SolverBody *body = robots[b].body;
        if (body->lost && body->moves && !body->swept)
            memset(mf_solver_response(solver, body), 0,
                   (size_t)body->count * body->count * MF_BLOCK_VALUES * sizeof(double));
    }
}

static bool is_part(const mf_Solver *solver, const mf_SolverBody *body) {
    return !solver->only_common || solver->islands[body->island].common;
}

// Robots that do not answer move alike in every trial; without probes the first one shows how.
static bool is_carried(const mf_Solver *solver, const mf_SolverBody *body) {
    return solver->only_common && solver->tried == 0 &&
           !mf_trial_step_frozen(trial_of(solver, body), body->instance);
}

void mf_solver_try(mf_Solver *solver, uint32_t index) {
    const mf_SolverBlock *block = &solver->blocks[index];
    Probing robots[MF_BLOCK];
    for (uint32_t b = 0; b < block->count; b++) {
        mf_SolverBody *body = &solver->bodies[block->first + b];
        const bool tried = body->moves ? !is_done(solver, body) && is_part(solver, body)
                                       : is_carried(solver, body);
        robots[b] = (Probing){
            .body = body, .begun = !tried, .finite = true, .next = MF_BLOCK_ROWS * body->count};
        body->lost = body->lost && !tried;
    }
    step_robots(solver, block, robots);
}
