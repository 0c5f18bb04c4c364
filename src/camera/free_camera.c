// A camera at any place of a world, for pictures between two steps.
#include "camera/develop.h"
#include "base/floats.h"

#include "math/scalar.h"

struct mf_FreeCamera {
    mf_Context *context;
    mf_RenderScene *scene;
    mf_CameraView *view;
    mf_Chip chip;
    void *memory; // of the buffers
    mf_RenderBuffers buffers;
    uint64_t pictures; // [1] taken so far, for their noise
};

mf_Status mf_free_camera_create(mf_World *world, const mf_Camera *camera, mf_FreeCamera **out,
                                mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(world != NULL && out != NULL, error, "mf_free_camera_create: world or out is NULL");
    *out = NULL;
    MF_TRY(mf_camera_check(camera, "camera", error));
    mf_Context *context = mf_world_context(world);
    mf_FreeCamera *own = mf_allocate(context, 1, sizeof *own);
    MF_NEED_MEMORY(own != NULL, error, "camera");
    own->context = context;
    mf_chip_start(&own->chip, camera);
    mf_Status status = mf_render_scene_create(world, &own->scene, error);
    MF_THEN(status, mf_camera_view_create(context, camera, &own->view, error));
    if (status == MF_OK) {
        own->memory = mf_allocate(context, 1, mf_render_buffers_size(own->scene, own->view));
        if (own->memory == NULL)
            status = mf_fail(error, MF_NO_MEMORY, "camera: no memory");
    }
    if (status != MF_OK) {
        mf_free_camera_destroy(own);
        return status;
    }
    mf_render_buffers_lay(&own->buffers, own->memory, own->scene, own->view);
    *out = own;
    return MF_OK;
}

void mf_free_camera_destroy(mf_FreeCamera *camera) {
    if (camera == NULL)
        return;
    mf_render_scene_destroy(camera->scene);
    mf_camera_view_destroy(camera->view);
    mf_release(camera->context, camera->memory);
    mf_release(camera->context, camera);
}

const mf_RenderScene *mf_free_camera_scene(const mf_FreeCamera *camera) {
    return camera->scene;
}

static void give(const mf_FreeCamera *camera, const mf_CameraPixels *out) {
    const mf_Raster *raster = &camera->buffers.raster;
    for (uint32_t y = 0; y < raster->height; y++)
        for (uint32_t x = 0; x < raster->width; x++) {
            const size_t from = (size_t)y * raster->stride + x, to = (size_t)y * raster->width + x;
            for (size_t c = 3 * to; out->color != NULL && c < 3 * to + 3; c++)
                out->color[c] = (uint8_t)camera->buffers.color[c];
            if (out->depth != NULL)
                out->depth[to] = raster->depth[from];
            if (out->segmentation != NULL)
                mf_develop_owner(&camera->buffers, from, out->segmentation + 3 * to);
        }
}

mf_Status mf_free_camera_take(mf_FreeCamera *camera, const double position[3],
                              const double rotation[4], uint32_t group, uint32_t instance,
                              const mf_CameraPixels *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(camera != NULL && position != NULL && rotation != NULL && out != NULL, error,
            "mf_free_camera_take: camera, position, rotation or out is NULL");
    double rotate[4] = {rotation[0], rotation[1], rotation[2], rotation[3]};
    MF_NEED(mf_all_finite(position, 3) && mf_all_finite(rotation, 4) && mf_quat_normalize(rotate),
            error, "mf_free_camera_take: expected finite numbers and a rotation");
    mf_World *world = camera->scene->world;
    if (group != MF_NONE && (group >= mf_world_group_count(world) ||
                             instance >= mf_group_count(mf_world_group(world, group))))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "mf_free_camera_take: there is no robot %u in a group %u", instance, group);
    if (out->color != NULL && !camera->view->camera.color)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_free_camera_take: the camera has no color");
    mf_RenderPose pose = {.group = group, .instance = instance};
    mf_vec3_copy(pose.position, position);
    mf_quat_to_matrix(pose.rotation, rotate);
    const mf_PhotoNoise noise = {(float)camera->view->camera.noise, 0,
                                 mf_world_config_of(world)->seed, camera->pictures++};
    mf_develop_draw(camera->scene, camera->view, &pose, &camera->buffers);
    mf_develop_chip(camera->scene, camera->view, &camera->chip, &noise, &camera->buffers);
    give(camera, out);
    return MF_OK;
}
