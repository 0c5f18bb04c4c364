// MuJoCo's own binary meshes (.msh): four 32-bit counts (vertices, normals, texture coordinates,
// faces), then the vertices as 3 floats, normals as 3, texture coordinates as 2, and faces as 3
// 32-bit vertex numbers, all little-endian. Normals are ignored, and so are texture coordinates
// unless there is one for each vertex.
#include "import/mesh.h"

#include "math/scalar.h"

#include <string.h>

static uint32_t word_at(const char *data, size_t offset) {
    const unsigned char *byte = (const unsigned char *)data + offset;
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
           (uint32_t)byte[3] << 24;
}

static float float_at(const char *data, size_t offset) {
    uint32_t bits = word_at(data, offset);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

mf_Status mf_msh_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error) {
    uint32_t counts[4];
    *out = (mf_MeshData){.context = context};
    if (size < sizeof counts)
        return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                          "expected MSH: at least 16 bytes, found %zu", size);
    for (size_t i = 0; i < 4; i++) {
        counts[i] = word_at(data, 4 * i);
        if (counts[i] > 3 * MF_MESH_TRIANGLES)
            return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                              "expected MSH: count %zu is %u, more than any mesh", i + 1,
                              counts[i]);
    }
    size_t faces =
        sizeof counts + 12 * (size_t)counts[0] + 12 * (size_t)counts[1] + 8 * (size_t)counts[2];
    size_t expected = faces + 12 * (size_t)counts[3];
    if (size != expected || counts[0] < 3)
        return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                          "expected MSH: %zu bytes for %u vertices and %u faces, found %zu",
                          expected, counts[0], counts[3], size);
    out->vertices = mf_allocate(context, 3 * (size_t)counts[0], sizeof *out->vertices);
    out->triangles = mf_allocate(context, 3 * (size_t)counts[3] + 1, sizeof *out->triangles);
    const bool placed = counts[2] == counts[0] && counts[3] > 0;
    if (placed)
        out->coordinates = mf_allocate(context, 6 * (size_t)counts[3], sizeof(float));
    if (out->vertices == NULL || out->triangles == NULL || (placed && out->coordinates == NULL)) {
        mf_mesh_release(out);
        return mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for the mesh");
    }
    const size_t indices = sizeof counts + 12 * (size_t)counts[0] + 12 * (size_t)counts[1];
    bool sound = true;
    for (size_t i = 0; i < 3 * (size_t)counts[0]; i++) {
        out->vertices[i] = float_at(data, sizeof counts + 4 * i);
        sound &= mf_is_finite((double)out->vertices[i]);
    }
    for (size_t i = 0; i < 3 * (size_t)counts[3]; i++) {
        out->triangles[i] = word_at(data, faces + 4 * i);
        const bool known = out->triangles[i] < counts[0];
        sound &= known;
        for (size_t k = 0; placed && known && k < 2; k++) {
            float *position = &out->coordinates[2 * i + k];
            *position = float_at(data, indices + 8 * (size_t)out->triangles[i] + 4 * k);
            sound &= mf_is_finite((double)*position);
        }
    }
    out->vertex_count = counts[0];
    out->triangle_count = counts[3];
    if (sound)
        return MF_OK;
    mf_mesh_release(out);
    return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                      "expected MSH: finite vertices and faces of vertex numbers below %u",
                      counts[0]);
}
