// Which docks are near each other: their poses, in a grid of cubic cells; of those that may dock
// the pairs that meet.
//
// Invariants: places are in the order of ports; pairs are sorted by distance, then by ports; so
// nothing depends on threads or cells. Nothing is allocated.
#include "dynamics/docks.h"
#include "math/float_mode.h"
#include "math/scalar.h"

// ---- poses --------------------------------------------------------------------------------------

static bool may_dock(const mf_DockGroup *group, uint32_t instance, uint32_t dock) {
    const size_t at = mf_dock_at(group, instance, dock, 1, 0);
    return group->enabled[at] != 0 && group->state[at] != MF_DOCK_ENGAGED &&
           group->state[at] != MF_DOCK_BROKEN;
}

static const mf_TrialStep *trial_of(const mf_DockGroup *group) {
    return group->docks->joints->solver->trials[group->index];
}

static void place(mf_DockPlace *place) {
    const mf_DockGroup *group = place->group;
    const mf_Frame *frame = &place->dock->frame;
    mf_LinkMotion motion;
    mf_link_motion(&motion, group->motions + place->instance / MF_BLOCK * group->motion_size,
                   place->instance % MF_BLOCK, frame->link, true);
    mf_link_point(&motion, frame->position, place->position, NULL);
    mf_quat_multiply(place->orientation, motion.orientation, frame->rotation);
}

static void place_block(void *user, uint32_t index) {
    const mf_WorldDocks *docks = user;
    const mf_DockBlock *block = &docks->blocks[index];
    const mf_DockGroup *group = block->group;
    if (block->first_place == block->place_end)
        return;
    const uint32_t left = group->robots - block->block * MF_BLOCK;
    const mf_LinkChoice choice = {.links = group->links,
                                  .count = group->link_count,
                                  .end = left < MF_BLOCK ? left : MF_BLOCK};
    const unsigned mode = mf_float_mode_enter();
    mf_link_motions_find(&trial_of(group)->links, block->block, &choice,
                         group->motions + block->block * group->motion_size);
    for (uint32_t i = block->first_place; i < block->place_end; i++)
        place(&docks->places[i]);
    mf_float_mode_leave(mode);
}

static void add_places(mf_WorldDocks *docks, mf_DockBlock *block, mf_DockFilterFn takes) {
    mf_DockGroup *group = block->group;
    const uint32_t first = block->block * MF_BLOCK, count = group->model->dock_count;
    block->first_place = docks->place_count;
    for (uint32_t i = first; i < first + MF_BLOCK && i < group->robots; i++)
        for (uint32_t d = 0; d < count && group->fault[i] == 0; d++) {
            if (!takes(group, i, d))
                continue;
            docks->places[docks->place_count++] =
                (mf_DockPlace){.port = group->first + i * count + d,
                               .group = group,
                               .instance = i,
                               .dock = &group->model->docks[d]};
        }
    block->place_end = docks->place_count;
}

void mf_docks_find_places(mf_WorldDocks *docks, mf_DockFilterFn takes) {
    docks->place_count = 0;
    for (uint32_t b = 0; b < docks->block_count; b++)
        add_places(docks, &docks->blocks[b], takes);
    if (docks->block_count > 1 && mf_context_threads(docks->context) > 1)
        mf_parallel_for(docks->context, docks->block_count, place_block, docks);
    else
        for (uint32_t b = 0; b < docks->block_count; b++)
            place_block(docks, b);
}

// ---- cells --------------------------------------------------------------------------------------

// Cells are several times as wide as docks reach, so that most docks have to look into one only.
static const double cells_wide = 8.0; // [1]
static const double farthest = 1e6;   // [m] docks beyond it are near nobody

static bool is_inside(const mf_DockPlace *place) {
    const double *p = place->position;
    return mf_abs(p[0]) < farthest && mf_abs(p[1]) < farthest && mf_abs(p[2]) < farthest;
}

static uint32_t bucket_of(const mf_WorldDocks *docks, const int64_t cell[3]) {
    const uint64_t hash = (uint64_t)cell[0] * UINT64_C(0x9e3779b97f4a7c15) ^
                          (uint64_t)cell[1] * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                          (uint64_t)cell[2] * UINT64_C(0x165667b19e3779f9);
    return (uint32_t)(hash >> 32) & (docks->bucket_count - 1);
}

static void sort_into_cells(mf_WorldDocks *docks) {
    uint32_t *buckets = docks->buckets;
    for (uint32_t i = 0; i <= docks->bucket_count; i++)
        buckets[i] = 0;
    for (uint32_t i = 0; i < docks->place_count; i++) {
        mf_DockPlace *place = &docks->places[i];
        for (uint32_t c = 0; c < 3 && is_inside(place); c++)
            place->cell[c] = (int64_t)mf_floor(place->position[c] / docks->cell);
        if (is_inside(place))
            buckets[bucket_of(docks, place->cell)]++;
    }
    for (uint32_t i = 1; i <= docks->bucket_count; i++)
        buckets[i] += buckets[i - 1];
    for (uint32_t i = docks->place_count; i-- > 0;)
        if (is_inside(&docks->places[i]))
            docks->sorted[--buckets[bucket_of(docks, docks->places[i].cell)]] = i;
}

typedef struct Visit {
    mf_WorldDocks *docks;
    double reach; // [m]
    mf_DockPairFn visit;
    void *user;
} Visit;

static void visit_cell(const Visit *visit, uint32_t index, const int64_t cell[3]) {
    mf_WorldDocks *docks = visit->docks;
    const uint32_t bucket = bucket_of(docks, cell);
    for (uint32_t i = docks->buckets[bucket]; i < docks->buckets[bucket + 1]; i++) {
        const uint32_t other = docks->sorted[i];
        const int64_t *own = docks->places[other].cell; // others may share the bucket
        if (other > index && own[0] == cell[0] && own[1] == cell[1] && own[2] == cell[2])
            visit->visit(docks, index, other, visit->user);
    }
}

