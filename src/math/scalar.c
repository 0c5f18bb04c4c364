// Set-up arithmetic in double (see scalar.h).
//
// Sine and cosine: reduction by multiples of pi/2 in double-double (Cody and Waite 1980: pi/2 in
// three parts of 33 bits, so that their products with a multiple below 2^20 are exact, and a tail),
// or for large angles with 192 bits of 2/pi in integers (Payne and Hanek 1983); then Taylor series
// on [-pi/4, pi/4]. Arc tangent: quotients from 1/8 on reduced to |z| <= 1/16 by the addition
// theorem with a table of atan(i/8), then the Taylor series.
// Invariants: only + - * / and sqrt; no branch depends on anything but the arguments.
#include "math/scalar.h"

#include <stddef.h>

typedef unsigned __int128 Wide;

#define HALF_PI_HIGH 0x1.921fb54442d18p+0
#define HALF_PI_LOW 0x1.1a62633145c07p-54

static double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool is_negative(double x) {
    return mf_bits_of(x) >> 63 != 0;
}

// 2^exponent for -1022 <= exponent <= 1023.
static double power_of_two(int exponent) {
    return from_bits((uint64_t)(exponent + 1023) << 52);
}

double mf_floor(double x) {
    // From 2^52 on every double is an integer; written so that NaN takes this branch too.
    if (!(mf_abs(x) < 0x1p52))
        return x;
    double whole = (double)(int64_t)x;
    if (whole == x)
        return x; // keeps -0
    return whole > x ? whole - 1.0 : whole;
}

// ---- sine and cosine ---------------------------------------------------------------------------

// An unevaluated sum high + low with |low| <= ulp(high) / 2.
typedef struct Double2 {
    double high, low;
} Double2;

// Exact a + b (Knuth 1969).
static Double2 two_sum(double a, double b) {
    double sum = a + b;
    double part = sum - a;
    return (Double2){sum, (a - (sum - part)) + (b - part)};
}

// angle - multiple * pi/2 for |multiple| < 2^20. The three products are exact; where the
// difference cancels the sums are exact as well, so the result is good to far below one ulp even
// for the double closest to a multiple of pi/2.
static Double2 reduce_medium(double angle, double multiple) {
    const double part1 = 0x1.921fb544p+0;  // first 33 bits of pi/2
    const double part2 = 0x1.0b4611a6p-34; // next 33
    const double part3 = 0x1.3198a2ep-69;  // next 33
    const double part4 = 0x1.b839a252049c1p-104;
    Double2 first = two_sum(angle - multiple * part1, -(multiple * part2));
    Double2 second = two_sum(first.high, -(multiple * part3));
    return two_sum(second.high, (first.low + second.low) - multiple * part4);
}

// Exact a * b by splitting into halves of 26 bits (Dekker 1971); for magnitudes near 1.
static Double2 two_product(double a, double b) {
    const double splitter = 0x1p27 + 1.0;
    double a_high = splitter * a - (splitter * a - a), a_low = a - a_high;
    double b_high = splitter * b - (splitter * b - b), b_low = b - b_high;
    double product = a * b;
    double error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
    return (Double2){product, error};
}

