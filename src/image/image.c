// What all images have in common: the kind by content, limits of size, conversions (image.h).
//
// The gray of colors is their luma
//
//     Y = 0.2126 R + 0.7152 G + 0.0722 B        (ITU-R BT.709-6, item 3.2)
//
// in integer weights that sum to 1, so that an elevation image saved as RGB gray keeps its exact
// values.
#include "image/image.h"

#include <inttypes.h>
#include <string.h>

#define FILE_LIMIT ((size_t)64 << 20) // [byte]
// Weights of 16 bits; their sum is exactly 65536.
#define RED_WEIGHT 13933u
#define GREEN_WEIGHT 46871u
#define BLUE_WEIGHT 4732u

enum { COLORS = 3 };

mf_Status mf_image_check(const mf_Image *image, const char *name, mf_Error *error) {
    const uint64_t pixels = (uint64_t)image->width * image->height;
    if (pixels == 0)
        return mf_fail_at(error, MF_BAD_FILE, name, 0, 0,
                          "expected an image of at least 1 x 1 pixels, found %" PRIu32
                          " x %" PRIu32,
                          image->width, image->height);
    if (pixels > MF_IMAGE_PIXELS || image->width > MF_IMAGE_SIDE || image->height > MF_IMAGE_SIDE)
        return mf_fail_at(error, MF_LIMIT, name, 0, 0,
                          "expected at most 2^24 pixels a side and 2^26 in all, found %" PRIu32
                          " x %" PRIu32,
                          image->width, image->height);
    return MF_OK;
}

static mf_Status no_memory(const mf_Image *image, const char *name, mf_Error *error) {
    return mf_fail_at(error, MF_NO_MEMORY, name, 0, 0,
                      "no memory for %" PRIu32 " x %" PRIu32 " pixels", image->width,
                      image->height);
}

mf_Status mf_image_allocate(mf_Context *context, mf_Image *image, const char *name,
                            mf_Error *error) {
    const size_t pixels = (size_t)image->width * image->height;
    image->pixels = mf_allocate(context, pixels, (size_t)image->channels * image->bits / 8);
    return image->pixels != NULL ? MF_OK : no_memory(image, name, error);
}

// ---- reading ------------------------------------------------------------------------------------

// First bytes of formats; formats without a reader are listed so that the error can name them.
typedef struct Kind {
    const char *magic;
    size_t length; // [byte] of magic
    const char *name;
    mf_Status (*parse)(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_Image *image, mf_Error *error);
} Kind;

static const Kind kinds[] = {
    {"\x89PNG\r\n\x1a\n", 8, "a PNG image", mf_png_parse},
    {"P2", 2, "an ASCII PGM image", mf_pgm_parse},
    {"P5", 2, "a binary PGM image", mf_pgm_parse},
    {"\x89PNG", 4, "a PNG image with damaged line ends (copied as text?)", NULL},
    {"P1", 2, "an ASCII PBM image", NULL},
    {"P3", 2, "an ASCII PPM color image", NULL},
    {"P4", 2, "a binary PBM image", NULL},
    {"P6", 2, "a binary PPM color image", NULL},
    {"P7", 2, "a PAM image", NULL},
    {"PF", 2, "a PFM image", NULL},
    {"Pf", 2, "a PFM image", NULL},
    {"II*\0", 4, "a TIFF image", NULL},
    {"MM\0*", 4, "a TIFF image", NULL},
    {"\xff\xd8\xff", 3, "a JPEG image", NULL},
    {"GIF8", 4, "a GIF image", NULL},
    {"BM", 2, "a BMP image", NULL},
};

// NULL: unknown.
static const Kind *kind_of(const void *data, size_t size) {
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (size >= kinds[i].length && memcmp(data, kinds[i].magic, kinds[i].length) == 0)
            return &kinds[i];
    return NULL;
}

bool mf_image_begins(const void *data, size_t size) {
    const Kind *kind = kind_of(data, size);
    return kind != NULL && kind->parse != NULL;
}

mf_Status mf_image_parse(mf_Context *context, const char *name, const void *data, size_t size,
                         mf_Image *image, mf_Error *error) {
    const Kind *kind = kind_of(data, size);
    if (kind != NULL && kind->parse != NULL)
        return kind->parse(context, name, data, size, image, error);
    const char *found = kind != NULL ? kind->name : size == 0 ? "an empty file" : "something else";
    return mf_fail_at(error, MF_BAD_FILE, name, 0, 0,
                      "expected a gray PNG or PGM (P2, P5) image, found %s", found);
}

mf_Status mf_image_load(mf_Context *context, const char *path, mf_Image *image, mf_Error *error) {
    char *data;
    size_t size;
    MF_TRY(mf_file_read(context, path, FILE_LIMIT, &data, &size, error));
    mf_Status status = mf_image_parse(context, path, data, size, image, error);
    mf_release(context, data);
    return status;
}

// ---- conversion ---------------------------------------------------------------------------------

static uint32_t sample(const mf_Image *image, size_t index) {
    return image->bits == 16 ? ((const uint16_t *)image->pixels)[index]
                             : ((const uint8_t *)image->pixels)[index];
}

uint32_t mf_image_gray(const mf_Image *image, size_t pixel) {
    const size_t at = pixel * image->channels;
    if (image->channels < COLORS)
        return sample(image, at);
    const uint32_t sum = RED_WEIGHT * sample(image, at) + GREEN_WEIGHT * sample(image, at + 1) +
                         BLUE_WEIGHT * sample(image, at + 2);
    return (sum + 32768u) >> 16;
}

mf_Status mf_image_to_color(mf_Context *context, mf_Image *image, mf_Error *error) {
    if (image->channels == COLORS && image->bits == 8)
        return MF_OK;
    const mf_Image from = *image;
    *image = (mf_Image){from.width, from.height, COLORS, 8, 255, NULL};
    mf_Status status = mf_image_allocate(context, image, NULL, error);
    uint8_t *target = image->pixels;
    for (size_t i = 0; status == MF_OK && i < (size_t)from.width * from.height; i++)
        for (size_t c = 0; c < COLORS; c++)
            *target++ =
                (uint8_t)(sample(&from, i * from.channels + (from.channels < COLORS ? 0 : c)) >>
                          (from.bits - 8));
    mf_release(context, from.pixels);
    return status;
}
