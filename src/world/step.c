// Stepping a world.
//
// Isolated groups: each block runs all steps before the next block starts, so its state stays in
// cache; the blocks of all these groups form one range, distributed over threads by index.
//
// Shared groups: between two steps with a due world system they run like isolated ones, since no
// block may read another. World systems divide a step into gaps; the groups' systems of one gap, of
// any phases, are collected and run in one parallel region over the blocks of all groups, each
// block through all its systems.
//
// Invariants: no block depends on another within a gap, so results depend neither on the number of
// threads nor on the partition; `next` of a shared group's or world's system is never before the
// world's tick.
#include "base/clock.h"
#include "base/context.h"
#include "base/floats.h"
#include "base/sort.h"
#include "world/between.h"
#include "world/group.h"
#include "world/inspect.h"

uint64_t mf_rate_next_step(mf_Rate rate, mf_Time step, uint64_t from) {
    if (from == 0)
        return 0;
    // Number of ticks k/rate up to the previous step; the next tick decides.
    int64_t before = mf_rate_ticks(rate, (mf_Time)(from - 1) * step);
    __int128 scale = (__int128)rate.numerator * step;
    __int128 due = (__int128)before * rate.denominator * MF_SECOND;
    return (uint64_t)((due + scale - 1) / scale);
}

// ---- steps in which no block needs another ------------------------------------------------------

typedef struct Steps {
    mf_World *world;
    uint64_t tick, steps;
    uint32_t blocks_per_task;
    uint32_t part_count;
    const mf_StepPart *parts;
} Steps;

// What is done to a group after its systems.
static void end_step(mf_Group *group, uint32_t first, uint32_t count, uint64_t tick) {
    if (mf_inspect_due(tick))
        mf_inspect_blocks(group, first, count);
    if (group->config.fault_policy == MF_FAULT_RESET)
        mf_group_reset_faulty(group, first, count);
}

// `group`: of a pack that stays in its leader's lanes, the leader with all of them.
static void run_blocks(mf_World *world, mf_Group *group, uint32_t first, uint32_t count,
                       uint64_t first_tick, uint64_t steps) {
    mf_Time step = world->config.step;
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
            if (mf_system_rests(world, slot, tick))
                continue;
            if (!slot->every_step) {
                if (tick != next[s])
                    continue;
                next[s] = mf_rate_next_step(slot->config.rate, step, tick + 1);
            }
            mf_pack_run(group, s, &run);
        }
        end_step(group, first, count, tick);
        for (mf_Group *member = group->pack_next; member != NULL && !group->pack_inside;
             member = member->pack_next)
            end_step(member, first, count, tick);
    }
}

static void run_pack(const Steps *work, mf_Group *leader) {
    mf_Group packed = mf_pack_begin(leader);
    run_blocks(work->world, &packed, 0, 1, work->tick, work->steps);
    mf_pack_end(leader);
}

static void step_blocks(void *context, uint32_t index) {
    const Steps *work = context;
    const uint32_t p =
        mf_find_part(&work->parts[0].first_task, sizeof *work->parts, work->part_count, index);
    const mf_StepPart *part = &work->parts[p];
    const uint32_t together = part->group->blocks_together;
    if (mf_pack_stays(part->group, work->steps)) {
        run_pack(work, part->group);
        return;
    }
    uint32_t first = part->group->first_moving + (index - part->first_task) * work->blocks_per_task;
    uint32_t last = first + work->blocks_per_task;
    if (last > part->group->first_moving + part->group->moving)
        last = part->group->first_moving + part->group->moving;
    for (uint32_t block = first; block < last; block += together) {
        uint32_t left = last - block;
        run_blocks(work->world, part->group, block, left < together ? left : together, work->tick,
                   work->steps);
    }
}

static uint32_t count_blocks(const mf_World *world, bool isolated) {
    uint32_t blocks = 0;
    for (uint32_t g = 0; g < world->group_count; g++)
        if (world->groups[g]->config.isolated == isolated)
            blocks += world->groups[g]->moving;
    return blocks;
}

