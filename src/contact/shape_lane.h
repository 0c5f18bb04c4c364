// What kernels ask of the solids of each kind, in lanes and in their axes: a new kind has its
// functions here, and its case in those at the end. The table in model/shape_kinds.h has what
// is not asked in lanes; contacts of pairs are in narrow.h.
#pragma once

#include "math/lane_vector.h"
#include "model/shape_kinds.h"

// ---- distances ----------------------------------------------------------------------------------

// `a` with the signs of `b`; a >= 0.
static MF_INLINE mf_lane with_sign(mf_lane a, mf_lane b) {
    return mf_select(mf_less(b, mf_zero()), -a, a);
}

typedef struct Gap {
    mf_lane distance; // [m] < 0: inside
    Vec normal;       // [1] away from the surface
} Gap;

static MF_INLINE mf_lane sign_of(mf_lane a) {
    return mf_select(mf_less(a, mf_zero()), mf_set((mf_real)-1), mf_set((mf_real)1));
}

// `over`: how far a point is beyond each of up to three slabs; directions of the slabs in `out`.
// The nearest surface point is on their intersection.
static MF_INLINE Gap slab_gap(Vec over, Vec out[3]) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Gap gap;
    Vec beyond = {mf_max(over.x, zero), mf_max(over.y, zero), mf_max(over.z, zero)};
    mf_lane far = mf_sqrt(vec_dot(beyond, beyond));
    mf_lane most = mf_max(over.x, mf_max(over.y, over.z));
    mf_mask outside = mf_less(zero, far);
    mf_lane share = one / mf_select(outside, far, one);
    mf_mask x_most = mf_less_equal(most, over.x);
    mf_mask y_most = mf_and(mf_not(x_most), mf_less_equal(most, over.y));
    mf_mask z_most = mf_not(mf_or(x_most, y_most));
    Vec part = {mf_select(outside, beyond.x * share, mf_keep(x_most, one)),
                mf_select(outside, beyond.y * share, mf_keep(y_most, one)),
                mf_select(outside, beyond.z * share, mf_keep(z_most, one))};
    gap.distance = mf_select(outside, far, most);
    gap.normal = vec_fma(out[0], part.x, vec_fma(out[1], part.y, vec_scale(out[2], part.z)));
    return gap;
}

static MF_INLINE Gap round_gap(Vec from, mf_lane radius) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane far = mf_sqrt(vec_dot(from, from));
    mf_mask apart = mf_less(mf_zero(), far);
    mf_lane share = one / mf_select(apart, far, one);
    Gap gap = {far - radius,
               {from.x * share, from.y * share, mf_select(apart, from.z * share, one)}};
    return gap;
}

// A box or cylinder as what is in all of three slabs.
typedef struct Slabs {
    Vec over;   // [m] how far a point is beyond each
    Vec out[3]; // [1] directions of the slabs
} Slabs;

// A radius over that plus a distance from it; 1 inside.
static MF_INLINE mf_lane bend_of(mf_lane radius, mf_lane distance) {
    return radius / (radius + mf_max(distance, mf_zero()));
}

// ---- rays ---------------------------------------------------------------------------------------

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
    // Either ball overlaps the tube where the ray intersects both.
    return span_join(span_join(tube, ends[0]), ends[1]);
}

// ---- ellipsoids ---------------------------------------------------------------------------------

static Vec ellipsoid_reach(Vec size, Vec n) {
    Vec stretched = {size.x * n.x, size.y * n.y, size.z * n.z};
    mf_lane square = vec_dot(stretched, stretched);
    mf_lane inverse = mf_set((mf_real)1) / mf_sqrt(mf_max(square, mf_set(RAY_TINY)));
    return MF_VALUE(Vec, size.x * stretched.x * inverse, size.y * stretched.y * inverse,
                    size.z * stretched.z * inverse);
}

// The gap over the distance in a first approximation of an ellipsoid: k (k - 1) / |p / a^2| with
// k = |p / a|.
static MF_INLINE Gap ellipsoid_gap(const double half[3], Vec at) {
    const mf_lane one = mf_set((mf_real)1);
    Vec inverse = {mf_set((mf_real)(1.0 / half[0])), mf_set((mf_real)(1.0 / half[1])),
                   mf_set((mf_real)(1.0 / half[2]))};
    Vec scaled = {at.x * inverse.x, at.y * inverse.y, at.z * inverse.z};
    Vec slope = {scaled.x * inverse.x, scaled.y * inverse.y, scaled.z * inverse.z};
    mf_lane k = mf_sqrt(vec_dot(scaled, scaled)), steep = mf_sqrt(vec_dot(slope, slope));
    mf_lane share = one / mf_select(mf_less(mf_zero(), steep), steep, one);
    Gap gap = {k * (k - one) * share, vec_scale(slope, share)};
    return gap;
}

static inline Span ellipsoid_span(Vec size, Vec p, Vec d) {
    return span_ball(MF_VALUE(Vec, p.x / size.x, p.y / size.y, p.z / size.z),
                     MF_VALUE(Vec, d.x / size.x, d.y / size.y, d.z / size.z), mf_set((mf_real)1));
}

// An ellipsoid with these radii [m] has the support function sqrt(m . a), a = radii^2 m, so H x is
// (radii^2 x) / s - a (a . x) / s^3. Shape's axes.
static MF_INLINE Vec ellipsoid_roll(Vec radii, Vec normal, Vec direction) {
    const Vec square = {radii.x * radii.x, radii.y * radii.y, radii.z * radii.z};
    const Vec a = {square.x * normal.x, square.y * normal.y, square.z * normal.z};
    const mf_lane size = mf_sqrt(vec_dot(a, normal)), over = mf_set((mf_real)1) / size;
    const Vec first = {square.x * direction.x, square.y * direction.y, square.z * direction.z};
    return vec_scale(vec_fma(a, -(vec_dot(a, direction) * over * over), first), over);
}

