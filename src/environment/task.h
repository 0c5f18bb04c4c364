// Interface of a task. The environment (environment.c) handles time, episodes, seeds and buffers; a
// task handles one robot at a time: initial state, reward, observation. All arithmetic of a task is
// in double without libm, so that its bits do not depend on the machine.
#pragma once

#include <mayfly/environment.h>
#include <mayfly/scene.h>

#define MF_TASK_PARAMETER_LIMIT 32u // [1] most parameters of a task

// Inputs of a task besides positions and velocities.
enum {
    MF_TASK_POSES = 1,     // pose of each link, at the beginning of the last physics step
    MF_TASK_BODIES = 2,    // inertia and velocity of each body about the center of mass, there
    MF_TASK_EXTERNAL = 4,  // external forces on each body, in the last physics step
    MF_TASK_ACTUATORS = 8, // forces of actuators on joints, in the last physics step
    MF_TASK_LIMITS = 16,   // forces of joint limits, in the last physics step
    MF_TASK_FEET = 32,     // which contact sensors of the model are loaded
    MF_TASK_STANDS = 64    // an episode begins with the robot's lowest point on level ground
};

typedef struct mf_TaskPlan mf_TaskPlan;

// Random numbers of one robot and one episode. Robots of a team draw the same ones.
typedef struct mf_TaskDraw {
    uint64_t seed, tick;
    uint32_t agent; // [1] index of the robot in its team
    uint32_t left;  // [1] unused words of `word`
    uint32_t word[4];
} mf_TaskDraw;
double mf_task_uniform(mf_TaskDraw *draw, double lower, double upper);
double mf_task_normal(mf_TaskDraw *draw);                  // mean 0, variance 1
uint32_t mf_task_index(mf_TaskDraw *draw, uint32_t count); // 0 .. count - 1

// Target of an action: the field's value is offset + scale * action.
typedef struct mf_ActionTarget {
    mf_Field *field;
    uint32_t component;
    double offset, scale;
    double lower, upper; // [1] range of the action
    bool limited;        // values outside are clamped
} mf_ActionTarget;

// Positions of the robots of a team.
typedef struct mf_TaskMate {
    double position[3], velocity[3]; // [m], [m/s] of the base's origin, world
} mf_TaskMate;

// One robot after a step or a reset. MuJoCo's step ends with the integration, so that its poses and
// forces then belong to the state before the last physics step; Gymnasium's tasks read those.
// `last_` is that state; after a reset it is the current one.
typedef struct mf_TaskView {
    const mf_TaskPlan *plan;
    const double *position, *velocity;           // [1] of the model's vectors
    const double *last_position, *last_velocity; // [1]
    const double *action;                        // [1] action_count; NULL after a reset
    const double *feet;                          // [1] 1: loaded, foot_count values, MF_TASK_FEET
    const mf_TaskMate *team;                     // the team including the robot; NULL: teams of one
    uint32_t agent;                              // [1] index of the robot in the team
    mf_TaskDraw *draw;                           // of this step, or of the start after start()
    double *memory;                              // [1] memory_count, part of the state
    const double (*point)[3], (*rotation)[4];    // [m] and (w, x, y, z) of links, MF_TASK_POSES
    const double *center;                        // [m] center of mass of all bodies, MF_TASK_BODIES
    const double *inertia;  // [kg m^2], [kg m], [kg] 10 per body: xx, yy, zz, xy, xz, yz, m x, m y,
                            // m z, m about the center of mass, world axes; MF_TASK_BODIES
    const double *twist;    // [rad/s], [m/s] 6 per body: of the body-fixed point there;
                            // MF_TASK_BODIES
    const double *external; // [N m], [N] 6 per body, about the center of mass; MF_TASK_EXTERNAL
    const double *actuator; // [N m] or [N] velocity_count, MF_TASK_ACTUATORS
    const double *limit;    // [N m] or [N] joint_count, MF_TASK_LIMITS
} mf_TaskView;

typedef struct mf_TaskResult {
    double reward;
    bool terminated;
    double *observation; // observation_count
    double *signals;     // signal_count
} mf_TaskResult;

typedef struct mf_Task {
    mf_TaskInfo info;
    uint32_t wants;        // MF_TASK_*
    uint32_t memory_count; // [1] values stored per robot
    // Creates the model if the caller gives none; NULL: the caller must give one.
    mf_Status (*make)(mf_Context *context, const mf_TaskPlan *plan, mf_Model **out,
                      mf_Error *error);
    // Checks the model, sets the size of the observation and finds indices that the task needs. May
    // change the plan's actions, memory, team and steps.
    mf_Status (*prepare)(mf_TaskPlan *plan, mf_Error *error);
    // Changes the scene's settings of the robots. NULL: settings that match MuJoCo.
    void (*describe)(const mf_TaskPlan *plan, mf_SceneGroup *group);
    // Targets of actions. NULL: the model's actuators.
    void (*aim)(const mf_TaskPlan *plan, mf_Group *group, mf_ActionTarget *targets);
    // Start of an episode: on entry position and velocity are the file's, activations are 0.
    void (*start)(const mf_TaskPlan *plan, mf_TaskDraw *draw, double *position, double *velocity);
    // Called when the caller wrote the state during an episode: updates memory. May be NULL.
    void (*remember)(const mf_TaskView *view);
    // Sets memory, observation and signals after a reset.
    void (*begin)(const mf_TaskView *view, mf_TaskResult *result);
    // Sets them and the result after a step.
    void (*judge)(const mf_TaskView *view, mf_TaskResult *result);
} mf_Task;

// A task prepared for a model.
struct mf_TaskPlan {
    const mf_Task *task;
    const mf_Model *model;
    const mf_Quadrotor *quadrotor; // of tasks that fly
    mf_Motion motion;
    double value[MF_TASK_PARAMETER_LIMIT]; // of parameters, in the task's order
    uint32_t observation_count, action_count, memory_count;
    uint32_t team;       // [1] robots of a team, whose episodes begin and end together
    uint32_t foot_count; // [1] contact sensors
    uint32_t frame_skip; // [1] physics steps of a step of the environment
    uint32_t indices[4]; // [1] indices in the model that prepare() found
    double interval;     // [s] of a step of the environment
    double step;         // [s] of the physics
    bool rk4;            // the MuJoCo-compatible motion steps by RK4
};

extern const mf_Task *const mf_tasks[];
extern const uint32_t mf_tasks_count;
