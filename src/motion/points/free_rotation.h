// Torque-free rotation of one body (Euler's equations) of fourth order. Angular momentum in body
// axes by the classical Runge-Kutta method,
//   L' = L x w,  w = I^-1 L;
// with L instead of w a stage needs one tensor product less. The attitude, q' = q (0, w) / 2, by
// the exponential of Magnus's series (Iserles, Munthe-Kaas, Norsett and Zanna 2000, "Lie-group
// methods", chapter 5): q exp(v), where with the rates w1 .. w4 of the four stages
//   v = h/12 (w1 + 2 w2 + 2 w3 + w4) + h^2/24 w1 x w4,
// and cosine and sine are cut off where the step's error begins: for a constant rate that is what
// Runge-Kutta gives.
#ifndef MF_MOTION_POINTS_FREE_ROTATION_H
#define MF_MOTION_POINTS_FREE_ROTATION_H

#include "math/lane_sum.h"
#include "motion/points/vector.h"

// Without torque the energy of the rotation is constant; `had` is twice that before the step. At
// more than 0.25 rad a step the method can add to it, and then the rate is shortened. Below, its
// error in one step is under 1e-5 of the energy and changes sign.
static MF_INLINE Vec rate_limit(const Sym *inertia, mf_real step, mf_lane had, Vec before,
                                Vec after) {
    mf_mask fast = mf_less(mf_set((mf_real)0.0625 / (step * step)), vec_dot(before, before));
    if (!mf_any(fast))
        return after;
    mf_lane has = vec_dot(after, sym_apply(inertia, after)), one = mf_set((mf_real)1);
    mf_mask over = mf_and(fast, mf_less(had, has));
    mf_lane scale = mf_sqrt(had / mf_select(over, has, one));
    return vec_scale(after, mf_select(over, scale, one));
}

static MF_INLINE void free_rotation_step(const Sym *inertia, const Sym *inverse, mf_real step,
                                         bool short_steps, Quat *attitude, Vec *rate,
                                         Quat *low_attitude, Vec *low_rate) {
    const mf_lane half = mf_set(step * (mf_real)0.5), whole = mf_set(step);
    const mf_lane sixth = mf_set(step / (mf_real)6), twelfth = mf_set(step / (mf_real)12);
    const mf_lane two = mf_set((mf_real)2);
    Vec w1 = *rate, l = sym_apply(inertia, w1), a1 = vec_cross(l, w1);
    Vec l2 = vec_fma(a1, half, l), w2 = sym_apply(inverse, l2), a2 = vec_cross(l2, w2);
    Vec l3 = vec_fma(a2, half, l), w3 = sym_apply(inverse, l3), a3 = vec_cross(l3, w3);
    Vec l4 = vec_fma(a3, whole, l), w4 = sym_apply(inverse, l4), a4 = vec_cross(l4, w4);
    Vec sum = vec_fma(vec_add(a2, a3), two, vec_add(a1, a4));
    // The change of w, so that a body at rest keeps its rate to the bit.
    Vec w = short_steps ? vec_sum_plus(sym_apply(inverse, vec_scale(sum, sixth)), w1, low_rate)
                        : sym_apply_add(inverse, vec_scale(sum, sixth), w1);
    *rate = rate_limit(inertia, step, vec_dot(l, w1), w1, w);
    Vec rotation_vector = vec_fma(vec_add(w2, w3), two, vec_add(w1, w4));
    rotation_vector = vec_cross_add(vec_scale(w1, half), w4, rotation_vector);
    if (!short_steps) {
        *attitude = quat_renormalize(
            quat_multiply(*attitude, quat_exponential(vec_scale(rotation_vector, twelfth))));
        return;
    }
    const Quat rotation = quat_exponential_less_one(vec_scale(rotation_vector, twelfth));
    *attitude = quat_sum_plus(quat_multiply(*attitude, rotation), *attitude, low_attitude);
}

#endif
