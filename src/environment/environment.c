// Environments: creation and accessors. A step is in step.c.
#include "environment/environment.h"
#include "base/floats.h"

#include "math/scalar.h"

#include <math.h>

mf_EnvironmentConfig mf_environment_config(void) {
    return (mf_EnvironmentConfig){.struct_size = sizeof(mf_EnvironmentConfig),
                                  .count = 1,
                                  .motion = MF_MOTION_ARTICULATED,
                                  .autoreset = MF_AUTORESET_NEXT_STEP,
                                  .observation_type = MF_F64};
}

// ---- tasks -------------------------------------------------------------------------------------

uint32_t mf_task_count(void) {
    return mf_tasks_count;
}

const mf_TaskInfo *mf_task_info(uint32_t index) {
    return index < mf_tasks_count ? &mf_tasks[index]->info : NULL;
}

static const mf_Task *find_task(const char *name) {
    for (uint32_t i = 0; name != NULL && i < mf_tasks_count; i++)
        if (strcmp(mf_tasks[i]->info.name, name) == 0)
            return mf_tasks[i];
    return NULL;
}

const mf_TaskInfo *mf_task_find(const char *name) {
    const mf_Task *task = find_task(name);
    return task != NULL ? &task->info : NULL;
}

static uint32_t find_parameter(const mf_TaskInfo *info, const char *name) {
    for (uint32_t i = 0; name != NULL && i < info->parameter_count; i++)
        if (strcmp(info->parameters[i].name, name) == 0)
            return i;
    return MF_NONE;
}

// ---- checks ------------------------------------------------------------------------------------

static mf_Status take_settings(mf_TaskPlan *plan, const mf_EnvironmentConfig *config,
                               mf_Error *error) {
    const mf_TaskInfo *info = &plan->task->info;
    for (uint32_t i = 0; i < info->parameter_count; i++)
        plan->value[i] = info->parameters[i].value;
    for (uint32_t i = 0; i < config->setting_count; i++) {
        const mf_TaskSetting *setting = &config->settings[i];
        uint32_t at = find_parameter(info, setting->name);
        MF_CHECK(at != MF_NONE, error, MF_NOT_FOUND, "task %s has no parameter '%s'", info->name,
                 setting->name != NULL ? setting->name : "");
        const mf_TaskParameter *parameter = &info->parameters[at];
        MF_NEED(setting->value >= parameter->lower && setting->value <= parameter->upper, error,
                "task %s, %s: expected %g to %g, found %g", info->name, parameter->name,
                parameter->lower, parameter->upper, setting->value);
        plan->value[at] = setting->value;
    }
    return MF_OK;
}

static mf_Status check(const mf_EnvironmentConfig *config, mf_Error *error) {
    MF_NEED(config != NULL && config->struct_size == sizeof *config, error,
            "environment: start from mf_environment_config(), of this version");
    MF_CHECK(find_task(config->task) != NULL, error, MF_NOT_FOUND, "there is no task '%s'",
             config->task != NULL ? config->task : "");
    MF_NEED(config->count >= 1 && config->count <= 1u << 26, error,
            "environment.count: expected 1 to 2^26, found %u", config->count);
    MF_NEED(config->frame_skip <= 1000, error,
            "environment.frame_skip: expected 1 to 1000, "
            "found %u",
            config->frame_skip);
    MF_NEED(find_task(config->task)->make != NULL || (unsigned)config->motion < MF_MOTION_COUNT,
            error, "environment.motion: %d is not a motion", (int)config->motion);
    if ((unsigned)config->integrator > MF_ENVIRONMENT_RK4)
        return mf_fail(error, MF_BAD_ARGUMENT, "environment.integrator: unknown");
    if ((unsigned)config->autoreset > MF_AUTORESET_OFF)
        return mf_fail(error, MF_BAD_ARGUMENT, "environment.autoreset: unknown");
    MF_NEED(config->observation_type == MF_F64 || config->observation_type == MF_F32, error,
            "environment.observation_type: expected MF_F64 or MF_F32");
    if (config->settings == NULL && config->setting_count > 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "environment.settings: are missing");
    return MF_OK;
}

