// Functions of lanes that are more than one operation: sine and cosine, arc tangent. No fused
// multiply-add and no library call, so every copy of a kernel gives the same bits.
#ifndef MF_MATH_LANE_FUNCTIONS_H
#define MF_MATH_LANE_FUNCTIONS_H

#include "math/lane.h"

// Sine and cosine of `angle` [rad]. Reduction by multiples of pi/2 in three parts (Cody and Waite
// 1980), then polynomials on [-pi/4, pi/4] with the coefficients of Cephes (Moshier). Absolute
// error below one epsilon of the type (1.2e-7, 2.2e-16) for |angle| <= 8192 (float) and 1e6
// (double); beyond that the angle is clamped, so the result stays in [-1, 1]. NaN and infinities
// give NaN.
static inline void mf_sin_cos_lane(mf_lane angle, mf_lane *sine, mf_lane *cosine) {
#if defined(MF_KERNEL_F64)
    const mf_real limit = 1e6;
    const mf_real part1 = 1.57079631090164184570, part2 = 1.58932547122958567343e-8,
                  part3 = 6.12323399573676603587e-17;
#else
    const mf_real limit = 8192.0f;
    const mf_real part1 = 1.5703125f, part2 = 4.83751297e-4f, part3 = 7.54978995489188216e-8f;
#endif
    mf_mask valid = mf_less_equal(mf_abs(angle), mf_set(MF_REAL_MAX));
    mf_lane x = mf_clamp(angle, mf_set(-limit), mf_set(limit));
    mf_lane scaled = x * mf_set((mf_real)0.63661977236758134308);
    mf_lane half =
        mf_select(mf_less(scaled, mf_zero()), mf_set((mf_real)-0.5), mf_set((mf_real)0.5));
    // A NaN was turned into `limit` by the clamp, so the conversion is always defined.
    mf_index quadrant = mf_to_index(scaled + half);
    mf_lane turns = mf_from_index(quadrant);
    x = x - turns * mf_set(part1);
    x = x - turns * mf_set(part2);
    x = x - turns * mf_set(part3);
    mf_lane z = x * x;
#if defined(MF_KERNEL_F64)
    mf_lane s = mf_set(1.58962301576546568060e-10);
    s = s * z - mf_set(2.50507477628578072866e-8);
    s = s * z + mf_set(2.75573136213857245213e-6);
    s = s * z - mf_set(1.98412698295895385996e-4);
    s = s * z + mf_set(8.33333333332211858878e-3);
    s = s * z - mf_set(1.66666666666666307295e-1);
    mf_lane c = mf_set(-1.13585365213876817300e-11);
    c = c * z + mf_set(2.08757008419747316778e-9);
    c = c * z - mf_set(2.75573141792967388112e-7);
    c = c * z + mf_set(2.48015872888517045348e-5);
    c = c * z - mf_set(1.38888888888730564116e-3);
    c = c * z + mf_set(4.16666666666665929218e-2);
#else
    mf_lane s = mf_set(-1.9515295891e-4f);
    s = s * z + mf_set(8.3321608736e-3f);
    s = s * z - mf_set(1.6666654611e-1f);
    mf_lane c = mf_set(2.443315711809948e-5f);
    c = c * z - mf_set(1.388731625493765e-3f);
    c = c * z + mf_set(4.166664568298827e-2f);
#endif
    s = x + x * z * s;
    c = mf_set((mf_real)1) - mf_set((mf_real)0.5) * z + z * z * c;
    mf_index one = mf_set_index(1), two = mf_set_index(2);
    mf_mask odd = mf_index_equal(quadrant & one, one);
    mf_mask sine_negative = mf_index_equal(quadrant & two, two);
    mf_mask cosine_negative = mf_index_equal((quadrant + one) & two, two);
    mf_lane first = mf_select(odd, c, s), second = mf_select(odd, s, c);
    mf_lane nan = angle - angle; // 0 for finite angles, NaN for the rest
    *sine = mf_select(valid, mf_select(sine_negative, mf_zero() - first, first), nan);
    *cosine = mf_select(valid, mf_select(cosine_negative, mf_zero() - second, second), nan);
}

// Arc tangent of a/b in (-pi, pi], as the C library's atan2 for finite values, but for the signs of
// zeros, which do not count; 0 for (0, 0). NaN, and two infinities, give NaN. Absolute error below
// 3e-7 rad (float) and 6e-16 rad (double). The quotient is turned into [0, 1], from there by
// atan r = pi/4 + atan((r - 1)/(r + 1)) into |x| <= sqrt(2) - 1; then x + x^3 P(x^2), where P
// interpolates (atan x - x)/x^3 at the Chebyshev nodes, with a relative error below 3e-9 (float)
// and 5e-18 (double).
static inline mf_lane mf_atan2_lane(mf_lane a, mf_lane b) {
    const mf_real pi = (mf_real)3.14159265358979323846;
    const mf_real far = (mf_real)0.41421356237309504880;
#if defined(MF_KERNEL_F64)
    static const mf_real coefficient[] = {
        -0.019175404711104925, 0.039230447784793086, -0.05085407834589484, 0.05858140904866328,
        -0.06664510525508936,  0.07692183125376892,  -0.0909090457530649,  0.11111111015187018,
        -0.14285714284665682,  0.19999999999995516,  -0.3333333333333333};
#else
    static const mf_real coefficient[] = {-0.06451718869f, 0.10743668325f, -0.14263949754f,
                                          0.19999540315f, -0.33333331760f};
#endif
    mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_lane size_a = mf_abs(a), size_b = mf_abs(b);
    mf_mask steep = mf_less(size_b, size_a);
    mf_lane top = mf_select(steep, size_b, size_a), bottom = mf_select(steep, size_a, size_b);
    mf_lane ratio = top / mf_select(mf_less_equal(bottom, zero), one, bottom);
    mf_mask large = mf_less(mf_set(far), ratio);
    mf_lane x = mf_select(large, (ratio - one) / (ratio + one), ratio);
    mf_lane z = x * x;
    mf_lane sum = mf_set(coefficient[0]);
    for (uint32_t k = 1; k < sizeof coefficient / sizeof *coefficient; k++)
        sum = sum * z + mf_set(coefficient[k]);
    mf_lane angle = x + x * z * sum + mf_keep(large, mf_set(pi / 4));
    angle = mf_select(steep, mf_set(pi / 2) - angle, angle);
    angle = mf_select(mf_less(b, zero), mf_set(pi) - angle, angle);
    return mf_select(mf_less(a, zero), zero - angle, angle);
}

#endif
