// Worlds: ground, groups, time and stepping.
//
// Isolated groups: each block runs all steps before the next block starts, so its state stays in
// cache; blocks are spread over threads by index. Shared groups: system after system, step by step.
#include "world/group.h"
#include "math/float_mode.h"

#include <string.h>

mf_WorldConfig mf_world_config(void) {
    return (mf_WorldConfig){.struct_size = sizeof(mf_WorldConfig),
                            .step = 10 * MF_MILLISECOND,
                            .seed = 1,
                            .gravity = 9.81,
                            .isa = MF_ISA_AUTO};
}

static mf_Status check_world(const mf_WorldConfig *config, mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "world: start from mf_world_config()");
    if (!(config->step >= 1000 && config->step <= MF_SECOND))
        return mf_fail(error, MF_BAD_ARGUMENT, "world.step: need 1 us .. 1 s");
    if (!(config->gravity >= 0.0 && config->gravity <= 1000.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "world.gravity: need 0 .. 1000 m/s^2");
    if (!mf_isa_available(config->isa))
        return mf_fail(error, MF_UNSUPPORTED, "world.isa: this processor does not have %s",
                       mf_isa_name(config->isa));
    return MF_OK;
}

mf_Status mf_world_create(mf_Context *context, const mf_WorldConfig *config, mf_World **out,
                          mf_Error *error) {
    *out = NULL;
    mf_WorldConfig settings = config != NULL ? *config : mf_world_config();
    mf_Status status = check_world(&settings, error);
    if (status == MF_OK && settings.isa == MF_ISA_AUTO)
        status = mf_isa_detect(&settings.isa, error);
    if (status != MF_OK)
        return status;
    mf_World *world = mf_allocate(context, 1, sizeof *world);
    if (world == NULL)
        return mf_fail(error, MF_NO_MEMORY, "world: out of memory");
    world->context = context;
    world->config = settings;
    world->isa = settings.isa;
    if (settings.terrain == NULL) {
        mf_TerrainConfig ground = mf_terrain_config();
        ground.columns = ground.rows = 1;
        mf_TerrainGenerator flat = {.shape = MF_TERRAIN_FLAT, .wavelength = 1.0, .octaves = 1};
        status = mf_terrain_generate(context, &ground, &flat, &world->own_terrain, error);
        if (status != MF_OK) {
            mf_release(context, world);
            return status;
        }
        world->config.terrain = world->own_terrain;
    }
    *out = world;
    return MF_OK;
}

void mf_world_destroy(mf_World *world) {
    if (world == NULL)
        return;
    for (uint32_t i = 0; i < world->group_count; i++)
        mf_group_destroy(world->groups[i]);
    mf_terrain_destroy(world->own_terrain);
    mf_release(world->context, world);
}

mf_Context *mf_world_context(const mf_World *world) {
    return world->context;
}
const mf_WorldConfig *mf_world_settings(const mf_World *world) {
    return &world->config;
}
mf_Time mf_world_time(const mf_World *world) {
    return world->time;
}
mf_Isa mf_world_isa(const mf_World *world) {
    return world->isa;
}
uint32_t mf_world_group_count(const mf_World *world) {
    return world->group_count;
}
mf_Group *mf_world_group(mf_World *world, uint32_t index) {
    return index < world->group_count ? world->groups[index] : NULL;
}
mf_Group *mf_world_find_group(mf_World *world, const char *name) {
    for (uint32_t i = 0; i < world->group_count; i++)
        if (strcmp(world->groups[i]->config.name, name) == 0)
            return world->groups[i];
    return NULL;
}

// ---- stepping ----------------------------------------------------------------------------------

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

typedef struct StepTask {
    mf_World *world;
    mf_Group *group;
    uint64_t steps;
    uint32_t blocks_per_task;
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
    for (uint32_t block = first; block < last; block++)
        run_blocks(task->world, task->group, block, 1, task->world->tick, task->steps);
}

// Enough tasks to balance the threads, few enough that handing them out costs nothing.
static uint32_t blocks_per_task(const mf_World *world, const mf_Group *group) {
    uint32_t tasks = mf_context_threads(world->context) * 16;
    uint32_t size = group->blocks / tasks;
    return size > 0 ? size : 1;
}

void mf_world_step(mf_World *world, uint64_t steps) {
    for (uint32_t g = 0; g < world->group_count; g++) {
        mf_Group *group = world->groups[g];
        if (!group->config.isolated)
            continue;
        StepTask task = {world, group, steps, blocks_per_task(world, group)};
        uint32_t count = (group->blocks + task.blocks_per_task - 1) / task.blocks_per_task;
        mf_parallel_for(world->context, count, step_blocks, &task);
    }
    for (uint64_t i = 0; i < steps; i++)
        for (uint32_t g = 0; g < world->group_count; g++)
            if (!world->groups[g]->config.isolated)
                run_blocks(world, world->groups[g], 0, world->groups[g]->blocks, world->tick + i,
                           1);
    world->tick += steps;
    world->time = (mf_Time)world->tick * world->config.step;
}
