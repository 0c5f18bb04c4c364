// Common code of tasks with quadrotors: model, motion, actions, starts and observations.
#pragma once

#include "environment/tasks.h"

#define MF_FLYER_STEP (5 * MF_MILLISECOND) // physics step
#define MF_FLYER_SKIP 4                    // [1] steps between actions: 50 Hz
#define MF_FLYER_ACTIONS 4u                // [1]
#define MF_FLYER_OWN                                                                               \
    22u // [1] values observed of the robot itself: error, matrix, velocities, action

// Memory of a robot, the same for both tasks.
enum { MF_FLYER_GOAL = 0, MF_FLYER_DISTANCE = 3, MF_FLYER_LAST_ACTION = 4, MF_FLYER_MEMORY = 8 };

// The first parameters of both tasks, in this order.
#define MF_FLYER_TABLE(ROW, box, progress)                                                         \
    ROW(MF_FLYER_ROTORS,                                                                           \
        MF_TASK_SWITCH("rotors", 0.0,                                                              \
                       "actions are rotor speeds instead of thrust and body rates"))               \
    ROW(MF_FLYER_HEIGHT, "height", "m", 3.0, 0.0, 1e4,                                             \
        "height of the center of the box above the ground")                                        \
    ROW(MF_FLYER_BOX, "box", "m", box, 0.0, 1e4, "half width of the cube of initial positions")    \
    ROW(MF_FLYER_TILT, "start_tilt", "rad", 0.2, 0.0, 3.0, "largest initial tilt about each axis") \
    ROW(MF_FLYER_SPEED, "start_speed", "m/s", 0.5, 0.0, 100.0,                                     \
        "largest initial speed along each axis")                                                   \
    ROW(MF_FLYER_RATE, "start_rate", "rad/s", 0.5, 0.0, 100.0,                                     \
        "largest initial rate about each axis")                                                    \
    ROW(MF_FLYER_NEAR, MF_TASK_WEIGHT("near_weight", 1.0, "reward of a step at the goal"))         \
    ROW(MF_FLYER_WIDTH, "near_width", "m", 0.5, 1e-3, 1e4, "distance that halves the reward")      \
    ROW(MF_FLYER_PROGRESS,                                                                         \
        MF_TASK_WEIGHT("progress_weight", progress, "reward per m of progress to the goal"))       \
    ROW(MF_FLYER_SPIN_COST, MF_TASK_WEIGHT("spin_weight", 0.005, "cost per squared body rate"))    \
    ROW(MF_FLYER_SMOOTHNESS, MF_TASK_WEIGHT("smoothness_weight", 0.02,                             \
                                            "cost per mean square of the change of the action"))   \
    ROW(MF_FLYER_CRASH,                                                                            \
        MF_TASK_WEIGHT("crash_cost", 10.0, "cost of a crash or of leaving the range `far`"))       \
    ROW(MF_FLYER_FAR, "far", "m", 10.0, 1e-3, 1e6,                                                 \
        "distance from the goal at which the episode ends")
enum { MF_FLYER_TABLE(MF_TASK_INDEX, , ) MF_FLYER_PARAMETERS };

// What the tasks have in common, beside what they define.
#define MF_FLYER_TASK(task, text, rows, names)                                                     \
    .info = {.name = task,                                                                         \
             .model = "",                                                                          \
             .description = text,                                                                  \
             .frame_skip = MF_FLYER_SKIP,                                                          \
             .episode_steps = 500,                                                                 \
             .step = MF_FLYER_STEP,                                                                \
             MF_TASK_LISTS(rows, names)},                                                          \
    .memory_count = MF_FLYER_MEMORY, .make = mf_flyer_make, .describe = mf_flyer_describe,         \
    .aim = mf_flyer_aim

// The first signals of both.
#define MF_FLYER_TABLE_OF_SIGNALS(ROW)                                                             \
    ROW(MF_FLYER_SEES_DISTANCE, "distance")                                                        \
    ROW(MF_FLYER_REWARD_NEAR, "reward_near")                                                       \
    ROW(MF_FLYER_REWARD_PROGRESS, "reward_progress")                                               \
    ROW(MF_FLYER_REWARD_SPIN, "reward_spin")                                                       \
    ROW(MF_FLYER_REWARD_SMOOTHNESS, "reward_smoothness")                                           \
    ROW(MF_FLYER_REWARD_CRASH, "reward_crash")
enum { MF_FLYER_TABLE_OF_SIGNALS(MF_TASK_INDEX) MF_FLYER_SIGNALS };
#define MF_FLYER_SIGNAL_NAMES MF_FLYER_TABLE_OF_SIGNALS(MF_TASK_NAME)

mf_Status mf_flyer_make(mf_Context *context, const mf_TaskPlan *plan, mf_Model **out,
                        mf_Error *error);
// The common part of prepare(): checks that the start box is valid and the thrust is sufficient.
mf_Status mf_flyer_prepare(mf_TaskPlan *plan, mf_Error *error);
// Sets the command mode and the command fields of actions.
void mf_flyer_describe(const mf_TaskPlan *plan, mf_SceneGroup *group);
void mf_flyer_aim(const mf_TaskPlan *plan, mf_Group *group, mf_ActionTarget *targets);

// A uniform position in the box.
void mf_flyer_draw_position(const mf_TaskPlan *plan, mf_TaskDraw *draw, double position[3]);
// Tilt, velocity and rate of a start.
void mf_flyer_shake(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position, double *velocity);
// Observation of the robot itself, MF_FLYER_OWN values; advances *out. `action` NULL: none yet.
void mf_flyer_observe(const mf_TaskView *view, double **out);
double mf_flyer_distance(const mf_TaskView *view); // [m] to the goal in memory
void mf_flyer_remember(const mf_TaskView *view);   // stores that distance
// Signals of the last step: proximity, progress, rate and smoothness; stores distance and action.
// True when the robot failed: on the ground or too far away.
bool mf_flyer_judge(const mf_TaskView *view, mf_TaskResult *result);
// The sum of rewards in the signals, with the cost of a crash.
double mf_flyer_sum(const mf_TaskView *view, mf_TaskResult *result, bool crashed);
