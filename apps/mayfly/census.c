// A census of a group (census.h).
#include "census.h"

#include <stdio.h>

#define LYING 0.6 // [1] cosine of the tilt below which a robot has fallen

static void count_fault(mf_Census *census, uint32_t fault) {
    if (fault == 0)
        census->alive++;
    else if (fault & MF_FAULT_COLLISION)
        census->collided++;
    else if (fault & MF_FAULT_TERRAIN)
        census->crashed++;
    else if (fault & MF_FAULT_FENCE)
        census->fenced++;
    else
        census->faulty++;
}

mf_Census mf_census_of(mf_Group *group) {
    const mf_Field *refused = mf_group_find_field(group, "command.refused");
    const mf_Field *rotation = mf_group_find_field(group, "base.orientation");
    const bool joints = mf_group_model(group)->joint_count > 0;
    mf_Census census = {.robots = mf_group_count(group)};
    for (uint32_t i = 0; i < census.robots; i++) {
        double x = mf_field_get(rotation, i, 1), y = mf_field_get(rotation, i, 2);
        mf_Motion motion = mf_motion_of(group, i);
        count_fault(&census, mf_group_fault(group, i));
        census.lying += joints && 1.0 - 2.0 * (x * x + y * y) < LYING;
        if (motion != MF_MOTION_COUNT)
            census.levels[motion]++;
        if (refused != NULL)
            census.refused += (uint64_t)mf_field_get(refused, i, 0);
    }
    return census;
}

const char *mf_census_levels(const mf_Census *census, char *out, size_t size) {
    size_t used = 0;
    snprintf(out, size, "scenery");
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        if (census->levels[i] > 0 && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%u %s", used > 0 ? ", " : "",
                                     census->levels[i], mf_motion_name((mf_Motion)i));
    return out;
}

json_t *mf_census_pack_levels(const mf_Census *census) {
    json_t *levels = json_object();
    for (int i = 0; levels != NULL && i <= MF_MOTION_OWN_LAST; i++)
        if (census->levels[i] > 0)
            json_object_set_new(levels, mf_motion_name((mf_Motion)i),
                                json_integer(census->levels[i]));
    return levels;
}
