// From what was drawn to what a camera gives: lens, chip and conversion.
#ifndef MAYFLY_CAMERA_DEVELOP_H
#define MAYFLY_CAMERA_DEVELOP_H

#include "camera/picture.h"
#include "camera/sight.h"

// What a camera does to every picture, computed once.
typedef struct mf_Chip {
    float taps[MF_BLUR_TAPS];
    uint32_t radius;    // [pixel] of the blur
    uint8_t shown[256]; // [1] of a code
    uint32_t most;      // [1] highest code
} mf_Chip;

void mf_chip_start(mf_Chip *chip, const mf_Camera *camera);

// Draws, shades and develops one picture into room->color, as codes 0 .. 255; noise->sigma is the
// camera's. Without color only depth and faces are computed.
void mf_develop(const mf_Sight *sight, const mf_CameraView *view, const mf_Chip *chip,
                const mf_SightPlace *place, const mf_PhotoNoise *noise, mf_SightRoom *room);

// Group, robot and link of a pixel (mf_CameraPixels).
void mf_develop_owner(const mf_SightRoom *room, size_t pixel, int32_t out[3]);

#endif
