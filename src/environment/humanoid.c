// A humanoid that walks, and one that stands up: Gymnasium's Humanoid-v5 and HumanoidStandup-v5.
#include "environment/tasks.h"

#include "math/scalar.h"

// The first parameters of both.
#define SHARED(ROW, cost, weight)                                                                  \
    ROW(CONTROL, MF_TASK_CONTROL(0.1))                                                             \
    ROW(IMPACT, MF_TASK_WEIGHT(cost "_cost_weight", weight, "cost per sum of squared forces"))     \
    ROW(IMPACT_MIN,                                                                                \
        MF_TASK_WEIGHT(cost "_cost_min", -MF_TASK_MOST, "lower limit of the cost of forces"))      \
    ROW(IMPACT_MAX, MF_TASK_WEIGHT(cost "_cost_max", 10.0, "upper limit of the cost of forces"))   \
    ROW(NOISE, MF_TASK_NOISE(1e-2))                                                                \
    ROW(HIDE, MF_TASK_HIDE)                                                                        \
    ROW(INERTIA,                                                                                   \
        MF_TASK_SWITCH("include_cinert_in_observation", 1.0, "inertia of bodies is observed"))     \
    ROW(TWIST,                                                                                     \
        MF_TASK_SWITCH("include_cvel_in_observation", 1.0, "velocity of bodies is observed"))      \
    ROW(ACTUATORS, MF_TASK_SWITCH("include_qfrc_actuator_in_observation", 1.0,                     \
                                  "actuator forces are observed"))                                 \
    ROW(FORCES,                                                                                    \
        MF_TASK_SWITCH("include_cfrc_ext_in_observation", 1.0, "external forces are observed"))
#define WALK(ROW)                                                                                  \
    SHARED(ROW, "contact", 5e-7)                                                                   \
    ROW(FORWARD, MF_TASK_FORWARD(1.25))                                                            \
    ROW(HEALTHY, MF_TASK_HEALTHY(5.0))                                                             \
    ROW(UNHEALTHY_ENDS, MF_TASK_UNHEALTHY_ENDS)                                                    \
    ROW(Z_MIN, MF_TASK_Z_MIN(1.0))                                                                 \
    ROW(Z_MAX, MF_TASK_Z_MAX(2.0))
enum { WALK(MF_TASK_INDEX) };
static const mf_TaskParameter walk_parameters[] = {WALK(MF_TASK_ROW)};
static const mf_TaskParameter rise_parameters[] = {
    SHARED(MF_TASK_ROW, "impact",
           0.5e-6){MF_TASK_WEIGHT("uph_cost_weight", 1.0, "has no effect, as in Gymnasium")},
};
static const char *const walk_signals[] = {"x_position",     "y_position",  "distance_from_origin",
                                           "x_velocity",     "y_velocity",  "reward_survive",
                                           "reward_forward", "reward_ctrl", "reward_contact"};
static const char *const rise_signals[] = {
    "x_position",   "y_position",      "z_distance_from_origin",
    "reward_linup", "reward_quadctrl", "reward_impact"};

static mf_Status prepare(mf_TaskPlan *plan, mf_Error *error) {
    const mf_Model *model = plan->model;
    const double *value = plan->value;
    plan->observation_count = model->position_count + model->velocity_count;
    plan->observation_count -= value[HIDE] != 0.0 ? 2 : 0;
    plan->observation_count += value[INERTIA] != 0.0 ? 10 * model->body_count : 0;
    plan->observation_count += value[TWIST] != 0.0 ? 6 * model->body_count : 0;
    plan->observation_count += value[ACTUATORS] != 0.0 ? model->velocity_count - 6 : 0;
    plan->observation_count += value[FORCES] != 0.0 ? 6 * model->body_count : 0;
    if (model->base == MF_BASE_FREE && model->actuator_count > 0 && model->body_count > 0)
        return MF_OK;
    return mf_fail_at(error, MF_UNSUPPORTED, model->file, 0, 0,
                      "task %s: expected a model with a free base, bodies and actuators",
                      plan->task->info.name);
}

