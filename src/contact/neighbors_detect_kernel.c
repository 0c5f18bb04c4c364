// Detection (see neighbors.h): filtering the candidates, measuring the remaining ones, the search
// through the cells for agents without lists, and writing the results to fields.
//
// Rows contain a candidate of each of sixteen slots, so counting and selecting the nearest works
// lane by lane. Rows of the front are in order of the agents' indices: an agent that is placed
// after those at the same distance stays after them, so the smaller index comes first.
#include "contact/neighbor_cells.h"
#include "contact/other_real.h"

typedef struct Detection {
    const mf_Neighbors *all;
    uint32_t nearest;
    bool in_view;
    mf_lane own[3], facing[3], radius2, cosine;
} Detection;

// Distances squared, and where the others count.
static MF_INLINE mf_mask detect_one(const Detection *detection, mf_index other, mf_lane *d2) {
    const mf_Neighbors *all = detection->all;
    mf_lane dx = mf_gather((const mf_real *)all->x, other) - detection->own[0];
    mf_lane dy = mf_gather((const mf_real *)all->y, other) - detection->own[1];
    mf_lane dz = mf_gather((const mf_real *)all->z, other) - detection->own[2];
    *d2 = square(dx, dy, dz);
    mf_mask seen = mf_less_equal(*d2, detection->radius2);
    if (detection->in_view) {
        mf_lane ahead =
            (detection->facing[0] * dx + detection->facing[1] * dy) + detection->facing[2] * dz;
        seen = mf_and(seen, mf_less_equal(detection->cosine * mf_sqrt(*d2), ahead));
    }
    return seen;
}

// ---- sifting ------------------------------------------------------------------------------------

typedef struct Sift {
    const mf_Neighbors *all;
    mf_NeighborChunk *chunk;
    bool edge, front;                       // requested
    uint32_t edge_capacity, front_capacity; // [1] rows that are left
    int32_t *edge_rows, *front_rows;        // of the sixteen slots
    mf_real inner2, outer2;                 // [m^2] nearer: for sure; farther: never
    bool full;
} Sift;

// How many candidates of each of sixteen slots were kept.
typedef struct Columns {
    uint32_t edge[MF_BLOCK], front[MF_BLOCK];
} Columns;

static MF_INLINE uint32_t add_to_column(Sift *sift, int32_t *column, uint32_t count,
                                        uint32_t capacity, mf_mask mask, mf_index other) {
    MF_ALIGNED(64) int32_t chosen[MF_NEIGHBOR_PAD];
    uint32_t added = mf_append_index(chosen, mask, other);
    if (count + added > capacity) {
        sift->full = true;
        return count;
    }
    for (uint32_t i = 0; i < added; i++)
        column[(size_t)(count + i) * MF_BLOCK] = chosen[i];
    return count + added;
}

static mf_lane distance_of_marks(const mf_Neighbors *all, mf_index other, uint32_t slot) {
    mf_lane d[3];
    for (int c = 0; c < 3; c++)
        d[c] = mf_gather((const mf_real *)all->marked[c], other) -
               mf_set(((const mf_real *)all->marked[c])[slot]);
    return square(d[0], d[1], d[2]);
}

// Keeps of the front who is within `keep2`; returns how many are within `enough2`.
static MF_INLINE uint32_t sift_slot(Sift *sift, Columns *columns, uint32_t slot, mf_real enough2,
                                    mf_real keep2) {
    const mf_Neighbors *all = sift->all;
    const int32_t *list = sift->chunk->wide + all->wide_start[slot];
    const uint32_t lane = slot % MF_BLOCK;
    uint32_t within = 0, edge = 0, front = 0, enough = 0;
    for (uint32_t i = 0; i < all->wide_count[slot]; i += MF_LANES) {
        mf_index other = mf_load_index(list + i);
        mf_lane d2 = distance_of_marks(all, other, slot);
        mf_mask reached = mf_less_equal(d2, mf_set(sift->outer2));
        mf_mask sure = mf_less_equal(d2, mf_set(sift->inner2));
        within += mf_count_lanes(sure);
        if (sift->edge)
            edge = add_to_column(sift, sift->edge_rows + lane, edge, sift->edge_capacity,
                                 mf_and(reached, mf_not(sure)), other);
        if (sift->front) {
            enough += mf_count_lanes(mf_less_equal(d2, mf_set(enough2)));
            front = add_to_column(sift, sift->front_rows + lane, front, sift->front_capacity,
                                  mf_and(reached, mf_less_equal(d2, mf_set(keep2))), other);
        }
    }
    all->within[slot] = (int32_t)within;
    columns->edge[lane] = edge;
    columns->front[lane] = front;
    return enough;
}

