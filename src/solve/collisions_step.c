// A step of collisions:
//
//   1  candidates (collisions_near.c)
//   2  poses of their parts                              blocks of robots, in parallel
//   3  contacts                                          pairs of robots, in parallel
//   4  forces, in the order of the pairs (collisions_wrench.c)
//
// Pairs with a known gap are skipped until the displacements of both could have closed it. A step
// whose contacts nearly fill their memory is repeated with all pairs, because the result then
// depends on which pairs are examined together.
//
// Invariants: pairs are sorted by robot index and divided into pieces by index; a piece writes to
// its own memory; one thread adds the forces in that order. So results do not depend on threads. A
// step allocates nothing; contacts beyond the capacity are dropped and counted.
#include "solve/collisions.h"
#include "base/context.h"
#include "math/scalar.h"

mf_CompoundSide mf_collisions_side(const mf_Collisions *all, uint32_t robot) {
    const mf_CollisionGroup *group = mf_collisions_group(all, robot);
    const uint32_t instance = mf_collisions_instance(group, robot);
    return (mf_CompoundSide){group->compound,
                             group->parts + instance / MF_BLOCK * group->parts_stride,
                             instance % MF_BLOCK};
}

void mf_collisions_refit(const mf_Collisions *all, const mf_CollisionGroup *group, uint32_t block,
                         uint32_t robots) {
    const mf_TreeState state = mf_tree_state(&group->fields, block);
    all->refit(group->compound, &state, robots, group->parts + block * group->parts_stride);
}

static void refit_task(void *user, uint32_t index) {
    const mf_Collisions *all = user;
    const mf_CollisionGroup *group = &all->groups[all->blocks[index].group];
    const uint32_t block = all->blocks[index].block;
    mf_collisions_refit(all, group, block, group->refit[block]);
}

// The tree traversal measures gaps up to this one, which at 1 m/s is enough for sixty steps of 1
// ms.
static const double gap_required = 0.06; // [m]

static void search_task(void *user, uint32_t index) {
    mf_Collisions *all = user;
    mf_collisions_bind(all, &all->searches[index]);
}

// ---- pairs that are held together --------------------------------------------------------------

// The robot of a side of a joint; MF_NONE: it is no member.
static uint32_t robot_of(const mf_Collisions *all, const mf_JointRecord *record, uint32_t side) {
    const uint32_t world = record->group[side];
    const uint32_t g = world < all->world_groups ? all->member_of[world] : MF_NONE;
    return g == MF_NONE ? MF_NONE : all->groups[g].first + record->instance[side];
}

// The place of a pair among the near ones; MF_NONE: it is not there.
static uint32_t find_near(const mf_Collisions *all, uint32_t a, uint32_t b) {
    uint32_t low = 0, high = all->near_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const mf_CollisionTwo two = all->near[middle];
        if (two.a < a || (two.a == a && two.b < b))
            low = middle + 1;
        else
            high = middle;
    }
    return low < all->near_count && all->near[low].a == a && all->near[low].b == b ? low : MF_NONE;
}

// Anew after searches and when joints come and go.
static void list_fixed(mf_Collisions *all) {
    const mf_WorldJoints *joints = all->joints;
    if (joints == NULL || all->fixed_seen == joints->version)
        return;
    all->fixed_seen = joints->version;
    for (uint32_t i = 0; i < all->near_count; i++)
        all->fixed[i][0] = all->fixed[i][1] = MF_NONE;
    for (uint32_t slot = 0; slot < joints->used; slot++) {
        const mf_JointRecord *record = &joints->records[slot];
        if (!record->exists || record->kind != MF_WORLD_JOINT_FIXED)
            continue;
        const uint32_t robots[2] = {robot_of(all, record, 0), robot_of(all, record, 1)};
        const uint32_t first = robots[0] < robots[1] ? 0 : 1;
        const uint32_t number = robots[1 - first] != MF_NONE
                                    ? find_near(all, robots[first], robots[1 - first])
                                    : MF_NONE;
        if (number == MF_NONE)
            continue;
        all->fixed[number][0] = record->link[first];
        all->fixed[number][1] = record->link[1 - first];
    }
}

static void look_fixed(const mf_Collisions *all, uint32_t number, mf_CollisionTwo two,
                       mf_CompoundPair *pair) {
    if (all->joints == NULL || number == MF_NONE || all->fixed[number][0] == MF_NONE)
        return;
    const mf_CollisionGroup *a = mf_collisions_group(all, two.a),
                            *b = mf_collisions_group(all, two.b);
    pair->links[0] = all->fixed[number][0];
    pair->links[1] = all->fixed[number][1];
    const uint32_t first[3] = {a->number, mf_collisions_instance(a, two.a), pair->links[0]};
    const uint32_t second[3] = {b->number, mf_collisions_instance(b, two.b), pair->links[1]};
    pair->fixed = mf_joints_weld(all->joints, first, second);
}

// ---- contacts ----------------------------------------------------------------------------------

// Pair `index` of this step.
static mf_CompoundPair pair_of(const mf_Collisions *all, uint32_t index) {
    const mf_CollisionTwo two = all->twos[index];
    mf_CompoundPair pair = {
        .sides = {mf_collisions_side(all, two.a), mf_collisions_side(all, two.b)},
        .inner = two.a == two.b};
    mf_vec3_sub(pair.direction, all->position[two.b], all->position[two.a]);
    look_fixed(all, all->near_of[index], two, &pair);
    return pair;
}

