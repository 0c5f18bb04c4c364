// Slow systems in parallel: with fewer blocks than threads, a phase runs wave by wave, and each due
// system of a wave is a task per block.
//
// Invariant: no system of a wave accesses what another one writes (schedule.c), and systems of
// different groups share nothing, so results depend neither on order nor on threads.
#include "base/context.h"
#include "base/sort.h"
#include "world/group.h"

typedef struct Wave {
    mf_World *world;
    uint64_t tick;
    uint32_t count, task_count;
    mf_WaveEntry *entries;
} Wave;

bool mf_waves_pay(const mf_World *world, bool isolated) {
    uint32_t threads = mf_context_threads(world->context), blocks = 0;
    bool slow = false;
    if (threads == 1)
        return false;
    for (uint32_t g = 0; g < world->group_count; g++) {
        const mf_Group *group = world->groups[g];
        if (group->config.isolated != isolated)
            continue;
        blocks += group->blocks;
        slow |= group->slow;
    }
    return slow && blocks < threads;
}

static void run_task(void *context, uint32_t index) {
    Wave *wave = context;
    const uint32_t e =
        mf_find_part(&wave->entries[0].first_task, sizeof *wave->entries, wave->count, index);
    const mf_WaveEntry *entry = &wave->entries[e];
    mf_Time step = wave->world->config.step;
    const mf_SystemRun run = {.group = entry->group,
                              .time = (mf_Time)wave->tick * step,
                              .step = step,
                              .tick = wave->tick,
                              .first_block = index - entry->first_task,
                              .block_count = 1};
    mf_system_run(&entry->group->systems[entry->system], &run);
}

// Only shared groups maintain `next`.
static bool is_due(const mf_Group *group, mf_SystemSlot *slot, uint64_t tick) {
    mf_Time step = group->world->config.step;
    if (slot->every_step)
        return true;
    if (group->config.isolated)
        return mf_rate_due(slot->config.rate, (mf_Time)tick * step, step);
    if (slot->next != tick)
        return false;
    slot->next = mf_rate_next_step(slot->config.rate, step, tick + 1);
    return true;
}

// Collects the due systems of wave `number`; false when neither it nor a later one has systems.
static bool collect(Wave *wave, mf_Phase phase, bool isolated, uint32_t number) {
    bool more = false;
    wave->count = wave->task_count = 0;
    for (uint32_t g = 0; g < wave->world->group_count; g++) {
        mf_Group *group = wave->world->groups[g];
        if (group->config.isolated != isolated)
            continue;
        for (uint32_t s = 0; s < group->system_count; s++) {
            mf_SystemSlot *slot = &group->systems[s];
            if (slot->config.phase != phase || slot->wave < number)
                continue;
            more = true;
            if (slot->wave != number || mf_system_rests(wave->world, slot, wave->tick) ||
                !is_due(group, slot, wave->tick))
                continue;
            wave->entries[wave->count++] = (mf_WaveEntry){group, s, wave->task_count};
            wave->task_count += group->blocks;
        }
    }
    return more;
}

void mf_waves_run(mf_World *world, mf_Phase phase, uint64_t tick, bool isolated) {
    Wave wave = {.world = world, .tick = tick, .entries = world->waves};
    for (uint32_t number = 0; collect(&wave, phase, isolated, number); number++) {
        if (wave.task_count > 1)
            mf_parallel_for(world->context, wave.task_count, run_task, &wave);
        else if (wave.task_count == 1)
            run_task(&wave, 0);
    }
}
