// Starts of single instances (mf_group_set_start).
#include "world/group.h"
#include "base/floats.h"

#include <string.h>

static bool within(const double *values, uint32_t count, double limit) {
    for (uint32_t i = 0; i < count; i++)
        if (!(values[i] > -limit && values[i] < limit))
            return false;
    return true;
}

static mf_Status make_start(const mf_Group *group, const double position[3],
                            const double orientation[4], const double linear_velocity[3],
                            mf_StartPose *start, mf_Error *error) {
    const char *name = group->config.name;
    *start = (mf_StartPose){.orientation = {1.0, 0.0, 0.0, 0.0}};
    MF_NEED(within(position, 3, 1e9), error, "group %s: place: need a position within 1e9 m", name);
    memcpy(start->position, position, sizeof start->position);
    if (linear_velocity != NULL) {
        MF_NEED(within(linear_velocity, 3, 1e9), error,
                "group %s: place: need a velocity within 1e9 m/s", name);
        memcpy(start->linear_velocity, linear_velocity, sizeof start->linear_velocity);
    }
    if (orientation != NULL) {
        double square = 0.0;
        for (int i = 0; i < 4; i++)
            square += orientation[i] * orientation[i];
        MF_NEED(square > 0.98 && square < 1.02, error,
                "group %s: place: need an orientation of length 1 (w, x, y, z)", name);
        double length = __builtin_sqrt(square);
        for (int i = 0; i < 4; i++)
            start->orientation[i] = orientation[i] / length;
    }
    return MF_OK;
}

static uint64_t hash_start(const mf_StartPose *start, uint32_t instance) {
    uint64_t hash = mf_hash_bytes(MF_HASH_START, &instance, sizeof instance);
    return mf_hash_bytes(hash, start, sizeof *start);
}

mf_Status mf_group_set_start(mf_Group *group, uint32_t instance, const double position[3],
                             const double orientation[4], const double linear_velocity[3],
                             mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_group_set_start: group is NULL");
    mf_Context *context = group->world->context;
    mf_StartPose start;
    if (instance >= group->config.count)
        return mf_fail(error, MF_BAD_ARGUMENT, "group %s: place: there is no instance %u of %u",
                       group->config.name, instance, group->config.count);
    MF_TRY(make_start(group, position, orientation, linear_velocity, &start, error));
    if (group->starts == NULL) {
        mf_StartPose *starts = mf_allocate(context, group->config.count, sizeof *starts);
        uint8_t *placed = mf_allocate(context, group->config.count, 1);
        if (starts == NULL || placed == NULL) {
            mf_release(context, starts);
            mf_release(context, placed);
            return mf_fail(error, MF_NO_MEMORY, "group %s: no memory for %u starts",
                           group->config.name, group->config.count);
        }
        group->starts = starts;
        group->placed = placed;
    }
    // A sum, so that the hash does not depend on the order of the calls.
    if (group->placed[instance] != 0)
        group->starts_hash -= hash_start(&group->starts[instance], instance);
    group->starts[instance] = start;
    group->placed[instance] = 1;
    group->starts_hash += hash_start(&start, instance);
    mf_group_reset(group, instance);
    return MF_OK;
}
