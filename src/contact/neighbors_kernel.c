// Neighbor search (see neighbors.h): loading positions, building lists, pairs that touch or blow.
// Many candidates at a time, own values broadcast. Choosing is by masks and packed lists, so no
// pair costs a branch.
#include "contact/neighbor_cells.h"
#include "contact/other_real.h"

static MF_INLINE mf_lane nowhere(void) {
    return mf_set((mf_real)__builtin_nan(""));
}

// ---- loading ------------------------------------------------------------------------------------

static MF_INLINE mf_real *loaded_row(mf_Neighbors *all, size_t block, int value) {
    return (mf_real *)all->loaded + (block * MF_NEIGHBOR_LOADED + (size_t)value) * MF_BLOCK;
}

// Body x in world axes: the first column of the rotation matrix.
static MF_INLINE void load_view(mf_real *to, const mf_NeighborGroup *group, size_t at, bool same) {
    const mf_lane one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    mf_lane q[4];
    for (int c = 0; c < 4; c++)
        q[c] = read_lanes(group->orientation, at + (size_t)c * MF_BLOCK, same);
    mf_store(to, one - two * (q[2] * q[2] + q[3] * q[3]));
    mf_store(to + MF_BLOCK, two * (q[1] * q[2] + q[0] * q[3]));
    mf_store(to + 2 * MF_BLOCK, two * (q[1] * q[3] - q[0] * q[2]));
}

// Where `at` is not within half of `space` of the position known for the agent.
static MF_INLINE mf_mask has_left(const mf_lane at[3], const void *known, size_t row,
                                  double space) {
    const mf_real *position = (const mf_real *)known + row;
    const mf_real half = (mf_real)(0.5 * (1.0 - 1e-5) * space);
    mf_lane moved = square(at[0] - mf_load(position), at[1] - mf_load(position + MF_BLOCK),
                           at[2] - mf_load(position + 2 * MF_BLOCK));
    return mf_not(mf_less_equal(moved, mf_set(half * half)));
}

// Returns what does not hold any more.
static MF_INLINE uint32_t load_lanes(mf_Neighbors *all, const mf_NeighborGroup *group,
                                     uint32_t block, uint32_t lane, bool view, bool velocity) {
    const bool same = group->double_precision == own_is_double;
    const size_t row = (size_t)block * 3 * MF_BLOCK + lane;
    mf_real *to = loaded_row(all, group->first_block + block, 0) + lane;
    mf_lane at[3];
    for (int c = 0; c < 3; c++)
        at[c] = read_lanes(group->position, row + (size_t)c * MF_BLOCK, same);
    mf_index fault = mf_load_index((const int32_t *)group->fault + (size_t)block * MF_BLOCK + lane);
    mf_index number = mf_lane_numbers() + mf_set_index((int32_t)(block * MF_BLOCK + lane));
    mf_mask live = mf_and(mf_index_equal(fault, mf_set_index(0)),
                          mf_index_less(number, mf_set_index((int32_t)group->count)));
    live = mf_and(live, mf_and(mf_finite(at[0]), mf_and(mf_finite(at[1]), mf_finite(at[2]))));
    mf_store(to, mf_select(live, at[0], nowhere()));
    mf_store(to + MF_BLOCK, at[1]);
    mf_store(to + 2 * MF_BLOCK, at[2]);
    if (view)
        load_view(to + 3 * MF_BLOCK, group, (size_t)block * 4 * MF_BLOCK + lane, same);
    for (size_t c = 0; velocity && c < 3; c++)
        mf_store(to + (6 + c) * MF_BLOCK,
                 read_lanes(group->linear_velocity, row + c * MF_BLOCK, same));
    const size_t own = (size_t)(group->first_block + block) * 3 * MF_BLOCK + lane;
    mf_mask moved = has_left(at, all->mark, own, all->slack);
    // Marks are NaN where nobody was: who has died is sifted out, too.
    mf_mask was = mf_finite(mf_load((const mf_real *)all->mark + own));
    uint32_t stale = mf_any(mf_and(mf_or(live, was), mf_or(moved, mf_differ(live, was))))
                         ? MF_NEIGHBOR_SIFTED
                         : 0;
    if (mf_any(mf_and(live, has_left(at, all->reference, own, all->config.margin))))
        stale |= MF_NEIGHBOR_LISTS;
    return stale;
}

