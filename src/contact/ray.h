// Intersection of a ray p + t d with a shape, in lanes: the time t, or RAY_FAR without an
// intersection. Rays that begin inside a solid hit it where they leave it; planes are hit from
// above only. Solids are intersections or unions of intervals along the ray.
#pragma once

#include "contact/ray_solid.h"
#include "contact/shape_lane.h"

static inline mf_lane ray_plane(Vec p, Vec d, const double size[3]) {
    mf_lane zero = mf_zero(), far = mf_set(RAY_FAR), t = ray_ratio(-p.z, d.z);
    mf_mask hit = mf_and(mf_less(d.z, zero), mf_less_equal(zero, t));
    mf_lane x = mf_abs(mf_fma(d.x, t, p.x)), y = mf_abs(mf_fma(d.y, t, p.y));
    if (size[0] > 0)
        hit = mf_and(hit, mf_less_equal(x, mf_set((mf_real)size[0])));
    if (size[1] > 0)
        hit = mf_and(hit, mf_less_equal(y, mf_set((mf_real)size[1])));
    return mf_select(hit, t, far);
}

static inline Vec mesh_corner(const mf_Mesh *mesh, uint32_t triangle, uint32_t corner) {
    const float *v = mesh->vertices + 3 * (size_t)mesh->triangles[3 * (size_t)triangle + corner];
    return MF_VALUE(Vec, mf_set((mf_real)v[0]), mf_set((mf_real)v[1]), mf_set((mf_real)v[2]));
}

// Moeller and Trumbore 1997, both sides.
static inline mf_lane ray_triangle(Vec p, Vec d, const mf_Mesh *mesh, uint32_t i) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Vec a = mesh_corner(mesh, i, 0), b = vec_sub(mesh_corner(mesh, i, 1), a),
        c = vec_sub(mesh_corner(mesh, i, 2), a);
    Vec cross = vec_cross(d, c), offset = vec_sub(p, a), second = vec_cross(offset, b);
    mf_lane volume = vec_dot(b, cross);
    mf_lane u = ray_ratio(vec_dot(offset, cross), volume),
            v = ray_ratio(vec_dot(d, second), volume);
    mf_lane t = ray_ratio(vec_dot(c, second), volume);
    mf_mask hit = mf_and(mf_less_equal(zero, u), mf_less_equal(zero, v));
    hit = mf_and(hit, mf_and(mf_less_equal(u + v, one), mf_less_equal(zero, t)));
    hit = mf_and(hit, mf_less(mf_set(RAY_TINY), mf_abs(volume)));
    return mf_select(hit, t, mf_set(RAY_FAR));
}

static inline mf_lane ray_mesh(Vec p, Vec d, const mf_Mesh *mesh) {
    mf_lane nearest = mf_set(RAY_FAR);
    for (uint32_t i = 0; i < mesh->triangle_count; i++)
        nearest = mf_min(nearest, ray_triangle(p, d, mesh, i));
    return nearest;
}

// `p` and `d` in the shape's axes.
static inline mf_lane ray_shape(const mf_RaySolid *shape, Vec p, Vec d) {
    switch (shape->type) {
    case MF_SHAPE_PLANE:
        return ray_plane(p, d, shape->size);
    case MF_SHAPE_MESH:
        return ray_mesh(p, d, shape->mesh);
    case MF_SHAPE_POINT:
    case MF_SHAPE_HEIGHTS:
        return mf_set(RAY_FAR);
    default:
        return span_hit(shape_span(shape->kind, shape_size(shape->size), p, d));
    }
}
