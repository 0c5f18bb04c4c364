// Adding the sensors of a model to a group: the field sensor.value, a system before the motion that
// keeps the velocities, and one behind it that measures: the mapping first, then what happens to
// the values (signal.h).
//
// Invariant: sensor.value is state, because between two ticks of a slow sensor it holds what cannot
// be computed again; the kept velocities are not, since every tick writes before it reads them.
#include "sense/ranges.h"
#include "model/points.h"
#include "sense/sensors.h"
#include "motion/articulated/host.h"
#include "base/floats.h"
#include "math/kernel_table.h"
#include "sense/user_sensor.h"

#include "multibody/tree.h"
#include "world/attach.h"
#include "world/systems.h"

#include <stdio.h>
#include <string.h>

static const char measure_name[] = "sensors", keep_name[] = "velocities";

mf_SensorsConfig mf_sensors_config(void) {
    return (mf_SensorsConfig){.struct_size = sizeof(mf_SensorsConfig), .noise = true};
}

// The state that is measured: the present one, or the one behind the step.
static uint64_t tick_of(const mf_SensePlan *plan, const mf_SystemRun *run) {
    return run->tick + (plan->before_control ? 0 : 1);
}

static mf_SenseRun run_of(const mf_SensePlan *plan, const mf_SystemRun *run, uint64_t due) {
    const mf_Time time = run->time + (plan->before_control ? 0 : run->step);
    return (mf_SenseRun){.first = run->first_block,
                         .count = run->block_count,
                         .only = UINT32_MAX,
                         .inverse_step = 1.0 / mf_time_to_seconds(run->step),
                         .time = mf_time_to_seconds(time),
                         .due = due};
}

static void run_keep(const mf_SystemRun *run, void *user) {
    const mf_SensePlan *plan = user;
    mf_SignalMoments moments;
    mf_SenseRun work = run_of(plan, run, 0);
    mf_signal_set_measure(plan->signals, run->tick + 1, &moments);
    if (moments.due != 0)
        plan->keep(&plan->batch, &work);
}

// Sensors that show a field, of any type.
static void copy_fields(const mf_SensePlan *plan, uint32_t first, uint32_t count, uint64_t due) {
    for (uint32_t i = 0; i < plan->image->item_count; i++) {
        const mf_SenseItem *own = &mf_sense_items(plan->image)[i];
        if (own->copied && (due >> own->clock & 1))
            mf_sense_copy(mf_signal_set_raw(plan->signals), own->out, plan->sources[i].field,
                          own->component, own->count, first, count);
    }
}

// Runs a kernel with scratch of the plan. Robots may have been given numbers of their own since the
// plan was made.
static void run_kernel(const mf_SensePlan *plan, mf_SenseFn kernel, const mf_SenseBatch *batch,
                       mf_SenseRun *work) {
    const mf_Field *numbers = mf_group_numbers(plan->group);
    mf_SenseBatch own;
    work->scratch = mf_scratch_borrow(plan->scratch);
    if (numbers != NULL) {
        memcpy(&own, batch, sizeof own);
        own.numbers = numbers->data;
        own.number_count = numbers->components;
        batch = &own;
    }
    kernel(batch, work);
    mf_scratch_return(plan->scratch, work->scratch);
    if (plan->ranges != NULL)
        mf_ranges_apply(plan->ranges, plan, batch, work);
}

void mf_sense_measure(const mf_SensePlan *plan, const mf_SystemRun *run) {
    mf_SignalMoments moments;
    if (!mf_signal_set_measure(plan->signals, tick_of(plan, run), &moments))
        return;
    mf_SenseRun work = run_of(plan, run, moments.due);
    if (mf_group_count(run->group) > 1) {
        if (moments.due != 0)
            run_kernel(plan, plan->run, &plan->batch, &work);
    } else if (moments.due != 0) {
        work.only = 0; // a lone robot needs no wide registers
        run_kernel(plan, plan->run_one, &plan->batch, &work);
    }
    if (moments.due != 0)
        mf_sensor_source_run(run);
    copy_fields(plan, run->first_block, run->block_count, moments.due);
    mf_signal_set_run(plan->signals, run, &moments);
}

