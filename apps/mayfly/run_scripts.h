// The scripts of a run: what they print and where their results go.
#pragma once

#include "app.h"
#include "scene/script/script.h"

// mf_scene_on_print of commands: a line of stderr.
void mf_run_script_line(const char *script, const char *line, void *user);

// After the run, as far as it came: says why a script stopped it and writes the results to `folder`
// (NULL: runs/<scene>-<seed>), which is made where there are some.
mf_Status mf_run_scripts_close(const mf_Scene *scene, const char *folder, mf_Error *error);

// ---- also for a script in Python ---------------------------------------------------------------

void mf_run_say_stopped(const char *reason);
// The folder for results, made where it is missing.
mf_Status mf_run_results_folder(const mf_Scene *scene, const char *folder, char chosen[MF_APP_PATH],
                                mf_Error *error);
mf_Status mf_run_result_write(mf_Context *context, const char *folder, const char *name,
                              const char *text, size_t size, mf_Error *error);