static void start(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position, double *velocity) {
    mf_task_shake_uniform(draw, plan->value[NOISE], position, plan->model->position_count);
    mf_task_shake_uniform(draw, plan->value[NOISE], velocity, plan->model->velocity_count);
}

static void observe(const mf_TaskView *view, double *out) {
    const mf_TaskPlan *plan = view->plan;
    const mf_Model *model = plan->model;
    const double *value = plan->value;
    uint32_t from = value[HIDE] != 0.0 ? 2 : 0, bodies = model->body_count;
    mf_task_put(&out, view->position + from, model->position_count - from);
    mf_task_put(&out, view->velocity, model->velocity_count);
    if (value[INERTIA] != 0.0)
        mf_task_put(&out, view->inertia, 10 * bodies);
    if (value[TWIST] != 0.0)
        mf_task_put(&out, view->twist, 6 * bodies);
    if (value[ACTUATORS] != 0.0)
        mf_task_put(&out, view->actuator + 6, model->velocity_count - 6);
    if (value[FORCES] != 0.0)
        mf_task_put(&out, view->external, 6 * bodies);
}

static double impact(const mf_TaskView *view) {
    const double *value = view->plan->value;
    return mf_clamp(value[IMPACT] *
                        mf_task_squares(view->external, 6 * view->plan->model->body_count),
                    value[IMPACT_MIN], value[IMPACT_MAX]);
}

// ---- walking -----------------------------------------------------------------------------------

static void remember_walk(const mf_TaskView *view) {
    memcpy(view->memory, view->center, 2 * sizeof *view->memory);
}

static void begin_walk(const mf_TaskView *view, mf_TaskResult *result) {
    remember_walk(view);
    mf_task_put_position(view, result->signals);
    observe(view, result->observation);
}

static void judge_walk(const mf_TaskView *view, mf_TaskResult *result) {
    const mf_TaskPlan *plan = view->plan;
    const double before[2] = {view->memory[0], view->memory[1]}, height = view->position[2];
    bool well = height > plan->value[Z_MIN] && height < plan->value[Z_MAX];
    double *out = result->signals;
    begin_walk(view, result);
    for (int i = 0; i < 2; i++)
        out[3 + i] = (view->memory[i] - before[i]) / plan->interval;
    out[5] = well ? plan->value[HEALTHY] : 0.0;
    out[6] = plan->value[FORWARD] * out[3];
    out[7] = -view->plan->value[CONTROL] * mf_task_effort(view);
    out[8] = -impact(view);
    result->reward = (out[6] + out[5]) + (out[7] + out[8]); // in the order of Gymnasium
    result->terminated = !well && plan->value[UNHEALTHY_ENDS] != 0.0;
}

// ---- getting up --------------------------------------------------------------------------------

static void begin_rise(const mf_TaskView *view, mf_TaskResult *result) {
    result->signals[0] = view->position[0];
    result->signals[1] = view->position[1];
    result->signals[2] = view->position[2] - view->plan->model->start_position[2];
    observe(view, result->observation);
}

static void judge_rise(const mf_TaskView *view, mf_TaskResult *result) {
    double *out = result->signals;
    begin_rise(view, result);
    out[3] = view->position[2] / view->plan->step;
    out[4] = -view->plan->value[CONTROL] * mf_task_effort(view);
    out[5] = -impact(view);
    result->reward = out[3] + out[4] + out[5] + 1.0;
}

#define WANTS (MF_TASK_BODIES | MF_TASK_EXTERNAL | MF_TASK_ACTUATORS)

const mf_Task mf_task_humanoid = {
    MF_TASK_INFO("humanoid", "humanoid.xml", "a humanoid that walks forward", 5, 1000,
                 walk_parameters, walk_signals),
    .wants = WANTS, .memory_count = 2,
    MF_TASK_CALLS(prepare, start, remember_walk, begin_walk, judge_walk)};

const mf_Task mf_task_humanoid_standup = {
    MF_TASK_INFO("humanoid_standup", "humanoidstandup.xml", "a humanoid that gets up", 5, 1000,
                 rise_parameters, rise_signals),
    .wants = WANTS, MF_TASK_CALLS(prepare, start, NULL, begin_rise, judge_rise)};
