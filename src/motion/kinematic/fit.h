// Where a body is whose points are to lie on given positions: least squares by Gauss and Newton, in
// the body's axes before the step.
//
// With y_i the points about their mean and d_i the ways from them to their positions about theirs,
// the sums C = sum y y^T and G = sum d y^T hold all that is needed: the rotation vector t with
//     (tr C - C) t = sum y_i x d_i
// is the Gauss-Newton step (Wahba's problem; Markley and Crassidis, Fundamentals of Spacecraft
// Attitude Determination and Control, 2014, chapter 5), and turning the positions back by it makes
//     G' = G + E^T (G + C),   E = R(t) - 1,
// while C stays. G is small from the beginning and E is formed without cancellation, so what is
// left falls with the square down to the rounding of the ways, not of the places.
//
// Points in one line, or one position, leave turns open. They are damped there: a turn that nothing
// requests is not made, so the body keeps its attitude.
#ifndef MF_MOTION_KINEMATIC_FIT_H
#define MF_MOTION_KINEMATIC_FIT_H

#include "motion/articulated/state.h"

typedef struct Fit {
    mf_lane count;   // [1] points that hold
    Vec middle;      // [m] mean of the points
    Vec direction;   // [m] mean of the ways
    Sym c;           // [m^2]
    Mat g;           // [m^2]
    mf_mask thin;    // the points lie in a line or in one position
    mf_mask lone;    // in one position
    Quat rotation;   // [1] result
    mf_mask settled; // a step was small
    mf_lane left;    // [rad] the last step
} Fit;

// Half a rotation vector as a rotation: by 2 atan |half|.
static MF_INLINE Quat quat_of_half(Vec half) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane w = one / mf_sqrt(mf_fma(half.x, half.x,
                                     mf_fma(half.y, half.y, //
                                            mf_fma(half.z, half.z, one))));
    return MF_VALUE(Quat, w, half.x * w, half.y * w, half.z * w);
}

// R(q) - 1 without cancellation.
static MF_INLINE Mat quat_excess(Quat q) {
    mf_lane x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    mf_lane wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    mf_lane xx = q.x * x2, yy = q.y * y2, zz = q.z * z2;
    return MF_VALUE(Mat, -(yy + zz), mf_fma(q.x, y2, -wz), mf_fma(q.x, z2, wy), mf_fma(q.x, y2, wz),
                    -(xx + zz), mf_fma(q.y, z2, -wx), mf_fma(q.x, z2, -wy), mf_fma(q.y, z2, wx),
                    -(xx + yy));
}

static MF_INLINE void fit_count(Fit *fit, mf_lane holds, Vec point, Vec direction) {
    fit->count = fit->count + holds;
    fit->middle = vec_fma(point, holds, fit->middle);
    fit->direction = vec_fma(direction, holds, fit->direction);
}

static MF_INLINE void fit_means(Fit *fit) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane part = one / mf_max(fit->count, one);
    fit->middle = vec_scale(fit->middle, part);
    fit->direction = vec_scale(fit->direction, part);
}

static MF_INLINE void fit_add(Fit *fit, mf_lane holds, Vec point, Vec offset) {
    Vec y = vec_sub(point, fit->middle), d = vec_sub(offset, fit->direction),
        k = vec_scale(y, holds);
    Sym *c = &fit->c;
    Mat *g = &fit->g;
    *c = MF_VALUE(Sym, mf_fma(k.x, y.x, c->xx), mf_fma(k.y, y.y, c->yy), mf_fma(k.z, y.z, c->zz),
                  mf_fma(k.x, y.y, c->xy), mf_fma(k.x, y.z, c->xz), mf_fma(k.y, y.z, c->yz));
    *g = MF_VALUE(Mat, mf_fma(d.x, k.x, g->xx), mf_fma(d.x, k.y, g->xy), mf_fma(d.x, k.z, g->xz),
                  mf_fma(d.y, k.x, g->yx), mf_fma(d.y, k.y, g->yy), mf_fma(d.y, k.z, g->yz),
                  mf_fma(d.z, k.x, g->zx), mf_fma(d.z, k.y, g->zy), mf_fma(d.z, k.z, g->zz));
}

// Sets `thin` and `lone` and returns the solver of the steps.
static MF_INLINE Sym fit_solver(Fit *fit, mf_real reach) {
    // Second largest extent of the points below a hundredth of the largest.
    const mf_lane slim = mf_set((mf_real)1e-4), damping = mf_set((mf_real)1e-2);
    const mf_lane least = mf_set(reach * reach * MF_REAL_EPSILON);
    const Sym *c = &fit->c;
    mf_lane trace = c->xx + c->yy + c->zz;
    mf_lane minors = mf_fma(c->xx, c->yy, -(c->xy * c->xy)) +
                     mf_fma(c->xx, c->zz, -(c->xz * c->xz)) +
                     mf_fma(c->yy, c->zz, -(c->yz * c->yz));
    fit->thin = mf_less_equal(minors, slim * trace * trace);
    fit->lone = mf_less_equal(trace, slim * mf_set(reach * reach));
    mf_lane more = mf_fma(mf_keep(fit->thin, damping), trace, least) + trace;
    const Sym sum = {more - c->xx, more - c->yy, more - c->zz, -c->xy, -c->xz, -c->yz};
    return sym_inverse(&sum);
}

// One step for the lanes that are not settled; others keep their bits.
static MF_INLINE void fit_step(Fit *fit, const Sym *solver) {
    // What is left after a step of this size is below rounding.
    const mf_lane small = mf_set(MF_REAL_EPSILON * (mf_real)0.5), half = mf_set((mf_real)0.5);
    const mf_lane one = mf_set((mf_real)1), most = mf_set((mf_real)0.25);
    Mat *g = &fit->g;
    Vec moment = {g->zy - g->yz, g->xz - g->zx, g->yx - g->xy};
    Vec t = sym_apply(solver, moment);
    mf_lane square = vec_dot(t, t);
    mf_mask far = mf_less(most, square);
    if (mf_any(far))
        t = vec_scale(t, mf_select(far, half / mf_sqrt(square), one));
    Quat q = quat_of_half(vec_scale(t, half));
    Mat e = quat_excess(q);
    const Sym *c = &fit->c;
    Vec x = {g->xx + c->xx, g->yx + c->xy, g->zx + c->xz};
    Vec y = {g->xy + c->xy, g->yy + c->yy, g->zy + c->yz};
    Vec z = {g->xz + c->xz, g->yz + c->yz, g->zz + c->zz};
    x = mat_apply_transposed_add(&e, x, MF_VALUE(Vec, g->xx, g->yx, g->zx));
    y = mat_apply_transposed_add(&e, y, MF_VALUE(Vec, g->xy, g->yy, g->zy));
    z = mat_apply_transposed_add(&e, z, MF_VALUE(Vec, g->xz, g->yz, g->zz));
    const mf_mask keep = fit->settled;
    *g = MF_VALUE(
        Mat, mf_select(keep, g->xx, x.x), mf_select(keep, g->xy, y.x), mf_select(keep, g->xz, z.x),
        mf_select(keep, g->yx, x.y), mf_select(keep, g->yy, y.y), mf_select(keep, g->yz, z.y),
        mf_select(keep, g->zx, x.z), mf_select(keep, g->zy, y.z), mf_select(keep, g->zz, z.z));
    fit->left = mf_select(keep, fit->left, mf_sqrt(square));
    fit->rotation = quat_select(keep, fit->rotation, quat_multiply(fit->rotation, q));
    // (Written so that NaN settles too.)
    fit->settled = mf_or(keep, mf_not(mf_less(small, square)));
}

#endif
