// Three-vectors, 3x3 matrices and quaternions of lanes, and rows of fields.
#pragma once

#include "math/lane_functions.h"

typedef struct Vec {
    mf_lane x, y, z;
} Vec;

typedef struct Mat { // rows: xx xy xz, yx yy yz, zx zy zz
    mf_lane xx, xy, xz, yx, yy, yz, zx, zy, zz;
} Mat;

typedef struct Sym { // symmetric
    mf_lane xx, yy, zz, xy, xz, yz;
} Sym;

typedef struct Quat {
    mf_lane w, x, y, z;
} Quat;

static MF_INLINE Vec vec_add(Vec a, Vec b) {
    return MF_VALUE(Vec, a.x + b.x, a.y + b.y, a.z + b.z);
}
static MF_INLINE Vec vec_sub(Vec a, Vec b) {
    return MF_VALUE(Vec, a.x - b.x, a.y - b.y, a.z - b.z);
}
// What slows down by a part of its speed comes to subnormal numbers, with which processors are
// slow, and stays there, for it is rounded back. So a speed below MF_LEAST_SPEED [m/s, rad/s] is 0.
// A joint next to its zero has both set: with an angle [rad, m] below MF_LEAST_ANGLE, products of
// three such numbers are subnormal already.
#if defined(MF_KERNEL_F64)
#define MF_LEAST_SPEED ((mf_real)1e-250)
#define MF_LEAST_ANGLE ((mf_real)1e-90)
#else
#define MF_LEAST_SPEED ((mf_real)1e-30)
#define MF_LEAST_ANGLE ((mf_real)1e-11)
#endif
static MF_INLINE mf_lane if_moves(mf_lane speed) { // NaN stays
    return mf_keep(mf_not(mf_less_equal(mf_abs(speed), mf_set(MF_LEAST_SPEED))), speed);
}

static MF_INLINE Vec vec_if_moves(Vec a) {
    return MF_VALUE(Vec, if_moves(a.x), if_moves(a.y), if_moves(a.z));
}

static MF_INLINE void settle_joint(mf_lane *angle, mf_lane *speed) {
    const mf_lane least = mf_set(MF_LEAST_ANGLE);
    const mf_mask fast = mf_less(least, mf_abs(*speed));
    if (mf_all(fast))
        return;
    const mf_mask apart = mf_or(fast, mf_less(least, mf_abs(*angle)));
    *angle = mf_keep(apart, *angle);
    *speed = mf_keep(apart, if_moves(*speed));
}

static MF_INLINE Vec vec_scale(Vec a, mf_lane s) {
    return MF_VALUE(Vec, a.x * s, a.y * s, a.z * s);
}
static MF_INLINE mf_lane vec_dot(Vec a, Vec b) {
    return mf_fma(a.x, b.x, mf_fma(a.y, b.y, a.z * b.z));
}
// a s + b
static MF_INLINE Vec vec_fma(Vec a, mf_lane s, Vec b) {
    return MF_VALUE(Vec, mf_fma(a.x, s, b.x), mf_fma(a.y, s, b.y), mf_fma(a.z, s, b.z));
}
static MF_INLINE Vec vec_cross(Vec a, Vec b) {
    return MF_VALUE(Vec, mf_fma(a.y, b.z, -(a.z * b.y)), mf_fma(a.z, b.x, -(a.x * b.z)),
                    mf_fma(a.x, b.y, -(a.y * b.x)));
}
// a x b + c
static MF_INLINE Vec vec_cross_add(Vec a, Vec b, Vec c) {
    return MF_VALUE(Vec, mf_fma(-a.z, b.y, mf_fma(a.y, b.z, c.x)),
                    mf_fma(-a.x, b.z, mf_fma(a.z, b.x, c.y)),
                    mf_fma(-a.y, b.x, mf_fma(a.x, b.y, c.z)));
}
static MF_INLINE Vec vec_select(mf_mask mask, Vec a, Vec b) {
    return MF_VALUE(Vec, mf_select(mask, a.x, b.x), mf_select(mask, a.y, b.y),
                    mf_select(mask, a.z, b.z));
}

static MF_INLINE Vec vec_keep(mf_mask mask, Vec a) {
    return MF_VALUE(Vec, mf_keep(mask, a.x), mf_keep(mask, a.y), mf_keep(mask, a.z));
}

