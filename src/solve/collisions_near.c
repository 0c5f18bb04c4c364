// Broad phase of robots: bounding spheres about their bases, which contain all their solids for any
// joint angles, in a grid of square cells; static solids by their trees. The list is valid until a
// robot has moved by half the margin; it only selects candidates, so results do not depend on the
// time of its creation. Likewise for pairs that were found to be apart: a robot accumulates how far
// any point of it can have moved against its base, and a pair is skipped while the sum of both and
// what the way between their bases has changed are less than its gap.
#include "base/sort.h"
#include "motion/table.h"
#include "solve/collisions.h"
#include "world/attach.h"
#include "math/scalar.h"

// Positions beyond this [m] are outside of every grid; robots there do not collide.
static const double farthest = 1e6;

static double square_apart(const double a[3], const double b[3]) {
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

// ---- where everybody is -------------------------------------------------------------------------

static bool has_moved(const mf_Collisions *all, uint32_t robot, double bound) {
    if (!all->present[robot])
        return false;
    return !all->was_present[robot] ||
           !(square_apart(all->position[robot], all->search_position[robot]) <= bound);
}

// Of one block of `robots` robots.
static void load_positions(mf_Collisions *all, const mf_CollisionGroup *group, uint32_t first,
                           uint32_t robots) {
    const size_t at = (size_t)(first / MF_BLOCK) * 3 * MF_BLOCK;
    double(*to)[3] = all->position + group->first + first;
    const float *narrow = (const float *)group->position->data + at;
    const double *wide = (const double *)group->position->data + at;
    for (uint32_t i = 0; i < robots; i++)
        for (size_t c = 0; c < 3; c++)
            to[i][c] = group->wide ? wide[c * MF_BLOCK + i] : (double)narrow[c * MF_BLOCK + i];
}

// True when a robot of the group has moved from its position at the last search.
static bool load_group(mf_Collisions *all, const mf_CollisionGroup *group) {
    const double bound = group->is_still ? 0.0 : 0.25 * all->margin * all->margin;
    const uint32_t *fault = group->fault->data;
    const uint32_t *level = group->level != NULL ? group->level->data : NULL;
    const bool any = group->compound->root != MF_NONE;
    bool moved = false;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t robot = group->first + i;
        if (i % MF_BLOCK == 0)
            load_positions(all, group, i,
                           group->count - i < MF_BLOCK ? group->count - i : MF_BLOCK);
        const double *position = all->position[robot];
        const double size = mf_abs(position[0]) + mf_abs(position[1]) + mf_abs(position[2]);
        all->present[robot] = fault[i] == 0 && size < farthest && any;
        all->immovable[robot] =
            !group->takes_wrenches || (level != NULL && !mf_motion_responds((mf_Motion)level[i]));
        moved = has_moved(all, robot, bound) || moved;
        for (uint32_t c = 0; group->is_still && c < 4; c++) {
            const double value = mf_field_get(group->orientation, i, c);
            moved = moved || value < all->search_rotation[robot][c] ||
                    value > all->search_rotation[robot][c];
            all->search_rotation[robot][c] = value;
        }
    }
    return moved;
}

// ---- displacements ------------------------------------------------------------------------------

// Well above the rounding errors of positions and of the narrow phase [1], relative to the sizes of
// robots.
static const double doubt = 1e-4;

static void add_displacements(mf_Collisions *all, const mf_CollisionGroup *group, uint32_t block) {
    double drift[MF_BLOCK];
    const mf_TreeState state = mf_tree_state(&group->fields, block);
    all->drift(group->compound, &state, group->drifts + block * group->drifts_stride, drift);
    for (uint32_t i = 0; i < MF_BLOCK && block * MF_BLOCK + i < group->count; i++) {
        // NaN positions are treated as unknown.
        const double distance = drift[i] < farthest ? drift[i] : farthest;
        all->gone[group->first + block * MF_BLOCK + i] += distance;
    }
}

static bool has_displacement(const mf_CollisionGroup *group) {
    return group->is_still || (group->compound->hinged && group->reach < farthest);
}

void mf_collisions_learn(mf_Collisions *all, uint32_t number, double gap) {
    if (number == MF_NONE)
        return;
    const mf_CollisionTwo two = all->near[number];
    const mf_CollisionGroup *a = mf_collisions_group(all, two.a),
                            *b = mf_collisions_group(all, two.b);
    const double least = gap - doubt * (1.0 + a->reach + b->reach);
    if (!has_displacement(a) || !has_displacement(b) || !(least > 0.0))
        return;
    all->until[number] = all->gone[two.a] + all->gone[two.b] + least;
    mf_vec3_sub(all->offsets[number], all->position[two.b], all->position[two.a]);
}

// Whether a near pair cannot have touched since it was found to be apart.
static bool is_apart(const mf_Collisions *all, uint32_t number) {
    const mf_CollisionTwo two = all->near[number];
    const double left = all->until[number] - (all->gone[two.a] + all->gone[two.b]);
    double offset[3];
    if (!(left > 0.0))
        return false;
    mf_vec3_sub(offset, all->position[two.b], all->position[two.a]);
    return square_apart(offset, all->offsets[number]) < left * left;
}

