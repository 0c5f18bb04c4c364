// From what was drawn to what a camera gives: lens, chip and conversion.
#pragma once

#include "camera/picture.h"
#include "camera/render.h"

// What a camera does to every picture, computed once.
typedef struct mf_Chip {
    float taps[MF_BLUR_TAPS];
    uint32_t radius;    // [pixel] of the blur
    uint8_t shown[256]; // [1] of a code
    uint32_t most;      // [1] highest code
} mf_Chip;

void mf_chip_start(mf_Chip *chip, const mf_Camera *camera);

// Draws and shades the rows of buffers->raster, without color only depth and faces.
void mf_develop_draw(const mf_RenderScene *scene, const mf_CameraView *view,
                     const mf_RenderPose *pose, mf_RenderBuffers *buffers);
// What the chip makes of a whole picture in buffers->color: codes 0 .. 255. noise->sigma is the
// camera's.
void mf_develop_chip(const mf_RenderScene *scene, const mf_CameraView *view, const mf_Chip *chip,
                     const mf_PhotoNoise *noise, mf_RenderBuffers *buffers);

// What a camera at any position sees.
const mf_RenderScene *mf_free_camera_scene(const mf_FreeCamera *camera);

// Group, robot and link of a pixel (mf_CameraPixels).
void mf_develop_owner(const mf_RenderBuffers *buffers, size_t pixel, int32_t out[3]);
