// The height-map look-up: one convention for the double-precision query, which is here, and for the
// kernels (lookup_lane.h).
//
// Let last = columns - 1 and clamp(v) = min(max(v, 0), last), written with selects as
// `v > 0 ? v : 0` and `v < last ? v : last`, so that NaN becomes 0, -inf 0 and +inf last. The
// clamp comes before the conversion to an integer: no value of x can make that undefined.
// (y and rows alike.)
//
//   nearest    column = truncate(clamp((x - origin_x) * inverse_cell))
//              which is the floor, clamped to the map, because the clamped value is never negative.
//   bilinear   u  = (x - origin_x) * inverse_cell - 0.5       cell centers lie at whole u
//              c  = clamp(u)
//              i  = min(truncate(c), max(columns - 2, 0))
//              f  = c - i                                     in [0, 1]
//              hx0 = h(i, j)   + f * (h(i+1, j)   - h(i, j))      with i+1 -> i when columns = 1
//              hx1 = h(i, j+1) + f * (h(i+1, j+1) - h(i, j+1))    with j+1 -> j when rows = 1
//              h   = hx0 + g * (hx1 - hx0)                        g is f of the y axis
//   gradient   dh/dx = (d0 + g * (d1 - d0)) * inverse_cell, d0 and d1 the brackets above,
//              dh/dy = (hx1 - hx0) * inverse_cell;
//              a component is 0 where its axis was clamped (c != u, so also for NaN): there the
//              border value holds and the surface does not change along that axis.
//
// Flat ground stays exact, since h + f * 0 = h. The order of operations is part of the convention;
// with -ffp-contract=off the bits are the same on every machine. float needs last to be exact,
// so sides are limited to MF_TERRAIN_SIDE_LIMIT.
//
// Source: bilinear interpolation on a regular grid, e.g. Press, Teukolsky, Vetterling, Flannery,
// Numerical Recipes, 3rd ed. (2007), section 3.6.
#pragma once

#include <mayfly/terrain.h>
#include <stdint.h>

#define MF_TERRAIN_SIDE_LIMIT (UINT32_C(1) << 24) // largest columns or rows; last < 2^24 in float
#define MF_TERRAIN_CELL_LIMIT (UINT64_C(1) << 26) // largest columns * rows

// The map as a look-up reads it.
typedef struct mf_HeightView {
    const double *height; // [m] rows*columns, row after row
    uint32_t columns;     // [1] 1 .. MF_TERRAIN_SIDE_LIMIT
    uint32_t rows;        // [1] 1 .. MF_TERRAIN_SIDE_LIMIT
    double origin[2];     // [m] world x, y of the low corner of cell (0, 0)
    double inverse_cell;  // [1/m] 1 / edge of a cell
} mf_HeightView;

// `value` in [0, last]; NaN gives 0.
static inline double mf_height_clamp(double value, double last) {
    double positive = value > 0 ? value : 0;
    return positive < last ? positive : last;
}

// Index of the cell that holds `position` along one axis of `count` cells. Any value is fine.
static inline uint32_t mf_height_index(double position, double origin, double inverse_cell,
                                       uint32_t count) {
    double value = (position - origin) * inverse_cell;
    return (uint32_t)mf_height_clamp(value, (double)(count - 1));
}

// Height [m] of the cell that holds (x, y) [m].
static inline double mf_height_nearest(const mf_HeightView *view, double x, double y) {
    uint32_t column = mf_height_index(x, view->origin[0], view->inverse_cell, view->columns);
    uint32_t row = mf_height_index(y, view->origin[1], view->inverse_cell, view->rows);
    return view->height[(uint64_t)row * view->columns + column];
}

// Where a position lies between two cell centers along one axis.
typedef struct mf_HeightSpan {
    uint32_t index;  // [1] the lower cell
    uint32_t next;   // [1] distance to the upper cell: 1, or 0 on an axis of one cell
    double fraction; // [1] 0 .. 1 from the lower to the upper center
    double inside;   // [1] 1 between the outermost centers, 0 where the border value holds
} mf_HeightSpan;

static inline mf_HeightSpan mf_height_span(double position, double origin, double inverse_cell,
                                           uint32_t count) {
    mf_HeightSpan span;
    double value = (position - origin) * inverse_cell - 0.5;
    double clamped = mf_height_clamp(value, (double)(count - 1));
    uint32_t highest_lower = count > 1 ? count - 2 : 0;
    uint32_t lower = (uint32_t)clamped;
    span.index = lower < highest_lower ? lower : highest_lower;
    span.next = count > 1;
    span.fraction = clamped - (double)span.index;
    span.inside = clamped == value ? 1 : 0;
    return span;
}

// Height [m] between the four nearest cell centers; `gradient` gets (dh/dx, dh/dy) [1].
static inline double mf_height_bilinear(const mf_HeightView *view, double x, double y,
                                        double gradient[2]) {
    mf_HeightSpan across = mf_height_span(x, view->origin[0], view->inverse_cell, view->columns);
    mf_HeightSpan along = mf_height_span(y, view->origin[1], view->inverse_cell, view->rows);
    const double *low = view->height + (uint64_t)along.index * view->columns + across.index;
    const double *high = low + (uint64_t)along.next * view->columns;
    double low_rise = low[across.next] - low[0];
    double high_rise = high[across.next] - high[0];
    double low_height = low[0] + across.fraction * low_rise;
    double high_height = high[0] + across.fraction * high_rise;
    double rise = high_height - low_height;
    gradient[0] =
        (low_rise + along.fraction * (high_rise - low_rise)) * view->inverse_cell * across.inside;
    gradient[1] = rise * view->inverse_cell * along.inside;
    return low_height + along.fraction * rise;
}

// How deep a position [m] is in the ground: along the normal, or to the nearest border of a map
// that ends. [m] Negative above it; -1e30: there is no ground. As above for any double.
double mf_terrain_depth(const mf_Terrain *terrain, const double position[3]);

// The distance [m] along the ray from `origin` [m] along the unit vector `direction` at which it
// first goes from above the ground to below it; INFINITY where it does not within `reach` [m],
// which may be INFINITY. `normal` [1] gets the ground's there: of the wall between two cells of a
// map of MF_NEAREST, the wall's. A ray that begins below the ground hits it only after it has come
// out of it.
double mf_terrain_ray(const mf_Terrain *terrain, const double origin[3], const double direction[3],
                      double reach, double normal[3]);