// Makes all columns as long as the longest, with nobody; returns that length.
static uint32_t even_out(int32_t *rows, const uint32_t counts[MF_BLOCK], int32_t nobody) {
    uint32_t most = 0;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        most = counts[lane] > most ? counts[lane] : most;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        for (uint32_t row = counts[lane]; row < most; row++)
            rows[(size_t)row * MF_BLOCK + lane] = nobody;
    return most;
}

static MF_INLINE void put_in_order(int32_t *first, int32_t *second) {
    for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
        mf_index a = mf_load_index(first + lane), b = mf_load_index(second + lane);
        mf_mask less = mf_index_less(b, a);
        mf_store_index(first + lane, mf_select_index(less, b, a));
        mf_store_index(second + lane, mf_select_index(less, a, b));
    }
}

// Sorts each lane by merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M).
static void sort_rows(int32_t *rows, uint32_t count) {
    uint32_t top = 1;
    while (2 * top < count)
        top *= 2;
    for (uint32_t p = count > 1 ? top : 0; p > 0; p /= 2) {
        uint32_t q = top, r = 0;
        for (uint32_t d = p;; d = q - p, q /= 2, r = p) {
            for (uint32_t i = 0; i + d < count; i++)
                if ((i & p) == r)
                    put_in_order(rows + (size_t)i * MF_BLOCK, rows + (size_t)(i + d) * MF_BLOCK);
            if (q == p)
                break;
        }
    }
}

// From slots in any order to slots in order of their agents' numbers.
static void order_by_agent(const mf_Neighbors *all, int32_t *rows, uint32_t count) {
    const mf_index nobody = mf_set_index((int32_t)all->slot_count);
    const mf_index last = mf_set_index(INT32_MAX);
    const size_t end = (size_t)count * MF_BLOCK;
    for (size_t i = 0; i < end; i += MF_LANES) {
        mf_index slot = mf_load_index(rows + i);
        mf_index agent = mf_gather_index(all->agent_of, slot);
        mf_store_index(rows + i, mf_select_index(mf_index_equal(slot, nobody), last, agent));
    }
    sort_rows(rows, count);
    for (size_t i = 0; i < end; i += MF_LANES) {
        mf_index agent = mf_load_index(rows + i);
        mf_mask none = mf_index_equal(agent, last);
        mf_index slot =
            mf_gather_index(all->slot_of, mf_select_index(none, mf_set_index(0), agent));
        mf_store_index(rows + i, mf_select_index(none, nobody, slot));
    }
}

// What is expected to hold the nearest of sixteen slots, and what may come into it, squared.
static void expect_nearest(const mf_Neighbors *all, uint32_t first, mf_real enough2[MF_BLOCK],
                           mf_real keep2[MF_BLOCK]) {
    const mf_lane slack = mf_set((mf_real)(2.0 * all->slack)), more = mf_set((mf_real)(1.0 + 1e-5));
    for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES) {
        // A little farther than it was: it has moved since.
        mf_lane limit = mf_sqrt(mf_load((const mf_real *)all->limit2 + first + lane));
        limit = limit * mf_set((mf_real)1.02);
        mf_lane keep = (limit + slack) * more;
        mf_store(enough2 + lane, limit * limit);
        mf_store(keep2 + lane, keep * keep);
    }
}

