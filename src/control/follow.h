// Whether joints follow joint.target, the output of controllers.
#pragma once

#include <mayfly/motion.h>

// MF_UNSUPPORTED when no joint of the group follows joint.target: a controller `what` that writes
// it would have no effect.
mf_Status mf_control_follows(const mf_Group *group, const char *what, mf_Error *error);
