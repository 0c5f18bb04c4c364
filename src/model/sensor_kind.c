// The table of kinds of sensors (sensor_kind.h).
#include "model/sensor_kind.h"

const mf_SensorKind *mf_sensor_kind(mf_SensorType type) {
#define SENSOR_KIND(of, name, in_urdf, at, parts, needs, values, in, text)                         \
    [MF_SENSOR_##of] = {.word = name,                                                              \
                        .mjcf = MF_AT_##at < MF_AT_SITE        ? NULL                              \
                                : MF_AT_##at == MF_AT_CONTACTS ? "contact"                         \
                                                               : name,                             \
                        .urdf = in_urdf,                                                           \
                        .mount = MF_AT_##at,                                                       \
                        .items = MF_SENSES_##parts,                                                \
                        .flags = needs,                                                            \
                        .count = values,                                                           \
                        .unit = in,                                                                \
                        .description = text},
    static const mf_SensorKind kinds[] = {MF_SENSOR_KINDS(SENSOR_KIND)};
    return (size_t)type < sizeof kinds / sizeof *kinds ? &kinds[type] : NULL;
}

uint32_t mf_sensors_of_type(const mf_Model *model, mf_SensorType type) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < model->sensor_count; i++)
        count += model->sensors[i].type == type;
    return count;
}
