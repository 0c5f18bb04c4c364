// Cameras of a scene: from its file, and from its robots' models, where a group takes pictures.
#include "scene/builder.h"
#include "scene/scene_file.h"
#include <mayfly/model_fields.h>
#include "camera/cameras.h"
#include "base/floats.h"

#include "io/suggest.h"
#include "math/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static mf_Status refuse(const mf_Scene *scene, const mf_SceneCamera *from, mf_Status status,
                        const char *message, mf_Error *error) {
    return mf_fail_at(error, status == MF_BAD_ARGUMENT ? MF_BAD_FILE : status, scene->file->file,
                      from->line, from->column, "cameras.%.80s: %s", from->name, message);
}

// The group's name was checked by the reader.
static mf_Status find_carrier(const mf_Scene *scene, const mf_SceneCamera *from, uint32_t *group,
                              uint32_t *link, mf_Error *error) {
    char message[400], near[MF_SUGGESTION];
    *link = MF_NONE;
    *group = mf_scene_file_group(scene->file, from->on.group);
    if (*group == MF_NONE)
        return MF_OK;
    const mf_Model *model = scene->models[*group];
    if (from->on.robot >= mf_group_count(mf_world_group(scene->world, *group)))
        return refuse(scene, from, MF_BAD_FILE, "robot: the group has fewer robots", error);
    if (model->link_count == 0)
        return refuse(scene, from, MF_BAD_FILE, "group: expected robots with links", error);
    *link = from->on.link[0] != '\0' ? mf_model_find(model, MF_ITEM_LINK, from->on.link) : 0;
    if (*link != MF_NONE)
        return MF_OK;
    snprintf(message, sizeof message, "link: group %.80s (%.60s) has no link '%.80s'%s",
             from->on.group, model->name, from->on.link,
             mf_suggest(from->on.link, mf_scene_link_name, model, near));
    return refuse(scene, from, MF_BAD_FILE, message, error);
}

static void aim(const mf_SceneCamera *from, double out[4]) {
    double rpy[3] = {from->rpy[0], from->rpy[1], from->rpy[2]};
    if (!isnan(from->look_at[0])) {
        double offset[3];
        mf_vec3_sub(offset, from->look_at, from->position);
        rpy[0] = 0.0;
        rpy[1] = -mf_atan2(offset[2], mf_sqrt(offset[0] * offset[0] + offset[1] * offset[1]));
        rpy[2] = mf_atan2(offset[1], offset[0]);
    }
    mf_quat_from_rpy(out, rpy);
    mf_quat_normalize(out);
}

static mf_Status set_view(const mf_Scene *scene, const mf_SceneCamera *from, mf_Camera *camera,
                          mf_Error *error) {
    const bool wide = camera->lens == MF_LENS_ANGLE || camera->lens == MF_LENS_FISHEYE;
    if (isnan(from->focal[0]) && !wide && !(from->fovy < MF_PI))
        return refuse(scene, from, MF_BAD_FILE, "fovy: expected less than 3.14 rad for this lens",
                      error);
    mf_camera_set_view(camera, isnan(from->focal[0]) ? from->fovy : 1.0);
    for (int i = 0; i < 2; i++) {
        camera->focal[i] = isnan(from->focal[0]) ? camera->focal[i] : from->focal[i];
        camera->center[i] = isnan(from->center[0]) ? camera->center[i] : from->center[i];
    }
    return MF_OK;
}

mf_Status mf_scene_camera(const mf_Scene *scene, uint32_t index, mf_Camera *camera, uint32_t *group,
                          uint32_t *robot, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(scene != NULL && camera != NULL && group != NULL && robot != NULL, error,
            "mf_scene_camera: scene, camera, group or robot is NULL");
    if (scene->world == NULL || index >= scene->file->camera_count)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_scene_camera: the scene has no camera %u",
                       index);
    const mf_SceneCamera *from = &scene->file->cameras[index];
    mf_Error cause = {0};
    *camera = from->camera;
    camera->name = from->name;
    *robot = from->on.robot;
    MF_TRY(find_carrier(scene, from, group, &camera->frame.link, error));
    MF_TRY(set_view(scene, from, camera, error));
    if (!isnan(from->look_at[0]) && memcmp(from->look_at, from->position, 3 * sizeof(double)) == 0)
        return refuse(scene, from, MF_BAD_FILE, "look_at: expected another point than position",
                      error);
    memcpy(camera->frame.position, from->position, 3 * sizeof(double));
    aim(from, camera->frame.rotation);
    mf_Status status = mf_camera_check(camera, "camera", &cause);
    return status == MF_OK ? MF_OK : refuse(scene, from, status, cause.message, error);
}

mf_Status mf_scene_add_cameras(mf_SceneBuilder *builder) {
    mf_Scene *scene = builder->scene;
    uint32_t count = 0, group, robot;
    mf_Camera camera;
    for (uint32_t i = 0; i < builder->file->camera_count; i++)
        MF_TRY(mf_scene_camera(scene, i, &camera, &group, &robot, builder->error));
    mf_Group **groups = mf_allocate(builder->context, scene->group_count, sizeof *groups);
    MF_NEED_MEMORY(groups != NULL, builder->error, "scene");
    for (uint32_t g = 0; g < scene->group_count; g++) {
        if (!builder->file->groups[g].cameras)
            continue;
        if (scene->models[g]->camera_count == 0)
            mf_scene_note(scene, "group %.60s: cameras: its model has none",
                          builder->file->groups[g].name);
        else
            groups[count++] = mf_world_group(scene->world, g);
    }
    const mf_Status status =
        count > 0 ? mf_cameras_add_groups(scene->world, groups, count, builder->error) : MF_OK;
    mf_release(builder->context, groups);
    return status;
}

mf_Status mf_scene_take_first(mf_SceneBuilder *builder) {
    const mf_Scene *scene = builder->scene;
    for (uint32_t g = 0; g < scene->group_count; g++)
        if (builder->file->groups[g].cameras && scene->models[g]->camera_count > 0)
            return mf_cameras_take(scene->world, builder->error);
    return MF_OK;
}
