// The scripts of a run: what they print and where their results go.
#pragma once

#include "app.h"
#include "script/script.h"

// mf_scripts_create for a command: lines that scripts print go to stderr. `step` as in
// mf_ScriptHost.
mf_Status mf_run_scripts_open(mf_Scene *scene, void (*step)(void *user, uint64_t steps), void *user,
                              mf_Scripts **out, mf_Error *error);

// After the run, as far as it came: says why a script stopped it and writes the results to `folder`
// (NULL: runs/<scene>-<seed>), which is made where there are some. NULL scripts are allowed.
mf_Status mf_run_scripts_close(const mf_Scripts *scripts, const mf_Scene *scene, const char *folder,
                               mf_Error *error);

// ---- also for a script in Python ---------------------------------------------------------------

void mf_run_say_stopped(const char *reason);
// The folder for results, made where it is missing.
mf_Status mf_run_results_folder(const mf_Scene *scene, const char *folder, char chosen[MF_APP_PATH],
                                mf_Error *error);
mf_Status mf_run_result_write(mf_Context *context, const char *folder, const char *name,
                              const char *text, size_t size, mf_Error *error);