static MF_INLINE Vec mat_apply(const Mat *m, Vec a) {
    return MF_VALUE(Vec, vec_dot(MF_VALUE(Vec, m->xx, m->xy, m->xz), a),
                    vec_dot(MF_VALUE(Vec, m->yx, m->yy, m->yz), a),
                    vec_dot(MF_VALUE(Vec, m->zx, m->zy, m->zz), a));
}
static MF_INLINE mf_lane vec_dot_add(Vec a, Vec b, mf_lane c) {
    return mf_fma(a.x, b.x, mf_fma(a.y, b.y, mf_fma(a.z, b.z, c)));
}
// m a + b
static MF_INLINE Vec mat_apply_add(const Mat *m, Vec a, Vec b) {
    return MF_VALUE(Vec, vec_dot_add(MF_VALUE(Vec, m->xx, m->xy, m->xz), a, b.x),
                    vec_dot_add(MF_VALUE(Vec, m->yx, m->yy, m->yz), a, b.y),
                    vec_dot_add(MF_VALUE(Vec, m->zx, m->zy, m->zz), a, b.z));
}
static MF_INLINE Vec mat_apply_transposed(const Mat *m, Vec a) {
    return MF_VALUE(Vec, vec_dot(MF_VALUE(Vec, m->xx, m->yx, m->zx), a),
                    vec_dot(MF_VALUE(Vec, m->xy, m->yy, m->zy), a),
                    vec_dot(MF_VALUE(Vec, m->xz, m->yz, m->zz), a));
}
static MF_INLINE Vec mat_apply_transposed_add(const Mat *m, Vec a, Vec b) {
    return MF_VALUE(Vec, vec_dot_add(MF_VALUE(Vec, m->xx, m->yx, m->zx), a, b.x),
                    vec_dot_add(MF_VALUE(Vec, m->xy, m->yy, m->zy), a, b.y),
                    vec_dot_add(MF_VALUE(Vec, m->xz, m->yz, m->zz), a, b.z));
}
static MF_INLINE Vec sym_apply(const Sym *s, Vec a) {
    return MF_VALUE(Vec, vec_dot(MF_VALUE(Vec, s->xx, s->xy, s->xz), a),
                    vec_dot(MF_VALUE(Vec, s->xy, s->yy, s->yz), a),
                    vec_dot(MF_VALUE(Vec, s->xz, s->yz, s->zz), a));
}
static MF_INLINE Vec sym_apply_add(const Sym *s, Vec a, Vec b) {
    return MF_VALUE(Vec, vec_dot_add(MF_VALUE(Vec, s->xx, s->xy, s->xz), a, b.x),
                    vec_dot_add(MF_VALUE(Vec, s->xy, s->yy, s->yz), a, b.y),
                    vec_dot_add(MF_VALUE(Vec, s->xz, s->yz, s->zz), a, b.z));
}

// The inverse of a positive tensor by its cofactors. Small ones are scaled by 2^40 first: those of
// bodies of a millimeter are 1e-13 kg m^2, and the product of three of them is 0 in single
// precision.
static MF_INLINE Sym sym_inverse(const Sym *tensor) {
    const mf_lane one = mf_set((mf_real)1);
    const mf_lane size = tensor->xx + tensor->yy + tensor->zz;
    const mf_lane k = mf_select(mf_less(size, mf_set((mf_real)1e-6)), mf_set((mf_real)0x1p40), one);
    const Sym s = {tensor->xx * k, tensor->yy * k, tensor->zz * k,
                   tensor->xy * k, tensor->xz * k, tensor->yz * k};
    const mf_lane xx = mf_fma(s.yy, s.zz, -(s.yz * s.yz)), yy = mf_fma(s.xx, s.zz, -(s.xz * s.xz)),
                  zz = mf_fma(s.xx, s.yy, -(s.xy * s.xy)), xy = mf_fma(s.xz, s.yz, -(s.xy * s.zz)),
                  xz = mf_fma(s.xy, s.yz, -(s.xz * s.yy)), yz = mf_fma(s.xy, s.xz, -(s.xx * s.yz));
    const mf_lane scale =
        one / vec_dot(MF_VALUE(Vec, s.xx, s.xy, s.xz), MF_VALUE(Vec, xx, xy, xz)) * k;
    return MF_VALUE(Sym, xx * scale, yy * scale, zz * scale, xy * scale, xz * scale, yz * scale);
}

// m s m^T: a symmetric tensor of the body in world axes.
static MF_INLINE Sym sym_rotate(const Mat *m, const Sym *s) {
    Vec a = sym_apply(s, MF_VALUE(Vec, m->xx, m->xy, m->xz));
    Vec b = sym_apply(s, MF_VALUE(Vec, m->yx, m->yy, m->yz));
    Vec c = sym_apply(s, MF_VALUE(Vec, m->zx, m->zy, m->zz));
    Vec row_y = {m->yx, m->yy, m->yz}, row_z = {m->zx, m->zy, m->zz};
    return MF_VALUE(Sym, vec_dot(MF_VALUE(Vec, m->xx, m->xy, m->xz), a), vec_dot(row_y, b),
                    vec_dot(row_z, c), vec_dot(row_y, a), vec_dot(row_z, a), vec_dot(row_z, b));
}

