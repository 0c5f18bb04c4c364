// The machine-code controller (Fischer and Ihme 2024, Table I): settings, one machine as the
// reference, and the system that runs a group's machines in blocks (gp_kernel.c).
//
// Invariants: every byte is an instruction and every string of 32 bytes a program; a program can
// neither leave its memory nor move a joint beyond its range.
#include "control/follow.h"
#include "base/floats.h"
#include "control/gp.h"
#include "math/kernel_table.h"
#include "model/points.h"

#include "world/attach.h"
#include "world/systems.h"

#include <math.h>
#include <string.h>

static const char system_name[] = "gp";

mf_GpConfig mf_gp_config(void) {
    return (mf_GpConfig){.struct_size = sizeof(mf_GpConfig),
                         .rate = mf_rate_from_period(80 * MF_MILLISECOND),
                         .instructions_per_tick = 8,
                         .angle_per_move = 0.06,
                         .unknown = MF_GP_UNKNOWN_WRAP};
}

// ---- one machine -------------------------------------------------------------------------------

mf_GpMove mf_gp_execute(mf_GpMachine *machine, const uint8_t program[MF_GP_BYTES], uint32_t motors,
                        const int32_t *sensors, uint32_t sensor_count, mf_GpUnknown unknown) {
    if (machine == NULL)
        return (mf_GpMove){0};
    uint8_t instruction = program[machine->address % MF_GP_BYTES];
    uint32_t operand = instruction & 31u;
    uint8_t next = (uint8_t)((machine->address + 1u) % MF_GP_BYTES);
    mf_GpMove move = {MF_NONE, 0};
    uint32_t sensor;
    switch ((mf_GpOpcode)(instruction >> 5)) {
    case MF_GP_LEFT:
    case MF_GP_RIGHT:
        move.motor = mf_gp_resolve(operand, motors, unknown);
        if (move.motor != MF_NONE)
            move.direction = instruction >> 5 == MF_GP_LEFT ? -1 : 1;
        break;
    case MF_GP_SENSOR:
        sensor = mf_gp_resolve(operand, sensor_count, unknown);
        machine->accumulator = sensor == MF_NONE ? 0 : (uint8_t)(sensors[sensor] & 255);
        break;
    case MF_GP_LOAD:
        machine->accumulator = (uint8_t)operand;
        break;
    case MF_GP_JUMP:
        if (machine->accumulator != 0)
            next = (uint8_t)operand;
        break;
    case MF_GP_NOT:
        machine->accumulator = (uint8_t)~machine->accumulator;
        break;
    case MF_GP_INC:
        machine->accumulator++;
        break;
    case MF_GP_DEC:
        machine->accumulator--;
        break;
    }
    machine->address = next;
    return move;
}

// ---- the system --------------------------------------------------------------------------------

typedef struct GpSystem {
    mf_GpBatch batch; // owns its plan
    mf_GpRunFn run;
} GpSystem;

static void run_gp(const mf_SystemRun *run, void *user) {
    const GpSystem *system = user;
    system->run(&system->batch, run->first_block, run->block_count);
}

static void reset_gp(mf_Group *group, uint32_t instance, void *user) {
    const GpSystem *system = user;
    (void)group;
    system->batch.address[instance] = 0;
    system->batch.accumulator[instance] = 0;
}

static void destroy_gp(mf_Context *context, void *user) {
    GpSystem *system = user;
    mf_release(context, (void *)system->batch.plan);
    mf_release(context, system);
}

static mf_Status check_gp(const mf_Group *group, const mf_GpConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error, "gp: start from mf_gp_config()");
    MF_NEED(config->instructions_per_tick >= 1 && config->instructions_per_tick <= 256, error,
            "gp.instructions_per_tick is %u, need 1 .. 256", config->instructions_per_tick);
    MF_NEED(config->angle_per_move > 0.0 && config->angle_per_move <= 1e6, error,
            "gp.angle_per_move is %g, need > 0 and <= 1e6", config->angle_per_move);
    MF_NEED(config->unknown == MF_GP_UNKNOWN_IGNORE || config->unknown == MF_GP_UNKNOWN_WRAP, error,
            "gp.unknown is %d, need ignore or wrap", (int)config->unknown);
    return mf_attach_check(group, system_name, config->rate, error);
}

