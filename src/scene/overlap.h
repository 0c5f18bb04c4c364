// Spatial hash of spheres: cubic cells, each with the list of the spheres whose center is in it.
// Two spheres overlap if their centers are nearer than the sum of their radii.
#pragma once

#include <mayfly/base.h>

typedef struct mf_OverlapGrid {
    mf_Context *context;
    double cell;          // [m] at least twice the largest radius
    uint32_t capacity;    // [1]
    uint32_t count;       // [1]
    uint32_t mask;        // [1] heads - 1
    double (*spheres)[4]; // [m] x, y, z, radius
    uint32_t *next;       // [1] next sphere with the same hash; UINT32_MAX: last
    uint32_t *heads;      // [1]
} mf_OverlapGrid;

// Space for `capacity` spheres of a radius up to `largest` [m] > 0.
mf_Status mf_overlap_create(mf_Context *context, uint32_t capacity, double largest,
                            mf_OverlapGrid *out, mf_Error *error);
void mf_overlap_free(mf_OverlapGrid *grid);

// Adds a sphere (there must be space); its index is grid->count before the call.
void mf_overlap_add(mf_OverlapGrid *grid, const double center[3], double radius);

// The lowest index of a sphere that overlaps this one, UINT32_MAX: none.
uint32_t mf_overlap_test(const mf_OverlapGrid *grid, const double center[3], double radius);
