// Values of a state that a motion computes for sensors.
#include "world/attach.h"

#include "world/group.h"

void mf_lookout_offer(mf_Group *group, const mf_Lookout *lookout) {
    group->lookout = lookout;
}

mf_Status mf_lookout_prepare(mf_Group *group, mf_Error *error) {
    return group->lookout != NULL ? group->lookout->prepare(group, error) : MF_OK;
}

bool mf_lookout_find(const mf_Group *group, uint32_t sensor, uint32_t *component) {
    return group->lookout != NULL && group->lookout->find(group, sensor, component);
}

void mf_lookout_run(const mf_SystemRun *run) {
    if (run->group->lookout != NULL)
        run->group->lookout->run(run);
}

void mf_lookout_one(const mf_Group *group, uint32_t instance) {
    if (group->lookout != NULL)
        group->lookout->one(group, instance);
}
