// Gaits as a control system of a group, and queries of a single gait.
#include "control/gait.h"
#include "motion/table.h"
#include "base/floats.h"
#include "math/kernel_table.h"

#include "base/hash.h"
#include "math/scalar.h"
#include "world/attach.h"
#include "world/systems.h"

#include <string.h>

const char *mf_gait_kind_name(mf_GaitKind kind) {
    static const char *const names[] = {"walk", "waves", "keyframes"};
    return (unsigned)kind <= MF_GAIT_KEYFRAMES ? names[kind] : "unknown";
}

double mf_gait_duration(const mf_Gait *gait) {
    MF_DEFAULT_FLOATS;
    if (gait == NULL)
        return 0;
    switch (gait->kind) {
    case MF_GAIT_WALK:
        return gait->walk.period;
    case MF_GAIT_WAVES:
        return gait->waves.period;
    case MF_GAIT_KEYFRAMES:
        break;
    }
    uint32_t count = gait->keyframes.frame_count;
    return count == 0 ? 0.0 : gait->keyframes.frames[count - 1].time;
}

mf_Status mf_gait_check(const mf_Gait *gait, const mf_Model *model, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_GaitDraft draft;
    MF_NEED(gait != NULL && model != NULL, error, "gait: gait or model is NULL");
    MF_TRY(mf_gait_draft(model->context, gait, model, &draft, NULL, error));
    mf_gait_draft_release(model->context, &draft);
    return MF_OK;
}

// ---- a group's gaits ---------------------------------------------------------------------------

static const char system_name[] = "gaits";

typedef struct GaitSystem {
    mf_GaitBatch batch;
    mf_GaitRunFn run;
    uint32_t first; // [1] gait after a reset
} GaitSystem;

mf_GaitConfig mf_gait_config(void) {
    return (mf_GaitConfig){.struct_size = sizeof(mf_GaitConfig),
                           .rate = mf_rate_from_period(10 * MF_MILLISECOND),
                           .first = 0};
}

static uint64_t hash_walk(uint64_t hash, const mf_GaitPlan *plan) {
    const mf_GaitSteps *walk = &plan->walk;
    const mf_GaitBalance *balance = &walk->balance;
    const double numbers[] = {walk->period,         walk->height,         walk->lift,
                              walk->sway,           walk->double_support, walk->lean,
                              walk->width,          walk->offset,         walk->arms,
                              balance->ankle_pitch, balance->ankle_roll,  balance->hip_pitch,
                              balance->hip_roll,    balance->step_pitch,  balance->step_roll,
                              balance->tilt,        balance->memory,      balance->smooth};
    hash = mf_hash_u32(hash, (uint32_t)walk->path);
    hash = mf_hash_doubles(hash, numbers, sizeof numbers / sizeof *numbers);
    for (int side = 0; side < 2; side++) {
        hash = mf_hash_u32(hash, plan->shoulders[side]);
        hash = mf_hash_doubles(hash, plan->legs[side].hip, 3);
        hash = mf_hash_doubles(hash, plan->legs[side].thigh, 2);
        hash = mf_hash_doubles(hash, plan->legs[side].shin, 2);
    }
    return mf_hash_doubles(hash, mf_gait_plan_pose(plan), plan->count);
}

static uint64_t hash_tone(uint64_t hash, const mf_GaitTone *tone) {
    const double numbers[] = {tone->offset, tone->amplitude, tone->forward,
                              tone->left,   tone->yaw,       tone->phase};
    hash = mf_hash_u32(mf_hash_u32(hash, tone->target), (uint32_t)tone->shape);
    return mf_hash_doubles(mf_hash_u32(hash, tone->harmonic), numbers,
                           sizeof numbers / sizeof *numbers);
}

static uint64_t hash_plan(uint64_t hash, const mf_GaitPlan *plan) {
    const double numbers[] = {plan->blend,    plan->pace.forward, plan->pace.left,
                              plan->pace.yaw, plan->pace.rise,    mf_time_to_seconds(plan->period),
                              plan->swing};
    hash = mf_hash_u32(mf_hash_u32(hash, (uint32_t)plan->kind), plan->pace.march);
    hash = mf_hash_u32(mf_hash_u32(hash, plan->loop), plan->count);
    hash = mf_hash_doubles(hash, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t i = 0; i < plan->count; i++)
        hash = mf_hash_u32(hash, mf_gait_plan_joints(plan)[i]);
    if (plan->kind == MF_GAIT_WALK)
        hash = hash_walk(hash, plan);
    for (uint32_t i = 0; i < plan->tone_count; i++)
        hash = hash_tone(hash, &mf_gait_plan_tones(plan)[i]);
    for (uint32_t i = 0; i < plan->segment_count; i++) {
        double end = mf_time_to_seconds(mf_gait_plan_times(plan)[i + 1]);
        hash = mf_hash_doubles(hash, &end, 1);
    }
    return mf_hash_doubles(hash, mf_gait_plan_curves(plan),
                           (size_t)plan->segment_count * plan->count * 4);
}

