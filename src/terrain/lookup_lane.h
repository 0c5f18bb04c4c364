// The height-map look-up of terrain/lookup.h for lanes: the same operations in the same order, so
// the same bits as the scalar reference.
#pragma once

#include "math/lane.h"

#include "terrain/image.h"

// A map in the kernel's precision.
typedef struct mf_LaneMap {
    const mf_real *height; // [m] row after row
    int32_t columns;       // [1]
    mf_real last[2];       // [1] columns - 1, rows - 1
    mf_real origin[2];     // [m]
    mf_real inverse_cell;  // [1/m]
    mf_real cell, highest; // [m]
    bool bilinear;
    bool level; // the same height everywhere
    bool ends;  // there is nothing beyond its border
} mf_LaneMap;

// [m] The ground where there is none.
#define MF_MAP_HOLE ((mf_real)-1e8)

static inline mf_LaneMap mf_lane_map(const mf_TerrainImage *image) {
    mf_LaneMap map = {.columns = (int32_t)image->columns,
                      .last = {(mf_real)(image->columns - 1), (mf_real)(image->rows - 1)},
                      .origin = {(mf_real)image->origin[0], (mf_real)image->origin[1]},
                      .inverse_cell = (mf_real)image->inverse_cell,
                      .cell = (mf_real)image->cell,
                      .highest = (mf_real)image->highest,
                      .bilinear = image->bilinear,
                      .level = image->level,
                      .ends = image->ends};
#if defined(MF_KERNEL_F64)
    map.height = mf_terrain_image_heights_f64(image);
#else
    map.height = mf_terrain_image_heights_f32(image);
#endif
    return map;
}

// `value` in [0, last]; NaN gives 0.
static inline mf_lane mf_map_clamp(mf_lane value, mf_real last) {
    return mf_min(mf_max(value, mf_zero()), mf_set(last));
}

static inline mf_lane mf_map_nearest(const mf_LaneMap *map, mf_lane across, mf_lane along) {
    mf_index column = mf_to_index(mf_map_clamp(across, map->last[0]));
    mf_index row = mf_to_index(mf_map_clamp(along, map->last[1]));
    return mf_gather(map->height, row * mf_set_index(map->columns) + column);
}

// Height of the cell at whole coordinates.
static inline mf_lane mf_map_column(const mf_LaneMap *map, mf_lane column, mf_lane row) {
    const mf_lane zero = mf_zero(), height = mf_map_nearest(map, column, row);
    if (!map->ends)
        return height;
    const mf_mask low = mf_or(mf_less(column, zero), mf_less(row, zero));
    const mf_mask high =
        mf_or(mf_less(mf_set(map->last[0]), column), mf_less(mf_set(map->last[1]), row));
    return mf_select(mf_or(low, high), mf_set(MF_MAP_HOLE), height);
}

typedef struct mf_MapSpan {
    mf_index index;   // [1] the lower of two cells
    mf_lane fraction; // [1] 0 .. 1 from its center to the next
    mf_lane inside;   // [1] 1 between the outermost centers, 0 where the border value holds
} mf_MapSpan;

static inline mf_MapSpan mf_map_span(mf_lane value, mf_real last) {
    mf_lane at = value - mf_set((mf_real)0.5), clamped = mf_map_clamp(at, last);
    mf_lane highest = mf_set(last > 0 ? last - 1 : 0);
    mf_lane lower = mf_min(mf_from_index(mf_to_index(clamped)), highest);
    mf_mask inside = mf_and(mf_less_equal(at, clamped), mf_less_equal(clamped, at));
    return MF_VALUE(mf_MapSpan, mf_to_index(lower), clamped - lower,
                    mf_keep(inside, mf_set((mf_real)1)));
}

// `slope_x` and `slope_y` get the gradient [1].
static inline mf_lane mf_map_bilinear(const mf_LaneMap *map, mf_lane across, mf_lane along,
                                      mf_lane *slope_x, mf_lane *slope_y) {
    mf_MapSpan x = mf_map_span(across, map->last[0]), y = mf_map_span(along, map->last[1]);
    mf_index right = mf_set_index(map->last[0] > 0 ? 1 : 0);
    mf_index up = mf_set_index(map->last[1] > 0 ? map->columns : 0);
    mf_index low = y.index * mf_set_index(map->columns) + x.index, high = low + up;
    mf_lane low_left = mf_gather(map->height, low), high_left = mf_gather(map->height, high);
    mf_lane low_rise = mf_gather(map->height, low + right) - low_left;
    mf_lane high_rise = mf_gather(map->height, high + right) - high_left;
    mf_lane low_height = low_left + x.fraction * low_rise;
    mf_lane high_height = high_left + x.fraction * high_rise;
    mf_lane rise = high_height - low_height, scale = mf_set(map->inverse_cell);
    *slope_x = (low_rise + y.fraction * (high_rise - low_rise)) * scale * x.inside;
    *slope_y = rise * scale * y.inside;
    return low_height + y.fraction * rise;
}

// `height` where a map that ends has ground: between the outermost centers where it is bilinear,
// else on its cells.
static inline mf_lane mf_map_end(const mf_LaneMap *map, mf_lane across, mf_lane along,
                                 mf_lane height) {
    const mf_real border = map->bilinear ? (mf_real)0.5 : (mf_real)0;
    const mf_lane low = mf_set(border), one = mf_set((mf_real)1);
    mf_mask in_x =
        mf_and(mf_less_equal(low, across), mf_less_equal(across, mf_set(map->last[0]) + one - low));
    mf_mask in_y =
        mf_and(mf_less_equal(low, along), mf_less_equal(along, mf_set(map->last[1]) + one - low));
    return mf_select(mf_and(in_x, in_y), height, mf_set(MF_MAP_HOLE));
}

// Height [m] and gradient [1] at world (x, y) [m]; any value of x and y is fine.
static inline mf_lane mf_map_surface(const mf_LaneMap *map, mf_lane x, mf_lane y, mf_lane *slope_x,
                                     mf_lane *slope_y) {
    mf_lane scale = mf_set(map->inverse_cell);
    mf_lane across = (x - mf_set(map->origin[0])) * scale;
    mf_lane along = (y - mf_set(map->origin[1])) * scale;
    mf_lane height;
    if (map->bilinear) {
        height = mf_map_bilinear(map, across, along, slope_x, slope_y);
    } else {
        *slope_x = *slope_y = mf_zero();
        height = mf_map_nearest(map, across, along);
    }
    return map->ends ? mf_map_end(map, across, along, height) : height;
}

static inline mf_lane mf_map_height(const mf_LaneMap *map, mf_lane x, mf_lane y) {
    mf_lane slope_x, slope_y;
    return mf_map_surface(map, x, y, &slope_x, &slope_y);
}
