// Stepping a world.
//
// Isolated groups: each block runs all steps before the next block starts, so its state stays in
// cache; blocks are spread over threads by index.
//
// Shared groups: from one step with a due world system to the next they are like isolated ones, for
// no block may look at another in between. A step with due world systems is cut into gaps by them;
// the groups' systems of one gap, of however many phases, are collected and run in one parallel
// region over the blocks of all groups, each block through all of its systems.
//
// Invariants: no block depends on another within a gap, so neither the number of threads nor the
// cut into pieces shows; `next` of a shared group's or world's system is never before the
// world's tick.
#include "world/group.h"
#include "math/float_mode.h"

uint64_t mf_rate_next_step(mf_Rate rate, mf_Time step, uint64_t from) {
    if (from == 0)
        return 0;
    // Ticks k/rate up to the previous step; the next one decides.
    int64_t before = mf_rate_ticks(rate, (mf_Time)(from - 1) * step);
    __int128 scale = (__int128)rate.numerator * step;
    __int128 wanted = (__int128)before * rate.denominator * MF_SECOND;
    return (uint64_t)((wanted + scale - 1) / scale);
}

static void reset_faulty(mf_Group *group, uint32_t block) {
    const uint32_t *words = (const uint32_t *)group->canonical.fault_word->data + block * MF_BLOCK;
    uint32_t *counts = (uint32_t *)group->canonical.fault_count->data + block * MF_BLOCK;
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++) {
        if (words[lane] == 0)
            continue;
        mf_group_reset(group, block * MF_BLOCK + lane);
        counts[lane]++;
    }
}

// ---- steps in which no block needs another ------------------------------------------------------

typedef struct StepTask {
    mf_World *world;
    mf_Group *group;
    uint64_t tick, steps;
    uint32_t blocks_per_task;
    uint32_t blocks_together; // [1] that go through all steps side by side
} StepTask;

static void run_blocks(mf_World *world, mf_Group *group, uint32_t first, uint32_t count,
                       uint64_t first_tick, uint64_t steps) {
    mf_Time step = world->config.step;
    unsigned mode = mf_float_mode_enter();
    uint64_t next[MF_MAX_SYSTEMS];
    for (uint32_t s = 0; s < group->system_count; s++)
        next[s] = group->systems[s].every_step
                      ? 0
                      : mf_rate_next_step(group->systems[s].config.rate, step, first_tick);
    mf_SystemRun run = {.group = group, .step = step, .first_block = first, .block_count = count};
    for (uint64_t tick = first_tick; tick < first_tick + steps; tick++) {
        run.tick = tick;
        run.time = (mf_Time)tick * step;
        for (uint32_t s = 0; s < group->system_count; s++) {
            mf_SystemSlot *slot = &group->systems[s];
            if (!slot->every_step) {
                if (tick != next[s])
                    continue;
                next[s] = mf_rate_next_step(slot->config.rate, step, tick + 1);
            }
            slot->config.run(&run, slot->config.user);
        }
        if (group->config.fault_policy == MF_FAULT_RESET)
            for (uint32_t block = first; block < first + count; block++)
                reset_faulty(group, block);
    }
    mf_float_mode_leave(mode);
}

static void step_blocks(void *context, uint32_t index) {
    StepTask *task = context;
    uint32_t first = index * task->blocks_per_task;
    uint32_t last = first + task->blocks_per_task;
    if (last > task->group->blocks)
        last = task->group->blocks;
    for (uint32_t block = first; block < last; block += task->blocks_together) {
        uint32_t left = last - block;
        run_blocks(task->world, task->group, block,
                   left < task->blocks_together ? left : task->blocks_together, task->tick,
                   task->steps);
    }
}

// Enough tasks to balance the threads, few enough that handing them out costs nothing.
static uint32_t blocks_per_task(const mf_World *world, const mf_Group *group) {
    uint32_t tasks = mf_context_threads(world->context) * 16;
    uint32_t size = group->blocks / tasks;
    return size > 0 ? size : 1;
}

// As many blocks as the first cache holds: a call of a system then does more work.
static uint32_t blocks_together(const mf_Group *group) {
    const size_t cache = 32 * 1024; // [byte] what processors of the last ten years have at least
    size_t count = cache / (MF_BLOCK * mf_group_bytes_per_instance(group));
    return count < 1 ? 1 : count > 64 ? 64 : (uint32_t)count;
}

