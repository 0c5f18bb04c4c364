// What environments are made of (environment.c, stage.c, step.c).
#ifndef MAYFLY_ENVIRONMENT_ENVIRONMENT_H
#define MAYFLY_ENVIRONMENT_ENVIRONMENT_H

#include "environment/task.h"

#define MF_ENVIRONMENT_SHARES 64u // [1] most pieces that a step is cut into, each with its room

// Where one value of a robot is kept.
typedef struct mf_StateSource {
    const mf_Field *field; // NULL: nowhere, it is always `value`
    uint32_t component;
    double value;
} mf_StateSource;

// Fields of the environment itself, part of the state.
typedef enum mf_EpisodeRow {
    MF_EPISODE_STEPS,  // steps done in this episode
    MF_EPISODE_NUMBER, // episodes begun with this seed
    MF_EPISODE_PHASE,  // an mf_EpisodePhase
    MF_EPISODE_SEED,   // its lower and upper half
    MF_EPISODE_MEMORY, // what the task keeps
    MF_EPISODE_LAST_POSITION,
    MF_EPISODE_LAST_VELOCITY,
    MF_EPISODE_ROWS
} mf_EpisodeRow;

typedef enum mf_EpisodePhase { MF_EPISODE_NONE, MF_EPISODE_RUNS, MF_EPISODE_OVER } mf_EpisodePhase;

// A value that shows whether a foot bears load.
typedef struct mf_FootRow {
    const mf_Field *field;
    uint32_t component, foot;
} mf_FootRow;

// Room for one robot's numbers, one for each piece of a step; observations and signals are a
// team's.
typedef struct mf_EnvironmentRoom {
    mf_TaskRoom task;
    double *position, *velocity, *last_position, *last_velocity, *memory, *observation, *signals,
        *action, *feet;
    mf_TaskMate *team;
    mf_TaskDraw *draws; // of the team's starts
} mf_EnvironmentRoom;

struct mf_Environment {
    mf_Context *context;
    mf_World *world;
    mf_Group *group;
    mf_Terrain *ground;
    mf_TaskPlan plan;
    mf_Autoreset autoreset;
    mf_FieldType observation_type;
    mf_Model *own_model; // NULL: the caller's
    mf_Quadrotor quadrotor;
    uint32_t count, frame_skip, episode_steps;
    mf_Field *rows[MF_EPISODE_ROWS];
    mf_ActionTarget *targets; // action_count
    mf_FootRow *feet;
    uint32_t foot_row_count;
    mf_StateSource *position, *velocity;
    const mf_Field *outer, *actuator, *limit, *fault;
    bool recalls;  // the state before the last physics step is kept
    uint32_t unit; // [1] robots that a piece is cut by: whole blocks, whole teams
    uint32_t share_count;
    mf_EnvironmentRoom rooms[MF_ENVIRONMENT_SHARES];
};

// Finds the values that show whether feet bear load (feet.c).
mf_Status mf_environment_find_feet(mf_Environment *environment, mf_Error *error);

// World, group, motion and fields for environment->plan (stage.c).
mf_Status mf_environment_stage(mf_Environment *environment, const mf_EnvironmentConfig *config,
                               mf_Error *error);

#endif
