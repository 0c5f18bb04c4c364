// Signed distance of points to the ground, for lanes: the distance to the nearest point of the
// surface, negative below it, with its gradient as the normal. The distance is continuous on every
// map, also across edges of cells and creases, so a force along the normal that depends on the
// distance alone has a potential.
//
// Only surface within `reach` of the point is examined: a distance beyond `reach` is at least
// `reach`, and a depth beyond it may be too large, which is at most the height above the point.
//
// - Nearest cells are columns, boxes without a bottom. Above the ground the distance is the
//   least of those to the columns around, below it the least of those to the air over them.
// - On a bilinear map each patch between four centers is (c u, c v, e u + f v + g u v) from its low
//   corner. The least distance over 0 <= u, v <= 1 is found from the nearest point of the tangent
//   plane below the point by minimization along u and v in turn, each of which is exact (coordinate
//   descent; Luenberger and Ye, Linear and Nonlinear Programming, 4th ed. 2016, section 8.6). A
//   level or tilted plane needs none of it.
#pragma once

#include "math/lane_vector.h"
#include "terrain/lookup_lane.h"

// Not inline, because kernels call it from several places, each of which would add to stack and
// size.
#define MAP_APART static __attribute__((noinline, unused))

enum {
    MF_PATCH_SWEEPS = 2,  // [1] minimizations along u and v
    MF_COLUMN_WINDOW = 3, // [1] most columns to each side
    MF_RECENTERINGS = 2   // [1] of a window of patches that is smaller than the reach
};

// The nearest point so far.
typedef struct mf_MapNearest {
    mf_lane square; // [m^2] of its distance
    Vec direction;  // [m] from it to the point
    Vec rise;       // upward normal of the surface there, of any length
} mf_MapNearest;

static MF_INLINE void map_nearer(mf_MapNearest *best, Vec direction, Vec rise) {
    const mf_lane square = vec_dot(direction, direction);
    const mf_mask nearer = mf_less(square, best->square);
    best->square = mf_select(nearer, square, best->square);
    best->direction = vec_select(nearer, direction, best->direction);
    best->rise = vec_select(nearer, rise, best->rise);
}

// ---- nearest cells ------------------------------------------------------------------------------

// `at`: across and along in cells, height in meters; `sign`: 1 above the ground, -1 below it.
MAP_APART void map_near_columns(const mf_LaneMap *map, Vec at, mf_lane sign, int cells,
                                mf_MapNearest *best) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), cell = mf_set(map->cell);
    const mf_lane column = mf_floor_lane(at.x), row = mf_floor_lane(at.y);
    for (int y = -cells; y <= cells; y++)
        for (int x = -cells; x <= cells; x++) {
            const mf_lane low_x = column + mf_set((mf_real)x), low_y = row + mf_set((mf_real)y);
            const mf_lane over = (at.z - mf_map_column(map, low_x, low_y)) * sign;
            const Vec direction = {(at.x - mf_clamp(at.x, low_x, low_x + one)) * cell,
                                   (at.y - mf_clamp(at.y, low_y, low_y + one)) * cell,
                                   mf_max(over, zero) * sign};
            map_nearer(best, direction, MF_VALUE(Vec, zero, zero, one));
        }
}

// ---- patches ------------------------------------------------------------------------------------

typedef struct mf_MapPatch {
    mf_lane low;     // [m] height of the low corner
    mf_lane e, f, g; // [m]
} mf_MapPatch;

static MF_INLINE mf_MapPatch map_patch(const mf_LaneMap *map, mf_lane column, mf_lane row) {
    const mf_lane one = mf_set((mf_real)1);
    const mf_lane low = mf_map_nearest(map, column, row),
                  right = mf_map_nearest(map, column + one, row);
    const mf_lane up = mf_map_nearest(map, column, row + one),
                  far = mf_map_nearest(map, column + one, row + one);
    return MF_VALUE(mf_MapPatch, low, right - low, up - low, (far - right) - (up - low));
}

// The nearest point of one patch to (x, y, z) [m] from its low corner at height 0.
static MF_INLINE void map_near_patch(const mf_LaneMap *map, const mf_MapPatch *patch, Vec at,
                                     mf_MapNearest *best) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), c = mf_set(map->cell);
    const mf_lane scale = mf_set(map->inverse_cell), square = c * c;
    const mf_lane x = at.x * scale, y = at.y * scale, z = at.z - patch->low;
    mf_lane u = mf_clamp(x, zero, one), v = mf_clamp(y, zero, one);
    // The tangent plane there: slopes m, k per edge of a cell.
    mf_lane m = mf_fma(patch->g, v, patch->e), k = mf_fma(patch->g, u, patch->f);
    mf_lane gap = z - mf_fma(m, u, patch->f * v);
    gap = gap - mf_fma(m, x - u, k * (y - v));
    const mf_lane share = gap / mf_fma(m, m, mf_fma(k, k, square));
    u = mf_clamp(mf_fma(m, share, x), zero, one);
    v = mf_clamp(mf_fma(k, share, y), zero, one);
    for (int sweep = 0; sweep < MF_PATCH_SWEEPS; sweep++) {
        k = mf_fma(patch->g, u, patch->f);
        v = mf_fma(k, z - patch->e * u, square * y) / mf_fma(k, k, square);
        v = mf_clamp(v, zero, one);
        m = mf_fma(patch->g, v, patch->e);
        u = mf_fma(m, z - patch->f * v, square * x) / mf_fma(m, m, square);
        u = mf_clamp(u, zero, one);
    }
    k = mf_fma(patch->g, u, patch->f);
    const mf_lane height = mf_fma(m, u, patch->f * v);
    map_nearer(best, MF_VALUE(Vec, (x - u) * c, (y - v) * c, z - height),
               MF_VALUE(Vec, -m * scale, -k * scale, one));
}

