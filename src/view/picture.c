// Pictures inside reports: the ground seen from above, tinted by height, shaded by slope (the
// cosine law for a distant light from the north-west, 45 degrees high, as on maps), and written as
// PNG by libpng. libpng uses the context's allocator, so its memory is counted and subject to
// failure injection.
#include "view/picture.h"

#include <math.h>
#include <png.h>
#include <string.h>

// ---- the ground --------------------------------------------------------------------------------

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

// ---- PNG ---------------------------------------------------------------------------------------

typedef struct Sink {
    mf_Context *context;
    uint8_t *data;
    size_t size, capacity;
} Sink;

static png_voidp sink_allocate(png_structp png, png_alloc_size_t size) {
    return mf_allocate(png_get_mem_ptr(png), size, 1);
}

static void sink_release(png_structp png, png_voidp memory) {
    mf_release(png_get_mem_ptr(png), memory);
}

static void sink_write(png_structp png, png_bytep data, png_size_t size) {
    Sink *sink = png_get_io_ptr(png);
    if (sink->capacity - sink->size < size) {
        size_t capacity = 2 * sink->capacity + size + 4096;
        uint8_t *grown = mf_allocate(sink->context, capacity, 1);
        if (grown == NULL)
            png_error(png, "out of memory");
        if (sink->size != 0)
            memcpy(grown, sink->data, sink->size);
        mf_release(sink->context, sink->data);
        sink->data = grown;
        sink->capacity = capacity;
    }
    memcpy(sink->data + sink->size, data, size);
    sink->size += size;
}

static void sink_flush(png_structp png) {
    (void)png;
}

// libpng reports failure by a jump back to the caller's setjmp; nothing is printed.
static void sink_fail(png_structp png, png_const_charp message) {
    (void)message;
    png_longjmp(png, 1);
}

static void sink_warn(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

// True when all of the picture went into `sink`. Holds no local that changes after setjmp.
static bool encode(png_structp png, png_infop info, const mf_Picture *picture, Sink *sink) {
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_write_fn(png, sink, sink_write, sink_flush);
    png_set_compression_level(png, 9);
    png_set_IHDR(png, info, picture->width, picture->height, 8, PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (uint32_t row = 0; row < picture->height; row++)
        png_write_row(png, picture->pixels + (size_t)row * picture->width * 3);
    png_write_end(png, NULL);
    return true;
}

mf_Status mf_picture_png(mf_Context *context, const mf_Picture *picture, uint8_t **out,
                         size_t *size, mf_Error *error) {
    *out = NULL;
    *size = 0;
    Sink sink = {.context = context};
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, NULL, sink_fail, sink_warn,
                                                context, sink_allocate, sink_release);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    bool written = info != NULL && encode(png, info, picture, &sink);
    png_destroy_write_struct(&png, &info);
    if (!written) {
        mf_release(context, sink.data);
        return mf_fail(error, MF_NO_MEMORY, "picture: out of memory");
    }
    *out = sink.data;
    *size = sink.size;
    return MF_OK;
}
