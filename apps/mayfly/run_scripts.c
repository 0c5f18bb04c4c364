#include "run_scripts.h"

#include "run_folder.h"

#include <stdio.h>

static void print_line(const char *script, const char *line, void *user) {
    (void)user;
    fprintf(stderr, "%s: %s\n", script, line);
}

mf_Status mf_run_scripts_open(mf_Scene *scene, void (*step)(void *user, uint64_t steps), void *user,
                              mf_Scripts **out, mf_Error *error) {
    const mf_ScriptHost host = {print_line, step, user};
    return mf_scripts_create(scene, &host, out, error);
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

mf_Status mf_run_scripts_close(const mf_Scripts *scripts, const mf_Scene *scene, const char *folder,
                               mf_Error *error) {
    const char *reason = mf_scripts_stopped(scripts);
    mf_Context *context = mf_world_context(scene->world);
    char chosen[MF_APP_PATH];
    mf_ScriptResult result;
    if (reason != NULL)
        mf_run_say_stopped(reason);
    if (!mf_scripts_result(scripts, 0, &result))
        return MF_OK;
    MF_TRY(mf_run_results_folder(scene, folder, chosen, error));
    for (uint32_t i = 0; mf_scripts_result(scripts, i, &result); i++)
        MF_TRY(mf_run_result_write(context, chosen, result.name, result.text, result.size, error));
    return MF_OK;
}