// Range sensors that see others are measured when all have moved (ranges.c).
static void run_measure(const mf_SystemRun *run, void *user) {
    const mf_SensePlan *plan = user;
    if (plan->ranges == NULL)
        mf_sense_measure(plan, run);
}

static mf_SenseRun run_one(const mf_SensePlan *plan, uint32_t instance) {
    const mf_World *world = mf_group_world(plan->group);
    return (mf_SenseRun){.first = instance / MF_BLOCK,
                         .count = 1,
                         .only = instance % MF_BLOCK,
                         .time = mf_time_to_seconds(mf_world_time(world)),
                         .due = UINT64_MAX};
}

void mf_sense_start(const mf_SensePlan *plan, uint32_t instance) {
    mf_SenseRun work = run_one(plan, instance);
    run_kernel(plan, plan->run_one, &plan->batch, &work);
    mf_sensor_source_one(plan->group, instance);
    copy_fields(plan, work.first, 1, work.due);
    mf_signal_set_start(plan->signals, instance);
}

// Values that programs set begin at 0; the others as at rest.
static void reset_measure(mf_Group *group, uint32_t instance, void *user) {
    const mf_SensePlan *plan = user;
    mf_Field *values = mf_group_find_field(group, "sensor.value");
    mf_field_clear(values, instance);
    if (plan->ranges != NULL)
        mf_ranges_update(plan->ranges, true);
    mf_sense_start(plan, instance);
}

// ---- signals -----------------------------------------------------------------------------------

static mf_Signal signal_of(const mf_Sensor *sensor, const mf_SensorsConfig *config, bool dead) {
    mf_Signal signal = sensor->signal;
    if (!config->noise)
        signal.noise = signal.bias = signal.drift = 0.0;
    if (dead)
        signal = (mf_Signal){.rate = signal.rate};
    return signal;
}

// Joints one after the other, in the state and in the values, are copied in one loop.
static void count_joints(mf_SenseItem *items, uint32_t count) {
    for (uint32_t i = count; i-- > 0;) {
        mf_SenseItem *own = &items[i], *next = own + 1;
        own->joints = own->type == MF_SENSOR_JOINT;
        if (own->joints && i + 1 < count && next->joints && next->row == own->row + 1 &&
            next->address == own->address + 1 && next->out == own->out + 1 &&
            next->clock == own->clock && next->treated == own->treated)
            own->joints += next->joints;
    }
}

// What happens to the values, and with it where the mapping puts them.
static mf_Status add_signals(mf_Group *group, mf_SensePlan *plan, mf_Field *values,
                             const mf_SensorsConfig *config, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_SenseItem *own = (mf_SenseItem *)(uintptr_t)mf_sense_items(plan->image);
    uint32_t count = plan->image->item_count;
    mf_SignalSpec *specs = mf_allocate(context, count, sizeof *specs + sizeof(mf_Signal));
    MF_NEED_MEMORY(specs != NULL, error, "sensors");
    mf_Signal *signals = (mf_Signal *)(specs + count);
    for (uint32_t i = 0; i < count; i++) {
        signals[i] = signal_of(mf_sense_sensor(plan, own[i].sensor), config, own[i].dead);
        specs[i] = (mf_SignalSpec){.signal = &signals[i],
                                   .first = own[i].address,
                                   .count = own[i].count,
                                   .stream = own[i].sensor,
                                   .unit = mf_sense_is_direction(own[i].type),
                                   .always = own[i].copied};
    }
    mf_Status status = mf_signal_set_create(group, "sensor", values, config->rate, specs, count,
                                            &plan->signals, error);
    for (uint32_t i = 0; status == MF_OK && i < count; i++) {
        mf_SignalTarget target = mf_signal_set_target(plan->signals, i);
        own[i].clock = target.clock;
        own[i].out = target.row;
        own[i].treated = target.treated;
    }
    count_joints(own, count);
    if (status == MF_OK && mf_signal_set_raw(plan->signals) != NULL) {
        plan->batch.raw = mf_signal_set_raw(plan->signals)->data;
        plan->image->raw_count = mf_signal_set_raw(plan->signals)->components;
    }
    mf_release(context, specs);
    return status;
}

// ---- fields ------------------------------------------------------------------------------------

