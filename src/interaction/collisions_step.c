// A step of collisions:
//
//   1  who is near (collisions_near.c)
//   2  where the parts of those are                     blocks of robots, in parallel
//   3  where they touch                                 pairs of robots, in parallel
//   4  forces, in the order of the pairs (collisions_push.c)
//
// Invariants: pairs are in the order of the robots' numbers and cut into pieces by index; a piece
// writes to its own memory; forces are added by one thread in that order. So no bit depends on the
// threads. A step allocates nothing; what finds no room is left out and counted.
#include "interaction/collisions.h"
#include "math/float_mode.h"
#include "math/scalar.h"

mf_CompoundSide mf_collisions_side(const mf_Collisions *all, uint32_t robot) {
    const mf_CollisionGroup *group = mf_collisions_group(all, robot);
    const uint32_t instance = mf_collisions_instance(group, robot);
    return (mf_CompoundSide){group->compound,
                             group->parts + instance / MF_BLOCK * group->parts_stride,
                             instance % MF_BLOCK};
}

static const void *shifted(const void *field, size_t bytes) {
    return field != NULL ? (const char *)field + bytes : NULL;
}

void mf_collisions_refit(const mf_Collisions *all, const mf_CollisionGroup *group, uint32_t block) {
    const mf_CompoundState *from = &group->state;
    const size_t *stride = group->strides;
    const mf_CompoundState state = {
        .orientation = shifted(from->orientation, block * stride[0]),
        .linear_velocity = shifted(from->linear_velocity, block * stride[1]),
        .angular_velocity = shifted(from->angular_velocity, block * stride[2]),
        .angle = shifted(from->angle, block * stride[3]),
        .rate = shifted(from->rate, block * stride[4]),
        .ball = shifted(from->ball, block * stride[5]),
        .ball_rate = shifted(from->ball_rate, block * stride[6]),
        .free = shifted(from->free, block * stride[7]),
        .free_velocity = shifted(from->free_velocity, block * stride[8]),
        .wide = from->wide};
    all->refit(group->compound, &state, group->parts + block * group->parts_stride);
}

static void refit_task(void *user, uint32_t index) {
    const mf_Collisions *all = user;
    unsigned mode = mf_float_mode_enter();
    const uint32_t block = all->blocks[index];
    mf_collisions_refit(all, &all->groups[block >> 26], block & ((1u << 26) - 1));
    mf_float_mode_leave(mode);
}

static void meet_task(void *user, uint32_t index) {
    mf_Collisions *all = user;
    unsigned mode = mf_float_mode_enter();
    all->meet(&all->meets[index]);
    mf_float_mode_leave(mode);
}

static void run_tasks(mf_Collisions *all, uint32_t count, mf_TaskFn task) {
    if (count > 1 && mf_context_threads(all->context) > 1) {
        mf_parallel_for(all->context, count, task, all);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        task(all, i);
}

static mf_CompoundPair pair_of(const mf_Collisions *all, mf_CollisionTwo two) {
    mf_CompoundPair pair = {{mf_collisions_side(all, two.a), mf_collisions_side(all, two.b)},
                            {0, 0, 0},
                            two.a == two.b};
    mf_vec3_sub(pair.way, all->position[two.b], all->position[two.a]);
    return pair;
}

// How many touches from `first` on are of the same two solids.
static uint32_t count_together(const mf_CompoundMeet *meet, uint32_t first) {
    const mf_CompoundTouch *touch = &meet->touches[first];
    uint32_t end = first + 1;
    while (end < meet->touch_count && touch[end - first].pair == touch->pair &&
           touch[end - first].solids[0] == touch->solids[0] &&
           touch[end - first].solids[1] == touch->solids[1])
        end++;
    return end - first;
}

static void push_all(mf_Collisions *all, const mf_CompoundMeet *meet, const mf_CollisionTwo *twos) {
    for (uint32_t i = 0; i < meet->touch_count;) {
        const uint32_t together = count_together(meet, i);
        for (uint32_t end = i + together; i < end; i++) {
            const mf_CompoundTouch *touch = &meet->touches[i];
            mf_collisions_push(all, twos[touch->pair], &meet->pairs[touch->pair], touch, together);
        }
    }
    all->statistics.sphere_tests += meet->sphere_tests;
    all->statistics.shape_tests += meet->solid_tests;
    all->statistics.lost_touches += meet->lost;
}

// The pairs from `first` on, as many as a wave has.
static uint32_t run_wave(mf_Collisions *all, uint32_t first) {
    uint32_t count = all->two_count - first, pieces = 0;
    if (count > MF_COLLISION_WAVE * MF_COLLISION_CHUNK)
        count = MF_COLLISION_WAVE * MF_COLLISION_CHUNK;
    for (uint32_t i = 0; i < count; i++)
        all->pairs[i] = pair_of(all, all->twos[first + i]);
    for (uint32_t i = 0; i < count; i += MF_COLLISION_CHUNK) {
        const uint32_t left = count - i;
        all->meets[pieces] =
            (mf_CompoundMeet){.pairs = all->pairs + i,
                              .pair_count = left < MF_COLLISION_CHUNK ? left : MF_COLLISION_CHUNK,
                              .trees = all->config.trees,
                              .touches = all->touches + (size_t)pieces * all->config.touches,
                              .room = all->config.touches};
        pieces++;
    }
    run_tasks(all, pieces, meet_task);
    for (uint32_t i = 0; i < pieces; i++)
        push_all(all, &all->meets[i], all->twos + first + i * MF_COLLISION_CHUNK);
    return count;
}

// All shapes of any two robots that are there, of which one can be pushed.
static uint64_t tests_without(const mf_Collisions *all) {
    uint64_t of[2] = {0, 0}, squares = 0; // [1] shapes that are pushed, and not
    for (uint32_t robot = 0; robot < all->robot_count; robot++) {
        const uint64_t solids = mf_collisions_group(all, robot)->compound->solid_count;
        if (!all->present[robot])
            continue;
        of[all->immovable[robot]] += solids;
        squares += all->immovable[robot] ? 0 : solids * solids;
    }
    return (of[0] * of[0] - squares) / 2 + of[0] * of[1];
}

void mf_collisions_run(const mf_WorldRun *run, void *user) {
    mf_Collisions *all = user;
    (void)run;
    mf_collisions_relax(all);
    mf_collisions_find(all);
    run_tasks(all, all->block_count, refit_task);
    for (uint32_t i = 0; i < all->block_count; i++)
        all->groups[all->blocks[i] >> 26].refit[all->blocks[i] & ((1u << 26) - 1)] = 0;
    for (uint32_t first = 0; first < all->two_count;)
        first += run_wave(all, first);
    all->statistics.steps++;
    all->statistics.without += tests_without(all);
}