static void run_gaits(const mf_SystemRun *run, void *user) {
    const GaitSystem *system = user;
    system->run(&system->batch, run->first_block, run->block_count);
}

enum { STATE = MF_FIELD_STATE, INPUT = MF_FIELD_STATE | MF_FIELD_INPUT };
// The fields, with their members in the batch.
#define FIELDS(ROW)                                                                                \
    ROW(select, "gait.select", "1", "", MF_U32, MF_PER_INSTANCE, 1, INPUT,                         \
        "index of the gait; an index that does not exist: none")                                   \
    ROW(command, "gait.command", "m/s", "body", MF_REAL, MF_PER_INSTANCE, 3, INPUT,                \
        "command of the gait: forward, left, and yaw in rad/s")                                    \
    ROW(time, "gait.time", "s", "", MF_REAL, MF_PER_INSTANCE, 1, STATE,                            \
        "time since the gait was selected")                                                        \
    ROW(done, "gait.done", "1", "", MF_U32, MF_PER_INSTANCE, 1, STATE,                             \
        "1 after the end of keyframes without loop")                                               \
    ROW(active, "gait.active", "1", "", MF_U32, MF_PER_INSTANCE, 1, STATE,                         \
        "the active gait, counted from 1; 0: none")                                                \
    ROW(tick, "gait.tick", "1", "", MF_U32, MF_PER_INSTANCE, 1, STATE,                             \
        "ticks since the gait was selected")                                                       \
    ROW(pace, "gait.pace", "m/s", "body", MF_REAL, MF_PER_INSTANCE, 4, STATE,                      \
        "smoothed commands, the third in rad/s; activity of the robot, 0 to 1")                    \
    ROW(tilt, "gait.balance", "rad", "body", MF_REAL, MF_PER_INSTANCE, 8, STATE,                   \
        "integrated roll and pitch rate; displacement [m] of the left and the right foot by "      \
        "balance, forward and to the left")                                                        \
    ROW(from, "gait.from", "rad", "joint", MF_REAL, MF_PER_JOINT, 1, STATE,                        \
        "targets when the gait was selected")
#define INFO(member, ...) {__VA_ARGS__},
static const mf_FieldInfo infos[] = {FIELDS(INFO)};

// 0 means no gait.
static void reset_gait(mf_Group *group, uint32_t instance, void *user) {
    const GaitSystem *system = user;
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++)
        mf_field_clear(mf_group_find_field(group, infos[i].name), instance);
    mf_field_set(mf_group_find_field(group, "gait.select"), instance, 0, system->first);
}

static void destroy_gaits(mf_Context *context, void *user) {
    GaitSystem *system = user;
    mf_release(context, (void *)system->batch.set);
    mf_release(context, system);
}

static mf_Status add_fields(mf_Group *group, mf_GaitBatch *batch, mf_Error *error) {
    const mf_FieldInfo *info = infos;
    mf_Field *field;
#define ADD(member, ...)                                                                           \
    MF_TRY(mf_attach_field(group, info++, 0, &field, error));                                      \
    batch->member = field->data;
    FIELDS(ADD)
    const mf_Field *rate = mf_group_find_field(group, "base.angular_velocity");
    batch->angular_velocity = rate == NULL ? NULL : rate->data;
    batch->target = mf_group_find_field(group, "joint.target")->data;
    batch->fault = mf_group_find_field(group, "fault.word")->data;
    return MF_OK;
}

// A gait for joints that cannot follow it would have no effect.
static mf_Status check_followed(const mf_Group *group, const mf_Gait *gait,
                                const mf_GaitDraft *draft, mf_Error *error) {
    mf_Error cause = {0};
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < draft->plan.count && status == MF_OK; i++)
        status = mf_motion_follows(group, draft->joints[i], &cause);
    return status == MF_OK ? MF_OK
                           : mf_fail(error, status, "gaits: %.80s: %s",
                                     gait->name == NULL ? "" : gait->name, cause.message);
}

