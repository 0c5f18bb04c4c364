// Mayfly: docks, by which robots join and separate by themselves while a world runs. Models say
// where they are (mf_Dock); docs/how_to/modules.md shows their use, docs/explanation/docks.md
// has the rules and equations.
#pragma once

#include <mayfly/joints.h>

// Fields of groups whose models have docks, per dock; `w` values each:
//     dock.enabled  w 1  1: it may dock and stay docked. The only input; a reset sets the model's
//     dock.state    w 1  mf_DockState
//     dock.partner  w 3  group, robot and dock of the partner; MF_NONE: none
//     dock.orientation  w 1  [1] number of the orientation about x
//     dock.load     w 6  [N], [N m] force and moment on the own link by the dock in the last step,
//                        in the dock's frame: x pulls outwards. Of a broken one when it broke
//     dock.wait     w 1  [s] until its clamp is closed
//     dock.joint    w 2  handle of its joint (mayfly/joints.h), low and high half; 0: none
// They are all of its state.
//
// Docked robots of `articulated` move as one tree of links; where that cannot be, run-time joints
// hold them (docs/explanation/docks.md).

typedef enum mf_DockState {
    MF_DOCK_FREE,
    MF_DOCK_CLOSING, // its clamp closes about the partner's
    MF_DOCK_ENGAGED,
    MF_DOCK_MISSED, // its latch did not catch; it tries again after they were apart
    MF_DOCK_BROKEN  // a limit was exceeded; disabling it repairs it
} mf_DockState;

typedef struct mf_WorldDocksConfig {
    uint32_t struct_size; // [byte] set by mf_world_docks_config()
    double time;          // [s] time constant with which what is left between two docks closes, at
                          // least one step; default 0: 4 steps
} mf_WorldDocksConfig;
// The defaults of mf_WorldDocksConfig: every configuration starts from them.
MF_API mf_WorldDocksConfig mf_world_docks_config(void);

// The docks of a world; owned by the world.
typedef struct mf_WorldDocks mf_WorldDocks;

// Lets the docks of all shared groups that exist now act: adds their fields, and run-time joints if
// the world has none. Call it when all groups have their motions. `config` may be NULL. In each
// step, after the controllers:
//   1  docks of which one is not enabled come apart, without a push
//   2  enabled, free docks that fit and are within the tolerances of both join, the nearest first
//      (then by group, robot and dock), with the momentum that they have
//   3  magnets pull
//   4  after the motions: joints whose load exceeds a limit break
// The result depends neither on threads nor on the order of robots. MF_BAD_ARGUMENT: a setting, a
// second call, no group with docks, or links that do not accept forces (mf_collisions_prepare).
// MF_UNSUPPORTED: a motion that does not accept forces. MF_LIMIT: more docks than 131072.
// MF_NO_MEMORY.
MF_API mf_Status mf_world_docks_add(mf_World *world, const mf_WorldDocksConfig *config,
                                    mf_WorldDocks **out, mf_Error *error);
// The docks of a world; NULL: none were added.
MF_API mf_WorldDocks *mf_world_docks_of(const mf_World *world);

// One dock of one robot.
typedef struct mf_DockPort {
    mf_Group *group;
    uint32_t instance; // [1]
    uint32_t dock;     // [1] of the model
} mf_DockPort;

// Joins two docks, between steps, whatever their distance: what is left between them closes at 1
// m/s and 1 rad/s at most. `orientation` [1] is below the smaller of both `orientations`.
// MF_BAD_ARGUMENT: no such dock, both the same link, they do not fit, one is not enabled or not
// free, the orientation.
MF_API mf_Status mf_docks_connect(mf_WorldDocks *docks, const mf_DockPort *first,
                                  const mf_DockPort *second, uint32_t orientation, mf_Error *error);
// Separates a dock from its partner, between steps; both stay enabled, so they join again where
// they still meet. MF_BAD_ARGUMENT: no such dock. MF_NOT_FOUND: it is not docked.
MF_API mf_Status mf_docks_disconnect(mf_WorldDocks *docks, const mf_DockPort *port,
                                     mf_Error *error);
// Pose of the base of the robot of `moving` [m], (w, x, y, z), world frame, at which its dock mates
// with that of `fixed`, both with the joints that they have now. MF_BAD_ARGUMENT: as
// mf_docks_connect, but for docks that are not free. MF_NO_MEMORY.
MF_API mf_Status mf_docks_mating_pose(mf_WorldDocks *docks, const mf_DockPort *fixed,
                                      const mf_DockPort *moving, uint32_t dock_orientation,
                                      double position[3], double orientation[4], mf_Error *error);

// ---- kinematics of an assembly
// -------------------------------------------------------------------

typedef struct mf_ChainJoint { // the joint of a robot
    mf_Group *group;
    uint32_t instance, joint; // [1]
} mf_ChainJoint;

// The engaged docks and the joints between the base of robot `instance` of `root` and the dock
// `tip` as one model with a fixed base and without mass, for mf_model_pose_at and
// mf_inverse_kinematics: its base frame is that of the root's base, its joint i is that of
// `joints`[i] with the same angle and limits, and `end` is the frame of the dock in its last link.
// `joints` has space for `capacity`, `model` is the caller's. Where docks close loops the path has
// the fewest docks. MF_BAD_ARGUMENT: no such robot or dock. MF_NOT_FOUND: no engaged docks connect
// them. MF_UNSUPPORTED: a joint on the path that is no hinge or slide, or mimics another; none.
// MF_LIMIT: more than `capacity`. MF_NO_MEMORY.
MF_API mf_Status mf_docks_chain(const mf_WorldDocks *docks, mf_Group *root, uint32_t instance,
                                const mf_DockPort *tip, mf_ChainJoint *joints, uint32_t capacity,
                                mf_Model **model, mf_Frame *end, mf_Error *error);

typedef struct mf_DocksStatistics {            // since the world was made; no state
    uint64_t joined, released, broken, missed; // [1] pairs of docks
    uint64_t lost; // [1] pairs that met beyond the memory for them: they joined a step later
    // [1] Steps of assemblies: as one tree, exact and fast; by run-time joints, because too many
    // docks close loops, because too many links are touched, or for another reason
    // (docs/explanation/docks.md).
    uint64_t trees, loops, touched, others;
} mf_DocksStatistics;
MF_API mf_DocksStatistics mf_docks_statistics(const mf_WorldDocks *docks);

// Assemblies: robots that are connected by engaged docks. Writes for each robot of the groups with
// docks, in the order of groups and robots, the number of its assembly: the lowest index of its
// robots in that order. `out` has mf_docks_robot_count values. Returns the number of assemblies.
MF_API uint32_t mf_docks_assemblies(const mf_WorldDocks *docks, uint32_t *out);
MF_API uint32_t mf_docks_robot_count(const mf_WorldDocks *docks); // [1]
