// Sensor readings of a robot, in the order of the robot's file.
#include "readings.h"

#include <stdio.h>

#define SENSORS_SHOWN 40u // [1] lines of text
#define VALUES_SHOWN 6u   // [1] of a sensor

static void print_sensor(const mf_Field *values, const mf_Sensor *sensor, const char *title) {
    printf("%-9s %-24s", title, sensor->name);
    for (uint32_t c = 0; c < sensor->count && c < VALUES_SHOWN; c++)
        printf(" %10.4g", mf_field_get(values, 0, sensor->address + c));
    puts(sensor->count > VALUES_SHOWN ? " ..." : "");
}

void mf_readings_print(mf_Group *group, const char *title) {
    const mf_Model *model = mf_group_model(group);
    const mf_Field *values = mf_group_find_field(group, "sensor.value");
    if (values == NULL)
        return;
    for (uint32_t i = 0; i < model->sensor_count && i < SENSORS_SHOWN; i++)
        print_sensor(values, &model->sensors[i], i == 0 ? title : "");
    if (model->sensor_count > SENSORS_SHOWN)
        printf("%-9s ... of %u (--record FILE --fields sensor.value keeps all)\n", "",
               model->sensor_count);
}

json_t *mf_readings_pack(mf_Group *group) {
    const mf_Field *values = mf_group_find_field(group, "sensor.value");
    json_t *list = json_array();
    for (uint32_t i = 0; list != NULL && values != NULL && i < values->components; i++)
        json_array_append_new(list, mf_json_real(mf_field_get(values, 0, i)));
    return list;
}
