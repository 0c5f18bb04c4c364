// User-defined sensors: the mapping writes the true values to the field NAME.raw, and the signal
// (signal.h) computes the readings in the field NAME.
#include "sense/user_sensor.h"
#include "model/points.h"
#include "base/floats.h"

#include "sense/signal.h"
#include "world/attach.h"
#include "world/systems.h"
#include "world/value.h"

#include <string.h>

typedef struct SensorSystem {
    mf_SignalSet *signals;
    mf_Field *raw, *readings;
    mf_SensorFn map;
    void *user;
    void (*destroy)(mf_Context *context, void *user);
    const char *writes[5]; // [1] names, NULL-terminated
    const char **reads;    // [1] likewise, after this structure; NULL: not declared
} SensorSystem;

mf_SensorConfig mf_sensor_config(void) {
    return (mf_SensorConfig){.struct_size = sizeof(mf_SensorConfig),
                             .unit = "1",
                             .frame = "",
                             .description = "",
                             .count = 1};
}

// ---- running -----------------------------------------------------------------------------------

static void run_sensor(const mf_SystemRun *run, void *user) {
    const SensorSystem *system = user;
    mf_SignalMoments moments;
    if (!mf_signal_set_measure(system->signals, run->tick + 1, &moments))
        return;
    if (moments.due != 0)
        system->map(run, system->raw, system->user);
    mf_signal_set_run(system->signals, run, &moments);
}

static void reset_sensor(mf_Group *group, uint32_t instance, void *user) {
    const SensorSystem *system = user;
    const mf_World *world = mf_group_world(group);
    mf_Time time = mf_world_time(world);
    const mf_SystemRun run = {.group = group,
                              .time = time,
                              .tick = (uint64_t)(time / mf_world_config_of(world)->step),
                              .first_block = instance / MF_BLOCK,
                              .block_count = 1};
    system->map(&run, system->raw, system->user);
    mf_signal_set_start(system->signals, instance);
}

static void destroy_sensor(mf_Context *context, void *user) {
    SensorSystem *system = user;
    if (system->destroy != NULL)
        system->destroy(context, system->user);
    mf_signal_set_destroy(context, system->signals);
    mf_release(context, system);
}

// ---- adding ------------------------------------------------------------------------------------

static mf_Status check(mf_Group *group, const mf_SensorConfig *config, mf_Error *error) {
    if (config == NULL || config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "sensor: start from mf_sensor_config()");
    if (config->name == NULL || *config->name == '\0' || strlen(config->name) > 200)
        return mf_fail(error, MF_BAD_ARGUMENT, "sensor.name: need 1 .. 200 bytes");
    MF_NEED(config->map != NULL, error, "sensor %s: map is missing", config->name);
    MF_NEED(config->count >= 1 && config->count <= UINT32_C(1) << 20, error,
            "sensor %s: count %u, need 1 .. 2^20", config->name, config->count);
    for (const char *const *name = config->reads; name != NULL && *name != NULL; name++)
        if (**name != '?' && mf_group_find_field(group, *name) == NULL)
            return mf_fail(error, MF_NOT_FOUND, "sensor %s: group %s has no field %s", config->name,
                           mf_group_config_of(group)->name, *name);
    const mf_Rate any = {1, 1};
    MF_TRY(mf_attach_check(group, config->name, any, error));
    return mf_signal_check(&config->signal, config->name, error);
}

static mf_Status add_fields(mf_Group *group, const mf_SensorConfig *config, SensorSystem *system,
                            mf_Error *error) {
    const mf_FieldInfo info =
        MF_FIELD_INFO(config->name, config->unit, config->frame, MF_REAL, MF_PER_SENSOR, 1,
                      MF_FIELD_STATE | MF_FIELD_OUTPUT, config->description);
    // Own random numbers, independent of the group's other sensors and their order.
    uint64_t stream = mf_hash_bytes(MF_HASH_START, config->name, strlen(config->name));
    const mf_SignalSpec spec = {.signal = &config->signal,
                                .count = config->count,
                                .stream = (uint32_t)(stream ^ stream >> 32),
                                .always = true};
    const mf_Rate each_step = {0, 0};
    MF_TRY(mf_attach_field(group, &info, config->count, &system->readings, error));
    MF_TRY(mf_signal_set_create(group, config->name, system->readings, each_step, &spec, 1,
                                &system->signals, error));
    system->raw = mf_signal_set_raw(system->signals);
    return MF_OK;
}