// ---- cylinders ----------------------------------------------------------------------------------

static Vec cylinder_reach(Vec size, Vec n) {
    mf_lane square = mf_fma(n.x, n.x, n.y * n.y);
    mf_lane scale = size.x / mf_sqrt(mf_max(square, mf_set(RAY_TINY)));
    return MF_VALUE(Vec, n.x * scale, n.y * scale, with_sign(size.y, n.z));
}

// A cylinder about z rolls on its side or rim: radius / s along the rim, with s the sine between
// axis and normal. One that stands has no such radius, so it fades below s = 0.1.
static MF_INLINE Vec cylinder_roll(mf_lane radius, Vec normal, Vec direction) {
    const mf_lane least = mf_set((mf_real)0.1);
    const mf_lane size = mf_sqrt(mf_fma(normal.x, normal.x, normal.y * normal.y));
    const mf_lane over = mf_set((mf_real)1) / mf_max(size, least);
    const Vec along = {-normal.y * over, normal.x * over, mf_zero()};
    return vec_scale(along, radius * over * vec_dot(along, direction));
}

// ---- all kinds ----------------------------------------------------------------------------------

// Half sizes as of mf_ShapeKind.
static MF_INLINE Vec shape_size(const double half[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)half[0]), mf_set((mf_real)half[1]),
                    mf_set((mf_real)half[2]));
}

// The point [m] farthest along n of the core: a sphere is its center, a capsule its segment, the
// others are themselves. Not of hulls.
static MF_INLINE Vec shape_reach(mf_CollideKind kind, Vec size, Vec n) {
    const mf_lane zero = mf_zero();
    switch (kind) {
    case MF_COLLIDE_CAPSULE:
        return MF_VALUE(Vec, zero, zero, with_sign(size.y, n.z));
    case MF_COLLIDE_ELLIPSOID:
        return ellipsoid_reach(size, n);
    case MF_COLLIDE_CYLINDER:
        return cylinder_reach(size, n);
    case MF_COLLIDE_BOX:
        return MF_VALUE(Vec, with_sign(size.x, n.x), with_sign(size.y, n.y),
                        with_sign(size.z, n.z));
    default:
        return MF_VALUE(Vec, zero, zero, zero);
    }
}

static MF_INLINE Slabs shape_slabs(mf_CollideKind kind, Vec size, Vec p) {
    const mf_lane zero = mf_zero();
    Slabs slabs = {
        {mf_abs(p.x) - size.x, mf_abs(p.y) - size.y, mf_abs(p.z) - size.z},
        {{sign_of(p.x), zero, zero}, {zero, sign_of(p.y), zero}, {zero, zero, sign_of(p.z)}}};
    if (kind == MF_COLLIDE_CYLINDER) {
        const Gap side = round_gap(MF_VALUE(Vec, p.x, p.y, zero), size.x);
        slabs.out[0] = side.normal;
        slabs.over = MF_VALUE(Vec, side.distance, mf_set((mf_real)-1e15), mf_abs(p.z) - size.y);
    }
    return slabs;
}

// Of a point from the surface; not of hulls.
static MF_INLINE Gap shape_gap(mf_CollideKind kind, const double half[3], Vec p) {
    const Vec size = shape_size(half);
    switch (kind) {
    case MF_COLLIDE_SPHERE:
        return round_gap(p, size.x);
    case MF_COLLIDE_CAPSULE:
        return round_gap(MF_VALUE(Vec, p.x, p.y, p.z - mf_clamp(p.z, -size.y, size.y)), size.x);
    case MF_COLLIDE_ELLIPSOID:
        return ellipsoid_gap(half, p);
    default: {
        Slabs slabs = shape_slabs(kind, size, p);
        return slab_gap(slabs.over, slabs.out);
    }
    }
}

// How much a round surface bends away at a distance [m] from it: its area over that of the surface
// parallel to it through p.
static MF_INLINE mf_lane shape_bend(mf_CollideKind kind, Vec size, Vec p, mf_lane distance) {
    const mf_lane one = mf_set((mf_real)1), bend = bend_of(size.x, distance);
    const Vec scaled = {p.x / size.x, p.y / size.y, p.z / size.z};
    switch (kind) {
    case MF_COLLIDE_CAPSULE:
        return mf_select(mf_less(mf_abs(p.z), size.y), bend, bend * bend);
    case MF_COLLIDE_ELLIPSOID:
        return one / mf_max(vec_dot(scaled, scaled), one);
    default: // a sphere
        return bend * bend;
    }
}

// The part of the ray p + t d inside.
static inline Span shape_span(mf_CollideKind kind, Vec size, Vec p, Vec d) {
    switch (kind) {
    case MF_COLLIDE_SPHERE:
        return span_ball(p, d, size.x);
    case MF_COLLIDE_CAPSULE:
        return span_capsule(p, d, size.x, size.y);
    case MF_COLLIDE_CYLINDER:
        return span_tube(p, d, size.x, size.y);
    case MF_COLLIDE_ELLIPSOID:
        return ellipsoid_span(size, p, d);
    default: // a box
        return span_intersect(
            span_slab(p.x, d.x, size.x),
            span_intersect(span_slab(p.y, d.y, size.y), span_slab(p.z, d.z, size.z)));
    }
}

// H x of a curved surface (articulated/contact/contact_rows.h) where its normal is m.
static MF_INLINE Vec shape_roll(mf_CollideKind kind, Vec size, Vec m, Vec x) {
    return kind == MF_COLLIDE_CYLINDER ? cylinder_roll(size.x, m, x) : ellipsoid_roll(size, m, x);
}