// `at` as above; the patches are those around `center`, `half` [1] to each side.
MAP_APART void map_near_patches(const mf_LaneMap *map, Vec at, Vec center, mf_real half,
                                mf_MapNearest *best) {
    const mf_lane zero = mf_zero(), less = mf_set((mf_real)0.5 + half), c = mf_set(map->cell);
    const mf_lane middle = mf_set((mf_real)0.5);
    const mf_lane column = mf_floor_lane(center.x - less), row = mf_floor_lane(center.y - less);
    const int count = (int)(half + half) + 2;
    for (int j = 0; j < count; j++)
        for (int i = 0; i < count; i++) {
            mf_lane low_x = column + mf_set((mf_real)i), low_y = row + mf_set((mf_real)j);
            if (map->ends) {
                low_x = mf_clamp(low_x, zero, mf_set(map->last[0] - 1));
                low_y = mf_clamp(low_y, zero, mf_set(map->last[1] - 1));
            }
            const mf_MapPatch patch = map_patch(map, low_x, low_y);
            const Vec from = {((at.x - middle) - low_x) * c, ((at.y - middle) - low_y) * c, at.z};
            map_near_patch(map, &patch, from, best);
        }
}

// Within the map and somewhat around it.
static MF_INLINE Vec map_within(const mf_LaneMap *map, Vec at) {
    const mf_lane around = mf_set((mf_real)MF_COLUMN_WINDOW + 1);
    at.x = mf_clamp(at.x, -around, mf_set(map->last[0] + 1) + around);
    at.y = mf_clamp(at.y, -around, mf_set(map->last[1] + 1) + around);
    return at;
}

// Moves a position, as above, to the nearest point of the plane that touches the ground there.
MAP_APART void map_recenter(const mf_LaneMap *map, Vec at, Vec *center) {
    const mf_lane one = mf_set((mf_real)1), scale = mf_set(map->inverse_cell);
    mf_lane x, y, height = mf_map_bilinear(map, center->x, center->y, &x, &y);
    const mf_lane over = (at.z - height) * scale;
    const mf_lane gap = over - mf_fma(x, at.x - center->x, y * (at.y - center->y));
    const mf_lane share = gap / mf_fma(x, x, mf_fma(y, y, one));
    center->x = mf_fma(x, share, at.x);
    center->y = mf_fma(y, share, at.y);
    *center = map_within(map, *center);
}

// Below a bilinear map that ends, the nearest exit may be across its border.
static MF_INLINE void map_near_border(const mf_LaneMap *map, Vec at, mf_lane sign,
                                      mf_MapNearest *best) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), cell = mf_set(map->cell);
    const mf_lane border = mf_set((mf_real)0.5);
    const mf_mask below = mf_less(sign, zero);
    for (int side = 0; side < 4; side++) {
        const mf_lane value = side < 2 ? at.x : at.y, last = mf_set(map->last[side / 2]);
        const mf_lane distance = (value - (side & 1 ? last + one - border : border)) * cell;
        const Vec from = {side < 2 ? distance : zero, side < 2 ? zero : distance, zero};
        mf_MapNearest other = *best;
        map_nearer(&other, from, best->rise);
        best->square = mf_select(below, other.square, best->square);
        best->direction = vec_select(below, other.direction, best->direction);
    }
}

// ---- distance -----------------------------------------------------------------------------------

// Signed distance [m] of a point of the world, and the unit normal.
MAP_APART mf_lane mf_map_distance(const mf_LaneMap *map, Vec at, mf_real reach, Vec *normal) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), scale = mf_set(map->inverse_cell);
    *normal = MF_VALUE(Vec, zero, zero, one);
    if (map->level)
        return at.z - mf_set(map->highest);
    mf_lane slope_x, slope_y;
    const mf_lane over = at.z - mf_map_surface(map, at.x, at.y, &slope_x, &slope_y);
    const mf_lane sign = mf_select(mf_less(over, zero), -one, one);
    const mf_real half = reach * map->inverse_cell;
    const Vec cells = {(at.x - mf_set(map->origin[0])) * scale,
                       (at.y - mf_set(map->origin[1])) * scale, at.z};
    // If a map continues beyond its border, any position there is valid.
    const Vec near = map_within(map, cells), from = map->ends ? cells : near;
    mf_MapNearest best = {over * over, MF_VALUE(Vec, zero, zero, over),
                          MF_VALUE(Vec, -slope_x, -slope_y, one)};
    if (!map->bilinear) {
        const bool wide = half >= (mf_real)MF_COLUMN_WINDOW;
        map_near_columns(map, near, sign, wide ? MF_COLUMN_WINDOW : (int)half + 1, &best);
    } else {
        Vec center = near;
        for (int i = 0; i < MF_RECENTERINGS && half >= 1; i++)
            map_recenter(map, near, &center);
        map_near_patches(map, from, center, half < 1 ? half : (mf_real)0.99, &best);
    }
    if (map->ends && map->bilinear)
        map_near_border(map, cells, sign, &best);
    const mf_lane distance = mf_sqrt(best.square);
    const mf_lane size = mf_abs(at.x) + mf_abs(at.y) + mf_abs(at.z);
    // On the surface the offset has no direction.
    const mf_mask apart = mf_less(size * mf_set(64 * MF_REAL_EPSILON), distance);
    const mf_lane share = one / mf_sqrt(vec_dot(best.rise, best.rise));
    *normal = vec_select(apart, vec_scale(best.direction, sign / mf_select(apart, distance, one)),
                         vec_scale(best.rise, share));
    return distance * sign;
}