// ---- searching ----------------------------------------------------------------------------------

// Robots without a bounding sphere, and static ones, are in no cell.
static bool in_grid(const mf_CollisionGroup *group) {
    return !group->is_still && group->reach < farthest;
}

static int64_t cell_along(const mf_Collisions *all, uint32_t robot, int axis) {
    return (int64_t)mf_floor(all->position[robot][axis] / all->cell);
}

static uint32_t bucket_of(const mf_Collisions *all, int64_t x, int64_t y) {
    uint64_t hash =
        (uint64_t)x * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)y * UINT64_C(0xc2b2ae3d27d4eb4f);
    return (uint32_t)(hash >> 32) & (all->bucket_count - 1);
}

static void sort_into_cells(mf_Collisions *all) {
    memset(all->buckets, 0, (all->bucket_count + 1) * sizeof *all->buckets);
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t robot = all->robot_count; robot-- > 0;) {
            if (!all->present[robot] || !in_grid(mf_collisions_group(all, robot)))
                continue;
            uint32_t bucket = bucket_of(all, cell_along(all, robot, 0), cell_along(all, robot, 1));
            if (pass == 0)
                all->buckets[bucket]++;
            else
                all->sorted[--all->buckets[bucket]] = robot;
        }
        // After the first pass the end of each bucket; the second pass moves it to the beginning.
        for (uint32_t i = 1; pass == 0 && i <= all->bucket_count; i++)
            all->buckets[i] += all->buckets[i - 1];
    }
}

static void add_near(mf_Collisions *all, uint32_t a, uint32_t b) {
    if (all->near_count == all->capacity) {
        all->lost_pairs++;
        return;
    }
    all->near[all->near_count++] = a < b ? (mf_CollisionTwo){a, b} : (mf_CollisionTwo){b, a};
}

static void search_cell(mf_Collisions *all, uint32_t robot, int64_t x, int64_t y) {
    const double own = mf_collisions_group(all, robot)->reach + all->margin;
    const uint32_t bucket = bucket_of(all, x, y);
    for (uint32_t i = all->buckets[bucket]; i < all->buckets[bucket + 1]; i++) {
        const uint32_t other = all->sorted[i];
        // Distant cells may share a bucket.
        if (other <= robot || cell_along(all, other, 0) != x || cell_along(all, other, 1) != y)
            continue;
        const double sum = own + mf_collisions_group(all, other)->reach;
        if (square_apart(all->position[robot], all->position[other]) < sum * sum)
            add_near(all, robot, other);
    }
}

static void search_grid(mf_Collisions *all, uint32_t robot) {
    const int64_t x = cell_along(all, robot, 0), y = cell_along(all, robot, 1);
    for (int64_t j = y - 1; j <= y + 1; j++)
        for (int64_t i = x - 1; i <= x + 1; i++)
            search_cell(all, robot, i, j);
}

static bool within(const mf_Collisions *all, uint32_t still, uint32_t robot, double more,
                   uint64_t *tests) {
    const mf_CompoundSide side = mf_collisions_side(all, still);
    double position[3];
    mf_vec3_sub(position, all->position[robot], all->position[still]);
    return all->within(&side, position, mf_collisions_group(all, robot)->reach + more, tests);
}

// All robots against those in no cell.
static void search_others(mf_Collisions *all, const mf_CollisionGroup *group) {
    uint64_t tests = 0;
    for (uint32_t i = 0; i < group->count; i++) {
        const uint32_t robot = group->first + i;
        for (uint32_t other = 0; all->present[robot] && other < all->robot_count; other++) {
            const mf_CollisionGroup *of = mf_collisions_group(all, other);
            if (!all->present[other] || of->is_still ||
                (!in_grid(of) && other <= robot && !group->is_still))
                continue;
            if (!group->is_still || within(all, robot, other, all->margin, &tests))
                add_near(all, robot, other);
        }
    }
}

static bool before(const void *a, const void *b) {
    const mf_CollisionTwo *x = a, *y = b;
    return x->a < y->a || (x->a == y->a && x->b < y->b);
}

static void keep_near(mf_Collisions *all, bool known) {
    mf_CollisionTwo *const near = all->near_before;
    double *const until = all->until_before;
    double(*const offsets)[3] = all->displacements_before;
    all->near_before = all->near;
    all->until_before = all->until;
    all->displacements_before = all->offsets;
    all->near = near;
    all->until = until;
    all->offsets = offsets;
    all->before_count = known ? all->near_count : 0;
    if (!known)
        memset(all->gone, 0, all->robot_count * sizeof *all->gone);
    all->near_count = 0;
}

