// Robots that run along a line in a plane: half cheetah, hopper, walker and swimmer. Observations,
// rewards and ends are those of Gymnasium's v5 tasks of these names.
#include "environment/tasks.h"

#include "math/scalar.h"

// The first parameters of all.
#define SHARED(ROW, control, noise)                                                                \
    ROW(FORWARD, MF_TASK_FORWARD(1.0))                                                             \
    ROW(CONTROL, MF_TASK_CONTROL(control))                                                         \
    ROW(NOISE, MF_TASK_NOISE(noise))                                                               \
    ROW(HIDE, MF_TASK_HIDE)
#define RUNNER(ROW, z_min, z_max, tilt)                                                            \
    SHARED(ROW, 1e-3, 5e-3)                                                                        \
    ROW(HEALTHY, MF_TASK_HEALTHY(1.0))                                                             \
    ROW(UNHEALTHY_ENDS, MF_TASK_UNHEALTHY_ENDS)                                                    \
    ROW(Z_MIN, MF_TASK_Z_MIN(z_min))                                                               \
    ROW(Z_MAX, MF_TASK_Z_MAX(z_max))                                                               \
    ROW(TILT_MIN,                                                                                  \
        MF_TASK_LIMIT("healthy_angle_min", "rad", -(tilt), "lower limit of the healthy range"))    \
    ROW(TILT_MAX,                                                                                  \
        MF_TASK_LIMIT("healthy_angle_max", "rad", tilt, "upper limit of the healthy range"))
#define HOPPER(ROW)                                                                                \
    RUNNER(ROW, 0.7, MF_TASK_MOST, 0.2)                                                            \
    ROW(STATE_MIN,                                                                                 \
        MF_TASK_WEIGHT("healthy_state_min", -100.0, "limit of all values except x and z"))         \
    ROW(STATE_MAX, MF_TASK_WEIGHT("healthy_state_max", 100.0, "limit of all values except x and z"))
enum { HOPPER(MF_TASK_INDEX) };
static const mf_TaskParameter hopper_parameters[] = {HOPPER(MF_TASK_ROW)};
static const mf_TaskParameter walker_parameters[] = {RUNNER(MF_TASK_ROW, 0.8, 2.0, 1.0)};
static const mf_TaskParameter half_cheetah_parameters[] = {SHARED(MF_TASK_ROW, 0.1, 0.1)};
static const mf_TaskParameter swimmer_parameters[] = {SHARED(MF_TASK_ROW, 1e-4, 0.1)};

static mf_Status prepare_plane(mf_TaskPlan *plan, uint32_t positions, uint32_t actuators,
                               uint32_t hidden, mf_Error *error) {
    plan->observation_count = 2 * positions - (plan->value[HIDE] != 0.0 ? hidden : 0);
    return mf_task_need(plan, positions, positions, actuators, error);
}

static mf_Status prepare_hopper(mf_TaskPlan *plan, mf_Error *error) {
    return prepare_plane(plan, 6, 3, 1, error);
}

static mf_Status prepare_walker(mf_TaskPlan *plan, mf_Error *error) {
    return prepare_plane(plan, 9, 6, 1, error);
}

// Swimmers of any number of links.
static mf_Status prepare_swimmer(mf_TaskPlan *plan, mf_Error *error) {
    uint32_t count = plan->model->position_count;
    return prepare_plane(plan, count < 4 ? 5 : count, count < 4 ? 2 : count - 3, 2, error);
}

// ---- starts ------------------------------------------------------------------------------------

static void start_uniform(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position,
                          double *velocity) {
    mf_task_shake_uniform(draw, plan->value[NOISE], position, plan->model->position_count);
    mf_task_shake_uniform(draw, plan->value[NOISE], velocity, plan->model->velocity_count);
}

static void start_half_cheetah(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position,
                               double *velocity) {
    mf_task_shake_uniform(draw, plan->value[NOISE], position, plan->model->position_count);
    mf_task_shake_normal(draw, plan->value[NOISE], velocity, plan->model->velocity_count);
}

// ---- steps -------------------------------------------------------------------------------------

static void observe(const mf_TaskView *view, uint32_t hidden, double limit, double *out) {
    const mf_TaskPlan *plan = view->plan;
    uint32_t from = plan->value[HIDE] != 0.0 ? hidden : 0;
    mf_task_put(&out, view->position + from, plan->model->position_count - from);
    mf_task_put_limited(&out, view->velocity, plan->model->velocity_count, limit);
}

static const char *const cheetah_signals[] = {"x_position", "x_velocity", "reward_forward",
                                              "reward_ctrl"};

static void remember_x(const mf_TaskView *view) {
    view->memory[0] = view->position[0];
}

static void begin_half_cheetah(const mf_TaskView *view, mf_TaskResult *result) {
    view->memory[0] = result->signals[0] = view->position[0];
    observe(view, 1, MF_TASK_MOST, result->observation);
}

