// Polygons of mesh files as triangles: ears are cut off until a triangle is left (G. H. Meisters,
// "Polygons have ears", 1975), in the plane of the polygon (M. E. Newell's normal). A polygon that
// crosses itself may have no ear; then the next corner is cut off all the same.
#include "import/polygon.h"

#include "math/scalar.h"

// Twice the area of a triangle in the plane, positive when it is turned counterclockwise.
static double cross_product(const double a[2], const double b[2], const double c[2]) {
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

// The two coordinates in which the polygon is largest, turned so that it is counterclockwise.
static void flatten(mf_Polygon *polygon, const float *points, uint32_t count) {
    double normal[3] = {0.0, 0.0, 0.0};
    for (uint32_t i = 0; i < count; i++) {
        const float *a = &points[3 * (size_t)polygon->ring[i]];
        const float *b = &points[3 * (size_t)polygon->ring[i + 1 < count ? i + 1 : 0]];
        for (int c = 0; c < 3; c++)
            normal[c] += ((double)a[(c + 1) % 3] - (double)b[(c + 1) % 3]) *
                         ((double)a[(c + 2) % 3] + (double)b[(c + 2) % 3]);
    }
    int axis = 0;
    for (int c = 1; c < 3; c++)
        if (mf_abs(normal[c]) > mf_abs(normal[axis]))
            axis = c;
    const int first = normal[axis] < 0.0 ? (axis + 2) % 3 : (axis + 1) % 3,
              second = 3 - axis - first;
    for (uint32_t i = 0; i < count; i++) {
        const float *point = &points[3 * (size_t)polygon->ring[i]];
        polygon->flat[i][0] = (double)point[first];
        polygon->flat[i][1] = (double)point[second];
    }
}

// Whether the corner after `a` can be cut off: it turns left, and no other corner is within.
static bool is_ear(mf_Polygon *polygon, uint32_t a) {
    const uint32_t b = polygon->next[a], c = polygon->next[b];
    const double *pa = polygon->flat[a], *pb = polygon->flat[b], *pc = polygon->flat[c];
    if (!(cross_product(pa, pb, pc) > 0.0))
        return false;
    for (uint32_t i = polygon->next[c]; i != a; i = polygon->next[i]) {
        const double *p = polygon->flat[i];
        polygon->work++;
        if (cross_product(pa, pb, p) >= 0.0 && cross_product(pb, pc, p) >= 0.0 &&
            cross_product(pc, pa, p) >= 0.0 && polygon->ring[i] != polygon->ring[a] &&
            polygon->ring[i] != polygon->ring[b] && polygon->ring[i] != polygon->ring[c])
            return false;
    }
    return true;
}

static void put(const mf_Polygon *polygon, uint32_t **out, uint32_t a, uint32_t b, uint32_t c) {
    *(*out)++ = polygon->ring[a];
    *(*out)++ = polygon->ring[b];
    *(*out)++ = polygon->ring[c];
}

static double square(const mf_Polygon *polygon, const float *points, uint32_t a, uint32_t b) {
    double sum = 0.0;
    for (int c = 0; c < 3; c++) {
        const double d = (double)points[3 * (size_t)polygon->ring[a] + c] -
                         (double)points[3 * (size_t)polygon->ring[b] + c];
        sum += d * d;
    }
    return sum;
}

// A convex polygon of four corners along its shorter diagonal. False: it is not convex.
static bool cut_four(const mf_Polygon *polygon, const float *points, uint32_t **out) {
    for (uint32_t i = 0; i < 4; i++)
        if (!(cross_product(polygon->flat[i], polygon->flat[(i + 1) % 4],
                            polygon->flat[(i + 2) % 4]) > 0.0))
            return false;
    const uint32_t from = square(polygon, points, 1, 3) < square(polygon, points, 0, 2);
    put(polygon, out, 0, 1, 2 + from);
    put(polygon, out, from, 2, 3);
    return true;
}

bool mf_polygon_cut(mf_Polygon *polygon, const float *points, uint32_t count, uint32_t *out) {
    if (count < 3)
        return true;
    if (count > 3)
        flatten(polygon, points, count);
    if (count == 4 && cut_four(polygon, points, &out))
        return true;
    for (uint32_t i = 0; i < count; i++)
        polygon->next[i] = i + 1 < count ? i + 1 : 0;
    uint32_t at = count - 1,
             misses = 0; // the ears of a convex one make a fan about its first corner
    for (uint32_t left = count; left > 3;) {
        const bool ear = is_ear(polygon, at) || ++misses > left;
        if (polygon->work > MF_POLYGON_WORK)
            return false;
        if (!ear) {
            at = polygon->next[at];
            continue;
        }
        const uint32_t middle = polygon->next[at];
        put(polygon, &out, at, middle, polygon->next[middle]);
        polygon->next[at] = polygon->next[middle];
        misses = 0;
        left--;
    }
    put(polygon, &out, at, polygon->next[at], polygon->next[polygon->next[at]]);
    return true;
}