// As many blocks as fit into the L1 cache, so that a call of a system does more work. Warnings lie
// still in most steps.
static void find_blocks_together(mf_Group *group) {
    if (group->fields_measured == group->field_count)
        return;
    group->fields_measured = group->field_count;
    const size_t cache =
        32 * 1024; // [byte] least L1 data cache of processors of the last ten years
    size_t still = 0;
    if (group->warnings.word != NULL)
        still = (mf_field_bytes(group->warnings.steps) + mf_field_bytes(group->warnings.residual)) /
                ((size_t)group->blocks * MF_BLOCK);
    size_t count = cache / (MF_BLOCK * (mf_group_bytes_per_instance(group) - still));
    group->blocks_together = count < 1 ? 1 : count > 64 ? 64 : (uint32_t)count;
}

// Steps all isolated groups, or all shared ones: their blocks form one range. The number of tasks
// balances the threads at negligible overhead.
static void step_groups(mf_World *world, bool isolated, uint64_t tick, uint64_t steps) {
    const uint32_t threads = mf_context_threads(world->context);
    uint32_t size = count_blocks(world, isolated) / (threads == 1 ? 1 : threads * 16);
    uint32_t count = 0;
    Steps work = {.world = world,
                  .tick = tick,
                  .steps = steps,
                  .blocks_per_task = size > 0 ? size : 1,
                  .parts = world->parts};
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        if (group->config.isolated != isolated || group->pack_leader != group)
            continue;
        find_blocks_together(group);
        world->parts[work.part_count++] = (mf_StepPart){group, count};
        count += (group->moving + work.blocks_per_task - 1) / work.blocks_per_task;
    }
    if (count > 0)
        mf_parallel_for(world->context, count, step_blocks, &work);
}

// Step by step, slow systems in parallel.
static void step_isolated_waves(mf_World *world, uint64_t steps) {
    for (uint64_t tick = world->tick; tick < world->tick + steps; tick++) {
        for (mf_Phase phase = MF_PHASE_SENSE; phase <= MF_PHASE_AFTER; phase++)
            mf_waves_run(world, phase, tick, true);
        for (uint32_t g = 0; g < world->group_count; g++) {
            mf_Group *group = world->groups[g];
            if (group->config.isolated && mf_inspect_due(tick))
                mf_inspect_blocks(group, 0, group->blocks);
            if (group->config.isolated && group->config.fault_policy == MF_FAULT_RESET)
                mf_group_reset_faulty(group, 0, group->blocks);
        }
    }
}

// ---- shared groups ------------------------------------------------------------------------------

enum { PIECE = 64 }; // [1] most blocks of a piece, so that its state stays in cache between systems

// The systems collected since the last world system.
typedef struct Gap {
    mf_World *world;
    uint64_t tick;
    bool waves;     // phases run immediately, nothing is collected
    uint32_t piece; // [1] blocks of a piece
    uint32_t piece_count;
    uint32_t group_count;
    mf_GapPart *groups;
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
    const uint32_t g =
        mf_find_part(&gap->groups[0].first_piece, sizeof *gap->groups, gap->group_count, index);
    const mf_GapPart *part = &gap->groups[g];
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
        mf_pack_run(part->group, part->systems[s], &run);
}

static void run_piece_on_thread(void *context, uint32_t index) {
    run_piece(context, index);
}

// Runs the collected systems and starts a new list.
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

static mf_GapPart *gap_group(Gap *gap, mf_Group *group) {
    if (group->gap_part < gap->group_count && gap->groups[group->gap_part].group == group)
        return &gap->groups[group->gap_part];
    group->gap_part = gap->group_count;
    mf_GapPart *part = &gap->groups[gap->group_count++];
    *part = (mf_GapPart){.group = group, .first_piece = gap->piece_count};
    gap->piece_count += (group->blocks + gap->piece - 1) / gap->piece;
    return part;
}

