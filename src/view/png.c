// PNG by libpng (png.h). libpng uses the context's allocator, so its memory is counted and subject
// to failure injection.
#include "view/png.h"

#include <png.h>
#include <string.h>

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
static bool encode(png_structp png, png_infop info, const mf_PngImage *image, int level,
                   Sink *sink) {
    const size_t row_size = (size_t)image->width * image->channels * (image->bits / 8);
    if (setjmp(png_jmpbuf(png)))
        return false;
    png_set_write_fn(png, sink, sink_write, sink_flush);
    png_set_compression_level(png, level);
    png_set_IHDR(png, info, image->width, image->height, (int)image->bits,
                 image->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    if (image->bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
    for (uint32_t row = 0; row < image->height; row++)
        png_write_row(png, (png_const_bytep)image->pixels + row * row_size);
    png_write_end(png, NULL);
    return true;
}

mf_Status mf_png_encode(mf_Context *context, const mf_PngImage *image, int level, uint8_t **out,
                        size_t *size, mf_Error *error) {
    *out = NULL;
    *size = 0;
    Sink sink = {.context = context};
    png_structp png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, NULL, sink_fail, sink_warn,
                                                context, sink_allocate, sink_release);
    png_infop info = png == NULL ? NULL : png_create_info_struct(png);
    bool written = info != NULL && encode(png, info, image, level, &sink);
    png_destroy_write_struct(&png, &info);
    if (!written) {
        mf_release(context, sink.data);
        return mf_fail(error, MF_NO_MEMORY, "picture: out of memory");
    }
    *out = sink.data;
    *size = sink.size;
    return MF_OK;
}
