// Mayfly: run-time joints. A world joins links of any two robots, or a link and the world, while it
// runs; models do not change. docs/how_to/run_time_joints.md shows how to use them
// and has the equations.
#pragma once

#include <mayfly/world.h>

// ---- the joints of a world ----------------------------------------------------------------------

typedef struct mf_WorldJointsConfig {
    uint32_t struct_size; // [byte] set by mf_world_joints_config()
    uint32_t rounds;  // [1] largest number of corrections of a step's forces before the responses
                      // of the robots are computed again, which is done at most eight times, 1 ..
                      // 32; default 4
    double tolerance; // [1] residual of the forces at which the iteration ends, 1e-9 .. 0.1;
                      // default 1e-4
} mf_WorldJointsConfig;
// The defaults of mf_WorldJointsConfig: every configuration starts from them.
MF_API mf_WorldJointsConfig mf_world_joints_config(void);

// All run-time joints of a world; owned by the world.
typedef struct mf_WorldJoints mf_WorldJoints;

// Enables run-time joints in a world: adds the systems "joints", which computes their forces before
// the motions step, and "joints.end". `config` may be NULL. The joints are part of the world's
// snapshots and of its hash. MF_BAD_ARGUMENT: a setting, or a second call. MF_NO_MEMORY.
MF_API mf_Status mf_world_joints_add(mf_World *world, const mf_WorldJointsConfig *config,
                                     mf_WorldJoints **out, mf_Error *error);
// The joints of a world; NULL: none were added.
MF_API mf_WorldJoints *mf_world_joints_of(const mf_World *world);
MF_API uint32_t mf_world_joints_count(const mf_WorldJoints *joints); // [1] that exist

// ---- one joint ----------------------------------------------------------------------------------

typedef enum mf_WorldJointKind {
    MF_WORLD_JOINT_FIXED, // both frames coincide
    MF_WORLD_JOINT_BALL,  // both origins coincide
    MF_WORLD_JOINT_HINGE  // both origins and both z axes coincide
} mf_WorldJointKind;
// "fixed", "ball", "hinge".
MF_API const char *mf_world_joint_kind_name(mf_WorldJointKind kind);

// A frame on a link. A group of NULL: a frame of the world; `instance` and `link` are then ignored.
typedef struct mf_WorldJointSide {
    mf_Group *group;
    uint32_t instance;     // [1]
    uint32_t link;         // [1] of the model
    double position[3];    // [m] of the frame, link's axes
    double orientation[4]; // [1] frame to link, (w, x, y, z), of length 1 within 1 %
} mf_WorldJointSide;

typedef struct mf_WorldJointConfig {
    uint32_t struct_size; // [byte] set by mf_world_joint_config()
    mf_WorldJointKind kind;
    mf_WorldJointSide sides[2]; // default: both of the world; at least one must be set
    double stiffness;           // [N/m] >= 0; default 0: rigid, an error decreases with `time`
    double damping;             // [N s/m] >= 0; only with a stiffness
    double angular_stiffness;   // [N m/rad] >= 0; default 0: rigid
    double angular_damping;     // [N m s/rad] >= 0; only with a angular_stiffness
    double time;                // [s] time constant with which the error of a rigid joint
                                // decreases, at least one step; default 0: 4 steps
    double force_limit;         // [N] > 0; the joint breaks above it; default infinite
    double moment_limit;        // [N m] > 0; likewise
    // Of a hinge. Its angle is that of the second side's x axis from the first one's.
    double lower_angle, upper_angle; // [rad] range with rigid, inelastic stops, within -2 pi .. 2
                                     // pi and at most 6 wide; default infinite: none
    double motor_rate;               // [rad/s] that the motor drives the angle's rate to
    double motor_torque; // [N m] >= 0 largest torque of the motor; default 0: none. With a
                         // motor_rate of 0 this is dry friction
} mf_WorldJointConfig;
// The defaults of mf_WorldJointConfig: every configuration starts from them.
MF_API mf_WorldJointConfig mf_world_joint_config(void);

// Sets position and orientation of both sides, whose groups, instances and links are set, so that
// the joint has no error in the present state: with the origin at `position` [m] and, for a hinge,
// the axis along `axis` (of any length > 0; NULL: the world's z axis), both in the world frame.
// MF_BAD_ARGUMENT: as mf_world_joint_create.
MF_API mf_Status mf_world_joint_here(mf_WorldJointConfig *config, const double position[3],
                                     const double axis[3], mf_Error *error);

