// a b + c rounded once where the processor cannot do it in one instruction: the same bits as the
// instruction, in every floating-point mode. Included by the lane headers only.
//
// float: the product is exact in double; the sum in double is rounded to odd, after which the
// rounding to float is the only one (Boldo and Melquiond 2008, "Emulation of FMA and correctly
// rounded sums"). double: their algorithm 5 on an error-free product (Veltkamp 1968, Dekker 1971)
// where no step can overflow or become subnormal; else in integers (math/fma.h).
//
// Rounding to odd: of the two neighbours of an inexact sum the one with an odd last digit. From the
// sum to the nearest and its error: one step toward zero where the error points there, then the
// last bit set.
#ifndef MF_MATH_LANE_FMA_H
#define MF_MATH_LANE_FMA_H

#include "math/fma.h"

#define MF_FMA_FACTOR_LEAST 0x1p-450 // of a and b, so that the error of the product is normal
#define MF_FMA_FACTOR_MOST 0x1p450
#define MF_FMA_TERM_LEAST 0x1p-900 // of c, likewise
#define MF_FMA_TERM_MOST 0x1p900
#define MF_FMA_SPLIT 0x8000001p0 // 2^27 + 1

typedef struct mf_Exact_ { // an unevaluated sum
    double high, low;
} mf_Exact_;

static inline mf_Exact_ mf_exact_sum_(double a, double b) {
    double sum = a + b, back = sum - a;
    return (mf_Exact_){sum, (a - (sum - back)) + (b - back)};
}

static inline double mf_sum_odd_(double a, double b) {
    mf_Exact_ sum = mf_exact_sum_(a, b);
    if (!(sum.low < 0.0 || sum.low > 0.0)) // exact, or not finite
        return sum.high;
    uint64_t bits;
    memcpy(&bits, &sum.high, sizeof bits);
    bits -= (sum.low < 0.0) != (bits >> 63 != 0);
    bits |= 1;
    memcpy(&sum.high, &bits, sizeof bits);
    return sum.high;
}

// The odd sum is needed only where the nearest double lies just between two floats, or where floats
// are subnormal.
static inline float mf_fma_float_(float a, float b, float c) {
    double product = (double)a * (double)b, sum = product + (double)c;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bool tie = (bits & 0x1fffffff) == 0x10000000;
    bool tiny = __builtin_fabs(sum) < 0x1p-125 && sum != 0.0;
    if (__builtin_expect(tie || tiny, 0))
        return (float)mf_sum_odd_(product, (double)c);
    return (float)sum;
}

static inline mf_Exact_ mf_exact_product_(double a, double b) {
    double a_big = a * MF_FMA_SPLIT, b_big = b * MF_FMA_SPLIT, product = a * b;
    double a_high = a_big - (a_big - a), b_high = b_big - (b_big - b);
    double a_low = a - a_high, b_low = b - b_high;
    double rest = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high;
    return (mf_Exact_){product, rest + a_low * b_low};
}

static inline bool mf_fma_safe_(double a, double least, double most) {
    double size = __builtin_fabs(a);
    return size >= least && size <= most;
}

static inline double mf_fma_double_(double a, double b, double c) {
    if (a == 0.0 || b == 0.0)
        return a * b + c;
    if (!mf_fma_safe_(a, MF_FMA_FACTOR_LEAST, MF_FMA_FACTOR_MOST) ||
        !mf_fma_safe_(b, MF_FMA_FACTOR_LEAST, MF_FMA_FACTOR_MOST) ||
        !(c == 0.0 || mf_fma_safe_(c, MF_FMA_TERM_LEAST, MF_FMA_TERM_MOST)))
        return mf_fma_exact(a, b, c);
    mf_Exact_ product = mf_exact_product_(a, b), low = mf_exact_sum_(c, product.low);
    mf_Exact_ high = mf_exact_sum_(product.high, low.high);
    return high.high + mf_sum_odd_(low.low, high.low);
}

#if defined(__SSE2__)
#include <emmintrin.h>

// The same, two at a time.
typedef struct mf_Exact2_ {
    __m128d high, low;
} mf_Exact2_;

static inline mf_Exact2_ mf_exact_sum2_(__m128d a, __m128d b) {
    __m128d sum = a + b, back = sum - a;
    return (mf_Exact2_){sum, (a - (sum - back)) + (b - back)};
}

