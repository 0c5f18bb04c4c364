// Convex hulls of points.
#pragma once

#include <mayfly/base.h>

#include <stdint.h>

typedef struct mf_Hull {
    uint32_t *vertices;      // [1] numbers of points, rising; the context's memory
    uint32_t *triangles;     // [1] 3 numbers of points each, counterclockwise from outside
    uint32_t vertex_count;   // [1]
    uint32_t triangle_count; // [1]
} mf_Hull;

typedef enum mf_HullResult {
    MF_HULL_MADE,
    MF_HULL_FLAT, // the points lie in a plane or a line
    MF_HULL_NO_MEMORY
} mf_HullResult;

// The hull of `count` points of 3 numbers each, which are not changed, of at most `limit` vertices
// where that is more than 4.
mf_HullResult mf_hull_make(mf_Context *context, double *points, uint32_t count, int limit,
                           mf_Hull *out);
