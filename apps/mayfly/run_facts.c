// What became of a run (run_facts.h).
#include "run_facts.h"

#include <stdio.h>

#include "motion/table.h"

// ---- robots ------------------------------------------------------------------------------------

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

void mf_census_add(mf_Census *sum, const mf_Census *census) {
    sum->robots += census->robots;
    sum->alive += census->alive;
    sum->collided += census->collided;
    sum->crashed += census->crashed;
    sum->fenced += census->fenced;
    sum->faulty += census->faulty;
    sum->lying += census->lying;
    sum->refused += census->refused;
    for (int i = 0; i <= MF_MOTION_OWN_LAST; i++)
        sum->levels[i] += census->levels[i];
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

// ---- sensors -----------------------------------------------------------------------------------

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

// ---- tears -------------------------------------------------------------------------------------

// False: nothing in the group can tear.
static bool count_tears(const mf_Group *group, uint64_t *torn, uint64_t *of, const char **what) {
    const mf_MotionRow *row = mf_motion_first(group);
    return row != NULL && row->torn != NULL && row->torn(group, torn, of, what);
}

void mf_tears_print(const mf_Group *group, const char *name) {
    uint64_t torn, of;
    const char *what;
    if (count_tears(group, &torn, &of, &what))
        printf("torn      %s%s%llu of %llu %s\n", name == NULL ? "" : name,
               name == NULL ? "" : ": ", (unsigned long long)torn, (unsigned long long)of, what);
}

json_t *mf_tears_pack(const mf_Group *group) {
    uint64_t torn, of;
    const char *what;
    return count_tears(group, &torn, &of, &what) ? json_integer((json_int_t)torn) : json_null();
}
