// Cameras of a model: defaults, ranges, a line on what one is, and the focal length of an angle of
// view.
#include "base/floats.h"
#include "model/builder.h"

#include "math/scalar.h"

#include <string.h>

mf_Camera mf_camera(void) {
    mf_Camera camera;
    mf_item_reset(MF_ITEM_CAMERA, &camera);
    camera.rate = (mf_Rate){20, 1};
    return camera;
}

void mf_camera_set_view(mf_Camera *camera, double vertical) {
    MF_DEFAULT_FLOATS;
    double sine, cosine, half = 0.5 * vertical;
    if (camera == NULL)
        return;
    mf_sin_cos(half, &sine, &cosine);
    const bool straight = camera->lens == MF_LENS_PINHOLE || camera->lens == MF_LENS_BROWN;
    const double focal = 0.5 * camera->height / (straight ? sine / cosine : half);
    camera->focal[0] = camera->focal[1] = focal;
    camera->center[0] = 0.5 * (camera->width - 1.0);
    camera->center[1] = 0.5 * (camera->height - 1.0);
}

void mf_body_camera(mf_Builder *builder, mf_BodyId body, const mf_Camera *camera) {
    mf_builder_mount(builder, body, &mf_camera_kind, camera, "mf_body_camera");
}

static mf_Status check(const void *item, const char *what, mf_Error *error) {
    const mf_Camera *camera = item;
    const double tiny = 1e-9, huge = 1e9;
    if (camera->name == NULL || strlen(camera->name) > MF_MODEL_NAME_LIMIT - 55)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s name: expected up to 200 bytes", what);
    MF_NEED((unsigned)camera->lens <= MF_LENS_FISHEYE, error, "%s lens: %u does not exist", what,
            (unsigned)camera->lens);
    MF_TRY(mf_mounted_check_frame(&camera->frame, what, error));
    if (camera->rate.numerator < 1 || camera->rate.denominator < 1)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s rate: expected more than 0 per second", what);
    if (!camera->color && !camera->depth && !camera->segmentation)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: expected color, depth or segmentation, found none", what);
    const mf_MountedRange rows[] = {
        {"width", camera->width, 1.0, 4096.0, "1 .. 4096 pixels"},
        {"height", camera->height, 1.0, 4096.0, "1 .. 4096 pixels"},
        {"focal", camera->focal[0], tiny, huge, "a number of pixels > 0"},
        {"focal", camera->focal[1], tiny, huge, "a number of pixels > 0"},
        {"center", camera->center[0], -huge, huge, "a finite number of pixels"},
        {"center", camera->center[1], -huge, huge, "a finite number of pixels"},
        {"nearest", camera->nearest, tiny, huge, "a depth > 0 m"},
        {"farthest", camera->farthest, camera->nearest + tiny, huge, "more than the nearest depth"},
        {"samples", camera->samples, 1.0, 4.0, "1 .. 4"},
        {"blur", camera->blur, 0.0, 64.0, "0 .. 64 pixels"},
        {"vignetting", camera->vignetting, 0.0, 1.0, "0 .. 1"},
        {"noise", camera->noise, 0.0, huge, "a number >= 0"},
        {"bits", camera->bits, 1.0, 8.0, "1 .. 8"},
        {"readout", camera->readout, 0.0, 1000.0, "0 .. 1000 s"},
        {"delay", mf_time_to_seconds(camera->delay), 0.0, 1000.0, "0 .. 1000 s"},
    };
    MF_TRY(mf_mounted_check_ranges(rows, sizeof rows / sizeof *rows, what, error));
    for (int i = 0; i < 6; i++)
        if (!(mf_abs(camera->coefficients[i]) <= huge))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s coefficients: expected finite numbers",
                           what);
    return MF_OK;
}

mf_Status mf_camera_check(const mf_Camera *camera, const char *what, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    return mf_mounted_check(&mf_camera_kind, camera, what, error);
}

static void describe(mf_Text *out, const void *item) {
    const mf_Camera *camera = item;
    mf_text_format(out, "%u x %u, %s, focal length %.5g %.5g pixels,%s%s%s, %.6g Hz", camera->width,
                   camera->height,
                   mf_item_enum_name(mf_item_field(MF_ITEM_CAMERA, "lens"), &camera->lens),
                   camera->focal[0], camera->focal[1], camera->color ? " color" : "",
                   camera->depth ? " depth" : "", camera->segmentation ? " segmentation" : "",
                   (double)camera->rate.numerator / (double)camera->rate.denominator);
    if (camera->delay > 0)
        mf_text_format(out, ", delay %.6g s", mf_time_to_seconds(camera->delay));
}

const mf_MountedKind mf_camera_kind = {
    .type = MF_ITEM_CAMERA, .mjcf_element = true, .check = check, .describe = describe};
