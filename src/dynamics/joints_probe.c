// Responses of robots to forces of their joints: trial steps of a block (trial_step.h). A robot
// uses several lanes of its block, the first with the present forces and each further one with a
// small additional force; the difference of its links' motion is a column of the response,
//     change of velocity at the end of the step per force.
// The robots of a block use its lanes in turn. The response contains all that the motion computes
// within a step: articulated inertia, armature, implicit damping and servos, limits, contacts with
// the ground.
//
// Invariant: a block is unchanged when a function here returns.
#include "dynamics/joints.h"
#include "math/scalar.h"

// How much a trial force should change velocities: small beside what a step of gravity does, so
// that contacts stay, large beside the rounding of the fields.
static const double change_wide = 1e-6, change_narrow = 1e-4; // [m/s], [rad/s]
static const double usual_arm = 0.1;                          // [m] force to moment, at first

void mf_joints_push(const mf_WorldJoints *all, const mf_JointNode *node, uint32_t sides,
                    uint32_t instance, const double rows[MF_JOINT_ROWS]) {
    const mf_JointRecord *record = &all->records[node->slot];
    double force[3], moment[3];
    mf_joint_wrench(node, rows, force, moment);
    for (uint32_t s = 2; s-- > 0;) { // the second side first, then the opposite on the first one
        if (sides & 1u << s)
            mf_trial_step_push(all->trials[record->group[s]], instance, record->link[s],
                               node->point, force, moment);
        mf_vec3_scale(force, force, -1.0);
        mf_vec3_scale(moment, moment, -1.0);
    }
}

static const mf_JointIncident *incidents(const mf_JointGraph *graph, const mf_JointBody *body) {
    return graph->incidents + body->first;
}

// All forces of the robot's joints.
static void push_all(const mf_WorldJoints *all, const mf_JointBody *body, uint32_t instance) {
    const mf_JointIncident *own = incidents(&all->graph, body);
    for (uint32_t i = 0; i < body->count; i++) {
        const mf_JointNode *node = &all->graph.nodes[own[i].node];
        if (node->active)
            mf_joints_push(all, node, own[i].sides, instance, node->force);
    }
}

// Makes the trial step of a block; looks at the robots in lanes first .. end - 1.
static void run_trial(const mf_WorldJoints *all, const mf_JointBlock *block, uint32_t first,
                      uint32_t end) {
    mf_trial_step_run(all->trials[block->group], &all->run, block->block);
    mf_joints_look(all, block, first, end);
}

// How the links of its joints moved in the trial step of `instance`. False: not finite.
static bool read_sides(mf_WorldJoints *all, const mf_JointBody *body, uint32_t instance) {
    const double *motions = all->graph.blocks[body->block].motions;
    const mf_JointIncident *own = incidents(&all->graph, body);
    bool finite = true;
    for (uint32_t i = 0; i < body->count; i++) {
        mf_JointNode *node = &all->graph.nodes[own[i].node];
        for (uint32_t s = 0; s < 2; s++) {
            mf_LinkMotion *motion = &node->sides[s].motion;
            if (!(own[i].sides & 1u << s))
                continue;
            mf_link_motion(motion, motions, instance % MF_BLOCK, all->records[node->slot].link[s],
                           false);
            finite = finite && mf_all_finite(motion->position, 3) &&
                     mf_all_finite(motion->orientation, 4) && mf_all_finite(motion->velocity, 3) &&
                     mf_all_finite(motion->rate, 3);
        }
    }
    return finite;
}

// The robot as it is at the beginning of the step and stays: its fields are of that state.
static void stand_still(mf_WorldJoints *all, const mf_JointBody *body) {
    const mf_JointIncident *own = incidents(&all->graph, body);
    const mf_JointBlock *block = &all->graph.blocks[body->block];
    mf_joints_look(all, block, block->first_lane, block->end_lane);
    for (uint32_t i = 0; i < body->count; i++) {
        mf_JointNode *node = &all->graph.nodes[own[i].node];
        for (uint32_t s = 0; s < 2; s++)
            if (own[i].sides & 1u << s)
                mf_link_motion(&node->sides[s].motion, block->motions, body->instance % MF_BLOCK,
                               all->records[node->slot].link[s], true);
    }
}

static bool takes_part(const mf_WorldJoints *all, const mf_JointBody *body) {
    const mf_JointIncident *own = incidents(&all->graph, body);
    if (mf_trial_step_frozen(all->trials[body->group], body->instance))
        return false;
    for (uint32_t i = 0; i < body->count; i++)
        if (all->graph.nodes[own[i].node].active)
            return true;
    return false;
}

// ---- probes -------------------------------------------------------------------------------------

typedef struct Probe { // one further force
    uint32_t incident; // [1] of the robot
    uint32_t row;      // [1]
    double size;       // [N], [N m]
} Probe;