// Number of contacts from `first` on between the same two solids.
static uint32_t count_together(const mf_CompoundSearch *search, uint32_t first) {
    const mf_CompoundTouch *touch = &search->touches[first];
    uint32_t end = first + 1;
    while (end < search->touch_count && touch[end - first].pair == touch->pair &&
           touch[end - first].solids[0] == touch->solids[0] &&
           touch[end - first].solids[1] == touch->solids[1])
        end++;
    return end - first;
}

static void apply_all(mf_Collisions *all, const mf_CompoundSearch *search,
                      const mf_CollisionTwo *twos) {
    for (uint32_t i = 0; i < search->touch_count;) {
        const uint32_t together = count_together(search, i);
        for (uint32_t end = i + together; i < end; i++) {
            const mf_CompoundTouch *touch = &search->touches[i];
            mf_collisions_apply(all, twos[touch->pair], &search->pairs[touch->pair], touch,
                                together);
        }
    }
    all->statistics.bound_tests += search->bound_tests;
    all->statistics.shape_tests += search->solid_tests;
    all->statistics.lost_contacts += search->lost;
}

// The pairs of one wave from `first` on. `before`: contacts of the previous piece.
static uint32_t run_wave(mf_Collisions *all, uint32_t first, uint64_t *before, bool *crowded) {
    uint32_t count = all->two_count - first, pieces = 0;
    if (count > MF_COLLISION_WAVE * MF_COLLISION_CHUNK)
        count = MF_COLLISION_WAVE * MF_COLLISION_CHUNK;
    for (uint32_t i = 0; i < count; i++)
        all->pairs[i] = pair_of(all, first + i);
    for (uint32_t i = 0; i < count; i += MF_COLLISION_CHUNK) {
        const uint32_t left = count - i;
        all->searches[pieces] = (mf_CompoundSearch){
            .pairs = all->pairs + i,
            .pair_count = left < MF_COLLISION_CHUNK ? left : MF_COLLISION_CHUNK,
            .touches = all->touches + (size_t)pieces * all->config.contact_capacity,
            .capacity = all->config.contact_capacity,
            .gaps = all->gaps + i,
            .target_gap = gap_required};
        pieces++;
    }
    mf_parallel_for(all->context, pieces, search_task, all);
    for (uint32_t i = 0; i < count; i++)
        mf_collisions_learn(all, all->near_of[first + i], all->gaps[i]);
    for (uint32_t i = 0; i < pieces; i++) {
        const uint64_t touches = all->searches[i].touch_count + all->searches[i].lost;
        *crowded = *crowded || *before + touches > all->config.contact_capacity;
        *before = touches;
        apply_all(all, &all->searches[i], all->twos + first + i * MF_COLLISION_CHUNK);
    }
    return count;
}

// True: skipped pairs may have changed which contacts fit into memory.
static bool search_listed(mf_Collisions *all) {
    uint64_t before = 0;
    bool crowded = false;
    mf_parallel_for(all->context, all->block_count, refit_task, all);
    for (uint32_t i = 0; i < all->block_count; i++)
        all->groups[all->blocks[i].group].refit[all->blocks[i].block] = 0;
    for (uint32_t first = 0; first < all->two_count;)
        first += run_wave(all, first, &before, &crowded);
    return crowded && all->asleep > 0;
}

// All pairs of shapes of present robots of which at least one is movable.
static uint64_t tests_without(const mf_Collisions *all) {
    uint64_t of[2] = {0, 0}, squares = 0; // [1] shapes that are movable, and static
    for (uint32_t g = 0; g < all->group_count; g++) {
        const mf_CollisionGroup *group = &all->groups[g];
        const uint64_t solids = group->compound->solid_count;
        uint64_t robots[2] = {0, 0};
        for (uint32_t robot = group->first; robot < group->first + group->count; robot++)
            robots[all->immovable[robot]] += all->present[robot];
        of[0] += robots[0] * solids;
        of[1] += robots[1] * solids;
        squares += robots[0] * solids * solids;
    }
    return (of[0] * of[0] - squares) / 2 + of[0] * of[1];
}

void mf_collisions_run(const mf_WorldRun *run, void *user) {
    mf_Collisions *all = user;
    (void)run;
    if (all->solver != NULL) { // of the step before
        all->statistics.rounds += all->solver->tried;
        all->statistics.too_large += mf_solver_too_large(all->solver);
        if (all->solver->residual > all->statistics.residual)
            all->statistics.residual = all->solver->residual;
    }
    mf_collisions_relax(all);
    all->joints = mf_world_joints_of(all->world);
    if (all->joints != NULL)
        mf_joints_list_welds(all->joints);
    mf_collisions_find(all);
    list_fixed(all);
    const mf_CollisionsStatistics before = all->statistics;
    mf_collisions_list(all, false);
    if (search_listed(all)) {
        mf_collisions_relax(all);
        all->statistics = before;
        mf_collisions_list(all, true);
        search_listed(all);
    }
    all->statistics.steps++;
    all->statistics.without += tests_without(all);
}
