// Which robots the joints of a world connect, and the order in which their forces are eliminated.
//
// Robots are found breadth first from the first of each connected part; a joint is as deep as the
// deeper of its robots, and the deepest go first. When a joint of a tree is eliminated, all that it
// still shares a robot with share that robot among each other, so no block is added and the work is
// linear in the number of joints. A loop adds blocks along its two branches only.
//
// Invariant: the graph follows from the records alone, so a restored world has the same one.
#include "dynamics/joints.h"

#include <stdlib.h>
#include <string.h>

// What is needed only until the graph stands.
typedef struct Making {
    mf_WorldJoints *all;
    const mf_JointRecord *records;
    uint32_t count;      // [1] joints
    uint32_t side_count; // [1] sides that are no frame of the world
    uint32_t *slots;     // [1] per joint
    uint64_t *keys;      // group, instance, joint, side; later depth and joint
    uint32_t *body_of;   // [1] per joint two
    uint32_t *links;     // [1] per side: its joint, sides of a robot side by side
    uint32_t *starts;    // [1] per body: its first side
    uint32_t *depth;     // [1] per body
    uint32_t *queue;     // [1] bodies

} Making;

static int compare_keys(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static mf_Status no_memory(uint32_t count, mf_Error *error) {
    return mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u joints", count);
}

static mf_Status open_making(Making *making, mf_Error *error) {
    mf_Context *context = making->all->context;
    const size_t count = making->count;
    making->slots = mf_allocate(context, count, sizeof *making->slots);
    making->keys = mf_allocate(context, 2 * count, sizeof *making->keys);
    making->body_of = mf_allocate(context, 2 * count, sizeof *making->body_of);
    making->links = mf_allocate(context, 2 * count, sizeof *making->links);
    making->starts = mf_allocate(context, 2 * count + 1, sizeof *making->starts);
    making->depth = mf_allocate(context, 2 * count, sizeof *making->depth);
    making->queue = mf_allocate(context, 2 * count, sizeof *making->queue);
    return making->slots && making->keys && making->body_of && making->links && making->starts &&
                   making->depth && making->queue
               ? MF_OK
               : no_memory(making->count, error);
}

static void close_making(Making *making) {
    void *const memory[] = {making->slots,  making->keys,  making->body_of, making->links,
                            making->starts, making->depth, making->queue};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        mf_release(making->all->context, memory[i]);
}

// ---- robots -------------------------------------------------------------------------------------

static void sort_sides(Making *making) {
    for (uint32_t k = 0; k < making->count; k++) {
        const mf_JointRecord *record = &making->records[making->slots[k]];
        for (uint32_t s = 0; s < 2; s++) {
            making->body_of[2 * k + s] = MF_NONE;
            if (record->group[s] != MF_NONE)
                making->keys[making->side_count++] = (uint64_t)record->group[s] << 56 |
                                                     (uint64_t)record->instance[s] << 20 |
                                                     (uint64_t)k << 1 | s;
        }
    }
    qsort(making->keys, making->side_count, sizeof *making->keys, compare_keys);
}

static mf_Status make_bodies(Making *making, mf_JointGraph *out, mf_Error *error) {
    sort_sides(making);
    out->bodies = mf_allocate(making->all->context, making->side_count, sizeof *out->bodies);
    if (out->bodies == NULL)
        return no_memory(making->count, error);
    for (uint32_t i = 0; i < making->side_count; i++) {
        const uint64_t key = making->keys[i];
        const uint32_t k = (uint32_t)(key >> 1) & (MF_JOINTS_LIMIT - 1), s = key & 1;
        if (i == 0 || key >> 20 != making->keys[i - 1] >> 20) {
            making->starts[out->body_count] = i;
            out->bodies[out->body_count++] =
                (mf_JointBody){.group = (uint32_t)(key >> 56),
                               .instance = (uint32_t)(key >> 20) & 0x3ffffffu,
                               .part = MF_NONE};
        }
        making->body_of[2 * k + s] = out->body_count - 1;
        making->links[i] = k;
    }
    making->starts[out->body_count] = making->side_count;
    return MF_OK;
}

// Bodies that joints connect with `first`, breadth first.
static void walk(Making *making, mf_JointGraph *out, uint32_t first) {
    uint32_t begin = 0, end = 1;
    making->queue[0] = first;
    making->depth[first] = 0;
    out->bodies[first].part = out->part_count;
    while (begin < end) {
        const uint32_t body = making->queue[begin++];
        for (uint32_t i = making->starts[body]; i < making->starts[body + 1]; i++)
            for (uint32_t s = 0; s < 2; s++) {
                const uint32_t other = making->body_of[2 * making->links[i] + s];
                if (other == MF_NONE || out->bodies[other].part != MF_NONE)
                    continue;
                out->bodies[other].part = out->part_count;
                making->depth[other] = making->depth[body] + 1;
                making->queue[end++] = other;
            }
    }
    out->part_count++;
}

// ---- joints in their order ----------------------------------------------------------------------

static uint32_t depth_of(const Making *making, uint32_t k) {
    const uint32_t *body = making->body_of + 2 * (size_t)k;
    if (body[0] == MF_NONE || body[1] == MF_NONE) // a leaf, on the world
        return making->depth[body[0] == MF_NONE ? body[1] : body[0]] + 1;
    const uint32_t a = making->depth[body[0]], b = making->depth[body[1]];
    return a > b ? a : b;
}

static mf_Status make_nodes(Making *making, mf_JointGraph *out, mf_Error *error) {
    mf_Context *context = making->all->context;
    out->node_count = making->count;
    out->nodes = mf_allocate(context, making->count, sizeof *out->nodes);
    out->step = mf_allocate(context, making->count, MF_JOINT_ROWS * sizeof(double));
    out->room = mf_allocate(context, making->count, MF_JOINT_ROWS * sizeof(double));
    if (out->nodes == NULL || out->step == NULL || out->room == NULL)
        return no_memory(making->count, error);
    for (uint32_t k = 0; k < making->count; k++)
        making->keys[k] = (uint64_t)(UINT32_MAX - depth_of(making, k)) << 32 | k;
    qsort(making->keys, making->count, sizeof *making->keys, compare_keys);
    for (uint32_t n = 0; n < making->count; n++) {
        const uint32_t k = (uint32_t)making->keys[n];
        const uint32_t *body = making->body_of + 2 * (size_t)k;
        out->nodes[n] = (mf_JointNode){
            .slot = making->slots[k],
            .body = {body[0], body[1]},
            .part = out->bodies[body[0] != MF_NONE ? body[0] : body[1]].part,
        };
    }
    return MF_OK;
}

static mf_Status make_incidents(Making *making, mf_JointGraph *out, mf_Error *error) {
    mf_Context *context = making->all->context;
    size_t responses = 0, couplings = 0;
    out->incidents = mf_allocate(context, making->side_count, sizeof *out->incidents);
    if (out->incidents == NULL)
        return no_memory(making->count, error);
    // Nodes in their order give each robot its joints in that order.
    for (uint32_t b = 0; b < out->body_count; b++) {
        out->bodies[b].first = making->starts[b];
        out->bodies[b].count = 0;
    }
    for (uint32_t n = 0; n < out->node_count; n++)
        for (uint32_t s = 0; s < 2; s++) {
            const uint32_t b = out->nodes[n].body[s];
            if (b == MF_NONE)
                continue;
            mf_JointBody *body = &out->bodies[b];
            mf_JointIncident *at = out->incidents + body->first + body->count;
            if (s == 1 && out->nodes[n].body[0] == b) {
                at[-1].sides = 3;
                continue;
            }
            *at = (mf_JointIncident){n, 1u << s};
            body->count++;
        }
    for (uint32_t b = 0; b < out->body_count; b++) {
        mf_JointBody *body = &out->bodies[b];
        body->response = responses;
        body->coupling = couplings;
        responses += (size_t)body->count * body->count;
        couplings += (size_t)body->count * (body->count - 1) / 2;
    }
    out->incident_count = making->side_count;
    out->responses = mf_allocate(context, responses, MF_BLOCK_VALUES * sizeof(double));
    out->couplings = mf_allocate(context, couplings, sizeof *out->couplings);
    return out->responses && out->couplings ? MF_OK : no_memory(making->count, error);
}

static size_t list_pairs(const mf_JointGraph *graph, mf_BlockPair *pairs) {
    size_t count = 0;
    for (uint32_t b = 0; b < graph->body_count; b++) {
        const mf_JointBody *body = &graph->bodies[b];
        const mf_JointIncident *own = graph->incidents + body->first;
        for (uint32_t i = 0; i < body->count; i++)
            for (uint32_t j = i + 1; j < body->count; j++, count++)
                if (pairs != NULL)
                    pairs[count] = (mf_BlockPair){own[i].node, own[j].node};
    }
    return count;
}

static mf_Status make_matrix(Making *making, mf_JointGraph *out, mf_Error *error) {
    mf_Context *context = making->all->context;
    const size_t count = list_pairs(out, NULL);
    if (count > UINT32_MAX / 4)
        return no_memory(making->count, error);
    mf_BlockPair *pairs = mf_allocate(context, count, sizeof *pairs);
    if (pairs == NULL)
        return no_memory(making->count, error);
    list_pairs(out, pairs);
    mf_Status status =
        mf_block_ldl_create(context, out->node_count, pairs, (uint32_t)count, &out->matrix, error);
    for (size_t p = 0; status == MF_OK && p < count; p++)
        out->couplings[p] = mf_block_ldl_find(&out->matrix, pairs[p].first, pairs[p].second);
    mf_release(context, pairs);
    return status;
}

// ---- blocks of robots ---------------------------------------------------------------------------

mf_Status mf_joints_trial(mf_WorldJoints *all, uint32_t group, mf_Error *error) {
    const uint32_t wanted = mf_world_group_count(all->world);
    if (wanted > all->trial_count) {
        mf_TrialStep **more = mf_allocate(all->context, wanted, sizeof *more);
        if (more == NULL)
            return mf_fail(error, MF_NO_MEMORY, "joints: out of memory");
        if (all->trial_count > 0)
            memcpy(more, all->trials, all->trial_count * sizeof *more);
        mf_release(all->context, all->trials);
        all->trials = more;
        all->trial_count = wanted;
    }
    if (all->trials[group] != NULL)
        return MF_OK;
    return mf_trial_step_create(mf_world_group(all->world, group), &all->trials[group], error);
}

// The robots and links of a block that joints need: links with joints and all on the way to the
// base.
static void list_links(const Making *making, const mf_JointGraph *graph, mf_JointBlock *block) {
    const mf_Model *model = mf_group_model(making->all->trials[block->group]->group);
    uint32_t *needed = block->links; // first a flag per link
    const mf_JointBody *bodies = graph->bodies + block->first;
    const uint32_t end = bodies[block->count - 1].first + bodies[block->count - 1].count;
    for (uint32_t i = bodies[0].first; i < end; i++) {
        const mf_JointIncident *own = &graph->incidents[i];
        const mf_JointRecord *record = &making->records[graph->nodes[own->node].slot];
        for (uint32_t s = 0; s < 2; s++)
            if (own->sides & 1u << s)
                for (uint32_t l = record->link[s]; l != 0; l = model->links[l].parent)
                    needed[l] = 1;
    }
    block->first_lane = bodies[0].instance % MF_BLOCK;
    for (uint32_t b = 0; b < block->count; b++) {
        const uint32_t lane = bodies[b].instance % MF_BLOCK;
        block->first_lane = lane < block->first_lane ? lane : block->first_lane;
        block->end_lane = lane >= block->end_lane ? lane + 1 : block->end_lane;
    }
    for (uint32_t l = 1; l < model->link_count; l++)
        if (needed[l])
            needed[block->link_count++] = l;
}

static void share_memory(const Making *making, mf_JointGraph *out) {
    char *saved = out->saved;
    double *motions = out->motions;
    uint32_t *links = out->links;
    for (uint32_t i = 0; i < out->block_count; i++) {
        mf_JointBlock *block = &out->blocks[i];
        const mf_TrialStep *trial = making->all->trials[block->group];
        block->saved = saved;
        block->motions = motions;
        block->links = links;
        list_links(making, out, block);
        saved += trial->bytes;
        motions += mf_link_motions_size(&trial->links);
        links += trial->links.tree->link_count;
    }
}

static mf_Status make_blocks(Making *making, mf_JointGraph *out, mf_Error *error) {
    mf_WorldJoints *all = making->all;
    size_t bytes = 0, values = 0, links = 0;
    out->blocks = mf_allocate(all->context, out->body_count, sizeof *out->blocks);
    out->parts = mf_allocate(all->context, out->part_count, sizeof *out->parts);
    out->residuals = mf_allocate(all->context, out->part_count, sizeof *out->residuals);
    if (out->blocks == NULL || out->parts == NULL || out->residuals == NULL)
        return no_memory(making->count, error);
    for (uint32_t b = 0; b < out->body_count; b++) {
        mf_JointBody *body = &out->bodies[b];
        const uint32_t block = body->instance / MF_BLOCK;
        mf_JointBlock *last = &out->blocks[out->block_count];
        if (out->block_count == 0 || last[-1].group != body->group || last[-1].block != block) {
            mf_Status status = mf_joints_trial(all, body->group, error);
            if (status != MF_OK)
                return status;
            *last = (mf_JointBlock){.group = body->group, .block = block, .first = b};
            out->block_count++;
            bytes += all->trials[body->group]->bytes;
            values += mf_link_motions_size(&all->trials[body->group]->links);
            links += all->trials[body->group]->links.tree->link_count;
        }
        body->block = out->block_count - 1;
        out->blocks[body->block].count++;
    }
    out->saved = mf_allocate(all->context, bytes, 1);
    out->motions = mf_allocate(all->context, values, sizeof *out->motions);
    out->links = mf_allocate(all->context, links, sizeof *out->links);
    if (out->saved == NULL || out->motions == NULL || out->links == NULL)
        return no_memory(making->count, error);
    share_memory(making, out);
    return MF_OK;
}

// ---- all of it ----------------------------------------------------------------------------------

static mf_Status make(Making *making, mf_JointGraph *out, mf_Error *error) {
    mf_Status status = make_bodies(making, out, error);
    if (status != MF_OK)
        return status;
    for (uint32_t b = 0; b < out->body_count; b++)
        if (out->bodies[b].part == MF_NONE)
            walk(making, out, b);
    status = make_nodes(making, out, error);
    if (status == MF_OK)
        status = make_incidents(making, out, error);
    if (status == MF_OK)
        status = make_matrix(making, out, error);
    return status == MF_OK ? make_blocks(making, out, error) : status;
}

mf_Status mf_joints_graph_create(mf_WorldJoints *all, const mf_JointRecord *records, uint32_t used,
                                 mf_JointGraph *out, mf_Error *error) {
    Making making = {.all = all, .records = records};
    *out = (mf_JointGraph){.node_count = 0};
    for (uint32_t slot = 0; slot < used; slot++)
        making.count += records[slot].exists;
    if (making.count == 0)
        return MF_OK;
    mf_Status status = open_making(&making, error);
    if (status == MF_OK) {
        uint32_t k = 0;
        for (uint32_t slot = 0; slot < used; slot++)
            if (records[slot].exists)
                making.slots[k++] = slot;
        status = make(&making, out, error);
    }
    close_making(&making);
    if (status != MF_OK)
        mf_joints_graph_destroy(all->context, out);
    return status;
}

void mf_joints_graph_destroy(mf_Context *context, mf_JointGraph *graph) {
    void *const memory[] = {graph->nodes,    graph->bodies,    graph->incidents, graph->blocks,
                            graph->parts,    graph->responses, graph->couplings, graph->step,
                            graph->saved,    graph->links,     graph->motions,   graph->room,
                            graph->residuals};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        mf_release(context, memory[i]);
    mf_block_ldl_destroy(context, &graph->matrix);
    *graph = (mf_JointGraph){.node_count = 0};
}
