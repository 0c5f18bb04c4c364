// Whether joints do what controllers write to joint.target.
#ifndef MF_CONTROL_FOLLOW_H
#define MF_CONTROL_FOLLOW_H

#include <mayfly/motion.h>

// MF_UNSUPPORTED when no joint of the group follows joint.target: a controller called `what`, which
// writes it, would do nothing.
mf_Status mf_control_follows(const mf_Group *group, const char *what, mf_Error *error);

#endif
