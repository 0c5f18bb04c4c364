// Pictures inside reports: the ground seen from above.
#ifndef MAYFLY_VIEW_PICTURE_H
#define MAYFLY_VIEW_PICTURE_H

#include <mayfly/terrain.h>

// The part of the world that a picture shows, seen from above with +x to the right, +y up.
typedef struct mf_View {
    double x, y;          // [m] world position of the lower left corner
    double width, height; // [m]
} mf_View;

// Colors of the height ramp, `part` in 0 .. 1 from low to high.
void mf_picture_ramp(double part, uint8_t color[3]);

// Shades the ground in `view` by height (between `lowest` and `highest` [m]) and by light from the
// upper left: 8 bits of red, green, blue. NULL when memory is short. Free with mf_release.
uint8_t *mf_picture_ground(mf_Context *context, const mf_Terrain *terrain, const mf_View *view,
                           double lowest, double highest, uint32_t width, uint32_t height);

#endif
