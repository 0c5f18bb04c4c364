// Minds that ship: behaviors of modules. Each has a file and a row of the table in minds.c.
#ifndef MAYFLY_SRC_SCENE_MINDS_H
#define MAYFLY_SRC_SCENE_MINDS_H

#include "world/attach.h"

#include <mayfly/behavior.h>
#include <mayfly/mind.h>

// A joint that a mind moves.
typedef struct mf_MindJoint {
    uint32_t joint;
    uint32_t actuator; // [1] a velocity actuator that drives it; MF_NONE: none
    double side;       // [1] 1; right wheels: -1
} mf_MindJoint;

// Settings of a mind, with names found; kept by the group.
typedef struct mf_MindPlan {
    mf_Kept kept;
    mf_MindBehavior settings; // without its texts
    uint32_t front, back;     // [1] docks; MF_NONE: none
    uint32_t sensor;          // [1] first component of sensor.value
    uint32_t first_id;        // [1] number of the group's first robot among all modules
    uint32_t words;           // [1] of a message
    bool by_actuator;         // joints are driven by actuators, else by moving targets
    uint32_t robots;          // [1] of all groups with docks
    uint64_t seed;            // [1] of the world
    const mf_Model *model;
    double (*points)[3]; // [m] targets; behind the joints
    uint32_t point_count, joint_count;
    mf_MindJoint joints[];
} mf_MindPlan;

// Percepts; those that a kind does not use are others.
enum { MF_MIND_TARGET, MF_MIND_ANGLE, MF_MIND_DOCK_STATE, MF_MIND_SENSOR };
// Their actions: commands of joints, and docks where they switch some.
enum { MF_MIND_JOINTS, MF_MIND_DOCKS };

// What a mind uses.
typedef struct mf_MindKind {
    const char *name;
    mf_MindFn think;
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
    mf_Status (*check)(const mf_MindPlan *plan, mf_Error *error); // NULL: nothing
} mf_MindKind;

extern const mf_MindKind mf_mind_snake, mf_mind_phase, mf_mind_track, mf_mind_unroll, mf_mind_count,
    mf_mind_leader, mf_mind_spin, mf_mind_wheels, mf_mind_car, mf_mind_arm, mf_mind_hormone;

mf_Status mf_mind_behavior_add(mf_Group *group, const mf_Behavior *behavior, mf_Error *error);

// ---- for minds ----------------------------------------------------------------------------------

// Commands the same position to all joints of the plan.
bool mf_mind_pose(mf_Mind *mind, const mf_MindPlan *plan, double position);
// Drives joints at `speed`, joints of the right side at `right` [rad/s]: velocity actuators, or
// servos by targets that move on, at most a radian ahead of a joint that is held.
bool mf_mind_drive(mf_Mind *mind, const mf_MindPlan *plan, double speed, double right);
bool mf_mind_is_engaged(const mf_Mind *mind, uint32_t dock);
double mf_mind_wrap(double angle); // [rad] to -pi .. pi

// A tick of a track and of a snake, with their memories from number `memory` on; what other minds
// are made of. [rad] The bend of the module, which is bent by `bent` now.
enum { MF_TRACK_MEMORY = 2, MF_SNAKE_MEMORY = 3, MF_SNAKE_WORDS = 2 };
double mf_mind_track_bend(mf_Mind *mind, const mf_MindPlan *plan, uint32_t memory, double bent);
// [rad] The angle of the module in the wave. False: the wave has not come here yet.
bool mf_mind_snake_angle(mf_Mind *mind, const mf_MindPlan *plan, uint32_t memory, double *out);

// Types of messages, first word of the content excepted: the minds' own.
enum {
    MF_MIND_SNAKE = 0x6d660001,
    MF_MIND_PHASE,
    MF_MIND_COUNT,
    MF_MIND_LEADER,
    MF_MIND_CAR,
    MF_MIND_ARM_DOWN,
    MF_MIND_ARM_UP,
    MF_MIND_HORMONE
};

enum { MF_ARM_LINKS = 16 }; // [1] of a module of an arm, at most

// A flood: knowledge that spreads over connected modules from tick to tick. Numbers of the memory
// that it uses, and the first that its users may.
enum { MF_FLOOD_BEGUN, MF_FLOOD_EPOCH, MF_FLOOD_DOCKS, MF_FLOOD_OWN };
// Begins a tick. True: what was known does not hold, because a dock engaged or parted.
bool mf_flood_begin(mf_Mind *mind);
// What a received message, whose first word is its epoch, is worth: -1 nothing, 0 it adds to what
// is known, 1 it replaces that.
int mf_flood_hear(mf_Mind *mind, const mf_Message *message);
// Sends to all engaged docks; sets the first word.
void mf_flood_send(mf_Mind *mind, mf_Message *message);

#endif
