// PNG files from pixels in memory.
#ifndef MAYFLY_VIEW_PNG_H
#define MAYFLY_VIEW_PNG_H

#include <mayfly/base.h>

// Row after row from the top, the channels of a pixel together.
typedef struct mf_PngImage {
    uint32_t width, height; // [pixel]
    uint32_t channels;      // [1] 1: gray, 3: red, green, blue
    uint32_t bits;          // [1] 8: uint8_t, 16: uint16_t
    const void *pixels;
} mf_PngImage;

// `level` 0 .. 9 of compression. The caller releases *out with mf_release. MF_NO_MEMORY.
mf_Status mf_png_encode(mf_Context *context, const mf_PngImage *image, int level, uint8_t **out,
                        size_t *size, mf_Error *error);

#endif
