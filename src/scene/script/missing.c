// Scripts of a build without Lua: a scene that has some is refused, so no other has any.
#include "scene/script/script.h"

mf_Status mf_scene_load_scripts(mf_Scene *scene, mf_Error *error) {
    if (scene->file->script_count == 0)
        return MF_OK;
    return mf_fail_at(error, MF_UNSUPPORTED, scene->file->file, scene->file->scripts[0].line, 0,
                      "scripts: this mayfly was built without Lua 5.4 (Debian's liblua5.4-dev)");
}

void mf_scene_on_print(mf_Scene *scene, mf_ScriptPrintFn print, void *user) {
    (void)scene;
    (void)print;
    (void)user;
}

void mf_scene_leave_scripts(mf_Scene *scene) {
    (void)scene;
}

mf_Status mf_scene_reset_scripts(mf_Scene *scene, mf_Error *error) {
    (void)scene;
    (void)error;
    return MF_OK;
}

mf_Status mf_scene_call_scripts(mf_Scene *scene, mf_Error *error) {
    return mf_scene_reset_scripts(scene, error);
}

mf_Status mf_scene_scripts_status(const mf_Scene *scene, mf_Error *error) {
    MF_NEED(scene != NULL, error, "scripts: scene is NULL");
    return MF_OK;
}

mf_Status mf_scene_start_scripts(mf_Scene *scene, mf_Error *error) {
    return mf_scene_scripts_status(scene, error);
}

mf_Status mf_scene_finish_scripts(mf_Scene *scene, mf_Error *error) {
    return mf_scene_scripts_status(scene, error);
}

mf_Status mf_scene_step_by(mf_Scene *scene, void (*step)(void *user, uint64_t steps), void *user,
                           uint64_t steps, uint64_t *done, mf_Error *error) {
    step(user, steps);
    if (done != NULL)
        *done = steps;
    return mf_scene_reset_scripts(scene, error);
}

mf_Status mf_scene_step(mf_Scene *scene, uint64_t steps, uint64_t *done, mf_Error *error) {
    mf_world_step(scene->world, steps);
    if (done != NULL)
        *done = steps;
    return mf_scene_reset_scripts(scene, error);
}

const char *mf_scene_scripts_stopped(const mf_Scene *scene) {
    (void)scene;
    return NULL;
}

bool mf_scene_script_result(const mf_Scene *scene, uint32_t index, mf_ScriptResult *out) {
    (void)scene;
    (void)index;
    (void)out;
    return false;
}
