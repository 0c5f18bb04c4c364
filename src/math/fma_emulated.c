// a b + c rounded once where the processor cannot do it in one instruction: the same bits as the
// instruction. Not inline: inlining doubled the size and the compile
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