typedef struct Probing { // of a robot
    mf_WorldJoints *all;
    const mf_JointBody *body;
    double usual;                     // [N] that changes the velocity of the whole robot as wanted
    double wanted;                    // [m/s]
    bool begun;                       // it has a place without a further force
    bool finite;                      // all that was read
    uint32_t next_incident, next_row; // [1] of the next probe
    double largest[2];                // [m/s], [rad/s] change by probes of the present incident
} Probing;

// Who stands in a place of a block during a trial step.
typedef struct Place {
    Probing *probing;
    bool plain;  // under the present forces only
    Probe probe; // else with this one
} Place;

static uint32_t first_side(uint32_t sides) {
    return sides & 1 ? 0 : 1;
}

static double *probe_sizes(const Probing *probing, uint32_t incident) {
    const mf_JointIncident *own = &incidents(&probing->all->graph, probing->body)[incident];
    const uint32_t slot = probing->all->graph.nodes[own->node].slot;
    return probing->all->records[slot].probe[first_side(own->sides)];
}

// The next force of an active joint; false: there are no more.
static bool next_probe(Probing *probing, Probe *out) {
    const mf_JointGraph *graph = &probing->all->graph;
    for (; probing->next_incident < probing->body->count; probing->next_incident++) {
        const uint32_t i = probing->next_incident;
        const mf_JointNode *node = &graph->nodes[incidents(graph, probing->body)[i].node];
        if (!node->active || probing->next_row == node->rows) {
            probing->next_row = 0;
            continue;
        }
        const uint32_t row = probing->next_row++;
        const double size = probe_sizes(probing, i)[row >= 3];
        const double usual = row >= 3 ? probing->usual * usual_arm : probing->usual;
        *out = (Probe){i, row, size > 0.0 ? size : usual};
        return true;
    }
    return false;
}

static void push_probe(const Probing *probing, const Probe *probe, uint32_t instance) {
    const mf_JointIncident *own = &incidents(&probing->all->graph, probing->body)[probe->incident];
    double rows[MF_JOINT_ROWS] = {0};
    rows[probe->row] = probe->size;
    mf_joints_push(probing->all, &probing->all->graph.nodes[own->node], own->sides, instance, rows);
}

// What the robot's part of the relative velocity of a joint is, in its rows.
static void relative_velocity(const mf_JointNode *node, uint32_t sides,
                              const mf_LinkMotion *const motions[2], double rows[MF_JOINT_ROWS]) {
    double part[MF_JOINT_ROWS];
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
        rows[r] = 0.0;
    for (uint32_t s = 0; s < 2; s++) {
        if (!(sides & 1u << s))
            continue;
        mf_joint_velocity(node, s, motions[s], part);
        for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
            rows[r] += part[r];
    }
}

// The change of the relative velocity of a joint of the robot against the place without a further
// force. False: not finite.
static bool read_change(const Probing *probing, const mf_JointIncident *own, uint32_t instance,
                        double change[MF_JOINT_ROWS]) {
    const mf_WorldJoints *all = probing->all;
    const mf_JointNode *node = &all->graph.nodes[own->node];
    const mf_LinkMotion *const plain[2] = {&node->sides[0].motion, &node->sides[1].motion};
    mf_LinkMotion moved[2];
    const mf_LinkMotion *const pushed[2] = {&moved[0], &moved[1]};
    double without[MF_JOINT_ROWS];
    for (uint32_t s = 0; s < 2; s++)
        if (own->sides & 1u << s)
            mf_link_motion(&moved[s], all->graph.blocks[probing->body->block].motions,
                           instance % MF_BLOCK, all->records[node->slot].link[s], false);
    relative_velocity(node, own->sides, pushed, change);
    relative_velocity(node, own->sides, plain, without);
    for (uint32_t r = 0; r < MF_JOINT_ROWS; r++)
        change[r] -= without[r];
    return mf_all_finite(change, MF_JOINT_ROWS);
}

// Sizes of the next step's forces on a joint, after all of this step's.
static void adapt(Probing *probing, double sizes[2]) {
    for (uint32_t k = 0; k < 2; k++) {
        const double usual = probing->usual * (k == 1 ? usual_arm : 1.0);
        const double size = sizes[k] > 0.0 ? sizes[k] : usual;
        const double factor = probing->largest[k] > 0.0
                                  ? mf_clamp(probing->wanted / probing->largest[k], 0.1, 10.0)
                                  : 10.0;
        sizes[k] = mf_clamp(size * factor, 1e-6 * usual, 10.0 * usual);
        probing->largest[k] = 0.0;
    }
}

static void read_probe(Probing *probing, const Probe *probe, uint32_t instance) {
    const mf_JointGraph *graph = &probing->all->graph;
    const mf_JointIncident *own = incidents(graph, probing->body);
    for (uint32_t i = 0; i < probing->body->count; i++) {
        const mf_JointNode *node = &graph->nodes[own[i].node];
        double change[MF_JOINT_ROWS];
        if (!node->active)
            continue;
        probing->finite = read_change(probing, &own[i], instance, change) && probing->finite;
        double *column = mf_joints_response(graph, probing->body, i, probe->incident) + probe->row;
        for (uint32_t r = 0; r < node->rows; r++)
            column[r * MF_JOINT_ROWS] = change[r] / probe->size;
        if (i != probe->incident)
            continue;
        double *largest = &probing->largest[probe->row >= 3];
        const double size = mf_abs(change[probe->row]);
        *largest = size > *largest ? size : *largest;
        if (probe->row + 1 == node->rows)
            adapt(probing, probe_sizes(probing, i));
    }
}

