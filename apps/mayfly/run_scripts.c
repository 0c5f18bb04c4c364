#include "run_scripts.h"

#include "run_folder.h"

#include <stdio.h>

static void print_line(const char *script, const char *line, void *user) {
    (void)user;
    fprintf(stderr, "%s: %s\n", script, line);
}

mf_Status mf_run_scripts_open(mf_Scene *scene, mf_Scripts **out, mf_Error *error) {
    const mf_ScriptHost host = {.print = print_line};
    return mf_scripts_create(scene, &host, out, error);
}

static mf_Status write_result(mf_Context *context, const char *folder,
                              const mf_ScriptResult *result, mf_Error *error) {
    char path[MF_APP_PATH];
    mf_Status status = mf_folder_path(folder, result->name, path, error);
    if (status == MF_OK)
        status = mf_file_replace(context, path, result->text, result->size, error);
    if (status == MF_OK)
        fprintf(stderr, "mayfly: wrote %s\n", path);
    return status;
}

mf_Status mf_run_scripts_close(const mf_Scripts *scripts, const mf_Scene *scene, const char *folder,
                               mf_Error *error) {
    const char *reason = mf_scripts_stopped(scripts);
    mf_Context *context = mf_world_context(scene->world);
    char chosen[MF_APP_PATH];
    mf_ScriptResult result;
    uint32_t made;
    if (reason != NULL)
        fprintf(stderr, "mayfly: stopped by a script%s%s\n", reason[0] != '\0' ? ": " : "", reason);
    if (!mf_scripts_result(scripts, 0, &result))
        return MF_OK;
    if (folder == NULL) {
        mf_folder_default(scene->file->file, scene->file->seed, chosen);
        folder = chosen;
    }
    mf_Status status = mf_folder_make(context, folder, &made, error);
    for (uint32_t i = 0; status == MF_OK && mf_scripts_result(scripts, i, &result); i++)
        status = write_result(context, folder, &result, error);
    return status;
}
