// Torque-free rotation of one body (Euler's equations), by the classical Runge-Kutta method of
// fourth order over attitude and body rate:
//   I w' = - w x (I w),  q' = q (0, w) / 2.
#ifndef MF_MOTION_POINTS_SPIN_H
#define MF_MOTION_POINTS_SPIN_H

#include "motion/points/vector.h"

static inline Vec spin_acceleration(const Sym *inertia, const Sym *inverse, Vec rate) {
    return sym_apply(inverse, vec_cross(sym_apply(inertia, rate), rate));
}

// Twice the derivative of q.
static inline Quat spin_drift(Quat q, Vec rate) {
    return (Quat){mf_zero() - q.x * rate.x - q.y * rate.y - q.z * rate.z,
                  q.w * rate.x + q.y * rate.z - q.z * rate.y,
                  q.w * rate.y - q.x * rate.z + q.z * rate.x,
                  q.w * rate.z + q.x * rate.y - q.y * rate.x};
}

static inline Quat quat_offset(Quat q, Quat d, mf_lane s) {
    return (Quat){q.w + d.w * s, q.x + d.x * s, q.y + d.y * s, q.z + d.z * s};
}

static inline void spin_step(const Sym *inertia, const Sym *inverse, mf_real step, Quat *attitude,
                             Vec *rate) {
    const mf_lane half = mf_set(step * (mf_real)0.5), whole = mf_set(step);
    const mf_lane sixth = mf_set(step / (mf_real)6), two = mf_set((mf_real)2);
    // The factor 1/2 of the quaternion's derivative is in the step.
    const mf_lane quarter = mf_set(step * (mf_real)0.25), twelfth = mf_set(step / (mf_real)12);
    Vec w = *rate;
    Quat q = *attitude;
    Vec a1 = spin_acceleration(inertia, inverse, w);
    Quat d1 = spin_drift(q, w);
    Vec w2 = vec_add(w, vec_scale(a1, half));
    Vec a2 = spin_acceleration(inertia, inverse, w2);
    Quat d2 = spin_drift(quat_offset(q, d1, quarter), w2);
    Vec w3 = vec_add(w, vec_scale(a2, half));
    Vec a3 = spin_acceleration(inertia, inverse, w3);
    Quat d3 = spin_drift(quat_offset(q, d2, quarter), w3);
    Vec w4 = vec_add(w, vec_scale(a3, whole));
    Vec a4 = spin_acceleration(inertia, inverse, w4);
    Quat d4 = spin_drift(quat_offset(q, d3, half), w4);
    Vec sum = vec_add(vec_add(a1, a4), vec_scale(vec_add(a2, a3), two));
    *rate = vec_add(w, vec_scale(sum, sixth));
    Quat total = {d1.w + d4.w + two * (d2.w + d3.w), d1.x + d4.x + two * (d2.x + d3.x),
                  d1.y + d4.y + two * (d2.y + d3.y), d1.z + d4.z + two * (d2.z + d3.z)};
    *attitude = quat_normalize(quat_offset(q, total, twelfth));
}

#endif
