// Neighbor search, host side: memory, cells, sorting, and the choice of kernels. See neighbors.h.
//
// Cells are cubes a little larger than the farthest reach, so that whoever is within reach is in
// one of the 27 cells around. Their coordinates are counted from the lowest one in use, with an
// empty cell on either side, so that the row before and behind never runs into another row; far
// away from the origin (2^20 cells) the outermost cell holds all that is beyond. The order of slots
// is that of (cell, agent), so it does not depend on threads.
#include "contact/neighbors.h"
#include "base/context.h"
#include "base/memory.h"
#include "math/kernel_table.h"
#include "math/scalar.h"

#include <string.h>

#define MF_NEIGHBOR_UNKNOWN 3e38 // [m^2] in both precisions
#define CELL_LIMIT 1048574.0     // [1] 2^20 - 2: 21 bits hold both signs and the empty cells

static const mf_NeighborLoadFn load_table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_neighbors_load);
static const mf_NeighborPositionFn place_table[MF_KERNEL_ROWS][2] =
    MF_KERNEL_TABLE(mf_neighbors_gather_rows);
static const mf_NeighborMarkFn mark_table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_neighbors_mark);
static const mf_NeighborSweepFn sweep_table[MF_KERNEL_ROWS][2] =
    MF_KERNEL_TABLE(mf_neighbors_sweep);
static const mf_NeighborDetectFn detect_table[MF_KERNEL_ROWS][2] =
    MF_KERNEL_TABLE(mf_neighbors_detect);
static const mf_NeighborDeliverFn deliver_table[MF_KERNEL_ROWS][2] =
    MF_KERNEL_TABLE(mf_neighbors_deliver);
static const mf_NeighborPairsFn pairs_table[MF_KERNEL_ROWS][2] =
    MF_KERNEL_TABLE(mf_neighbors_pairs);
static const mf_NeighborJetsFn jets_table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_neighbors_jets);

// ---- memory -------------------------------------------------------------------------------------

static size_t real_size(const mf_Neighbors *all) {
    return all->config.double_precision ? sizeof(double) : sizeof(float);
}

static void set_real(const mf_Neighbors *all, void *row, size_t at, double value) {
    if (all->config.double_precision)
        ((double *)row)[at] = value;
    else
        ((float *)row)[at] = (float)value;
}

static double get_real(const mf_Neighbors *all, const void *row, size_t at) {
    if (all->config.double_precision)
        return ((const double *)row)[at];
    return (double)((const float *)row)[at];
}

// Rounded up to whole vectors, plus what is read beyond a list's end.
static uint32_t list_capacity(uint32_t entries) {
    return ((entries + 15u) & ~15u) + 4 * MF_NEIGHBOR_PAD;
}

// What a kernel checks is the capacity before the last whole vectors.
static int32_t *give_pairs(mf_NeighborPairs *pairs, int32_t *from, uint32_t entries) {
    *pairs = (mf_NeighborPairs){
        .capacity = entries - MF_NEIGHBOR_PAD, .first = from, .second = from + entries};
    return from + 2 * (size_t)entries;
}

static int32_t *give_rows(mf_NeighborRows *rows, int32_t *from, uint32_t count) {
    *rows = (mf_NeighborRows){.capacity = count, .slots = from};
    return from + (size_t)count * MF_BLOCK;
}

