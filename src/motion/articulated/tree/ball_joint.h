// Elimination of a ball joint from an articulated body.
//
// With J, H and M of the link in the joint's axes, and S that the joint adds to J (rotor armature,
// joint forces at the end of the step), the parent receives
//     J - J I^-1 J = S - S I^-1 S,   H - J I^-1 H = S I^-1 H,   M - H^T I^-1 H,     I = J + S
// A stiff contact makes J a thousand times as large as the body along two axes only. An explicit
// inverse of I loses the small one, and what is left of M may be negative. So I = L D L^T, and
// every product is a sum of squares over the three axes of L, as if they were hinges; of J and S
// the smaller one is used, for what is left is at most that. Without S nothing is left of J and H.
#pragma once

#include "motion/articulated/tree/aba_velocity.h"

// Factors of the inertia. A pivot that is rounding error of its axis is not less than that.
static MF_INLINE void ball_factor(const Sym *inertia, BallWork *ball) {
    const mf_lane one = mf_set((mf_real)1), least = mf_set(4 * MF_REAL_EPSILON);
    ball->inverse[0] = one / inertia->xx;
    ball->yx = inertia->xy * ball->inverse[0];
    ball->zx = inertia->xz * ball->inverse[0];
    const mf_lane yy = mf_fma(-ball->yx, inertia->xy, inertia->yy),
                  yz = mf_fma(-ball->yx, inertia->xz, inertia->yz);
    ball->inverse[1] = one / mf_max(yy, least * inertia->yy);
    ball->zy = yz * ball->inverse[1];
    const mf_lane zz = mf_fma(-ball->zy, yz, mf_fma(-ball->zx, inertia->xz, inertia->zz));
    ball->inverse[2] = one / mf_max(zz, least * inertia->zz);
}

// L^-1 a
static MF_INLINE Vec ball_forward(const BallWork *ball, Vec a) {
    a.y = mf_fma(-ball->yx, a.x, a.y);
    a.z = mf_fma(-ball->zy, a.y, mf_fma(-ball->zx, a.x, a.z));
    return a;
}

// L^-T a
static MF_INLINE Vec ball_back(const BallWork *ball, Vec a) {
    a.y = mf_fma(-ball->zy, a.z, a.y);
    a.x = mf_fma(-ball->yx, a.y, mf_fma(-ball->zx, a.z, a.x));
    return a;
}

// The same of three vectors at once.
static MF_INLINE void ball_rows(const BallWork *ball, Vec a[3]) {
    a[1] = vec_fma(a[0], -ball->yx, a[1]);
    a[2] = vec_fma(a[1], -ball->zy, vec_fma(a[0], -ball->zx, a[2]));
}

// Acceleration of the joint by a torque on its link.
static MF_INLINE Vec ball_gain(const BallWork *ball, Vec torque) {
    const Vec a = ball_forward(ball, torque);
    return ball_back(ball, MF_VALUE(Vec, a.x * ball->inverse[0], a.y * ball->inverse[1],
                                    a.z * ball->inverse[2]));
}

// What a wrench on the link leaves for the parent; `a` = L^-1 of its torque.
static MF_INLINE void ball_pass(const BallWork *ball, Vec a, Vec *torque, Vec *force) {
    const mf_lane along[3] = {a.x, a.y, a.z};
    *torque = vec_keep(mf_not(ball->small), *torque);
    for (int p = 0; p < 3; p++) {
        *torque = vec_fma(ball->angular[p], -along[p], *torque);
        *force = vec_fma(ball->linear[p], -along[p], *force);
    }
}

static MF_INLINE Sym sym_select(mf_mask mask, const Sym *a, const Sym *b) {
    return MF_VALUE(Sym, mf_select(mask, a->xx, b->xx), mf_select(mask, a->yy, b->yy),
                    mf_select(mask, a->zz, b->zz), mf_select(mask, a->xy, b->xy),
                    mf_select(mask, a->xz, b->xz), mf_select(mask, a->yz, b->yz));
}

// Passes the body on to the parent, still in the joint's axes. `own` is S, of which ball_factor had
// the sum with j, and ball->force all that turns the joint.
static MF_INLINE void ball_eliminate(BallWork *ball, const Sym *own, mf_mask locked, Art *a) {
    ball->small =
        mf_and(mf_less(own->xx + own->yy + own->zz, a->j.xx + a->j.yy + a->j.zz), mf_not(locked));
    const Sym t = sym_select(ball->small, own, &a->j);
    Vec v[3] = {{t.xx, t.xy, t.xz}, {t.xy, t.yy, t.yz}, {t.xz, t.yz, t.zz}};
    Vec w[3] = {
        {a->h.xx, a->h.xy, a->h.xz}, {a->h.yx, a->h.yy, a->h.yz}, {a->h.zx, a->h.zy, a->h.zz}};
    ball_rows(ball, v);
    ball_rows(ball, w);
    const mf_mask large = mf_not(ball->small);
    a->j = t;
    a->h = MF_VALUE(Mat, mf_keep(large, a->h.xx), mf_keep(large, a->h.xy), mf_keep(large, a->h.xz),
                    mf_keep(large, a->h.yx), mf_keep(large, a->h.yy), mf_keep(large, a->h.yz),
                    mf_keep(large, a->h.zx), mf_keep(large, a->h.zy), mf_keep(large, a->h.zz));
    for (int p = 0; p < 3; p++) {
        ball->inverse[p] = mf_keep(mf_not(locked), ball->inverse[p]);
        const Vec angular = vec_scale(v[p], ball->inverse[p]);
        ball->linear[p] = vec_scale(w[p], ball->inverse[p]);
        ball->angular[p] = vec_select(large, angular, vec_negative(angular));
        a->j = sym_minus_outer(&a->j, angular, v[p]);
        a->h = art_minus_outer(&a->h, ball->angular[p], w[p]);
        a->m = sym_minus_outer(&a->m, ball->linear[p], w[p]);
    }
    // The wrench that the link needs is -(n, f): what the joint turns it with is less.
    Vec torque = ball->force, force = vec_zero();
    ball_pass(ball, ball_forward(ball, ball->force), &torque, &force);
    a->n = vec_add(a->n, vec_sub(ball->force, torque));
    a->f = vec_sub(a->f, force);
}
