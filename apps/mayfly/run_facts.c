// What became of a run (run_facts.h).
#include "run_facts.h"

#include <stdio.h>
#include <stdlib.h>

#include "math/scalar.h"
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

// ---- docks -------------------------------------------------------------------------------------

#define SHOWN 40u // [1] lines of first broken docks

// Sums about docks, with the number of assemblies.
typedef struct Docks {
    const mf_World *world;
    mf_DocksStatistics seen;
    uint32_t robots, assemblies; // [1]
} Docks;

static bool look(const mf_World *world, Docks *out) {
    const mf_WorldDocks *docks = mf_world_docks_of(world);
    const uint32_t robots = mf_docks_robot_count(docks);
    uint32_t *names = docks != NULL ? calloc(robots + 1, sizeof *names) : NULL;
    if (names == NULL)
        return false;
    *out = (Docks){world, mf_docks_statistics(docks), robots, mf_docks_assemblies(docks, names)};
    free(names);
    return true;
}

typedef struct Broken {
    const mf_Group *group;
    uint32_t robot, dock; // [1]
    double load[6];       // [N], [N m] when it broke
} Broken;

typedef void (*BrokenFn)(const Broken *broken, void *user);

// In the order of groups, robots and docks.
static uint32_t visit_broken(const mf_World *world, BrokenFn visit, void *user) {
    uint32_t count = 0;
    for (uint32_t g = 0; g < mf_world_group_count(world); g++) {
        mf_Group *group = mf_world_group((mf_World *)(uintptr_t)world, g);
        const mf_Field *state = mf_group_find_field(group, "dock.state");
        const mf_Field *load = mf_group_find_field(group, "dock.load");
        for (uint32_t i = 0; state != NULL && i < mf_group_count(group); i++)
            for (uint32_t d = 0; d < mf_group_model(group)->dock_count; d++) {
                Broken broken = {group, i, d, {0}};
                if (mf_field_get(state, i, d) != MF_DOCK_BROKEN)
                    continue;
                for (uint32_t c = 0; c < 6; c++)
                    broken.load[c] = mf_field_get(load, i, 6 * d + c);
                visit(&broken, user);
                count++;
            }
    }
    return count;
}

static void print_broken(const Broken *broken, void *user) {
    uint32_t *count = user;
    char name[120];
    if ((*count)++ == 0)
        printf(
            "broken dock                       tension / N  shear / N  bending, torsion / N m\n");
    if (*count > SHOWN)
        return;
    snprintf(name, sizeof name, "%s %u/%s", mf_group_config_of(broken->group)->name, broken->robot,
             mf_group_model(broken->group)->docks[broken->dock].name);
    const double *load = broken->load;
    printf("  %-30s  %11.4g  %9.4g  %12.4g  %7.4g\n", name, load[0],
           mf_sqrt(load[1] * load[1] + load[2] * load[2]),
           mf_sqrt(load[4] * load[4] + load[5] * load[5]), mf_abs(load[3]));
}

// How assemblies moved, where not all of it was as trees.
static void print_methods(const mf_DocksStatistics *seen) {
    const uint64_t by_joints = seen->loops + seen->touched + seen->others;
    const double sum = 0.01 * (double)(seen->trees + by_joints);
    if (by_joints == 0)
        return;
    printf("  %.3g %% of steps of assemblies as one tree; by joints %.3g %% for loops, %.3g %% for "
           "many contacts, %.3g %% for their motion or softness\n",
           (double)seen->trees / sum, (double)seen->loops / sum, (double)seen->touched / sum,
           (double)seen->others / sum);
}

void mf_run_print_docks(const mf_World *world) {
    Docks docks;
    uint32_t count = 0;
    if (!look(world, &docks))
        return;
    printf("docks     %llu joined, %llu released, %llu broken",
           (unsigned long long)docks.seen.joined, (unsigned long long)docks.seen.released,
           (unsigned long long)docks.seen.broken);
    if (docks.seen.missed > 0)
        printf(", %llu missed", (unsigned long long)docks.seen.missed);
    if (docks.seen.lost > 0)
        printf(", %llu pairs beyond the memory for them", (unsigned long long)docks.seen.lost);
    printf("; %u robots in %u %s\n", docks.robots, docks.assemblies,
           docks.assemblies == 1 ? "assembly" : "assemblies");
    print_methods(&docks.seen);
    visit_broken(world, print_broken, &count);
    if (count > SHOWN)
        printf("  ... and %u more\n", count - SHOWN);
}

static void set_count(json_t *object, const char *name, uint64_t value) {
    json_object_set_new(object, name, json_integer((json_int_t)value));
}

static json_t *pack_three(const double value[3]) {
    json_t *list = json_array();
    for (int c = 0; c < 3 && list != NULL; c++)
        json_array_append_new(list, mf_json_real(value[c]));
    return list;
}

static void pack_broken(const Broken *broken, void *user) {
    json_t *row = json_object();
    if (row == NULL)
        return;
    json_object_set_new(row, "group", json_string(mf_group_config_of(broken->group)->name));
    set_count(row, "robot", broken->robot);
    json_object_set_new(row, "dock",
                        json_string(mf_group_model(broken->group)->docks[broken->dock].name));
    json_object_set_new(row, "force", pack_three(broken->load));
    json_object_set_new(row, "moment", pack_three(broken->load + 3));
    json_array_append_new(user, row);
}

json_t *mf_run_pack_docks(const mf_World *world) {
    Docks docks;
    json_t *object = look(world, &docks) ? json_object() : NULL;
    json_t *broken = object != NULL ? json_array() : NULL;
    if (broken == NULL) {
        json_decref(object);
        return NULL;
    }
    set_count(object, "joined", docks.seen.joined);
    set_count(object, "released", docks.seen.released);
    set_count(object, "broken", docks.seen.broken);
    set_count(object, "missed", docks.seen.missed);
    set_count(object, "lost", docks.seen.lost);
    set_count(object, "steps_trees", docks.seen.trees);
    set_count(object, "steps_loops", docks.seen.loops);
    set_count(object, "steps_touched", docks.seen.touched);
    set_count(object, "steps_others", docks.seen.others);
    set_count(object, "assemblies", docks.assemblies);
    visit_broken(world, pack_broken, broken);
    json_object_set_new(object, "broken_docks", broken);
    return object;
}
