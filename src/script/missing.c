// Scripts of a build without Lua: a scene that has some is refused.
#include "script/script.h"

mf_Status mf_scripts_create(mf_Scene *scene, const mf_ScriptHost *host, mf_Scripts **out,
                            mf_Error *error) {
    (void)host;
    *out = NULL;
    if (scene->file->script_count == 0)
        return MF_OK;
    return mf_fail_at(error, MF_UNSUPPORTED, scene->file->file, scene->file->scripts[0].line, 0,
                      "scripts: this mayfly was built without Lua 5.4 (Debian's liblua5.4-dev)");
}

void mf_scripts_destroy(mf_Scripts *scripts) {
    (void)scripts;
}

mf_Status mf_scripts_start(mf_Scripts *scripts, mf_Error *error) {
    (void)scripts;
    (void)error;
    return MF_OK;
}

mf_Status mf_scripts_step(mf_Scripts *scripts, uint64_t steps, uint64_t *done, mf_Error *error) {
    (void)scripts;
    (void)steps;
    (void)error;
    *done = 0;
    return MF_OK;
}

mf_Status mf_scripts_call(mf_Scripts *scripts, mf_Error *error) {
    (void)scripts;
    (void)error;
    return MF_OK;
}

mf_Status mf_scripts_finish(mf_Scripts *scripts, mf_Error *error) {
    (void)scripts;
    (void)error;
    return MF_OK;
}

const char *mf_scripts_stopped(const mf_Scripts *scripts) {
    (void)scripts;
    return NULL;
}

bool mf_scripts_result(const mf_Scripts *scripts, uint32_t index, mf_ScriptResult *out) {
    (void)scripts;
    (void)index;
    (void)out;
    return false;
}