// The caller's model, or the task's own.
static mf_Status take_model(mf_Environment *environment, const mf_Model *model, mf_Error *error) {
    mf_TaskPlan *plan = &environment->plan;
    mf_Status status = MF_OK;
    MF_NEED(model != NULL || plan->task->make != NULL, error, "environment: need a model");
    if (model == NULL)
        status = plan->task->make(environment->context, plan, &environment->own_model, error);
    plan->model = model != NULL ? model : environment->own_model;
    return status;
}

static mf_Status plan_task(mf_Environment *environment, const mf_EnvironmentConfig *config,
                           mf_Error *error) {
    mf_TaskPlan *plan = &environment->plan;
    plan->task = find_task(config->task);
    const mf_TaskInfo *info = &plan->task->info;
    environment->vehicle.kind = MF_VEHICLE_QUADROTOR;
    environment->vehicle.quadrotor =
        config->quadrotor != NULL ? *config->quadrotor : mf_motions_config().quadrotor;
    environment->episode_steps =
        config->episode_steps > 0 ? config->episode_steps : info->episode_steps;
    plan->quadrotor = &environment->vehicle.quadrotor;
    plan->motion = config->motion;
    plan->frame_skip = info->frame_skip;
    plan->memory_count = plan->task->memory_count;
    plan->team = 1;
    MF_TRY(take_settings(plan, config, error));
    MF_TRY(take_model(environment, config->model, error));
    plan->step = info->step > 0 ? mf_time_to_seconds(info->step) : plan->model->physics.step;
    plan->rk4 = config->integrator == MF_ENVIRONMENT_RK4 ||
                (config->integrator == MF_ENVIRONMENT_AS_FILE &&
                 plan->model->physics.integrator == MF_PHYSICS_RK4);
    plan->action_count = plan->model->actuator_count;
    mf_Status status = plan->task->prepare(plan, error);
    if (status == MF_OK && !(plan->step >= 1e-6 && plan->step <= 1.0))
        status = mf_fail_at(error, MF_BAD_ARGUMENT, plan->model->file, 0, 0,
                            "timestep: expected 1e-6 to 1 s, found %g", plan->step);
    if (status == MF_OK && config->count % plan->team != 0)
        status = mf_fail(error, MF_BAD_ARGUMENT,
                         "environment.count: expected a multiple of the %u robots of a team, "
                         "found %u",
                         plan->team, config->count);
    if (config->frame_skip > 0)
        plan->frame_skip = config->frame_skip;
    environment->frame_skip = plan->frame_skip;
    plan->interval = plan->step * plan->frame_skip;
    return status;
}

// ---- memory ------------------------------------------------------------------------------------

// Lays out scratch in memory, each part on a cache line of its own; returns the number of
// doubles. NULL: only counts.
static double *take(double *memory, size_t *used, size_t count) {
    double *out = memory != NULL ? memory + *used : NULL;
    *used += (count + 7) / 8 * 8;
    return out;
}

static void lay_out_body_state(const mf_TaskPlan *plan, mf_BodyStateBatch *body_state,
                               double *memory, size_t *used) {
    const size_t links = MF_BLOCK * (size_t)plan->model->link_count;
    const size_t bodies = MF_BLOCK * (size_t)plan->model->body_count;
    body_state->point = take(memory, used, 3 * links);
    body_state->rotation = take(memory, used, 4 * links);
    body_state->axes = take(memory, used, 9 * links);
    body_state->speed = take(memory, used, 6 * links);
    body_state->center = take(memory, used, 3 * MF_BLOCK);
    body_state->inertia = take(memory, used, 10 * bodies);
    body_state->twist = take(memory, used, 6 * bodies);
    body_state->external = take(memory, used, 6 * bodies);
}

