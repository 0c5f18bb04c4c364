// Functions of lanes that are more than one operation: sine and cosine, arc tangent. No library
// call, and fused multiply-adds only where written, so every copy of a kernel gives the same bits.
#pragma once

#include "math/lane.h"

// x^2 for a polynomial next to 1, at least 1e-18: there its terms are below every rounding, and no
// power of it is subnormal.
static MF_INLINE mf_lane mf_square_lane(mf_lane x) {
    return mf_max(mf_set((mf_real)1e-18), x * x); // NaN stays
}

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
    // The clamp replaced NaN by `limit`, so the conversion is always defined.
    mf_index quadrant = mf_to_index(scaled + half);
    mf_lane cycles = mf_from_index(quadrant);
    x = mf_fma(-cycles, mf_set(part1), x);
    x = mf_fma(-cycles, mf_set(part2), x);
    x = mf_fma(-cycles, mf_set(part3), x);
    mf_lane z = mf_square_lane(x);
#if defined(MF_KERNEL_F64)
    mf_lane s = mf_set(1.58962301576546568060e-10);
    s = mf_fma(s, z, mf_set(-2.50507477628578072866e-8));
    s = mf_fma(s, z, mf_set(2.75573136213857245213e-6));
    s = mf_fma(s, z, mf_set(-1.98412698295895385996e-4));
    s = mf_fma(s, z, mf_set(8.33333333332211858878e-3));
    s = mf_fma(s, z, mf_set(-1.66666666666666307295e-1));
    mf_lane c = mf_set(-1.13585365213876817300e-11);
    c = mf_fma(c, z, mf_set(2.08757008419747316778e-9));
    c = mf_fma(c, z, mf_set(-2.75573141792967388112e-7));
    c = mf_fma(c, z, mf_set(2.48015872888517045348e-5));
    c = mf_fma(c, z, mf_set(-1.38888888888730564116e-3));
    c = mf_fma(c, z, mf_set(4.16666666666665929218e-2));
#else
    mf_lane s = mf_set(-1.9515295891e-4f);
    s = mf_fma(s, z, mf_set(8.3321608736e-3f));
    s = mf_fma(s, z, mf_set(-1.6666654611e-1f));
    mf_lane c = mf_set(2.443315711809948e-5f);
    c = mf_fma(c, z, mf_set(-1.388731625493765e-3f));
    c = mf_fma(c, z, mf_set(4.166664568298827e-2f));
#endif
    s = mf_fma(x * z, s, x);
    c = mf_fma(z * z, c, mf_fma(mf_set((mf_real)-0.5), z, mf_set((mf_real)1)));
    mf_index one = mf_set_index(1), two = mf_set_index(2);
    mf_mask odd = mf_index_equal(quadrant & one, one);
    mf_mask sine_negative = mf_index_equal(quadrant & two, two);
    mf_mask cosine_negative = mf_index_equal((quadrant + one) & two, two);
    mf_lane first = mf_select(odd, c, s), second = mf_select(odd, s, c);
    mf_lane nan = angle - angle; // 0 for finite angles, NaN for the rest
    *sine = mf_select(valid, mf_select(sine_negative, mf_zero() - first, first), nan);
    *cosine = mf_select(valid, mf_select(cosine_negative, mf_zero() - second, second), nan);
}

// Of (atan x - x)/x^3 as a polynomial in x^2, highest power first (see mf_atan2_lane).
#if defined(MF_KERNEL_F64)
enum { MF_ATAN_TERMS = 11 };
static const mf_real mf_atan_coefficient[MF_ATAN_TERMS] = {
    -0.019175404711104925, 0.039230447784793086, -0.05085407834589484, 0.05858140904866328,
    -0.06664510525508936,  0.07692183125376892,  -0.0909090457530649,  0.11111111015187018,
    -0.14285714284665682,  0.19999999999995516,  -0.3333333333333333};
#else
enum { MF_ATAN_TERMS = 5 };
static const mf_real mf_atan_coefficient[MF_ATAN_TERMS] = {
    -0.06451718869f, 0.10743668325f, -0.14263949754f, 0.19999540315f, -0.33333331760f};
#endif

