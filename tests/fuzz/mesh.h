// Common code of the fuzz targets for meshes: parse from memory, then use the result.
#ifndef MAYFLY_TESTS_FUZZ_MESH_H
#define MAYFLY_TESTS_FUZZ_MESH_H

#include "import/mesh.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef mf_Status (*MeshParser)(mf_Context *context, const char *file, const char *data,
                                size_t size, mf_MeshData *out, mf_Error *error);

static inline int fuzz_mesh(MeshParser parse, const uint8_t *data, size_t size) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    mf_Context *context;
    // The readers rely on the 0 behind the file that mf_file_read adds.
    char *copy = malloc(size + 1);
    if (copy == NULL || mf_context_create(&config, &context, NULL) != MF_OK) {
        free(copy);
        return 0;
    }
    if (size > 0)
        memcpy(copy, data, size);
    copy[size] = '\0';
    mf_MeshData mesh;
    mf_Error error = {0};
    if (parse(context, "fuzz", copy, size, &mesh, &error) == MF_OK) {
        double points[8][3];
        for (uint32_t i = 0; i < 3 * mesh.triangle_count; i++) {
            if (mesh.triangles[i] >= mesh.vertex_count)
                __builtin_trap();
        }
        if (mf_mesh_points(&mesh, 8, points) < 1)
            __builtin_trap();
        volatile double volume = mf_mesh_volume(&mesh);
        (void)volume;
        mf_mesh_release(&mesh);
    }
    if (mf_context_live_bytes(context) != 0)
        __builtin_trap();
    mf_context_destroy(context);
    free(copy);
    return 0;
}

#endif
