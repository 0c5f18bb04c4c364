// The rays of a camera, in optical axes, and which pixels may see something.
#pragma once

#include "camera/raster.h"

#include <mayfly/camera.h>

// Coordinates of rays that grow with the column and the row: X / Z and Y / Z for straight lenses
// (pinhole, Brown), else the angle from the axis in the direction of X, Y.
typedef struct mf_CameraView {
    mf_Context *context;
    mf_Camera camera; // its name is not kept
    bool straight;
    uint32_t stride;          // [pixel]
    float *ray[3];            // [1] stride * height: point of depth 1; zeros where there is no ray
    float *factor;            // [1] width * height, vignetting; NULL: none
    double *low[2], *high[2]; // [1] per column and row: coordinate of it or of those behind it, of
                              // it or of those in front of it
    double reach;             // [rad] of the ray farthest from the axis
    struct mf_CameraView *fine; // the same with camera.samples as many columns and rows; NULL: 1
} mf_CameraView;

// For a valid camera. The caller destroys *out. MF_NO_MEMORY.
mf_Status mf_camera_view_create(mf_Context *context, const mf_Camera *camera, mf_CameraView **out,
                                mf_Error *error);
void mf_camera_view_destroy(mf_CameraView *view); // NULL is allowed

// Pixels that may see a ball, or a triangle; false: none.
bool mf_camera_view_ball(const mf_CameraView *view, const double center[3], double radius,
                         mf_RasterRect *out);
bool mf_camera_view_triangle(const mf_CameraView *view, const double *const corner[3],
                             mf_RasterRect *out);
