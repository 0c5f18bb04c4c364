// Cameras as MJCF has them: pose, resolution, focal length and principal point in pixels (see
// src/import/mjcf_camera.c). Distortion, noise, rates and the like have no place there: they
// are texts of <custom>.
#include "export/mjcf.h"

#include <mayfly/camera.h>

static void put_camera(mf_MjcfWriter *w, const mf_Camera *camera, const double position[3],
                       const double rotation[4], uint32_t level) {
    const double to_mjcf[4] = {0.5, 0.5, -0.5, -0.5}; // from -z forward, y up to x forward, z up
    const double size[2] = {camera->width, camera->height};
    double rotated[4], shift[2];
    mf_quat_multiply(rotated, rotation, to_mjcf);
    for (int i = 0; i < 2; i++)
        shift[i] = 0.5 * (size[i] - 1.0) - camera->center[i];
    indent(w, level);
    put(w, "<camera");
    write_name(w, "name", camera->name);
    numbers(w, "pos", position, 3);
    numbers(w, "quat", rotated, 4);
    numbers(w, "resolution", size, 2);
    numbers(w, "sensorsize", size, 2); // a unit of length per pixel
    numbers(w, "focalpixel", camera->focal, 2);
    if (shift[0] != 0.0 || shift[1] != 0.0)
        numbers(w, "principalpixel", shift, 2);
    if (camera->depth || camera->segmentation)
        mf_text_format(&w->text, " output=\"%s%s%s\"", camera->color ? "rgb " : "",
                       camera->depth ? "depth " : "", camera->segmentation ? "segmentation" : "");
    put(w, "/>\n");
}

void mf_mjcf_put_cameras(mf_MjcfWriter *w, uint32_t body, uint32_t level) {
    for (uint32_t i = 0; i < w->model->camera_count; i++) {
        const mf_Frame *frame = &w->model->cameras[i].frame;
        double position[3], rotation[4];
        if (frame->link == MF_NONE && body == MF_NONE)
            put_camera(w, &w->model->cameras[i], frame->position, frame->rotation, level);
        else if (frame->link != MF_NONE && body != MF_NONE &&
                 mf_mjcf_pose(w->model, frame, position, rotation) == body)
            put_camera(w, &w->model->cameras[i], position, rotation, level);
    }
}
