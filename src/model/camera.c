// Cameras of a model: defaults, ranges, the focal length of an angle of view.
#include "model/draft.h"
#include "base/floats.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

#define MOST_PIXELS 4096u // [pixel] per row and column
#define MOST_BLUR 64.0    // [pixel]

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

// ---- checks -------------------------------------------------------------------------------------

typedef struct Range {
    const char *name;
    double value, least, most;
    const char *expected;
} Range;

static mf_Status check_ranges(const mf_Camera *camera, const char *what, mf_Error *error) {
    const double tiny = 1e-9, huge = 1e9;
    const Range rows[] = {
        {"width", camera->width, 1.0, MOST_PIXELS, "1 .. 4096 pixels"},
        {"height", camera->height, 1.0, MOST_PIXELS, "1 .. 4096 pixels"},
        {"focal", camera->focal[0], tiny, huge, "a number of pixels > 0"},
        {"focal", camera->focal[1], tiny, huge, "a number of pixels > 0"},
        {"center", camera->center[0], -huge, huge, "a finite number of pixels"},
        {"center", camera->center[1], -huge, huge, "a finite number of pixels"},
        {"nearest", camera->nearest, tiny, huge, "a depth > 0 m"},
        {"farthest", camera->farthest, camera->nearest + tiny, huge, "more than the nearest depth"},
        {"samples", camera->samples, 1.0, 4.0, "1 .. 4"},
        {"blur", camera->blur, 0.0, MOST_BLUR, "0 .. 64 pixels"},
        {"vignetting", camera->vignetting, 0.0, 1.0, "0 .. 1"},
        {"noise", camera->noise, 0.0, huge, "a number >= 0"},
        {"bits", camera->bits, 1.0, 8.0, "1 .. 8"},
        {"readout", camera->readout, 0.0, 1000.0, "0 .. 1000 s"},
        {"delay", mf_time_to_seconds(camera->delay), 0.0, 1000.0, "0 .. 1000 s"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!(rows[i].value >= rows[i].least && rows[i].value <= rows[i].most))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s %s: expected %s, found %g", what,
                           rows[i].name, rows[i].expected, rows[i].value);
    for (int i = 0; i < 6; i++)
        if (!(mf_abs(camera->coefficients[i]) <= huge))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s coefficients: expected finite numbers",
                           what);
    return MF_OK;
}

mf_Status mf_camera_check(const mf_Camera *camera, const char *what, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (camera == NULL || what == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_camera_check: camera or what is NULL");
    if (camera->name == NULL || strlen(camera->name) > MF_MODEL_NAME_LIMIT - 55)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s name: expected up to 200 bytes", what);
    if ((unsigned)camera->lens > MF_LENS_FISHEYE)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s lens: %u does not exist", what,
                       (unsigned)camera->lens);
    const double *q = camera->frame.rotation;
    const double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!mf_all_finite(camera->frame.position, 3) || !(size > 0.98 && size < 1.02))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s frame: expected finite numbers and a quaternion of length 1", what);
    if (camera->rate.numerator < 1 || camera->rate.denominator < 1)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s rate: expected more than 0 per second", what);
    if (!camera->color && !camera->depth && !camera->segmentation)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: expected color, depth or segmentation, found none", what);
    return check_ranges(camera, what, error);
}

// ---- in drafts ----------------------------------------------------------------------------------

static bool is_taken(const mf_Draft *draft, const char *name) {
    const mf_Camera *others = draft->cameras.items;
    uint32_t i = 0;
    while (i < draft->cameras.count && strcmp(others[i].name, name) != 0)
        i++;
    return i < draft->cameras.count;
}

mf_Status mf_draft_add_camera(mf_Draft *draft, const mf_Camera *camera, const char *what,
                              mf_Error *error) {
    char own[32];
    MF_TRY(mf_camera_check(camera, what, error));
    mf_Camera copy = *camera;
    for (uint32_t i = draft->cameras.count; *copy.name == '\0' || copy.name == own; i++) {
        snprintf(own, sizeof own, "camera%u", i);
        copy.name = own;
        if (!is_taken(draft, own))
            break;
    }
    if (is_taken(draft, copy.name))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: two cameras are named '%.100s'", what,
                       copy.name);
    mf_quat_normalize(copy.frame.rotation);
    return mf_draft_add(draft, MF_ITEM_CAMERA, &copy) != NULL
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "%s: no memory", what);
}
