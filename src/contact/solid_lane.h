// Signed distances of points from solids (contact/solid.h), in lanes.
#ifndef MF_CONTACT_SOLID_LANE_H
#define MF_CONTACT_SOLID_LANE_H

#include "contact/solid.h"
#include "math/lane_vector.h"

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

// The gap over the distance in a first approximation of an ellipsoid: k (k - 1) / |p / a^2| with
// k = |p / a|.
static MF_INLINE Gap ellipsoid_gap(Vec at, const mf_Solid *solid) {
    const mf_lane one = mf_set((mf_real)1);
    Vec inverse = {mf_set((mf_real)(1.0 / solid->half[0])), mf_set((mf_real)(1.0 / solid->half[1])),
                   mf_set((mf_real)(1.0 / solid->half[2]))};
    Vec scaled = {at.x * inverse.x, at.y * inverse.y, at.z * inverse.z};
    Vec slope = {scaled.x * inverse.x, scaled.y * inverse.y, scaled.z * inverse.z};
    mf_lane k = mf_sqrt(vec_dot(scaled, scaled)), steep = mf_sqrt(vec_dot(slope, slope));
    mf_lane share = one / mf_select(mf_less(mf_zero(), steep), steep, one);
    Gap gap = {k * (k - one) * share, vec_scale(slope, share)};
    return gap;
}

// The largest distance from a face: exact inside and before faces, too small before edges.
static MF_INLINE Gap hull_gap(Vec at, const mf_Solid *solid) {
    Gap gap = {mf_set((mf_real)-1e30), {mf_zero(), mf_zero(), mf_set((mf_real)1)}};
    for (uint32_t f = 0; f < solid->face_count; f++) {
        const mf_SolidFace *face = &solid->faces[f];
        Vec normal = {mf_set((mf_real)face->normal[0]), mf_set((mf_real)face->normal[1]),
                      mf_set((mf_real)face->normal[2])};
        mf_lane distance = vec_dot(normal, at) - mf_set((mf_real)face->distance);
        mf_mask more = mf_less(gap.distance, distance);
        gap.distance = mf_select(more, distance, gap.distance);
        gap.normal = vec_select(more, normal, gap.normal);
    }
    return gap;
}

static MF_INLINE Mat solid_axes(const mf_Solid *solid) {
    const double *m = solid->rotation;
    return MF_VALUE(Mat, mf_set((mf_real)m[0]), mf_set((mf_real)m[1]), mf_set((mf_real)m[2]),
                    mf_set((mf_real)m[3]), mf_set((mf_real)m[4]), mf_set((mf_real)m[5]),
                    mf_set((mf_real)m[6]), mf_set((mf_real)m[7]), mf_set((mf_real)m[8]));
}

static MF_INLINE Vec vec_set(const double a[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)a[0]), mf_set((mf_real)a[1]), mf_set((mf_real)a[2]));
}

// In the solid's axes.
static MF_INLINE Gap own_gap(Vec p, const mf_Solid *solid) {
    const mf_lane zero = mf_zero();
    const mf_lane a = mf_set((mf_real)solid->half[0]), b = mf_set((mf_real)solid->half[1]),
                  c = mf_set((mf_real)solid->half[2]);
    Vec out[3] = {
        {sign_of(p.x), zero, zero}, {zero, sign_of(p.y), zero}, {zero, zero, sign_of(p.z)}};
    Vec over = {mf_abs(p.x) - a, mf_abs(p.y) - b, mf_abs(p.z) - c};
    switch (solid->kind) {
    case MF_COLLIDE_SPHERE:
        return round_gap(p, a);
    case MF_COLLIDE_CAPSULE:
        return round_gap(MF_VALUE(Vec, p.x, p.y, p.z - mf_clamp(p.z, -b, b)), a);
    case MF_COLLIDE_ELLIPSOID:
        return ellipsoid_gap(p, solid);
    case MF_COLLIDE_HULL:
        return hull_gap(p, solid);
    case MF_COLLIDE_CYLINDER: {
        Gap side = round_gap(MF_VALUE(Vec, p.x, p.y, zero), a);
        out[0] = side.normal;
        over = MF_VALUE(Vec, side.distance, mf_set((mf_real)-1e30), mf_abs(p.z) - b);
        return slab_gap(over, out);
    }
    default: // a box
        return slab_gap(over, out);
    }
}

// In its axes.
static MF_INLINE Vec solid_position(const mf_Solid *solid, const Mat *axes, Vec at) {
    return mat_apply_transposed(axes, vec_sub(at, vec_set(solid->center)));
}

static MF_INLINE Gap solid_gap(const mf_Solid *solid, Vec at) {
    const Mat axes = solid_axes(solid);
    Gap gap = own_gap(solid_position(solid, &axes, at), solid);
    gap.normal = mat_apply(&axes, gap.normal);
    return gap;
}

// Velocity of the solid at a point.
static MF_INLINE Vec solid_velocity(const mf_Solid *solid, Vec at) {
    return vec_cross_add(vec_set(solid->rate), vec_sub(at, vec_set(solid->center)),
                         vec_set(solid->velocity));
}

#endif
