// Common code of the terrain tests: a context checked for leaks, maps from arrays, files with given
// bytes.
#pragma once

#include "rig/rig.h"

static inline mf_Terrain *terrain_of(mf_Context *context, const mf_TerrainConfig *config,
                                     const double *heights) {
    mf_Terrain *terrain = NULL;
    MUST(mf_terrain_from_array(context, config, heights, &terrain, &error));
    return terrain;
}

// What is no map leaves no trace, and one line that says why: an array of heights, or what
// `generator` makes where there is one. Above the limits no memory is taken.
static inline void check_refused(mf_Context *context, const mf_TerrainConfig *config,
                                 const double *heights, const mf_TerrainGenerator *generator,
                                 mf_Status expected) {
    mf_Terrain *terrain = (mf_Terrain *)&terrain;
    mf_Error error = {0};
    const size_t live = mf_context_live_bytes(context);
    const uint64_t calls = mf_context_call_count(context);
    const mf_Status status =
        generator != NULL ? mf_terrain_generate(context, config, generator, &terrain, &error)
                          : mf_terrain_from_array(context, config, heights, &terrain, &error);
    assert_int_equal(status, expected);
    assert_null(terrain);
    assert_int_equal(error.status, status);
    assert_true(strlen(error.message) > 10 && strchr(error.message, '\n') == NULL);
    assert_int_equal(mf_context_live_bytes(context), live);
    assert_true(status != MF_LIMIT || mf_context_call_count(context) == calls);
}

// Fills `path` with the name of a file in the build folder and writes it. The name begins with that
// of the test program, since programs run side by side.
static inline void write_file(char path[512], const char *name, const void *data, size_t size) {
    const char *program = strrchr(__BASE_FILE__, '/');
    snprintf(path, 512, "%s/%s-%s", MAYFLY_BINARY_DIR,
             program != NULL ? program + 1 : __BASE_FILE__, name);
    file_put(path, data, size);
}