// Arc tangent of a/b in (-pi, pi], as the C library's atan2 for finite values, but for the signs of
// zeros, which do not count; 0 for (0, 0). NaN, and two infinities, give NaN. Absolute error below
// 3e-7 rad (float) and 6e-16 rad (double). The quotient is reduced to [0, 1], from there by atan r
// = pi/4 + atan((r - 1)/(r + 1)) into |x| <= sqrt(2) - 1; then x + x^3 P(x^2), where P interpolates
// (atan x - x)/x^3 at the Chebyshev nodes, with a relative error below 3e-9 (float) and 5e-18
// (double).
static inline mf_lane mf_atan2_lane(mf_lane a, mf_lane b) {
    const mf_real pi = (mf_real)3.14159265358979323846;
    const mf_real far = (mf_real)0.41421356237309504880;
    mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    mf_lane size_a = mf_abs(a), size_b = mf_abs(b);
    mf_mask steep = mf_less(size_b, size_a);
    mf_lane top = mf_select(steep, size_b, size_a), bottom = mf_select(steep, size_a, size_b);
    mf_lane ratio = top / mf_select(mf_less_equal(bottom, zero), one, bottom);
    mf_mask large = mf_less(mf_set(far), ratio);
    mf_lane x = mf_select(large, (ratio - one) / (ratio + one), ratio);
    mf_lane z = mf_square_lane(x);
    mf_lane sum = mf_set(mf_atan_coefficient[0]);
    for (uint32_t k = 1; k < MF_ATAN_TERMS; k++)
        sum = mf_fma(sum, z, mf_set(mf_atan_coefficient[k]));
    mf_lane angle = mf_fma(x * z, sum, x) + mf_keep(large, mf_set(pi / 4));
    angle = mf_select(steep, mf_set(pi / 2) - angle, angle);
    angle = mf_select(mf_less(b, zero), mf_set(pi) - angle, angle);
    return mf_select(mf_less(a, zero), zero - angle, angle);
}

// The polynomial in z with `terms` >= 2 coefficients, highest power first: even and odd powers in
// parallel, which halves the latency.
static MF_INLINE mf_lane mf_polynomial_lane(const mf_real *coefficient, uint32_t terms, mf_lane z) {
    const uint32_t first = (terms - 1) % 2; // the highest even power
    mf_lane even = mf_set(coefficient[first]), odd = mf_set(coefficient[1 - first]);
    mf_lane square = z * z;
    for (uint32_t k = first + 2; k < terms; k += 2)
        even = mf_fma(even, square, mf_set(coefficient[k]));
    for (uint32_t k = 3 - first; k < terms; k += 2)
        odd = mf_fma(odd, square, mf_set(coefficient[k]));
    return mf_fma(odd, z, even);
}

// Arc tangent of a/b in [-pi/2, pi/2] for b >= 0, not both 0; exactly odd in `a`. One division: the
// ratio is brought to |x| <= tan(pi/8) by atan r = pi/4 + atan((r - 1)/(r + 1)) or atan r = pi/2 -
// atan(1/r) before it is formed. Fused multiply-adds; accuracy as mf_atan2_lane.
static MF_INLINE mf_lane mf_atan_ratio_lane(mf_lane a, mf_lane b) {
    const mf_lane near_bound = mf_set((mf_real)0.41421356237309504880);
    const mf_lane far_bound = mf_set((mf_real)2.41421356237309504880);
    const mf_lane eighth = mf_set((mf_real)0.78539816339744830962);
    const mf_lane quarter = mf_set((mf_real)1.57079632679489661923);
    mf_lane size = mf_abs(a), zero = mf_zero();
    mf_mask middle = mf_less(near_bound * b, size), steep = mf_less(far_bound * b, size);
    mf_lane top = mf_select(steep, zero - b, mf_select(middle, size - b, size));
    mf_lane bottom = mf_select(steep, size, mf_select(middle, size + b, b));
    mf_lane shift = mf_select(steep, quarter, mf_keep(middle, eighth));
    mf_lane x = top / bottom;
    mf_lane z = mf_square_lane(x);
    mf_lane sum = mf_polynomial_lane(mf_atan_coefficient, MF_ATAN_TERMS, z);
    mf_lane angle = shift + mf_fma(x * z, sum, x);
    return mf_select(mf_less(a, zero), zero - angle, angle);
}

// Sine and cosine of `angle` [rad] in [-pi/2, pi/2]; beyond, the polynomials' continuation. The
// sine is exactly odd and the cosine exactly even. (sin x - x)/x^3 and (cos x - 1 + x^2/2)/x^4 are
// interpolated at the Chebyshev nodes of x^2; absolute error below 1.5e-7 (float), 3e-16 (double).
static MF_INLINE mf_lane mf_sin_short_lane(mf_lane angle) {
#if defined(MF_KERNEL_F64)
    static const mf_real c[] = {2.73144476698639934244e-15, -7.64397029679857205238e-13,
                                1.60589773124640876214e-10, -2.50521076169961828909e-8,
                                2.75573192191632334163e-6,  -1.98412698412549737689e-4,
                                8.33333333333331586882e-3,  -1.66666666666666666330e-1};
#else
    static const mf_real c[] = {2.63475639181178127306e-6f, -1.98227394886311017977e-4f,
                                8.33324213509693875758e-3f, -1.66666659638211872904e-1f};
#endif
    mf_lane z = mf_square_lane(angle);
    mf_lane sum = mf_polynomial_lane(c, sizeof c / sizeof *c, z);
    return mf_fma(angle * z, sum, angle);
}