static void sift_sixteen(Sift *sift, const mf_NeighborQuery *query, uint32_t first) {
    const mf_Neighbors *all = sift->all;
    const uint32_t block = first % MF_NEIGHBOR_CHUNK / MF_BLOCK;
    const int32_t nobody = (int32_t)all->slot_count;
    mf_NeighborRows *edge = &sift->chunk->edge, *front = &sift->chunk->front;
    MF_ALIGNED(64) mf_real enough2[MF_BLOCK], keep2[MF_BLOCK];
    Columns columns = {{0}, {0}};
    edge->start[block] = edge->capacity - sift->edge_capacity;
    front->start[block] = front->capacity - sift->front_capacity;
    sift->edge_rows = edge->slots + (size_t)edge->start[block] * MF_BLOCK;
    sift->front_rows = front->slots + (size_t)front->start[block] * MF_BLOCK;
    if (sift->front)
        expect_nearest(all, first, enough2, keep2);
    for (uint32_t lane = 0; lane < MF_BLOCK && first + lane < all->live_count; lane++) {
        const mf_real far = (mf_real)__builtin_inf();
        bool known = sift->front && !query->in_view && keep2[lane] < sift->outer2;
        if (!known ||
            sift_slot(sift, &columns, first + lane, enough2[lane], keep2[lane]) < query->nearest)
            sift_slot(sift, &columns, first + lane, far, far);
    }
    if (sift->full)
        return;
    edge->count[block] = even_out(sift->edge_rows, columns.edge, nobody);
    front->count[block] = even_out(sift->front_rows, columns.front, nobody);
    if (sift->front)
        order_by_agent(all, sift->front_rows, front->count[block]);
    sift->edge_capacity -= edge->count[block];
    sift->front_capacity -= front->count[block];
}

static void sift_chunk(const mf_Neighbors *all, uint32_t index, const mf_NeighborQuery *query) {
    mf_NeighborChunk *chunk = &all->chunks[index];
    const double inner = (query->radius - all->slack) * (1.0 - 1e-5);
    const double outer = (query->radius + all->slack) * (1.0 + 1e-5);
    Sift sift = {.all = all,
                 .chunk = chunk,
                 .edge = !query->in_view || query->nearest == 0,
                 .front = query->nearest > 0,
                 .edge_capacity = chunk->edge.capacity,
                 .front_capacity = chunk->front.capacity,
                 .inner2 = query->in_view || inner <= 0.0 ? (mf_real)-1 : (mf_real)(inner * inner),
                 .outer2 = (mf_real)(outer * outer)};
    uint32_t first = index * MF_NEIGHBOR_CHUNK, last = first + MF_NEIGHBOR_CHUNK;
    for (uint32_t slot = first; slot < last && !sift.full; slot += MF_BLOCK)
        if (slot < all->live_count)
            sift_sixteen(&sift, query, slot);
    chunk->rows_full = sift.full;
    chunk->query = *query;
    chunk->detect_sift = all->sifts;
}

static bool is_sifted(const mf_Neighbors *all, const mf_NeighborChunk *chunk,
                      const mf_NeighborQuery *query) {
    const mf_NeighborQuery *known = &chunk->query;
    return chunk->detect_sift == all->sifts && known->nearest == query->nearest &&
           known->in_view == query->in_view && !(known->radius < query->radius) &&
           !(query->radius < known->radius);
}

// ---- measuring ----------------------------------------------------------------------------------

static MF_INLINE void detect_from(Detection *detection, uint32_t slot) {
    const mf_Neighbors *all = detection->all;
    const void *position[3] = {all->x, all->y, all->z};
    for (int c = 0; c < 3; c++) {
        detection->own[c] = mf_load((const mf_real *)position[c] + slot);
        if (detection->in_view)
            detection->facing[c] = mf_load((const mf_real *)all->facing[c] + slot);
    }
}

