// Maps of nearest cells as columns with level tops and vertical sides.
//
// A point in a column is pushed out to the nearest point in the open: over the top, beyond a side
// towards a lower neighbor, or over an edge of that. The depth is the distance to it, so it does
// not jump as the point moves, and a spring along it holds no more energy than was put in. A ball
// touches the nearest point of each column.
#pragma once

#include "math/lane_vector.h"
#include "terrain/distance_lane.h"

typedef struct StepSurface { // of a position on the map
    mf_lane across, along;   // [1] in cells
    mf_lane column, row;     // [1] its cell
} StepSurface;

// The cell along an axis; beyond the border that of the border, unless the map ends.
static MF_INLINE mf_lane step_cell(const mf_LaneMap *map, mf_lane value, mf_real last) {
    const mf_lane around = mf_set((mf_real)4);
    if (!map->ends)
        return mf_from_index(mf_to_index(mf_map_clamp(value, last)));
    return mf_floor_lane(mf_clamp(value, -around, mf_set(last) + around));
}

static MF_INLINE StepSurface step_position(const mf_LaneMap *map, mf_lane x, mf_lane y) {
    const mf_lane scale = mf_set(map->inverse_cell);
    StepSurface surface = {.across = (x - mf_set(map->origin[0])) * scale,
                           .along = (y - mf_set(map->origin[1])) * scale};
    surface.column = step_cell(map, surface.across, map->last[0]);
    surface.row = step_cell(map, surface.along, map->last[1]);
    return surface;
}

// Height of the cell some cells away.
static MF_INLINE mf_lane step_height(const mf_LaneMap *map, const StepSurface *surface, int columns,
                                     int rows) {
    return mf_map_column(map, surface->column + mf_set((mf_real)columns),
                         surface->row + mf_set((mf_real)rows));
}

// How deep a point is [m], and the normal of the face or edge that it leaves by: the nearest within
// a cell.
static inline mf_lane point_in_steps(const mf_TerrainImage *terrain, Vec point, Vec *normal) {
    const mf_LaneMap map = mf_lane_map(terrain);
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const StepSurface surface = step_position(&map, point.x, point.y);
    const mf_lane depth = step_height(&map, &surface, 0, 0) - point.z;
    const mf_mask inside = mf_less(zero, depth);
    *normal = MF_VALUE(Vec, zero, zero, one);
    if (!mf_any(inside))
        return depth;
    Vec out;
    const mf_lane distance = mf_map_distance(&map, point, (mf_real)0.9 * map.cell, &out);
    *normal = vec_select(inside, out, *normal);
    return mf_select(inside, -distance, depth);
}

// Contacts of a ball with columns around the one under its center.
typedef struct StepContacts {
    mf_mask exists[2];
    mf_lane depth[2]; // [m]
    Vec normal[2];    // [1]
} StepContacts;

// The deepest contact with another column that is higher than the one under the center; of those
// whose normal is nearly `other` in the lanes `known`, none.
static inline void step_deepest(const mf_LaneMap *map, mf_real cell, int reach, Vec center,
                                mf_lane radius, mf_mask known, Vec other, mf_mask *exists,
                                mf_lane *depth, Vec *normal) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), half = mf_set((mf_real)0.5);
    const StepSurface surface = step_position(map, center.x, center.y);
    const mf_lane own = step_height(map, &surface, 0, 0);
    *exists = mf_not(mf_mask_all());
    *depth = mf_set(-MF_REAL_MAX);
    *normal = MF_VALUE(Vec, zero, zero, one);
    for (int i = 0; i < (2 * reach + 1) * (2 * reach + 1); i++) {
        const int x = i % (2 * reach + 1) - reach, y = i / (2 * reach + 1) - reach;
        const mf_lane height = step_height(map, &surface, x, y);
        mf_lane low_x = surface.column + mf_set((mf_real)x),
                low_y = surface.row + mf_set((mf_real)y);
        Vec direction = {surface.across - mf_clamp(surface.across, low_x, low_x + one),
                         surface.along - mf_clamp(surface.along, low_y, low_y + one), zero};
        direction = vec_scale(direction, mf_set(cell));
        direction.z = center.z - mf_min(center.z, height);
        mf_lane square = vec_dot(direction, direction);
        mf_mask fine = mf_and(mf_less(own, height), mf_less(zero, square));
        mf_lane distance = mf_sqrt(mf_select(fine, square, one));
        Vec out = vec_scale(direction, one / distance);
        fine = mf_and(fine, mf_not(mf_and(known, mf_less(half, vec_dot(out, other)))));
        mf_mask better = mf_and(fine, mf_less(*depth, radius - distance));
        *depth = mf_select(better, radius - distance, *depth);
        *normal = vec_select(better, out, *normal);
        *exists = mf_or(*exists, better);
    }
}

static inline void steps_around(const mf_TerrainImage *terrain, Vec center, mf_lane radius,
                                mf_real largest, StepContacts *out) {
    const mf_LaneMap map = mf_lane_map(terrain);
    const mf_real cell = (mf_real)terrain->cell;
    const int reach = 1 + (int)(largest * map.inverse_cell);
    const mf_mask none = mf_not(mf_mask_all());
    step_deepest(&map, cell, reach, center, radius, none, center, &out->exists[0], &out->depth[0],
                 &out->normal[0]);
    step_deepest(&map, cell, reach, center, radius, out->exists[0], out->normal[0], &out->exists[1],
                 &out->depth[1], &out->normal[1]);
}