static mf_Status draft_all(mf_Group *group, const mf_Gait *const *gaits, uint32_t count,
                           mf_GaitDraft *drafts, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    for (uint32_t i = 0; i < count; i++) {
        mf_Error cause = {0};
        mf_Status status =
            mf_gait_draft(context, gaits[i], mf_group_model(group), &drafts[i], NULL, &cause);
        if (status != MF_OK)
            return mf_fail(error, status, "gaits: %.80s: %s",
                           gaits[i]->name == NULL ? "" : gaits[i]->name, cause.message);
        MF_TRY(check_followed(group, gaits[i], &drafts[i], error));
    }
    return MF_OK;
}

static mf_Status plan_all(GaitSystem *system, mf_Group *group, const mf_Gait *const *gaits,
                          uint32_t count, mf_Error *error) {
    mf_Context *context = mf_world_context(mf_group_world(group));
    mf_GaitDraft *drafts = mf_allocate(context, count, sizeof *drafts);
    MF_NEED_MEMORY(drafts != NULL, error, "gaits");
    mf_Status status = draft_all(group, gaits, count, drafts, error);
    MF_THEN(status, mf_gait_set_create(context, drafts, count, &system->batch.set, error));
    for (uint32_t i = 0; i < count; i++)
        mf_gait_draft_release(context, &drafts[i]);
    mf_release(context, drafts);
    return status;
}

static mf_Status add_system(GaitSystem *system, mf_Group *group, mf_Error *error) {
    static const mf_GaitRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_gait_run);
    static const char *const reads[] = {"gait.select", "gait.command", "base.angular_velocity",
                                        "fault.word", NULL};
    static const char *const writes[] = {"joint.target", "gait.time", "gait.done",
                                         "gait.active",  "gait.tick", "gait.pace",
                                         "gait.balance", "gait.from", NULL};
    int row = mf_kernel_row(mf_world_isa(mf_group_world(group)));
    system->run = kernels[row][mf_group_config_of(group)->double_precision];
    mf_SystemConfig entry = mf_attach_system(system_name, MF_PHASE_CONTROL, run_gaits, system);
    entry.rate = system->batch.rate;
    entry.reset = reset_gait;
    entry.destroy = destroy_gaits;
    entry.reads = reads;
    entry.writes = writes;
    entry.settings_hash = mf_hash_u32(MF_HASH_START, system->first);
    for (uint32_t i = 0; i < system->batch.set->count; i++)
        entry.settings_hash =
            hash_plan(entry.settings_hash, mf_gait_set_plan(system->batch.set, i));
    return mf_group_add_system(group, &entry, error);
}

static mf_Status check_arguments(const mf_Group *group, const mf_Gait *const *gaits, uint32_t count,
                                 const mf_GaitConfig *config, mf_Error *error) {
    MF_NEED(config->struct_size == sizeof *config, error, "gaits: start from mf_gait_config()");
    if (gaits == NULL || count == 0 || count > MF_GAIT_LIMIT)
        return mf_fail(error, count > MF_GAIT_LIMIT ? MF_LIMIT : MF_BAD_ARGUMENT,
                       "gaits: need 1 .. %u, found %u", MF_GAIT_LIMIT, count);
    for (uint32_t i = 0; i < count; i++)
        if (gaits[i] == NULL)
            return mf_fail(error, MF_BAD_ARGUMENT, "gaits: number %u is NULL", i);
    if (config->first >= count && config->first != MF_NONE)
        return mf_fail(error, MF_BAD_ARGUMENT, "gaits.first: need one of %u gaits, found %u", count,
                       config->first);
    return mf_attach_check(group, system_name, config->rate, error);
}

static void set_rate(mf_GaitBatch *batch, mf_Rate rate) {
    const unsigned __int128 unit = (unsigned __int128)rate.denominator * (uint64_t)MF_SECOND;
    batch->rate = rate;
    batch->tick_time = (uint64_t)(unit / (uint64_t)rate.numerator);
    batch->tick_rest = (uint64_t)(unit % (uint64_t)rate.numerator);
}

mf_Status mf_gaits_add(mf_Group *group, const mf_Gait *const *gaits, uint32_t count,
                       const mf_GaitConfig *config, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_GaitConfig defaults = mf_gait_config();
    config = config == NULL ? &defaults : config;
    MF_TRY(check_arguments(group, gaits, count, config, error));
    mf_Context *context = mf_world_context(mf_group_world(group));
    GaitSystem *system = mf_allocate(context, 1, sizeof *system);
    MF_NEED_MEMORY(system != NULL, error, "gaits");
    system->first = config->first;
    set_rate(&system->batch, config->rate);
    system->batch.interval = (double)config->rate.denominator / (double)config->rate.numerator;
    system->batch.joint_count = mf_group_model(group)->joint_count;
    mf_Status status = plan_all(system, group, gaits, count, error);
    MF_THEN(status, add_fields(group, &system->batch, error));
    MF_THEN(status, add_system(system, group, error));
    if (status != MF_OK)
        destroy_gaits(context, system);
    return status;
}

