// Common code of the terrain tests: a context checked for leaks, maps from arrays, files with given
// bytes.
#ifndef MAYFLY_TESTS_TERRAIN_SUPPORT_H
#define MAYFLY_TESTS_TERRAIN_SUPPORT_H

#include "rig/rig.h"

static inline mf_Terrain *terrain_of(mf_Context *context, const mf_TerrainConfig *config,
                                     const double *heights) {
    mf_Terrain *terrain = NULL;
    MUST(mf_terrain_from_array(context, config, heights, &terrain, &error));
    return terrain;
}

// Fills `path` with the name of a file in the build folder and writes it. The name begins with that
// of the test program, since programs run side by side.
static inline void write_file(char path[512], const char *name, const void *data, size_t size) {
    const char *program = strrchr(__BASE_FILE__, '/');
    snprintf(path, 512, "%s/%s-%s", MAYFLY_BINARY_DIR,
             program != NULL ? program + 1 : __BASE_FILE__, name);
    file_put(path, data, size);
}

#endif
