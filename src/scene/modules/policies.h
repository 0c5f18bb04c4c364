// Policies that ship: behaviors of modules. Each has a file and a row of the table in policies.c.
#pragma once

#include "world/attach.h"

#include <mayfly/behavior.h>
#include <mayfly/policy.h>

// A joint that a policy moves.
typedef struct mf_PolicyJoint {
    uint32_t joint;
    uint32_t actuator; // [1] a velocity actuator that drives it; MF_NONE: none
    double side;       // [1] 1; right wheels: -1
} mf_PolicyJoint;

// Settings of a policy, with names found; kept by the group.
typedef struct mf_PolicyPlan {
    mf_Kept kept;
    mf_PolicyBehavior settings; // without its texts
    uint32_t front, back;       // [1] docks; MF_NONE: none
    uint32_t sensor;            // [1] first component of sensor.value
    uint32_t first_id;          // [1] number of the group's first robot among all modules
    uint32_t words;             // [1] of a message
    bool by_actuator;           // joints are driven by actuators, else by moving targets
    uint32_t robots;            // [1] of all groups with docks
    uint64_t seed;              // [1] of the world
    const mf_Model *model;
    double (*points)[3]; // [m] targets; behind the joints
    uint32_t point_count, joint_count;
    mf_PolicyJoint joints[];
} mf_PolicyPlan;

// Percepts; those that a kind does not use are others.
enum { MF_POLICY_TARGET, MF_POLICY_ANGLE, MF_POLICY_DOCK_STATE, MF_POLICY_SENSOR };
// Their actions: commands of joints, and docks where they switch some.
enum { MF_POLICY_JOINTS, MF_POLICY_DOCKS };

// What a policy uses.
typedef struct mf_PolicyKind {
    const char *name;
    mf_PolicyFn think;
    uint32_t memory;             // [1] numbers
    uint32_t words;              // [1] of its messages, at least; 0: it sends none
    bool joints, ends;           // moves joints; has a front and a back dock
    bool some_ends;              // a front or a back dock only where they are named
    bool may_be_root;            // has both, or is a module without joints that has the targets, or
                                 // only one dock
    bool parts;                  // switches docks
    bool drives;                 // by speed
    bool sides;                  // has left and right wheels
    mf_SensorType sensor, other; // types of its sensor; MF_SENSOR_CONTACTS: it has none
    mf_Status (*check)(const mf_PolicyPlan *plan, mf_Error *error); // NULL: nothing
} mf_PolicyKind;

extern const mf_PolicyKind mf_policy_snake, mf_policy_phase, mf_policy_track, mf_policy_unroll,
    mf_policy_count, mf_policy_leader, mf_policy_spin, mf_policy_wheels, mf_policy_car,
    mf_policy_arm, mf_policy_hormone;

// The dock of a name; NULL or "": `usual`. MF_NONE: there is none.
uint32_t mf_policy_dock(const mf_Model *model, const char *name, uint32_t usual);
mf_Status mf_policy_behavior_add(mf_Group *group, const mf_Behavior *behavior, mf_Error *error);

// ---- for policies ------------------------------------------------------------------------------

// Commands the same position to all joints of the plan.
bool mf_policy_pose(mf_Policy *policy, const mf_PolicyPlan *plan, double position);
// Drives joints at `speed`, joints of the right side at `right` [rad/s]: velocity actuators, or
// servos by targets that move on, at most a radian ahead of a joint that is fixed.
bool mf_policy_drive(mf_Policy *policy, const mf_PolicyPlan *plan, double speed, double right);
bool mf_policy_is_engaged(const mf_Policy *policy, uint32_t dock);
void mf_policy_tell(mf_Policy *policy, const mf_Message *message); // sends to all engaged docks
double mf_policy_wrap(double angle);                               // [rad] to -pi .. pi

// A tick of a track and of a snake, with their memories from number `memory` on; what other
// policies are made of. [rad] The bend of the module, which is bent by `bent` now.
enum { MF_TRACK_MEMORY = 2, MF_SNAKE_MEMORY = 3, MF_SNAKE_WORDS = 2 };
double mf_policy_track_bend(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t memory,
                            double bent);
// [rad] The angle of the module in the wave. False: the wave has not come here yet.
bool mf_policy_snake_angle(mf_Policy *policy, const mf_PolicyPlan *plan, uint32_t memory,
                           double *out);

// Types of messages, first word of the content excepted: the policies' own.
enum {
    MF_POLICY_SNAKE = 0x6d660001,
    MF_POLICY_PHASE,
    MF_POLICY_COUNT,
    MF_POLICY_LEADER,
    MF_POLICY_CAR,
    MF_POLICY_ARM_DOWN,
    MF_POLICY_ARM_UP,
    MF_POLICY_HORMONE
};

enum { MF_ARM_LINKS = 16 }; // [1] of a module of an arm, at most

// A flood: knowledge that spreads over connected modules from tick to tick. Numbers of the memory
// that it uses, and the first that its users may.
enum { MF_FLOOD_BEGUN, MF_FLOOD_EPOCH, MF_FLOOD_DOCKS, MF_FLOOD_OWN };
// Begins a tick. True: what was known does not hold, because a dock engaged or parted.
bool mf_flood_begin(mf_Policy *policy);
// What a received message, whose first word is its epoch, is worth: -1 nothing, 0 it adds to what
// is known, 1 it replaces that.
int mf_flood_hear(mf_Policy *policy, const mf_Message *message);
// Sends to all engaged docks; sets the first word.
void mf_flood_send(mf_Policy *policy, mf_Message *message);
