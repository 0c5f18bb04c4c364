// Which links the joints and contacts of a step connect, and the order in which they are
// eliminated.
//
// Links are found breadth first from the first of each island; links of one robot are neighbors
// of each other. The last found is eliminated first: where islands are trees of robots no block
// is added then (block_system.h).
//
// Invariant: nodes are in the order of names of groups, of instances and of links, so all of it
// follows from the constraints alone. Nothing is allocated.
#include "base/sort.h"
#include "solve/modules/assemblies.h"

#include <string.h>

// ---- sorting ------------------------------------------------------------------------------------

static bool is_smaller(const void *a, const void *b) {
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

void mf_solver_sort(uint64_t *keys, uint32_t count) {
    mf_heap_sort(keys, count, sizeof *keys, is_smaller);
}

static uint32_t unique(uint64_t *keys, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (i == 0 || keys[i] != keys[i - 1])
            keys[kept++] = keys[i];
    return kept;
}

uint32_t mf_solver_find(const uint64_t *keys, uint32_t count, uint64_t key) {
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ---- constraints and nodes ----------------------------------------------------------------------

static const uint64_t no_key = UINT64_MAX; // of the world
static const uint32_t tree_rank =
    MF_WORLD_GROUP_LIMIT; // instead of a group's: robots of trees come last

static uint64_t key_of(const mf_Solver *solver, uint32_t group, uint32_t instance, uint32_t link) {
    if (group == MF_NONE)
        return no_key;
    const uint32_t robot = mf_assemblies_robot(solver->joints->assemblies, group, instance);
    return robot != MF_NONE ? mf_solver_key(tree_rank, robot, link)
                            : mf_solver_key(solver->ranks[group], instance, link);
}

static void add_constraint(mf_Solver *solver, uint32_t joint, uint32_t contact,
                           const uint32_t *group, const uint32_t *instance, const uint32_t *link) {
    const uint32_t at = solver->constraint_count++;
    solver->constraints[at] = (mf_SolverConstraint){
        .island = MF_NONE, .joint = joint, .contact = contact, .node = {MF_NONE, MF_NONE}};
    for (uint32_t s = 0; s < 2; s++)
        solver->side_keys[2 * at + s] = key_of(solver, group[s], instance[s], link[s]);
}

static void list_constraints(mf_Solver *solver) {
    mf_WorldJoints *joints = solver->joints;
    uint32_t number = 0;
    solver->constraint_count = 0;
    for (uint32_t slot = 0; slot < joints->used; slot++) {
        mf_JointRecord *record = &joints->records[slot];
        if (!record->exists || !record->enabled || record->broken ||
            mf_assemblies_carry(joints->assemblies, slot))
            continue;
        solver->joint_nodes[number].record = record;
        add_constraint(solver, number++, MF_NONE, record->group, record->instance, record->link);
    }
    for (uint32_t i = 0; i < solver->contact_count; i++) {
        const mf_SolverContact *contact = &solver->contacts[i];
        add_constraint(solver, MF_NONE, i, contact->group, contact->instance, contact->link);
    }
}

static void list_nodes(mf_Solver *solver) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < 2 * solver->constraint_count; i++)
        if (solver->side_keys[i] != no_key)
            solver->keys[count++] = solver->side_keys[i];
    mf_solver_sort(solver->keys, count);
    count = unique(solver->keys, count);
    for (uint32_t i = 0; i < 2 * solver->constraint_count; i++)
        if (solver->side_keys[i] != no_key)
            solver->constraints[i / 2].node[i % 2] =
                mf_solver_find(solver->keys, count, solver->side_keys[i]);
    solver->node_count = count;
}

static mf_SolverBlock block_at(const mf_Solver *solver, uint32_t group, uint32_t block) {
    const mf_TrialStep *trial = solver->trials[group];
    const mf_SolverMemory *memory = &solver->memories[group];
    const size_t links = mf_group_model(trial->group)->link_count;
    const size_t values = mf_link_motions_size(&trial->links);
    return (mf_SolverBlock){.group = group,
                            .block = block,
                            .saved = memory->saved + block * trial->bytes,
                            .links = memory->links + block * links,
                            .motions = memory->motions + block * values};
}

static mf_SolverNode node_of(const mf_Solver *solver, uint64_t key) {
    mf_SolverNode node = {.link = mf_solver_key_link(key), .robot = MF_NONE, .at = MF_NONE};
    const uint32_t number = mf_solver_key_instance(key), rank = mf_solver_key_group(key);
    if (rank == tree_rank) {
        const mf_AssemblyRobot *robot = &solver->joints->assemblies->order[number];
        node.robot = number;
        node.group = robot->group->index;
        node.instance = robot->instance;
    } else {
        node.group = solver->group_at[rank];
        node.instance = number;
    }
    return node;
}

