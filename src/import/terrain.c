// Height maps from image files: detects the format by content, parses, maps gray values to heights
// and flips the image so that its top row has the highest y.
//
// height = offset + scale * (gray / largest): black is `offset`, white is `offset + scale`.

#include "terrain/build.h"
#include "base/floats.h"
#include "import/terrain_image.h"
#include "terrain/lookup.h"

#include <inttypes.h>
#include <string.h>

#define FILE_LIMIT ((size_t)64 << 20) // [byte]

mf_Status mf_gray_image_check(const mf_GrayImage *image, const char *name, mf_Error *error) {
    uint64_t cells = (uint64_t)image->columns * image->rows;
    if (cells == 0)
        return mf_fail_at(error, MF_BAD_FILE, name, 0, 0,
                          "expected an image of at least 1 x 1 pixels, found %" PRIu32
                          " x %" PRIu32,
                          image->columns, image->rows);
    if (cells > MF_TERRAIN_CELL_LIMIT || image->columns > MF_TERRAIN_SIDE_LIMIT ||
        image->rows > MF_TERRAIN_SIDE_LIMIT)
        return mf_fail_at(error, MF_LIMIT, name, 0, 0,
                          "expected at most 2^24 pixels a side and 2^26 in all, found %" PRIu32
                          " x %" PRIu32,
                          image->columns, image->rows);
    return MF_OK;
}

mf_Status mf_gray_image_allocate(mf_Context *context, mf_GrayImage *image, const char *name,
                                 mf_Error *error) {
    uint64_t cells = (uint64_t)image->columns * image->rows;
    image->gray = mf_allocate(context, (size_t)cells, sizeof *image->gray);
    if (image->gray == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, name, 0, 0,
                          "no memory for %" PRIu32 " x %" PRIu32 " pixels", image->columns,
                          image->rows);
    return MF_OK;
}

// First bytes of formats; formats without a reader are listed so that the error can name them.
typedef struct Kind {
    const char *magic;
    size_t length; // [byte] of magic
    const char *name;
    mf_Status (*parse)(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_GrayImage *image, mf_Error *error);
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

static mf_Status parse_image(mf_Context *context, const char *path, const void *data, size_t size,
                             mf_GrayImage *image, mf_Error *error) {
    const char *found = "something else";
    if (size == 0)
        found = "an empty file";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (size < kinds[i].length || memcmp(data, kinds[i].magic, kinds[i].length) != 0)
            continue;
        if (kinds[i].parse != NULL)
            return kinds[i].parse(context, path, data, size, image, error);
        found = kinds[i].name;
        break;
    }
    return mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                      "expected a gray PNG or PGM (P2, P5) image, found %s", found);
}

static mf_Status terrain_from_image(mf_Context *context, const mf_GrayImage *image,
                                    const mf_TerrainConfig *config, double scale, double offset,
                                    mf_Terrain **out, mf_Error *error) {
    mf_Terrain *terrain;
    mf_Status status =
        mf_terrain_begin(context, config, image->columns, image->rows, &terrain, error);
    if (status != MF_OK)
        return status;
    double *heights = mf_terrain_heights(terrain);
    for (uint32_t row = 0; row < image->rows; row++) {
        const uint16_t *gray = image->gray + (uint64_t)(image->rows - 1 - row) * image->columns;
        double *target = heights + (uint64_t)row * image->columns;
        for (uint32_t column = 0; column < image->columns; column++)
            target[column] = offset + scale * ((double)gray[column] / image->largest);
    }
    return mf_terrain_freeze(terrain, out, error);
}

static bool is_height(double value) {
    return value >= -MF_TERRAIN_HEIGHT_LIMIT && value <= MF_TERRAIN_HEIGHT_LIMIT;
}

mf_Status mf_terrain_load(mf_Context *context, const char *path, const mf_TerrainConfig *config,
                          double scale, double offset, mf_Terrain **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "terrain: out is NULL");
    *out = NULL;
    if (context == NULL || path == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "terrain: context or path is NULL");
    mf_Status status = mf_terrain_check_config(config, error);
    if (status != MF_OK)
        return status;
    if (!is_height(offset) || !is_height(offset + scale))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "terrain: expected offset and offset + scale in -1e6 .. 1e6 m, found offset "
                       "%g and scale %g",
                       offset, scale);
    char *data;
    size_t size;
    status = mf_file_read(context, path, FILE_LIMIT, &data, &size, error);
    if (status != MF_OK)
        return status;
    mf_GrayImage image;
    status = parse_image(context, path, data, size, &image, error);
    mf_release(context, data);
    if (status != MF_OK)
        return status;
    status = terrain_from_image(context, &image, config, scale, offset, out, error);
    mf_release(context, image.gray);
    return status;
}
