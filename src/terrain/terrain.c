// Height maps: settings, creation from an array, and the double-precision look-up.
//
// A map is one allocation: the struct, and the image that kernels read with the heights in double
// and in float. It is written between mf_terrain_begin and mf_terrain_freeze and never again. The
// look-up follows lookup.h, which the kernels follow too.
//
// Invariants of a frozen map: 1 <= columns, rows <= 2^24; columns * rows <= 2^26; every height is
// finite and |height| <= 1e6; height_f32 is height_f64 rounded to nearest.

#include "terrain/build.h"
#include "base/floats.h"
#include "terrain/image.h"
#include "terrain/lookup.h"

#include <inttypes.h>

// Bounds that keep inverse_cell and cell coordinates well inside the range of float.
#define SMALLEST_CELL 1e-6 // [m]
#define LARGEST_CELL 1e6   // [m]
#define LARGEST_ORIGIN 1e9 // [m]

mf_TerrainConfig mf_terrain_config(void) {
    // Columns and rows stay 0, which is refused: a guessed size would read past the caller's array.
    return (mf_TerrainConfig){
        .struct_size = sizeof(mf_TerrainConfig),
        .cell = 0.1,
        .origin = {__builtin_nan(""), __builtin_nan("")},
        .interpolation = MF_INTERPOLATION_AUTO,
    };
}

mf_Status mf_terrain_check_config(const mf_TerrainConfig *config, mf_Error *error) {
    MF_NEED(config != NULL && config->struct_size == sizeof *config, error,
            "terrain config: expected one that starts from mf_terrain_config()");
    MF_NEED(config->cell >= SMALLEST_CELL && config->cell <= LARGEST_CELL, error,
            "terrain config.cell: expected 1e-6 .. 1e6 m, found %g", config->cell);
    for (int axis = 0; axis < 2; axis++) {
        double origin = config->origin[axis];
        bool centered = origin != origin;
        MF_NEED(centered || (origin >= -LARGEST_ORIGIN && origin <= LARGEST_ORIGIN), error,
                "terrain config.origin[%d]: expected NAN or -1e9 .. 1e9 m, found %g", axis, origin);
    }
    const int method = (int)config->interpolation, border = (int)config->border;
    if (method < MF_NEAREST || method > MF_INTERPOLATION_AUTO)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "terrain config.interpolation: expected an mf_Interpolation, found %d",
                       method);
    MF_NEED(border == MF_BORDER_CONTINUES || border == MF_BORDER_ENDS, error,
            "terrain config.border: expected an mf_Border, found %d", border);
    return MF_OK;
}

static size_t padded(size_t size) {
    return (size + MF_FLAT_ALIGNMENT - 1) / MF_FLAT_ALIGNMENT * MF_FLAT_ALIGNMENT;
}

static double resolved_origin(double origin, uint32_t count, double cell) {
    return origin != origin ? -0.5 * (count * cell) : origin;
}

static void fill_image(mf_TerrainImage *image, const mf_TerrainConfig *config, uint32_t columns,
                       uint32_t rows) {
    image->columns = columns;
    image->rows = rows;
    image->bilinear = config->interpolation == MF_BILINEAR ||
                      (config->interpolation == MF_INTERPOLATION_AUTO && columns * rows > 1);
    image->ends = config->border == MF_BORDER_ENDS;
    image->cell = config->cell;
    image->inverse_cell = 1.0 / config->cell;
    image->origin[0] = resolved_origin(config->origin[0], columns, config->cell);
    image->origin[1] = resolved_origin(config->origin[1], rows, config->cell);
}

mf_Status mf_terrain_begin(mf_Context *context, const mf_TerrainConfig *config, uint32_t columns,
                           uint32_t rows, mf_Terrain **out, mf_Error *error) {
    MF_NEED(columns != 0 && rows != 0, error,
            "terrain: expected at least 1 x 1 cells, found %" PRIu32 " x %" PRIu32, columns, rows);
    uint64_t cells = (uint64_t)columns * rows;
    if (cells > MF_TERRAIN_CELL_LIMIT || columns > MF_TERRAIN_SIDE_LIMIT ||
        rows > MF_TERRAIN_SIDE_LIMIT)
        return mf_fail(error, MF_LIMIT,
                       "terrain: expected at most 2^24 cells a side and 2^26 in all, found %" PRIu32
                       " x %" PRIu32,
                       columns, rows);
    const size_t head = padded(sizeof(mf_TerrainImage));
    const size_t wide = padded((size_t)cells * sizeof(double));
    const size_t bytes = head + wide + (size_t)cells * sizeof(float);
    mf_TerrainBlock *block = mf_allocate(context, 1, offsetof(mf_TerrainBlock, image) + bytes);
    if (block == NULL)
        return mf_fail(error, MF_NO_MEMORY,
                       "terrain: no memory for %" PRIu32 " x %" PRIu32 " cells", columns, rows);
    fill_image(&block->image, config, columns, rows);
    block->image.bytes = (uint32_t)bytes;
    block->image.heights_f64_at = (uint32_t)head;
    block->image.heights_f32_at = (uint32_t)(head + wide);
    *out = &block->terrain;
    **out = (mf_Terrain){.columns = columns,
                         .rows = rows,
                         .cell = block->image.cell,
                         .origin = {block->image.origin[0], block->image.origin[1]},
                         .interpolation = block->image.bilinear ? MF_BILINEAR : MF_NEAREST,
                         .border = config->border,
                         .height_f64 = mf_terrain_image_heights_f64(&block->image),
                         .height_f32 = mf_terrain_image_heights_f32(&block->image),
                         .context = context};
    return MF_OK;
}

