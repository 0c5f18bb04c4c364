// Where the file of a gait is.
#ifndef MAYFLY_APP_FIND_GAIT_H
#define MAYFLY_APP_FIND_GAIT_H

#include "app.h"

// The file that `gait` means for the robot in the file `robot`: a name that ends with .yaml or has
// a slash as it is, any other gaits/<robot's file name without ending>/<gait>.yaml beside the
// robot. MF_NOT_FOUND lists the gaits that there are.
mf_Status mf_app_find_gait(const char *robot, const char *gait, char out[MF_APP_PATH],
                           mf_Error *error);

#endif