static size_t lay_out(const mf_TaskPlan *plan, mf_EnvironmentScratch *scratch, double *memory) {
    const mf_Model *model = plan->model;
    const size_t n = MF_BLOCK, positions = model->position_count,
                 velocities = model->velocity_count, links = model->link_count,
                 bodies = model->body_count;
    size_t used = 0;
    scratch->state = take(memory, &used, n * (positions + velocities));
    scratch->last = take(memory, &used, n * (positions + velocities));
    lay_out_body_state(plan, &scratch->body_state, memory, &used);
    scratch->position = take(memory, &used, n * positions);
    scratch->velocity = take(memory, &used, n * velocities);
    scratch->last_position = take(memory, &used, n * positions);
    scratch->last_velocity = take(memory, &used, n * velocities);
    scratch->point = take(memory, &used, n * 3 * links);
    scratch->rotation = take(memory, &used, n * 4 * links);
    scratch->center = take(memory, &used, n * 3);
    scratch->inertia = take(memory, &used, n * 10 * bodies);
    scratch->twist = take(memory, &used, n * 6 * bodies);
    scratch->external = take(memory, &used, n * 6 * bodies);
    scratch->actuator = take(memory, &used, n * velocities);
    scratch->limit = take(memory, &used, n * model->joint_count);
    scratch->feet = take(memory, &used, n * plan->foot_count);
    scratch->memory = take(memory, &used, plan->memory_count);
    scratch->observation = take(memory, &used, plan->observation_count);
    scratch->signals = take(memory, &used, plan->task->info.signal_count);
    scratch->action = take(memory, &used, plan->action_count);
    scratch->start = take(memory, &used, positions + velocities);
    scratch->start_position = (double(*)[3])take(memory, &used, 3 * links);
    scratch->start_rotation = (double(*)[4])take(memory, &used, 4 * links);
    return used;
}

static mf_Status make_scratch(mf_Environment *environment, mf_EnvironmentScratch *scratch,
                              mf_Error *error) {
    size_t count = lay_out(&environment->plan, scratch, NULL);
    double *memory = mf_allocate(environment->context, count, sizeof(double));
    MF_NEED_MEMORY(memory != NULL, error, "environment");
    lay_out(&environment->plan, scratch, memory); // the state is first: its pointer is released
    scratch->body_state.plan = environment->body_plan;
    scratch->team =
        mf_allocate(environment->context, environment->plan.team, sizeof *scratch->team);
    scratch->draws = mf_allocate(environment->context, environment->unit, sizeof *scratch->draws);
    scratch->fresh = mf_allocate(environment->context, environment->unit, sizeof *scratch->fresh);
    MF_NEED_MEMORY(scratch->team != NULL && scratch->draws != NULL && scratch->fresh != NULL, error,
                   "environment");
    return MF_OK;
}

static mf_Status make_memory(mf_Environment *environment, mf_Error *error) {
    const mf_Model *model = environment->plan.model;
    mf_Context *context = environment->context;
    const uint32_t count = model->position_count + model->velocity_count;
    environment->position = mf_allocate(context, 2 * count + 1, sizeof *environment->position);
    environment->targets =
        mf_allocate(context, environment->plan.action_count + 1, sizeof *environment->targets);
    MF_NEED_MEMORY(environment->position && environment->targets, error, "environment");
    environment->velocity = environment->position + model->position_count;
    environment->last_position = environment->position + count;
    environment->last_velocity = environment->last_position + model->position_count;
    environment->unit = MF_BLOCK;
    while (environment->unit % environment->plan.team != 0)
        environment->unit += MF_BLOCK;
    uint32_t units = (environment->count + environment->unit - 1) / environment->unit;
    environment->share_count = units < MF_ENVIRONMENT_SHARES ? units : MF_ENVIRONMENT_SHARES;
    MF_TRY(mf_body_state_create(context, model, &environment->body_plan, error));
    for (uint32_t i = 0; i < environment->share_count; i++)
        MF_TRY(make_scratch(environment, &environment->scratches[i], error));
    return MF_OK;
}

