// Convex hulls of meshes by qhull (C. B. Barber, D. P. Dobkin, H. Huhdanpaa, "The quickhull
// algorithm for convex hulls", ACM TOMS 22, 1996), its reentrant library.
//
// Qhull allocates by itself and leaves by longjmp; creating a hull counts as one fallible call. Its
// triangles are put into a fixed order, so that the result depends on the mesh alone.
#include "model/import/mjcf.h"

#include "math/scalar.h"

#include <libqhull_r/qhull_ra.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_numbers(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static int compare_triangles(const void *a, const void *b) {
    const uint32_t *x = a, *y = b;
    for (int i = 0; i < 3; i++) {
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    }
    return 0;
}

// Smallest corner first, seen from outside counter-clockwise.
static bool take_triangle(qhT *qh, facetT *facet, const mf_MjcfMesh *mesh, uint32_t limit,
                          uint32_t out[3]) {
    uint32_t corner[3], count = 0;
    vertexT *vertex, **vertexp;
    FOREACHvertex_(facet->vertices) {
        int id = qh_pointid(qh, vertex->point);
        if (id < 0 || (uint32_t)id >= limit || count == 3)
            return false;
        corner[count++] = (uint32_t)id;
    }
    if (count != 3)
        return false;
    double a[3], b[3], normal[3];
    mf_vec3_sub(a, &mesh->exact[3 * (size_t)corner[1]], &mesh->exact[3 * (size_t)corner[0]]);
    mf_vec3_sub(b, &mesh->exact[3 * (size_t)corner[2]], &mesh->exact[3 * (size_t)corner[0]]);
    mf_vec3_cross(normal, a, b);
    bool outward = mf_vec3_dot(normal, facet->normal) > 0.0;
    uint32_t first =
        corner[1] < corner[0] ? (corner[2] < corner[1] ? 2 : 1) : (corner[2] < corner[0] ? 2 : 0);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = corner[(first + (outward ? i : 3 - i)) % 3];
    return true;
}

typedef struct Hull {
    uint32_t *vertices, *triangles;
    uint32_t vertex_count, triangle_count;
} Hull;

static bool take_hull(mf_Mjcf *m, qhT *qh, const mf_MjcfMesh *mesh, uint32_t limit, Hull *hull) {
    facetT *facet;
    uint32_t faces = (uint32_t)qh->num_facets;
    hull->triangles = mf_allocate(m->context, 3 * (size_t)faces + 1, sizeof *hull->triangles);
    hull->vertices = mf_allocate(m->context, 3 * (size_t)faces + 1, sizeof *hull->vertices);
    if (hull->triangles == NULL || hull->vertices == NULL)
        return false;
    FORALLfacets {
        if (hull->triangle_count < faces &&
            take_triangle(qh, facet, mesh, limit, &hull->triangles[3 * hull->triangle_count]))
            hull->triangle_count++;
    }
    size_t numbers = 3 * (size_t)hull->triangle_count;
    qsort(hull->triangles, hull->triangle_count, 3 * sizeof *hull->triangles, compare_triangles);
    memcpy(hull->vertices, hull->triangles, numbers * sizeof *hull->vertices);
    qsort(hull->vertices, numbers, sizeof *hull->vertices, compare_numbers);
    for (size_t i = 0; i < numbers; i++) {
        if (i == 0 || hull->vertices[i] != hull->vertices[i - 1])
            hull->vertices[hull->vertex_count++] = hull->vertices[i];
    }
    return true;
}

// Qhull's exit code; 0: `hull` is filled.
static int run_qhull(mf_Mjcf *m, const mf_MjcfMesh *mesh, uint32_t count, FILE *silence, Hull *hull,
                     bool *memory) {
    char command[64] = "qhull Qt";
    qhT qh_area, *qh = &qh_area;
    if (mesh->hull_limit > 4)
        snprintf(command, sizeof command, "qhull Qt Q9 TA%d", mesh->hull_limit - 4);
    qh_zero(qh, silence);
    int code = qh_new_qhull(qh, 3, (int)count, mesh->exact, False, command, silence, silence);
    // What follows may leave by longjmp, too.
    if (code == 0) {
        code = setjmp(qh->errexit);
        qh->NOerrexit = False;
        if (code == 0) {
            qh_triangulate(qh);
            *memory = take_hull(m, qh, mesh, count, hull);
        }
        qh->NOerrexit = True;
    }
    int long_left, total_left;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &long_left, &total_left);
    return code;
}

mf_Status mf_mjcf_hull_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh) {
    mf_Status status = mf_mjcf_load_mesh(m, mesh);
    if (status != MF_OK || mesh->has_hull)
        return status;
    mf_Mesh *item = &mf_draft_meshes(&m->draft)[mesh->draft];
    Hull hull = {0};
    bool memory = true;
    FILE *silence = mf_allow(m->context, "open /dev/null") ? fopen("/dev/null", "w") : NULL;
    if (silence == NULL || !mf_allow(m->context, "create a convex hull")) {
        if (silence != NULL)
            fclose(silence);
        return mf_mjcf_no_memory(m);
    }
    int code = item->vertex_count >= 4
                   ? run_qhull(m, mesh, item->vertex_count, silence, &hull, &memory)
                   : qh_ERRsingular;
    fclose(silence);
    if (code != 0 || !memory || hull.triangle_count < 4) {
        mf_release(m->context, hull.vertices);
        mf_release(m->context, hull.triangles);
        if (!memory || code == qh_ERRmem)
            return mf_mjcf_no_memory(m);
        return mf_mjcf_fail(m, mesh->node,
                            "<mesh> '%.100s': its vertices lie in a plane or a line, "
                            "so it has no convex hull to touch with",
                            mesh->name ? mesh->name : "");
    }
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
