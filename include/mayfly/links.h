// Mayfly: where the links of robots are and how they move, as fields that follow from the state.
#pragma once

#include <mayfly/world.h>

// Adds the fields link.pose (per link of the model: origin [m] in the world frame, then the
// rotation link to world as a unit quaternion (w, x, y, z)) and link.velocity (per link: velocity
// of the origin [m/s], angular velocity [rad/s], world axes), in the group's precision, and the
// system `links`, which computes them. They are valid whenever a program can read them: at once,
// after every call of mf_world_step, when a robot was reset, refreshed or set and when the world
// was restored; whoever writes the fields of the state himself calls mf_group_refresh.
//
// The cost is that of one forward kinematics per call of mf_world_step. It is that of one per step
// when a system of the group declares to read one of the fields, or declares nothing. A system of
// the world that reads them must name them in its `reads`. Who needs poses rarely asks
// mf_group_link_poses (mayfly/dynamics.h) instead, and pays for the answer only.
//
// They are no state: hashes are without them, snapshots keep none of their values. A snapshot of a
// group with them is restored only into a group with them. Links are taken as the model's joints
// and the state say, whatever the motion; joints that the motion does not move stay as they start.
// Call it after the group's motions were added. A second call does nothing. MF_BAD_ARGUMENT,
// MF_LIMIT, MF_NO_MEMORY.
MF_API mf_Status mf_group_derive_links(mf_Group *group, mf_Error *error);