uint32_t MF_KERNEL(mf_neighbors_load)(mf_Neighbors *all, uint32_t group, uint32_t first_block,
                                      uint32_t block_count, bool view, bool velocity) {
    const mf_NeighborGroup *from = &all->groups[group];
    uint32_t stale = 0;
    for (uint32_t block = first_block; block < first_block + block_count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            stale |= load_lanes(all, from, block, lane, view, velocity);
    return stale;
}

// Sixteen slots, one vector after the other.
static MF_INLINE void gather_lanes(mf_Neighbors *all, size_t slot, bool view, bool velocity) {
    mf_index agent = mf_load_index(all->agent_of + slot);
    mf_index lane = agent & mf_set_index(MF_BLOCK - 1);
    mf_index from = (agent - lane) * mf_set_index(MF_NEIGHBOR_LOADED) + lane;
    void *const positions[3] = {all->x, all->y, all->z};
    mf_index motion = (mf_lane_numbers() + mf_set_index((int32_t)slot)) << 3;
    for (int c = 0; c < 3; c++) {
        mf_lane at = mf_gather((const mf_real *)all->loaded, from + mf_set_index(c * MF_BLOCK));
        mf_store((mf_real *)positions[c] + slot, at);
        if (view)
            mf_store(
                (mf_real *)all->facing[c] + slot,
                mf_gather((const mf_real *)all->loaded, from + mf_set_index((3 + c) * MF_BLOCK)));
        if (!velocity)
            continue;
        mf_scatter(mf_mask_all(), (mf_real *)all->motion, motion + mf_set_index(c), at);
        mf_scatter(
            mf_mask_all(), (mf_real *)all->motion, motion + mf_set_index(4 + c),
            mf_gather((const mf_real *)all->loaded, from + mf_set_index((6 + c) * MF_BLOCK)));
    }
}

void MF_KERNEL(mf_neighbors_gather_rows)(mf_Neighbors *all, uint32_t first_row, uint32_t row_count,
                                         bool view, bool velocity) {
    for (size_t row = first_row; row < (size_t)first_row + row_count; row++)
        for (size_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            gather_lanes(all, row * MF_BLOCK + lane, view, velocity);
}

// Where agents are now becomes their mark.
void MF_KERNEL(mf_neighbors_mark)(mf_Neighbors *all, uint32_t first_block, uint32_t block_count) {
    const mf_real *position[3] = {(const mf_real *)all->x, (const mf_real *)all->y,
                                  (const mf_real *)all->z};
    for (uint32_t block = first_block; block < first_block + block_count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
            mf_index slot = mf_load_index(all->slot_of + (size_t)block * MF_BLOCK + lane);
            mf_real *mark = (mf_real *)all->mark + (size_t)block * 3 * MF_BLOCK + lane;
            for (int c = 0; c < 3; c++)
                mf_store(mark + c * MF_BLOCK, mf_gather(position[c], slot));
        }
}

// ---- building the lists -------------------------------------------------------------------------

// Reaches with the margin, squared; negative where a kind of candidate is not requested.
typedef struct Reach {
    mf_lane wide, jet_radius, jet_low, jet_high;
    mf_lane margin, more; // of contacts, whose reach is the sum of two radii
    bool has_near, has_jet;
} Reach;

static Reach reach_of(const mf_NeighborsConfig *config) {
    const double more = 1.0 + 1e-5;
    double wide = (config->reach + config->margin) * more;
    double radius = (config->jet_radius + config->margin) * more;
    Reach reach = {.has_near = config->contact_reach > 0.0, .has_jet = config->jet_reach > 0.0};
    reach.wide = mf_set(config->reach > 0.0 ? (mf_real)(wide * wide) : (mf_real)-1);
    reach.margin = mf_set((mf_real)config->margin);
    reach.more = mf_set((mf_real)more);
    reach.jet_radius = mf_set((mf_real)(radius * radius));
    reach.jet_low = mf_set((mf_real)(-config->margin * more));
    reach.jet_high = mf_set((mf_real)((config->jet_reach + config->margin) * more));
    return reach;
}

typedef struct Sweep {
    const mf_Neighbors *all;
    mf_NeighborChunk *chunk;
    Reach reach;
    uint32_t wide_count;
    bool full;
    mf_lane size; // [m] own radius
} Sweep;

static MF_INLINE void add_pairs(mf_NeighborPairs *pairs, mf_mask mask, mf_index first,
                                mf_index second, bool *full) {
    if (pairs->count + MF_LANES > pairs->capacity) {
        *full = true;
        return;
    }
    mf_append_index(pairs->first + pairs->count, mask, first);
    pairs->count += mf_append_index(pairs->second + pairs->count, mask, second);
}

static MF_INLINE void sweep_lanes(Sweep *sweep, uint32_t slot, const mf_lane own[3], uint32_t from,
                                  uint32_t end) {
    const mf_Neighbors *all = sweep->all;
    mf_NeighborChunk *chunk = sweep->chunk;
    mf_index other = mf_lane_numbers() + mf_set_index((int32_t)from);
    mf_index self = mf_set_index((int32_t)slot);
    mf_lane dx = mf_load_any((const mf_real *)all->x + from) - own[0];
    mf_lane dy = mf_load_any((const mf_real *)all->y + from) - own[1];
    mf_lane dz = mf_load_any((const mf_real *)all->z + from) - own[2];
    mf_lane flat = dx * dx + dy * dy, d2 = flat + dz * dz;
    mf_mask valid = mf_and(mf_index_less(other, mf_set_index((int32_t)end)),
                           mf_not(mf_index_equal(other, self)));
    sweep->wide_count +=
        mf_append_index(chunk->wide + sweep->wide_count,
                        mf_and(valid, mf_less_equal(d2, sweep->reach.wide)), other);
    if (sweep->reach.has_near) {
        mf_lane size = mf_load_any((const mf_real *)all->size + from);
        mf_lane far = (sweep->size + size + sweep->reach.margin) * sweep->reach.more;
        mf_mask near = mf_and(mf_index_less(self, other), mf_less(mf_zero(), size));
        near = mf_and(mf_and(near, valid), mf_less_equal(d2, far * far));
        if (mf_any(near))
            add_pairs(&chunk->near, near, self, other, &sweep->full);
    }
    if (sweep->reach.has_jet) {
        // No branch on who is found: one would be guessed wrong too often.
        mf_mask jet = mf_and(valid, mf_less_equal(flat, sweep->reach.jet_radius));
        jet = mf_and(jet, mf_and(mf_less_equal(sweep->reach.jet_low, dz),
                                 mf_less_equal(dz, sweep->reach.jet_high)));
        jet = mf_and(jet, mf_index_equal(mf_load_any_index(all->source + from), mf_set_index(1)));
        add_pairs(&chunk->jet, jet, self, other, &sweep->full);
    }
}

static void fill_up_pairs(mf_NeighborPairs *pairs, int32_t nobody) {
    fill_up(pairs->first, pairs->count, nobody);
    fill_up(pairs->second, pairs->count, nobody);
}

void MF_KERNEL(mf_neighbors_sweep)(mf_Neighbors *all, uint32_t index) {
    mf_NeighborChunk *chunk = &all->chunks[index];
    const int32_t nobody = (int32_t)all->slot_count;
    uint32_t first = index * MF_NEIGHBOR_CHUNK, last = first + MF_NEIGHBOR_CHUNK;
    if (last > all->live_count)
        last = all->live_count;
    Sweep sweep = {.all = all, .chunk = chunk, .reach = reach_of(&all->config)};
    Runs runs;
    runs_start(&runs, all, first);
    chunk->near.count = chunk->jet.count = 0;
    for (uint32_t slot = first; slot < last && !sweep.full; slot++) {
        mf_lane own[3] = {mf_set(((const mf_real *)all->x)[slot]),
                          mf_set(((const mf_real *)all->y)[slot]),
                          mf_set(((const mf_real *)all->z)[slot])};
        sweep.size = mf_set(((const mf_real *)all->size)[slot]);
        runs_advance(&runs, slot);
        all->wide_start[slot] = sweep.wide_count;
        for (int r = 0; r < 9 && !sweep.full; r++)
            for (uint32_t j = runs.begin[r]; j < runs.end[r] && !sweep.full; j += MF_LANES) {
                sweep_lanes(&sweep, slot, own, j, runs.end[r]);
                sweep.full |= sweep.wide_count + 2 * MF_NEIGHBOR_PAD > all->wide_capacity;
            }
        all->wide_count[slot] = sweep.wide_count - all->wide_start[slot];
        fill_up(chunk->wide, sweep.wide_count, nobody);
        sweep.wide_count = (sweep.wide_count + MF_NEIGHBOR_PAD - 1) & ~(MF_NEIGHBOR_PAD - 1u);
        sweep.full |= sweep.wide_count + 2 * MF_NEIGHBOR_PAD > all->wide_capacity;
    }
    chunk->full = sweep.full;
    fill_up_pairs(&chunk->near, nobody);
    fill_up_pairs(&chunk->jet, nobody);
}

// ---- pairs --------------------------------------------------------------------------------------

// Radii of pairs of slots, and where neither is 0: such agents touch nobody.
static MF_INLINE mf_mask pair_sizes(const mf_Neighbors *all, mf_index a, mf_index b, mf_lane *sum) {
    mf_lane size_a = mf_gather((const mf_real *)all->size, a),
            size_b = mf_gather((const mf_real *)all->size, b);
    *sum = size_a + size_b;
    return mf_and(mf_less(mf_zero(), size_a), mf_less(mf_zero(), size_b));
}

// Hands on the pairs of the list that touch.
static void test_pairs(const mf_Neighbors *all, uint32_t chunk, const int32_t *first,
                       const int32_t *second, uint32_t count, mf_NeighborTouchFn touch,
                       void *user) {
    for (uint32_t i = 0; i < count; i += MF_LANES) {
        mf_index a = mf_load_index(first + i), b = mf_load_index(second + i);
        mf_lane sum;
        mf_lane d2 =
            square(mf_gather((const mf_real *)all->x, b) - mf_gather((const mf_real *)all->x, a),
                   mf_gather((const mf_real *)all->y, b) - mf_gather((const mf_real *)all->y, a),
                   mf_gather((const mf_real *)all->z, b) - mf_gather((const mf_real *)all->z, a));
        mf_mask solid = pair_sizes(all, a, b, &sum);
        mf_mask touches = mf_and(solid, mf_less_equal(d2, sum * sum));
        if (!mf_any(touches))
            continue;
        int32_t found_a[2 * MF_NEIGHBOR_PAD], found_b[2 * MF_NEIGHBOR_PAD];
        mf_append_index(found_a, touches, a);
        uint32_t found = mf_append_index(found_b, touches, b);
        touch(user, chunk, found_a, found_b, found);
    }
}

enum { PAIR_CAPACITY = 512 };

typedef struct PairBuffer {
    uint32_t count;
    MF_ALIGNED(64) int32_t first[PAIR_CAPACITY + MF_NEIGHBOR_PAD];
    MF_ALIGNED(64) int32_t second[PAIR_CAPACITY + MF_NEIGHBOR_PAD];
} PairBuffer;

static void pairs_flush(const mf_Neighbors *all, uint32_t chunk, PairBuffer *buffer,
                        mf_NeighborTouchFn touch, mf_NeighborJetFn jet, void *user) {
    fill_up(buffer->first, buffer->count, (int32_t)all->slot_count);
    fill_up(buffer->second, buffer->count, (int32_t)all->slot_count);
    if (touch != NULL)
        test_pairs(all, chunk, buffer->first, buffer->second, buffer->count, touch, user);
    else
        jet(user, chunk, buffer->first, buffer->second, buffer->count);
    buffer->count = 0;
}

// For a chunk whose lists are full: every pair with a neighboring cell is a candidate. For
// contacts only pairs with the second slot behind the first.
static void pairs_in_cells(const mf_Neighbors *all, uint32_t index, mf_NeighborTouchFn touch,
                           mf_NeighborJetFn jet, void *user) {
    uint32_t first = index * MF_NEIGHBOR_CHUNK, last = first + MF_NEIGHBOR_CHUNK;
    if (last > all->live_count)
        last = all->live_count;
    PairBuffer buffer = {.count = 0};
    Runs runs;
    runs_start(&runs, all, first);
    for (uint32_t slot = first; slot < last; slot++) {
        runs_advance(&runs, slot);
        for (int r = 0; r < 9; r++)
            for (uint32_t j = runs.begin[r]; j < runs.end[r]; j++) {
                if (touch != NULL ? j <= slot : j == slot || all->source[j] == 0)
                    continue;
                buffer.first[buffer.count] = (int32_t)slot;
                buffer.second[buffer.count++] = (int32_t)j;
                if (buffer.count == PAIR_CAPACITY)
                    pairs_flush(all, index, &buffer, touch, jet, user);
            }
    }
    pairs_flush(all, index, &buffer, touch, jet, user);
}

static MF_INLINE mf_lane marked_difference(const mf_Neighbors *all, int component, mf_index first,
                                           mf_index second) {
    return mf_gather((const mf_real *)all->marked[component], second) -
           mf_gather((const mf_real *)all->marked[component], first);
}

// Who may come within the sum of their radii before the slack is used up.
static void sift_close(const mf_Neighbors *all, mf_NeighborChunk *chunk, bool *full) {
    const mf_lane more = mf_set((mf_real)(1.0 + 1e-5)), slack = mf_set((mf_real)all->slack);
    for (uint32_t i = 0; i < chunk->near.count; i += MF_LANES) {
        mf_index a = mf_load_index(chunk->near.first + i);
        mf_index b = mf_load_index(chunk->near.second + i);
        mf_lane sum;
        mf_mask solid = pair_sizes(all, a, b, &sum);
        mf_lane far = (sum + slack) * more;
        mf_lane d2 = square(marked_difference(all, 0, a, b), marked_difference(all, 1, a, b),
                            marked_difference(all, 2, a, b));
        add_pairs(&chunk->close, mf_and(solid, mf_less_equal(d2, far * far)), a, b, full);
    }
}

static void sift_blow(const mf_Neighbors *all, mf_NeighborChunk *chunk, bool *full) {
    const double more = 1.0 + 1e-5;
    const mf_real radius = (mf_real)((all->config.jet_radius + all->slack) * more);
    const mf_lane low = mf_set((mf_real)(-all->slack * more));
    const mf_lane high = mf_set((mf_real)((all->config.jet_reach + all->slack) * more));
    for (uint32_t i = 0; i < chunk->jet.count; i += MF_LANES) {
        mf_index own = mf_load_index(chunk->jet.first + i);
        mf_index source = mf_load_index(chunk->jet.second + i);
        mf_lane dx = marked_difference(all, 0, own, source);
        mf_lane dy = marked_difference(all, 1, own, source);
        mf_lane dz = marked_difference(all, 2, own, source);
        mf_mask inside = mf_less_equal(dx * dx + dy * dy, mf_set(radius * radius));
        inside = mf_and(inside, mf_and(mf_less_equal(low, dz), mf_less_equal(dz, high)));
        add_pairs(&chunk->blow, inside, own, source, full);
    }
}

// The sifted pairs of a kind, renewed if they do not hold; all candidates where those do not fit.
static const mf_NeighborPairs *
sifted(const mf_Neighbors *all, mf_NeighborPairs *few, const mf_NeighborPairs *every,
       uint64_t *when, void (*sift)(const mf_Neighbors *all, mf_NeighborChunk *chunk, bool *full),
       mf_NeighborChunk *chunk) {
    bool full = few->count > few->capacity;
    if (*when != all->sifts) {
        *when = all->sifts;
        few->count = 0;
        full = false;
        sift(all, chunk, &full);
        if (full)
            few->count = UINT32_MAX;
        else
            fill_up_pairs(few, (int32_t)all->slot_count);
    }
    return full ? every : few;
}

void MF_KERNEL(mf_neighbors_pairs)(const mf_Neighbors *all, uint32_t index,
                                   mf_NeighborTouchFn touch, void *user) {
    mf_NeighborChunk *chunk = &all->chunks[index];
    if (chunk->full) {
        pairs_in_cells(all, index, touch, NULL, user);
        return;
    }
    const mf_NeighborPairs *pairs =
        sifted(all, &chunk->close, &chunk->near, &chunk->close_sift, sift_close, chunk);
    test_pairs(all, index, pairs->first, pairs->second, pairs->count, touch, user);
}

void MF_KERNEL(mf_neighbors_jets)(const mf_Neighbors *all, uint32_t index, mf_NeighborJetFn jet,
                                  void *user) {
    mf_NeighborChunk *chunk = &all->chunks[index];
    if (chunk->full) {
        pairs_in_cells(all, index, NULL, jet, user);
        return;
    }
    const mf_NeighborPairs *pairs =
        sifted(all, &chunk->blow, &chunk->jet, &chunk->blow_sift, sift_blow, chunk);
    if (pairs->count > 0)
        jet(user, index, pairs->first, pairs->second, pairs->count);
}
