// Mayfly: run-time joints. A world joins links of any two robots, or a link and the world, while it
// runs; models stay as they are. docs/how_to/run_time_joints.md shows how to use them,
// docs/explanation/run_time_joints.md has the equations.
#ifndef MAYFLY_JOINTS_H
#define MAYFLY_JOINTS_H

#include <mayfly/world.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- the joints of a world ----------------------------------------------------------------------

typedef struct mf_WorldJointsConfig {
    uint32_t struct_size; // [byte] set by mf_world_joints_config()
    uint32_t rounds;  // [1] most corrections of a step's forces before robots are asked again how
                      // they answer, which is done three times at most, 1 .. 32; default 4
    double tolerance; // [1] forces are corrected until they are this exact, 1e-9 .. 0.1;
                      // default 1e-4
} mf_WorldJointsConfig;
MF_API mf_WorldJointsConfig mf_world_joints_config(void);

// All run-time joints of a world. Belong to the world.
typedef struct mf_WorldJoints mf_WorldJoints;

// Lets a world have run-time joints: adds the systems "joints", which finds their forces before the
// motions step, and "joints.end". `config` may be NULL. The joints are part of the world's
// snapshots and of its hash. MF_BAD_ARGUMENT: a setting, or a second call. MF_NO_MEMORY.
MF_API mf_Status mf_world_joints_add(mf_World *world, const mf_WorldJointsConfig *config,
                                     mf_WorldJoints **out, mf_Error *error);
MF_API uint32_t mf_world_joints_count(const mf_WorldJoints *joints); // [1] that exist

// ---- one joint ----------------------------------------------------------------------------------

typedef enum mf_WorldJointKind {
    MF_WORLD_JOINT_FIXED, // both frames stay together
    MF_WORLD_JOINT_BALL,  // both origins stay together
    MF_WORLD_JOINT_HINGE  // both origins and both z axes stay together
} mf_WorldJointKind;
// "fixed", "ball", "hinge".
MF_API const char *mf_world_joint_kind_name(mf_WorldJointKind kind);

// A frame on a link. A group of NULL: a frame of the world, and `instance` and `link` mean nothing.
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
    mf_WorldJointSide sides[2]; // default: both of the world, so that at least one must be set
    double stiffness;           // [N/m] >= 0; default 0: stiff, what is open closes with `time`
    double damping;             // [N s/m] >= 0; only with a stiffness
    double turning_stiffness;   // [N m/rad] >= 0; default 0: stiff
    double turning_damping;     // [N m s/rad] >= 0; only with a turning_stiffness
    double time;                // [s] time constant by which a stiff joint closes, at least one
                                // step; default 0: 4 steps
    double force_limit;         // [N] > 0; it breaks when it carries more; default infinite
    double moment_limit;        // [N m] > 0; likewise
} mf_WorldJointConfig;
MF_API mf_WorldJointConfig mf_world_joint_config(void);

// Sets position and orientation of both sides, whose groups, instances and links are set, so that
// the joint is closed in the present state: with the origin at `position` [m] and, for a hinge, the
// axis along `axis` (of any length > 0; NULL: the world's z axis), both in the world frame.
// MF_BAD_ARGUMENT: as mf_world_joint_create.
MF_API mf_Status mf_world_joint_here(mf_WorldJointConfig *config, const double position[3],
                                     const double axis[3], mf_Error *error);

// Names a joint for good: the handle of one that was destroyed is never that of another one of the
// same run. A restored snapshot knows the handles that were valid when it was taken.
typedef uint64_t mf_WorldJointId;
#define MF_WORLD_JOINT_NONE UINT64_C(0)

// Makes a joint, between steps; it acts from the next step on. What else moves a group, reports of
// its motion (mf_articulated_report_forces, ...) included, is to be added before its first joint.
// Groups must be shared and be prepared by mf_collisions_prepare before their motion is added, so
// that their links take forces; robots of `kinematic` move the other side and feel nothing.
// MF_BAD_ARGUMENT: a setting, a group of another world, isolated or not prepared; no such instance
// or link; both sides the same link, or neither side can give way. MF_UNSUPPORTED: a motion that
// takes no forces on its links. MF_LIMIT: 65536 joints. MF_NO_MEMORY. After a failure nothing has
// changed.
MF_API mf_Status mf_world_joint_create(mf_WorldJoints *joints, const mf_WorldJointConfig *config,
                                       mf_WorldJointId *out, mf_Error *error);
// Between steps. MF_NOT_FOUND: no such joint. MF_NO_MEMORY: it is still there.
MF_API mf_Status mf_world_joint_destroy(mf_WorldJoints *joints, mf_WorldJointId id,
                                        mf_Error *error);
// A joint that is not enabled carries nothing. Enabling one that broke mends it. Between steps.
// MF_NOT_FOUND: no such joint.
MF_API mf_Status mf_world_joint_enable(mf_WorldJoints *joints, mf_WorldJointId id, bool enabled,
                                       mf_Error *error);
MF_API bool mf_world_joint_exists(const mf_WorldJoints *joints, mf_WorldJointId id);
// The joint number `index` of those that exist, in a fixed order; MF_WORLD_JOINT_NONE behind the
// last.
MF_API mf_WorldJointId mf_world_joint_at(const mf_WorldJoints *joints, uint32_t index);

typedef struct mf_WorldJointState {
    bool enabled;         // as set
    bool broken;          // a limit was exceeded in some step, which was the last in which it acted
    double force[3];      // [N] on the second link, by the joint, in the last step; world axes. The
                          // first link has the opposite. Of a broken joint: when it broke
    double moment[3];     // [N m] likewise, about the joint's point
    double opening;       // [m] between both origins, now
    double turning;       // [rad] between both frames, or axes, now; 0 of a ball
    double residual;      // [1] of the forces of the last step: how much was left to correct
    uint32_t rounds;      // [1] trial steps that the last step took to find its forces
    double angle;         // [rad] hinge: of the second side's x axis against the first one's, now
    double rate;          // [rad/s] its growth
    double anchors[2][3]; // [m] where the origins of both frames are now, world frame
} mf_WorldJointState;
// MF_NOT_FOUND: no such joint.
MF_API mf_Status mf_world_joint_state(const mf_WorldJoints *joints, mf_WorldJointId id,
                                      mf_WorldJointState *out, mf_Error *error);
// The configuration a joint was made with. MF_NOT_FOUND: no such joint.
MF_API mf_Status mf_world_joint_settings(const mf_WorldJoints *joints, mf_WorldJointId id,
                                         mf_WorldJointConfig *out, mf_Error *error);

#ifdef __cplusplus
}
#endif
#endif