static const void *data_of(mf_Group *group, const char *name) {
    const mf_Field *field = mf_group_find_field(group, name);
    return field == NULL ? NULL : field->data;
}

static void bind_fields(mf_Group *group, mf_SensePlan *plan) {
    mf_SenseBatch *batch = &plan->batch;
    batch->position = data_of(group, "base.position");
    batch->orientation = data_of(group, "base.orientation");
    batch->linear = data_of(group, "base.linear_velocity");
    batch->angular = data_of(group, "base.angular_velocity");
    batch->angle = data_of(group, "joint.angle");
    batch->rate = data_of(group, "joint.rate");
    batch->ball = data_of(group, "ball.orientation");
    batch->ball_rate = data_of(group, "ball.rate");
    batch->free = data_of(group, "free.position");
    batch->free_rate = data_of(group, "free.velocity");
    batch->force = data_of(group, "actuator.force");
    batch->external = data_of(group, "sensor.outer");
    batch->touch = data_of(group, "sensor.touch");
    batch->joint_limit = data_of(group, "joint.limit_force");
    batch->tendon_limit = data_of(group, "tendon.limit_force");
    batch->fault = data_of(group, "fault.word");
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    const mf_Field *point_load = mf_group_find_field(group, "point.load");
    batch->load = data_of(group, "contact.load");
    batch->point_load = data_of(group, "point.load");
    batch->motion = data_of(group, "motion.level");
    plan->image->load_components = load == NULL ? 0 : load->components;
    plan->image->point_components = point_load == NULL ? 0 : point_load->components;
}

static mf_Status add_fields(mf_Group *group, mf_SensePlan *plan, const mf_SensorsConfig *config,
                            mf_Error *error) {
    static const mf_FieldInfo value = MF_FIELD_INFO(
        "sensor.value", "1", "", MF_REAL, MF_PER_SENSOR, 1, MF_FIELD_STATE | MF_FIELD_OUTPUT,
        "values of the sensors of the robot's file, each in its own "
        "unit; behind them, if asked for, "
        "joint positions and roll, pitch, yaw of the base");
    static const mf_FieldInfo before =
        MF_FIELD_INFO("sensor.before", "1", "", MF_REAL, MF_FIXED_COUNT, 1, MF_FIELD_OUTPUT,
                      "velocities at the beginning of the step; m/s, rad/s");
    mf_Field *field;
    MF_TRY(mf_attach_field(group, &value, plan->image->value_count, &field, error));
    plan->batch.values = field->data;
    MF_TRY(add_signals(group, plan, field, config, error));
    if (!plan->image->accelerates || plan->image->velocity_count == 0)
        return MF_OK;
    MF_TRY(mf_attach_field(group, &before, plan->image->velocity_count, &field, error));
    plan->batch.before = field->data;
    return MF_OK;
}

static mf_Status choose_kernels(mf_Group *group, mf_SensePlan *plan, mf_Error *error) {
    static size_t (*const scratch_sizes[MF_KERNEL_ROWS][2])(const mf_SenseBatch *batch) =
        MF_KERNEL_TABLE(mf_sense_scratch_size);
    static const mf_SenseFn runs[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_sense_run);
    static const mf_SenseFn keeps[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_sense_keep);
    mf_Isa isa = mf_world_isa(mf_group_world(group));
    bool precise = mf_group_config_of(group)->double_precision;
    plan->run = runs[mf_kernel_row(isa)][precise];
    plan->run_one = runs[mf_kernel_row_single(isa)][precise];
    plan->keep = keeps[mf_kernel_row(isa)][precise];
    // Wide copies need most.
    return mf_world_scratch(mf_group_world(group),
                            scratch_sizes[mf_kernel_row(isa)][precise](&plan->batch),
                            &plan->scratch, error);
}

// ---- systems -----------------------------------------------------------------------------------

static mf_Status check(const mf_Group *group, const mf_SensorsConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error,
            "sensors: start from mf_sensors_config()");
    const mf_Rate any = {1, 1};
    bool every = config->rate.numerator == 0 && config->rate.denominator == 0;
    return mf_attach_check(group, measure_name, every ? any : config->rate, error);
}

