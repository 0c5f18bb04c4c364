// Where the file of a gait is, and what it is told.
#ifndef MAYFLY_APP_FIND_GAIT_H
#define MAYFLY_APP_FIND_GAIT_H

#include "app.h"

// The file that `gait` means for the robot in the file `robot`: a name that ends with .yaml or has
// a slash as it is, any other gaits/<robot's file name without ending>/<gait>.yaml beside the
// robot. MF_NOT_FOUND lists the gaits that there are.
mf_Status mf_app_find_gait(const char *robot, const char *gait, char out[MF_APP_PATH],
                           mf_Error *error);

#define MF_GAIT_NOTE 200 // [byte]

// Reads the gait that `gait` means for the robot in the file `robot`, which has been read into
// `model`, and the command to give it: `command` as typed, cut to the gait's range as
// mf_app_gait_cut does, or half of the largest forward when that is NULL.
mf_Status mf_app_load_gait(mf_Context *context, const char *robot, const char *gait,
                           const mf_Model *model, const char *command, mf_Gait **out,
                           double value[3], char note[MF_GAIT_NOTE], mf_Error *error);

// Cuts a command to what the gait can follow, as the gait itself does, and says so in `note`, which
// is "" where nothing was cut.
void mf_app_gait_cut(const mf_Gait *gait, double command[3], char note[MF_GAIT_NOTE]);

// Three numbers such as "0.1,0,0"; false when `text` is anything else. NULL: all 0.
bool mf_app_command(const char *text, double out[3]);

#endif
