// Which docks are near each other: their poses, in a grid of cubic cells; of those that may dock
// the pairs that meet.
//
// Invariants: sites are in the order of ports; pairs are sorted by distance, then by ports; so
// nothing depends on threads or cells. Nothing is allocated.
#include "solve/modules/docks.h"
#include "model/mounted.h"
#include "base/context.h"
#include "base/sort.h"
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

void mf_dock_find_pose(mf_DockSite *site, const double *motions) {
    const mf_Frame *frame = &site->dock->frame;
    mf_LinkMotion motion;
    mf_link_motion(&motion, motions, site->instance % MF_BLOCK, frame->link, true);
    mf_link_point(&motion, frame->position, site->position, NULL);
    mf_quat_multiply(site->orientation, motion.orientation, frame->rotation);
}

static void list_block(void *user, uint32_t index) {
    const mf_WorldDocks *docks = user;
    const mf_DockBlock *block = &docks->blocks[index];
    const mf_DockGroup *group = block->group;
    if (block->first_site == block->site_end)
        return;
    const uint32_t left = group->robots - block->block * MF_BLOCK;
    const mf_LinkChoice choice = {.links = group->links,
                                  .count = group->link_count,
                                  .end = left < MF_BLOCK ? left : MF_BLOCK};
    double *motions = group->motions + block->block * group->motion_size;
    mf_link_motions_find(&trial_of(group)->links, block->block, &choice, motions);
    for (uint32_t i = block->first_site; i < block->site_end; i++)
        mf_dock_find_pose(&docks->sites[i], motions);
}

static void add_sites(mf_WorldDocks *docks, mf_DockBlock *block, mf_DockFilterFn takes) {
    mf_DockGroup *group = block->group;
    const uint32_t first = block->block * MF_BLOCK, count = group->model->dock_count;
    block->first_site = docks->site_count;
    for (uint32_t i = first; i < first + MF_BLOCK && i < group->robots; i++)
        for (uint32_t d = 0; d < count && group->fault[i] == 0; d++) {
            if (!takes(group, i, d))
                continue;
            docks->sites[docks->site_count++] = (mf_DockSite){.port = group->first + i * count + d,
                                                              .group = group,
                                                              .instance = i,
                                                              .dock = &group->model->docks[d]};
        }
    block->site_end = docks->site_count;
}

void mf_docks_find_sites(mf_WorldDocks *docks, mf_DockFilterFn takes) {
    docks->site_count = 0;
    for (uint32_t b = 0; b < docks->block_count; b++)
        add_sites(docks, &docks->blocks[b], takes);
    mf_parallel_for(docks->context, docks->block_count, list_block, docks);
}

// ---- cells --------------------------------------------------------------------------------------

// Cells are several times as wide as docks reach, so that most docks have to look into one only.
static const double cells_wide = 8.0; // [1]
static const double farthest = 1e6;   // [m] docks beyond it are near nobody

static bool is_inside(const mf_DockSite *site) {
    const double *p = site->position;
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
    for (uint32_t i = 0; i < docks->site_count; i++) {
        mf_DockSite *site = &docks->sites[i];
        for (uint32_t c = 0; c < 3 && is_inside(site); c++)
            site->cell[c] = (int64_t)mf_floor(site->position[c] / docks->cell);
        if (is_inside(site))
            buckets[bucket_of(docks, site->cell)]++;
    }
    for (uint32_t i = 1; i <= docks->bucket_count; i++)
        buckets[i] += buckets[i - 1];
    for (uint32_t i = docks->site_count; i-- > 0;)
        if (is_inside(&docks->sites[i]))
            docks->sorted[--buckets[bucket_of(docks, docks->sites[i].cell)]] = i;
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
        const int64_t *own = docks->sites[other].cell; // others may share the bucket
        if (other > index && own[0] == cell[0] && own[1] == cell[1] && own[2] == cell[2])
            visit->visit(docks, index, other, visit->user);
    }
}

// The cells that the ball about a dock touches.
static void visit_around(const Visit *visit, uint32_t index) {
    const mf_DockSite *site = &visit->docks->sites[index];
    const double size = visit->docks->cell, part = visit->reach / size;
    int64_t low[3], high[3], cell[3];
    for (uint32_t c = 0; c < 3; c++) {
        const double in = site->position[c] / size - (double)site->cell[c];
        low[c] = site->cell[c] - (in < part);
        high[c] = site->cell[c] + (in > 1.0 - part);
    }
    for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
                visit_cell(visit, index, cell);
}