// Declared fields, including those of the signal.
static void list_names(SensorSystem *system, const mf_SensorConfig *config) {
    uint32_t count = mf_name_count(config->reads);
    system->writes[0] = system->readings->info.name;
    mf_signal_set_fields(system->signals, system->writes + 1);
    if (config->reads == NULL)
        return;
    system->reads = (const char **)(system + 1);
    for (uint32_t i = 0; i < count; i++)
        system->reads[i] = config->reads[i];
    system->reads[count] = "fault.word";
    system->reads[count + 1] = "fault.count";
}

mf_Status mf_sensor_add(mf_Group *group, const mf_SensorConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_sensor_add: group is NULL");
    mf_Context *context = mf_world_context(mf_group_world(group));
    MF_TRY(check(group, config, error));
    size_t names = mf_name_count(config->reads) + 3;
    SensorSystem *system = mf_allocate(context, 1, sizeof *system + names * sizeof(char *));
    if (system == NULL)
        return mf_fail(error, MF_NO_MEMORY, "sensor %s: out of memory", config->name);
    mf_Status status = add_fields(group, config, system, error);
    if (status == MF_OK) {
        mf_SystemConfig entry = mf_system_config();
        system->map = config->map;
        system->user = config->user;
        system->destroy = config->destroy;
        list_names(system, config);
        entry.name = system->readings->info.name;
        entry.phase = MF_PHASE_AFTER;
        entry.run = run_sensor;
        entry.reset = reset_sensor;
        entry.destroy = destroy_sensor;
        entry.user = system;
        entry.reads = system->reads;
        entry.writes = system->writes;
        entry.settings_hash = mf_signal_set_hash(system->signals, MF_HASH_START);
        status = mf_group_add_system(group, &entry, error);
    }
    if (status != MF_OK) {
        mf_signal_set_destroy(context, system->signals);
        mf_release(context, system);
    }
    return status;
}

// ---- ground truth ------------------------------------------------------------------------------

typedef struct FieldSensor {
    const mf_Field *field;
    uint32_t component, count; // [1]
    const char *reads[2];
} FieldSensor;

static void copy_row(mf_Field *to, size_t to_row, const mf_Field *from, size_t from_row) {
    const size_t size = mf_field_value_size(to->info.type);
    char *out = (char *)to->data + to_row * MF_BLOCK * size;
    if (to->info.type == from->info.type) {
        memcpy(out, (const char *)from->data + from_row * MF_BLOCK * size, MF_BLOCK * size);
        return;
    }
    for (uint32_t lane = 0; lane < MF_BLOCK; lane++)
        mf_value_set(to->info.type, out, lane,
                     mf_value_get(from->info.type, from->data, from_row * MF_BLOCK + lane));
}

void mf_sense_copy(mf_Field *to, uint32_t row, const mf_Field *from, uint32_t component,
                   uint32_t count, uint32_t first_block, uint32_t block_count) {
    for (uint32_t block = first_block; block < first_block + block_count; block++)
        for (uint32_t c = 0; c < count; c++)
            copy_row(to, (size_t)block * to->components + row + c, from,
                     (size_t)block * from->components + component + c);
}

static void map_field(const mf_SystemRun *run, mf_Field *values, void *user) {
    const FieldSensor *own = user;
    mf_sense_copy(values, 0, own->field, own->component, own->count, run->first_block,
                  run->block_count);
}

mf_Status mf_sensor_add_field(mf_Group *group, const char *name, const char *field,
                              uint32_t component, uint32_t count, const mf_Signal *signal,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_sensor_add_field: group is NULL");
    mf_Context *context = mf_world_context(mf_group_world(group));
    const mf_Field *found = mf_group_find_field(group, field);
    MF_CHECK(found != NULL, error, MF_NOT_FOUND, "sensor %s: group %s has no field %s", name,
             mf_group_config_of(group)->name, field);
    if (component > found->components || found->components - component < count)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "sensor %s: field %s has %u values, expected %u from number %u on", name,
                       field, found->components, count, component);
    FieldSensor *own = mf_allocate(context, 1, sizeof *own);
    if (own == NULL)
        return mf_fail(error, MF_NO_MEMORY, "sensor %s: out of memory", name);
    *own = (FieldSensor){found, component, count, {found->info.name, NULL}};
    mf_SensorConfig config = mf_sensor_config();
    config.name = name;
    config.unit = found->info.unit;
    config.frame = found->info.frame;
    config.description = found->info.description;
    config.count = count;
    config.map = map_field;
    config.user = own;
    config.destroy = mf_attach_release;
    config.reads = own->reads;
    if (signal != NULL)
        config.signal = *signal;
    mf_Status status = mf_sensor_add(group, &config, error);
    if (status != MF_OK)
        mf_release(context, own);
    return status;
}
