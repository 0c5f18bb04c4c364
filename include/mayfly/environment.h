// Mayfly: vector environments: many robots with one task, stepped together on buffers of the
// caller. A task defines actions, observations, rewards, termination and initial states;
// docs/reference/environments.md lists them. Time, episodes, seeds and resets are handled here,
// once for all tasks.
#pragma once

#include <mayfly/motion.h>
#include <mayfly/push.h>
#include <mayfly/quadrotor.h>

// ---- tasks -------------------------------------------------------------------------------------

// A parameter of a task.
typedef struct mf_TaskParameter {
    const char *name; // "forward_reward_weight"
    const char *unit; // "m"; "1" for pure numbers
    double value;     // [1] or in `unit`: the default
    double lower;     // [1] or in `unit`: smallest value allowed
    double upper;     // [1] or in `unit`: largest value allowed
    const char *description;
} mf_TaskParameter;

typedef struct mf_TaskInfo {
    const char *name;         // "ant"
    const char *model;        // default model file: "ant.xml"; "": the task creates its model
    const char *description;  // one sentence
    uint32_t frame_skip;      // [1] physics steps of one step of the environment; 0: by the motion
    uint32_t episode_steps;   // [1] steps after which an episode is truncated
    mf_Time step;             // [ns] physics step; 0: that of the model's file or motion
    uint32_t parameter_count; // [1]
    const mf_TaskParameter *parameters;
    uint32_t signal_count;      // [1]
    const char *const *signals; // names of the values that explain a step: "reward_forward"
} mf_TaskInfo;

// [1] tasks that this version has.
MF_API uint32_t mf_task_count(void);
MF_API const mf_TaskInfo *mf_task_info(uint32_t index);
MF_API const mf_TaskInfo *mf_task_find(const char *name); // NULL if the name is unknown

// ---- environments ------------------------------------------------------------------------------

typedef struct mf_Environment mf_Environment;

// Reset of a robot whose episode has ended (Gymnasium's three modes).
typedef enum mf_Autoreset {
    MF_AUTORESET_NEXT_STEP, // the next step resets it: its action is ignored, its reward is 0
    MF_AUTORESET_SAME_STEP, // reset in the same step; final_observation and final_signals contain
                            // the end of its episode
    MF_AUTORESET_OFF        // no reset: the caller resets it
} mf_Autoreset;

// Integrator of Gymnasium's tasks (articulated.h: MF_CONTACT_LAW_MUJOCO). Other tasks use that of
// their motion.
typedef enum mf_EnvironmentIntegrator {
    MF_ENVIRONMENT_AS_FILE, // that of the file: Euler or RK4; Euler for others
    MF_ENVIRONMENT_EULER,   // a third to a fifth of the cost of RK4, less accurate
    MF_ENVIRONMENT_RK4
} mf_EnvironmentIntegrator;

typedef struct mf_TaskSetting {
    const char *name; // of a parameter of the task
    double value;     // [1] or in the parameter's unit
} mf_TaskSetting;

typedef struct mf_EnvironmentConfig {
    uint32_t struct_size;  // [byte] set by mf_environment_config()
    const char *task;      // borrowed for the call
    const mf_Model *model; // borrowed, must outlive the environment; NULL, for tasks that
                           // fly: one of `quadrotor`
    const mf_Quadrotor
        *quadrotor;        // for tasks that fly, copied; default NULL: that of mf_motions_config()
    uint32_t count;        // [1] robots, 1 .. 2^26; default 1; a multiple of the team
    mf_Motion motion;      // default MF_MOTION_ARTICULATED; not read by tasks that fly
    bool double_precision; // of the physics; default false: float
    mf_EnvironmentIntegrator integrator; // of twins; default MF_ENVIRONMENT_AS_FILE
    uint32_t frame_skip;                 // [1] 1 .. 1000; default 0: the task's
    uint32_t episode_steps;              // [1] MF_NONE: without end; default 0: the task's
    mf_Autoreset autoreset;              // default MF_AUTORESET_NEXT_STEP
    mf_FieldType observation_type;  // MF_F64 or MF_F32, type of the observations in the buffers;
                                    // default MF_F64
    const mf_TaskSetting *settings; // borrowed for the call; may be NULL
    uint32_t setting_count;         // [1]
} mf_EnvironmentConfig;
// The defaults of mf_EnvironmentConfig: every configuration starts from them.
MF_API mf_EnvironmentConfig mf_environment_config(void);

