// The scripts of a run: what they print and where their results go.
#ifndef MAYFLY_APP_RUN_SCRIPTS_H
#define MAYFLY_APP_RUN_SCRIPTS_H

#include "script/script.h"

// mf_scripts_create for a command: lines that scripts print go to stderr.
mf_Status mf_run_scripts_open(mf_Scene *scene, mf_Scripts **out, mf_Error *error);

// After the run, as far as it came: says why a script stopped it and writes the results to `folder`
// (NULL: runs/<scene>-<seed>), which is made where there are some. NULL scripts are allowed.
mf_Status mf_run_scripts_close(const mf_Scripts *scripts, const mf_Scene *scene, const char *folder,
                               mf_Error *error);

#endif
