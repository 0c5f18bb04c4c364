// A model as JSON.
#pragma once

#include <jansson.h>
#include <mayfly/motion.h>

// A real number; NaN and infinities, which JSON lacks, become null.
json_t *mf_json_real(double value);

// One object on one line, to be freed with free(); NULL: out of memory.
char *mf_model_json(const mf_Model *model, mf_Motion motion);

// The same of a group's model, with "vehicle": the parameters of its vehicle as in a vehicle's
// file, or null; "servos": mf_articulated_servo of each joint, or null; and "world_gravity"
// [m/s^2], world frame.
char *mf_group_json(const mf_Group *group);