static uint64_t hash_config(const mf_SensorsConfig *config, const mf_SignalSet *signals) {
    const int64_t settings[3] = {(int64_t)config->rate.numerator, (int64_t)config->rate.denominator,
                                 config->noise | config->before_control << 1 |
                                     config->posture << 2};
    return mf_signal_set_hash(signals, mf_hash_bytes(MF_HASH_START, settings, sizeof settings));
}

static void destroy_plan(mf_Context *context, void *user) {
    mf_SensePlan *plan = user;
    mf_signal_set_destroy(context, plan->signals);
    mf_sense_plan_destroy(context, plan);
}

// Whether some sensor shows a field, which may be any.
static bool shows_fields(const mf_SensePlan *plan) {
    for (uint32_t i = 0; i < plan->image->item_count; i++)
        if (mf_sense_items(plan->image)[i].copied)
            return true;
    return false;
}

// The plan belongs to the system that keeps velocities or, without one, to the other.
static mf_Status add_systems(mf_Group *group, const mf_SensorsConfig *config, mf_SensePlan *plan,
                             bool *owned, mf_Error *error) {
    static const char *const kept[] =
        MF_NAMES("base.linear_velocity", "base.angular_velocity", "joint.rate", "?ball.rate",
                 "?free.velocity", "fault.word");
    static const char *const keeps[] = {"sensor.before", NULL};
    static const char *const reads[] =
        MF_NAMES(MF_TREE_FIELD_NAMES, "?actuator.force", "?sensor.outer", "?joint.limit_force",
                 "?sensor.touch", "?tendon.limit_force", "?contact.load", "?point.load",
                 "?motion.level", "?sensor.before", "fault.word", "fault.count");
    static const char *const writes[] = {
        "sensor.value", "?sensor.raw", "?sensor.bias", "?sensor.ring", "?sensor.geometry",
        "fault.word",   NULL};
    mf_SystemConfig system = mf_attach_system(keep_name, MF_PHASE_CONTROL, run_keep, plan);
    system.reads = kept;
    system.writes = keeps;
    system.destroy = destroy_plan;
    if (plan->batch.before != NULL) {
        MF_TRY(mf_group_add_system(group, &system, error));
        *owned = true;
        system.destroy = NULL;
    }
    system.name = measure_name;
    system.reads = shows_fields(plan) ? NULL : reads;
    system.phase = plan->before_control ? MF_PHASE_SENSE : MF_PHASE_AFTER;
    // What is measured now and then waits in the schedule; behind a step it is one state later.
    if (plan->before_control)
        system.rate = mf_signal_set_rate(plan->signals);
    system.run = run_measure;
    system.reset = reset_measure;
    system.writes = writes;
    system.settings_hash = hash_config(config, plan->signals);
    return mf_group_add_system(group, &system, error);
}

static const mf_Alike group_by_group = {.alike = NULL};

mf_Status mf_sensors_add(mf_Group *group, const mf_SensorsConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_sensors_add: group is NULL");
    mf_SensorsConfig settings = config != NULL ? *config : mf_sensors_config();
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_SensePlan *plan = NULL;
    bool owned = false;
    mf_Status status = check(group, &settings, error);
    MF_THEN(status, mf_sensor_source_prepare(group, error));
    MF_THEN(status, mf_sense_plan_create(group, &settings, &plan, error));
    if (status != MF_OK || plan == NULL)
        return status;
    status = add_fields(group, plan, &settings, error);
    if (status == MF_OK && plan->external_count > 0)
        status = mf_articulated_report_forces(group, plan->external, plan->external_count, error);
    if (status == MF_OK && plan->touch_count > 0)
        status = mf_articulated_report_touches(group, plan->touches, plan->touch_count, error);
    if (status == MF_OK && plan->limits)
        status = mf_articulated_report_limits(group, error);
    if (status == MF_OK) {
        bind_fields(group, plan);
        status = choose_kernels(group, plan, error);
    }
    MF_THEN(status, add_systems(group, &settings, plan, &owned, error));
    if (status == MF_OK)
        mf_attach_alike(group, measure_name, &group_by_group);
    else if (!owned)
        destroy_plan(context, plan);
    return status;
}

// ---- questions ---------------------------------------------------------------------------------

