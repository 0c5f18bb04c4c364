// joint.target as the command of the model's position actuators.
#pragma once

#include <mayfly/articulated.h>

// Adds the system that does it and its field actuator.target, where the model has such actuators.
// Belongs before the motion's own system, behind its fields.
mf_Status mf_art_commands_add(mf_Group *group, mf_Error *error);

// mf_motion_follows of a group that moves by `articulated`.
mf_Status mf_art_follows(const mf_Group *group, uint32_t joint, mf_Error *error);