// Gaps that were known at the last search. Of still things nobody knows how they have turned.
static void take_over_gaps(mf_Collisions *all) {
    for (uint32_t i = 0, k = 0; i < all->near_count; i++) {
        const mf_CollisionTwo two = all->near[i];
        while (k < all->before_count && before(&all->near_before[k], &two))
            k++;
        const bool known = k < all->before_count && !before(&two, &all->near_before[k]) &&
                           !mf_collisions_group(all, two.a)->is_still &&
                           !mf_collisions_group(all, two.b)->is_still;
        all->until[i] = known ? all->until_before[k] : -1.0;
        if (known)
            mf_vec3_copy(all->offsets[i], all->displacements_before[k]);
    }
}

static void watch(mf_Collisions *all) {
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_CollisionGroup *group = &all->groups[g];
        memset(group->watched, 0, mf_group_block_count(group->group));
    }
    for (uint32_t i = 0; i < all->near_count; i++) {
        const uint32_t robots[2] = {all->near[i].a, all->near[i].b};
        for (int k = 0; k < 2; k++) {
            const mf_CollisionGroup *group = mf_collisions_group(all, robots[k]);
            const uint32_t block = mf_collisions_instance(group, robots[k]) / MF_BLOCK;
            group->watched[block] = has_displacement(group) && !group->is_still;
        }
    }
}

static void search(mf_Collisions *all) {
    keep_near(all, all->searched);
    all->searched = true;
    all->lost_pairs = 0;
    all->statistics.searches++;
    memcpy(all->search_position, all->position, all->robot_count * sizeof *all->search_position);
    memcpy(all->was_present, all->present, all->robot_count);
    sort_into_cells(all);
    for (uint32_t robot = 0; robot < all->robot_count; robot++)
        if (all->present[robot] && in_grid(mf_collisions_group(all, robot)))
            search_grid(all, robot);
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_CollisionGroup *group = &all->groups[g];
        if (in_grid(group))
            continue;
        for (uint32_t block = 0; group->is_still && block * MF_BLOCK < group->count; block++)
            mf_collisions_refit(all, group, block, MF_ALL_ROBOTS);
        search_others(all, group);
    }
    mf_heap_sort(all->near, all->near_count, sizeof *all->near, before);
    take_over_gaps(all);
    all->fixed_seen = UINT64_MAX;
    watch(all);
}

// ---- the pairs of a step ------------------------------------------------------------------------

static void request_pairs(mf_Collisions *all, uint32_t robot) {
    const mf_CollisionGroup *group = mf_collisions_group(all, robot);
    const uint32_t instance = mf_collisions_instance(group, robot), block = instance / MF_BLOCK;
    if (group->is_still)
        return;
    const bool listed = group->refit[block] != 0;
    group->refit[block] |= (uint16_t)(1u << instance % MF_BLOCK);
    if (!listed)
        all->blocks[all->block_count++] = (mf_CollisionBlock){all->group_of[robot], block};
}

static bool may_touch(mf_Collisions *all, uint32_t number) {
    const mf_CollisionTwo two = all->near[number];
    const mf_CollisionGroup *a = mf_collisions_group(all, two.a),
                            *b = mf_collisions_group(all, two.b);
    if (!all->present[two.a] || !all->present[two.b] ||
        (all->immovable[two.a] && all->immovable[two.b]))
        return false;
    if (a->is_still)
        return within(all, two.a, two.b, 0.0, &all->statistics.bound_tests);
    if (b->is_still)
        return within(all, two.b, two.a, 0.0, &all->statistics.bound_tests);
    const double sum = a->reach + b->reach;
    all->statistics.robot_tests++;
    const double square = square_apart(all->position[two.a], all->position[two.b]);
    if (square < sum * sum)
        return true;
    mf_collisions_learn(all, number, mf_sqrt(square) - sum);
    return false;
}

static void take(mf_Collisions *all, mf_CollisionTwo two, uint32_t number) {
    all->near_of[all->two_count] = number;
    all->twos[all->two_count++] = two;
    request_pairs(all, two.a);
    request_pairs(all, two.b);
}

void mf_collisions_find(mf_Collisions *all) {
    bool moved = !all->searched;
    for (uint32_t g = 0; g < all->group_count; g++)
        moved = load_group(all, &all->groups[g]) || moved;
    if (moved)
        search(all);
    for (uint32_t g = 0; g < all->group_count; g++)
        for (uint32_t block = 0; block < mf_group_block_count(all->groups[g].group); block++)
            if (all->groups[g].watched[block])
                add_displacements(all, &all->groups[g], block);
}

void mf_collisions_list(mf_Collisions *all, bool everybody) {
    all->statistics.lost_pairs += all->lost_pairs;
    all->two_count = all->block_count = 0;
    all->asleep = 0;
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_CollisionGroup *group = &all->groups[g];
        for (uint32_t i = 0; group->inner && i < group->count; i++) {
            const uint32_t robot = group->first + i;
            if (all->present[robot] && !all->immovable[robot])
                take(all, (mf_CollisionTwo){robot, robot}, MF_NONE);
        }
    }
    for (uint32_t i = 0; i < all->near_count; i++) {
        const mf_CollisionTwo two = all->near[i];
        if (!everybody && is_apart(all, i))
            all->asleep++;
        else if (may_touch(all, i))
            take(all, two, i);
    }
}
