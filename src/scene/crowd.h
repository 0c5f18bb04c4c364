// Spatial hash of spheres: cubic cells, each with the list of the spheres whose center is in it.
// Two spheres overlap if their centers are nearer than the sum of their radii.
#ifndef MAYFLY_SRC_SCENE_CROWD_H
#define MAYFLY_SRC_SCENE_CROWD_H

#include <mayfly/base.h>

typedef struct mf_Crowd {
    mf_Context *context;
    double cell;          // [m] at least twice the largest radius
    uint32_t capacity;    // [1]
    uint32_t count;       // [1]
    uint32_t mask;        // [1] heads - 1
    double (*spheres)[4]; // [m] x, y, z, radius
    uint32_t *next;       // [1] next sphere with the same hash; UINT32_MAX: last
    uint32_t *heads;      // [1]
} mf_Crowd;

// Room for `capacity` spheres of a radius up to `largest` [m] > 0.
mf_Status mf_crowd_create(mf_Context *context, uint32_t capacity, double largest, mf_Crowd *out,
                          mf_Error *error);
void mf_crowd_free(mf_Crowd *crowd);

// Adds a sphere (there must be capacity); its index is crowd->count before the call.
void mf_crowd_add(mf_Crowd *crowd, const double center[3], double radius);

// The lowest index of a sphere that overlaps this one, UINT32_MAX: none.
uint32_t mf_crowd_overlaps(const mf_Crowd *crowd, const double center[3], double radius);

#endif
