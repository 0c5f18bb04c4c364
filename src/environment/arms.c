// Arms that reach and push: Gymnasium's Reacher-v5 and Pusher-v5.
#include "environment/tasks.h"

#include "math/scalar.h"

enum { DISTANCE, CONTROL, NEAR };
enum { TIP, OBJECT, GOAL }; // positions of the plan

static const mf_TaskParameter reacher_parameters[] = {
    {MF_TASK_WEIGHT("reward_dist_weight", 1.0, "cost per m between tip and target")},
    {MF_TASK_WEIGHT("reward_control_weight", 1.0, "cost per sum of squared actions")},
};
static const mf_TaskParameter pusher_parameters[] = {
    {MF_TASK_WEIGHT("reward_dist_weight", 1.0, "cost per m between object and goal")},
    {MF_TASK_WEIGHT("reward_control_weight", 0.1, "cost per sum of squared actions")},
    {MF_TASK_WEIGHT("reward_near_weight", 0.5, "cost per m between tip and object")},
};
static const char *const reacher_signals[] = {"reward_dist", "reward_ctrl"};
static const char *const pusher_signals[] = {"reward_dist", "reward_ctrl", "reward_near"};

// ---- reacher -----------------------------------------------------------------------------------

static mf_Status prepare_reacher(mf_TaskPlan *plan, mf_Error *error) {
    plan->observation_count = 10;
    MF_TRY(mf_task_need(plan, 4, 4, 2, error));
    MF_TRY(mf_task_need_body(plan, "fingertip", &plan->indices[TIP], error));
    return mf_task_need_body(plan, "target", &plan->indices[GOAL], error);
}

static void start_reacher(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position,
                          double *velocity) {
    (void)plan;
    mf_task_shake_uniform(draw, 0.1, position, 4);
    do {
        position[2] = mf_task_uniform(draw, -0.2, 0.2);
        position[3] = mf_task_uniform(draw, -0.2, 0.2);
    } while (!(mf_task_squares(position + 2, 2) < 0.2 * 0.2));
    mf_task_shake_uniform(draw, 0.005, velocity, 2);
}

static void begin_reacher(const mf_TaskView *view, mf_TaskResult *result) {
    double tip[3], goal[3], *out = result->observation;
    mf_task_body_position(view, view->plan->indices[TIP], tip);
    mf_task_body_position(view, view->plan->indices[GOAL], goal);
    for (int j = 0; j < 2; j++)
        mf_sin_cos(view->position[j], &out[2 + j], &out[j]);
    memcpy(out + 4, view->position + 2, 2 * sizeof *out);
    memcpy(out + 6, view->velocity, 2 * sizeof *out);
    out[8] = tip[0] - goal[0];
    out[9] = tip[1] - goal[1];
    result->signals[0] = -view->plan->value[DISTANCE] * mf_task_length(tip, goal, 3);
}

static void judge_reacher(const mf_TaskView *view, mf_TaskResult *result) {
    begin_reacher(view, result);
    result->signals[1] = -view->plan->value[CONTROL] * mf_task_effort(view);
    result->reward = result->signals[0] + result->signals[1];
}

// ---- pusher ------------------------------------------------------------------------------------

static mf_Status prepare_pusher(mf_TaskPlan *plan, mf_Error *error) {
    plan->observation_count = 23;
    MF_TRY(mf_task_need(plan, 11, 11, 7, error));
    MF_TRY(mf_task_need_body(plan, "tips_arm", &plan->indices[TIP], error));
    MF_TRY(mf_task_need_body(plan, "object", &plan->indices[OBJECT], error));
    return mf_task_need_body(plan, "goal", &plan->indices[GOAL], error);
}

static void start_pusher(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position,
                         double *velocity) {
    (void)plan;
    do {
        position[7] = mf_task_uniform(draw, -0.3, 0.0);
        position[8] = mf_task_uniform(draw, -0.2, 0.2);
    } while (!(mf_task_squares(position + 7, 2) > 0.17 * 0.17));
    position[9] = position[10] = 0.0;
    mf_task_shake_uniform(draw, 0.005, velocity, 7);
}

static void begin_pusher(const mf_TaskView *view, mf_TaskResult *result) {
    double position[3][3], *out = result->observation;
    for (int i = 0; i < 3; i++)
        mf_task_body_position(view, view->plan->indices[i], position[i]);
    mf_task_put(&out, view->position, 7);
    mf_task_put(&out, view->velocity, 7);
    mf_task_put(&out, position[0], 9);
    result->signals[0] =
        -view->plan->value[DISTANCE] * mf_task_length(position[OBJECT], position[GOAL], 3);
    result->signals[2] =
        -view->plan->value[NEAR] * mf_task_length(position[OBJECT], position[TIP], 3);
}

static void judge_pusher(const mf_TaskView *view, mf_TaskResult *result) {
    begin_pusher(view, result);
    result->signals[1] = -view->plan->value[CONTROL] * mf_task_effort(view);
    result->reward = result->signals[0] + result->signals[1] + result->signals[2];
}

// ---- tasks -------------------------------------------------------------------------------------

const mf_Task mf_task_reacher = {
    MF_TASK_INFO("reacher", "reacher.xml", "an arm of two joints whose tip goes to a target", 2, 50,
                 reacher_parameters, reacher_signals),
    .wants = MF_TASK_POSES,
    MF_TASK_CALLS(prepare_reacher, start_reacher, NULL, begin_reacher, judge_reacher)};

const mf_Task mf_task_pusher = {
    MF_TASK_INFO("pusher", "pusher_v5.xml",
                 "an arm of seven joints that pushes an object to a goal", 5, 100,
                 pusher_parameters, pusher_signals),
    .wants = MF_TASK_POSES,
    MF_TASK_CALLS(prepare_pusher, start_pusher, NULL, begin_pusher, judge_pusher)};
