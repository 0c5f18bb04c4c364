// Complaints about gaits. By themselves, because kernels share control/gait.h and a GPU has no
// functions of variable arguments.
#ifndef MF_CONTROL_GAIT_REFUSE_H
#define MF_CONTROL_GAIT_REFUSE_H

#include "control/gait.h"

// A complaint about `path`.
mf_Status mf_gait_refuse(mf_GaitBlame *blame, mf_Error *error, const char *path, const char *format,
                         ...) MF_PRINTF(4, 5);

#endif