static MF_INLINE Quat quat_multiply(Quat a, Quat b) {
    return MF_VALUE(Quat, mf_fma(a.w, b.w, mf_fma(-a.x, b.x, mf_fma(-a.y, b.y, -(a.z * b.z)))),
                    mf_fma(a.w, b.x, mf_fma(a.x, b.w, mf_fma(a.y, b.z, -(a.z * b.y)))),
                    mf_fma(a.w, b.y, mf_fma(a.y, b.w, mf_fma(a.z, b.x, -(a.x * b.z)))),
                    mf_fma(a.w, b.z, mf_fma(a.z, b.w, mf_fma(a.x, b.y, -(a.y * b.x)))));
}

static MF_INLINE Quat quat_select(mf_mask mask, Quat a, Quat b) {
    return MF_VALUE(Quat, mf_select(mask, a.w, b.w), mf_select(mask, a.x, b.x),
                    mf_select(mask, a.y, b.y), mf_select(mask, a.z, b.z));
}

static MF_INLINE Quat quat_normalize(Quat q) {
    mf_lane square = mf_fma(q.w, q.w, mf_fma(q.x, q.x, mf_fma(q.y, q.y, q.z * q.z)));
    mf_lane scale = mf_set((mf_real)1) / mf_sqrt(square);
    return MF_VALUE(Quat, q.w * scale, q.x * scale, q.y * scale, q.z * scale);
}

// A quaternion of length 1 + e comes out with length 1 - 3/2 e^2, without a division.
static MF_INLINE Quat quat_renormalize(Quat q) {
    mf_lane square = mf_fma(q.w, q.w, q.x * q.x) + mf_fma(q.y, q.y, q.z * q.z);
    mf_lane scale = mf_fma(mf_set((mf_real)-0.5), square, mf_set((mf_real)1.5));
    return MF_VALUE(Quat, q.w * scale, q.x * scale, q.y * scale, q.z * scale);
}

// exp(v) - 1 for a small vector v [1], to fourth order: exp(v) is a rotation by 2 |v| about v, with
// an error of |v|^5 / 120 rad and a length of 1 - |v|^6 / 144.
static MF_INLINE Quat quat_exponential_less_one(Vec v) {
    mf_lane square = vec_dot(v, v), one = mf_set((mf_real)1);
    mf_lane cosine = mf_fma(square, mf_set((mf_real)(1.0 / 24)), mf_set((mf_real)-0.5));
    v = vec_scale(v, mf_fma(square, mf_set((mf_real)(-1.0 / 6)), one));
    return MF_VALUE(Quat, square * cosine, v.x, v.y, v.z);
}

static MF_INLINE Quat quat_exponential(Vec v) {
    Quat q = quat_exponential_less_one(v);
    q.w = q.w + mf_set((mf_real)1);
    return q;
}

// Rotates the world attitude q by a small rotation vector in world axes (2 atan(|r|/2) about r).
static MF_INLINE Quat quat_rotation(Quat q, Vec rotation) {
    Vec half = vec_scale(rotation, mf_set((mf_real)0.5));
    return quat_normalize(
        quat_multiply(MF_VALUE(Quat, mf_set((mf_real)1), half.x, half.y, half.z), q));
}

static MF_INLINE Mat quat_matrix(Quat q) {
    mf_lane one = mf_set((mf_real)1);
    mf_lane x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    mf_lane wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    mf_lane less_xx = mf_fma(-q.x, x2, one), less_yy = mf_fma(-q.y, y2, one);
    return MF_VALUE(Mat, mf_fma(-q.z, z2, less_yy), mf_fma(q.x, y2, -wz), mf_fma(q.x, z2, wy),
                    mf_fma(q.x, y2, wz), mf_fma(-q.z, z2, less_xx), mf_fma(q.y, z2, -wx),
                    mf_fma(q.x, z2, -wy), mf_fma(q.y, z2, wx), mf_fma(-q.y, y2, less_xx));
}

// ---- rows of a field: component c of all lanes at `row(base, c)` --------------------------------

static MF_INLINE mf_lane row_load(const mf_real *base, size_t c) {
    return mf_load(base + c * 16);
}
static MF_INLINE void row_store(mf_real *base, size_t c, mf_lane a) {
    mf_store(base + c * 16, a);
}
static MF_INLINE Vec vec_load(const mf_real *base, size_t c) {
    return MF_VALUE(Vec, row_load(base, c), row_load(base, c + 1), row_load(base, c + 2));
}
static MF_INLINE void vec_store(mf_real *base, size_t c, Vec a) {
    row_store(base, c, a.x);
    row_store(base, c + 1, a.y);
    row_store(base, c + 2, a.z);
}
static MF_INLINE Sym sym_load(const mf_real *base) {
    return MF_VALUE(Sym, row_load(base, 0), row_load(base, 1), row_load(base, 2), row_load(base, 3),
                    row_load(base, 4), row_load(base, 5));
}
static MF_INLINE void sym_store(mf_real *base, Sym s) {
    row_store(base, 0, s.xx);
    row_store(base, 1, s.yy);
    row_store(base, 2, s.zz);
    row_store(base, 3, s.xy);
    row_store(base, 4, s.xz);
    row_store(base, 5, s.yz);
}