// angle * 2/pi modulo 4, exact to 2^-137, for 2^16 <= angle < infinity: the top two bits are the
// quadrant, the other 128 the fraction of it (in `fraction`).
static uint32_t multiply_two_over_pi(double angle, Wide *fraction) {
    // 2/pi = sum of two_over_pi[i] * 2^(-64 i)
    static const uint64_t two_over_pi[20] = {0,
                                             UINT64_C(0xa2f9836e4e441529),
                                             UINT64_C(0xfc2757d1f534ddc0),
                                             UINT64_C(0xdb6295993c439041),
                                             UINT64_C(0xfe5163abdebbc561),
                                             UINT64_C(0xb7246e3a424dd2e0),
                                             UINT64_C(0x06492eea09d1921c),
                                             UINT64_C(0xfe1deb1cb129a73e),
                                             UINT64_C(0xe88235f52ebb4484),
                                             UINT64_C(0xe99c7026b45f7e41),
                                             UINT64_C(0x3991d639835339f4),
                                             UINT64_C(0x9c845f8bbdf9283b),
                                             UINT64_C(0x1ff897ffde05980f),
                                             UINT64_C(0xef2f118b5a0a6d1f),
                                             UINT64_C(0x6d367ecf27cb09b7),
                                             UINT64_C(0x4f463f669e5fea2d),
                                             UINT64_C(0x7527bac7ebe5f17b),
                                             UINT64_C(0x3d0739f78a5292ea),
                                             UINT64_C(0x6bfb5fb11f8d5d08),
                                             UINT64_C(0x56033046fc7b6bab)};
    uint64_t bits = mf_bits_of(angle);
    uint64_t mantissa = (bits & UINT64_C(0xfffffffffffff)) | UINT64_C(0x10000000000000);
    int exponent = (int)(bits >> 52) - 1075; // angle = mantissa * 2^exponent, -36 .. 971
    // Leading bits of the table whose product is a multiple of 4 have no effect.
    int skip = exponent + 62;
    int word = skip / 64, shift = skip % 64;
    uint64_t product[3]; // modulo 2^192, highest word first, in units of 2^-190
    Wide carry = 0;
    for (int i = 2; i >= 0; i--) {
        uint64_t window = two_over_pi[word + i] << shift;
        if (shift != 0)
            window |= two_over_pi[word + i + 1] >> (64 - shift);
        carry += (Wide)mantissa * window;
        product[i] = (uint64_t)carry;
        carry >>= 64;
    }
    *fraction = ((Wide)product[0] << 64 | product[1]) << 2 | product[2] >> 62;
    return (uint32_t)(product[0] >> 62);
}

static Double2 reduce_large(double angle, uint32_t *quadrant) {
    Wide fraction;
    *quadrant = multiply_two_over_pi(angle, &fraction);
    double sign = 1.0;
    if (fraction >> 127 != 0) { // to the nearer quadrant
        *quadrant += 1;
        fraction = -fraction;
        sign = -1.0;
    }
    int zeros = 0;
    while (fraction != 0 && fraction >> 127 == 0) {
        fraction <<= 1;
        zeros++;
    }
    double scale = sign * power_of_two(-zeros);
    double high = (double)(uint64_t)(fraction >> 75) * 0x1p-53;
    double low = (double)(uint64_t)(fraction >> 22 & 0x1fffffffffffff) * 0x1p-106;
    Double2 product = two_product(high, HALF_PI_HIGH);
    product.low += high * HALF_PI_LOW + low * HALF_PI_HIGH;
    Double2 sum = two_sum(product.high, product.low);
    return (Double2){sum.high * scale, sum.low * scale};
}

// Taylor series to x^17 and x^16: the first term left out is below 2^-60 of the result.
static double sine_series(Double2 x) {
    double square = x.high * x.high;
    double sum = 1.0 / 355687428096000.0;
    sum = sum * square - 1.0 / 1307674368000.0;
    sum = sum * square + 1.0 / 6227020800.0;
    sum = sum * square - 1.0 / 39916800.0;
    sum = sum * square + 1.0 / 362880.0;
    sum = sum * square - 1.0 / 5040.0;
    sum = sum * square + 1.0 / 120.0;
    sum = sum * square - 1.0 / 6.0;
    return x.high + (x.high * square * sum + x.low * (1.0 - 0.5 * square));
}

static double cosine_series(Double2 x) {
    double square = x.high * x.high;
    double sum = 1.0 / 20922789888000.0;
    sum = sum * square - 1.0 / 87178291200.0;
    sum = sum * square + 1.0 / 479001600.0;
    sum = sum * square - 1.0 / 3628800.0;
    sum = sum * square + 1.0 / 40320.0;
    sum = sum * square - 1.0 / 720.0;
    sum = sum * square + 1.0 / 24.0;
    double half = 0.5 * square;
    double rough = 1.0 - half;
    return rough + (((1.0 - rough) - half) + (square * square * sum - x.high * x.low));
}

