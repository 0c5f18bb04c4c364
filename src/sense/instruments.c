// Adding the sensors of an MJCF file to a group: the field sensor.value, a system before the motion
// that keeps the velocities, and one behind it that measures.
//
// Invariant: sensor.value is state, because between two ticks of a slow sensor it holds what cannot
// be computed again; the kept velocities are not, since every tick writes before it reads them.
#include "sense/instruments_build.h"

#include "world/attach.h"

#include <mayfly/articulated.h>

#include <string.h>

static const char measure_name[] = "instruments", keep_name[] = "velocities";

mf_InstrumentsConfig mf_instruments_config(void) {
    return (mf_InstrumentsConfig){.struct_size = sizeof(mf_InstrumentsConfig), .noise = true};
}

static mf_InstrumentRun run_of(const mf_SystemRun *run) {
    return (mf_InstrumentRun){.first = run->first_block,
                              .count = run->block_count,
                              .only = UINT32_MAX,
                              .inverse_step = 1.0 / mf_time_to_seconds(run->step),
                              .time = mf_time_to_seconds(run->time + run->step),
                              .tick = run->tick + 1};
}

static void run_keep(const mf_SystemRun *run, void *user) {
    const mf_InstrumentPlan *plan = user;
    mf_InstrumentRun work = run_of(run);
    plan->keep(&plan->batch, &work);
}

static void run_measure(const mf_SystemRun *run, void *user) {
    const mf_InstrumentPlan *plan = user;
    mf_InstrumentRun work = run_of(run);
    if (mf_group_count(run->group) > 1) {
        plan->run(&plan->batch, &work);
        return;
    }
    work.only = 0; // a lone robot needs no wide registers
    plan->run_one(&plan->batch, &work);
}

static mf_InstrumentRun run_one(const mf_InstrumentPlan *plan, uint32_t instance) {
    const mf_World *world = mf_group_world(plan->group);
    return (mf_InstrumentRun){
        .first = instance / MF_BLOCK,
        .count = 1,
        .only = instance % MF_BLOCK,
        .time = mf_time_to_seconds(mf_world_time(world)),
        .tick = (uint64_t)(mf_world_time(world) / mf_world_settings(world)->step)};
}

// Values that programs set begin at 0; the others as at rest.
static void reset_measure(mf_Group *group, uint32_t instance, void *user) {
    const mf_InstrumentPlan *plan = user;
    mf_Field *values = mf_group_find_field(group, "sensor.value");
    for (uint32_t c = 0; c < values->components; c++)
        mf_field_set(values, instance, c, 0.0);
    mf_InstrumentRun work = run_one(plan, instance);
    plan->run_one(&plan->batch, &work);
}

// ---- fields ------------------------------------------------------------------------------------

static const void *data_of(mf_Group *group, const char *name) {
    const mf_Field *field = mf_group_find_field(group, name);
    return field == NULL ? NULL : field->data;
}

static void bind_fields(mf_Group *group, mf_InstrumentBatch *batch) {
    batch->position = data_of(group, "base.position");
    batch->orientation = data_of(group, "base.orientation");
    batch->linear = data_of(group, "base.linear_velocity");
    batch->angular = data_of(group, "base.angular_velocity");
    batch->angle = data_of(group, "joint.angle");
    batch->rate = data_of(group, "joint.rate");
    batch->ball = data_of(group, "ball.orientation");
    batch->ball_rate = data_of(group, "ball.rate");
    batch->place = data_of(group, "free.position");
    batch->place_rate = data_of(group, "free.velocity");
    batch->force = data_of(group, "actuator.force");
    batch->outer = data_of(group, "sensor.outer");
    batch->joint_limit = data_of(group, "joint.limit_force");
    batch->tendon_limit = data_of(group, "tendon.limit_force");
    batch->tendons_of_model = mf_group_model(group)->tendon_count;
    batch->fault = data_of(group, "fault.word");
    const mf_Field *load = mf_group_find_field(group, "contact.load");
    if (load == NULL)
        load = mf_group_find_field(group, "point.load");
    if (load != NULL) {
        batch->load = load->data;
        batch->load_components = load->components;
    }
}

static mf_Status add_fields(mf_Group *group, mf_InstrumentPlan *plan, mf_Error *error) {
    static const mf_FieldInfo value = {
        "sensor.value",
        "1",
        "",
        MF_REAL,
        MF_PER_SENSOR,
        1,
        MF_FIELD_STATE | MF_FIELD_OUTPUT,
        "values of the sensors of the robot's file, each in its own unit"};
    static const mf_FieldInfo before = {"sensor.before",
                                        "1",
                                        "",
                                        MF_REAL,
                                        MF_FIXED_COUNT,
                                        1,
                                        MF_FIELD_OUTPUT,
                                        "velocities at the beginning of the step; m/s, rad/s"};
    mf_Field *field;
    mf_Status status = mf_attach_field(group, &value, plan->batch.value_count, &field, error);
    if (status != MF_OK)
        return status;
    plan->batch.values = field->data;
    if (!plan->accelerates || plan->batch.velocity_count == 0)
        return MF_OK;
    status = mf_attach_field(group, &before, plan->batch.velocity_count, &field, error);
    if (status == MF_OK)
        plan->batch.before = field->data;
    return status;
}

static void choose_kernels(mf_Group *group, mf_InstrumentPlan *plan) {
    static const mf_InstrumentFn runs[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_instrument_run);
    static const mf_InstrumentFn keeps[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_instrument_keep);
    mf_Isa isa = mf_world_isa(mf_group_world(group));
    bool precise = mf_group_settings(group)->double_precision;
    plan->run = runs[mf_kernel_row(isa)][precise];
    plan->run_one = runs[mf_kernel_row_single(isa)][precise];
    plan->keep = keeps[mf_kernel_row(isa)][precise];
}

