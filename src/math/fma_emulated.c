// a b + c rounded once where the processor cannot do it in one instruction: the same bits as the
// instruction, in every floating-point mode. Not inline: inlining doubled the size and the compile
// time of the kernels for such processors, and a call is cheap compared with the body.
//
// float: the product is exact in double; the sum in double is rounded to odd, after which the
// rounding to float is the only one (Boldo and Melquiond 2008, "Emulation of FMA and correctly
// rounded sums"). double: their algorithm 5 on an error-free product (Veltkamp 1968, Dekker 1971)
// where no step can overflow or become subnormal; else in integers (math/fma.h).
//
// Rounding to odd: of the two neighbors of an inexact sum the one with an odd last digit. From the
// sum to the nearest and its error: one step toward zero where the error points there, then the
// last bit set.
#include "math/fma.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define FACTOR_LEAST 0x1p-450 // of a and b, so that the error of the product is normal
#define FACTOR_MOST 0x1p450
#define TERM_LEAST 0x1p-900 // of c, likewise
#define TERM_MOST 0x1p900
#define SPLIT 0x8000001p0 // 2^27 + 1

typedef struct Exact { // an unevaluated sum
    double high, low;
} Exact;

static Exact exact_sum(double a, double b) {
    double sum = a + b, back = sum - a;
    return (Exact){sum, (a - (sum - back)) + (b - back)};
}

static double sum_odd(double a, double b) {
    Exact sum = exact_sum(a, b);
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
float mf_fma_float(float a, float b, float c) {
    double product = (double)a * (double)b, sum = product + (double)c;
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    bool tie = (bits & 0x1fffffff) == 0x10000000;
    bool tiny = __builtin_fabs(sum) < 0x1p-125 && sum != 0.0;
    if (__builtin_expect(tie || tiny, 0))
        return (float)sum_odd(product, (double)c);
    return (float)sum;
}

static Exact exact_product(double a, double b) {
    double a_big = a * SPLIT, b_big = b * SPLIT, product = a * b;
    double a_high = a_big - (a_big - a), b_high = b_big - (b_big - b);
    double a_low = a - a_high, b_low = b - b_high;
    double rest = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high;
    return (Exact){product, rest + a_low * b_low};
}

static bool fma_safe(double a, double least, double most) {
    double size = __builtin_fabs(a);
    return size >= least && size <= most;
}

double mf_fma_double(double a, double b, double c) {
    if (a == 0.0 || b == 0.0)
        return a * b + c;
    if (!fma_safe(a, FACTOR_LEAST, FACTOR_MOST) || !fma_safe(b, FACTOR_LEAST, FACTOR_MOST) ||
        !(c == 0.0 || fma_safe(c, TERM_LEAST, TERM_MOST)))
        return mf_fma_exact(a, b, c);
    Exact product = exact_product(a, b), low = exact_sum(c, product.low);
    Exact high = exact_sum(product.high, low.high);
    return high.high + sum_odd(low.low, high.low);
}

#if defined(__SSE2__)

// The same, two at a time.
typedef struct Exact2 {
    __m128d high, low;
} Exact2;

static Exact2 exact_sum2(__m128d a, __m128d b) {
    __m128d sum = a + b, back = sum - a;
    return (Exact2){sum, (a - (sum - back)) + (b - back)};
}

static __m128d sum_odd2(__m128d a, __m128d b) {
    Exact2 sum = exact_sum2(a, b);
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
static __m128d fma_float2(__m128d a, __m128d b, __m128d c) {
    const __m128i below = _mm_set1_epi64x(0x1fffffff), between = _mm_set1_epi64x(0x10000000);
    __m128d product = a * b, sum = product + c, size = _mm_andnot_pd(_mm_set1_pd(-0.0), sum);
    __m128i rest = _mm_and_si128(_mm_castpd_si128(sum), below);
    __m128d tie = _mm_castsi128_pd(_mm_cmpeq_epi32(rest, between)); // in the low half
    tie = _mm_castsi128_pd(_mm_slli_epi64(_mm_castpd_si128(tie), 32));
    __m128d tiny = _mm_and_pd(_mm_cmplt_pd(size, _mm_set1_pd(0x1p-125)),
                              _mm_cmpneq_pd(size, _mm_setzero_pd()));
    if (__builtin_expect(_mm_movemask_pd(_mm_or_pd(tie, tiny)) != 0, 0))
        return sum_odd2(product, c);
    return sum;
}

__m128 mf_fma_float4(__m128 a, __m128 b, __m128 c) {
    __m128d low = fma_float2(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
    a = _mm_movehl_ps(a, a);
    b = _mm_movehl_ps(b, b);
    c = _mm_movehl_ps(c, c);
    __m128d high = fma_float2(_mm_cvtps_pd(a), _mm_cvtps_pd(b), _mm_cvtps_pd(c));
    return _mm_movelh_ps(_mm_cvtpd_ps(low), _mm_cvtpd_ps(high));
}

static Exact2 exact_product2(__m128d a, __m128d b) {
    const __m128d split = _mm_set1_pd(SPLIT);
    __m128d a_big = a * split, b_big = b * split, product = a * b;
    __m128d a_high = a_big - (a_big - a), b_high = b_big - (b_big - b);
    __m128d a_low = a - a_high, b_low = b - b_high;
    __m128d rest = ((a_high * b_high - product) + a_high * b_low) + a_low * b_high;
    return (Exact2){product, rest + a_low * b_low};
}

static __m128d fma_safe2(__m128d a, double least, double most) {
    __m128d size = _mm_andnot_pd(_mm_set1_pd(-0.0), a);
    return _mm_and_pd(_mm_cmpge_pd(size, _mm_set1_pd(least)),
                      _mm_cmple_pd(size, _mm_set1_pd(most)));
}

__m128d mf_fma_double2(__m128d a, __m128d b, __m128d c) {
    const __m128d zero = _mm_setzero_pd();
    __m128d nothing = _mm_or_pd(_mm_cmpeq_pd(a, zero), _mm_cmpeq_pd(b, zero));
    __m128d safe = _mm_and_pd(fma_safe2(a, FACTOR_LEAST, FACTOR_MOST),
                              fma_safe2(b, FACTOR_LEAST, FACTOR_MOST));
    safe = _mm_and_pd(safe, _mm_or_pd(fma_safe2(c, TERM_LEAST, TERM_MOST), _mm_cmpeq_pd(c, zero)));
    int unsafe = _mm_movemask_pd(_mm_or_pd(safe, nothing)) ^ 3;
    if (__builtin_expect(unsafe != 0, 0))
        return (__m128d){mf_fma_double(a[0], b[0], c[0]), mf_fma_double(a[1], b[1], c[1])};
    Exact2 product = exact_product2(a, b), low = exact_sum2(c, product.low);
    Exact2 high = exact_sum2(product.high, low.high);
    __m128d sum = high.high + sum_odd2(low.low, high.low);
    return _mm_or_pd(_mm_and_pd(nothing, product.high + c), _mm_andnot_pd(nothing, sum));
}
#endif
