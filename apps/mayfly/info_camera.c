// The cameras of a scene: those of its file, and those that its robots carry.
#include "info_camera.h"

#include <stdio.h>

static void show(const char *owner, const mf_Camera *camera, const char *on, const char *use) {
    static const char *const lenses[] = {"pinhole", "brown", "angle", "fisheye"};
    printf("camera %s%s%s: %u x %u, %s,%s%s%s every %.6g s, on %s%s\n", owner,
           owner[0] != '\0' ? "/" : "", camera->name, camera->width, camera->height,
           lenses[camera->lens], camera->color ? " color" : "", camera->depth ? " depth" : "",
           camera->segmentation ? " segmentation" : "",
           (double)camera->rate.denominator / (double)camera->rate.numerator, on, use);
}

static const char *link_of(const mf_Model *model, uint32_t link) {
    return link == MF_NONE ? "the world" : model->links[link].name;
}

mf_Status mf_info_cameras(const mf_Scene *scene, mf_Error *error) {
    mf_Camera camera;
    uint32_t group, robot;
    char location[256];
    for (uint32_t i = 0; i < scene->file->camera_count; i++) {
        mf_Status status = mf_scene_camera(scene, i, &camera, &group, &robot, error);
        if (status != MF_OK)
            return status;
        if (group == MF_NONE)
            snprintf(location, sizeof location, "the world");
        else
            snprintf(location, sizeof location, "%s %u, %s", scene->file->groups[group].name, robot,
                     link_of(scene->models[group], camera.frame.link));
        show("", &camera, location, "");
    }
    for (uint32_t g = 0; g < scene->group_count; g++)
        for (uint32_t i = 0; i < scene->models[g]->camera_count; i++) {
            const mf_Camera *own = &scene->models[g]->cameras[i];
            show(scene->file->groups[g].name, own, link_of(scene->models[g], own->frame.link),
                 scene->file->groups[g].cameras ? ", while the world runs" : ", for --photos");
        }
    return MF_OK;
}