static MF_INLINE mf_index count_rows(const Detection *detection, const int32_t *rows,
                                     uint32_t count) {
    mf_index total = mf_set_index(0);
    for (uint32_t row = 0; row < count; row++) {
        mf_lane d2;
        mf_mask seen = detect_one(detection, mf_load_index(rows + (size_t)row * MF_BLOCK), &d2);
        total = total + mf_ones_where(seen);
    }
    return total;
}

// The nearest of each lane so far, nearest first.
typedef struct Front {
    mf_lane d2[MF_NEIGHBOR_NEAREST];
    mf_index slot[MF_NEIGHBOR_NEAREST];
} Front;

// Returns how many are seen.
static MF_INLINE mf_index find_front(const Detection *detection, const int32_t *rows,
                                     uint32_t count, Front *front) {
    const mf_lane far = mf_set((mf_real)__builtin_inf());
    mf_index total = mf_set_index(0);
    for (uint32_t m = 0; m < detection->nearest; m++) {
        front->d2[m] = far;
        front->slot[m] = mf_set_index((int32_t)detection->all->slot_count);
    }
    for (uint32_t row = 0; row < count; row++) {
        mf_index slot = mf_load_index(rows + (size_t)row * MF_BLOCK);
        mf_lane d2;
        mf_mask seen = detect_one(detection, slot, &d2);
        total = total + mf_ones_where(seen);
        d2 = mf_select(seen, d2, far);
        mf_lane moved = d2;
        for (uint32_t m = 0; m < detection->nearest; m++) {
            mf_lane clamped = front->d2[m];
            mf_index holder = front->slot[m];
            // Whoever is behind the new one moves back, ties and all.
            mf_mask nearer = mf_less(d2, clamped);
            front->d2[m] = mf_select(nearer, moved, clamped);
            front->slot[m] = mf_select_index(nearer, slot, holder);
            moved = mf_select(nearer, clamped, moved);
            slot = mf_select_index(nearer, holder, slot);
        }
    }
    return total;
}

static MF_INLINE void detect_lanes(Detection *detection, const mf_NeighborChunk *chunk,
                                   uint32_t slot, const mf_NeighborAnswer *answer) {
    const mf_Neighbors *all = detection->all;
    const uint32_t nearest = detection->nearest, lane = slot % MF_BLOCK;
    const uint32_t block = slot % MF_NEIGHBOR_CHUNK / MF_BLOCK;
    const mf_NeighborRows *edge = &chunk->edge, *front = &chunk->front;
    mf_index total = mf_load_index(all->within + slot);
    detect_from(detection, slot);
    if (nearest > 0) {
        Front found;
        mf_index seen =
            find_front(detection, front->slots + (size_t)front->start[block] * MF_BLOCK + lane,
                       front->count[block], &found);
        if (detection->in_view)
            total = total + seen;
        mf_store((mf_real *)all->limit2 + slot, found.d2[nearest - 1]);
        int32_t *index = answer->index + (size_t)(slot - lane) * nearest + lane;
        for (uint32_t m = 0; m < nearest; m++)
            mf_store_index(index + (size_t)m * MF_BLOCK, found.slot[m]);
    }
    if (nearest == 0 || !detection->in_view)
        total = total + count_rows(detection,
                                   edge->slots + (size_t)edge->start[block] * MF_BLOCK + lane,
                                   edge->count[block]);
    // Who has died since the lists were built is nowhere, at NaN.
    mf_mask alive = mf_less_equal(detection->own[0], detection->own[0]);
    mf_store_index((int32_t *)answer->count + slot,
                   mf_select_index(alive, total, mf_set_index(-1)));
}

// ---- searching the cells ------------------------------------------------------------------------

enum { MOST_HITS = 256 }; // [1] that are kept before the nearest are picked

