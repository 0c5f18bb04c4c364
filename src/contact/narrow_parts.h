// What the narrow phase of all pairs shares: both solids in the world, and how a contact is put
// down. Only collide_kernel.c includes this and the other narrow_*.h.
#pragma once

#include "contact/mat_lane.h"
#include "contact/narrow.h"
#include "contact/shape_lane.h"

typedef struct Solid {
    mf_CollideKind kind;
#if defined(MF_NARROW_EACH)
    mf_lane sizes[4]; // [m] half sizes and radius as in the rows MF_COLLIDE_*
#else
    const ShapeValue *values; // rows MF_COLLIDE_*
#endif
    const mf_ConvexHull *hull;
    Mat rotation; // its axes to the world's
    Vec position; // [m] of its center, world
} Solid;

// A pair at work. Squares below TINY are taken for 0: directions cannot be found from them.
typedef struct PairTest {
    Solid a, b;
    mf_lane bound; // [m] contacts must be deeper
    mf_lane scale; // [m] size of the pair, for tolerances
    mf_lane small; // [m] size of the smaller solid: contacts nearer than 1 % of it are one
    mf_mask sound; // lanes of which the frames are finite and the boxes near
    bool boxed;    // `start` is set
    bool wide;     // it has a margin
    Vec start;     // [1] axes of a: along it the boxes overlap least
    Manifold *out;
} PairTest;

#define TINY mf_set((mf_real)1e-30)
#define NOISE (16 * MF_REAL_EPSILON) // [1] relative, of lengths from a few operations

#if defined(MF_NARROW_EACH)
static MF_INLINE mf_lane half(const Solid *solid, uint32_t i) {
    return solid->sizes[i];
}
static MF_INLINE mf_lane radius_of(const Solid *solid) {
    return solid->sizes[3];
}
#else
static MF_INLINE mf_lane half(const Solid *solid, uint32_t i) {
    return shape_value(&solid->values[MF_COLLIDE_HALF + i]);
}
static MF_INLINE mf_lane radius_of(const Solid *solid) {
    return shape_value(&solid->values[MF_COLLIDE_RADIUS]);
}
#endif

static MF_INLINE Vec halves(const Solid *solid) {
    return MF_VALUE(Vec, half(solid, 0), half(solid, 1), half(solid, 2));
}

static MF_INLINE Vec axis_z(const Mat *rotation) {
    return MF_VALUE(Vec, rotation->xz, rotation->yz, rotation->zz);
}

static MF_INLINE Vec constant_vec(double x, double y, double z) {
    return MF_VALUE(Vec, mf_set((mf_real)x), mf_set((mf_real)y), mf_set((mf_real)z));
}

// -a. Not by a minus sign: before a fused multiply-add compilers make one instruction of both, in
// which a sum that cancels gets the other sign of zero.
static MF_INLINE mf_lane minus(mf_lane a) {
    return mf_zero() - a;
}

static MF_INLINE Vec vec_minus(Vec a) {
    return MF_VALUE(Vec, minus(a.x), minus(a.y), minus(a.z));
}

// `a` made unit; `other` where it has no direction. Its length goes to *length.
static MF_INLINE Vec unit_or(Vec a, Vec other, mf_lane *length) {
    mf_lane square = vec_dot(a, a);
    mf_mask fine = mf_less(TINY, square);
    *length = mf_keep(fine, mf_sqrt(mf_max(square, TINY)));
    mf_lane inverse = mf_set((mf_real)1) / mf_select(fine, *length, mf_set((mf_real)1));
    return vec_select(fine, vec_scale(a, inverse), other);
}

// A unit vector perpendicular to the unit vector `a`: across the axis that it has least of.
static inline Vec perpendicular(Vec a) {
    const mf_lane zero = mf_zero();
    mf_lane x = mf_abs(a.x), y = mf_abs(a.y), z = mf_abs(a.z);
    mf_mask least_x = mf_and(mf_less_equal(x, y), mf_less_equal(x, z));
    mf_mask least_y = mf_less_equal(y, z);
    Vec other = vec_select(least_y, MF_VALUE(Vec, a.z, zero, -a.x), MF_VALUE(Vec, -a.y, a.x, zero));
    other = vec_select(least_x, MF_VALUE(Vec, zero, -a.z, a.y), other);
    mf_lane length;
    return unit_or(other, constant_vec(1, 0, 0), &length);
}

// Contact i of the pair, in the lanes of `where` that are deep enough. Point and normal in the
// world. Contacts are put down in order of their numbers.
static inline void put(PairTest *test, uint32_t i, mf_mask where, Vec point, Vec normal,
                       mf_lane depth) {
    ShapeContact *contact = &test->out->contact[i];
    mf_mask exists = mf_and(mf_and(where, test->sound), mf_less(test->bound, depth));
    contact->exists = exists;
    contact->point = vec_select(exists, point, constant_vec(0, 0, 0));
    contact->normal = vec_select(exists, normal, constant_vec(0, 0, 0));
    contact->depth = mf_keep(exists, depth);
    if (mf_any(exists))
        test->out->count = i + 1;
}

// As above from a point [m] and normal in the axes of a, seen from its center.
static inline void put_from_a(PairTest *test, uint32_t i, mf_mask where, Vec point, Vec normal,
                              mf_lane depth) {
    put(test, i, where, mat_apply_add(&test->a.rotation, point, test->a.position),
        mat_apply(&test->a.rotation, normal), depth);
}
