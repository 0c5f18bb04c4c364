// A four-legged robot that runs: Gymnasium's Ant-v5.
#include "environment/tasks.h"

#include "math/scalar.h"

#define PARAMETERS(ROW)                                                                            \
    ROW(FORWARD, MF_TASK_FORWARD(1.0))                                                             \
    ROW(CONTROL, MF_TASK_CONTROL(0.5))                                                             \
    ROW(CONTACT,                                                                                   \
        MF_TASK_WEIGHT("contact_cost_weight", 5e-4, "cost per sum of squared clamped forces"))     \
    ROW(HEALTHY, MF_TASK_HEALTHY(1.0))                                                             \
    ROW(UNHEALTHY_ENDS, MF_TASK_UNHEALTHY_ENDS)                                                    \
    ROW(Z_MIN, MF_TASK_Z_MIN(0.2))                                                                 \
    ROW(Z_MAX, MF_TASK_Z_MAX(1.0))                                                                 \
    ROW(FORCE_MIN, MF_TASK_LIMIT("contact_force_min", "N", -1.0, "lower clamp of forces"))         \
    ROW(FORCE_MAX, MF_TASK_LIMIT("contact_force_max", "N", 1.0, "upper clamp of forces"))          \
    ROW(NOISE, MF_TASK_NOISE(0.1))                                                                 \
    ROW(HIDE, MF_TASK_HIDE)                                                                        \
    ROW(FORCES,                                                                                    \
        MF_TASK_SWITCH("include_cfrc_ext_in_observation", 1.0, "external forces are observed"))    \
    ROW(MAIN_BODY, "main_body", "1", 1.0, 1.0, 4096.0,                                             \
        "index of the body whose displacement counts, the world is 0")
enum { PARAMETERS(MF_TASK_INDEX) };
static const mf_TaskParameter parameters[] = {PARAMETERS(MF_TASK_ROW)};
static const char *const signals[] = {"x_position",  "y_position",     "distance_from_origin",
                                      "x_velocity",  "y_velocity",     "reward_forward",
                                      "reward_ctrl", "reward_contact", "reward_survive"};

static mf_Status prepare(mf_TaskPlan *plan, mf_Error *error) {
    const mf_Model *model = plan->model;
    plan->observation_count = model->position_count + model->velocity_count;
    plan->observation_count -= plan->value[HIDE] != 0.0 ? 2 : 0;
    plan->observation_count += plan->value[FORCES] != 0.0 ? 6 * model->body_count : 0;
    plan->indices[0] = (uint32_t)plan->value[MAIN_BODY] - 1;
    if (model->base != MF_BASE_FREE || model->actuator_count == 0 ||
        plan->indices[0] >= model->body_count)
        return mf_fail_at(error, MF_UNSUPPORTED, model->file, 0, 0,
                          "task ant: expected a model with a free base, actuators and a body %u",
                          plan->indices[0] + 1);
    return MF_OK;
}

static void start(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position, double *velocity) {
    mf_task_shake_uniform(draw, plan->value[NOISE], position, plan->model->position_count);
    mf_task_shake_normal(draw, plan->value[NOISE], velocity, plan->model->velocity_count);
}

// Limited forces, their cost, and the observation.
static double observe(const mf_TaskView *view, double *out) {
    const mf_TaskPlan *plan = view->plan;
    const mf_Model *model = plan->model;
    uint32_t from = plan->value[HIDE] != 0.0 ? 2 : 0;
    const double lower = plan->value[FORCE_MIN], upper = plan->value[FORCE_MAX];
    double squares[6] = {0.0}; // independent sums, to hide latency
    mf_task_put(&out, view->position + from, model->position_count - from);
    mf_task_put(&out, view->velocity, model->velocity_count);
    for (uint32_t b = 0; b < model->body_count; b++) {
        double force[6];
        for (uint32_t i = 0; i < 6; i++) {
            force[i] = mf_clamp(view->external[6 * (size_t)b + i], lower, upper);
            squares[i] += force[i] * force[i];
        }
        if (plan->value[FORCES] != 0.0)
            mf_task_put(&out, force, 6);
    }
    return (squares[0] + squares[1] + squares[2]) + (squares[3] + squares[4] + squares[5]);
}

static void remember(const mf_TaskView *view) {
    double position[3];
    mf_task_body_position(view, view->plan->indices[0], position);
    view->memory[0] = position[0];
    view->memory[1] = position[1];
}

static double place_signals(const mf_TaskView *view, mf_TaskResult *result) {
    remember(view);
    mf_task_put_position(view, result->signals);
    return observe(view, result->observation);
}

static void begin(const mf_TaskView *view, mf_TaskResult *result) {
    place_signals(view, result);
}

static void judge(const mf_TaskView *view, mf_TaskResult *result) {
    const mf_TaskPlan *plan = view->plan;
    const double before[2] = {view->memory[0], view->memory[1]}, height = view->position[2];
    const double squares = place_signals(view, result);
    bool well = height >= plan->value[Z_MIN] && height <= plan->value[Z_MAX];
    double *out = result->signals;
    for (int i = 0; i < 2; i++)
        out[3 + i] = (view->memory[i] - before[i]) / plan->interval;
    out[5] = plan->value[FORWARD] * out[3];
    out[6] = -plan->value[CONTROL] * mf_task_effort(view);
    out[7] = -plan->value[CONTACT] * squares;
    out[8] = well ? plan->value[HEALTHY] : 0.0;
    result->reward = (out[5] + out[8]) + (out[6] + out[7]); // in the order of Gymnasium
    result->terminated = !well && plan->value[UNHEALTHY_ENDS] != 0.0;
}

const mf_Task mf_task_ant = {MF_TASK_INFO("ant", "ant.xml",
                                          "four legs of two joints that run forward", 5, 1000,
                                          parameters, signals),
                             .wants = MF_TASK_POSES | MF_TASK_EXTERNAL, .memory_count = 2,
                             MF_TASK_CALLS(prepare, start, remember, begin, judge)};
