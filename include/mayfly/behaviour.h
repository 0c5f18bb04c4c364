// Mayfly: behaviours of the robots of a group: commands of vehicles, gaits with a constant command,
// a game of soccer. docs/reference/scenes.md has the equations.
#ifndef MAYFLY_BEHAVIOUR_H
#define MAYFLY_BEHAVIOUR_H

#include <mayfly/vehicle_file.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mf_BehaviourKind {
    MF_BEHAVIOUR_HOLD,      // hover at the start, fly straight on, stand
    MF_BEHAVIOUR_COMMAND,   // vehicles: constant values in a command mode
    MF_BEHAVIOUR_ORBIT,     // vehicles: around one circle
    MF_BEHAVIOUR_FORMATION, // vehicles: evenly spaced on concentric circles
    MF_BEHAVIOUR_WAYPOINTS, // vehicles: from way-point to way-point
    MF_BEHAVIOUR_FLOCK,     // vehicles: Reynolds' boids, by the neighbours that each agent detects
    MF_BEHAVIOUR_GAIT,      // robots with gaits: one of them, with a constant command
    MF_BEHAVIOUR_SOCCER     // robots with gaits: approach the ball, kick it to the goal, get up
} mf_BehaviourKind;

// A team of a game of soccer. One ball for all teams.
typedef struct mf_SoccerTeam {
    const char *ball;   // name of the ball's group
    double goal[2];     // [m] centre of the opponents' goal
    double own_goal[2]; // [m] centre of the own goal
    double field_width; // [m] > 0 between the touch lines
    double goal_width;  // [m] > 0 between the posts
    double kick[2]; // [m] position of the ball for a kick with the left foot, forward and left of
                    // the base; mirrored for the right foot
    double speed;   // [m/s] > 0 of walking forward
    double spacing; // [m] >= 0 minimum distance from others
    bool keeper;    // the first robot is the goalkeeper
} mf_SoccerTeam;

typedef struct mf_Behaviour {
    mf_BehaviourKind kind;
    mf_Rate rate;     // [1/s] rate at which commands are written; default 20 per second
    double speed;     // [m/s] > 0 of orbit, formation, waypoints and flock
    const char *mode; // command: a mode of the vehicle
    double
        *values; // [1] or as the field says; command: in the order of the mode's fields; borrowed
    uint32_t value_count;     // [1]
    double center[2];         // [m] orbit and formation
    double radius;            // [m] > 0 orbit; formation: of the innermost circle
    double height;            // [m] orbit; formation: of the innermost circle; world frame
    uint32_t circles;         // [1] formation: >= 1
    double gap;               // [m] > 0 formation: between radii
    double rise;              // [m] formation: between heights, outward
    bool alternate;           // formation: every second circle is flown clockwise
    double (*points)[3];      // [m] waypoints, world frame; borrowed
    uint32_t point_count;     // [1]
    double reached;           // [m] > 0 waypoints: distance at which one counts as reached
    bool loop;                // waypoints: repeat after the last
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

// The command mode of the vehicle that a behaviour uses, as int of its kind's enum. MF_BAD_ARGUMENT
// if the vehicle does not support it.
MF_API mf_Status mf_behaviour_mode(const mf_Behaviour *behaviour, mf_VehicleKind kind, int *mode,
                                   mf_Error *error);

// The circle of a formation, from 0, that an agent of `count` belongs to.
MF_API uint32_t mf_behaviour_circle(const mf_Behaviour *behaviour, uint32_t count,
                                    uint32_t instance);

// MF_BAD_ARGUMENT if the vehicle is too slow, too fast or too wide for the behaviour.
MF_API mf_Status mf_behaviour_check(const mf_Behaviour *behaviour, const mf_Vehicle *vehicle,
                                    mf_Error *error);

// Adds a system that writes the commands of every agent of `group` by `behaviour` (copied,
// including lists); at most one per group of vehicles. The motion of the group must be that of
// `kind` in that mode. A flock needs an interaction that detects neighbours.
MF_API mf_Status mf_behaviour_add(mf_Group *group, mf_VehicleKind kind,
                                  const mf_Behaviour *behaviour, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