static uint32_t find_motor(const mf_Model *model, uint32_t number) {
    for (uint32_t i = 0; i < model->joint_count; i++)
        if (mf_joint_has_motor(&model->joints[i]) && number-- == 0)
            return i;
    return MF_NONE;
}

static void fill_motors(mf_GpPlan *plan, const mf_Model *model, mf_GpUnknown unknown) {
    uint32_t motors = 0;
    for (uint32_t i = 0; i < model->joint_count; i++)
        motors += mf_joint_has_motor(&model->joints[i]);
    mf_GpMotors *table = &plan->motors;
    for (uint32_t operand = 0; operand < MF_GP_OPERANDS; operand++) {
        uint32_t motor = mf_gp_resolve(operand, motors, unknown);
        uint32_t joint = motor == MF_NONE ? MF_NONE : find_motor(model, motor);
        double lower = joint == MF_NONE ? -INFINITY : model->joints[joint].lower;
        double upper = joint == MF_NONE ? INFINITY : model->joints[joint].upper;
        table->joint[operand] = joint == MF_NONE ? -1 : (int32_t)joint;
        table->lower_f32[operand] = (float)lower;
        table->upper_f32[operand] = (float)upper;
        table->lower_f64[operand] = lower;
        table->upper_f64[operand] = upper;
    }
}

static void add_reading(mf_GpPlan *plan, uint32_t component, double scale) {
    if (plan->sensor_count < MF_GP_READINGS)
        plan->sensors[plan->sensor_count++] = (mf_GpReading){component, scale};
}

static void add_type(mf_GpPlan *plan, const mf_Model *model, mf_SensorType type, double scale) {
    for (uint32_t i = 0; i < model->sensor_count; i++)
        if (model->sensors[i].type == type)
            add_reading(plan, model->sensors[i].address, scale);
}

// Numbers: contacts, rays, joints, attitude.
static mf_Status find_sensors(mf_Group *group, mf_GpPlan *plan, mf_GpBatch *batch,
                              mf_Error *error) {
    const double degrees = 57.29577951308232, centimetres = 100.0;
    const char *advice = "call mf_sensors_add with `posture` first";
    const mf_Model *model = mf_group_model(group);
    mf_Field *values;
    MF_TRY(mf_attach_find(group, "sensor.value", advice, &values, error));
    if (values->components != model->sensor_value_count + model->joint_count + 3)
        return mf_fail(error, MF_NOT_FOUND, "gp: sensor.value has no joints and attitude, %s",
                       advice);
    add_type(plan, model, MF_SENSOR_CONTACT, 1.0);
    add_type(plan, model, MF_SENSOR_RAY, centimetres);
    for (uint32_t i = 0; i < model->joint_count + 3; i++)
        add_reading(plan, model->sensor_value_count + i, degrees);
    plan->values = values->components;
    batch->values = values->data;
    return MF_OK;
}

static mf_Status make_plan(mf_Group *group, const mf_GpConfig *config, mf_GpBatch *batch,
                           mf_Error *error) {
    mf_GpPlan plan = {.instructions = config->instructions_per_tick,
                      .angle = config->angle_per_move,
                      .wrap = config->unknown == MF_GP_UNKNOWN_WRAP};
    fill_motors(&plan, mf_group_model(group), config->unknown);
    MF_TRY(find_sensors(group, &plan, batch, error));
    void *image;
    mf_Status status = mf_flat_pack(mf_world_context(mf_group_world(group)), &plan, sizeof plan,
                                    NULL, 0, &image, error);
    batch->plan = image;
    return status;
}

