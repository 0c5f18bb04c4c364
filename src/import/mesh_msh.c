// MuJoCo's own binary meshes (.msh): four 32-bit counts (vertices, normals, texture coordinates,
// faces), then the vertices as 3 floats, normals as 3, texture coordinates as 2, and faces as 3
// 32-bit vertex numbers, all little-endian. Normals are ignored, and so are texture coordinates
// unless there is one for each vertex.
#include "import/mesh.h"

#include "math/scalar.h"

mf_Status mf_msh_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error) {
    uint32_t counts[4];
    *out = (mf_MeshData){.context = context};
    if (size < sizeof counts)
        return mf_fail_at(error, MF_BAD_FILE, file, 0, 0,
                          "expected MSH: at least 16 bytes, found %zu", size);
    for (size_t i = 0; i < 4; i++) {
        counts[i] = mf_mesh_word(data + 4 * i);
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
    const bool placed = counts[2] == counts[0] && counts[3] > 0;
    if (!mf_mesh_reserve(out, counts[0], counts[3], placed)) {
        mf_mesh_release(out);
        return mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for the mesh");
    }
    const size_t indices = sizeof counts + 12 * (size_t)counts[0] + 12 * (size_t)counts[1];
    bool sound = true;
    for (size_t i = 0; i < 3 * (size_t)counts[0]; i++) {
        out->vertices[i] = mf_mesh_float(data + sizeof counts + 4 * i);
        sound &= mf_is_finite((double)out->vertices[i]);
    }
    for (size_t i = 0; i < 3 * (size_t)counts[3]; i++) {
        out->triangles[i] = mf_mesh_word(data + faces + 4 * i);
        const bool known = out->triangles[i] < counts[0];
        sound &= known;
        for (size_t k = 0; placed && known && k < 2; k++) {
            float *position = &out->coordinates[2 * i + k];
            *position = mf_mesh_float(data + indices + 8 * (size_t)out->triangles[i] + 4 * k);
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
