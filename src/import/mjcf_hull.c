// Convex hulls of the meshes of an MJCF file.
#include "import/hull.h"
#include "import/mjcf.h"

#include <string.h>

mf_Status mf_mjcf_hull_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh) {
    mf_Status status = mf_mjcf_load_mesh(m, mesh);
    if (status != MF_OK || mesh->has_hull)
        return status;
    mf_Mesh *item = &mf_draft_meshes(&m->draft)[mesh->draft];
    mf_Hull hull;
    mf_HullResult result =
        mf_hull_make(m->context, mesh->exact, item->vertex_count, mesh->hull_limit, &hull);
    if (result == MF_HULL_NO_MEMORY)
        return mf_mjcf_no_memory(m);
    if (result == MF_HULL_FLAT)
        return mf_mjcf_fail(m, mesh->node,
                            "<mesh> '%.100s': its vertices are in a plane or a line, so it has no "
                            "convex hull for contacts",
                            mesh->name ? mesh->name : "");
    item->hull_vertices = hull.vertices;
    item->hull_vertex_count = hull.vertex_count;
    item->hull_triangles = hull.triangles;
    item->hull_triangle_count = hull.triangle_count;
    mesh->has_hull = true;
    if (item->triangle_count > 0)
        return MF_OK;
    size_t numbers = 3 * (size_t)hull.triangle_count;
    uint32_t *copy = mf_allocate(m->context, numbers, sizeof *copy);
    if (copy == NULL)
        return mf_mjcf_no_memory(m);
    memcpy(copy, hull.triangles, numbers * sizeof *copy);
    mf_release(m->context, (void *)item->triangles);
    item->triangles = copy;
    item->triangle_count = hull.triangle_count;
    return MF_OK;
}