// The fields, with their members in the batch.
#define FIELDS(ROW)                                                                                \
    ROW(program, MF_GP_BYTES, "gp.program", "1", "", MF_I32, MF_FIXED_COUNT, 1,                    \
        MF_FIELD_STATE | MF_FIELD_INPUT,                                                           \
        "the controller's program, one instruction 0 .. 255 per address")                          \
    ROW(address, 0, "gp.address", "1", "", MF_I32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,             \
        "address of the next instruction, 0 .. 31")                                                \
    ROW(accumulator, 0, "gp.accumulator", "1", "", MF_I32, MF_PER_INSTANCE, 1, MF_FIELD_STATE,     \
        "the machine's accumulator, 0 .. 255")

static mf_Status add_fields(mf_Group *group, mf_GpBatch *batch, mf_Error *error) {
    mf_Field *field;
#define ADD(member, count, ...)                                                                    \
    static const mf_FieldInfo member##_info = {__VA_ARGS__};                                       \
    MF_TRY(mf_attach_field(group, &member##_info, count, &field, error));                          \
    batch->member = field->data;
    FIELDS(ADD)
    const mf_Field *target = mf_group_find_field(group, "joint.target");
    batch->target = target->data;
    batch->target_components = target->components;
    batch->fault = mf_group_find_field(group, "fault.word")->data;
    return MF_OK;
}

static bool is_alike(const void *user, const void *other) {
    const GpSystem *a = user, *b = other;
    return a->run == b->run && a->batch.target_components == b->batch.target_components &&
           a->batch.plan->bytes == b->batch.plan->bytes &&
           memcmp(a->batch.plan, b->batch.plan, a->batch.plan->bytes) == 0;
}

static const mf_Alike alike = {.alike = is_alike};

mf_Status mf_gp_add(mf_Group *group, const mf_GpConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(group != NULL, error, "mf_gp_add: group is NULL");
    static const mf_GpRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_gp_run);
    static const char *const reads[] = {"gp.program", "sensor.value", "joint.target", "fault.word",
                                        NULL};
    static const char *const writes[] = {"joint.target", "gp.address", "gp.accumulator", NULL};
    mf_GpConfig defaults = mf_gp_config();
    if (config == NULL)
        config = &defaults;
    MF_TRY(check_gp(group, config, error));
    MF_TRY(mf_control_follows(group, system_name, error));
    mf_World *world = mf_group_world(group);
    mf_Context *context = mf_world_context(world);
    GpSystem *system = mf_allocate(context, 1, sizeof *system);
    MF_NEED_MEMORY(system != NULL, error, "gp");
    system->run =
        kernels[mf_kernel_row(mf_world_isa(world))][mf_group_config_of(group)->double_precision];
    mf_Status status = make_plan(group, config, &system->batch, error);
    MF_THEN(status, add_fields(group, &system->batch, error));
    if (status == MF_OK) {
        mf_SystemConfig entry = mf_attach_system(system_name, MF_PHASE_CONTROL, run_gp, system);
        entry.rate = config->rate;
        entry.reset = reset_gp;
        entry.destroy = destroy_gp;
        entry.reads = reads;
        entry.writes = writes;
        status = mf_group_add_system(group, &entry, error);
    }
    if (status == MF_OK)
        mf_attach_alike(group, system_name, &alike);
    else
        destroy_gp(context, system);
    return status;
}

void mf_gp_set_program(mf_Group *group, uint32_t instance, const uint8_t program[MF_GP_BYTES]) {
    mf_Field *field = group != NULL ? mf_group_find_field(group, "gp.program") : NULL;
    if (field == NULL || instance >= mf_group_count(group))
        return;
    int32_t *memory = (int32_t *)field->data +
                      (size_t)(instance / MF_BLOCK) * field->components * MF_BLOCK +
                      instance % MF_BLOCK;
    for (uint32_t i = 0; i < MF_GP_BYTES; i++)
        memory[(size_t)i * MF_BLOCK] = program[i];
}
