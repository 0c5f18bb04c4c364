// Fields that networks read and write.
#pragma once

#include <mayfly/world.h>

// A field of numbers of the group's precision. `what` is the controller's name, for messages.
// MF_NOT_FOUND, MF_BAD_ARGUMENT.
mf_Status mf_control_find_field(mf_Group *group, const char *what, const char *name, mf_Field **out,
                                mf_Error *error);

// The same for a field that a controller may write; joint.target only where joints follow it.
mf_Status mf_control_find_output(mf_Group *group, const char *what, const char *name,
                                 mf_Field **out, mf_Error *error);

// Range of component `i` of the field `output` by the model: of joints for joint.target, of
// controls for actuator.control, +-pi rad or +-1 where they have none; else +-1.
void mf_control_range(const mf_Model *model, const char *output, uint32_t i, double *lower,
                      double *upper);
