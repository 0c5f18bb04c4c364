// What a page reads of a robot.
#include "view.h"
#include "world/attach.h"

#include <math.h>
#include <string.h>

#define SHOWN 64u // [1] components of a field, the first ones

static json_t *read_field(const mf_Group *group, const mf_Field *field, uint32_t instance) {
    const uint32_t count = field->components < SHOWN ? field->components : SHOWN;
    json_t *values = json_array();
    for (uint32_t c = 0; c < count; c++)
        json_array_append_new(values, mf_json_real(mf_field_get(field, instance, c)));
    return json_pack("{s:s, s:s, s:s, s:b, s:o}", "name", field->info.name, "unit",
                     field->info.unit, "frame", field->info.frame, "input",
                     mf_field_is_input(group, field), "values", values);
}

// Those to which the group's robots can switch.
static json_t *list_motions(const mf_Group *group) {
    json_t *out = json_array();
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        if (mf_motion_in(group, (mf_Motion)i))
            json_array_append_new(out, json_string(mf_motion_name((mf_Motion)i)));
    return out;
}

json_t *mf_view_reading(const mf_Viewer *viewer, uint32_t robot) {
    mf_Group *group;
    uint32_t instance;
    if (!mf_film_robot(viewer->film, robot, &group, &instance))
        return NULL;
    json_t *fields = json_array();
    for (uint32_t f = 0; f < mf_group_field_count(group); f++)
        json_array_append_new(fields, read_field(group, mf_group_field(group, f), instance));
    const mf_Motion motion = mf_motion_of(group, instance);
    return json_pack("{s:i, s:f, s:s, s:o, s:o}", "robot", (int)robot, "time",
                     mf_time_to_seconds(mf_world_time(viewer->scene->world)), "motion",
                     motion != MF_MOTION_COUNT ? mf_motion_name(motion) : "", "motions",
                     list_motions(group), "fields", fields);
}

uint32_t mf_view_field(const mf_Group *group, const char *name) {
    for (uint32_t f = 0; f < mf_group_field_count(group); f++)
        if (strcmp(mf_group_field((mf_Group *)(uintptr_t)group, f)->info.name, name) == 0)
            return f;
    return MF_NONE;
}