// ---- systems -----------------------------------------------------------------------------------

static mf_Status check(const mf_Group *group, const mf_InstrumentsConfig *config, mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "instruments: start from mf_instruments_config()");
    const mf_Rate any = {1, 1};
    bool every = config->rate.numerator == 0 && config->rate.denominator == 0;
    return mf_attach_check(group, measure_name, every ? any : config->rate, error);
}

static uint64_t hash_config(const mf_InstrumentsConfig *config) {
    const int64_t settings[3] = {(int64_t)config->rate.numerator, (int64_t)config->rate.denominator,
                                 config->noise};
    return mf_hash_bytes(MF_HASH_START, settings, sizeof settings);
}

// The plan belongs to the system that keeps velocities or, without one, to the other.
static mf_Status add_systems(mf_Group *group, const mf_InstrumentsConfig *config,
                             mf_InstrumentPlan *plan, bool *owned, mf_Error *error) {
    static const char *const kept[] = {"base.linear_velocity",
                                       "base.angular_velocity",
                                       "joint.rate",
                                       "?ball.rate",
                                       "?free.velocity",
                                       "fault.word",
                                       NULL};
    static const char *const keeps[] = {"sensor.before", NULL};
    static const char *const reads[] = {"base.position",
                                        "base.orientation",
                                        "base.linear_velocity",
                                        "base.angular_velocity",
                                        "joint.angle",
                                        "joint.rate",
                                        "?ball.orientation",
                                        "?ball.rate",
                                        "?free.position",
                                        "?free.velocity",
                                        "?actuator.force",
                                        "?sensor.outer",
                                        "?joint.limit_force",
                                        "?tendon.limit_force",
                                        "?contact.load",
                                        "?point.load",
                                        "?sensor.before",
                                        "fault.word",
                                        NULL};
    static const char *const writes[] = {"sensor.value", NULL};
    mf_SystemConfig system = mf_system_config();
    system.name = keep_name;
    system.reads = kept;
    system.writes = keeps;
    system.phase = MF_PHASE_CONTROL;
    system.rate = config->rate;
    system.run = run_keep;
    system.destroy = mf_attach_release;
    system.user = plan;
    if (plan->batch.before != NULL) {
        mf_Status status = mf_group_add_system(group, &system, error);
        if (status != MF_OK)
            return status;
        *owned = true;
        system.destroy = NULL;
    }
    system.name = measure_name;
    system.reads = reads;
    system.phase = MF_PHASE_AFTER;
    system.run = run_measure;
    system.reset = reset_measure;
    system.writes = writes;
    system.settings_hash = hash_config(config);
    return mf_group_add_system(group, &system, error);
}

mf_Status mf_instruments_add(mf_Group *group, const mf_InstrumentsConfig *config, mf_Error *error) {
    mf_InstrumentsConfig settings = config != NULL ? *config : mf_instruments_config();
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_InstrumentPlan *plan = NULL;
    bool owned = false;
    mf_Status status = check(group, &settings, error);
    if (status == MF_OK)
        status = mf_instrument_plan_create(group, &settings, &plan, error);
    if (status != MF_OK || plan == NULL)
        return status;
    status = add_fields(group, plan, error);
    if (status == MF_OK && plan->outer_count > 0)
        status = mf_articulated_report_forces(group, plan->outer, plan->outer_count, error);
    if (status == MF_OK && plan->limits)
        status = mf_articulated_report_limits(group, error);
    if (status == MF_OK) {
        plan->batch.outer_count = plan->outer_count;
        bind_fields(group, &plan->batch);
        choose_kernels(group, plan);
        status = add_systems(group, &settings, plan, &owned, error);
    }
    if (status != MF_OK && !owned)
        mf_release(context, plan);
    return status;
}

// ---- questions ---------------------------------------------------------------------------------

static const mf_InstrumentPlan *plan_of(const mf_Group *group) {
    for (uint32_t i = 0; i < mf_group_system_count(group); i++)
        if (mf_group_system(group, i)->run == run_measure)
            return mf_group_system(group, i)->user;
    return NULL;
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

mf_Status mf_instruments_measure(mf_Group *group, uint32_t instance, const double *acceleration,
                                 double *values, mf_Error *error) {
    const mf_InstrumentPlan *plan = plan_of(group);
    if (plan == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "instruments: the group has none");
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_InstrumentBatch batch = plan->batch;
    bool precise = mf_group_settings(group)->double_precision;
    uint32_t lane = instance % MF_BLOCK;
    void *block = mf_allocate(context, (size_t)batch.velocity_count + batch.value_count + 1,
                              MF_BLOCK * sizeof(double));
    if (block == NULL)
        return mf_fail(error, MF_NO_MEMORY, "instruments: out of memory");
    batch.detached = block;
    batch.acceleration = (char *)block + (size_t)batch.value_count * MF_BLOCK * sizeof(double);
    for (uint32_t i = 0; i < batch.velocity_count; i++)
        put((void *)(uintptr_t)batch.acceleration, precise, i, lane,
            acceleration == NULL ? 0.0 : acceleration[i]);
    mf_Field *field = mf_group_find_field(group, "sensor.value");
    for (uint32_t i = 0; i < batch.value_count; i++)
        put(block, precise, i, lane, mf_field_get(field, instance, i));
    mf_InstrumentRun work = run_one(plan, instance);
    plan->run_one(&batch, &work);
    for (uint32_t i = 0; i < batch.value_count; i++)
        values[i] = get(block, precise, i, lane);
    mf_release(context, block);
    return MF_OK;
}
