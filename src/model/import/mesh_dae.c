// COLLADA meshes (DAE), read by the Open Asset Import Library (assimp) from memory.
//
// All nodes' triangles become one mesh in meters: node transforms and the file's unit are applied;
// its up axis is not, as in ROS, whose tools use the coordinates unchanged. Materials, cameras and
// animations are ignored. The library has its own memory, bounded by the file's size limit; running
// it counts as one fallible call.
#include "model/import/mesh.h"
#include "base/inject.h"

#include <assimp/cimport.h>
#include <assimp/config.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_triangle(const struct aiFace *face) {
    return face->mNumIndices == 3;
}

static mf_Status count_parts(const struct aiScene *scene, const char *file, uint64_t *vertices,
                             uint64_t *triangles, mf_Error *error) {
    *vertices = *triangles = 0;
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        const struct aiMesh *part = scene->mMeshes[m];
        *vertices += part->mNumVertices;
        for (unsigned i = 0; i < part->mNumFaces; i++)
            *triangles += is_triangle(&part->mFaces[i]);
    }
    if (*triangles == 0)
        return mf_fail_at(error, MF_BAD_FILE, file, 0, 0, "expected triangles, found none");
    if (*triangles > MF_MESH_TRIANGLES || *vertices > UINT32_MAX / 3)
        return mf_fail_at(error, MF_LIMIT, file, 0, 0, "at most %u triangles, found %llu",
                          MF_MESH_TRIANGLES, (unsigned long long)*triangles);
    return MF_OK;
}

static mf_Status copy_part(const struct aiMesh *part, const char *file, mf_MeshData *out,
                           mf_Error *error) {
    const uint32_t first = out->vertex_count;
    for (unsigned i = 0; i < part->mNumVertices; i++) {
        const float position[3] = {part->mVertices[i].x, part->mVertices[i].y,
                                   part->mVertices[i].z};
        if (!isfinite(position[0]) || !isfinite(position[1]) || !isfinite(position[2]))
            return mf_fail_at(error, MF_BAD_FILE, file, 0, 0, "vertex %u is not finite", i);
        memcpy(&out->vertices[3 * (size_t)out->vertex_count++], position, sizeof position);
    }
    for (unsigned i = 0; i < part->mNumFaces; i++) {
        const struct aiFace *face = &part->mFaces[i];
        if (!is_triangle(face))
            continue;
        for (int k = 0; k < 3; k++) {
            if (face->mIndices[k] >= part->mNumVertices)
                return mf_fail_at(error, MF_BAD_FILE, file, 0, 0, "face %u: no such vertex", i);
            out->triangles[3 * (size_t)out->triangle_count + (size_t)k] = first + face->mIndices[k];
        }
        out->triangle_count++;
    }
    return MF_OK;
}

static mf_Status copy_scene(mf_Context *context, const struct aiScene *scene, const char *file,
                            mf_MeshData *out, mf_Error *error) {
    uint64_t vertices, triangles;
    mf_Status status = count_parts(scene, file, &vertices, &triangles, error);
    if (status != MF_OK)
        return status;
    out->vertices = mf_allocate(context, 3 * (size_t)vertices, sizeof *out->vertices);
    out->triangles = mf_allocate(context, 3 * (size_t)triangles, sizeof *out->triangles);
    if (out->vertices == NULL || out->triangles == NULL)
        status = mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for the mesh");
    for (unsigned m = 0; status == MF_OK && m < scene->mNumMeshes; m++)
        status = copy_part(scene->mMeshes[m], file, out, error);
    if (status != MF_OK)
        mf_mesh_release(out);
    return status;
}

mf_Status mf_dae_parse(mf_Context *context, const char *file, const char *data, size_t size,
                       mf_MeshData *out, mf_Error *error) {
    *out = (mf_MeshData){.context = context};
    if (size > UINT32_MAX || !mf_allow(context, "assimp"))
        return mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for the mesh");
    struct aiPropertyStore *wishes = aiCreatePropertyStore();
    if (wishes == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, file, 0, 0, "no memory for the mesh");
    aiSetImportPropertyInteger(wishes, AI_CONFIG_IMPORT_COLLADA_IGNORE_UP_DIRECTION, 1);
    aiSetImportPropertyInteger(wishes, AI_CONFIG_PP_SBP_REMOVE,
                               aiPrimitiveType_POINT | aiPrimitiveType_LINE);
    const struct aiScene *scene = aiImportFileFromMemoryWithProperties(
        data, (unsigned)size,
        aiProcess_Triangulate | aiProcess_PreTransformVertices | aiProcess_SortByPType, "dae",
        wishes);
    aiReleasePropertyStore(wishes);
    if (scene == NULL)
        return mf_fail_at(error, MF_BAD_FILE, file, 0, 0, "expected COLLADA: %.200s",
                          aiGetErrorString());
    mf_Status status = copy_scene(context, scene, file, out, error);
    aiReleaseImport(scene);
    return status;
}