double *mf_terrain_heights(mf_Terrain *terrain) {
    return (double *)terrain->height_f64;
}

mf_Status mf_terrain_freeze(mf_Terrain *terrain, mf_Terrain **out, mf_Error *error) {
    uint64_t cells = (uint64_t)terrain->columns * terrain->rows;
    const double *heights = terrain->height_f64;
    float *rounded = (float *)terrain->height_f32;
    double lowest = heights[0], highest = heights[0];
    for (uint64_t cell = 0; cell < cells; cell++) {
        double height = heights[cell];
        // Written so that NaN also fails.
        if (!(height >= -MF_TERRAIN_HEIGHT_LIMIT && height <= MF_TERRAIN_HEIGHT_LIMIT)) {
            mf_Status status =
                mf_fail(error, MF_BAD_ARGUMENT,
                        "terrain: expected heights in -1e6 .. 1e6 m, found %g in column %" PRIu64
                        ", row %" PRIu64,
                        height, cell % terrain->columns, cell / terrain->columns);
            mf_terrain_destroy(terrain);
            return status;
        }
        lowest = height < lowest ? height : lowest;
        highest = height > highest ? height : highest;
        rounded[cell] = (float)height;
    }
    mf_TerrainImage *image = &((mf_TerrainBlock *)(void *)terrain)->image;
    terrain->lowest = image->lowest = lowest;
    terrain->highest = image->highest = highest;
    image->level = lowest == highest && !image->ends;
    *out = terrain;
    return MF_OK;
}

mf_Status mf_terrain_check_made(const mf_TerrainConfig *config, mf_Error *error) {
    mf_Status status = mf_terrain_check_config(config, error);
    if (status == MF_OK &&
        (config->columns > MF_TERRAIN_MADE_SIDE || config->rows > MF_TERRAIN_MADE_SIDE))
        return mf_fail(error, MF_LIMIT,
                       "terrain: expected at most 8192 x 8192 cells, found %" PRIu32 " x %" PRIu32,
                       config->columns, config->rows);
    return status;
}

mf_Status mf_terrain_from_array(mf_Context *context, const mf_TerrainConfig *config,
                                const double *heights, mf_Terrain **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "terrain: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && heights != NULL, error, "terrain: context or heights is NULL");
    MF_TRY(mf_terrain_check_made(config, error));
    mf_Terrain *terrain;
    MF_TRY(mf_terrain_begin(context, config, config->columns, config->rows, &terrain, error));
    double *target = mf_terrain_heights(terrain);
    uint64_t cells = (uint64_t)config->columns * config->rows;
    for (uint64_t cell = 0; cell < cells; cell++)
        target[cell] = heights[cell];
    return mf_terrain_freeze(terrain, out, error);
}

void mf_terrain_destroy(mf_Terrain *terrain) {
    if (terrain != NULL)
        mf_release(terrain->context, terrain);
}

double mf_terrain_height(const mf_Terrain *terrain, double x, double y, double normal[3]) {
    MF_DEFAULT_FLOATS;
    if (terrain == NULL)
        return 0;
    mf_HeightView view = {
        .height = terrain->height_f64,
        .columns = terrain->columns,
        .rows = terrain->rows,
        .origin = {terrain->origin[0], terrain->origin[1]},
        .inverse_cell = 1.0 / terrain->cell,
    };
    double gradient[2] = {0.0, 0.0};
    double height = terrain->interpolation == MF_BILINEAR
                        ? mf_height_bilinear(&view, x, y, gradient)
                        : mf_height_nearest(&view, x, y);
    if (normal != NULL) {
        // The surface z = h(x, y) has the upward direction (-dh/dx, -dh/dy, 1).
        double length = __builtin_sqrt(gradient[0] * gradient[0] + gradient[1] * gradient[1] + 1.0);
        normal[0] = (0.0 - gradient[0]) / length; // 0 - x, so that flat ground has no -0
        normal[1] = (0.0 - gradient[1]) / length;
        normal[2] = 1.0 / length;
    }
    return height;
}

double mf_terrain_depth(const mf_Terrain *terrain, const double position[3]) {
    if (terrain == NULL)
        return -1e30;
    double normal[3], height = mf_terrain_height(terrain, position[0], position[1], normal);
    double depth = (height - position[2]) * normal[2];
    const double rim = terrain->interpolation == MF_BILINEAR ? 0.5 : 0.0;
    for (int axis = 0; axis < 2 && terrain->border == MF_BORDER_ENDS; axis++) {
        const double cells = axis == 0 ? terrain->columns : terrain->rows;
        const double at = position[axis] - terrain->origin[axis];
        const double low = at - rim * terrain->cell, high = (cells - rim) * terrain->cell - at;
        const double method = low < high ? low : high;
        if (!(method >= 0.0))
            return -1e30;
        depth = method < depth ? method : depth;
    }
    return depth;
}
