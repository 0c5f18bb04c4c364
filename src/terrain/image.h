// A height map as kernels read it: a flat image (base/flat.h). Every terrain has one, with the
// heights that its own pointers show.
#pragma once

#include "base/flat.h"
#include "math/dialect.h"

#include <mayfly/terrain.h>

// Members as in mf_Terrain.
typedef struct mf_TerrainImage {
    uint32_t bytes;
    uint32_t columns, rows;     // [1]
    bool bilinear;              // else the nearest cell
    bool ends, level;           // as in mf_LaneMap
    double cell, inverse_cell;  // [m], [1/m]
    double origin[2];           // [m]
    double lowest, highest;     // [m]
    MF_FLAT_ARRAY(heights_f64); // [m] columns * rows, row after row
    MF_FLAT_ARRAY(heights_f32); // [m] the same
} mf_TerrainImage;
MF_FLAT_INDEXED(mf_TerrainImage, mf_terrain_image, double, heights_f64)
MF_FLAT_INDEXED(mf_TerrainImage, mf_terrain_image, float, heights_f32)

// What a terrain's memory begins with; the heights follow.
typedef struct mf_TerrainBlock {
    mf_Terrain terrain;
    MF_ALIGNED(64) mf_TerrainImage image;
} mf_TerrainBlock;

static inline const mf_TerrainImage *mf_terrain_image(const mf_Terrain *terrain) {
    return &((const mf_TerrainBlock *)(const void *)terrain)->image;
}

// The same height everywhere, without an end.
static inline bool mf_terrain_level(const mf_Terrain *terrain) {
    return mf_terrain_image(terrain)->level;
}
