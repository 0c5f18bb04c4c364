// Pictures inside reports: the ground seen from above as PNG.
#ifndef MAYFLY_VIEW_PICTURE_H
#define MAYFLY_VIEW_PICTURE_H

#include <mayfly/terrain.h>

// 8-bit RGB pixels, row after row from the top.
typedef struct mf_Picture {
    uint32_t width;  // [px]
    uint32_t height; // [px]
    uint8_t *pixels; // [1] width * height * 3
} mf_Picture;

// The part of the world that a picture shows, seen from above with +x to the right, +y up.
typedef struct mf_View {
    double x, y;          // [m] world position of the lower left corner
    double width, height; // [m]
} mf_View;

// Colors of the height ramp, `part` in 0 .. 1 from low to high.
void mf_picture_ramp(double part, uint8_t color[3]);

// Shades the ground in `view` by height (between `lowest` and `highest` [m]) and by light from the
// upper left. NULL when memory is short. Free with mf_release.
uint8_t *mf_picture_ground(mf_Context *context, const mf_Terrain *terrain, const mf_View *view,
                           double lowest, double highest, uint32_t width, uint32_t height);

// Encodes as PNG. The caller releases *out with mf_release.
mf_Status mf_picture_png(mf_Context *context, const mf_Picture *picture, uint8_t **out,
                         size_t *size, mf_Error *error);

#endif