// Handle of a joint: the handle of a destroyed joint is never used again in the same run. A
// restored snapshot has the handles that were valid when it was taken. Its low 32 bits are the
// joint's number, the lowest that was free, which a later joint may get.
typedef uint64_t mf_WorldJointId;
#define MF_WORLD_JOINT_NONE UINT64_C(0)

// Creates a joint, between steps; it acts from the next step on. Add the motion of a group and its
// reports (mf_articulated_report_forces, ...) before its first joint. Groups must be shared and
// prepared by mf_collisions_prepare before their motion is added, so that their links accept
// forces; robots of `kinematic` move the other side, and forces have no effect on them.
// MF_BAD_ARGUMENT: a setting, a group of another world, isolated or not prepared; no such instance
// or link; both sides the same link, or neither side can move. MF_UNSUPPORTED: a motion that does
// not accept forces on its links. MF_LIMIT: 65536 joints. MF_NO_MEMORY. On failure nothing changes.
MF_API mf_Status mf_world_joint_create(mf_WorldJoints *joints, const mf_WorldJointConfig *config,
                                       mf_WorldJointId *out, mf_Error *error);
// Destroys a joint, between steps. MF_NOT_FOUND: no such joint.
MF_API mf_Status mf_world_joint_destroy(mf_WorldJoints *joints, mf_WorldJointId id,
                                        mf_Error *error);
// A joint that is not enabled has no forces. Enabling a broken joint repairs it. Between steps.
// MF_NOT_FOUND: no such joint.
MF_API mf_Status mf_world_joint_enable(mf_WorldJoints *joints, mf_WorldJointId id, bool enabled,
                                       mf_Error *error);
// Sets rate [rad/s] and largest torque [N m] of the motor of a hinge, from the next step on.
// Between steps. MF_NOT_FOUND: no such joint. MF_BAD_ARGUMENT: a value, or no hinge.
MF_API mf_Status mf_world_joint_set_motor(mf_WorldJoints *joints, mf_WorldJointId id, double rate,
                                          double torque, mf_Error *error);
MF_API bool mf_world_joint_exists(const mf_WorldJoints *joints, mf_WorldJointId id);
// The existing joint that follows `id` in a fixed order; after MF_WORLD_JOINT_NONE the first, after
// the last MF_WORLD_JOINT_NONE. `id` need not exist any more.
MF_API mf_WorldJointId mf_world_joint_next(const mf_WorldJoints *joints, mf_WorldJointId id);

typedef struct mf_WorldJointState {
    bool enabled;     // as set
    bool broken;      // a limit was exceeded in a step, which was the last in which it acted
    double force[3];  // [N] on the second link, by the joint, in the last step; world axes. The
                      // first link has the opposite. For a broken joint: when it broke
    double moment[3]; // [N m] likewise, about the joint's point
    double opening;   // [m] distance of both origins, present
    double angular_opening; // [rad] angle between both frames, or axes, present; 0 for a ball
    double residual;        // [1] residual of the forces of the last step
    uint32_t rounds;        // [1] trial steps of the last step
    double angle;         // [rad] hinge: of the second side's x axis from the first one's, present
    double rate;          // [rad/s] its rate
    double torque;        // [N m] of motor and stops on the second link about the hinge's axis, in
                          // the last step; part of `moment`
    double anchors[2][3]; // [m] present positions of the origins of both frames, world frame
} mf_WorldJointState;
// MF_NOT_FOUND: no such joint.
MF_API mf_Status mf_world_joint_state(const mf_WorldJoints *joints, mf_WorldJointId id,
                                      mf_WorldJointState *out, mf_Error *error);
// The configuration with which a joint was created. MF_NOT_FOUND: no such joint.
MF_API mf_Status mf_world_joint_config_of(const mf_WorldJoints *joints, mf_WorldJointId id,
                                          mf_WorldJointConfig *out, mf_Error *error);