static mf_Status make_lists(mf_Neighbors *all, uint32_t candidates, mf_Error *error) {
    const uint32_t most = candidates * MF_NEIGHBOR_CHUNK;
    uint32_t wide = list_capacity(most), near = list_capacity(most / 4),
             jet = list_capacity(most / 2);
    uint32_t sifted = list_capacity(most / 8); // of close and of blow
    uint32_t edge = candidates * MF_NEIGHBOR_ROWS / 2 + 1, front = candidates * MF_NEIGHBOR_ROWS;
    uint32_t chunks = (all->slot_count + MF_NEIGHBOR_CHUNK - 1) / MF_NEIGHBOR_CHUNK;
    size_t capacity = (size_t)wide + 2 * ((size_t)near + jet + 2 * (size_t)sifted) +
                      MF_BLOCK * ((size_t)edge + front);
    int32_t *lists = mf_allocate(all->context, chunks * capacity, sizeof *lists);
    if (lists == NULL)
        return mf_fail(error, MF_NO_MEMORY,
                       "neighbors: no memory for %u candidates of each of %u agents", candidates,
                       all->slot_count);
    mf_release(all->context, all->lists);
    all->lists = lists;
    all->config.candidates = candidates;
    all->wide_capacity = wide;
    for (uint32_t c = 0; c < chunks; c++) {
        mf_NeighborChunk *chunk = &all->chunks[c];
        chunk->wide = lists + c * capacity;
        int32_t *next = give_rows(&chunk->edge, chunk->wide + wide, edge);
        next = give_rows(&chunk->front, next, front);
        next = give_pairs(&chunk->near, next, near);
        next = give_pairs(&chunk->jet, next, jet);
        next = give_pairs(&chunk->close, next, sifted);
        give_pairs(&chunk->blow, next, sifted);
    }
    mf_neighbors_forget(all);
    return MF_OK;
}

