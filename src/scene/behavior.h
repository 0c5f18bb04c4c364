// Internals of behaviors.
#pragma once

#include <mayfly/behavior.h>

enum { MF_MODE_FIELDS = 4 };

// State of a behavior's system.
typedef struct mf_BehaviorPlan {
    mf_Behavior behavior; // values and points are owned by the plan
    mf_VehicleKind kind;
    uint32_t count;                    // [1] agents
    mf_Field *command[MF_MODE_FIELDS]; // of the mode, in order
    const mf_Field *position, *velocity, *orientation, *fault;
    mf_Field *waypoint; // index of the next waypoint
    mf_Field *offset;   // [m] from the group's center at the start
    const mf_Field *neighbor_count, *neighbor_position, *neighbor_velocity;
    uint32_t neighbors;                // [1] most detected neighbors
    double airspeed_min, airspeed_max; // [m/s] of fixed wings; others: 0 and infinity
    double steering_limit;             // [rad] cars
    uint32_t *circle_first;            // [1] circles + 1: first agent of each circle
} mf_BehaviorPlan;

// Adds to `wish` a velocity away from detected neighbors nearer than the behavior's separation; its
// magnitude is the behavior's speed for one neighbor at half that distance.
void mf_flock_avoid(const mf_BehaviorPlan *plan, uint32_t instance, double wish[3]);

// Boids: the desired velocity of an agent.
void mf_flock_wish(const mf_BehaviorPlan *plan, uint32_t instance, double wish[3]);

// The command mode of the vehicle that a behavior uses, as int of its kind's enum. MF_BAD_ARGUMENT
// if the vehicle does not support it.
mf_Status mf_behavior_mode(const mf_Behavior *behavior, mf_VehicleKind kind, int *mode,
                           mf_Error *error);

// MF_BAD_ARGUMENT if the vehicle is too slow, too fast or too wide for the behavior.
mf_Status mf_behavior_check(const mf_Behavior *behavior, const mf_Vehicle *vehicle,
                            mf_Error *error);

// The circle of a formation, from 0, that an agent of `count` belongs to.
uint32_t mf_behavior_circle(const mf_Behavior *behavior, uint32_t count, uint32_t instance);

// Adds a system that writes the commands of every agent of `group` by `behavior` (copied,
// including lists); at most one per group of vehicles; MF_BEHAVIOR_PROGRAM adds none. The motion
// of the group must be that of `kind` in that mode. A flock needs an interaction that detects
// neighbors. Behaviors of modules, for which `kind` is ignored, are policies: they need the model's
// sensors (mf_sensors_add) or messages (mf_messages_add) that they use, and remember in
// NAME.memory (docs/reference/scenes.md).
mf_Status mf_behavior_add(mf_Group *group, mf_VehicleKind kind, const mf_Behavior *behavior,
                          mf_Error *error);