void mf_docks_visit_near(mf_WorldDocks *docks, double reach, mf_DockPairFn visit, void *user) {
    const Visit all = {docks, reach * 1.000001, visit, user}; // rounding loses no pair
    if (docks->site_count < 2)
        return;
    docks->cell = cells_wide * reach;
    sort_into_cells(docks);
    for (uint32_t i = 0; i < docks->site_count; i++)
        if (is_inside(&docks->sites[i]))
            visit_around(&all, i);
}

// ---- pairs --------------------------------------------------------------------------------------

// Finds the nearest orientation in which two docks fit. Returns how far they are from it [rad].
static double find_orientation(const mf_DockSite *a, const mf_DockSite *b, uint32_t *orientation) {
    const uint32_t orientations = mf_dock_orientations(a->dock, b->dock);
    double best = 10.0;
    for (uint32_t k = 0; k < orientations; k++) {
        double facing[4], target[4], back[4], error[4];
        mf_dock_facing(facing, k, orientations);
        mf_quat_multiply(target, a->orientation, facing);
        mf_quat_conjugate(back, target);
        mf_quat_multiply(error, back, b->orientation);
        const double angle = 2.0 * mf_atan2(mf_vec3_length(error + 1), mf_abs(error[0]));
        if (angle < best) {
            best = angle;
            *orientation = k;
        }
    }
    return best;
}

static bool closes_already(const mf_DockSite *a, const mf_DockSite *b) {
    const uint32_t dock = mf_dock_number(a), other = mf_dock_number(b);
    const uint32_t *partner = a->group->partner;
    return a->group->state[mf_dock_at(a->group, a->instance, dock, 1, 0)] == MF_DOCK_CLOSING &&
           partner[mf_dock_at(a->group, a->instance, dock, 3, 0)] == b->group->index &&
           partner[mf_dock_at(a->group, a->instance, dock, 3, 1)] == b->instance &&
           partner[mf_dock_at(a->group, a->instance, dock, 3, 2)] == other;
}

static void examine(mf_WorldDocks *docks, uint32_t first, uint32_t second, void *user) {
    const mf_DockSite *a = &docks->sites[first], *b = &docks->sites[second];
    const mf_Dock *x = a->dock, *y = b->dock;
    double offset[3];
    (void)user;
    mf_vec3_sub(offset, b->position, a->position);
    const double square = mf_vec3_dot(offset, offset);
    const double touch = mf_smaller(y->distance, x->distance);
    const double pull = mf_smaller(y->pull, x->pull) > 0.0 ? mf_smaller(y->range, x->range) : 0.0;
    const double most = touch > pull ? touch : pull;
    if (square > most * most || !mf_dock_fits(x, y) ||
        (a->group == b->group && a->instance == b->instance && x->frame.link == y->frame.link))
        return;
    mf_DockPair pair = {.square = square, .sites = {first, second}};
    const double angle = find_orientation(a, b, &pair.orientation);
    pair.aligned = square <= touch * touch && angle <= mf_smaller(y->angle, x->angle);
    if (pair.aligned && closes_already(a, b))
        pair.square = -1.0; // it goes on before nearer ones begin
    if (!pair.aligned && !(pull > 0.0))
        return;
    if (docks->pair_count == MF_DOCKS_PAIRS * docks->port_count)
        docks->statistics.lost++;
    else
        docks->pairs[docks->pair_count++] = pair;
}

static bool comes_before(const void *first, const void *second) {
    const mf_DockPair *a = first, *b = second;
    if (a->square < b->square || a->square > b->square)
        return a->square < b->square;
    return a->sites[0] != b->sites[0] ? a->sites[0] < b->sites[0] : a->sites[1] < b->sites[1];
}

void mf_docks_find_near(mf_WorldDocks *docks) {
    docks->pair_count = 0;
    mf_docks_find_sites(docks, may_dock);
    mf_docks_visit_near(docks, docks->reach, examine, NULL);
    mf_heap_sort(docks->pairs, docks->pair_count, sizeof *docks->pairs, comes_before);
}
