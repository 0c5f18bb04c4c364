// Intersection of a ray with a shape, in lanes: distance from its start in units of its direction's
// length, or HUGE without an intersection. Rays that begin inside a solid hit it where they leave
// it; planes are hit from above only. Solids are intersections or unions of intervals along the
// ray.
#ifndef MF_CONTACT_RAY_H
#define MF_CONTACT_RAY_H

#include "contact/ray_solid.h"
#include "math/lane_vector.h"

#define RAY_FAR ((mf_real)1e30)
#define RAY_TINY ((mf_real)1e-30)

typedef struct Span { // of a ray inside something; empty when from > to
    mf_lane from, to;
} Span;

// a division where b is 0 gives +-1e30 or 0
static inline mf_lane ray_ratio(mf_lane a, mf_lane b) {
    mf_mask small = mf_less(mf_abs(b), mf_set(RAY_TINY));
    return mf_clamp(a / mf_select(small, mf_set(RAY_TINY), b), mf_set(-RAY_FAR), mf_set(RAY_FAR));
}

static inline Span span_intersect(Span a, Span b) {
    return MF_VALUE(Span, mf_max(a.from, b.from), mf_min(a.to, b.to));
}

// Of two overlapping or empty intervals.
static inline Span span_join(Span a, Span b) {
    mf_mask no_a = mf_less(a.to, a.from), no_b = mf_less(b.to, b.from);
    Span both = {mf_min(a.from, b.from), mf_max(a.to, b.to)};
    both.from = mf_select(no_a, b.from, mf_select(no_b, a.from, both.from));
    both.to = mf_select(no_a, b.to, mf_select(no_b, a.to, both.to));
    return both;
}

// a t^2 + 2 b t + c <= 0
static inline Span span_quadratic(mf_lane a, mf_lane b, mf_lane c) {
    mf_lane zero = mf_zero(), root = mf_fma(b, b, -(a * c));
    mf_mask none = mf_less(root, zero), flat = mf_less(a, mf_set((mf_real)1e-20));
    root = mf_sqrt(mf_max(root, zero));
    Span span = {ray_ratio(-b - root, a), ray_ratio(root - b, a)};
    // A ray along a cylinder is inside of it everywhere or nowhere.
    mf_mask inside = mf_less_equal(c, zero);
    mf_lane far = mf_set(RAY_FAR), wide = mf_select(inside, far, -far);
    span.from = mf_select(flat, -wide, mf_select(none, far, span.from));
    span.to = mf_select(flat, wide, mf_select(none, -far, span.to));
    return span;
}

static inline Span span_slab(mf_lane p, mf_lane d, mf_lane half) {
    mf_lane a = ray_ratio(-half - p, d), b = ray_ratio(half - p, d);
    Span span = {mf_min(a, b), mf_max(a, b)};
    // Along the slab the ratios lose their signs.
    mf_mask along = mf_less(mf_abs(d), mf_set(RAY_TINY)), in = mf_less_equal(mf_abs(p), half);
    mf_lane far = mf_set(RAY_FAR), wide = mf_select(in, far, -far);
    return MF_VALUE(Span, mf_select(along, -wide, span.from), mf_select(along, wide, span.to));
}

static inline mf_lane span_hit(Span span) {
    mf_lane zero = mf_zero(), far = mf_set(RAY_FAR);
    mf_lane hit = mf_select(mf_less(span.from, zero), span.to, span.from);
    mf_mask none = mf_or(mf_less(span.to, span.from), mf_less(span.to, zero));
    return mf_select(none, far, hit);
}

static inline Span span_ball(Vec p, Vec d, mf_lane radius) {
    return span_quadratic(vec_dot(d, d), vec_dot(p, d), mf_fma(-radius, radius, vec_dot(p, p)));
}

static inline Span span_tube(Vec p, Vec d, mf_lane radius, mf_lane half) {
    Span round = span_quadratic(mf_fma(d.x, d.x, d.y * d.y), mf_fma(p.x, d.x, p.y * d.y),
                                mf_fma(-radius, radius, mf_fma(p.x, p.x, p.y * p.y)));
    return span_intersect(round, span_slab(p.z, d.z, half));
}

static inline Span span_capsule(Vec p, Vec d, mf_lane radius, mf_lane half) {
    Vec low = {p.x, p.y, p.z + half}, high = {p.x, p.y, p.z - half};
    Span ends[2] = {span_ball(low, d, radius), span_ball(high, d, radius)};
    Span tube = span_tube(p, d, radius, half);
    // Either ball overlaps the tube where the ray meets both.
    return span_join(span_join(tube, ends[0]), ends[1]);
}

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
    const mf_lane x = mf_set((mf_real)shape->size[0]), y = mf_set((mf_real)shape->size[1]),
                  z = mf_set((mf_real)shape->size[2]);
    switch (shape->type) {
    case MF_SHAPE_SPHERE:
        return span_hit(span_ball(p, d, x));
    case MF_SHAPE_CAPSULE:
        return span_hit(span_capsule(p, d, x, y));
    case MF_SHAPE_CYLINDER:
        return span_hit(span_tube(p, d, x, y));
    case MF_SHAPE_ELLIPSOID:
        return span_hit(span_ball(MF_VALUE(Vec, p.x / x, p.y / y, p.z / z),
                                  MF_VALUE(Vec, d.x / x, d.y / y, d.z / z), mf_set((mf_real)1)));
    case MF_SHAPE_BOX:
        return span_hit(
            span_intersect(span_slab(p.x, d.x, x),
                           span_intersect(span_slab(p.y, d.y, y), span_slab(p.z, d.z, z))));
    case MF_SHAPE_PLANE:
        return ray_plane(p, d, shape->size);
    case MF_SHAPE_MESH:
        return ray_mesh(p, d, shape->mesh);
    default:
        return mf_set(RAY_FAR);
    }
}

#endif
