// Errors of gaits. In a separate header, because kernels include control/gait.h and GPUs have no
// variadic functions.
#pragma once

#include "control/gait.h"

// Reports an error of `path`.
mf_Status mf_gait_refuse(mf_GaitBlame *blame, mf_Error *error, const char *path, const char *format,
                         ...) MF_PRINTF(4, 5);
