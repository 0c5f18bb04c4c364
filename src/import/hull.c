// Convex hulls by qhull (C. B. Barber, D. P. Dobkin, H. Huhdanpaa, "The quickhull algorithm for
// convex hulls", ACM TOMS 22, 1996), its reentrant library.
//
// Qhull has its own allocator and reports errors by longjmp; creating a hull counts as one fallible
// call. Its triangles are sorted, so that the result depends only on the points.
#include "import/hull.h"
#include "base/inject.h"

#include "base/context.h"
#include "math/scalar.h"

#include <libqhull_r/qhull_ra.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Cloud {
    mf_Context *context;
    double *points; // [m] 3 each
    uint32_t count; // [1]
} Cloud;

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

// Smallest corner first, seen from outside counterclockwise.
static bool take_triangle(qhT *qh, facetT *facet, const Cloud *cloud, uint32_t out[3]) {
    uint32_t corner[3], count = 0;
    vertexT *vertex, **vertexp;
    FOREACHvertex_(facet->vertices) {
        int id = qh_pointid(qh, vertex->point);
        if (id < 0 || (uint32_t)id >= cloud->count || count == 3)
            return false;
        corner[count++] = (uint32_t)id;
    }
    if (count != 3)
        return false;
    double a[3], b[3], normal[3];
    mf_vec3_sub(a, &cloud->points[3 * (size_t)corner[1]], &cloud->points[3 * (size_t)corner[0]]);
    mf_vec3_sub(b, &cloud->points[3 * (size_t)corner[2]], &cloud->points[3 * (size_t)corner[0]]);
    mf_vec3_cross(normal, a, b);
    bool outward = mf_vec3_dot(normal, facet->normal) > 0.0;
    uint32_t first =
        corner[1] < corner[0] ? (corner[2] < corner[1] ? 2 : 1) : (corner[2] < corner[0] ? 2 : 0);
    for (uint32_t i = 0; i < 3; i++)
        out[i] = corner[(first + (outward ? i : 3 - i)) % 3];
    return true;
}

static bool take_hull(const Cloud *cloud, qhT *qh, mf_Hull *hull) {
    facetT *facet;
    uint32_t faces = (uint32_t)qh->num_facets;
    hull->triangles = mf_allocate(cloud->context, 3 * (size_t)faces + 1, sizeof *hull->triangles);
    hull->vertices = mf_allocate(cloud->context, 3 * (size_t)faces + 1, sizeof *hull->vertices);
    if (hull->triangles == NULL || hull->vertices == NULL)
        return false;
    FORALLfacets {
        if (hull->triangle_count < faces &&
            take_triangle(qh, facet, cloud, &hull->triangles[3 * hull->triangle_count]))
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
static int run_qhull(const Cloud *cloud, int limit, FILE *silence, mf_Hull *hull, bool *memory) {
    char command[64] = "qhull Qt";
    qhT qh_area, *qh = &qh_area;
    if (limit > 4)
        snprintf(command, sizeof command, "qhull Qt Q9 TA%d", limit - 4);
    qh_zero(qh, silence);
    int code =
        qh_new_qhull(qh, 3, (int)cloud->count, cloud->points, False, command, silence, silence);
    // The following calls may also longjmp.
    if (code == 0) {
        code = setjmp(qh->errexit);
        qh->NOerrexit = False;
        if (code == 0) {
            qh_triangulate(qh);
            *memory = take_hull(cloud, qh, hull);
        }
        qh->NOerrexit = True;
    }
    int long_left, total_left;
    qh_freeqhull(qh, !qh_ALL);
    qh_memfreeshort(qh, &long_left, &total_left);
    return code;
}

mf_HullResult mf_hull_make(mf_Context *context, double *points, uint32_t count, int limit,
                           mf_Hull *out) {
    const Cloud cloud = {context, points, count};
    mf_Hull hull = {0};
    bool memory = true;
    *out = hull;
    if (count < 4)
        return MF_HULL_FLAT;
    FILE *silence = mf_allow(context, "open /dev/null") ? fopen("/dev/null", "w") : NULL;
    if (silence == NULL || !mf_allow(context, "create a convex hull")) {
        if (silence != NULL)
            fclose(silence);
        return MF_HULL_NO_MEMORY;
    }
    int code = run_qhull(&cloud, limit, silence, &hull, &memory);
    fclose(silence);
    if (code == 0 && memory && hull.triangle_count >= 4) {
        *out = hull;
        return MF_HULL_MADE;
    }
    mf_release(context, hull.vertices);
    mf_release(context, hull.triangles);
    return !memory || code == qh_ERRmem ? MF_HULL_NO_MEMORY : MF_HULL_FLAT;
}
