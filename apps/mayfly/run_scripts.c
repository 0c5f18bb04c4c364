#include "run_scripts.h"

#include "run_folder.h"

#include <stdio.h>

void mf_run_script_line(const char *script, const char *line, void *user) {
    (void)user;
    fprintf(stderr, "%s: %s\n", script, line);
}

void mf_run_say_stopped(const char *reason) {
    fprintf(stderr, "mayfly: stopped by a script%s%s\n", reason[0] != '\0' ? ": " : "", reason);
}

mf_Status mf_run_results_folder(const mf_Scene *scene, const char *folder, char chosen[MF_APP_PATH],
                                mf_Error *error) {
    uint32_t made;
    if (folder == NULL)
        mf_folder_default(scene->file->file, scene->file->seed, chosen);
    else if (snprintf(chosen, MF_APP_PATH, "%s", folder) >= MF_APP_PATH)
        return mf_fail(error, MF_LIMIT, "--results: expected a path below %d bytes", MF_APP_PATH);
    return mf_folder_make(mf_world_context(scene->world), chosen, &made, error);
}

mf_Status mf_run_result_write(mf_Context *context, const char *folder, const char *name,
                              const char *text, size_t size, mf_Error *error) {
    char path[MF_APP_PATH];
    MF_TRY(mf_folder_path(folder, name, path, error));
    MF_TRY(mf_file_replace(context, path, text, size, error));
    fprintf(stderr, "mayfly: wrote %s\n", path);
    return MF_OK;
}

mf_Status mf_run_scripts_close(const mf_Scene *scene, const char *folder, mf_Error *error) {
    const char *reason = mf_scene_scripts_stopped(scene);
    mf_Context *context = mf_world_context(scene->world);
    char chosen[MF_APP_PATH];
    mf_ScriptResult result;
    if (reason != NULL)
        mf_run_say_stopped(reason);
    if (!mf_scene_script_result(scene, 0, &result))
        return MF_OK;
    MF_TRY(mf_run_results_folder(scene, folder, chosen, error));
    for (uint32_t i = 0; mf_scene_script_result(scene, i, &result); i++)
        MF_TRY(mf_run_result_write(context, chosen, result.name, result.text, result.size, error));
    return MF_OK;
}
