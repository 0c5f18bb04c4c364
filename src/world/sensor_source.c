// Quantities that a motion computes from its state for sensors.
#include "world/attach.h"

#include "world/group.h"

void mf_sensor_source_set(mf_Group *group, const mf_SensorSource *sensor_source) {
    group->sensor_source = sensor_source;
}

mf_Status mf_sensor_source_prepare(mf_Group *group, mf_Error *error) {
    return group->sensor_source != NULL ? group->sensor_source->prepare(group, error) : MF_OK;
}

bool mf_sensor_source_find(const mf_Group *group, uint32_t sensor, uint32_t *component) {
    return group->sensor_source != NULL && group->sensor_source->find(group, sensor, component);
}

void mf_sensor_source_run(const mf_SystemRun *run) {
    if (run->group->sensor_source != NULL)
        run->group->sensor_source->run(run);
}

void mf_sensor_source_one(const mf_Group *group, uint32_t instance) {
    if (group->sensor_source != NULL)
        group->sensor_source->one(group, instance);
}
