// Initial values: properties of a robot by path, written to all robots of the group.
#include "scene/modules/modules.h"

#include <mayfly/property.h>

#include <string.h>

typedef struct Task {
    const mf_InitialValue *value;
    mf_Status status;
    mf_Error error; // without the position in the file
} Task;

static bool write_value(const mf_Property *property, void *user) {
    Task *task = user;
    const mf_InitialValue *value = task->value;
    double values[MF_INITIAL_VALUES];
    const double *source = value->values;
    if (value->value_count != property->count && value->value_count != 1) {
        task->status =
            mf_fail(&task->error, MF_BAD_ARGUMENT, "initial: %.99s has %u values, found %u",
                    value->path, property->count, value->value_count);
        return false;
    }
    if (value->value_count != property->count) {
        if (property->count > MF_INITIAL_VALUES) {
            task->status = mf_fail(&task->error, MF_LIMIT, "initial: %.99s has more than %u values",
                                   value->path, MF_INITIAL_VALUES);
            return false;
        }
        for (uint32_t i = 0; i < property->count; i++)
            values[i] = *value->values;
        source = values;
    }
    task->status = mf_property_write(property, source, &task->error);
    return task->status == MF_OK;
}

mf_Status mf_scene_write_initial(mf_SceneBuilder *builder, uint32_t index) {
    const mf_SceneGroup *from = &builder->file->groups[index];
    mf_Group *group = mf_world_group(builder->scene->world, index);
    for (uint32_t n = 0; n < from->initial_count; n++) {
        Task task = {.value = &from->initial[n]};
        uint64_t found = 0;
        if (mf_scene_is_early(builder, index, task.value->path))
            continue;
        for (uint32_t i = 0; i < mf_group_count(group) && task.status == MF_OK; i++)
            found += mf_property_list_in(group, i, task.value->path, write_value, &task);
        if (found == 0) { // the error is set
            mf_Property property;
            task.status = mf_property_find_in(group, 0, task.value->path, &property, &task.error);
        }
        if (task.status != MF_OK)
            return mf_fail_at(builder->error, task.status, builder->file->file, task.value->line,
                              task.value->column, "%s", task.error.message);
    }
    return MF_OK;
}