static mf_Status make_arrays(mf_Neighbors *all, mf_Error *error) {
    size_t slots = (size_t)all->slot_count + 2 * MF_NEIGHBOR_PAD, real = real_size(all);
    uint32_t chunks = (all->slot_count + MF_NEIGHBOR_CHUNK - 1) / MF_NEIGHBOR_CHUNK;
    const mf_Array arrays[] = {
        {&all->reference, 3 * slots, real},
        {&all->mark, 3 * slots, real},
        {&all->loaded, MF_NEIGHBOR_LOADED * slots, real},
        MF_ARRAY(all->slot_of, slots),
        MF_ARRAY(all->group_of, all->block_count),
        {&all->x, slots, real},
        {&all->y, slots, real},
        {&all->z, slots, real},
        {&all->facing[0], slots, real},
        {&all->facing[1], slots, real},
        {&all->facing[2], slots, real},
        {&all->motion, 8 * slots, real},
        {&all->marked[0], slots, real},
        {&all->marked[1], slots, real},
        {&all->marked[2], slots, real},
        {&all->limit2, slots, real},
        MF_ARRAY(all->within, slots),
        MF_ARRAY(all->old_slot_of, slots),
        {&all->spare, 12 * slots, real},
        MF_ARRAY(all->source, slots),
        MF_ARRAY(all->agent_of, slots),
        MF_ARRAY(all->group_of_slot, slots),
        MF_ARRAY(all->key, slots),
        MF_ARRAY(all->wide_start, slots),
        MF_ARRAY(all->wide_count, slots),
        MF_ARRAY(all->chunks, chunks),
        {&all->size, slots, real},
        MF_ARRAY(all->sort_key[0], slots),
        MF_ARRAY(all->sort_key[1], slots),
        MF_ARRAY(all->sort_agent[0], slots),
        MF_ARRAY(all->sort_agent[1], slots),
        MF_ARRAY(all->cell, 3 * slots),
    };
    if (!mf_allocate_arrays(all->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "neighbors: no memory for %u agents", all->slot_count);
    return MF_OK;
}

static void number_agents(mf_Neighbors *all) {
    for (uint32_t g = 0; g < all->group_count; g++)
        for (uint32_t b = 0; b < (all->groups[g].count + MF_BLOCK - 1) / MF_BLOCK; b++)
            all->group_of[all->groups[g].first_block + b] = g;
    for (uint32_t a = 0; a < all->slot_count; a++)
        all->slot_of[a] = all->agent_of[a] = (int32_t)a;
    const double nowhere = __builtin_nan("");
    for (uint32_t i = 0; i < 2 * MF_NEIGHBOR_PAD; i++) {
        set_real(all, all->x, all->slot_count + i, nowhere);
        set_real(all, all->marked[0], all->slot_count + i, nowhere);
        all->agent_of[all->slot_count + i] = -1;
    }
    for (uint32_t a = 0; a < all->slot_count; a++)
        set_real(all, all->limit2, a, MF_NEIGHBOR_UNKNOWN);
}

void mf_neighbors_forget(mf_Neighbors *all) {
    const double nowhere = __builtin_nan("");
    for (size_t i = 0; i < 3 * (size_t)all->slot_count; i++) {
        set_real(all, all->reference, i, nowhere);
        set_real(all, all->mark, i, nowhere);
    }
    all->built = false;
    all->live_count = all->chunk_count = 0;
}

static void choose_kernels(mf_Neighbors *all) {
    int row = mf_kernel_row(all->config.isa);
    bool wide = all->config.double_precision;
    all->load = load_table[row][wide];
    all->position = place_table[row][wide];
    all->set_marks = mark_table[row][wide];
    all->sweep = sweep_table[row][wide];
    all->detect = detect_table[row][wide];
    all->deliver = deliver_table[row][wide];
    all->pairs = pairs_table[row][wide];
    all->jets = jets_table[row][wide];
}

mf_Status mf_neighbors_create(mf_Context *context, const mf_NeighborsConfig *config,
                              const mf_NeighborGroup *groups, uint32_t group_count,
                              mf_Neighbors **out, mf_Error *error) {
    *out = NULL;
    MF_NEED(group_count > 0, error, "neighbors: no groups");
    MF_CHECK(mf_kernel_row_available(mf_kernel_row(config->isa)), error, MF_UNSUPPORTED,
             "neighbors: this build or processor does not have the instruction set");
    mf_Neighbors *all;
    mf_NeighborGroup *own;
    const mf_Array arrays[] = {MF_ARRAY(all, 1), MF_ARRAY(own, group_count)};
    MF_NEED_MEMORY(mf_allocate_arrays(context, arrays, 2), error, "neighbors");
    all->groups = own;
    all->context = context;
    all->config = *config;
    all->group_count = group_count;
    for (uint32_t g = 0; g < group_count; g++) {
        all->groups[g] = groups[g];
        all->groups[g].first_block = all->block_count;
        all->block_count += (groups[g].count + MF_BLOCK - 1) / MF_BLOCK;
    }
    if (all->block_count > INT32_MAX / (MF_BLOCK * MF_NEIGHBOR_LOADED)) {
        uint32_t blocks = all->block_count;
        mf_release(context, all);
        return mf_fail(error, MF_LIMIT, "neighbors: %u blocks of agents, need fewer than %d",
                       blocks, INT32_MAX / (MF_BLOCK * MF_NEIGHBOR_LOADED));
    }
    all->slot_count = all->block_count * MF_BLOCK;
    double edge = config->reach;
    const double others[] = {config->contact_reach, config->jet_reach, config->jet_radius};
    for (int i = 0; i < 3; i++)
        edge = others[i] > edge ? others[i] : edge;
    all->largest_reach = edge;
    all->inverse_cell = 1.0 / ((edge + config->margin) * (1.0 + 1e-4));
    choose_kernels(all);
    mf_Status status = make_arrays(all, error);
    MF_THEN(status, make_lists(all, config->candidates, error));
    if (status != MF_OK) {
        mf_neighbors_destroy(all);
        return status;
    }
    number_agents(all);
    *out = all;
    return MF_OK;
}

void mf_neighbors_destroy(mf_Neighbors *all) {
    if (all == NULL)
        return;
    mf_release(all->context, all->reference); // with all other arrays
    mf_release(all->context, all->lists);
    mf_release(all->context, all);
}

mf_Status mf_neighbors_reserve(mf_Neighbors *all, uint32_t candidates, mf_Error *error) {
    MF_NEED(candidates >= 1 && candidates <= 1u << 20, error,
            "neighbors: %u candidates, need 1 .. 2^20", candidates);
    return make_lists(all, candidates, error);
}

uint32_t mf_neighbors_full(const mf_Neighbors *all) {
    uint32_t full = 0;
    for (uint32_t c = 0; c < all->chunk_count; c++) {
        uint32_t left = all->live_count - c * MF_NEIGHBOR_CHUNK;
        if (all->chunks[c].full || all->chunks[c].rows_full)
            full += left < MF_NEIGHBOR_CHUNK ? left : MF_NEIGHBOR_CHUNK;
    }
    return full;
}

typedef struct GroupPart {
    uint32_t group, first, count; // blocks of the group
} GroupPart;

// The part of blocks `block` .. `last` - 1 that is in the group of the first.
static GroupPart part_of(const mf_Neighbors *all, uint32_t block, uint32_t last) {
    uint32_t g = all->group_of[block];
    uint32_t end = g + 1 < all->group_count ? all->groups[g + 1].first_block : all->block_count;
    uint32_t until = end < last ? end : last;
    return (GroupPart){g, block - all->groups[g].first_block, until - block};
}

uint32_t mf_neighbors_load(mf_Neighbors *all, uint32_t first, uint32_t count, bool view,
                           bool velocity) {
    uint32_t stale = 0, last = first + count;
    if (first == 0) // one thread has it; adding 0 in the others would undo its count
        all->rounds++;
    for (uint32_t block = first; block < last;) {
        GroupPart part = part_of(all, block, last);
        stale |= all->load(all, part.group, part.first, part.count, view, velocity);
        block += part.count;
    }
    return stale;
}

void mf_neighbors_gather(mf_Neighbors *all, uint32_t first, uint32_t count, bool view,
                         bool velocity) {
    all->position(all, first, count, view, velocity);
}

// ---- answers ------------------------------------------------------------------------------------

mf_Status mf_neighbors_answer(const mf_Neighbors *all, const mf_NeighborQuery *query,
                              mf_NeighborAnswer *answer, mf_Error *error) {
    size_t slots = all->slot_count, rows = slots * query->nearest;
    *answer = (mf_NeighborAnswer){.nearest = query->nearest};
    if (rows > INT32_MAX || slots * 8 > INT32_MAX)
        return mf_fail(error, MF_LIMIT, "neighbors: %u of each of %u agents, need less than 2^31",
                       query->nearest, all->slot_count);
    answer->count = mf_allocate(all->context, slots, sizeof *answer->count);
    answer->index = mf_allocate(all->context, rows, sizeof *answer->index);
    if (answer->count != NULL && answer->index != NULL)
        return MF_OK;
    mf_neighbors_answer_release(all, answer);
    return mf_fail(error, MF_NO_MEMORY, "neighbors: no memory for %u neighbors of %u agents",
                   query->nearest, all->slot_count);
}

void mf_neighbors_answer_release(const mf_Neighbors *all, mf_NeighborAnswer *answer) {
    mf_release(all->context, answer->count);
    mf_release(all->context, answer->index);
    *answer = (mf_NeighborAnswer){0};
}

void mf_neighbors_deliver(const mf_Neighbors *all, const mf_NeighborQuery *query,
                          const mf_NeighborAnswer *answer, const mf_NeighborOutput *output,
                          uint32_t first, uint32_t count) {
    for (uint32_t block = first; block < first + count;) {
        GroupPart part = part_of(all, block, first + count);
        if (output[part.group].count != NULL)
            all->deliver(all, query, answer, &output[part.group], part.group, part.first,
                         part.count);
        block += part.count;
    }
}

// ---- building -----------------------------------------------------------------------------------

static int32_t cell_of(const mf_Neighbors *all, double position) {
    double cell = position * all->inverse_cell;
    if (!(cell > -CELL_LIMIT))
        return (int32_t)-CELL_LIMIT;
    if (cell >= CELL_LIMIT)
        return (int32_t)CELL_LIMIT;
    int32_t whole = (int32_t)cell;
    return (double)whole > cell ? whole - 1 : whole;
}

// Positions by agent, and the cells they are in.
static void find_cells(void *context, uint32_t block) {
    mf_Neighbors *all = context;
    const void *rows[3] = {all->x, all->y, all->z};
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        uint32_t slot = (uint32_t)all->slot_of[block * MF_BLOCK + lane];
        for (uint32_t c = 0; c < 3; c++) {
            size_t at = ((size_t)block * 3 + c) * MF_BLOCK + lane;
            double value = get_real(all, rows[c], slot);
            set_real(all, all->reference, at, value);
            all->cell[at] = cell_of(all, value);
        }
    }
}

