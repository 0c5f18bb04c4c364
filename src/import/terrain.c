// Height maps from image files: maps gray values to heights and flips the image so that its top row
// has the highest y.
//
// height = offset + scale * (gray / white): black is `offset`, white is `offset + scale`.

#include "terrain/build.h"
#include "base/floats.h"
#include "image/image.h"

static mf_Status terrain_from_image(mf_Context *context, const mf_Image *image,
                                    const mf_TerrainConfig *config, double scale, double offset,
                                    mf_Terrain **out, mf_Error *error) {
    mf_Terrain *terrain;
    MF_TRY(mf_terrain_begin(context, config, image->width, image->height, &terrain, error));
    double *heights = mf_terrain_heights(terrain);
    for (uint32_t row = 0; row < image->height; row++) {
        const size_t first = (size_t)(image->height - 1 - row) * image->width;
        double *target = heights + (uint64_t)row * image->width;
        for (uint32_t column = 0; column < image->width; column++)
            target[column] =
                offset + scale * ((double)mf_image_gray(image, first + column) / image->white);
    }
    return mf_terrain_freeze(terrain, out, error);
}

static bool is_height(double value) {
    return value >= -MF_TERRAIN_HEIGHT_LIMIT && value <= MF_TERRAIN_HEIGHT_LIMIT;
}

mf_Status mf_terrain_load(mf_Context *context, const char *path, const mf_TerrainConfig *config,
                          double scale, double offset, mf_Terrain **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "terrain: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && path != NULL, error, "terrain: context or path is NULL");
    MF_TRY(mf_terrain_check_config(config, error));
    MF_NEED(is_height(offset) && is_height(offset + scale), error,
            "terrain: expected offset and offset + scale in -1e6 .. 1e6 m, found offset "
            "%g and scale %g",
            offset, scale);
    mf_Image image;
    MF_TRY(mf_image_load(context, path, &image, error));
    mf_Status status = terrain_from_image(context, &image, config, scale, offset, out, error);
    mf_release(context, image.pixels);
    return status;
}