static mf_Status make(mf_Context *context, const mf_EnvironmentConfig *config, mf_Environment **out,
                      mf_Error *error) {
    mf_Environment *environment = mf_allocate(context, 1, sizeof *environment);
    MF_NEED_MEMORY(environment != NULL, error, "environment");
    environment->context = context;
    environment->count = config->count;
    environment->autoreset = config->autoreset;
    environment->observation_type = config->observation_type;
    mf_Status status = plan_task(environment, config, error);
    MF_THEN(status, make_memory(environment, error));
    MF_THEN(status, mf_environment_make_world(environment, config, error));
    if (status != MF_OK)
        mf_environment_destroy(environment);
    else
        *out = environment;
    return status;
}

mf_Status mf_environment_create(mf_Context *context, const mf_EnvironmentConfig *config,
                                mf_Environment **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL, error, "mf_environment_create: context is NULL");
    *out = NULL;
    MF_TRY(check(config, error));
    return make(context, config, out, error);
}

void mf_environment_destroy(mf_Environment *environment) {
    if (environment == NULL)
        return;
    mf_Context *context = environment->context;
    mf_pusher_destroy(environment->pusher);
    mf_scene_destroy(&environment->scene);
    mf_scene_file_destroy(environment->file);
    for (uint32_t i = 0; i < MF_ENVIRONMENT_SHARES; i++) {
        mf_release(context, environment->scratches[i].state);
        mf_release(context, environment->scratches[i].team);
        mf_release(context, environment->scratches[i].draws);
        mf_release(context, environment->scratches[i].fresh);
    }
    mf_release(context, (void *)environment->body_plan);
    mf_release(context, environment->feet);
    mf_model_destroy(environment->own_model);
    mf_release(context, environment->position);
    mf_release(context, environment->targets);
    mf_release(context, environment);
}

mf_Status mf_environment_pusher(mf_Environment *environment, mf_Pusher **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "mf_environment_pusher: out is NULL");
    *out = NULL;
    MF_NEED(environment != NULL, error, "mf_environment_pusher: environment is NULL");
    if (environment->pusher == NULL) {
        MF_TRY(mf_pusher_create(environment->world, &environment->pusher, error));
    }
    *out = environment->pusher;
    return MF_OK;
}

// ---- questions ---------------------------------------------------------------------------------

mf_World *mf_environment_world(const mf_Environment *environment) {
    return environment == NULL ? NULL : environment->world;
}

mf_Group *mf_environment_group(const mf_Environment *environment) {
    return environment == NULL ? NULL : environment->group;
}

const mf_TaskInfo *mf_environment_task(const mf_Environment *environment) {
    return environment == NULL ? NULL : &environment->plan.task->info;
}

uint32_t mf_environment_count(const mf_Environment *environment) {
    return environment == NULL ? 0 : environment->count;
}

uint32_t mf_environment_observation_count(const mf_Environment *environment) {
    return environment == NULL ? 0 : environment->plan.observation_count;
}

uint32_t mf_environment_action_count(const mf_Environment *environment) {
    return environment == NULL ? 0 : environment->plan.action_count;
}

void mf_environment_action_range(const mf_Environment *environment, uint32_t action, double *lower,
                                 double *upper) {
    MF_DEFAULT_FLOATS;
    if (environment == NULL)
        return;
    bool there = action < environment->plan.action_count;
    *lower = there ? environment->targets[action].lower : NAN;
    *upper = there ? environment->targets[action].upper : NAN;
}

uint32_t mf_environment_team(const mf_Environment *environment) {
    return environment == NULL ? 0 : environment->plan.team;
}

double mf_environment_interval(const mf_Environment *environment) {
    return environment == NULL ? 0 : environment->plan.interval;
}

double mf_environment_parameter(const mf_Environment *environment, const char *name) {
    MF_DEFAULT_FLOATS;
    if (environment == NULL)
        return 0;
    uint32_t at = find_parameter(&environment->plan.task->info, name);
    return at != MF_NONE ? environment->plan.value[at] : NAN;
}
