// Images in memory: what the PNG and PGM readers give and the PNG writer takes. They are parsed
// from memory so that they can be fuzzed.
#pragma once

#include <mayfly/base.h>

#define MF_IMAGE_SIDE (1u << 24)   // [pixel] most a side
#define MF_IMAGE_PIXELS (1u << 26) // [pixel] most in all

typedef struct mf_Image {
    uint32_t width, height; // [pixel] >= 1
    uint32_t channels; // [1] 1: gray, 2: gray and alpha, 3: red, green, blue, 4: these and alpha
    uint32_t bits;     // [1] of a sample, 8: uint8_t, 16: uint16_t
    uint32_t white;    // [1] sample of white: 255, 65535, in PGM files any of 1 .. 65535
    void *pixels;      // width height channels samples <= white, row after row from the top
} mf_Image;

// Parses `size` bytes of a PNG, or of a PGM (P2, P5; 16 bits); the kind is recognized by content.
// Palettes become colors. On success the caller releases image->pixels with mf_release; on failure
// *image is untouched. `name` is the file's, for errors; may be NULL. MF_BAD_FILE, MF_NO_MEMORY,
// MF_LIMIT: more than MF_IMAGE_SIDE or MF_IMAGE_PIXELS.
mf_Status mf_image_parse(mf_Context *context, const char *name, const void *data, size_t size,
                         mf_Image *image, mf_Error *error);
// The same of a file of at most 64 MiB. Also MF_NOT_FOUND, MF_IO.
mf_Status mf_image_load(mf_Context *context, const char *path, mf_Image *image, mf_Error *error);

// Whether a file that begins so is of a kind that is read.
bool mf_image_begins(const void *data, size_t size);

// The size and soundness of a PNG without its pixels: its header, and the checksum of each chunk
// up to the last one.
mf_Status mf_image_check_png(const char *name, const void *data, size_t size, uint32_t *width,
                             uint32_t *height, mf_Error *error);

// Gray of a pixel, 0 .. white, without its alpha.
uint32_t mf_image_gray(const mf_Image *image, size_t pixel);
// Turns the pixels into 8 bits of red, green and blue: gray into three, 16 bits into their upper 8,
// without alpha. Releases them on failure.
mf_Status mf_image_to_color(mf_Context *context, mf_Image *image, mf_Error *error);

// The bytes of a PNG of gray or color; `level` 0 .. 9 of compression. The caller releases *out with
// mf_release. MF_NO_MEMORY.
mf_Status mf_image_encode(mf_Context *context, const mf_Image *image, int level, uint8_t **out,
                          size_t *size, mf_Error *error);

// ---- for readers -------------------------------------------------------------------------------

// Checks the size in `image`, MF_BAD_FILE when a side is 0, and allocates its pixels.
mf_Status mf_image_check(const mf_Image *image, const char *name, mf_Error *error);
mf_Status mf_image_allocate(mf_Context *context, mf_Image *image, const char *name,
                            mf_Error *error);

// As mf_image_parse, of data that begin as that kind does.
mf_Status mf_png_parse(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_Image *image, mf_Error *error);
mf_Status mf_pgm_parse(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_Image *image, mf_Error *error);
