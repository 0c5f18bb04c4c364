// Docks and cameras of a model: defaults, ranges, which docks fit each other, the focal length of
// an angle of view.
#include "model/mounted.h"
#include "base/floats.h"
#include "base/text.h"

#include "math/scalar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

_Static_assert(offsetof(mf_Mounted, head.frame) == offsetof(mf_Dock, frame) &&
                   offsetof(mf_Mounted, head.frame) == offsetof(mf_Camera, frame) &&
                   offsetof(mf_Dock, name) == 0 && offsetof(mf_Camera, name) == 0,
               "all begin with name and frame");

mf_Dock mf_dock(void) {
    mf_Dock dock;
    mf_item_reset(MF_ITEM_DOCK, &dock);
    return dock;
}

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

static mf_Status check_ranges(const Range *rows, size_t count, const char *what, mf_Error *error) {
    for (size_t i = 0; i < count; i++)
        if (!(rows[i].value >= rows[i].least && rows[i].value <= rows[i].most))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s %s: expected %s, found %g", what,
                           rows[i].name, rows[i].expected, rows[i].value);
    return MF_OK;
}

static mf_Status check_frame(const mf_Frame *frame, const char *what, mf_Error *error) {
    const double *q = frame->rotation;
    const double size = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (mf_all_finite(frame->position, 3) && size > 0.98 && size < 1.02)
        return MF_OK;
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "%s frame: expected finite numbers and a quaternion of length 1", what);
}

#define AT_LEAST(member) #member, dock->member, 0.0, 1e12, "a number >= 0"
#define ABOVE(member) #member, dock->member, 0x1p-1074, (double)INFINITY, "a number > 0"

static mf_Status check_dock(const mf_Dock *dock, const char *what, mf_Error *error) {
    if (dock->name == NULL || *dock->name == '\0' || strlen(dock->name) > MF_MODEL_NAME_LIMIT)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s name: expected 1 .. 255 bytes", what);
    MF_NEED(dock->type != NULL && dock->fits != NULL && strchr(dock->type, ' ') == NULL, error,
            "%s type: expected one name, and `fits` a text", what);
    MF_NEED((unsigned)dock->gender <= MF_DOCK_FEMALE, error, "%s gender: %u does not exist", what,
            (unsigned)dock->gender);
    if (dock->orientations != 1 && dock->orientations != 2 && dock->orientations != 4)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s orientations: expected 1, 2 or 4, found %u",
                       what, dock->orientations);
    MF_TRY(check_frame(&dock->frame, what, error));
    const Range rows[] = {{AT_LEAST(distance)},
                          {AT_LEAST(angle)},
                          {AT_LEAST(closing)},
                          {AT_LEAST(failure)},
                          {AT_LEAST(pull)},
                          {AT_LEAST(range)},
                          {AT_LEAST(stiffness)},
                          {AT_LEAST(damping)},
                          {AT_LEAST(angular_stiffness)},
                          {AT_LEAST(angular_damping)},
                          {ABOVE(tension)},
                          {ABOVE(shear)},
                          {ABOVE(bending)},
                          {ABOVE(torsion)}};
    MF_TRY(check_ranges(rows, sizeof rows / sizeof *rows, what, error));
    MF_NEED(dock->distance > 0.0 && dock->angle > 0.0 && dock->failure <= 1.0, error,
            "%s: expected tolerances distance and angle > 0 and failure <= 1", what);
    if (dock->pull > 0.0 && !(dock->range > 0.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s range: a pull needs a range > 0", what);
    if ((dock->damping > 0.0 && !(dock->stiffness > 0.0)) ||
        (dock->angular_damping > 0.0 && !(dock->angular_stiffness > 0.0)))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s: a damping needs a stiffness", what);
    return MF_OK;
}

static mf_Status check_camera(const mf_Camera *camera, const char *what, mf_Error *error) {
    const double tiny = 1e-9, huge = 1e9;
    if (camera->name == NULL || strlen(camera->name) > MF_MODEL_NAME_LIMIT - 55)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s name: expected up to 200 bytes", what);
    MF_NEED((unsigned)camera->lens <= MF_LENS_FISHEYE, error, "%s lens: %u does not exist", what,
            (unsigned)camera->lens);
    MF_TRY(check_frame(&camera->frame, what, error));
    if (camera->rate.numerator < 1 || camera->rate.denominator < 1)
        return mf_fail(error, MF_BAD_ARGUMENT, "%s rate: expected more than 0 per second", what);
    if (!camera->color && !camera->depth && !camera->segmentation)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: expected color, depth or segmentation, found none", what);
    const Range rows[] = {
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
    MF_TRY(check_ranges(rows, sizeof rows / sizeof *rows, what, error));
    for (int i = 0; i < 6; i++)
        if (!(mf_abs(camera->coefficients[i]) <= huge))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s coefficients: expected finite numbers",
                           what);
    return MF_OK;
}

mf_Status mf_mounted_check(mf_ItemType type, const void *item, const char *what, mf_Error *error) {
    const char *kind = mf_item_table(type)->name;
    MF_NEED(item != NULL && what != NULL, error, "mf_%s_check: %s or what is NULL", kind, kind);
    return type == MF_ITEM_DOCK ? check_dock(item, what, error) : check_camera(item, what, error);
}

mf_Status mf_camera_check(const mf_Camera *camera, const char *what, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    return mf_mounted_check(MF_ITEM_CAMERA, camera, what, error);
}

// ---- who fits whom ------------------------------------------------------------------------------

static bool accepts(const mf_Dock *dock, const mf_Dock *other) {
    return dock->fits[0] == '\0' ? strcmp(dock->type, other->type) == 0
                                 : mf_name_in_text(dock->fits, other->type);
}

bool mf_dock_fits(const mf_Dock *first, const mf_Dock *second) {
    MF_DEFAULT_FLOATS;
    if (first == NULL || second == NULL)
        return false;
    if (first->gender == second->gender && first->gender != MF_DOCK_BOTH)
        return false;
    return accepts(first, second) && accepts(second, first);
}

// ---- in drafts ----------------------------------------------------------------------------------

mf_Status mf_draft_mount(mf_Draft *draft, mf_ItemType type, const void *item, const char *what,
                         mf_Error *error) {
    const mf_ItemTable *table = mf_item_table(type);
    mf_Mounted copy;
    char own[32];
    MF_TRY(mf_mounted_check(type, item, what, error));
    memcpy(&copy, item, table->size);
    const char **name = &copy.head.name;
    for (uint32_t i = mf_draft_list(draft, type)->count; **name == '\0' || *name == own; i++) {
        snprintf(own, sizeof own, "%s%u", table->name, i);
        *name = own;
        if (mf_draft_find(draft, type, own) == MF_NONE)
            break;
    }
    MF_NEED(mf_draft_find(draft, type, *name) == MF_NONE, error, "%s: two %ss are named '%.100s'",
            what, table->name, *name);
    mf_quat_normalize(copy.head.frame.rotation);
    return mf_draft_add(draft, type, &copy) != NULL
               ? MF_OK
               : mf_fail(error, MF_NO_MEMORY, "%s: no memory", what);
}