static void judge_half_cheetah(const mf_TaskView *view, mf_TaskResult *result) {
    const mf_TaskPlan *plan = view->plan;
    double speed = (view->position[0] - view->memory[0]) / plan->interval;
    double *signals = result->signals;
    signals[1] = speed;
    signals[2] = plan->value[FORWARD] * speed;
    signals[3] = -plan->value[CONTROL] * mf_task_effort(view);
    result->reward = signals[2] + signals[3];
    begin_half_cheetah(view, result);
}

static const char *const runner_signals[] = {"x_position",  "z_distance_from_origin",
                                             "x_velocity",  "reward_forward",
                                             "reward_ctrl", "reward_survive"};

static bool inside(double value, double lower, double upper) {
    return lower < value && value < upper;
}

static bool healthy(const mf_TaskView *view, bool whole_state) {
    const mf_TaskPlan *plan = view->plan;
    const double *limit = plan->value;
    bool well = inside(view->position[1], limit[Z_MIN], limit[Z_MAX]) &&
                inside(view->position[2], limit[TILT_MIN], limit[TILT_MAX]);
    for (uint32_t i = 2; whole_state && i < plan->model->position_count; i++)
        well = well && inside(view->position[i], limit[STATE_MIN], limit[STATE_MAX]);
    for (uint32_t i = 0; whole_state && i < plan->model->velocity_count; i++)
        well = well && inside(view->velocity[i], limit[STATE_MIN], limit[STATE_MAX]);
    return well;
}

static void begin_runner(const mf_TaskView *view, mf_TaskResult *result) {
    view->memory[0] = result->signals[0] = view->position[0];
    result->signals[1] = view->position[1] - view->plan->model->start_position[1];
    observe(view, 1, 10.0, result->observation);
}

static void judge_runner(const mf_TaskView *view, mf_TaskResult *result, bool whole_state) {
    const mf_TaskPlan *plan = view->plan;
    double speed = (view->position[0] - view->memory[0]) / plan->interval;
    bool well = healthy(view, whole_state);
    double *signals = result->signals;
    signals[2] = speed;
    signals[3] = plan->value[FORWARD] * speed;
    signals[4] = -plan->value[CONTROL] * mf_task_effort(view);
    signals[5] = well ? plan->value[HEALTHY] : 0.0;
    result->reward = signals[3] + signals[5] + signals[4];
    result->terminated = !well && plan->value[UNHEALTHY_ENDS] != 0.0;
    begin_runner(view, result);
}

static void judge_hopper(const mf_TaskView *view, mf_TaskResult *result) {
    judge_runner(view, result, true);
}

static void judge_walker(const mf_TaskView *view, mf_TaskResult *result) {
    judge_runner(view, result, false);
}

static const char *const swimmer_signals[] = {"x_position", "y_position", "distance_from_origin",
                                              "x_velocity", "y_velocity", "reward_forward",
                                              "reward_ctrl"};

static void remember_position(const mf_TaskView *view) {
    for (int i = 0; i < 2; i++)
        view->memory[i] = view->position[i];
}

static void begin_swimmer(const mf_TaskView *view, mf_TaskResult *result) {
    remember_position(view);
    mf_task_put_position(view, result->signals);
    observe(view, 2, MF_TASK_MOST, result->observation);
}

static void judge_swimmer(const mf_TaskView *view, mf_TaskResult *result) {
    const mf_TaskPlan *plan = view->plan;
    double *signals = result->signals;
    for (int i = 0; i < 2; i++)
        signals[3 + i] = (view->position[i] - view->memory[i]) / plan->interval;
    signals[5] = plan->value[FORWARD] * signals[3];
    signals[6] = -plan->value[CONTROL] * mf_task_effort(view);
    result->reward = signals[5] + signals[6];
    begin_swimmer(view, result);
}

// ---- tasks -------------------------------------------------------------------------------------

const mf_Task mf_task_half_cheetah = {MF_TASK_INFO("half_cheetah", "half_cheetah.xml",
                                                   "a two-legged runner that moves in a plane", 5,
                                                   1000, half_cheetah_parameters, cheetah_signals),
                                      .memory_count = 1,
                                      MF_TASK_CALLS(prepare_walker, start_half_cheetah, remember_x,
                                                    begin_half_cheetah, judge_half_cheetah)};

const mf_Task mf_task_hopper = {
    MF_TASK_INFO("hopper", "hopper.xml", "one leg that hops forward", 4, 1000, hopper_parameters,
                 runner_signals),
    .memory_count = 1,
    MF_TASK_CALLS(prepare_hopper, start_uniform, remember_x, begin_runner, judge_hopper)};

const mf_Task mf_task_walker2d = {
    MF_TASK_INFO("walker2d", "walker2d_v5.xml", "two legs that walk in a plane", 4, 1000,
                 walker_parameters, runner_signals),
    .memory_count = 1,
    MF_TASK_CALLS(prepare_walker, start_uniform, remember_x, begin_runner, judge_walker)};

const mf_Task mf_task_swimmer = {
    MF_TASK_INFO("swimmer", "swimmer.xml", "a chain of links that swims in a plane", 4, 1000,
                 swimmer_parameters, swimmer_signals),
    .memory_count = 2,
    MF_TASK_CALLS(prepare_swimmer, start_uniform, remember_position, begin_swimmer, judge_swimmer)};
