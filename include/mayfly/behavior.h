// Mayfly: behaviors of the robots of a group: commands of vehicles, gaits with a constant command,
// policies of modules. docs/reference/scenes.md has the equations.
#pragma once

#include <mayfly/vehicle_file.h>

typedef enum mf_BehaviorKind {
    MF_BEHAVIOR_HOLD,      // hover at the start, fly straight on, stand
    MF_BEHAVIOR_COMMAND,   // vehicles: constant values in a command mode
    MF_BEHAVIOR_PROGRAM,   // vehicles: none; a program writes the fields of a command mode
    MF_BEHAVIOR_ORBIT,     // vehicles: around one circle
    MF_BEHAVIOR_FORMATION, // vehicles: evenly spaced on concentric circles
    MF_BEHAVIOR_WAYPOINTS, // vehicles: from waypoint to waypoint
    MF_BEHAVIOR_FLOCK,     // vehicles: Reynolds' boids, by the neighbors that each agent detects
    MF_BEHAVIOR_GAIT,      // robots with gaits: one of them, with a constant command
    MF_BEHAVIOR_SNAKE,     // modules: a wave along a chain, its phase from module to module
    MF_BEHAVIOR_PHASE,     // modules: oscillators that synchronize by messages
    MF_BEHAVIOR_TRACK,     // modules: a closed chain that rolls, over an accelerometer
    MF_BEHAVIOR_UNROLL,    // modules: a track that opens a dock and goes on as a snake
    MF_BEHAVIOR_COUNT,     // modules: each counts those that are connected to it
    MF_BEHAVIOR_LEADER,    // modules: those that are connected elect one
    MF_BEHAVIOR_SPIN,      // joints turn at a speed
    MF_BEHAVIOR_WHEELS,    // wheels drive on and turn away from what a range sensor sees
    MF_BEHAVIOR_CAR,       // modules of cars that drive, dock, and part by messages
    MF_BEHAVIOR_ARM,       // modules of an arm: inverse kinematics by messages
    MF_BEHAVIOR_HORMONE    // modules: a wave from a head that they choose, by messages
} mf_BehaviorKind;
#define MF_BEHAVIOR_POLICIES                                                                       \
    MF_BEHAVIOR_SNAKE // the first of those that are policies (mayfly/policy.h)
#define MF_BEHAVIOR_LAST MF_BEHAVIOR_HORMONE // and the last

// Settings of policies; each uses some. Names are borrowed during the call.
typedef struct mf_PolicyBehavior {
    const char *front, *back; // docks: of the module before, of the one behind; "": the first two
    const char *joint;        // joints that move, with spaces between; "": all hinges and slides
    const char *left, *right; // wheels: joints, with spaces between
    const char *sensor;       // track: an accelerometer; wheels: a range sensor; "": the first
    double amplitude;         // [rad] or [m] of joints
    double frequency;         // [Hz]
    double offset;            // [rad] or [m] center of joints
    double lag;               // [rad] phase by which a module is behind the one before
    double coupling;          // [1/s] phase, hormone: rate at which phases agree; arm: errors decay
    double scatter;           // [1] phase: standard deviation of frequencies, relative
    double speed;             // [rad/s] of joints; arm: at most
    double distance;          // [m] wheels: nearer obstacles are avoided
    double pivot_time;        // [s] wheels: shortest time of a pivot
    double stretch;           // [1] track: change of bends, relative
    double lean;              // [rad] track: of the long axis, from the horizontal, forward
    double open;              // [s] unroll: when the first module opens its front dock
    double together, apart;   // [rad/s] car: speed of its joints when docked, and after it parted
    double wait;              // [s] car: of a stage; arm: at a target
    double length;            // [1] arm: modules with which it begins to reach for targets
    double posture;           // [rad] arm: of `joint` while it has fewer
    double damping;           // [m] arm: of the least squares
} mf_PolicyBehavior;

typedef struct mf_Behavior {
    mf_BehaviorKind kind;
    mf_Rate rate;     // [1/s] rate at which commands are written; default 20 per second
    double speed;     // [m/s] > 0 of orbit, formation, waypoints and flock
    const char *mode; // command and program: a mode of the vehicle
    double
        *values; // [1] or as the field says; command: in the order of the mode's fields; borrowed
    uint32_t value_count; // [1]
    double center[2];     // [m] orbit and formation
    double radius;        // [m] > 0 orbit; formation: of the innermost circle
    double height;        // [m] orbit; formation: of the innermost circle; world frame
    uint32_t circles;     // [1] formation: >= 1
    double gap;           // [m] > 0 formation: between radii
    double rise;          // [m] formation: between heights, outward
    bool alternate;       // formation: every second circle is flown clockwise
    double (*points)[3];  // [m] waypoints, world frame; arm: targets, frame of the root; borrowed
    uint32_t point_count; // [1]
    double reached;       // [m] > 0 waypoints: distance at which one counts as reached
    bool loop;            // waypoints: repeat after the last
    double separation;    // [m] flock (> 0) and formation: nearer neighbors are avoided
    double separation_weight; // [1] >= 0
    double alignment_weight;  // [1] >= 0
    double cohesion_weight;   // [1] >= 0
    double goal_weight;       // [1] >= 0 flock: towards `goal`
    double goal[3];           // [m] flock, world frame
    const char *gait;         // gait: its name
    double gait_command[3];   // [m/s], [m/s], [rad/s] gait: forward, left, yaw; NAN: half of the
                              // largest forward
    mf_PolicyBehavior policy;
} mf_Behavior;