static mf_SolverBody body_of(const mf_Solver *solver, uint32_t n) {
    const mf_SolverNode *node = &solver->nodes[n];
    mf_SolverBody body = {.assembly = MF_NONE,
                          .group = node->group,
                          .instance = node->instance,
                          .first = n,
                          .island = MF_NONE};
    if (node->robot != MF_NONE)
        body.assembly = solver->joints->assemblies->order[node->robot].assembly;
    body.moves = solver->answers[node->group] && solver->free[node->group]->tree->dof_count > 0 &&
                 !mf_trial_step_frozen(solver->trials[node->group], node->instance);
    return body;
}

static bool same_body(const mf_SolverBody *a, const mf_SolverBody *b) {
    return a->assembly == b->assembly &&
           (a->assembly != MF_NONE || (a->group == b->group && a->instance == b->instance));
}

// Bodies and blocks are runs of nodes.
static void list_bodies(mf_Solver *solver) {
    solver->body_count = solver->block_count = solver->robot_count = 0;
    solver->tree_node = solver->node_count;
    for (uint32_t n = 0; n < solver->node_count; n++) {
        solver->nodes[n] = node_of(solver, solver->keys[n]);
        const mf_SolverBody body = body_of(solver, n);
        if (n == 0 || !same_body(&body, &solver->bodies[solver->body_count - 1]))
            solver->bodies[solver->body_count++] = body;
        solver->bodies[solver->body_count - 1].count++;
        solver->nodes[n].body = solver->body_count - 1;
        if (body.assembly == MF_NONE)
            solver->robot_count = solver->body_count;
        else if (n < solver->tree_node)
            solver->tree_node = n;
    }
    for (uint32_t b = 0; b < solver->robot_count; b++) {
        const mf_SolverBody *body = &solver->bodies[b];
        const uint32_t block = body->instance / MF_BLOCK;
        mf_SolverBlock *last = &solver->blocks[solver->block_count];
        if (b == 0 || last[-1].group != body->group || last[-1].block != block) {
            *last = block_at(solver, body->group, block);
            last->first = b;
            solver->block_count++;
        }
        solver->blocks[solver->block_count - 1].count++;
    }
}

// Robots whose response finds no space do not give way; they are reported as not exact.
static void place_responses(mf_Solver *solver) {
    size_t used = 0;
    for (uint32_t b = 0; b < solver->body_count; b++) {
        mf_SolverBody *body = &solver->bodies[b];
        const size_t size = (size_t)body->count * body->count;
        if (!body->moves)
            continue;
        if (used + size > solver->response_capacity) {
            body->moves = false;
            body->crowded = true;
            continue;
        }
        body->response = used;
        used += size;
    }
}

static void list(mf_Solver *solver) {
    list_constraints(solver);
    list_nodes(solver);
    list_bodies(solver);
    place_responses(solver);
}

// ---- islands and order --------------------------------------------------------------------------

static bool node_moves(const mf_Solver *solver, uint32_t node) {
    return node != MF_NONE && solver->bodies[solver->nodes[node].body].moves;
}

// Which constraints touch a node: solver->touch from solver->starts[node] on.
static void list_touching(mf_Solver *solver) {
    memset(solver->starts, 0, (solver->node_count + 1) * sizeof *solver->starts);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t c = solver->constraint_count; c-- > 0;)
            for (uint32_t s = 2; s-- > 0;) {
                const uint32_t node = solver->constraints[c].node[s];
                if (node == MF_NONE)
                    continue;
                if (pass == 0)
                    solver->starts[node]++;
                else
                    solver->touch[--solver->starts[node]] = c;
            }
        // After the first pass: where each node's end; the second brings it to where they begin.
        for (uint32_t n = 1; pass == 0 && n <= solver->node_count; n++)
            solver->starts[n] += solver->starts[n - 1];
    }
}

static void enqueue(mf_Solver *solver, uint32_t node, uint32_t *end) {
    if (!node_moves(solver, node) || solver->nodes[node].at != MF_NONE)
        return;
    solver->nodes[node].at = *end; // in the order of being found
    solver->queue[(*end)++] = node;
}

static void enqueue_body(mf_Solver *solver, const mf_SolverBody *body, uint32_t *end) {
    for (uint32_t n = body->first; n < body->first + body->count; n++)
        enqueue(solver, n, end);
}

// The island of `first`, breadth first, its nodes at positions from `begin` on. Returns where it
// ends.
static uint32_t walk(mf_Solver *solver, uint32_t first, uint32_t begin) {
    uint32_t end = begin;
    enqueue(solver, first, &end);
    for (uint32_t next = begin; next < end; next++) {
        const uint32_t node = solver->queue[next];
        mf_SolverBody *body = &solver->bodies[solver->nodes[node].body];
        body->island = solver->island_count;
        enqueue_body(solver, body, &end);
        for (uint32_t i = solver->starts[node]; i < solver->starts[node + 1]; i++)
            for (uint32_t s = 0; s < 2; s++)
                enqueue(solver, solver->constraints[solver->touch[i]].node[s], &end);
    }
    for (uint32_t i = begin; i < end; i++) // the last found first
        solver->nodes[solver->queue[i]].at = begin + end - 1 - i;
    return end;
}