static MF_INLINE mf_lane mf_cos_short_lane(mf_lane angle) {
#if defined(MF_KERNEL_F64)
    static const mf_real c[] = {-1.52186383692435746384e-16, 4.77787792524584554694e-14,
                                -1.14707122727494660351e-11, 2.08767566028754642974e-9,
                                -2.75573192215695618162e-7,  2.48015873015798521114e-5,
                                -1.38888888888888801380e-3,  4.16666666666666666498e-2};
#else
    static const mf_real c[] = {-2.65460658054127772651e-7f, 2.47860824399494705677e-5f,
                                -1.38888125512469834798e-3f, 4.16666660783063782364e-2f};
#endif
    mf_lane z = mf_square_lane(angle);
    mf_lane sum = mf_polynomial_lane(c, sizeof c / sizeof *c, z);
    return mf_fma(z * z, sum, mf_fma(z, mf_set((mf_real)-0.5), mf_set((mf_real)1)));
}

// e to the power x. x = n ln 2 + r with |r| <= ln 2 / 2 in two parts (Cody and Waite 1980), the
// Taylor series of e^r (rest below 6e-9 and 5e-18), and 2^n by its exponent, in double as a product
// of the powers of two that the bits of n name, which is exact too. Relative error below 2.5e-7
// (float) and 5e-16 (double); x is clamped to the range where the result is neither subnormal nor
// infinite (+-87, +-708). NaN stays.
static inline mf_lane mf_exp_lane(mf_lane x) {
#if defined(MF_KERNEL_F64)
    enum { TERMS = 13, BITS = 10, SHIFT = 1022 };
    const mf_real limit = 708, part1 = 0x1.62e42feep-1, part2 = 0x1.a39ef35793c76p-33;
    static const mf_real power[BITS] = {0x1p1,  0x1p2,  0x1p4,   0x1p8,   0x1p16,
                                        0x1p32, 0x1p64, 0x1p128, 0x1p256, 0x1p512};
    const mf_real least = 0x1p-1022;
#else
    enum { TERMS = 7, SHIFT = 127 };
    const mf_real limit = 87, part1 = 0x1.62e4p-1f, part2 = 0x1.7f7d1cp-20f;
#endif
    static const mf_real inverse_factorial[] = {(mf_real)(1.0 / 6227020800.0),
                                                (mf_real)(1.0 / 479001600.0),
                                                (mf_real)(1.0 / 39916800.0),
                                                (mf_real)(1.0 / 3628800.0),
                                                (mf_real)(1.0 / 362880.0),
                                                (mf_real)(1.0 / 40320.0),
                                                (mf_real)(1.0 / 5040.0),
                                                (mf_real)(1.0 / 720.0),
                                                (mf_real)(1.0 / 120.0),
                                                (mf_real)(1.0 / 24.0),
                                                (mf_real)(1.0 / 6.0),
                                                (mf_real)0.5,
                                                (mf_real)1.0,
                                                (mf_real)1.0};
    mf_mask number = mf_less_equal(x, mf_max(x, mf_set(-limit)));
    mf_lane near = mf_clamp(x, mf_set(-limit), mf_set(limit));
    mf_lane n =
        mf_floor_lane(mf_fma(near, mf_set((mf_real)1.44269504088896340736), mf_set((mf_real)0.5)));
    mf_lane r = mf_fma(-n, mf_set(part2), mf_fma(-n, mf_set(part1), near));
    mf_lane sum = mf_set(inverse_factorial[13 - TERMS]);
    for (uint32_t k = 14 - TERMS; k < 14; k++)
        sum = mf_fma(sum, r, mf_set(inverse_factorial[k]));
    mf_index bits = mf_to_index(n) + mf_set_index(SHIFT);
#if defined(MF_KERNEL_F64)
    const mf_lane one = mf_set((mf_real)1);
    mf_lane scale = mf_set(least);
    for (int k = 0; k <= BITS; k++) {
        mf_index bit = mf_set_index(1 << k);
        // The last power is out of range itself: its root twice.
        mf_lane factor = mf_set(power[k < BITS ? k : BITS - 1]);
        factor = mf_select(mf_index_equal(bits & bit, bit), factor, one);
        scale = k < BITS ? scale * factor : scale * factor * factor;
    }
#else
    mf_lane scale;
    bits = bits << 23;
    memcpy(&scale, &bits, sizeof scale);
#endif
    return mf_select(number, sum * scale, x);
}

// tanh |x| = (1 - e) / (1 + e) with e = exp(-2 |x|): the exponential is at most 1, so nothing
// overflows. Absolute error below one epsilon of the type; NaN stays.
static MF_INLINE mf_lane mf_tanh_lane(mf_lane x) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane power = mf_exp_lane(mf_abs(x) * mf_set((mf_real)-2));
    mf_lane result = (one - power) / (one + power);
    return mf_select(mf_less(x, mf_zero()), -result, result);
}