static void step_group(mf_World *world, mf_Group *group, uint64_t tick, uint64_t steps) {
    StepTask task = {.world = world,
                     .group = group,
                     .tick = tick,
                     .steps = steps,
                     .blocks_per_task = blocks_per_task(world, group),
                     .blocks_together = blocks_together(group)};
    uint32_t count = (group->blocks + task.blocks_per_task - 1) / task.blocks_per_task;
    mf_parallel_for(world->context, count, step_blocks, &task);
}

// ---- shared groups ------------------------------------------------------------------------------

enum { PIECE = 64 }; // [1] most blocks in a piece: its state stays in cache from system to system

typedef struct GapGroup {
    mf_Group *group;
    uint32_t first_piece;
    uint32_t system_count;
    const mf_SystemConfig *systems[MF_MAX_SYSTEMS];
} GapGroup;

// What has been collected since the last world system.
typedef struct Gap {
    mf_World *world;
    uint64_t tick;
    uint32_t piece; // [1] blocks of a piece
    uint32_t piece_count;
    uint32_t group_count;
    GapGroup groups[MF_MAX_GROUPS];
} Gap;

void mf_world_reschedule(mf_World *world) {
    mf_Time step = world->config.step;
    for (uint32_t i = 0; i < world->system_count; i++)
        if (!world->systems[i].every_step)
            world->systems[i].next =
                mf_rate_next_step(world->systems[i].config.rate, step, world->tick);
    for (uint32_t g = 0; g < world->group_count; g++)
        for (uint32_t s = 0; s < world->groups[g]->system_count; s++) {
            mf_SystemSlot *slot = &world->groups[g]->systems[s];
            if (!slot->every_step)
                slot->next = mf_rate_next_step(slot->config.rate, step, world->tick);
        }
}

static void run_piece(void *context, uint32_t index) {
    const Gap *gap = context;
    uint32_t g = gap->group_count - 1;
    while (gap->groups[g].first_piece > index)
        g--;
    const GapGroup *part = &gap->groups[g];
    uint32_t first = (index - part->first_piece) * gap->piece;
    uint32_t left = part->group->blocks - first;
    mf_Time step = gap->world->config.step;
    mf_SystemRun run = {.group = part->group,
                        .time = (mf_Time)gap->tick * step,
                        .step = step,
                        .tick = gap->tick,
                        .first_block = first,
                        .block_count = left < gap->piece ? left : gap->piece};
    for (uint32_t s = 0; s < part->system_count; s++)
        part->systems[s]->run(&run, part->systems[s]->user);
}

static void run_piece_on_thread(void *context, uint32_t index) {
    unsigned mode = mf_float_mode_enter();
    run_piece(context, index);
    mf_float_mode_leave(mode);
}

// Runs what was collected, and starts to collect anew.
static void close_gap(Gap *gap) {
    mf_Context *context = gap->world->context;
    if (gap->group_count == 0)
        return;
    if (mf_context_threads(context) > 1 && gap->piece_count > 1)
        mf_parallel_for(context, gap->piece_count, run_piece_on_thread, gap);
    else
        for (uint32_t i = 0; i < gap->piece_count; i++)
            run_piece(gap, i);
    gap->group_count = 0;
    gap->piece_count = 0;
}

static bool is_due(bool every_step, uint64_t *next, mf_Rate rate, const Gap *gap) {
    if (every_step)
        return true;
    if (*next != gap->tick)
        return false;
    *next = mf_rate_next_step(rate, gap->world->config.step, gap->tick + 1);
    return true;
}

static GapGroup *gap_group(Gap *gap, mf_Group *group) {
    for (uint32_t g = 0; g < gap->group_count; g++)
        if (gap->groups[g].group == group)
            return &gap->groups[g];
    GapGroup *part = &gap->groups[gap->group_count++];
    part->group = group;
    part->system_count = 0;
    part->first_piece = gap->piece_count;
    gap->piece_count += (group->blocks + gap->piece - 1) / gap->piece;
    return part;
}

