// Opens a scene in one call: file, world and, unless the caller gives one, context.
#include <mayfly/scene.h>
#include "base/floats.h"

#include <math.h>

typedef struct Opened {
    mf_Scene scene; // first member: the caller's pointer
    mf_Context *context;
    mf_Context *own_context; // NULL: the context is the caller's
    mf_SceneFile *file;
} Opened;

void mf_scene_close(mf_Scene *scene) {
    Opened *opened = (Opened *)(void *)scene;
    if (opened == NULL)
        return;
    mf_Context *own = opened->own_context;
    mf_scene_destroy(&opened->scene);
    mf_scene_file_destroy(opened->file);
    mf_release(opened->context, opened);
    mf_context_destroy(own);
}

mf_Status mf_scene_open(mf_Context *context, const char *path, const mf_Override *overrides,
                        uint32_t override_count, mf_Scene **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Context *own = NULL;
    MF_NEED(out != NULL && path != NULL, error, "scene: %s is NULL", out == NULL ? "out" : "path");
    *out = NULL;
    mf_Status status = context != NULL ? MF_OK : mf_context_create(NULL, &own, error);
    if (status != MF_OK)
        return status;
    context = context != NULL ? context : own;
    Opened *opened = mf_allocate(context, 1, sizeof *opened);
    if (opened == NULL) {
        mf_context_destroy(own);
        return mf_fail(error, MF_NO_MEMORY, "scene: out of memory");
    }
    opened->context = context;
    opened->own_context = own;
    status = mf_scene_file_load(context, path, overrides, override_count, &opened->file, error);
    MF_THEN(status, mf_scene_create(context, opened->file, NULL, &opened->scene, error));
    if (status == MF_OK)
        *out = &opened->scene;
    else
        mf_scene_close(&opened->scene);
    return status;
}

mf_Status mf_scene_run(mf_Scene *scene, double seconds, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(scene != NULL && scene->world != NULL, error, "mf_scene_run: scene is NULL");
    MF_NEED(seconds > 0.0 && !isinf(seconds), error, "mf_scene_run: need a finite time > 0");
    const mf_Time duration = mf_time_from_seconds(seconds);
    mf_world_step(scene->world, (uint64_t)(duration / scene->step + (duration % scene->step != 0)));
    return mf_scene_scripts_status(scene, error);
}
