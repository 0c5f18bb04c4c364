// Polygons of mesh files as triangles.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MF_POLYGON_CORNERS 16384u           // [1] most of a polygon
#define MF_POLYGON_WORK (UINT64_C(1) << 32) // [1] most tests of all polygons of a file

typedef struct mf_Polygon {
    uint32_t *ring;    // [1] space for the corners: points
    uint32_t *next;    // [1] likewise, of the corner that follows
    double (*flat)[2]; // likewise, in the polygon's plane
    uint64_t work;     // [1] tests so far
} mf_Polygon;

// Cuts the polygon of the first `count` points of `polygon->ring` (3 floats each in `points`) into
// `count` - 2 triangles, all of them turned as it is, and stores 3 points for each in `out`. Of a
// convex one of four corners the shorter diagonal is the cut. False: MF_POLYGON_WORK is over.
bool mf_polygon_cut(mf_Polygon *polygon, const float *points, uint32_t count, uint32_t *out);