static void collect_phase(Gap *gap, mf_Phase phase) {
    mf_World *world = gap->world;
    if (gap->waves) {
        mf_waves_run(world, phase, gap->tick, false);
        return;
    }
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        if (group->config.isolated)
            continue;
        for (uint32_t s = 0; s < group->system_count; s++) {
            mf_SystemSlot *slot = &group->systems[s];
            if (slot->config.phase != phase || mf_system_rests(world, slot, gap->tick) ||
                !is_due(slot->every_step, &slot->next, slot->config.rate, gap) ||
                group->pack_leader != group)
                continue;
            mf_GapPart *part = gap_group(gap, group);
            part->systems[part->system_count++] = (uint8_t)s;
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
        int64_t begin = world->measured ? mf_clock_now() : 0;
        slot->config.run(&run, slot->config.user);
        if (world->measured)
            slot->worked += (uint64_t)(mf_clock_now() - begin);
    }
}

// About eight pieces per thread, for balance.
static uint32_t piece_size(const mf_World *world) {
    uint32_t threads = mf_context_threads(world->context);
    if (threads == 1)
        return PIECE;
    uint32_t size = (count_blocks(world, false) + 8 * threads - 1) / (8 * threads);
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
        if (group->config.isolated)
            continue;
        if (mf_inspect_due(gap->tick)) {
            mf_inspect_blocks(group, 0, group->blocks);
            mf_inspect_encounters(group, 0, group->blocks, true);
        }
        if (group->config.fault_policy == MF_FAULT_RESET)
            mf_group_reset_faulty(group, 0, group->blocks);
    }
}

static bool has_shared_part(const mf_World *world) {
    bool shared = world->system_count > 0;
    for (uint32_t g = 0; g < world->group_count; g++)
        shared |= !world->groups[g]->config.isolated;
    return shared;
}

// Number of steps from `tick`, at most `most`, in which no world system is due.
static uint64_t free_steps(const mf_World *world, uint64_t tick, uint64_t most) {
    for (uint32_t i = 0; i < world->system_count; i++) {
        const mf_WorldSystemSlot *slot = &world->systems[i];
        uint64_t wait = slot->every_step ? 0 : slot->next - tick;
        most = wait < most ? wait : most;
    }
    return most;
}

static void step_free(mf_World *world, uint64_t tick, uint64_t steps) {
    step_groups(world, false, tick, steps);
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        if (group->config.isolated)
            continue;
        for (uint32_t s = 0; s < group->system_count; s++) {
            mf_SystemSlot *slot = &group->systems[s];
            if (!slot->every_step)
                slot->next = mf_rate_next_step(slot->config.rate, world->config.step, tick + steps);
        }
    }
}

static void step_shared_groups(mf_World *world, uint64_t steps) {
    Gap gap = {.world = world,
               .waves = mf_waves_pay(world, false),
               .piece = piece_size(world),
               .groups = world->gaps};
    uint64_t last = world->tick + steps;
    for (gap.tick = world->tick; gap.tick < last;) {
        uint64_t free = free_steps(world, gap.tick, last - gap.tick);
        // For a single step the order by blocks has no advantage.
        if (gap.waves || free == 0)
            free = 1;
        if (free > 1)
            step_free(world, gap.tick, free);
        else
            step_shared(&gap);
        gap.tick += free;
    }
}

static void step_world(mf_World *world, uint64_t steps) {
    world->last_tick = world->tick + steps - 1;
    mf_packs_make(world);
    if (mf_waves_pay(world, true))
        step_isolated_waves(world, steps);
    else
        step_groups(world, true, world->tick, steps);
    if (has_shared_part(world))
        step_shared_groups(world, steps);
    world->tick += steps;
    world->time = (mf_Time)world->tick * world->config.step;
}

void mf_world_step(mf_World *world, uint64_t steps) {
    MF_DEFAULT_FLOATS;
    if (world == NULL)
        return;
    mf_BetweenSteps *between = mf_world_kept(world, MF_BETWEEN_STEPS);
    while (steps > 0) {
        const uint64_t length = between != NULL ? between->act(between, steps) : steps;
        if (length == 0)
            return;
        step_world(world, length);
        steps -= length;
    }
}
