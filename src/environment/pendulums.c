// Poles on a cart: Gymnasium's InvertedPendulum-v5 and InvertedDoublePendulum-v5.
#include "environment/tasks.h"

#include "math/scalar.h"

enum { NOISE, HEALTHY };

static const mf_TaskParameter single_parameters[] = {{MF_TASK_NOISE(0.01)}};
static const mf_TaskParameter double_parameters[] = {
    {MF_TASK_NOISE(0.1)},
    {MF_TASK_WEIGHT("healthy_reward", 10.0, "reward of a step that does not end the episode")},
};
static const char *const single_signals[] = {"reward_survive"};
static const char *const double_signals[] = {"reward_survive", "distance_penalty",
                                             "velocity_penalty"};

// ---- one pole ----------------------------------------------------------------------------------

static mf_Status prepare_single(mf_TaskPlan *plan, mf_Error *error) {
    plan->observation_count = 4;
    return mf_task_need(plan, 2, 2, 1, error);
}

static void start_single(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position,
                         double *velocity) {
    mf_task_shake_uniform(draw, plan->value[NOISE], position, 2);
    mf_task_shake_uniform(draw, plan->value[NOISE], velocity, 2);
}

static void begin_single(const mf_TaskView *view, mf_TaskResult *result) {
    double *out = result->observation;
    mf_task_put(&out, view->position, 2);
    mf_task_put(&out, view->velocity, 2);
}

static void judge_single(const mf_TaskView *view, mf_TaskResult *result) {
    begin_single(view, result);
    result->terminated = !(mf_abs(view->position[1]) <= 0.2);
    result->reward = result->signals[0] = result->terminated ? 0.0 : 1.0;
}

// ---- two poles ---------------------------------------------------------------------------------

static mf_Status prepare_double(mf_TaskPlan *plan, mf_Error *error) {
    plan->observation_count = 9;
    if (plan->model->site_count == 0)
        return mf_fail_at(error, MF_UNSUPPORTED, plan->model->file, 0, 0,
                          "task inverted_double_pendulum: expected a site at the tip");
    return mf_task_need(plan, 3, 3, 1, error);
}

static void start_double(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position,
                         double *velocity) {
    mf_task_shake_uniform(draw, plan->value[NOISE], position, 3);
    mf_task_shake_normal(draw, plan->value[NOISE], velocity, 3);
}

// Force of the limit of the cart's slide, away from the nearer end.
static double limit_force(const mf_TaskView *view) {
    const mf_Joint *cart = &view->plan->model->joints[0];
    double middle = 0.5 * (cart->lower + cart->upper);
    return view->last_position[0] > middle ? 0.0 - view->limit[0] : view->limit[0];
}

static void begin_double(const mf_TaskView *view, mf_TaskResult *result) {
    double *out = result->observation, *sine = out + 1, *cosine = out + 3, *rest = out + 5;
    const double force = view->action != NULL ? limit_force(view) : 0.0;
    out[0] = view->position[0];
    for (int j = 0; j < 2; j++)
        mf_sin_cos(view->position[1 + j], &sine[j], &cosine[j]);
    mf_task_put_limited(&rest, view->velocity, 3, 10.0);
    mf_task_put_limited(&rest, &force, 1, 10.0);
}

static void judge_double(const mf_TaskView *view, mf_TaskResult *result) {
    const mf_Site *tip = &view->plan->model->sites[0];
    const double *v = view->velocity, *weight = view->plan->value;
    double position[3], *out = result->signals;
    begin_double(view, result);
    mf_vec3_copy(position, tip->frame.position);
    if (tip->frame.link != MF_NONE) {
        mf_quat_rotate(position, view->rotation[tip->frame.link], tip->frame.position);
        mf_vec3_add(position, position, view->point[tip->frame.link]);
    }
    result->terminated = !(position[2] > 1.0);
    out[0] = result->terminated ? 0.0 : weight[HEALTHY];
    out[1] = -(0.01 * position[0] * position[0] + (position[2] - 2.0) * (position[2] - 2.0));
    out[2] = -(1e-3 * v[1] * v[1] + 5e-3 * v[2] * v[2]);
    result->reward = out[0] + out[1] + out[2];
}

// ---- tasks -------------------------------------------------------------------------------------

const mf_Task mf_task_inverted_pendulum = {
    MF_TASK_INFO("inverted_pendulum", "inverted_pendulum.xml",
                 "a pole on a cart that shall stay upright", 2, 1000, single_parameters,
                 single_signals),
    MF_TASK_CALLS(prepare_single, start_single, NULL, begin_single, judge_single)};

const mf_Task mf_task_inverted_double_pendulum = {
    MF_TASK_INFO("inverted_double_pendulum", "inverted_double_pendulum.xml",
                 "a double pendulum on a cart that shall stay upright", 5, 1000, double_parameters,
                 double_signals),
    .wants = MF_TASK_POSES | MF_TASK_LIMITS,
    MF_TASK_CALLS(prepare_double, start_double, NULL, begin_double, judge_double)};
