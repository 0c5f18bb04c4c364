// Three-vectors, 3x3 matrices and quaternions of lanes.
#ifndef MF_MOTION_POINTS_VECTOR_H
#define MF_MOTION_POINTS_VECTOR_H

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

static inline Vec vec_add(Vec a, Vec b) {
    return (Vec){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline Vec vec_sub(Vec a, Vec b) {
    return (Vec){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline Vec vec_scale(Vec a, mf_lane s) {
    return (Vec){a.x * s, a.y * s, a.z * s};
}
static inline mf_lane vec_dot(Vec a, Vec b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline Vec vec_cross(Vec a, Vec b) {
    return (Vec){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Vec vec_select(mf_mask mask, Vec a, Vec b) {
    return (Vec){mf_select(mask, a.x, b.x), mf_select(mask, a.y, b.y), mf_select(mask, a.z, b.z)};
}

static inline Vec mat_apply(const Mat *m, Vec a) {
    return (Vec){m->xx * a.x + m->xy * a.y + m->xz * a.z, m->yx * a.x + m->yy * a.y + m->yz * a.z,
                 m->zx * a.x + m->zy * a.y + m->zz * a.z};
}
static inline Vec mat_apply_transposed(const Mat *m, Vec a) {
    return (Vec){m->xx * a.x + m->yx * a.y + m->zx * a.z, m->xy * a.x + m->yy * a.y + m->zy * a.z,
                 m->xz * a.x + m->yz * a.y + m->zz * a.z};
}
static inline Vec sym_apply(const Sym *s, Vec a) {
    return (Vec){s->xx * a.x + s->xy * a.y + s->xz * a.z, s->xy * a.x + s->yy * a.y + s->yz * a.z,
                 s->xz * a.x + s->yz * a.y + s->zz * a.z};
}

static inline Sym sym_select(mf_mask mask, const Sym *a, const Sym *b) {
    return (Sym){mf_select(mask, a->xx, b->xx), mf_select(mask, a->yy, b->yy),
                 mf_select(mask, a->zz, b->zz), mf_select(mask, a->xy, b->xy),
                 mf_select(mask, a->xz, b->xz), mf_select(mask, a->yz, b->yz)};
}

// m s m^T: a symmetric tensor of the body in world axes.
static inline Sym sym_turn(const Mat *m, const Sym *s) {
    Vec a = sym_apply(s, (Vec){m->xx, m->xy, m->xz});
    Vec b = sym_apply(s, (Vec){m->yx, m->yy, m->yz});
    Vec c = sym_apply(s, (Vec){m->zx, m->zy, m->zz});
    Vec row_y = {m->yx, m->yy, m->yz}, row_z = {m->zx, m->zy, m->zz};
    return (Sym){vec_dot((Vec){m->xx, m->xy, m->xz}, a),
                 vec_dot(row_y, b),
                 vec_dot(row_z, c),
                 vec_dot(row_y, a),
                 vec_dot(row_z, a),
                 vec_dot(row_z, b)};
}

static inline Quat quat_multiply(Quat a, Quat b) {
    return (Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                  a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                  a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}

static inline Quat quat_select(mf_mask mask, Quat a, Quat b) {
    return (Quat){mf_select(mask, a.w, b.w), mf_select(mask, a.x, b.x), mf_select(mask, a.y, b.y),
                  mf_select(mask, a.z, b.z)};
}

static inline Quat quat_normalize(Quat q) {
    mf_lane scale = mf_set((mf_real)1) / mf_sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    return (Quat){q.w * scale, q.x * scale, q.y * scale, q.z * scale};
}

// Turns the world attitude q by a small rotation vector in world axes (2 atan(|r|/2) about r).
static inline Quat quat_turn(Quat q, Vec rotation) {
    mf_lane half = mf_set((mf_real)0.5);
    Quat turn = {mf_set((mf_real)1), rotation.x * half, rotation.y * half, rotation.z * half};
    return quat_normalize(quat_multiply(turn, q));
}

static inline Mat quat_matrix(Quat q) {
    mf_lane one = mf_set((mf_real)1);
    mf_lane x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    mf_lane xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
    mf_lane xy = q.x * y2, xz = q.x * z2, yz = q.y * z2;
    mf_lane wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    return (Mat){one - (yy + zz), xy - wz, xz + wy, xy + wz,        one - (xx + zz),
                 yz - wx,         xz - wy, yz + wx, one - (xx + yy)};
}

// ---- rows of a field: component c of all lanes at `row(base, c)` --------------------------------

static inline mf_lane row_load(const mf_real *base, uint32_t c) {
    return mf_load(base + (size_t)c * 16);
}
static inline void row_store(mf_real *base, uint32_t c, mf_lane a) {
    mf_store(base + (size_t)c * 16, a);
}
static inline Vec vec_load(const mf_real *base, uint32_t c) {
    return (Vec){row_load(base, c), row_load(base, c + 1), row_load(base, c + 2)};
}
static inline void vec_store(mf_real *base, uint32_t c, Vec a) {
    row_store(base, c, a.x);
    row_store(base, c + 1, a.y);
    row_store(base, c + 2, a.z);
}
static inline Sym sym_load(const mf_real *base) {
    return (Sym){row_load(base, 0), row_load(base, 1), row_load(base, 2),
                 row_load(base, 3), row_load(base, 4), row_load(base, 5)};
}
static inline void sym_store(mf_real *base, Sym s) {
    row_store(base, 0, s.xx);
    row_store(base, 1, s.yy);
    row_store(base, 2, s.zz);
    row_store(base, 3, s.xy);
    row_store(base, 4, s.xz);
    row_store(base, 5, s.yz);
}

#endif
