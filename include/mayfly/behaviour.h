// Mayfly: behaviours, what the robots of a group are told to do: commands of vehicles, gaits with a
// constant command, a game of soccer. docs/reference/scenes.md has the equations.
#ifndef MAYFLY_BEHAVIOUR_H
#define MAYFLY_BEHAVIOUR_H

#include <mayfly/vehicle_file.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_BehaviourKind {
    MF_BEHAVIOUR_HOLD,      // stay: hover at the start, fly on, stand
    MF_BEHAVIOUR_COMMAND,   // vehicles: constant values in a command mode
    MF_BEHAVIOUR_PROGRAM,   // vehicles: nothing; a program writes the fields of a command mode
    MF_BEHAVIOUR_ORBIT,     // vehicles: all around one circle
    MF_BEHAVIOUR_FORMATION, // vehicles: evenly spaced on circles inside each other
    MF_BEHAVIOUR_WAYPOINTS, // vehicles: from place to place
    MF_BEHAVIOUR_FLOCK,     // vehicles: Reynolds' boids, by the neighbours that each one detects
    MF_BEHAVIOUR_GAIT,      // robots with gaits: one of them, with a constant command
    MF_BEHAVIOUR_SOCCER     // robots with gaits: approach the ball, kick it to the goal, get up
} mf_BehaviourKind;

// A team of a game of soccer. One ball for all teams.
typedef struct mf_SoccerTeam {
    const char *ball;   // name of the ball's group
    double goal[2];     // [m] middle of the goal to score in
    double own_goal[2]; // [m] middle of the own goal
    double field_width; // [m] > 0 between the touch lines
    double goal_width;  // [m] > 0 between the posts
    double kick[2]; // [m] where the ball must be for a kick with the left foot, forward and left
                    // of the base; with the right foot the mirror image
    double speed;   // [m/s] > 0 of walking forward
    double spacing; // [m] >= 0 kept from others
    bool keeper;    // the first robot keeps the goal
} mf_SoccerTeam;

typedef struct mf_Behaviour {
    mf_BehaviourKind kind;
    mf_Rate rate;     // [1/s] how often commands are written; default 20 a second
    double speed;     // [m/s] > 0 of orbit, formation, waypoints and flock
    const char *mode; // command and program: a mode of the vehicle
    double
        *values; // [1] or as the field says; command: in the order of the mode's fields; borrowed
    uint32_t value_count;     // [1]
    double center[2];         // [m] orbit and formation
    double radius;            // [m] > 0 orbit; formation: of the innermost circle
    double height;            // [m] orbit; formation: of the innermost circle; world frame
    uint32_t circles;         // [1] formation: >= 1
    double gap;               // [m] > 0 formation: between radii
    double rise;              // [m] formation: between heights, outward
    bool alternate;           // formation: every second circle turns clockwise
    double (*points)[3];      // [m] waypoints, world frame; borrowed
    uint32_t point_count;     // [1]
    double reached;           // [m] > 0 waypoints: near enough to go on
    bool loop;                // waypoints: start again after the last
    double separation;        // [m] flock (> 0) and formation: nearer neighbours are avoided
    double separation_weight; // [1] >= 0
    double alignment_weight;  // [1] >= 0
    double cohesion_weight;   // [1] >= 0
    double goal_weight;       // [1] >= 0 flock: towards `goal`
    double goal[3];           // [m] flock, world frame
    const char *gait;         // gait: its name
    double gait_command[3];   // [m/s], [m/s], [rad/s] gait: forward, left, turn; NAN: half of the
                              // largest forward
    mf_SoccerTeam soccer;
} mf_Behaviour;

// The command mode that a behaviour needs of a vehicle, as int of its kind's enum.
// MF_BAD_ARGUMENT when the vehicle cannot do it.
MF_API mf_Status mf_behaviour_mode(const mf_Behaviour *behaviour, mf_VehicleKind kind, int *mode,
                                   mf_Error *error);

// The circle of a formation, from 0, that an agent of `count` belongs to.
MF_API uint32_t mf_behaviour_circle(const mf_Behaviour *behaviour, uint32_t count,
                                    uint32_t instance);

// MF_BAD_ARGUMENT when the vehicle is too slow, too fast or too wide for it.
MF_API mf_Status mf_behaviour_check(const mf_Behaviour *behaviour, const mf_Vehicle *vehicle,
                                    mf_Error *error);

// Adds a system that writes the commands of every agent of `group` by `behaviour` (copied, lists
// too), one for vehicles; MF_BEHAVIOUR_PROGRAM adds none. The group must move as vehicles of `kind`
// in that mode. A flock needs an interaction that detects neighbours.
MF_API mf_Status mf_behaviour_add(mf_Group *group, mf_VehicleKind kind,
                                  const mf_Behaviour *behaviour, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