static inline __m128d mf_sum_odd2_(__m128d a, __m128d b) {
    mf_Exact2_ sum = mf_exact_sum2_(a, b);
    const __m128d zero = _mm_setzero_pd(), sign = _mm_set1_pd(-0.0);
    __m128d low = _mm_xor_pd(sum.low, _mm_and_pd(sum.high, sign)); // negative: toward zero
    __m128d shorter = _mm_cmplt_pd(low, zero);
    __m128d inexact = _mm_or_pd(shorter, _mm_cmplt_pd(zero, low));
    __m128i bits = _mm_castpd_si128(sum.high);
    bits = _mm_add_epi64(bits, _mm_castpd_si128(shorter)); // all bits set: minus one
    bits = _mm_or_si128(bits, _mm_srli_epi64(_mm_castpd_si128(inexact), 63));
    return _mm_castsi128_pd(bits);
}

// Two floats as doubles; the result still needs the rounding to float. That goes wrong only where
// the sum, rounded to the nearest double, lies just between two floats: rare enough for a branch.
static inline __m128d mf_fma_float2_(__m128d a, __m128d b, __m128d c) {
    const __m128i below = _mm_set1_epi64x(0x1fffffff), between = _mm_set1_epi64x(0x10000000);
    __m128d product = a * b, sum = product + c, size = _mm_andnot_pd(_mm_set1_pd(-0.0), sum);
    __m128i rest = _mm_and_si128(_mm_castpd_si128(sum), below);
    __m128d tie = _mm_castsi128_pd(_mm_cmpeq_epi32(rest, between)); // in the low half
    tie = _mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(tie), 32));
    __m128d tiny = _mm_and_pd(_mm_cmplt_pd(size, _mm_set1_pd(0x1p-125)),
                              _mm_cmpneq_pd(size, _mm_setzero_pd()));
    if (__builtin_expect(_mm_movemask_pd(_mm_or_pd(tie, tiny)) != 0, 0))
        return mf_sum_odd2_(product, c);
    return sum;
}

static inline __m128 mf_fma_float4_(__m128 a, __m128 b, __m128 c) {
    __m128d low = mf_fma_float2_(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
    a = _mm_movehl_ps(a, a);
    b = _mm_movehl_ps(b, b);
    c = _mm_movehl_ps(c, c);
    __m128d high = mf_fma_float2_(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

static inline mf_Exact2_ mf_exact_product2_(__m128d a, __m128d b) {
    const __m128d split = _mm_set1_pd(MF_FMA_SPLIT);
    __m128d a_big = a * split, b_big = b * split, product = a * b;
    __m128d a_high = a_big - (a_big - a), b_high = b_big - (b_big - b);
    __m128d a_low = a - a_high, b_low = b - b_high;
    __m128d rest = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high;
    return (mf_Exact2_){product, rest + a_low * b_low};
}

static inline __m128d mf_fma_safe2_(__m128d a, double least, double most) {
    __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), a);
    return _mm_and_pd(_mm_cmpge_pd(size, _mm_set1_pd(least)),
                      _mm_cmple_pd(size, _mm_set1_pd(most)));
}

static inline __m128d mf_fma_double2_(__m128d a, __m128d b, __m128d c) {
    const __m128d zero = _mm_setzero_pd();
    __m128d nothing = _mm_or_pd(_mm_cmpeq_pd(a, zero), _mm_cmpeq_pd(b, zero));
    __m128d safe = _mm_and_pd(mf_fma_safe2_(a, MF_FMA_FACTOR_LEAST, MF_FMA_FACTOR_MOST),
                              mf_fma_safe2_(b, MF_FMA_FACTOR_LEAST, MF_FMA_FACTOR_MOST));
    safe = _mm_and_pd(safe, _mm_or_pd(mf_fma_safe2_(c, MF_FMA_TERM_LEAST, MF_FMA_TERM_MOST),
                                      _mm_cmpeq_pd(c, zero)));
    int unsafe = _mm_movemask_pd(_mm_or_pd(safe, nothing)) ^ 3;
    if (__builtin_expect(unsafe != 0, 0))
        return (__m128d){mf_fma_double_(a[0], b[0], c[0]), mf_fma_double_(a[1], b[1], c[1])};
    mf_Exact2_ product = mf_exact_product2_(a, b), low = mf_exact_sum2_(c, product.low);
    mf_Exact2_ high = mf_exact_sum2_(product.high, low.high);
    __m128d sum = high.high + mf_sum_odd2_(low.low, high.low);
    return _mm_or_pd(_mm_and_pd(nothing, product.high + c), _mm_andnot_pd(nothing, sum));
}
#endif

#endif
