// Creation of a terrain: checked settings, one allocation, heights written, then frozen. Shared by
// arrays, generators and the importers, which are in another library (hence MF_API).
#pragma once

#include <mayfly/terrain.h>

#define MF_TERRAIN_HEIGHT_LIMIT 1e6 // [m] largest |height|
#define MF_TERRAIN_MADE_SIDE 8192   // largest side of arrays and generated maps

// Checks everything in `config` but columns and rows.
MF_API mf_Status mf_terrain_check_config(const mf_TerrainConfig *config, mf_Error *error);
// The same for arrays and generated maps, whose size is limited.
mf_Status mf_terrain_check_made(const mf_TerrainConfig *config, mf_Error *error);

// A map of columns*rows cells with heights 0, not yet frozen. `config` must have been checked.
// MF_BAD_ARGUMENT when a side is 0, MF_LIMIT when the map is too large, both before allocation.
MF_API mf_Status mf_terrain_begin(mf_Context *context, const mf_TerrainConfig *config,
                                  uint32_t columns, uint32_t rows, mf_Terrain **out,
                                  mf_Error *error);

// The heights [m] of a map that is not frozen yet, to be written.
MF_API double *mf_terrain_heights(mf_Terrain *terrain);

// Checks the heights, computes the derived data and returns the frozen map; destroys it on failure.
MF_API mf_Status mf_terrain_freeze(mf_Terrain *terrain, mf_Terrain **out, mf_Error *error);