mf_SensePlan *mf_sense_plan_of(const mf_Group *group) {
    for (uint32_t i = 0; i < mf_group_system_count(group); i++)
        if (mf_group_system(group, i)->run == run_measure)
            return mf_group_system(group, i)->user;
    return NULL;
}

bool mf_sensors_note(const mf_Group *group, uint32_t index, char *text) {
    const mf_SensePlan *plan = group != NULL && text != NULL ? mf_sense_plan_of(group) : NULL;
    for (uint32_t i = 0; plan != NULL && i < plan->image->item_count; i++) {
        const mf_SenseItem *own = &mf_sense_items(plan->image)[i];
        if (plan->sources[i].reason == NULL || index-- > 0)
            continue;
        const mf_Sensor *sensor = mf_sense_sensor(plan, own->sensor);
        snprintf(text, MF_SENSORS_NOTE, "sensor %u '%.100s'%s%.100s reads 0: %s", own->sensor,
                 sensor->name, sensor->field != NULL ? " of field " : "",
                 sensor->field != NULL ? sensor->field : "", plan->sources[i].reason);
        return true;
    }
    return false;
}

// One block of values of the group's precision, value c of a lane at [c][lane].
static void put(void *block, bool precise, uint32_t c, uint32_t lane, double value) {
    size_t at = (size_t)c * MF_BLOCK + lane;
    if (precise)
        ((double *)block)[at] = value;
    else
        ((float *)block)[at] = (float)value;
}

static double get(const void *block, bool precise, uint32_t c, uint32_t lane) {
    size_t at = (size_t)c * MF_BLOCK + lane;
    return precise ? ((const double *)block)[at] : (double)((const float *)block)[at];
}

// From true values to readings without noise.
static void convert(const mf_SensePlan *plan, uint32_t index, uint32_t instance, double *values) {
    const mf_SenseItem *own = &mf_sense_items(plan->image)[index];
    const mf_Field *field = plan->sources[index].field;
    const mf_Signal *signal = &mf_sense_sensor(plan, own->sensor)->signal;
    for (uint32_t c = own->address; c < own->address + own->count; c++) {
        if (field != NULL)
            values[c] = mf_field_get(field, instance, own->component + c - own->address);
        if (!own->dead && !mf_sense_is_direction(own->type))
            values[c] = mf_signal_convert(signal, values[c]);
    }
}

mf_Status mf_sensors_measure(mf_Group *group, uint32_t instance, const double *acceleration,
                             double *values, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (group == NULL || instance >= mf_group_count(group))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_sensors_measure: there is no such group or robot");
    const mf_SensePlan *plan = mf_sense_plan_of(group);
    MF_NEED(plan != NULL, error, "sensors: the group has no sensors");
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_SenseBatch batch = plan->batch;
    bool precise = mf_group_config_of(group)->double_precision;
    uint32_t lane = instance % MF_BLOCK;
    void *block =
        mf_allocate(context, (size_t)plan->image->velocity_count + plan->image->value_count + 1,
                    MF_BLOCK * sizeof(double));
    MF_NEED_MEMORY(block != NULL, error, "sensors");
    batch.detached = block;
    batch.acceleration =
        (char *)block + (size_t)plan->image->value_count * MF_BLOCK * sizeof(double);
    for (uint32_t i = 0; i < plan->image->velocity_count; i++)
        put((void *)(uintptr_t)batch.acceleration, precise, i, lane,
            acceleration == NULL ? 0.0 : acceleration[i]);
    mf_Field *field = mf_group_find_field(group, "sensor.value");
    for (uint32_t i = 0; i < plan->image->value_count; i++)
        put(block, precise, i, lane, mf_field_get(field, instance, i));
    mf_SenseRun work = run_one(plan, instance);
    if (plan->ranges != NULL)
        mf_ranges_update(plan->ranges, true);
    run_kernel(plan, plan->run_one, &batch, &work);
    mf_sensor_source_one(group, instance);
    for (uint32_t i = 0; i < plan->image->value_count; i++)
        values[i] = get(block, precise, i, lane);
    for (uint32_t i = 0; i < plan->image->item_count; i++)
        convert(plan, i, instance, values);
    mf_release(context, block);
    return MF_OK;
}
