// Internal structures of environments (environment.c, world.c, block.c, step.c).
#ifndef MAYFLY_ENVIRONMENT_ENVIRONMENT_H
#define MAYFLY_ENVIRONMENT_ENVIRONMENT_H

#include "environment/body_state.h"
#include "environment/task.h"

#include <stdatomic.h>

#define MF_ENVIRONMENT_SHARES 64u // [1] most pieces of a step; there are as many rooms

// Where one value of a robot is kept.
typedef struct mf_StateSource {
    const mf_Field *field; // NULL: nowhere, it is always `value`
    uint32_t component;
    uint32_t run; // [1] sources from this one on whose values follow each other in the field
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

typedef enum mf_EpisodePhase {
    MF_EPISODE_NONE,
    MF_EPISODE_RUNS,
    MF_EPISODE_OVER,
    MF_EPISODE_MOVED // it runs, and the robot's state was written from outside since the last step
} mf_EpisodePhase;

// A value that shows whether a foot bears load.
typedef struct mf_FootRow {
    const mf_Field *field;
    uint32_t component, foot;
} mf_FootRow;

// Room for a block of robots, robot after robot but for the rows, and for what starts in a unit.
typedef struct mf_EnvironmentRoom {
    void *state, *last; // rows of MF_BLOCK: positions, then velocities, of the group's precision
    mf_BodyStateBatch body_state;
    double *position, *velocity, *last_position, *last_velocity;
    double *point, *rotation, *center, *inertia, *twist, *external, *actuator, *limit, *feet;
    double *memory, *observation, *signals, *action; // of one robot
    double *start, (*start_position)[3], (*start_rotation)[4];
    mf_TaskMate *team;
    mf_TaskDraw *draws; // of the unit's robots that start
    uint8_t *fresh;     // 1: starts in this step
} mf_EnvironmentRoom;

struct mf_Environment {
    mf_Context *context;
    mf_SceneFile *file;
    mf_Scene scene;
    mf_World *world; // the scene's
    mf_Group *group; // its only one
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
    // Where what the last physics step evaluated last is, if tasks see that.
    mf_StateSource *last_position, *last_velocity;
    const mf_Field *external, *actuator, *limit, *fault;
    const mf_BodyStatePlan *body_plan;
    mf_BodyStateFn see;
    bool precise;     // the physics is in double
    bool keeps;       // the state that the last physics step evaluated last, for forces in it
    bool warm_starts; // tasks see poses of that state
    bool stages;      // it is that of the last stage of Runge and Kutta, else the step's beginning
    uint32_t unit;    // [1] robots that a piece is cut by: whole blocks, whole teams
    uint32_t share_count;
    // A piece takes the first room that no other has: few are in use, and they stay in the caches.
    _Atomic uint64_t rooms_taken; // bit r: rooms[r]
    mf_EnvironmentRoom rooms[MF_ENVIRONMENT_SHARES];
};

// Finds the values that show whether feet bear load (feet.c).
mf_Status mf_environment_find_feet(mf_Environment *environment, mf_Error *error);

// The scene for environment->plan, and its fields (world.c).
mf_Status mf_environment_make_world(mf_Environment *environment, const mf_EnvironmentConfig *config,
                                    mf_Error *error);

// Fills the room with all that the task wants to see of a block (block.c). Robots with a nonzero
// byte in `fresh` have just begun: what a last physics step left is not theirs.
void mf_environment_see(const mf_Environment *environment, uint32_t block, const uint8_t *fresh,
                        mf_EnvironmentRoom *room);
// The view of one of them, without action.
mf_TaskView mf_environment_view(const mf_Environment *environment, uint32_t lane,
                                const mf_EnvironmentRoom *room, mf_TaskDraw *draw);

#endif