static bool takes_part(const mf_Neighbors *all, uint32_t agent) {
    double x =
        get_real(all, all->reference, (size_t)agent / MF_BLOCK * 3 * MF_BLOCK + agent % MF_BLOCK);
    return x == x;
}

static uint32_t bits_for(uint32_t count) {
    uint32_t bits = 1;
    while ((uint64_t)1 << bits < count)
        bits++;
    return bits;
}

// Keys by agent, in sort_key[0] with agents in sort_agent[0], those that take part first. Returns
// the number of bits in use.
static uint32_t make_keys(mf_Neighbors *all) {
    int32_t low[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, high[3] = {INT32_MIN, INT32_MIN, INT32_MIN};
    uint32_t live = 0, dead = all->slot_count;
    for (uint32_t a = 0; a < all->slot_count; a++) {
        const int32_t *cell = all->cell + (size_t)a / MF_BLOCK * 3 * MF_BLOCK + a % MF_BLOCK;
        if (!takes_part(all, a)) {
            all->sort_agent[0][--dead] = (int32_t)a;
            continue;
        }
        all->sort_agent[0][live++] = (int32_t)a;
        for (int c = 0; c < 3; c++) {
            int32_t value = cell[c * (int)MF_BLOCK];
            low[c] = value < low[c] ? value : low[c];
            high[c] = value > high[c] ? value : high[c];
        }
    }
    all->live_count = live;
    uint32_t bits[3] = {1, 1, 1};
    for (int c = 0; live > 0 && c < 3; c++)
        bits[c] = bits_for((uint32_t)((int64_t)high[c] - low[c]) + 3);
    all->key_bits[0] = bits[0];
    all->key_bits[1] = bits[0] + bits[1];
    for (uint32_t i = 0; i < live; i++) {
        uint32_t a = (uint32_t)all->sort_agent[0][i];
        const int32_t *cell = all->cell + (size_t)a / MF_BLOCK * 3 * MF_BLOCK + a % MF_BLOCK;
        uint64_t x = (uint64_t)((int64_t)cell[0] - low[0] + 1);
        uint64_t y = (uint64_t)((int64_t)cell[MF_BLOCK] - low[1] + 1);
        uint64_t z = (uint64_t)((int64_t)cell[2 * MF_BLOCK] - low[2] + 1);
        all->sort_key[0][i] = z << all->key_bits[1] | y << all->key_bits[0] | x;
    }
    for (uint32_t i = live; i < all->slot_count; i++)
        all->sort_key[0][i] = UINT64_MAX;
    return all->key_bits[1] + bits[2];
}

// Least significant digit first; stable, so agents of a cell stay in order of their number.
// Returns which of the two buffers holds the result.
static int sort_keys(mf_Neighbors *all, uint32_t bits) {
    enum { DIGIT = 11, VALUES = 1 << DIGIT };
    uint32_t start[VALUES];
    int from = 0;
    for (uint32_t shift = 0; shift < bits; shift += DIGIT, from = !from) {
        const uint64_t *key = all->sort_key[from];
        memset(start, 0, sizeof start);
        for (uint32_t i = 0; i < all->live_count; i++)
            start[key[i] >> shift & (VALUES - 1)]++;
        for (uint32_t v = 0, sum = 0; v < VALUES; v++) {
            uint32_t count = start[v];
            start[v] = sum;
            sum += count;
        }
        for (uint32_t i = 0; i < all->live_count; i++) {
            uint32_t to = start[key[i] >> shift & (VALUES - 1)]++;
            all->sort_key[!from][to] = key[i];
            all->sort_agent[!from][to] = all->sort_agent[from][i];
        }
    }
    if (from == 1) // those that take no part were never moved
        memcpy(all->sort_agent[1] + all->live_count, all->sort_agent[0] + all->live_count,
               (all->slot_count - all->live_count) * sizeof(int32_t));
    return from;
}

typedef struct BuildTask {
    mf_Neighbors *all;
    bool view, velocity;
    const int32_t *agent;
    const uint64_t *key;
} BuildTask;

// Row `row` of what was loaded, in order of the old slots.
static char *spare_row(const mf_Neighbors *all, uint32_t row) {
    return (char *)all->spare +
           row * ((size_t)all->slot_count + 2 * MF_NEIGHBOR_PAD) * real_size(all);
}

static void keep_loaded(mf_Neighbors *all, bool view, bool velocity) {
    size_t row = (size_t)all->slot_count * real_size(all);
    memcpy(all->old_slot_of, all->slot_of, all->slot_count * sizeof(int32_t));
    memcpy(spare_row(all, 11), all->limit2, row);
    for (uint32_t c = 0; view && c < 3; c++)
        memcpy(spare_row(all, c), all->facing[c], row);
    if (velocity)
        memcpy(spare_row(all, 3), all->motion, 8 * row);
}

static void fill_loaded(const BuildTask *task, uint32_t slot, uint32_t agent) {
    mf_Neighbors *all = task->all;
    size_t old = (size_t)all->old_slot_of[agent], real = real_size(all);
    memcpy((char *)all->limit2 + slot * real, spare_row(all, 11) + old * real, real);
    for (uint32_t c = 0; task->view && c < 3; c++)
        memcpy((char *)all->facing[c] + slot * real, spare_row(all, c) + old * real, real);
    if (task->velocity)
        memcpy((char *)all->motion + (size_t)slot * 8 * real, spare_row(all, 3) + old * 8 * real,
               8 * real);
}

// Fills sixteen slots.
static void fill_slots(void *context, uint32_t block) {
    const BuildTask *task = context;
    mf_Neighbors *all = task->all;
    void *rows[3] = {all->x, all->y, all->z};
    for (uint32_t slot = block * MF_BLOCK; slot < (block + 1) * MF_BLOCK; slot++) {
        uint32_t agent = (uint32_t)task->agent[slot];
        size_t at = (size_t)agent / MF_BLOCK * 3 * MF_BLOCK + agent % MF_BLOCK;
        all->agent_of[slot] = (int32_t)agent;
        all->slot_of[agent] = (int32_t)slot;
        all->group_of_slot[slot] = (int32_t)all->group_of[agent / MF_BLOCK];
        all->source[slot] = all->groups[all->group_of_slot[slot]].source;
        set_real(all, all->size, slot, all->groups[all->group_of_slot[slot]].radius);
        all->key[slot] = slot < all->live_count ? task->key[slot] : UINT64_MAX;
        for (uint32_t c = 0; c < 3; c++)
            set_real(all, rows[c], slot, get_real(all, all->reference, at + c * MF_BLOCK));
        fill_loaded(task, slot, agent);
    }
}

static void sweep_chunk(void *context, uint32_t chunk) {
    mf_Neighbors *all = context;
    all->sweep(all, chunk);
}

// Blocks are grouped, so that handing them out costs nothing.
enum { BLOCKS_PER_TASK = 32 };

typedef struct DistributeTask {
    mf_TaskFn function;
    void *task;
    uint32_t count;
} DistributeTask;

static void run_spread(void *context, uint32_t index) {
    const DistributeTask *spread = context;
    uint32_t end = (index + 1) * BLOCKS_PER_TASK;
    for (uint32_t i = index * BLOCKS_PER_TASK; i < end && i < spread->count; i++)
        spread->function(spread->task, i);
}

static void run_all(mf_Neighbors *all, bool alone, uint32_t count, mf_TaskFn function, void *task) {
    if (alone) {
        for (uint32_t i = 0; i < count; i++)
            function(task, i);
        return;
    }
    DistributeTask spread = {function, task, count};
    mf_parallel_for(all->context, (count + BLOCKS_PER_TASK - 1) / BLOCKS_PER_TASK, run_spread,
                    &spread);
}

static void build(mf_Neighbors *all, bool alone, bool view, bool velocity) {
    keep_loaded(all, view, velocity);
    run_all(all, alone, all->block_count, find_cells, all);
    int from = sort_keys(all, make_keys(all));
    BuildTask task = {all, view, velocity, all->sort_agent[from], all->sort_key[from]};
    run_all(all, alone, all->block_count, fill_slots, &task);
    all->chunk_count = (all->live_count + MF_NEIGHBOR_CHUNK - 1) / MF_NEIGHBOR_CHUNK;
    if (alone)
        for (uint32_t c = 0; c < all->chunk_count; c++)
            all->sweep(all, c);
    else
        mf_parallel_for(all->context, all->chunk_count, sweep_chunk, all);
    all->built = true;
    all->builds++;
}

// ---- sifting ------------------------------------------------------------------------------------

// The farthest that anybody has come from where he was marked, squared.
#define FARTHEST(name, Real)                                                                       \
    static double name(const mf_Neighbors *all) {                                                  \
        const Real *x = all->x, *y = all->y, *z = all->z;                                          \
        const Real *u = all->marked[0], *v = all->marked[1], *w = all->marked[2];                  \
        Real most = 0;                                                                             \
        for (uint32_t i = 0; i < all->slot_count; i++) {                                           \
            Real dx = x[i] - u[i], dy = y[i] - v[i], dz = z[i] - w[i];                             \
            Real d2 = dx * dx + dy * dy + dz * dz;                                                 \
            most = d2 > most ? d2 : most;                                                          \
        }                                                                                          \
        return (double)most;                                                                       \
    }
FARTHEST(farthest_float, float)
FARTHEST(farthest_double, double)
#undef FARTHEST

// Per agent a sifting costs about as much as measuring a shell whose thickness is a quarter of the
// reach. With v the way of the fastest in a round, s the slack and r the reach, a round costs
// s + (r / 4) / (s / 2 v) such shells, which is least for s^2 = r v / 2. Where that does not last
// for two rounds, every round sifts, best with the least slack.
static double choose_slack(const mf_Neighbors *all) {
    const double margin = all->config.margin, least = 0.02 * margin;
    if (all->sifts == 0)
        return 0.1 * margin;
    double rounds = (double)(all->rounds - all->sift_round);
    double distance2 = all->config.double_precision ? farthest_double(all) : farthest_float(all);
    double distance = mf_sqrt(distance2) / (rounds > 1.0 ? rounds : 1.0);
    double slack = mf_sqrt(0.5 * all->largest_reach * distance);
    slack = slack > margin ? margin : slack;
    return slack < least || slack < 4.0 * distance ? least : slack;
}

static void mark_block(void *context, uint32_t block) {
    mf_Neighbors *all = context;
    all->set_marks(all, block, 1);
}

void mf_neighbors_renew(mf_Neighbors *all, uint32_t stale, bool alone, bool view, bool velocity) {
    if (stale == 0)
        return;
    all->slack = choose_slack(all); // while slots are still those of the marks
    all->sift_round = all->rounds;
    if ((stale & MF_NEIGHBOR_LISTS) != 0)
        build(all, alone, view, velocity);
    run_all(all, alone, all->block_count, mark_block, all);
    const void *positions[3] = {all->x, all->y, all->z};
    for (int c = 0; c < 3; c++)
        memcpy(all->marked[c], positions[c], all->slot_count * real_size(all));
    all->sifts++; // chunks sift when they are next asked
}
