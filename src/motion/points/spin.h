// Torque-free rotation of one body (Euler's equations), by the classical Runge-Kutta method of
// fourth order over attitude and angular momentum in body axes:
//   L' = L x w,  w = I^-1 L,  q' = q (0, w) / 2.
// With L instead of w a stage needs one tensor product less.
#ifndef MF_MOTION_POINTS_SPIN_H
#define MF_MOTION_POINTS_SPIN_H

#include "motion/points/vector.h"

// Twice the derivative of q.
static MF_INLINE Quat spin_drift(Quat q, Vec rate) {
    return (Quat){mf_zero() - (q.x * rate.x + (q.y * rate.y + q.z * rate.z)),
                  q.w * rate.x + (q.y * rate.z - q.z * rate.y),
                  q.w * rate.y + (q.z * rate.x - q.x * rate.z),
                  q.w * rate.z + (q.x * rate.y - q.y * rate.x)};
}

static MF_INLINE Quat quat_offset(Quat q, Quat d, mf_lane s) {
    return (Quat){q.w + d.w * s, q.x + d.x * s, q.y + d.y * s, q.z + d.z * s};
}

// A quaternion of length 1 + e comes out with length 1 - 3/2 e^2: enough for the 1e-7 that a step
// leaves, and no division.
static MF_INLINE Quat quat_renormalize(Quat q) {
    mf_lane square = (q.w * q.w + q.x * q.x) + (q.y * q.y + q.z * q.z);
    mf_lane scale = mf_set((mf_real)1.5) - mf_set((mf_real)0.5) * square;
    return (Quat){q.w * scale, q.x * scale, q.y * scale, q.z * scale};
}

// Without torque the energy of the rotation is constant; `had` is twice that before the step. At
// more than 0.25 rad a step the method can add to it, and then the rate is shortened. Below, its
// error in one step is under 1e-5 of the energy and changes sign.
static MF_INLINE Vec spin_limit(const Sym *inertia, mf_real step, mf_lane had, Vec before,
                                Vec after) {
    mf_mask fast = mf_less(mf_set((mf_real)0.0625 / (step * step)), vec_dot(before, before));
    if (!mf_any(fast))
        return after;
    mf_lane has = vec_dot(after, sym_apply(inertia, after)), one = mf_set((mf_real)1);
    mf_mask over = mf_and(fast, mf_less(had, has));
    mf_lane scale = mf_sqrt(had / mf_select(over, has, one));
    return vec_scale(after, mf_select(over, scale, one));
}

static MF_INLINE void spin_step(const Sym *inertia, const Sym *inverse, mf_real step,
                                Quat *attitude, Vec *rate) {
    const mf_lane half = mf_set(step * (mf_real)0.5), whole = mf_set(step);
    const mf_lane sixth = mf_set(step / (mf_real)6), two = mf_set((mf_real)2);
    // The factor 1/2 of the quaternion's derivative is in the step.
    const mf_lane quarter = mf_set(step * (mf_real)0.25), twelfth = mf_set(step / (mf_real)12);
    Quat q = *attitude;
    Vec w1 = *rate, l = sym_apply(inertia, w1);
    Vec a1 = vec_cross(l, w1), l2 = vec_add(l, vec_scale(a1, half));
    Quat d1 = spin_drift(q, w1);
    Vec w2 = sym_apply(inverse, l2), a2 = vec_cross(l2, w2);
    Vec l3 = vec_add(l, vec_scale(a2, half));
    Quat d2 = spin_drift(quat_offset(q, d1, quarter), w2);
    Vec w3 = sym_apply(inverse, l3), a3 = vec_cross(l3, w3);
    Vec l4 = vec_add(l, vec_scale(a3, whole));
    Quat d3 = spin_drift(quat_offset(q, d2, quarter), w3);
    Vec w4 = sym_apply(inverse, l4), a4 = vec_cross(l4, w4);
    Quat d4 = spin_drift(quat_offset(q, d3, half), w4);
    Vec sum = vec_add(vec_add(a1, a4), vec_scale(vec_add(a2, a3), two));
    // The change of w, so that a body at rest keeps its rate to the bit.
    Vec w = vec_add(w1, sym_apply(inverse, vec_scale(sum, sixth)));
    *rate = spin_limit(inertia, step, vec_dot(l, w1), w1, w);
    Quat total = {d1.w + d4.w + two * (d2.w + d3.w), d1.x + d4.x + two * (d2.x + d3.x),
                  d1.y + d4.y + two * (d2.y + d3.y), d1.z + d4.z + two * (d2.z + d3.z)};
    *attitude = quat_renormalize(quat_offset(q, total, twelfth));
}

#endif
