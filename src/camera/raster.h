// One picture's rays and what they meet first: depth and face of each pixel, in lanes of pixels
// (raster_float_kernel.c).
//
// Every ray is exact for its lens: nothing is projected and resampled. A triangle is met where the
// ray is on the same side of the planes through the camera and its three edges (Olano and Greer
// 1997, "Triangle scan conversion using 2D homogeneous coordinates"), which needs no clipping and
// leaves no gap between triangles that share an edge; solids are met at the roots of their
// equations.
//
// Vectors are in optical axes: x to the right, y down, z forward.
#pragma once

#include "math/kernel.h"

#include <stddef.h>
#include <stdint.h>

enum { MF_RASTER_SKY, MF_RASTER_GROUND, MF_RASTER_FIRST }; // faces; those of things begin behind

enum { MF_RASTER_RUN = 16 }; // [pixel] of which rows are whole multiples

typedef struct mf_Raster {
    uint32_t width, height, stride; // [pixel] stride: of a row, a multiple of MF_RASTER_RUN
    const float *ray[3];            // [1] point of depth 1; zeros: the pixel sees nothing
    uint32_t top, bottom;           // [pixel] rows top .. bottom - 1 are drawn
    float *depth;                   // [m] of the nearest so far, at the start the farthest
    float *face;                    // [1] its number, exact below 2^24
    float nearest;                  // [m]
} mf_Raster;

// Columns left .. right - 1 and rows top .. bottom - 1.
typedef struct mf_RasterRect {
    uint32_t left, right, top, bottom; // [pixel]
} mf_RasterRect;

typedef struct mf_RasterTriangle {
    float edge[3][3]; // [m^2] normals of the planes through the edges, inwards
    float plane[3];   // [1] normal of the triangle
    float distance;   // [m] of its plane along that normal
    float face;
    mf_RasterRect rect;
} mf_RasterTriangle;

typedef enum mf_RasterType {
    MF_RASTER_BALL,  // of radius 1
    MF_RASTER_TUBE,  // of radius 1 along z, from -half to half
    MF_RASTER_PILL,  // the same with half balls
    MF_RASTER_BRICK, // from -1 to 1
    MF_RASTER_FLAT   // a triangle, of shadows alone
} mf_RasterType;

// A solid in its own coordinates: axes applied to a vector, minus the center.
typedef struct mf_RasterSolid {
    mf_RasterType type;
    float axes[9], center[3], half;
    float face;
    mf_RasterRect rect;
} mf_RasterSolid;

// A plane, seen from above: a level ground, but for a rectangle of the world that something else
// fills.
typedef struct mf_RasterGround {
    float down[3]; // [1]
    float height;  // [m] of the camera above it
    float face;
    float axes[2][3], position[2]; // [m] the world's x and y
    float low[2], high[2];         // [m] the hole; low > high: none
} mf_RasterGround;

// What may be between a point and the light.
typedef struct mf_RasterBlock {
    mf_RasterType type;
    float axes[9], center[3], half; // as in mf_RasterSolid; of a triangle axes are its corners [m]
    float direction[3];             // [1] towards the light, in its coordinates
    float at[3], radius;            // [m] a ball around it, in the light's axes
} mf_RasterBlock;

// Part of a picture, in whole runs, and what may shade it.
typedef struct mf_RasterTile {
    mf_RasterRect rect;
    float axes[3][3]; // [1] of the light: across, across, towards it
    const mf_RasterBlock *blocks;
    const uint32_t *list; // of blocks
    uint32_t count;       // [1]
    float *lit;           // [1] 0: in the shadow, else 1
} mf_RasterTile;

typedef void (*mf_RasterTrianglesFn)(const mf_Raster *, const mf_RasterTriangle *, uint32_t);
typedef void (*mf_RasterSolidFn)(const mf_Raster *, const mf_RasterSolid *);
typedef void (*mf_RasterGroundFn)(const mf_Raster *, const mf_RasterGround *);
MF_KERNEL_COPIES(void, mf_raster_triangles,
                 (const mf_Raster *raster, const mf_RasterTriangle *triangles, uint32_t count));
MF_KERNEL_COPIES(void, mf_raster_solid, (const mf_Raster *raster, const mf_RasterSolid *solid));
MF_KERNEL_COPIES(void, mf_raster_ground, (const mf_Raster *raster, const mf_RasterGround *ground));

// The least and the greatest coordinate of what is seen, but the sky, in the light's axes; low >
// high: there is nothing else.
typedef void (*mf_RasterSpanFn)(const mf_Raster *, const mf_RasterTile *, float[3], float[3]);
typedef void (*mf_RasterShadowFn)(const mf_Raster *, const mf_RasterTile *);
MF_KERNEL_COPIES(void, mf_raster_span,
                 (const mf_Raster *raster, const mf_RasterTile *tile, float low[3], float high[3]));
MF_KERNEL_COPIES(void, mf_raster_shadow, (const mf_Raster *raster, const mf_RasterTile *tile));