// ---- one gait, one robot -----------------------------------------------------------------------

// One block of fields; only the first lane is used.
typedef struct Sampler {
    uint32_t select[MF_BLOCK], active[MF_BLOCK], tick[MF_BLOCK], done[MF_BLOCK], fault[MF_BLOCK];
    double command[3 * MF_BLOCK], time[MF_BLOCK], pace[4 * MF_BLOCK], tilt[8 * MF_BLOCK];
    double joints[]; // from and target
} Sampler;

// Steady state: commands are reached and blending is finished.
static void settle(Sampler *sampler, const mf_GaitPace *pace, const double command[3]) {
    const double largest[3] = {pace->forward, pace->left, pace->yaw};
    bool moving = pace->march;
    for (int i = 0; i < 3; i++) {
        double cut = command[i] > largest[i] ? largest[i] : command[i];
        cut = cut < -largest[i] ? -largest[i] : cut;
        sampler->command[i * MF_BLOCK] = sampler->pace[i * MF_BLOCK] = cut;
        moving = moving || cut != 0.0;
    }
    sampler->pace[3 * MF_BLOCK] = moving ? 1.0 : 0.0;
}

// Runs the kernel as if its next tick were at `time`.
static void sample(const mf_GaitSet *set, Sampler *sampler, const mf_Model *model, mf_Time time,
                   double *angles) {
    static const mf_GaitRunFn kernels[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_gait_run);
    size_t width = (size_t)model->joint_count * MF_BLOCK;
    mf_GaitBatch batch = {.set = set,
                          .joint_count = model->joint_count,
                          .select = sampler->select,
                          .command = sampler->command,
                          .active = sampler->active,
                          .tick = sampler->tick,
                          .done = sampler->done,
                          .time = sampler->time,
                          .pace = sampler->pace,
                          .tilt = sampler->tilt,
                          .from = sampler->joints,
                          .target = sampler->joints + width,
                          .fault = sampler->fault};
    set_rate(&batch, (mf_Rate){MF_SECOND, time});
    for (uint32_t j = 0; j < model->joint_count; j++)
        sampler->joints[width + (size_t)j * MF_BLOCK] = angles[j];
    for (uint32_t i = 0; i < MF_BLOCK; i++)
        sampler->fault[i] = i == 0 ? 0 : MF_FAULT_RANGE;
    sampler->active[0] = 1;
    kernels[mf_kernel_row(MF_ISA_SCALAR)][1](&batch, 0, 1);
    for (uint32_t j = 0; j < model->joint_count; j++)
        angles[j] = sampler->joints[width + (size_t)j * MF_BLOCK];
}

mf_Status mf_gait_sample(const mf_Gait *gait, const mf_Model *model, double time,
                         const double command[3], double *angles, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const double rest[3] = {0.0, 0.0, 0.0};
    mf_GaitDraft draft;
    const mf_GaitSet *set = NULL;
    if (gait == NULL || model == NULL || angles == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "gait: gait, model or angles is NULL");
    MF_NEED(time >= 0.0 && time <= 1e9, error, "gait: time: need 0 .. 1e9 s, found %g", time);
    if (command != NULL && !mf_all_finite(command, 3))
        return mf_fail(error, MF_BAD_ARGUMENT, "gait: command: need finite numbers");
    MF_TRY(mf_gait_draft(model->context, gait, model, &draft, NULL, error));
    draft.plan.blend = 0.0;
    mf_Status status = mf_gait_set_create(model->context, &draft, 1, &set, error);
    size_t size = sizeof(Sampler) + (size_t)model->joint_count * 2 * MF_BLOCK * sizeof(double);
    Sampler *sampler = mf_allocate(model->context, 1, size);
    if (status == MF_OK && sampler == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "gait: out of memory");
    if (status == MF_OK) {
        settle(sampler, &draft.plan.pace, command == NULL ? rest : command);
        sample(set, sampler, model, mf_time_from_seconds(time), angles);
    }
    mf_release(model->context, sampler);
    mf_release(model->context, (void *)set);
    mf_gait_draft_release(model->context, &draft);
    return status;
}