// Creates a world with the robots of one task. MF_NOT_FOUND: no such task or parameter;
// MF_UNSUPPORTED: the model lacks what the task needs, or does not support `motion`;
// MF_BAD_ARGUMENT, MF_LIMIT, MF_NO_MEMORY. Reset all robots before the first step.
MF_API mf_Status mf_environment_create(mf_Context *context, const mf_EnvironmentConfig *config,
                                       mf_Environment **out, mf_Error *error);
MF_API void mf_environment_destroy(mf_Environment *environment); // NULL is allowed

// Its world and its group: for reading, recording and snapshots (which include the state of
// episodes). Between two steps only.
MF_API mf_World *mf_environment_world(const mf_Environment *environment);
MF_API mf_Group *mf_environment_group(const mf_Environment *environment);
// What pulls its robots by hand in the steps of the environment: made by the first call, owned by
// the environment. MF_NO_MEMORY.
MF_API mf_Status mf_environment_pusher(mf_Environment *environment, mf_Pusher **out,
                                       mf_Error *error);
MF_API const mf_TaskInfo *mf_environment_task(const mf_Environment *environment);

MF_API uint32_t mf_environment_count(const mf_Environment *environment); // [1] robots
// [1] Robots that share one space, observe each other and start and end their episodes together: 1
// except for tasks of several robots. Robots i and j are in one team if i / team = j / team.
MF_API uint32_t mf_environment_team(const mf_Environment *environment);
MF_API uint32_t mf_environment_observation_count(const mf_Environment *environment); // [1]
MF_API uint32_t mf_environment_action_count(const mf_Environment *environment);      // [1]
// Range of an action; values outside are handled by the model's actuators.
MF_API void mf_environment_action_range(const mf_Environment *environment, uint32_t action,
                                        double *lower, double *upper);
MF_API double mf_environment_interval(const mf_Environment *environment); // [s] of one step
// The value of a parameter of the task; NAN if the name is unknown.
MF_API double mf_environment_parameter(const mf_Environment *environment, const char *name);

// Memory of the caller, robot after robot: row i is robot i. Observations have the type of the
// configuration. All except `action` are written; those that may be NULL are then not written.
typedef struct mf_EnvironmentBuffers {
    const float *action;     // [1] count * action_count; not read by a reset
    void *observation;       // [1] count * observation_count
    double *reward;          // [1] count; not written by a reset
    uint8_t *terminated;     // [1] count; 1: failed or done, by the task; not written by a reset
    uint8_t *truncated;      // [1] count; 1: cut off by episode_steps; not written by a reset
    void *final_observation; // [1] as observation, rows of robots that ended in this step
                             // (MF_AUTORESET_SAME_STEP); may be NULL
    double *signals;         // [1] count * signal_count; may be NULL
    double *final_signals;   // [1] as final_observation; may be NULL
    uint32_t *final_warning; // [1] count; warning bits of robots that ended; may be NULL
    uint32_t *final_fault;   // [1] count; fault bits of robots that ended; may be NULL
} mf_EnvironmentBuffers;

// Starts episodes of robots with a nonzero byte in `mask` (NULL: all); only their rows are written.
// `seeds`, one per robot, restart their random numbers; NULL: they continue. Robot i with the seed
// s has the same trajectory in every environment, at every index, with every number of threads. The
// seed of a team is that of its first robot. MF_BAD_ARGUMENT: a robot that never had a seed, or a
// mask that divides a team.
MF_API mf_Status mf_environment_reset(mf_Environment *environment, const uint8_t *mask,
                                      const uint64_t *seeds, const mf_EnvironmentBuffers *buffers,
                                      mf_Error *error);

// One step of all robots. A robot whose physics failed (fault.word) is terminated, and with it its
// team; its non-finite values are reported as 0. Allocates nothing. MF_BAD_ARGUMENT, without
// effect: an action that is not finite (the message names robot and action), or a robot that was
// never reset.
MF_API mf_Status mf_environment_step(mf_Environment *environment,
                                     const mf_EnvironmentBuffers *buffers, mf_Error *error);