// ---- joints that controllers make ---------------------------------------------------------------
//
// A joint slot of a robot holds at most one joint between a link of that robot and anything else.
// Controllers - plugins, callbacks, programs - make and destroy the joint by requests: values that
// they write to fields of the robot. The requests of a step are carried out right before its joints
// are solved, in the order of groups, robots and slots, so results do not depend on threads. All of
// it is state: a snapshot holds requests that are not carried out yet.
//
// Fields, per slot; `w` values each:
//     joint_slot.request  w 1  mf_JointRequest; 0 when it was carried out
//     joint_slot.kind     w 1  mf_WorldJointKind; default fixed
//     joint_slot.link     w 4  own link; group, robot and link of the partner. Default 0 and
//                              MF_JOINT_NEAREST; a group of MF_NONE: the world
//     joint_slot.frame    w 7  position [m] and orientation (w, x, y, z) of the joint's frame in
//                              the own link; default: its origin and axes
//     joint_slot.partner  w 7  the same in the partner's link. An orientation of zeros, the
//                              default: the joint has no error in the present poses
//     joint_slot.setting  w 8  stiffness, damping, angular_stiffness, angular_damping, time,
//                              force_limit, moment_limit as in mf_WorldJointConfig, but limits of
//                              0, the default: none; reach [m] of MF_JOINT_NEAREST
//     joint_slot.hinge    w 4  of a hinge: lower_angle, upper_angle, motor_rate, motor_torque as in
//                              mf_WorldJointConfig, but a range of 0 .. 0, the default: none
//     joint_slot.state    w 1  mf_JointSlotState, at the end of the step
//     joint_slot.answer   w 1  mf_Status of the last request
//     joint_slot.joint    w 5  handle, low and high half; group, robot and link of the partner
//     joint_slot.load     w 6  [N], [N m] force and moment on the own link in the step, world axes
//     joint_slot.angle    w 3  of a hinge: angle [rad] of the partner's frame from the own one, its
//                              rate [rad/s], both at the end of the step; torque [N m] of motor and
//                              stops on the partner in the step. 0 of other joints
// All but the last five are inputs.

typedef enum mf_JointRequest {
    MF_JOINT_REQUEST_NONE,
    MF_JOINT_REQUEST_JOIN,   // creates the joint; one that the slot has is destroyed
    MF_JOINT_REQUEST_LEAVE,  // destroys it; nothing to do is no error
    MF_JOINT_REQUEST_ENABLE, // as mf_world_joint_enable
    MF_JOINT_REQUEST_DISABLE,
    MF_JOINT_REQUEST_MOTOR // as mf_world_joint_set_motor, with the values of joint_slot.hinge
} mf_JointRequest;

typedef enum mf_JointSlotState {
    MF_JOINT_SLOT_FREE,
    MF_JOINT_SLOT_JOINED,
    MF_JOINT_SLOT_DISABLED,
    MF_JOINT_SLOT_BROKEN // a limit was exceeded; enabling or joining again repairs it
} mf_JointSlotState;

// Instead of a group, robot or link of the partner: the one whose link has its center of mass
// nearest to the joint's frame, within reach, of all other robots that take part. Of equally near
// ones the first.
#define MF_JOINT_NEAREST (UINT32_MAX - 1u)

// Adds `count` joint slots, 1 .. 16, to each robot of a shared group: the fields above and a system
// that writes the outputs at the end of a step. Before the plugins that use the fields. A reset
// of a robot requests MF_JOINT_REQUEST_LEAVE for all of its slots and resets the other inputs.
// MF_BAD_ARGUMENT: an isolated group, one of another world or with slots. MF_NO_MEMORY.
MF_API mf_Status mf_joint_slots_add(mf_WorldJoints *joints, mf_Group *group, uint32_t count,
                                    mf_Error *error);

// Lets robots of all groups that exist now take part, and reserves memory for a joint in each slot,
// since steps allocate none. Call it when all groups have their motions; until then, and for groups
// that were added later, requests are refused. MF_BAD_ARGUMENT, MF_UNSUPPORTED: links of a group
// with slots do not accept forces, as in mf_world_joint_create. MF_NO_MEMORY.
MF_API mf_Status mf_joint_slots_ready(mf_WorldJoints *joints, mf_Error *error);

// What became of requests so far; no state. A request that can never be carried out (no such group,
// robot or link, a setting out of its range, a motor of a joint that is no hinge, a link that
// accepts no forces) changes nothing and raises MF_FAULT_INPUT of the robot. Nothing within reach,
// and enabling or a motor where there is no joint, are answers only (MF_NOT_FOUND).
typedef struct mf_JointRequestStatistics {
    uint64_t carried_out; // [1]
    uint64_t refused;     // [1] that raised a fault
    char reason[256];     // of the first one that was refused; "" if none
} mf_JointRequestStatistics;
MF_API mf_JointRequestStatistics mf_joint_request_statistics(const mf_WorldJoints *joints);