static void collect_phase(Gap *gap, mf_Phase phase) {
    mf_World *world = gap->world;
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        if (group->config.isolated)
            continue;
        for (uint32_t s = 0; s < group->system_count; s++) {
            mf_SystemSlot *slot = &group->systems[s];
            if (slot->config.phase != phase ||
                !is_due(slot->every_step, &slot->next, slot->config.rate, gap))
                continue;
            GapGroup *part = gap_group(gap, group);
            part->systems[part->system_count++] = &slot->config;
        }
    }
}

static void run_world_systems(Gap *gap, mf_Phase phase) {
    mf_World *world = gap->world;
    mf_Time step = world->config.step;
    mf_WorldRun run = {
        .world = world, .time = (mf_Time)gap->tick * step, .step = step, .tick = gap->tick};
    for (uint32_t i = 0; i < world->system_count; i++) {
        mf_WorldSystemSlot *slot = &world->systems[i];
        if (slot->config.phase != phase ||
            !is_due(slot->every_step, &slot->next, slot->config.rate, gap))
            continue;
        close_gap(gap);
        slot->config.run(&run, slot->config.user);
    }
}

// About eight pieces for each thread, so that they end together.
static uint32_t piece_size(const mf_World *world) {
    uint32_t threads = mf_context_threads(world->context), blocks = 0;
    for (uint32_t g = 0; g < world->group_count; g++)
        if (!world->groups[g]->config.isolated)
            blocks += world->groups[g]->blocks;
    if (threads == 1)
        return PIECE;
    uint32_t size = (blocks + 8 * threads - 1) / (8 * threads);
    return size < 1 ? 1 : size > PIECE ? PIECE : size;
}

static void step_shared(Gap *gap) {
    mf_World *world = gap->world;
    for (mf_Phase phase = MF_PHASE_SENSE; phase <= MF_PHASE_MOTION; phase++) {
        run_world_systems(gap, phase);
        collect_phase(gap, phase);
    }
    collect_phase(gap, MF_PHASE_AFTER);
    close_gap(gap);
    run_world_systems(gap, MF_PHASE_AFTER);
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        if (group->config.isolated || group->config.fault_policy != MF_FAULT_RESET)
            continue;
        for (uint32_t block = 0; block < group->blocks; block++)
            reset_faulty(group, block);
    }
}

static bool has_shared_part(const mf_World *world) {
    bool shared = world->system_count > 0;
    for (uint32_t g = 0; g < world->group_count; g++)
        shared |= !world->groups[g]->config.isolated;
    return shared;
}

// Steps from `tick` on, at most `most`, in which no world system is due.
static uint64_t free_steps(const mf_World *world, uint64_t tick, uint64_t most) {
    for (uint32_t i = 0; i < world->system_count; i++) {
        const mf_WorldSystemSlot *slot = &world->systems[i];
        uint64_t wait = slot->every_step ? 0 : slot->next - tick;
        most = wait < most ? wait : most;
    }
    return most;
}

static void step_free(mf_World *world, uint64_t tick, uint64_t steps) {
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        if (group->config.isolated)
            continue;
        step_group(world, group, tick, steps);
        for (uint32_t s = 0; s < group->system_count; s++) {
            mf_SystemSlot *slot = &group->systems[s];
            if (!slot->every_step)
                slot->next = mf_rate_next_step(slot->config.rate, world->config.step, tick + steps);
        }
    }
}

static void step_shared_groups(mf_World *world, uint64_t steps) {
    Gap gap; // not zeroed: it is large, and every entry is set when it is taken
    gap.world = world;
    gap.piece = piece_size(world);
    gap.piece_count = gap.group_count = 0;
    unsigned mode = mf_float_mode_enter();
    uint64_t last = world->tick + steps;
    for (gap.tick = world->tick; gap.tick < last;) {
        uint64_t free = free_steps(world, gap.tick, last - gap.tick);
        // A single step has nothing to gain from going block by block.
        if (free > 1)
            step_free(world, gap.tick, free);
        else
            step_shared(&gap);
        gap.tick += free > 1 ? free : 1;
    }
    mf_float_mode_leave(mode);
}

void mf_world_step(mf_World *world, uint64_t steps) {
    for (uint32_t g = 0; g < world->group_count; g++)
        if (world->groups[g]->config.isolated)
            step_group(world, world->groups[g], world->tick, steps);
    if (has_shared_part(world))
        step_shared_groups(world, steps);
    world->tick += steps;
    world->time = (mf_Time)world->tick * world->config.step;
}
