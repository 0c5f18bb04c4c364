// Common code of tasks: sums, noise of starts, checks of models. All tasks are listed in tasks.c.
#ifndef MAYFLY_ENVIRONMENT_TASKS_H
#define MAYFLY_ENVIRONMENT_TASKS_H

#include "environment/task.h"

#define MF_TASK_MOST 1e30 // upper end of parameters without one

// Rows of parameters of many tasks, with Gymnasium's names.
#define MF_TASK_WEIGHT(name, value, description)                                                   \
    { name, "1", value, -MF_TASK_MOST, MF_TASK_MOST, description }
#define MF_TASK_SWITCH(name, value, description)                                                   \
    { name, "1", value, 0.0, 1.0, description }
#define MF_TASK_NOISE(value)                                                                       \
    { "reset_noise_scale", "1", value, 0.0, MF_TASK_MOST, "scale of the initial noise" }
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

extern const mf_Task mf_task_ant;
extern const mf_Task mf_task_half_cheetah;
extern const mf_Task mf_task_hexapod;
extern const mf_Task mf_task_hopper;
extern const mf_Task mf_task_humanoid;
extern const mf_Task mf_task_humanoid_standup;
extern const mf_Task mf_task_inverted_double_pendulum;
extern const mf_Task mf_task_inverted_pendulum;
extern const mf_Task mf_task_pusher;
extern const mf_Task mf_task_quadrotor;
extern const mf_Task mf_task_quadruped;
extern const mf_Task mf_task_reacher;
extern const mf_Task mf_task_swarm;
extern const mf_Task mf_task_swimmer;
extern const mf_Task mf_task_walker2d;

#endif
