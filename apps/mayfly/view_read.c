// What a page reads of a robot, and what it may set.
#include "view.h"

#include <math.h>
#include <string.h>

#define SHOWN 64u // [1] components of a field, the first ones

// Meant to be written from outside, and no system of the group writes it.
static bool is_input(const mf_Group *group, const mf_Field *field) {
    return (field->info.flags & MF_FIELD_INPUT) != 0 &&
           mf_group_writer(group, field->info.name, 0) == NULL;
}

static json_t *read_field(const mf_Group *group, const mf_Field *field, uint32_t instance) {
    const uint32_t count = field->components < SHOWN ? field->components : SHOWN;
    json_t *values = json_array();
    for (uint32_t c = 0; c < count; c++)
        json_array_append_new(values, mf_app_real(mf_field_get(field, instance, c)));
    return json_pack("{s:s, s:s, s:s, s:b, s:o}", "name", field->info.name, "unit",
                     field->info.unit, "frame", field->info.frame, "input", is_input(group, field),
                     "values", values);
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
    return json_pack("{s:i, s:f, s:s, s:o}", "robot", (int)robot, "time",
                     mf_time_to_seconds(mf_world_time(viewer->scene->world)), "motion",
                     motion < MF_MOTION_COUNT ? mf_motion_name(motion) : "", "fields", fields);
}

const char *mf_view_set(const mf_Viewer *viewer, uint32_t robot, const char *name,
                        uint32_t component, double value) {
    mf_Group *group;
    uint32_t instance;
    if (!mf_film_robot(viewer->film, robot, &group, &instance))
        return "there is no such robot";
    mf_Field *field = mf_group_find_field(group, name);
    if (field == NULL || component >= field->components)
        return "the robot has no such field";
    if ((field->info.flags & MF_FIELD_INPUT) == 0)
        return "this field is not an input";
    if (!is_input(group, field))
        return "a system of the scene writes this field";
    mf_field_set(field, instance, component, value);
    return NULL;
}