typedef struct Hits {
    uint32_t total; // [1] all that were found
    uint32_t count; // [1] those kept below
    MF_ALIGNED(64) mf_real d2[MOST_HITS + 4 * MF_NEIGHBOR_PAD];
    MF_ALIGNED(64) int32_t slot[MOST_HITS + 4 * MF_NEIGHBOR_PAD];
    MF_ALIGNED(64) int32_t rank[MOST_HITS + 4 * MF_NEIGHBOR_PAD];
    MF_ALIGNED(64) int32_t order[MOST_HITS + 4 * MF_NEIGHBOR_PAD]; // place in the list by rank
} Hits;

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
static void rank_ties(const mf_Neighbors *all, Hits *hits) {
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
static MF_INLINE void sort_hits(const mf_Neighbors *all, Hits *hits) {
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
static void thin_out(const mf_Neighbors *all, Hits *hits, uint32_t nearest) {
    mf_real d2[MF_NEIGHBOR_NEAREST];
    int32_t slot[MF_NEIGHBOR_NEAREST];
    sort_hits(all, hits);
    hits->count = hits->count < nearest ? hits->count : nearest;
    for (uint32_t m = 0; m < hits->count; m++) {
        d2[m] = hits->d2[hits->order[m]];
        slot[m] = hits->slot[hits->order[m]];
    }
    memcpy(hits->d2, d2, hits->count * sizeof *d2);
    memcpy(hits->slot, slot, hits->count * sizeof *slot);
}

static void detect_from_cells(const Detection *detection, Hits *hits, const Runs *runs,
                              uint32_t slot) {
    hits->total = hits->count = 0;
    for (int r = 0; r < 9; r++)
        for (uint32_t j = runs->begin[r]; j < runs->end[r]; j += MF_LANES) {
            mf_index other = mf_lane_numbers() + mf_set_index((int32_t)j);
            mf_mask valid = mf_and(mf_index_less(other, mf_set_index((int32_t)runs->end[r])),
                                   mf_not(mf_index_equal(other, mf_set_index((int32_t)slot))));
            mf_lane d2;
            mf_mask seen = mf_and(valid, detect_one(detection, other, &d2));
            hits->total += mf_count_lanes(seen);
            mf_append_lane(hits->d2 + hits->count, seen, d2);
            hits->count += mf_append_index(hits->slot + hits->count, seen, other);
            if (hits->count > MOST_HITS - MF_LANES)
                thin_out(detection->all, hits, detection->nearest);
        }
}

static void detect_in_cells(Detection *detection, uint32_t first, uint32_t last,
                            const mf_NeighborAnswer *answer) {
    const mf_Neighbors *all = detection->all;
    const void *position[3] = {all->x, all->y, all->z};
    const uint32_t nearest = detection->nearest;
    Runs runs;
    Hits hits;
    runs_start(&runs, all, first);
    for (uint32_t slot = first; slot < last; slot++) {
        answer->count[slot] = UINT32_MAX;
        if (((const mf_real *)all->x)[slot] != ((const mf_real *)all->x)[slot])
            continue; // has died since the lists were built
        for (int c = 0; c < 3; c++) {
            detection->own[c] = mf_set(((const mf_real *)position[c])[slot]);
            if (detection->in_view)
                detection->facing[c] = mf_set(((const mf_real *)all->facing[c])[slot]);
        }
        runs_advance(&runs, slot);
        detect_from_cells(detection, &hits, &runs, slot);
        if (hits.count > 0)
            sort_hits(all, &hits);
        answer->count[slot] = hits.total;
        int32_t *index =
            answer->index + (size_t)(slot - slot % MF_BLOCK) * nearest + slot % MF_BLOCK;
        for (uint32_t m = 0; m < nearest; m++)
            index[(size_t)m * MF_BLOCK] =
                m < hits.count ? hits.slot[hits.order[m]] : (int32_t)all->slot_count;
    }
}

void MF_KERNEL(mf_neighbors_detect)(const mf_Neighbors *all, uint32_t index,
                                    const mf_NeighborQuery *query,
                                    const mf_NeighborAnswer *answer) {
    const mf_NeighborChunk *chunk = &all->chunks[index];
    uint32_t first = index * MF_NEIGHBOR_CHUNK, last = first + MF_NEIGHBOR_CHUNK;
    if (last > all->live_count)
        last = all->live_count;
    mf_real radius = (mf_real)query->radius;
    Detection detection = {.all = all,
                           .nearest = query->nearest,
                           .in_view = query->in_view,
                           .radius2 = mf_set(radius * radius),
                           .cosine = mf_set((mf_real)query->view_cosine)};
    if (!chunk->full && !is_sifted(all, chunk, query))
        sift_chunk(all, index, query);
    if (chunk->full || chunk->rows_full)
        detect_in_cells(&detection, first, last, answer);
    else
        for (uint32_t slot = first; slot < last; slot += MF_LANES)
            detect_lanes(&detection, chunk, slot, answer);
}

// ---- delivering ---------------------------------------------------------------------------------

static MF_INLINE void write_index(mf_mask mask, uint32_t *data, mf_index value) {
    int32_t *to = (int32_t *)data;
    mf_store_index(to, mf_select_index(mask, value, mf_load_index(to)));
}

// Positions and velocities of one neighbor of each lane, less the own.
static MF_INLINE void deliver_relative(const mf_Neighbors *all, const mf_NeighborOutput *to,
                                       size_t at, bool same, mf_mask valid, const mf_lane own[6],
                                       mf_index other) {
    const mf_index step = mf_set_index(1);
    mf_mask some = mf_index_less(other, mf_set_index((int32_t)all->slot_count));
    mf_index from = other << 3;
    for (size_t c = 0; c < 6; c++) {
        mf_lane value = mf_keep(some, mf_gather((const mf_real *)all->motion, from) - own[c]);
        write_where(valid, c < 3 ? to->position : to->velocity, at + c % 3 * MF_BLOCK, same, value);
        from = from + (c == 2 ? step + step : step);
    }
}

static MF_INLINE void deliver_lanes(const mf_Neighbors *all, const mf_NeighborQuery *query,
                                    const mf_NeighborAnswer *answer, const mf_NeighborOutput *to,
                                    const mf_NeighborGroup *group, size_t block, uint32_t lane) {
    const bool same = group->double_precision == own_is_double;
    const uint32_t nearest = answer->nearest;
    mf_index slot = mf_load_index(all->slot_of + (group->first_block + block) * MF_BLOCK + lane);
    mf_index total = mf_gather_index((const int32_t *)answer->count, slot);
    mf_mask valid = mf_and(mf_index_less(slot, mf_set_index((int32_t)all->live_count)),
                           mf_not(mf_index_equal(total, mf_set_index(-1))));
    write_index(valid, to->count + block * MF_BLOCK + lane, total);
    mf_lane own[6];
    for (int c = 0; c < 6; c++)
        own[c] = query->relative ? mf_gather((const mf_real *)all->motion,
                                             (slot << 3) + mf_set_index(c < 3 ? c : c + 1))
                                 : mf_zero();
    const mf_index low = mf_set_index(MF_BLOCK - 1);
    mf_index from = (slot & ~low) * mf_set_index((int32_t)nearest) + (slot & low);
    for (uint32_t m = 0; m < nearest; m++) {
        mf_index other = mf_gather_index(answer->index, from);
        size_t row = block * nearest + m;
        from = from + mf_set_index(MF_BLOCK);
        write_index(valid, to->index + row * MF_BLOCK + lane,
                    mf_gather_index(all->agent_of, other));
        if (query->relative)
            deliver_relative(all, to, row * 3 * MF_BLOCK + lane, same, valid, own, other);
    }
}

void MF_KERNEL(mf_neighbors_deliver)(const mf_Neighbors *all, const mf_NeighborQuery *query,
                                     const mf_NeighborAnswer *answer,
                                     const mf_NeighborOutput *output, uint32_t group,
                                     uint32_t first_block, uint32_t block_count) {
    for (uint32_t block = first_block; block < first_block + block_count; block++)
        for (uint32_t lane = 0; lane < MF_BLOCK; lane += MF_LANES)
            deliver_lanes(all, query, answer, output, &all->groups[group], block, lane);
}
