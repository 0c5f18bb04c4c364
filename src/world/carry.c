// The state of a world in another one with more groups (carry.h): what a snapshot holds, and the
// inputs and outputs besides, field by field by their names.
#include "world/carry.h"

#include "world/attach.h"
#include "world/group.h"

#include <string.h>

static mf_Status check_world(const mf_World *to, const mf_World *from, mf_Error *error) {
    const mf_WorldConfig *a = &to->config, *b = &from->config;
    if (a->step != b->step || a->seed != b->seed || a->gravity != b->gravity ||
        memcmp(a->gravity_direction, b->gravity_direction, sizeof a->gravity_direction) != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "expected a world with the same step, seed and gravity");
    if (mf_terrain_hash(a->terrain) != mf_terrain_hash(b->terrain))
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a world with the same ground");
    if (to->group_count < from->group_count || (from->has_state && !to->has_state))
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a world with the same groups and joints");
    for (uint32_t i = 0; i < from->system_count; i++) {
        const mf_WorldSystemConfig *system = &from->systems[i].config;
        MF_CHECK(system->pending == NULL || !system->pending(system->user), error, MF_BUSY,
                 "system %s has results that are not applied yet at step %llu; step the "
                 "world first",
                 system->name, (unsigned long long)from->tick);
    }
    return MF_OK;
}

static mf_Status check_group(mf_Group *to, const mf_Group *from, mf_Error *error) {
    const char *name = from->config.name;
    if (strcmp(to->config.name, name) != 0 || to->config.count != from->config.count ||
        to->config.isolated != from->config.isolated)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a group %.99s of %u robots, found %.99s",
                       name, from->config.count, to->config.name);
    for (uint32_t i = 0; i < (from->own != NULL || to->own != NULL ? from->config.count : 1); i++)
        if (mf_model_hash(mf_group_model_of(to, i)) != mf_model_hash(mf_group_model_of(from, i)))
            return mf_fail(error, MF_BAD_ARGUMENT, "the model of group %.99s has changed", name);
    for (uint32_t f = 0; f < from->field_count; f++) {
        const mf_Field *old = &from->fields[f];
        const mf_Field *field = mf_group_find_field(to, old->info.name);
        const bool follows = (old->info.flags & (MF_FIELD_STATE | MF_FIELD_INPUT)) == 0;
        if (field == NULL && follows) // added later, and computed from the state
            continue;
        if (field == NULL || field->info.type != old->info.type ||
            mf_field_bytes(field) != mf_field_bytes(old))
            return mf_fail(error, MF_BAD_ARGUMENT, "group %.99s has no such field %.99s any more",
                           name, old->info.name);
    }
    return MF_OK;
}

// The state outside of fields: joints that robots made, and contacts from which a step starts.
static mf_Status carry_state(mf_World *to, const mf_World *from, mf_Error *error) {
    if (!from->has_state)
        return MF_OK;
    const size_t size = from->state.size(from->state.user);
    void *image = mf_allocate(to->context, size + 1, 1);
    MF_NEED_MEMORY(image != NULL, error, "world");
    from->state.save(from->state.user, image);
    mf_Status status = to->state.prepare(to->state.user, image, size, error);
    if (status == MF_OK)
        to->state.restore(to->state.user);
    mf_release(to->context, image);
    return status;
}

static void carry_group(mf_Group *to, const mf_Group *from) {
    for (uint32_t f = 0; f < from->field_count; f++) {
        const mf_Field *old = &from->fields[f];
        mf_Field *field = mf_group_find_field(to, old->info.name);
        if (field != NULL && mf_field_bytes(old) > 0)
            memcpy(field->data, old->data, mf_field_bytes(old));
    }
}

mf_Status mf_world_carry(mf_World *to, const mf_World *from, mf_Error *error) {
    MF_TRY(check_world(to, from, error));
    for (uint32_t g = 0; g < from->group_count; g++)
        MF_TRY(check_group(to->groups[g], from->groups[g], error));
    MF_TRY(carry_state(to, from, error));
    for (uint32_t g = 0; g < from->group_count; g++)
        carry_group(to->groups[g], from->groups[g]);
    to->tick = from->tick;
    to->time = from->time;
    mf_world_reschedule(to);
    for (uint32_t i = 0; i < to->system_count; i++)
        if (to->systems[i].config.reset != NULL)
            to->systems[i].config.reset(to, to->systems[i].config.user);
    for (uint32_t g = 0; g < to->group_count; g++)
        if (to->groups[g]->restored != NULL)
            to->groups[g]->restored(to->groups[g], to->groups[g]->restored_user);
    return MF_OK;
}