static void clear_response(const mf_JointGraph *graph, const mf_JointBody *body) {
    memset(mf_joints_response(graph, body, 0, 0), 0,
           (size_t)body->count * body->count * MF_BLOCK_VALUES * sizeof(double));
}

static Probing probing_of(mf_WorldJoints *all, const mf_JointBody *body) {
    const mf_TrialStep *trial = all->trials[body->group];
    Probing probing = {.all = all,
                       .body = body,
                       .wanted = trial->wide ? change_wide : change_narrow,
                       .begun = all->graph.parts[body->part].done, // keeps its response
                       .finite = true};
    probing.usual = trial->mass * probing.wanted / ((double)all->run.step * 1e-9);
    if (!probing.begun)
        clear_response(&all->graph, body);
    probing.begun = probing.begun || !takes_part(all, body);
    if (probing.begun)
        probing.next_incident = body->count;
    return probing;
}

// Who comes next of the robots from *robot on; false: nobody.
static bool next_place(Probing *robots, uint32_t count, uint32_t *robot, Place *out) {
    for (; *robot < count; (*robot)++) {
        out->probing = &robots[*robot];
        out->plain = !out->probing->begun;
        out->probing->begun = true;
        if (out->plain || next_probe(out->probing, &out->probe))
            return true;
    }
    return false;
}

static void step_places(mf_WorldJoints *all, const mf_JointBlock *block, const Place *places,
                        uint32_t count, uint32_t base) {
    const mf_TrialStep *trial = all->trials[block->group];
    uint32_t from[MF_BLOCK];
    for (uint32_t i = 0; i < count; i++)
        from[i] = places[i].probing->body->instance % MF_BLOCK;
    if (trial->alone)
        mf_trial_step_restore(trial, block->block, block->saved);
    else
        mf_trial_step_spread(trial, block->block, block->saved, from, count);
    for (uint32_t i = 0; i < count; i++) {
        push_all(all, places[i].probing->body, base + i);
        if (!places[i].plain)
            push_probe(places[i].probing, &places[i].probe, base + i);
    }
    run_trial(all, block, base % MF_BLOCK, base % MF_BLOCK + count);
    for (uint32_t i = 0; i < count; i++) {
        Probing *probing = places[i].probing;
        if (places[i].plain)
            probing->finite = read_sides(all, probing->body, base + i) && probing->finite;
        else
            read_probe(probing, &places[i].probe, base + i);
    }
}

void mf_joints_probe(mf_WorldJoints *all, uint32_t index) {
    const mf_JointBlock *block = &all->graph.blocks[index];
    const mf_TrialStep *trial = all->trials[block->group];
    const uint32_t lanes = trial->alone ? 1 : mf_trial_step_lanes(trial, block->block);
    Probing robots[MF_BLOCK];
    Place places[MF_BLOCK];
    uint32_t robot = 0, count = 0;
    for (uint32_t b = 0; b < block->count; b++)
        robots[b] = probing_of(all, &all->graph.bodies[block->first + b]);
    do {
        for (count = 0; count < lanes && next_place(robots, block->count, &robot, &places[count]);)
            count++;
        const uint32_t own = count > 0 ? places[0].probing->body->instance : 0;
        if (count > 0)
            step_places(all, block, places, count, trial->alone ? own : block->block * MF_BLOCK);
    } while (count > 0);
    mf_trial_step_restore(trial, block->block, block->saved);
    for (uint32_t b = 0; b < block->count; b++)
        if (!robots[b].finite) {
            clear_response(&all->graph, robots[b].body);
            stand_still(all, robots[b].body);
        }
}

// ---- the present forces -------------------------------------------------------------------------

void mf_joints_try(mf_WorldJoints *all, uint32_t index) {
    const mf_JointBlock *block = &all->graph.blocks[index];
    const mf_TrialStep *trial = all->trials[block->group];
    const mf_JointBody *bodies = all->graph.bodies + block->first;
    bool wanted = false;
    for (uint32_t b = 0; b < block->count; b++)
        wanted = wanted || !all->graph.parts[bodies[b].part].done;
    if (!wanted)
        return;
    for (uint32_t b = 0; b < block->count; b++)
        push_all(all, &bodies[b], bodies[b].instance);
    run_trial(all, block, block->first_lane, block->end_lane);
    bool finite[MF_BLOCK];
    for (uint32_t b = 0; b < block->count; b++)
        finite[b] = !takes_part(all, &bodies[b]) || read_sides(all, &bodies[b], bodies[b].instance);
    mf_trial_step_restore(trial, block->block, block->saved);
    for (uint32_t b = 0; b < block->count; b++)
        if (!finite[b])
            stand_still(all, &bodies[b]);
}
