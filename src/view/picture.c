// Pictures inside reports: the ground seen from above, tinted by height, shaded by slope (the
// cosine law for a distant light from the north-west, 45 degrees high, as on maps).
#include "view/picture.h"

#include <math.h>

void mf_picture_ramp(double part, uint8_t color[3]) {
    // Wet valley, meadow, dry grass, bare rock, chalk: with rising lightness, so that it also
    // prints in gray.
    static const double stops[5][3] = {
        {58, 94, 100}, {96, 133, 108}, {160, 166, 118}, {199, 180, 143}, {238, 230, 214}};
    double position = part > 0.0 ? (part < 1.0 ? part : 1.0) * 4.0 : 0.0;
    int lower = position < 3.0 ? (int)position : 3;
    double share = position - lower;
    for (int c = 0; c < 3; c++)
        color[c] = (uint8_t)(stops[lower][c] + share * (stops[lower + 1][c] - stops[lower][c]));
}

// Lightness factor of a slope (dh/dx, dh/dy), 1 on level ground.
static double shade_of(double slope_x, double slope_y) {
    double length = sqrt(slope_x * slope_x + slope_y * slope_y + 1.0);
    double light = (0.5 * slope_x - 0.5 * slope_y + 0.70710678) / length / 0.70710678;
    return light < 0.35 ? 0.35 : light > 1.25 ? 1.25 : light;
}

static void shade_pixel(uint8_t *pixel, const mf_Terrain *terrain, double x, double y, double reach,
                        double lowest, double range) {
    double height = mf_terrain_height(terrain, x, y, NULL);
    double slope_x = (mf_terrain_height(terrain, x + reach, y, NULL) -
                      mf_terrain_height(terrain, x - reach, y, NULL)) /
                     (2.0 * reach);
    double slope_y = (mf_terrain_height(terrain, x, y + reach, NULL) -
                      mf_terrain_height(terrain, x, y - reach, NULL)) /
                     (2.0 * reach);
    mf_picture_ramp(range > 0.0 ? (height - lowest) / range : 0.5, pixel);
    double light = shade_of(slope_x, slope_y);
    for (int c = 0; c < 3; c++) {
        double value = pixel[c] * light;
        pixel[c] = (uint8_t)(value > 255.0 ? 255.0 : value);
    }
}

uint8_t *mf_picture_ground(mf_Context *context, const mf_Terrain *terrain, const mf_View *view,
                           double lowest, double highest, uint32_t width, uint32_t height) {
    uint8_t *pixels = mf_allocate(context, (size_t)width * height, 3);
    if (pixels == NULL)
        return NULL;
    double step_x = view->width / width, step_y = view->height / height;
    double reach = fmax(0.5 * terrain->cell, step_x);
    for (uint32_t row = 0; row < height; row++) {
        for (uint32_t column = 0; column < width; column++)
            shade_pixel(pixels + ((size_t)row * width + column) * 3, terrain,
                        view->x + (column + 0.5) * step_x,
                        view->y + view->height - (row + 0.5) * step_y, reach, lowest,
                        highest - lowest);
    }
    return pixels;
}
