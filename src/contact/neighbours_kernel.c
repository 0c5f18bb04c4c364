// The inner loops of neighbour search (see neighbours.h): 16 candidates at a time, own values
// broadcast. Choosing is by masks and packed lists, so no pair costs a branch.
#include "contact/neighbours.h"
#include "math/lane_list.h"

// float arrays in a double search, or the other way round.
#if defined(MF_KERNEL_F64)
typedef float OtherReal;
static const bool own_is_double = true;
#else
typedef double OtherReal;
static const bool own_is_double = false;
#endif

static MF_INLINE mf_lane nowhere(void) {
    return mf_set((mf_real)__builtin_nan(""));
}

static MF_INLINE mf_lane square(mf_lane dx, mf_lane dy, mf_lane dz) {
    return (dx * dx + dy * dy) + dz * dz;
}

// ---- loading ------------------------------------------------------------------------------------

static MF_INLINE mf_lane read_lanes(const void *data, size_t at, bool same) {
    if (same)
        return mf_load((const mf_real *)data + at);
    _Alignas(64) mf_real values[MF_LANES];
    for (int lane = 0; lane < MF_LANES; lane++)
        values[lane] = (mf_real)((const OtherReal *)data)[at + (size_t)lane];
    return mf_load(values);
}

static MF_INLINE void put(void *table, mf_index slot, mf_lane value) {
    mf_scatter(mf_mask_all(), table, slot, value);
}

// Body x in world axes: the first column of the rotation matrix.
static MF_INLINE void load_sight(mf_Neighbours *all, const mf_NeighbourGroup *group, size_t at,
                                 bool same, mf_index slot) {
    const mf_lane one = mf_set((mf_real)1), two = mf_set((mf_real)2);
    mf_lane q[4];
    for (int c = 0; c < 4; c++)
        q[c] = read_lanes(group->orientation, at + (size_t)c * MF_BLOCK, same);
    put(all->facing[0], slot, one - two * (q[2] * q[2] + q[3] * q[3]));
    put(all->facing[1], slot, two * (q[1] * q[2] + q[0] * q[3]));
    put(all->facing[2], slot, two * (q[1] * q[3] - q[0] * q[2]));
}

// Returns true when somebody who takes part is not within margin / 2 of where the lists know him.
static MF_INLINE bool load_lanes(mf_Neighbours *all, const mf_NeighbourGroup *group, uint32_t block,
                                 uint32_t lane, bool sight, bool velocity) {
    const bool same = group->double_precision == own_is_double;
    const size_t row = (size_t)block * 3 * MF_BLOCK + lane;
    const size_t agent = (size_t)(group->first_block + block) * MF_BLOCK + lane;
    mf_lane at[3];
    for (int c = 0; c < 3; c++)
        at[c] = read_lanes(group->position, row + (size_t)c * MF_BLOCK, same);
    mf_index fault = mf_load_index((const int32_t *)group->fault + (size_t)block * MF_BLOCK + lane);
    mf_index number = mf_lane_numbers() + mf_set_index((int32_t)(block * MF_BLOCK + lane));
    mf_mask live = mf_and(mf_index_equal(fault, mf_set_index(0)),
                          mf_index_less(number, mf_set_index((int32_t)group->count)));
    live = mf_and(live, mf_and(mf_finite(at[0]), mf_and(mf_finite(at[1]), mf_finite(at[2]))));
    mf_index slot = mf_load_index(all->slot_of + agent);
    put(all->x, slot, mf_select(live, at[0], nowhere()));
    put(all->y, slot, at[1]);
    put(all->z, slot, at[2]);
    if (sight)
        load_sight(all, group, (size_t)block * 4 * MF_BLOCK + lane, same, slot);
    for (int c = 0; velocity && c < 3; c++) {
        mf_index to = (slot << 3) + mf_set_index(c);
        put(all->motion, to, at[c]);
        put(all->motion, to + mf_set_index(4),
            read_lanes(group->linear_velocity, row + (size_t)c * MF_BLOCK, same));
    }
    const mf_real *known = (const mf_real *)all->reference +
                           (size_t)(group->first_block + block) * 3 * MF_BLOCK + lane;
    mf_lane moved = square(at[0] - mf_load(known), at[1] - mf_load(known + MF_BLOCK),
                           at[2] - mf_load(known + 2 * MF_BLOCK));
    const mf_real half = (mf_real)(0.5 * (1.0 - 1e-5) * all->config.margin);
    return mf_any(mf_and(live, mf_not(mf_less_equal(moved, mf_set(half * half)))));
}