// The cells that the ball about a dock touches.
static void visit_around(const Visit *visit, uint32_t index) {
    const mf_DockPlace *place = &visit->docks->places[index];
    const double size = visit->docks->cell, part = visit->reach / size;
    int64_t low[3], high[3], cell[3];
    for (uint32_t c = 0; c < 3; c++) {
        const double in = place->position[c] / size - (double)place->cell[c];
        low[c] = place->cell[c] - (in < part);
        high[c] = place->cell[c] + (in > 1.0 - part);
    }
    for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
                visit_cell(visit, index, cell);
}

void mf_docks_visit_near(mf_WorldDocks *docks, double reach, mf_DockPairFn visit, void *user) {
    const Visit all = {docks, reach * 1.000001, visit, user}; // rounding loses no pair
    if (docks->place_count < 2)
        return;
    docks->cell = cells_wide * reach;
    sort_into_cells(docks);
    for (uint32_t i = 0; i < docks->place_count; i++)
        if (is_inside(&docks->places[i]))
            visit_around(&all, i);
}

// ---- pairs --------------------------------------------------------------------------------------

static double smaller(double a, double b) {
    return a < b ? a : b;
}

// Finds the nearest orientation in which two docks fit. Returns how far they are from it [rad].
static double find_turn(const mf_DockPlace *a, const mf_DockPlace *b, uint32_t *turn) {
    const uint32_t turns = a->dock->turns < b->dock->turns ? a->dock->turns : b->dock->turns;
    double best = 10.0;
    for (uint32_t k = 0; k < turns; k++) {
        double facing[4], wanted[4], back[4], error[4];
        mf_dock_facing(facing, k, turns);
        mf_quat_multiply(wanted, a->orientation, facing);
        mf_quat_conjugate(back, wanted);
        mf_quat_multiply(error, back, b->orientation);
        const double angle = 2.0 * mf_atan2(mf_vec3_length(error + 1), mf_abs(error[0]));
        if (angle < best) {
            best = angle;
            *turn = k;
        }
    }
    return best;
}

static bool closes_already(const mf_DockPlace *a, const mf_DockPlace *b) {
    const uint32_t dock = (uint32_t)(a->dock - a->group->model->docks);
    const uint32_t *partner = a->group->partner;
    const uint32_t other = (uint32_t)(b->dock - b->group->model->docks);
    return a->group->state[mf_dock_at(a->group, a->instance, dock, 1, 0)] == MF_DOCK_CLOSING &&
           partner[mf_dock_at(a->group, a->instance, dock, 3, 0)] == b->group->index &&
           partner[mf_dock_at(a->group, a->instance, dock, 3, 1)] == b->instance &&
           partner[mf_dock_at(a->group, a->instance, dock, 3, 2)] == other;
}

static void examine(mf_WorldDocks *docks, uint32_t first, uint32_t second, void *user) {
    const mf_DockPlace *a = &docks->places[first], *b = &docks->places[second];
    const mf_Dock *x = a->dock, *y = b->dock;
    double way[3];
    (void)user;
    mf_vec3_sub(way, b->position, a->position);
    const double square = mf_vec3_dot(way, way);
    const double touch = smaller(x->distance, y->distance);
    const double pull = smaller(x->pull, y->pull) > 0.0 ? smaller(x->range, y->range) : 0.0;
    const double most = touch > pull ? touch : pull;
    if (square > most * most || !mf_dock_fits(x, y) ||
        (a->group == b->group && a->instance == b->instance && x->frame.link == y->frame.link))
        return;
    mf_DockPair pair = {.square = square, .places = {first, second}};
    const double angle = find_turn(a, b, &pair.turn);
    pair.meets = square <= touch * touch && angle <= smaller(x->angle, y->angle);
    if (pair.meets && closes_already(a, b))
        pair.square = -1.0; // it goes on before nearer ones begin
    if (!pair.meets && !(pull > 0.0))
        return;
    if (docks->pair_count == MF_DOCKS_PAIRS * docks->port_count)
        docks->statistics.lost++;
    else
        docks->pairs[docks->pair_count++] = pair;
}

static bool comes_before(const mf_DockPair *a, const mf_DockPair *b) {
    if (a->square < b->square || a->square > b->square)
        return a->square < b->square;
    return a->places[0] != b->places[0] ? a->places[0] < b->places[0] : a->places[1] < b->places[1];
}

static void sift_down(mf_DockPair *heap, uint32_t root, uint32_t count) {
    for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
        child += child + 1 < count && comes_before(&heap[child], &heap[child + 1]);
        if (!comes_before(&heap[root], &heap[child]))
            return;
        const mf_DockPair keep = heap[root];
        heap[root] = heap[child];
        heap[child] = keep;
    }
}

static void sort_pairs(mf_DockPair *pairs, uint32_t count) {
    for (uint32_t root = count / 2; root-- > 0;)
        sift_down(pairs, root, count);
    for (uint32_t left = count; left-- > 1;) {
        const mf_DockPair keep = pairs[0];
        pairs[0] = pairs[left];
        pairs[left] = keep;
        sift_down(pairs, 0, left);
    }
}

void mf_docks_find_near(mf_WorldDocks *docks) {
    docks->pair_count = 0;
    mf_docks_find_places(docks, may_dock);
    mf_docks_visit_near(docks, docks->reach, examine, NULL);
    sort_pairs(docks->pairs, docks->pair_count);
}
