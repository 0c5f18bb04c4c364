// Mayfly: height maps, the ground of a world.
#pragma once

#include <mayfly/model.h>

typedef enum mf_Interpolation {
    MF_NEAREST,  // the height of the cell that contains (x, y); the normal is straight up
    MF_BILINEAR, // between the four nearest cell centers, with the normal of that surface
    // In settings only: MF_NEAREST for flat ground, steps and a single cell, else MF_BILINEAR.
    MF_INTERPOLATION_AUTO
} mf_Interpolation;

typedef enum mf_Border {
    MF_BORDER_CONTINUES, // the border value holds outside of the map, without end
    // There is no ground outside of the map: robots and particles fall. A bilinear map ends at its
    // outermost centers, one of nearest cells at their edges.
    MF_BORDER_ENDS
} mf_Border;

// A height map over a rectangle of square cells. Cell (column, row) covers
// [origin_x + column*cell, +cell) x [origin_y + row*cell, +cell); its height belongs to its
// center. Frozen after creation and shared by all threads.
typedef struct mf_Terrain {
    uint32_t columns;               // [1] cells along x, >= 1
    uint32_t rows;                  // [1] cells along y, >= 1
    double cell;                    // [m] edge of a cell, > 0
    double origin[2];               // [m] world x, y of the low corner of cell (0, 0)
    double lowest;                  // [m] smallest height
    double highest;                 // [m] largest height
    mf_Interpolation interpolation; // MF_NEAREST or MF_BILINEAR
    mf_Border border;
    const float *height_f32;  // [m] rows*columns, row after row, owned by the terrain
    const double *height_f64; // [m] the same heights, as given
    mf_Context *context;      // the context that owns the memory
} mf_Terrain;

typedef struct mf_TerrainConfig {
    uint32_t struct_size;           // [byte] set by mf_terrain_config()
    uint32_t columns;               // [1] 1 .. 2^13 for generators and arrays
    uint32_t rows;                  // [1]
    double cell;                    // [m] default 0.1
    double origin[2];               // [m] default NAN = centered on the world origin
    mf_Interpolation interpolation; // default MF_INTERPOLATION_AUTO
    mf_Border border;               // default MF_BORDER_CONTINUES
} mf_TerrainConfig;

// The defaults of mf_TerrainConfig: every configuration starts from them.
MF_API mf_TerrainConfig mf_terrain_config(void);

// From rows*columns heights [m], row after row (row 0 at the lowest y). Copied. Every height must
// be finite and |height| <= 1e6.
MF_API mf_Status mf_terrain_from_array(mf_Context *context, const mf_TerrainConfig *config,
                                       const double *heights, mf_Terrain **out, mf_Error *error);

// From an 8- or 16-bit gray PNG or a binary or ASCII PGM (P5, P2); the kind is recognized by
// content. height = offset + scale * gray / largest gray. Image row 0 is the highest y. Size comes
// from the image; config->columns and rows are ignored.
MF_API mf_Status mf_terrain_load(mf_Context *context, const char *path,
                                 const mf_TerrainConfig *config, double scale, double offset,
                                 mf_Terrain **out, mf_Error *error);

typedef enum mf_TerrainShape {
    MF_TERRAIN_FLAT,  // height = amplitude everywhere
    MF_TERRAIN_SLOPE, // height = x * tan(amplitude [rad])
    MF_TERRAIN_STEPS, // stairs along +x: height = amplitude [m] * floor(x / wavelength)
    MF_TERRAIN_SINE,  // amplitude * sin(2 pi x / wavelength) * cos(2 pi y / wavelength)
    MF_TERRAIN_NOISE  // fractal value noise by seed within +-amplitude, octaves halved each time
} mf_TerrainShape;

typedef struct mf_TerrainGenerator {
    mf_TerrainShape shape;
    double amplitude;  // [m], for slopes [rad]
    double wavelength; // [m] > 0, used by steps, sine and noise
    uint32_t octaves;  // [1] 1 .. 12, used by noise
    uint64_t seed;     // [1] used by noise
} mf_TerrainGenerator;

// Makes a height map. Free with mf_terrain_destroy.
MF_API mf_Status mf_terrain_generate(mf_Context *context, const mf_TerrainConfig *config,
                                     const mf_TerrainGenerator *generator, mf_Terrain **out,
                                     mf_Error *error);

// The ground of a model's file: its first level plane and its height fields that are level, fixed
// in the world and collide, the highest of them at each position. *out is NULL if it has none.
// Bilinear; beyond the fields the plane continues, or else the ground ends.
MF_API mf_Status mf_terrain_from_model(mf_Context *context, const mf_Model *model, mf_Terrain **out,
                                       mf_Error *error);

MF_API void mf_terrain_destroy(mf_Terrain *terrain); // NULL is fine

// Hash over size, position, interpolation and heights.
MF_API uint64_t mf_terrain_hash(const mf_Terrain *terrain);

// Height [m] at world (x, y) [m], outside the map that of its border, and, when `normal` is not
// NULL, the unit normal there. Defined for every double: NaN is read as -infinity, and infinities
// and huge values as the border.
MF_API double mf_terrain_height(const mf_Terrain *terrain, double x, double y, double normal[3]);
