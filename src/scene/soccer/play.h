// Internals of a game of soccer. Tactics decide (tactics.c), the referee counts (play.c).
#pragma once

#include "scene/builder.h"

typedef struct mf_PlayCount {
    uint32_t goals; // [1] scored by the robots of this group
    uint32_t kicks; // [1] begun
    uint32_t falls; // [1] robots that fell and had to get up
    uint32_t dives; // [1] of the keeper
    uint32_t out;   // [1] times that the ball left the field
} mf_PlayCount;

// Actions of the robots of a group so far. Not part of snapshots.
mf_PlayCount mf_play_count(const mf_Play *play, uint32_t group);

typedef enum mf_PlayMove {
    MF_PLAY_WALK,
    MF_PLAY_STAND,
    MF_PLAY_KICK_LEFT,
    MF_PLAY_KICK_RIGHT,
    MF_PLAY_UP_FRONT,
    MF_PLAY_UP_BACK,
    MF_PLAY_DIVE_LEFT,
    MF_PLAY_DIVE_RIGHT,
    MF_PLAY_MOVES
} mf_PlayMove;

// A team: one group.
typedef struct mf_PlayTeam {
    mf_Group *group;
    uint32_t index; // [1] of the group
    const mf_SoccerTeam *behavior;
    uint32_t moves[MF_PLAY_MOVES]; // [1] numbers of the gaits; MF_NONE: has none
    mf_Field *position, *orientation, *select, *done, *command;
    mf_PlayCount count;
} mf_PlayTeam;

struct mf_Play {
    mf_Context *context;
    mf_World *world;
    uint32_t team_count; // [1]
    mf_PlayTeam teams[MF_SCENE_GROUPS];
    mf_Group *ball;
    mf_Field *ball_position, *ball_velocity;
    double *state; // buffer for moving the ball: position and velocity vector
};

// A robot seen from above.
typedef struct mf_Player {
    double position[2]; // [m]
    double heading;     // [rad]
    double upright;     // [1] cosine of the tilt
    double chest;       // [1] vertical component of the forward axis: -1 lies face down
} mf_Player;

mf_Player mf_play_see(const mf_PlayTeam *team, uint32_t robot);

// Commands every robot of a team.
void mf_play_tactics(mf_Play *play, mf_PlayTeam *team);
