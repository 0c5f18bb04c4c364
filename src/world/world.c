// Worlds: ground, groups, time, and the systems of the whole world. Stepping is in step.c.
#include "math/scalar.h"
#include "base/floats.h"
#include "base/hash.h"
#include "base/memory.h"
#include "world/attach.h"
#include "world/group.h"
#include "world/systems.h"

#include <string.h>

mf_WorldConfig mf_world_config(void) {
    return (mf_WorldConfig){.struct_size = sizeof(mf_WorldConfig),
                            .step = 10 * MF_MILLISECOND,
                            .seed = 1,
                            .gravity = 9.81,
                            .gravity_direction = {0.0, 0.0, -1.0},
                            .isa = MF_ISA_AUTO};
}

mf_WorldConfig mf_world_config_for(const mf_Model *model) {
    mf_WorldConfig config = mf_world_config();
    if (model == NULL)
        return config;
    const mf_Physics *physics = &model->physics;
    const double pull = mf_vec3_length(physics->gravity);
    if (physics->step >= 1e-6 && physics->step <= 1.0)
        config.step = mf_time_from_seconds(physics->step);
    config.gravity = physics->disabled & MF_DISABLE_GRAVITY ? 0.0 : pull;
    if (pull > 0.0)
        mf_vec3_copy(config.gravity_direction, physics->gravity);
    return config;
}

static mf_Status check_world(const mf_WorldConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error, "world: start from mf_world_config()");
    if (!(config->step >= 1000 && config->step <= MF_SECOND))
        return mf_fail(error, MF_BAD_ARGUMENT, "world.step: need 1 us .. 1 s");
    if (!(config->gravity >= 0.0 && config->gravity <= 1000.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "world.gravity: need 0 .. 1000 m/s^2");
    double length = mf_vec3_length(config->gravity_direction);
    if (!(length > 0.0 && mf_is_finite(length)))
        return mf_fail(error, MF_BAD_ARGUMENT, "world.gravity_direction: need a length > 0");
    MF_CHECK(mf_isa_available(config->isa), error, MF_UNSUPPORTED,
             "world.isa: this processor does not have %s", mf_isa_name(config->isa));
    return MF_OK;
}

mf_Status mf_world_create(mf_Context *context, const mf_WorldConfig *config, mf_World **out,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL, error, "mf_world_create: context is NULL");
    *out = NULL;
    mf_WorldConfig settings = config != NULL ? *config : mf_world_config();
    mf_Status status = check_world(&settings, error);
    mf_vec3_normalize(settings.gravity_direction);
    if (status == MF_OK && settings.isa == MF_ISA_AUTO)
        status = mf_isa_detect(&settings.isa, error);
    if (status != MF_OK)
        return status;
    mf_World *world = mf_allocate(context, 1, sizeof *world);
    MF_NEED_MEMORY(world != NULL, error, "world");
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

static void destroy_system(const mf_World *world, const mf_WorldSystemSlot *slot) {
    if (slot->config.destroy != NULL)
        slot->config.destroy(world->context, slot->config.user);
}

void mf_world_destroy(mf_World *world) {
    if (world == NULL)
        return;
    for (uint32_t i = 0; i < world->kept_count; i++)
        world->kept[i].destroy(world->context, world->kept[i].user);
    for (uint32_t i = 0; i < world->system_count; i++)
        destroy_system(world, &world->systems[i]);
    for (uint32_t i = 0; i < world->group_count; i++)
        mf_group_destroy(world->groups[i]);
    mf_release(world->context, world->groups);
    mf_terrain_destroy(world->own_terrain);
    mf_release(world->context, world);
}

mf_Status mf_world_keep(mf_World *world, const char *name, void *user,
                        void (*destroy)(mf_Context *context, void *user), mf_Error *error) {
    if (world->kept_count == MF_WORLD_KEPT)
        return mf_fail(error, MF_LIMIT, "world: already has %d items of state", MF_WORLD_KEPT);
    world->kept[world->kept_count++] = (mf_WorldKept){name, user, destroy};
    return MF_OK;
}

void *mf_world_kept(const mf_World *world, const char *name) {
    for (uint32_t i = 0; i < world->kept_count; i++)
        if (strcmp(world->kept[i].name, name) == 0)
            return world->kept[i].user;
    return NULL;
}

mf_Context *mf_world_context(const mf_World *world) {
    return world == NULL ? NULL : world->context;
}
const mf_WorldConfig *mf_world_config_of(const mf_World *world) {
    return world == NULL ? NULL : &world->config;
}
mf_Time mf_world_time(const mf_World *world) {
    return world == NULL ? 0 : world->time;
}
mf_Isa mf_world_isa(const mf_World *world) {
    return world == NULL ? (mf_Isa)0 : world->isa;
}
uint32_t mf_world_group_count(const mf_World *world) {
    return world == NULL ? 0 : world->group_count;
}
mf_Group *mf_world_group(mf_World *world, uint32_t index) {
    if (world == NULL)
        return NULL;
    return index < world->group_count ? world->groups[index] : NULL;
}

// Where a name is, or the free entry for it.
static uint32_t *find_name(const mf_World *world, const char *name) {
    const uint32_t last = 2 * world->group_capacity - 1;
    uint32_t at = (uint32_t)mf_hash_bytes(MF_HASH_START, name, strlen(name)) & last;
    while (world->names[at] != 0 &&
           strcmp(world->groups[world->names[at] - 1]->config.name, name) != 0)
        at = (at + 1) & last;
    return &world->names[at];
}

mf_Group *mf_world_find_group(mf_World *world, const char *name) {
    if (world == NULL)
        return NULL;
    const uint32_t entry = world->group_count > 0 ? *find_name(world, name) : 0;
    return entry != 0 ? world->groups[entry - 1] : NULL;
}

