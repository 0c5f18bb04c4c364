// Triangle meshes from STL, OBJ, MSH and DAE files, and their contact points for the ground.
#pragma once

#include <mayfly/base.h>

#include <string.h>

#define MF_MESH_TRIANGLES 10000000u // [1] most triangles of a mesh

typedef struct mf_MeshData {
    mf_Context *context;
    float *vertices;         // [m] vertex_count * 3
    uint32_t *triangles;     // [1] triangle_count * 3
    float *coordinates;      // [1] triangle_count * 6, as in mf_Mesh; NULL: none
    uint32_t vertex_count;   // [1]
    uint32_t triangle_count; // [1]
    uint32_t first_object;   // [1] triangles before an OBJ's second object or group; 0: none
} mf_MeshData;

// Memory for that many vertices and triangles, with texture coordinates or without them. False:
// there is none; the caller releases the mesh either way.
bool mf_mesh_reserve(mf_MeshData *mesh, size_t vertices, size_t triangles, bool coordinates);
void mf_mesh_release(mf_MeshData *mesh);

// The 32-bit number and the float at `data`, little endian.
static inline uint32_t mf_mesh_word(const char *data) {
    const unsigned char *byte = (const unsigned char *)data;
    return (uint32_t)byte[0] | (uint32_t)byte[1] << 8 | (uint32_t)byte[2] << 16 |
           (uint32_t)byte[3] << 24;
}
static inline float mf_mesh_float(const char *data) {
    const uint32_t bits = mf_mesh_word(data);
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// Binary or ASCII STL, recognized by content; equal corners become one vertex. A failure leaves
// `out` empty. `data` must be followed by a 0 byte (as mf_file_read gives it).
mf_Status mf_stl_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error);

// Wavefront OBJ: `v`, `vt` and `f` lines (polygons become fans, negative indices count from the
// end); everything else is ignored.
mf_Status mf_obj_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error);

// MuJoCo's binary MSH: vertices, faces and, if there is one per vertex, texture coordinates.
mf_Status mf_msh_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error);

// COLLADA (DAE): all its triangles in meters, up axis as it is.
mf_Status mf_dae_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error);

// Reads a mesh file: OBJ, MSH and DAE by their ending, everything else must be STL.
mf_Status mf_mesh_load(mf_Context *context, const char *path, mf_MeshData *out, mf_Error *error);

// Scales every vertex and, when the scale mirrors (negative product), reverses the triangles so
// that they still face outward.
void mf_mesh_scale(mf_MeshData *mesh, const double scale[3]);

// Reverses a triangle: its second and third corner are exchanged.
void mf_mesh_reverse(mf_MeshData *mesh, uint32_t triangle);

// Volume [m^3] by the divergence theorem; positive for a closed surface that faces outward.
double mf_mesh_volume(const mf_MeshData *mesh);

// Selects at most `limit` (>= 1) vertices [m] that represent the mesh: among the support points of
// fixed directions, first the one farthest from their center, then repeatedly the one farthest from
// those selected. Returns their number.
uint32_t mf_mesh_points(const mf_MeshData *mesh, uint32_t limit, double (*out)[3]);
#define MF_MESH_POINTS_LIMIT 256u // [1] largest `limit`
