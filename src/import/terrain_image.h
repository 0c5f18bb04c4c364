// Elevation images: what the PNG and PGM readers hand to mf_terrain_load, and the readers
// themselves, which parse from memory so that they can be fuzzed.
#ifndef MAYFLY_TERRAIN_IMAGE_H
#define MAYFLY_TERRAIN_IMAGE_H

#include <mayfly/base.h>

typedef struct mf_GrayImage {
    uint32_t columns; // [1] pixels across, >= 1
    uint32_t rows;    // [1] pixels down, >= 1
    uint32_t largest; // [1] gray value of white, 1 .. 65535
    uint16_t *gray;   // [1] rows*columns values <= largest, row after row from the top
} mf_GrayImage;

// Checks the size in `image`: MF_BAD_FILE when a side is 0, MF_LIMIT above 2^24 a side or 2^26 in
// all. `name` is the file's, for the error; may be NULL.
mf_Status mf_gray_image_check(const mf_GrayImage *image, const char *name, mf_Error *error);

// Allocates `gray` for the size in `image`, which must have been checked.
mf_Status mf_gray_image_allocate(mf_Context *context, mf_GrayImage *image, const char *name,
                                 mf_Error *error);

// Parse `size` bytes. On success the caller releases image->gray with mf_release; on failure
// *image is untouched. `name` is the file's, for errors; may be NULL.
mf_Status mf_png_parse(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_GrayImage *image, mf_Error *error);
mf_Status mf_pgm_parse(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_GrayImage *image, mf_Error *error);

#endif
