// Common code of tasks: sums, noise of starts, checks of models. All tasks are listed in tasks.c.
#pragma once

#include "environment/task.h"

#define MF_TASK_MOST 1e30 // upper end of parameters without one

// One table of a task's parameters or signals gives the enum of their indices and the rows, or the
// names: TABLE(ROW) lists ROW(INDEX, row).
#define MF_TASK_INDEX(INDEX, ...) INDEX,
#define MF_TASK_ROW(INDEX, ...) {__VA_ARGS__},
#define MF_TASK_NAME(INDEX, name) name,

// Rows of parameters of many tasks, with Gymnasium's names.
#define MF_TASK_WEIGHT(name, value, description)                                                   \
    name, "1", value, -MF_TASK_MOST, MF_TASK_MOST, description
#define MF_TASK_LIMIT(name, unit, value, description)                                              \
    name, unit, value, -MF_TASK_MOST, MF_TASK_MOST, description
#define MF_TASK_SWITCH(name, value, description) name, "1", value, 0.0, 1.0, description
#define MF_TASK_FORWARD(value)                                                                     \
    MF_TASK_WEIGHT("forward_reward_weight", value, "reward per m/s forward")
#define MF_TASK_CONTROL(value)                                                                     \
    MF_TASK_WEIGHT("ctrl_cost_weight", value, "cost per sum of squared actions")
#define MF_TASK_HEALTHY(value)                                                                     \
    MF_TASK_WEIGHT("healthy_reward", value, "reward of a step in the healthy state")
#define MF_TASK_UNHEALTHY_ENDS                                                                     \
    MF_TASK_SWITCH("terminate_when_unhealthy", 1.0, "an unhealthy state ends the episode")
#define MF_TASK_Z_MIN(value)                                                                       \
    MF_TASK_LIMIT("healthy_z_min", "m", value, "lower limit of the healthy height")
#define MF_TASK_Z_MAX(value)                                                                       \
    MF_TASK_LIMIT("healthy_z_max", "m", value, "upper limit of the healthy height")
#define MF_TASK_NOISE(value)                                                                       \
    "reset_noise_scale", "1", value, 0.0, MF_TASK_MOST, "scale of the initial noise"
#define MF_TASK_HIDE                                                                               \
    MF_TASK_SWITCH("exclude_current_positions_from_observation", 1.0,                              \
                   "the horizontal position is not observed")

// The lists of an mf_TaskInfo.
#define MF_TASK_LISTS(rows, names)                                                                 \
    .parameter_count = sizeof rows / sizeof rows[0], .parameters = rows,                           \
    .signal_count = sizeof names / sizeof names[0], .signals = names

// The mf_TaskInfo of a task with a file of its own.
#define MF_TASK_INFO(task, file, text, skip, steps, rows, names)                                   \
    .info = {.name = task,                                                                         \
             .model = file,                                                                        \
             .description = text,                                                                  \
             .frame_skip = skip,                                                                   \
             .episode_steps = steps,                                                               \
             MF_TASK_LISTS(rows, names)}
#define MF_TASK_CALLS(at_prepare, at_start, at_remember, at_begin, at_judge)                       \
    .prepare = at_prepare, .start = at_start, .remember = at_remember, .begin = at_begin,          \
    .judge = at_judge

// Sum of squares.
double mf_task_squares(const double *values, uint32_t count);
double mf_task_length(const double *a, const double *b, uint32_t count); // of a - b
// Sum of squared actions.
double mf_task_effort(const mf_TaskView *view);
// Mean square of the change of the actions since `last`, which becomes them.
double mf_task_change(const mf_TaskView *view, double *last);
// The first signals of robots that travel: x, y, distance from the origin.
void mf_task_put_position(const mf_TaskView *view, double *signals);

// Adds noise of half width (or standard deviation) `scale`.
void mf_task_shake_uniform(mf_TaskDraw *draw, double scale, double *values, uint32_t count);
void mf_task_shake_normal(mf_TaskDraw *draw, double scale, double *values, uint32_t count);

// Copies `count` values, limited to +-limit, to *out and advances it.
void mf_task_put(double **out, const double *values, uint32_t count);
void mf_task_put_limited(double **out, const double *values, uint32_t count, double limit);

// Checks that the model has these numbers of positions, velocities and actuators.
mf_Status mf_task_need(const mf_TaskPlan *plan, uint32_t positions, uint32_t velocities,
                       uint32_t actuators, mf_Error *error);
// The index of the body of that name.
mf_Status mf_task_need_body(const mf_TaskPlan *plan, const char *name, uint32_t *out,
                            mf_Error *error);
// World position of a body's frame, from the poses of links.
void mf_task_body_position(const mf_TaskView *view, uint32_t body, double position[3]);

#define MF_TASKS(TASK)                                                                             \
    TASK(ant)                                                                                      \
    TASK(half_cheetah)                                                                             \
    TASK(hexapod)                                                                                  \
    TASK(hopper)                                                                                   \
    TASK(humanoid)                                                                                 \
    TASK(humanoid_standup)                                                                         \
    TASK(inverted_double_pendulum)                                                                 \
    TASK(inverted_pendulum)                                                                        \
    TASK(pusher)                                                                                   \
    TASK(quadrotor)                                                                                \
    TASK(quadruped) TASK(reacher) TASK(swarm) TASK(swimmer) TASK(walker2d)
#define MF_TASK_EXTERN(name) extern const mf_Task mf_task_##name;
MF_TASKS(MF_TASK_EXTERN)