bool MF_KERNEL(mf_neighbours_load)(mf_Neighbours *all, uint32_t group, uint32_t first_block,
                                   uint32_t block_count, bool sight, bool velocity) {
    const mf_NeighbourGroup *from = &all->groups[group];
    bool moved = false;
    for (uint32_t block = first_block; block < first_block + block_count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            moved |= load_lanes(all, from, block, lane, sight, velocity);
    return moved;
}

// ---- the cells around a slot --------------------------------------------------------------------

typedef struct Runs {
    const uint64_t *key;
    uint32_t count;    // [1] slots that take part
    uint64_t cell;     // the one that the runs are around
    uint64_t shift[9]; // from a cell to the middle of each of the nine rows, modulo 2^64
    uint32_t begin[9], end[9];
} Runs;

// First slot whose key is at least `key`.
static uint32_t lower_bound(const Runs *runs, uint64_t key) {
    uint32_t low = 0, high = runs->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (runs->key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void runs_start(Runs *runs, const mf_Neighbours *all, uint32_t slot) {
    runs->key = all->key;
    runs->count = all->live_count;
    runs->cell = all->key[slot];
    for (int r = 0; r < 9; r++) {
        int64_t shift = (int64_t)(r / 3 - 1) * ((int64_t)1 << all->key_bits[1]) +
                        (int64_t)(r % 3 - 1) * ((int64_t)1 << all->key_bits[0]);
        runs->shift[r] = (uint64_t)shift;
        runs->begin[r] = lower_bound(runs, runs->cell + runs->shift[r] - 1);
        runs->end[r] = lower_bound(runs, runs->cell + runs->shift[r] + 2);
    }
}

// On to the cell of `slot`, not before the present one: the pointers only move forward.
static MF_INLINE void runs_advance(Runs *runs, uint32_t slot) {
    uint64_t cell = runs->key[slot];
    if (cell == runs->cell)
        return;
    runs->cell = cell;
    for (int r = 0; r < 9; r++) {
        uint64_t low = cell + runs->shift[r] - 1, high = cell + runs->shift[r] + 2;
        while (runs->begin[r] < runs->count && runs->key[runs->begin[r]] < low)
            runs->begin[r]++;
        if (runs->end[r] < runs->begin[r])
            runs->end[r] = runs->begin[r];
        while (runs->end[r] < runs->count && runs->key[runs->end[r]] < high)
            runs->end[r]++;
    }
}

// ---- building the lists -------------------------------------------------------------------------

// Reaches with the margin, squared; negative where a kind of candidate is not wanted.
typedef struct Reach {
    mf_lane wide, near, jet_radius, jet_low, jet_high;
    bool has_near, has_jet;
} Reach;

static Reach reach_of(const mf_NeighboursConfig *config) {
    const double more = 1.0 + 1e-5;
    double wide = (config->reach + config->margin) * more;
    double near = (config->contact_reach + config->margin) * more;
    double radius = (config->jet_radius + config->margin) * more;
    Reach reach = {.has_near = config->contact_reach > 0.0, .has_jet = config->jet_reach > 0.0};
    reach.wide = mf_set(config->reach > 0.0 ? (mf_real)(wide * wide) : (mf_real)-1);
    reach.near = mf_set((mf_real)(near * near));
    reach.jet_radius = mf_set((mf_real)(radius * radius));
    reach.jet_low = mf_set((mf_real)(-config->margin * more));
    reach.jet_high = mf_set((mf_real)((config->jet_reach + config->margin) * more));
    return reach;
}

typedef struct Sweep {
    const mf_Neighbours *all;
    mf_NeighbourChunk *chunk;
    Reach reach;
    uint32_t wide_count;
    bool full;
} Sweep;

static MF_INLINE uint32_t add_pairs(int32_t *first, int32_t *second, uint32_t count, uint32_t room,
                                    mf_mask mask, int32_t slot, mf_index other, bool *full) {
    if (count + MF_LANES > room) {
        *full = true;
        return count;
    }
    uint32_t added = mf_append_index(second + count, mask, other);
    for (uint32_t i = 0; i < added; i++)
        first[count + i] = slot;
    return count + added;
}

static MF_INLINE void sweep_lanes(Sweep *sweep, uint32_t slot, const mf_lane own[3], uint32_t from,
                                  uint32_t end) {
    const mf_Neighbours *all = sweep->all;
    mf_NeighbourChunk *chunk = sweep->chunk;
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
        mf_mask near = mf_and(valid, mf_less_equal(d2, sweep->reach.near));
        near = mf_and(near, mf_index_less(self, other));
        if (mf_any(near))
            chunk->near_count = add_pairs(chunk->near_first, chunk->near_second, chunk->near_count,
                                          all->near_room, near, (int32_t)slot, other, &sweep->full);
    }
    if (sweep->reach.has_jet) {
        // No branch on who is found: one would be guessed wrong too often.
        mf_mask jet = mf_and(valid, mf_less_equal(flat, sweep->reach.jet_radius));
        jet = mf_and(jet, mf_and(mf_less_equal(sweep->reach.jet_low, dz),
                                 mf_less_equal(dz, sweep->reach.jet_high)));
        jet = mf_and(jet, mf_index_equal(mf_load_any_index(all->source + from), mf_set_index(1)));
        if (chunk->jet_count + MF_LANES > all->jet_room)
            sweep->full = true;
        else
            chunk->jet_count += mf_append_index(chunk->jet_second + chunk->jet_count, jet, other);
    }
}

// Lists are read in whole lanes of any width, so their ends are filled up with nobody.
static void fill_up(int32_t *list, uint32_t count, int32_t nobody) {
    for (uint32_t i = 0; i < MF_NEIGHBOUR_PAD; i++)
        list[count + i] = nobody;
}

void MF_KERNEL(mf_neighbours_sweep)(mf_Neighbours *all, uint32_t index) {
    mf_NeighbourChunk *chunk = &all->chunks[index];
    const int32_t nobody = (int32_t)all->slot_count;
    uint32_t first = index * MF_NEIGHBOUR_CHUNK, last = first + MF_NEIGHBOUR_CHUNK;
    if (last > all->live_count)
        last = all->live_count;
    Sweep sweep = {.all = all, .chunk = chunk, .reach = reach_of(&all->config)};
    Runs runs;
    runs_start(&runs, all, first);
    chunk->near_count = chunk->jet_count = 0;
    for (uint32_t slot = first; slot < last && !sweep.full; slot++) {
        mf_lane own[3] = {mf_set(((const mf_real *)all->x)[slot]),
                          mf_set(((const mf_real *)all->y)[slot]),
                          mf_set(((const mf_real *)all->z)[slot])};
        runs_advance(&runs, slot);
        all->wide_start[slot] = sweep.wide_count;
        uint32_t jets = chunk->jet_count;
        for (int r = 0; r < 9 && !sweep.full; r++)
            for (uint32_t j = runs.begin[r]; j < runs.end[r] && !sweep.full; j += MF_LANES) {
                sweep_lanes(&sweep, slot, own, j, runs.end[r]);
                sweep.full |= sweep.wide_count + 2 * MF_NEIGHBOUR_PAD > all->wide_room;
            }
        for (; jets < chunk->jet_count; jets++)
            chunk->jet_first[jets] = (int32_t)slot;
        all->wide_count[slot] = sweep.wide_count - all->wide_start[slot];
        fill_up(chunk->wide, sweep.wide_count, nobody);
        sweep.wide_count = (sweep.wide_count + MF_NEIGHBOUR_PAD - 1) & ~(MF_NEIGHBOUR_PAD - 1u);
        sweep.full |= sweep.wide_count + 2 * MF_NEIGHBOUR_PAD > all->wide_room;
    }
    chunk->full = sweep.full;
    fill_up(chunk->near_first, chunk->near_count, nobody);
    fill_up(chunk->near_second, chunk->near_count, nobody);
    fill_up(chunk->jet_first, chunk->jet_count, nobody);
    fill_up(chunk->jet_second, chunk->jet_count, nobody);
}

// ---- detection ----------------------------------------------------------------------------------

enum { MOST_HITS = 256 }; // [1] that are kept before the nearest are picked

typedef struct Hits {
    uint32_t total; // [1] all that were found
    uint32_t count; // [1] those kept below
    _Alignas(64) mf_real d2[MOST_HITS + 4 * MF_NEIGHBOUR_PAD];
    _Alignas(64) int32_t slot[MOST_HITS + 4 * MF_NEIGHBOUR_PAD];
    _Alignas(64) int32_t rank[MOST_HITS + 4 * MF_NEIGHBOUR_PAD];
    _Alignas(64) int32_t order[MOST_HITS + 4 * MF_NEIGHBOUR_PAD]; // place in the list by rank
} Hits;

typedef struct Look {
    const mf_Neighbours *all;
    uint32_t nearest;
    bool in_sight;
    mf_lane own[3], facing[3], radius2, cosine;
    mf_lane limit2; // [m^2] farther hits are counted, but not kept
} Look;

static MF_INLINE void look_at(const Look *look, Hits *hits, mf_index other, mf_mask valid) {
    const mf_Neighbours *all = look->all;
    mf_lane dx = mf_gather(all->x, other) - look->own[0];
    mf_lane dy = mf_gather(all->y, other) - look->own[1];
    mf_lane dz = mf_gather(all->z, other) - look->own[2];
    mf_lane d2 = square(dx, dy, dz);
    mf_mask seen = mf_and(valid, mf_less_equal(d2, look->radius2));
    if (look->in_sight) {
        mf_lane ahead = (look->facing[0] * dx + look->facing[1] * dy) + look->facing[2] * dz;
        seen = mf_and(seen, mf_less_equal(look->cosine * mf_sqrt(d2), ahead));
    }
    hits->total += mf_count_lanes(seen);
    if (look->nearest == 0)
        return;
    mf_mask kept = mf_and(seen, mf_less_equal(d2, look->limit2));
    mf_append_lane(hits->d2 + hits->count, kept, d2);
    hits->count += mf_append_index(hits->slot + hits->count, kept, other);
}

// Sixteen or a multiple: loops of few different lengths are guessed right, and hits that fill up
// the rest are infinitely far away.
static MF_INLINE uint32_t filled_count(const Hits *hits) {
    return (hits->count + 15u) & ~15u;
}

// How many hits are nearer than each.
static MF_INLINE void rank_hits(Hits *hits) {
    const uint32_t filled = filled_count(hits);
    for (uint32_t i = 0; i < filled; i += MF_LANES) {
        mf_lane own = mf_load(hits->d2 + i);
        mf_index rank = mf_set_index(0);
        for (uint32_t j = 0; j < filled; j += 16)
            for (uint32_t k = 0; k < 16; k++)
                rank = rank + mf_ones_where(mf_less(mf_set(hits->d2[j + k]), own));
        mf_store_index(hits->rank + i, rank);
    }
}

// Equally near: the smaller agent number first.
static void rank_ties(const mf_Neighbours *all, Hits *hits) {
    for (uint32_t i = 0; i < hits->count; i += MF_LANES) {
        mf_lane d2 = mf_load(hits->d2 + i);
        mf_index agent = mf_gather_index(all->agent_of, mf_load_index(hits->slot + i));
        mf_index rank = mf_load_index(hits->rank + i);
        for (uint32_t j = 0; j < hits->count; j++) {
            mf_lane other = mf_set(hits->d2[j]);
            mf_mask tie = mf_and(mf_less_equal(other, d2), mf_less_equal(d2, other));
            mf_index number = mf_set_index(all->agent_of[hits->slot[j]]);
            rank = rank + mf_ones_where(mf_and(tie, mf_index_less(number, agent)));
        }
        mf_store_index(hits->rank + i, rank);
    }
}

// Fills `order` by the ranks; true when there are ties. Without ties the ranks are 0 .. n - 1, with
// ties their sum is less; those that fill up all have rank n.
static MF_INLINE bool order_hits(Hits *hits) {
    const uint32_t count = hits->count, filled = filled_count(hits);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < filled; i += 16)
        for (uint32_t k = 0; k < 16; k++) {
            uint32_t rank = (uint32_t)hits->rank[i + k];
            sum += rank;
            hits->order[rank] = (int32_t)(i + k);
        }
    return sum != count * (count - 1) / 2 + (filled - count) * count;
}

// `hits` must not be empty.
static MF_INLINE void sort_hits(const mf_Neighbours *all, Hits *hits) {
    const uint32_t count = hits->count;
    for (uint32_t i = 0; i < 16; i += MF_LANES) {
        mf_lane far = mf_set((mf_real)__builtin_inf());
        mf_index nobody = mf_set_index((int32_t)all->slot_count);
        memcpy(hits->d2 + count + i, &far, sizeof far);
        memcpy(hits->slot + count + i, &nobody, sizeof nobody);
    }
    rank_hits(hits);
    if (order_hits(hits)) {
        rank_ties(all, hits);
        order_hits(hits);
    }
}

// Keeps only the nearest when the next lanes would not fit.
static void thin_out(const mf_Neighbours *all, Hits *hits, uint32_t nearest) {
    mf_real d2[MF_NEIGHBOUR_NEAREST];
    int32_t slot[MF_NEIGHBOUR_NEAREST];
    sort_hits(all, hits);
    hits->count = hits->count < nearest ? hits->count : nearest;
    for (uint32_t m = 0; m < hits->count; m++) {
        d2[m] = hits->d2[hits->order[m]];
        slot[m] = hits->slot[hits->order[m]];
    }
    memcpy(hits->d2, d2, hits->count * sizeof *d2);
    memcpy(hits->slot, slot, hits->count * sizeof *slot);
}

static MF_INLINE void look_in_list(const Look *look, Hits *hits, uint32_t slot) {
    const mf_Neighbours *all = look->all;
    const int32_t *list = all->chunks[slot / MF_NEIGHBOUR_CHUNK].wide + all->wide_start[slot];
    hits->total = hits->count = 0;
    for (uint32_t i = 0; i < all->wide_count[slot]; i += MF_LANES) {
        look_at(look, hits, mf_load_index(list + i), mf_mask_all());
        if (hits->count > MOST_HITS - MF_LANES)
            thin_out(all, hits, look->nearest);
    }
}

static void look_in_cells(const Look *look, Hits *hits, const Runs *runs, uint32_t slot) {
    hits->total = hits->count = 0;
    for (int r = 0; r < 9; r++)
        for (uint32_t j = runs->begin[r]; j < runs->end[r]; j += MF_LANES) {
            mf_index other = mf_lane_numbers() + mf_set_index((int32_t)j);
            mf_mask valid = mf_and(mf_index_less(other, mf_set_index((int32_t)runs->end[r])),
                                   mf_not(mf_index_equal(other, mf_set_index((int32_t)slot))));
            look_at(look, hits, other, valid);
            if (hits->count > MOST_HITS - MF_LANES)
                thin_out(look->all, hits, look->nearest);
        }
}

// The nearest of a slot are mostly where they were the last time: only hits not much farther than
// the last of them then are kept and sorted. If that is too few, the search is repeated without.
static MF_INLINE void find_nearest(Look *look, Hits *hits, uint32_t slot) {
    const mf_Neighbours *all = look->all;
    mf_real *limit2 = (mf_real *)all->limit2 + slot;
    look->limit2 = mf_set(*limit2);
    look_in_list(look, hits, slot);
    if (hits->count < look->nearest && hits->count < hits->total) {
        look->limit2 = look->radius2;
        look_in_list(look, hits, slot);
    }
    if (hits->count > 0)
        sort_hits(all, hits);
    *limit2 = hits->count < look->nearest ? (mf_real)MF_REAL_MAX
                                          : hits->d2[hits->order[look->nearest - 1]] * (mf_real)1.2;
}

// Places and velocities of a neighbour less the own: a row of eight values in whole lanes, of which
// wide ones also reach into the next row, which is written later.
static MF_INLINE void subtract_rows(mf_real *to, const mf_real *other, const mf_real *own) {
    for (int c = 0; c < 8; c += MF_LANES) {
        mf_lane difference = mf_load_any(other + c) - mf_load_any(own + c);
        memcpy(to + c, &difference, sizeof difference);
    }
}

static MF_INLINE void tell_nearest(const mf_Neighbours *all, const Hits *hits, uint32_t slot,
                                   const mf_NeighbourAnswer *answer, bool relative) {
    const uint32_t nearest = answer->nearest;
    const uint32_t count = hits->count < nearest ? hits->count : nearest;
    const mf_real *motion = all->motion;
    int32_t *index = answer->index + (size_t)slot * nearest;
    mf_real *rows = (mf_real *)answer->relative + (size_t)slot * nearest * 8;
    for (uint32_t m = 0; m < count; m++) {
        size_t other = (size_t)hits->slot[hits->order[m]];
        index[m] = all->agent_of[other];
        if (!relative)
            continue;
        if (m + 1 < nearest)
            subtract_rows(rows + (size_t)m * 8, motion + other * 8, motion + (size_t)slot * 8);
        else // the row behind may be another thread's
            for (int c = 0; c < 8; c++)
                rows[(size_t)m * 8 + (size_t)c] =
                    motion[other * 8 + (size_t)c] - motion[(size_t)slot * 8 + (size_t)c];
    }
    for (uint32_t m = count; m < nearest; m++)
        index[m] = -1;
    if (relative)
        for (size_t i = (size_t)count * 8; i < (size_t)nearest * 8; i++)
            rows[i] = 0;
}

void MF_KERNEL(mf_neighbours_detect)(const mf_Neighbours *all, uint32_t index,
                                     const mf_NeighbourQuery *query,
                                     const mf_NeighbourAnswer *answer) {
    const mf_NeighbourChunk *chunk = &all->chunks[index];
    uint32_t first = index * MF_NEIGHBOUR_CHUNK, last = first + MF_NEIGHBOUR_CHUNK;
    if (last > all->live_count)
        last = all->live_count;
    mf_real radius = (mf_real)query->radius;
    Look look = {.all = all,
                 .nearest = query->nearest,
                 .in_sight = query->in_sight,
                 .radius2 = mf_set(radius * radius),
                 .cosine = mf_set((mf_real)query->sight_cosine)};
    Runs runs;
    if (chunk->full)
        runs_start(&runs, all, first);
    Hits hits;
    const mf_real *place[3] = {all->x, all->y, all->z};
    for (uint32_t slot = first; slot < last; slot++) {
        answer->count[slot] = UINT32_MAX;
        if (place[0][slot] != place[0][slot])
            continue; // has died since the lists were built
        for (int c = 0; c < 3; c++) {
            look.own[c] = mf_set(place[c][slot]);
            if (query->in_sight)
                look.facing[c] = mf_set(((const mf_real *)all->facing[c])[slot]);
        }
        if (chunk->full) {
            runs_advance(&runs, slot);
            look.limit2 = look.radius2;
            look_in_cells(&look, &hits, &runs, slot);
            if (hits.count > 0)
                sort_hits(all, &hits);
        } else if (query->nearest == 0)
            look_in_list(&look, &hits, slot);
        else
            find_nearest(&look, &hits, slot);
        answer->count[slot] = hits.total;
        if (query->nearest == 0)
            continue;
        tell_nearest(all, &hits, slot, answer, query->relative);
    }
}

// ---- pairs --------------------------------------------------------------------------------------

// Hands on the pairs of the list that touch.
static void test_pairs(const mf_Neighbours *all, uint32_t chunk, const int32_t *first,
                       const int32_t *second, uint32_t count, mf_NeighbourTouchFn touch,
                       void *user) {
    for (uint32_t i = 0; i < count; i += MF_LANES) {
        mf_index a = mf_load_index(first + i), b = mf_load_index(second + i);
        mf_lane d2 = square(mf_gather(all->x, b) - mf_gather(all->x, a),
                            mf_gather(all->y, b) - mf_gather(all->y, a),
                            mf_gather(all->z, b) - mf_gather(all->z, a));
        mf_lane size_a = mf_gather(all->radius, mf_gather_index(all->group_of_slot, a));
        mf_lane size_b = mf_gather(all->radius, mf_gather_index(all->group_of_slot, b));
        mf_lane sum = size_a + size_b;
        // Agents of radius 0 touch nobody.
        mf_mask solid = mf_and(mf_less(mf_zero(), size_a), mf_less(mf_zero(), size_b));
        mf_mask met = mf_and(solid, mf_less_equal(d2, sum * sum));
        if (!mf_any(met))
            continue;
        int32_t met_a[2 * MF_NEIGHBOUR_PAD], met_b[2 * MF_NEIGHBOUR_PAD];
        mf_append_index(met_a, met, a);
        uint32_t found = mf_append_index(met_b, met, b);
        touch(user, chunk, met_a, met_b, found);
    }
}

enum { PAIR_ROOM = 512 };

typedef struct PairBuffer {
    uint32_t count;
    _Alignas(64) int32_t first[PAIR_ROOM + MF_NEIGHBOUR_PAD];
    _Alignas(64) int32_t second[PAIR_ROOM + MF_NEIGHBOUR_PAD];
} PairBuffer;

static void pairs_flush(const mf_Neighbours *all, uint32_t chunk, PairBuffer *buffer,
                        mf_NeighbourTouchFn touch, mf_NeighbourJetFn jet, void *user) {
    fill_up(buffer->first, buffer->count, (int32_t)all->slot_count);
    fill_up(buffer->second, buffer->count, (int32_t)all->slot_count);
    if (touch != NULL)
        test_pairs(all, chunk, buffer->first, buffer->second, buffer->count, touch, user);
    else
        jet(user, chunk, buffer->first, buffer->second, buffer->count);
    buffer->count = 0;
}

// For a chunk whose lists are full: every pair with a neighbouring cell is a candidate. For
// contacts only pairs with the second slot behind the first.
static void pairs_in_cells(const mf_Neighbours *all, uint32_t index, mf_NeighbourTouchFn touch,
                           mf_NeighbourJetFn jet, void *user) {
    uint32_t first = index * MF_NEIGHBOUR_CHUNK, last = first + MF_NEIGHBOUR_CHUNK;
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
                if (buffer.count == PAIR_ROOM)
                    pairs_flush(all, index, &buffer, touch, jet, user);
            }
    }
    pairs_flush(all, index, &buffer, touch, jet, user);
}

void MF_KERNEL(mf_neighbours_pairs)(const mf_Neighbours *all, uint32_t index,
                                    mf_NeighbourTouchFn touch, void *user) {
    const mf_NeighbourChunk *chunk = &all->chunks[index];
    if (chunk->full)
        pairs_in_cells(all, index, touch, NULL, user);
    else
        test_pairs(all, index, chunk->near_first, chunk->near_second, chunk->near_count, touch,
                   user);
}

void MF_KERNEL(mf_neighbours_jets)(const mf_Neighbours *all, uint32_t index, mf_NeighbourJetFn jet,
                                   void *user) {
    const mf_NeighbourChunk *chunk = &all->chunks[index];
    if (chunk->full)
        pairs_in_cells(all, index, NULL, jet, user);
    else if (chunk->jet_count > 0)
        jet(user, index, chunk->jet_first, chunk->jet_second, chunk->jet_count);
}