static void find_islands(mf_Solver *solver) {
    uint32_t begin = 0;
    solver->island_count = 0;
    for (uint32_t n = 0; n < solver->node_count; n++) {
        if (!node_moves(solver, n) || solver->nodes[n].at != MF_NONE)
            continue;
        const uint32_t end = walk(solver, n, begin);
        solver->islands[solver->island_count++] = (mf_SolverIsland){.first = begin, .end = end};
        begin = end;
    }
    solver->system.node_count = begin;
}

// Constraints by island, in their order.
static void list_members(mf_Solver *solver) {
    for (uint32_t c = 0; c < solver->constraint_count; c++) {
        mf_SolverConstraint *constraint = &solver->constraints[c];
        for (uint32_t s = 0; s < 2; s++)
            if (node_moves(solver, constraint->node[s]))
                constraint->island = solver->bodies[solver->nodes[constraint->node[s]].body].island;
        if (constraint->island != MF_NONE)
            solver->islands[constraint->island].row_end++;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < solver->island_count; i++) {
        mf_SolverIsland *island = &solver->islands[i];
        const uint32_t count = island->row_end;
        island->row = island->row_end = at;
        at += count;
    }
    for (uint32_t c = 0; c < solver->constraint_count; c++)
        if (solver->constraints[c].island != MF_NONE)
            solver->members[solver->islands[solver->constraints[c].island].row_end++] = c;
}

static void add_pair(mf_Solver *solver, uint32_t a, uint32_t b, uint32_t *count) {
    const uint64_t x = solver->nodes[a].at, y = solver->nodes[b].at;
    if (x != y)
        solver->keys[(*count)++] = x < y ? x << 32 | y : y << 32 | x;
}

// The fill-in of an island: the links behind one that is eliminated become neighbors of each other.
// It is enough to hand them to the first of them (elimination tree; Davis 2006, chapter 4).
// `keys` has the blocks of the island so far. Returns their number.
static uint32_t fill_island(const mf_SolverIsland *island, uint64_t *keys, uint32_t count,
                            uint32_t capacity) {
    uint64_t behind[MF_SOLVER_FILLED] = {0};
    const uint32_t nodes = island->end - island->first;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < count; i++)
        behind[(uint32_t)(keys[i] >> 32) - island->first] |= (uint64_t)1
                                                             << ((uint32_t)keys[i] - island->first);
    for (uint32_t n = 0; n < nodes; n++) {
        if (behind[n] != 0)
            behind[__builtin_ctzll(behind[n])] |= behind[n] & (behind[n] - 1);
        sum += (uint32_t)__builtin_popcountll(behind[n]);
    }
    if (sum > capacity)
        return count;
    count = 0;
    for (uint32_t n = 0; n < nodes; n++)
        for (uint64_t left = behind[n]; left != 0; left &= left - 1)
            keys[count++] = (uint64_t)(island->first + n) << 32 |
                            (island->first + (uint32_t)__builtin_ctzll(left));
    return count;
}

// Completes the pattern of the factor of small islands; larger ones are iterated.
static uint32_t fill(const mf_Solver *solver, uint32_t count) {
    uint64_t *from = solver->keys + solver->system.block_capacity, *to = solver->keys;
    uint32_t next = 0, kept = 0;
    memmove(from, to, count * sizeof *from);
    for (uint32_t i = 0; i < solver->island_count; i++) {
        const mf_SolverIsland *island = &solver->islands[i];
        uint32_t own = 0;
        while (next + own < count && from[next + own] >> 32 < island->end) {
            to[kept + own] = from[next + own];
            own++;
        }
        next += own;
        if (island->end - island->first <= MF_SOLVER_FILLED)
            own = fill_island(island, to + kept, own,
                              solver->system.block_capacity - kept - (count - next));
        kept += own;
    }
    return kept;
}

static void list_blocks(mf_Solver *solver) {
    mf_BlockSystem *system = &solver->system;
    uint32_t count = 0;
    for (uint32_t c = 0; c < solver->constraint_count; c++) {
        const uint32_t *node = solver->constraints[c].node;
        if (node_moves(solver, node[0]) && node_moves(solver, node[1]))
            add_pair(solver, node[0], node[1], &count);
    }
    for (uint32_t b = 0; b < solver->body_count; b++) {
        const mf_SolverBody *body = &solver->bodies[b];
        for (uint32_t i = 0; body->moves && i < body->count; i++)
            for (uint32_t j = i + 1; j < body->count; j++)
                add_pair(solver, body->first + i, body->first + j, &count);
    }
    mf_solver_sort(solver->keys, count);
    count = fill(solver, unique(solver->keys, count));
    uint32_t next = 0;
    for (uint32_t n = 0; n <= system->node_count; n++) {
        while (next < count && solver->keys[next] >> 32 < n)
            next++;
        system->starts[n] = next;
    }
    for (uint32_t i = 0; i < count; i++)
        system->rows[i] = (uint32_t)solver->keys[i];
}

void mf_solver_assemble(mf_Solver *solver) {
    do {
        list(solver);
        list_touching(solver);
        find_islands(solver);
    } while (mf_solver_release_trees(solver));
    list_members(solver);
    list_blocks(solver);
}
