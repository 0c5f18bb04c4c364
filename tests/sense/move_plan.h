// Moves the plan of a group's sensors to other memory: it is one block without pointers.
#pragma once

#include "base/move_image.h"
#include "sense/sensors_build.h"

static inline void move_plan(mf_Context *context, const mf_Group *group) {
    uint32_t i = 0;
    while (strcmp(mf_group_system(group, i)->name, "sensors") != 0)
        i++;
    mf_SensePlan *plan = mf_group_system(group, i)->user;
    mf_SenseImage *image = plan->image;
    plan->image = move_image(context, image);
    plan->batch.image = plan->image;
    mf_release(context, image);
}
