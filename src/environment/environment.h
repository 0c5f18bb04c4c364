// Internal structures of environments (environment.c, world.c, block.c, step.c).
#pragma once

#include "environment/body_state.h"
#include "environment/task.h"

#include <stdatomic.h>

#define MF_ENVIRONMENT_SHARES 64u // [1] most pieces of a step, and scratches

// Location of one value of a robot.
typedef struct mf_StateSource {
    const mf_Field *field; // NULL: constant, `value`
    uint32_t component;
    uint32_t
        run; // [1] length of the run of sources from this one that are consecutive in the field
    double value;
} mf_StateSource;

// Fields of the environment itself, part of the state.
typedef enum mf_EpisodeRow {
    MF_EPISODE_STEPS,  // steps done in this episode
    MF_EPISODE_NUMBER, // index of the episode for this seed
    MF_EPISODE_PHASE,  // an mf_EpisodePhase
    MF_EPISODE_SEED,   // lower and upper half of the seed
    MF_EPISODE_MEMORY, // memory of the task
    MF_EPISODE_LAST_POSITION,
    MF_EPISODE_LAST_VELOCITY,
    MF_EPISODE_ROWS
} mf_EpisodeRow;

typedef enum mf_EpisodePhase {
    MF_EPISODE_NONE,
    MF_EPISODE_RUNS,
    MF_EPISODE_OVER,
    MF_EPISODE_MOVED // running, and the robot's state was written by the caller since the last step
} mf_EpisodePhase;

// A value that shows whether a foot is loaded.
typedef struct mf_FootRow {
    const mf_Field *field;
    uint32_t component, foot;
} mf_FootRow;

// Scratch for a block of robots, robot by robot except for the rows, and for the starts in a unit.
typedef struct mf_EnvironmentScratch {
    void *state, *last; // rows of MF_BLOCK: positions, then velocities, of the group's precision
    mf_BodyStateBatch body_state;
    double *position, *velocity, *last_position, *last_velocity;
    double *point, *rotation, *center, *inertia, *twist, *external, *actuator, *limit, *feet;
    double *memory, *observation, *signals, *action; // of one robot
    double *start, (*start_position)[3], (*start_rotation)[4];
    mf_TaskMate *team;
    mf_TaskDraw *draws; // of robots of the unit that start
    uint8_t *fresh;     // 1: starts in this step
} mf_EnvironmentScratch;

struct mf_Environment {
    mf_Context *context;
    mf_SceneFile *file;
    mf_Scene scene;
    mf_World *world;   // the scene's
    mf_Group *group;   // its only group
    mf_Pusher *pusher; // NULL: nobody has asked for it
    mf_TaskPlan plan;
    mf_Autoreset autoreset;
    mf_FieldType observation_type;
    mf_Model *own_model; // NULL: the caller's
    mf_Vehicle vehicle;  // of tasks that fly
    uint32_t count, frame_skip, episode_steps;
    mf_Field *rows[MF_EPISODE_ROWS];
    mf_ActionTarget *targets; // action_count
    mf_FootRow *feet;
    uint32_t foot_row_count;
    mf_StateSource *position, *velocity;
    // Location of the state of the last evaluation in the last physics step, if the task uses it.
    mf_StateSource *last_position, *last_velocity;
    const mf_Field *external, *actuator, *limit, *fault;
    const mf_BodyStatePlan *body_plan;
    mf_BodyStateFn see;
    bool precise;     // the physics is in double
    bool keeps;       // the task uses the state of the last evaluation, for forces
    bool warm_starts; // the task uses poses of that state
    bool stages;      // it is that of the last Runge-Kutta stage, else the beginning of the step
    uint32_t unit;    // [1] granularity of pieces in robots: whole blocks, whole teams
    uint32_t share_count;
    // A piece takes the first free scratch, so that few are used and stay in cache.
    _Atomic uint64_t scratches_taken; // bit r: scratches[r]
    mf_EnvironmentScratch scratches[MF_ENVIRONMENT_SHARES];
};

// Finds the values that show whether feet are loaded (feet.c).
mf_Status mf_environment_find_feet(mf_Environment *environment, mf_Error *error);

// The scene for environment->plan, and its fields (world.c).
mf_Status mf_environment_make_world(mf_Environment *environment, const mf_EnvironmentConfig *config,
                                    mf_Error *error);

// Fills the scratch with the task's inputs for a block (block.c). Robots with a nonzero byte in
// `fresh` are at the start of an episode, without a previous physics step.
void mf_environment_see(const mf_Environment *environment, uint32_t block, const uint8_t *fresh,
                        mf_EnvironmentScratch *scratch);
// The view of one robot, without action.
mf_TaskView mf_environment_view(const mf_Environment *environment, uint32_t lane,
                                const mf_EnvironmentScratch *scratch, mf_TaskDraw *draw);
