// Open-loop oscillators as a controller: one sine per joint, or per actuator of bars
// (oscillator_kernel.c).
#include "control/follow.h"
#include "motion/table.h"
#include "base/floats.h"
#include "control/oscillator.h"
#include "math/kernel_table.h"

#include "world/attach.h"
#include "world/systems.h"

#include <mayfly/control.h>

static const char system_name[] = "oscillator";

typedef struct OscillatorSystem {
    mf_OscillatorBatch batch;
    mf_OscillatorRunFn run;
} OscillatorSystem;

mf_OscillatorConfig mf_oscillator_config(void) {
    return (mf_OscillatorConfig){.struct_size = sizeof(mf_OscillatorConfig),
                                 .rate = mf_rate_from_period(80 * MF_MILLISECOND)};
}

static void run_oscillator(const mf_SystemRun *run, void *user) {
    const OscillatorSystem *system = user;
    system->run(&system->batch, mf_time_to_seconds(run->time), run->first_block, run->block_count);
}

// The actuators of bars; NULL: the group has joints, or nothing to drive.
static mf_Field *bar_control(mf_Group *group) {
    return mf_motion_counts(group) != NULL ? mf_group_find_field(group, "actuator.control") : NULL;
}

enum { FLAGS = MF_FIELD_STATE | MF_FIELD_INPUT, FIELDS = 4 };

static const mf_FieldInfo joint_fields[FIELDS] = {
    {"oscillator.offset", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, FLAGS,
     "center of each joint's oscillation; meters for slides"},
    {"oscillator.amplitude", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, FLAGS,
     "amplitude of each joint; meters for slides"},
    {"oscillator.phase", "1", "joint", MF_REAL, MF_PER_JOINT, 1, FLAGS,
     "phase lead of each joint, in revolutions"},
    {"oscillator.frequency", "Hz", "", MF_REAL, MF_PER_INSTANCE, 1, FLAGS,
     "oscillations per second"},
};
static const mf_FieldInfo bar_fields[FIELDS] = {
    {"oscillator.offset", "m", "", MF_REAL, MF_FIXED_COUNT, 1, FLAGS,
     "center of each actuator's rest length"},
    {"oscillator.amplitude", "m", "", MF_REAL, MF_FIXED_COUNT, 1, FLAGS,
     "amplitude of each actuator"},
    {"oscillator.phase", "1", "", MF_REAL, MF_FIXED_COUNT, 1, FLAGS,
     "phase lead of each actuator, in revolutions"},
    {"oscillator.frequency", "Hz", "", MF_REAL, MF_PER_INSTANCE, 1, FLAGS,
     "oscillations per second"},
};

static mf_Status add_fields(mf_Group *group, mf_OscillatorBatch *batch, mf_Error *error) {
    const mf_Field *control = bar_control(group);
    const mf_FieldInfo *infos = control != NULL ? bar_fields : joint_fields;
    const void **data[FIELDS] = {&batch->offset, &batch->amplitude, &batch->phase,
                                 &batch->frequency};
    for (int i = 0; i < FIELDS; i++) {
        mf_Field *field;
        const uint32_t count =
            infos[i].shape == MF_FIXED_COUNT && control != NULL ? control->components : 0;
        MF_TRY(mf_attach_field(group, &infos[i], count, &field, error));
        *data[i] = field->data;
    }
    const mf_Field *target = control != NULL ? control : mf_group_find_field(group, "joint.target");
    batch->joint_count = target->components;
    batch->target = target->data;
    batch->fault = mf_group_find_field(group, "fault.word")->data;
    return MF_OK;
}

// Oscillators of bars begin at their rest lengths.
static void reset_bars(mf_Group *group, uint32_t instance, void *user) {
    mf_Field *offset = mf_group_find_field(group, "oscillator.offset");
    const mf_Field *bar = mf_group_find_field(group, "actuator.bar");
    const mf_Field *length = mf_group_find_field(group, "bar.home_length");
    (void)user;
    for (uint32_t a = 0; a < bar->components; a++)
        mf_field_set(offset, instance, a,
                     mf_field_get(length, instance, (uint32_t)mf_field_get(bar, instance, a)));
}

static bool is_alike(const void *user, const void *other) {
    const OscillatorSystem *a = user, *b = other;
    return a->run == b->run && a->batch.joint_count == b->batch.joint_count;
}

static const mf_Alike alike = {.alike = is_alike};

mf_Status mf_oscillator_add(mf_Group *group, const mf_OscillatorConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_oscillator_add: group is NULL");
    static const mf_OscillatorRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_oscillator_run);
    static const char *const reads[] = {"oscillator.offset", "oscillator.amplitude",
                                        "oscillator.phase",  "oscillator.frequency",
                                        "fault.word",        NULL};
    static const char *const writes[] = {"joint.target", NULL};
    static const char *const bar_writes[] = {"actuator.control", NULL};
    mf_OscillatorConfig defaults = mf_oscillator_config();
    if (config == NULL)
        config = &defaults;
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "oscillator: start from mf_oscillator_config()");
    MF_TRY(mf_attach_check(group, system_name, config->rate, error));
    MF_TRY(mf_control_follows(group, system_name, error));
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    OscillatorSystem *system = mf_allocate(context, 1, sizeof *system);
    MF_NEED_MEMORY(system != NULL, error, "oscillator");
    mf_Status status = add_fields(group, &system->batch, error);
    if (status == MF_OK) {
        system->run = kernels[mf_kernel_row(mf_world_isa(world))]
                             [mf_group_config_of(group)->double_precision];
        mf_SystemConfig entry =
            mf_attach_system(system_name, MF_PHASE_CONTROL, run_oscillator, system);
        entry.rate = config->rate;
        entry.destroy = mf_attach_release;
        entry.reads = reads;
        entry.writes = bar_control(group) != NULL ? bar_writes : writes;
        entry.reset = bar_control(group) != NULL ? reset_bars : NULL;
        status = mf_group_add_system(group, &entry, error);
    }
    if (status == MF_OK)
        mf_attach_alike(group, system_name, &alike);
    for (uint32_t i = 0; status == MF_OK && i < mf_group_count(group) && bar_control(group); i++)
        reset_bars(group, i, system);
    if (status != MF_OK)
        mf_release(context, system);
    return status;
}
