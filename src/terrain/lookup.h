// The height-map look-up: one convention for the double-precision query and for the kernels.
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
#ifndef MAYFLY_TERRAIN_LOOKUP_H
#define MAYFLY_TERRAIN_LOOKUP_H

#include <mayfly/terrain.h>
#include <stdint.h>

#define MF_TERRAIN_SIDE_LIMIT (UINT32_C(1) << 24) // largest columns or rows; last < 2^24 in float
#define MF_TERRAIN_CELL_LIMIT (UINT64_C(1) << 26) // largest columns * rows

#define MF_REAL double
#define MF_REAL_NAME(name) name##_f64
#include "terrain/lookup_real.h"
#undef MF_REAL
#undef MF_REAL_NAME

#define MF_REAL float
#define MF_REAL_NAME(name) name##_f32
#include "terrain/lookup_real.h"
#undef MF_REAL
#undef MF_REAL_NAME

// How deep a position [m] is in the ground: along the normal, or to the nearest border of a map
// that ends. [m] Negative above it; -1e30: there is no ground. As above for any double.
double mf_terrain_depth(const mf_Terrain *terrain, const double position[3]);

#endif