// Makes space for more groups.
static mf_Status grow_groups(mf_World *world, mf_Error *error) {
    mf_World grown = *world;
    const uint32_t capacity = world->group_capacity > 0 ? 2 * world->group_capacity : 8;
    const mf_Array arrays[] = {MF_ARRAY(grown.groups, capacity),
                               MF_ARRAY(grown.names, 2 * (size_t)capacity),
                               MF_ARRAY(grown.open_packs, 2 * (size_t)capacity),
                               MF_ARRAY(grown.parts, capacity),
                               MF_ARRAY(grown.gaps, capacity),
                               MF_ARRAY(grown.waves, (size_t)capacity * MF_MAX_SYSTEMS)};
    if (!mf_allocate_arrays(world->context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "world: no memory for %u groups", capacity);
    grown.group_capacity = capacity;
    for (uint32_t g = 0; g < world->group_count; g++) {
        grown.groups[g] = world->groups[g];
        *find_name(&grown, world->groups[g]->config.name) = g + 1;
    }
    mf_release(world->context, world->groups);
    *world = grown;
    return MF_OK;
}

mf_Status mf_world_list_group(mf_World *world, mf_Group *group, mf_Error *error) {
    MF_CHECK(world->group_count < MF_WORLD_GROUP_LIMIT, error, MF_LIMIT, "world: at most %u groups",
             MF_WORLD_GROUP_LIMIT);
    if (world->group_count == world->group_capacity)
        MF_TRY(grow_groups(world, error));
    group->number = world->group_count++;
    world->packed = false;
    world->groups[group->number] = group;
    *find_name(world, group->config.name) = group->number + 1;
    return MF_OK;
}

void mf_world_drop_group(mf_World *world) {
    MF_DEFAULT_FLOATS;
    if (world == NULL || world->group_count == 0)
        return;
    mf_Group *group = world->groups[world->group_count - 1];
    uint32_t left = 0;
    for (uint32_t i = 0; i < world->system_count; i++)
        if (world->systems[i].groups < world->group_count)
            world->systems[left++] = world->systems[i];
        else
            destroy_system(world, &world->systems[i]);
    world->system_count = left;
    *find_name(world, group->config.name) = 0; // the last one: no search for another name passes it
    world->group_count--;
    world->packed = false;
    mf_group_destroy(group);
    for (uint32_t g = 0; g < world->group_count; g++)
        mf_group_find_unread(world->groups[g]);
}

uint32_t mf_world_group_number(const mf_World *world, const mf_Group *group) {
    return group->world == world ? group->number : MF_NONE;
}

// ---- systems of the whole world -----------------------------------------------------------------

mf_WorldSystemConfig mf_world_system_config(void) {
    return (mf_WorldSystemConfig){
        .struct_size = sizeof(mf_WorldSystemConfig), .name = "system", .phase = MF_PHASE_SENSE};
}

// Whether a new system of `phase` belongs before the one in `slot`.
static bool goes_before(const mf_WorldSystemSlot *slot, mf_Phase phase, bool last) {
    return slot->config.phase > phase || (slot->config.phase == phase && slot->last && !last);
}

static mf_Status add_system(mf_World *world, const mf_WorldSystemConfig *config, bool last,
                            mf_Error *error) {
    MF_NEED(config != NULL && config->struct_size == sizeof *config && config->run != NULL, error,
            "world system: start from mf_world_system_config() and set a run function");
    if (config->name == NULL || (unsigned)config->phase > MF_PHASE_AFTER)
        return mf_fail(error, MF_BAD_ARGUMENT, "world system: need a name and a phase");
    bool every_step = config->rate.numerator == 0 && config->rate.denominator == 0;
    MF_TRY(mf_world_check_rate(world, config->name, config->rate, error));
    if (world->system_count == MF_WORLD_SYSTEM_LIMIT)
        return mf_fail(error, MF_LIMIT, "world: at most %u systems", MF_WORLD_SYSTEM_LIMIT);
    uint32_t at = world->system_count;
    for (; at > 0 && goes_before(&world->systems[at - 1], config->phase, last); at--)
        world->systems[at] = world->systems[at - 1];
    world->systems[at] = (mf_WorldSystemSlot){
        .config = *config, .every_step = every_step, .last = last, .groups = world->group_count};
    world->system_count++;
    mf_world_reschedule(world);
    world->packed = false;
    for (uint32_t g = 0; g < world->group_count; g++)
        mf_group_find_unread(world->groups[g]);
    return MF_OK;
}

mf_Status mf_world_add_system(mf_World *world, const mf_WorldSystemConfig *config,
                              mf_Error *error) {
    return add_system(world, config, false, error);
}

mf_Status mf_world_add_last_system(mf_World *world, const mf_WorldSystemConfig *config,
                                   mf_Error *error) {
    return add_system(world, config, true, error);
}

mf_Status mf_world_keep_state(mf_World *world, const mf_WorldState *state, mf_Error *error) {
    MF_CHECK(!world->has_state, error, MF_LIMIT, "world: it already has state outside of fields");
    world->state = *state;
    world->has_state = true;
    return MF_OK;
}

uint32_t mf_world_system_count(const mf_World *world) {
    return world == NULL ? 0 : world->system_count;
}
const mf_WorldSystemConfig *mf_world_system(const mf_World *world, uint32_t index) {
    if (world == NULL)
        return NULL;
    return index < world->system_count ? &world->systems[index].config : NULL;
}

const mf_WorldSystemConfig *mf_world_find_system(const mf_World *world, const char *name) {
    for (uint32_t i = 0; i < world->system_count; i++)
        if (strcmp(world->systems[i].config.name, name) == 0)
            return &world->systems[i].config;
    return NULL;
}