void mf_sin_cos(double angle, double *sine, double *cosine) {
    double magnitude = mf_abs(angle);
    double s = angle - angle, c = s; // NaN for arguments that are not finite
    if (mf_is_finite(angle)) {
        uint32_t quadrant;
        Double2 rest;
        if (magnitude < 0x1p19) {
            double multiple = mf_floor(magnitude * 0x1.45f306dc9c883p-1 + 0.5);
            quadrant = (uint32_t)multiple;
            rest = reduce_medium(magnitude, multiple);
        } else {
            rest = reduce_large(magnitude, &quadrant);
        }
        double x = cosine_series(rest), y = sine_series(rest);
        if (quadrant & 1) {
            double swap = x;
            x = -y;
            y = swap;
        }
        double sign = quadrant & 2 ? -1.0 : 1.0;
        c = sign * x;
        s = is_negative(angle) ? -(sign * y) : sign * y;
    }
    if (sine != NULL)
        *sine = s;
    if (cosine != NULL)
        *cosine = c;
}

// ---- arc functions -----------------------------------------------------------------------------

// atan(low / high) for 0 <= low <= high, high > 0, both finite.
static Double2 arc_tangent(double low, double high) {
    static const double table[9][2] = {{0.0, 0.0}, // atan(i / 8), high and low part
                                       {0x1.fd5ba9aac2f6ep-4, -0x1.cd37686760c17p-59},
                                       {0x1.f5b75f92c80ddp-3, 0x1.8ab6e3cf7afbdp-57},
                                       {0x1.6f61941e4def1p-2, -0x1.c63aae6f6e918p-56},
                                       {0x1.dac670561bb4fp-2, 0x1.a2b7f222f65e2p-56},
                                       {0x1.1e00babdefeb4p-1, -0x1.928df287a668fp-58},
                                       {0x1.4978fa3269ee1p-1, 0x1.2419a87f2a458p-56},
                                       {0x1.700a7c5784634p-1, -0x1.8c34d25aadef6p-56},
                                       {0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55}};
    if (high > 0x1p900 || high < 0x1p-900) { // where splitting a product could overflow
        double scale = high > 1.0 ? 0x1p-200 : 0x1p200;
        low *= scale;
        high *= scale;
    }
    double tangent = low / high, z = tangent;
    uint32_t index = 0;
    if (tangent >= 0.125) {
        // With the remainder of the division, which would otherwise dominate the error.
        Double2 product = two_product(tangent, high);
        double rest = ((low - product.high) - product.low) / high;
        index = (uint32_t)(tangent * 8.0 + 0.5);
        double knot = (double)index * 0.125;
        z = ((tangent - knot) + rest) / (1.0 + tangent * knot);
    }
    double square = z * z;
    double sum = 1.0 / 17.0;
    sum = sum * square - 1.0 / 15.0;
    sum = sum * square + 1.0 / 13.0;
    sum = sum * square - 1.0 / 11.0;
    sum = sum * square + 1.0 / 9.0;
    sum = sum * square - 1.0 / 7.0;
    sum = sum * square + 1.0 / 5.0;
    sum = sum * square - 1.0 / 3.0;
    return two_sum(table[index][0], z + (z * square * sum + table[index][1]));
}

double mf_atan2(double y, double x) {
    if (x != x || y != y)
        return x + y;
    double across = mf_abs(x), up = mf_abs(y);
    if (!mf_is_finite(across) || !mf_is_finite(up)) { // only the ratio of infinities matters
        across = mf_is_finite(across) ? 0.0 : 1.0;
        up = mf_is_finite(up) ? 0.0 : 1.0;
    }
    Double2 angle = {0.0, 0.0};
    if (up > across) {
        angle = arc_tangent(across, up);
        Double2 rest = two_sum(HALF_PI_HIGH, -angle.high);
        angle = two_sum(rest.high, rest.low + (HALF_PI_LOW - angle.low));
    } else if (across > 0.0) {
        angle = arc_tangent(up, across);
    }
    double result = angle.high;
    if (is_negative(x)) {
        Double2 rest = two_sum(2.0 * HALF_PI_HIGH, -angle.high);
        result = rest.high + (rest.low + (2.0 * HALF_PI_LOW - angle.low));
    }
    return is_negative(y) ? -result : result;
}

double mf_asin(double x) {
    if (x != x)
        return x;
    double sine = mf_clamp(x, -1.0, 1.0);
    return mf_atan2(sine, mf_sqrt((1.0 - sine) * (1.0 + sine)));
}

double mf_acos(double x) {
    if (x != x)
        return x;
    double cosine = mf_clamp(x, -1.0, 1.0);
    return mf_atan2(mf_sqrt((1.0 - cosine) * (1.0 + cosine)), cosine);
}
