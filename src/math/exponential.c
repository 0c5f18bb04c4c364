// The exponential function for set-up code (scalar.h): x = n ln 2 + r with |r| <= ln 2 / 2, where n
// ln 2 is subtracted in two parts, the first of them exact (Cody and Waite 1980), and the Taylor
// series of e^r, whose remainder after r^13 / 13! is below 5e-18.
#include "math/scalar.h"

// 2^n for -1022 <= n <= 1023.
static double power_of_two(int n) {
    uint64_t bits = (uint64_t)(n + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double mf_exp(double x) {
    if (!mf_is_finite(x))
        return x < 0.0 ? 0.0 : x;
    if (x > 709.782712893384)
        return (double)__builtin_inf();
    if (x < -745.2)
        return 0.0;
    double n = mf_floor(x * 1.44269504088896340736 + 0.5);
    double r = (x - n * 0x1.62e42feep-1) - n * 0x1.a39ef35793c76p-33;
    double sum = 1.0;
    for (int k = 13; k > 1; k--)
        sum = 1.0 + sum * r / k;
    sum = 1.0 + sum * r;
    // In two halves, so that neither is out of range when the result is near a limit.
    int half = (int)n / 2;
    return sum * power_of_two(half) * power_of_two((int)n - half);
}

double mf_log(double x) {
    if (!(x > 0.0) || !mf_is_finite(x))
        return x == 0.0 ? -(double)__builtin_inf() : x > 0.0 ? x : (double)__builtin_nan("");
    const int shift = x < 0x1p-1022 ? 54 : 0; // subnormal numbers become normal
    uint64_t bits = mf_bits_of(x * power_of_two(shift));
    // x = m 2^n with m in [sqrt(1/2), sqrt(2))
    const uint64_t root = UINT64_C(0x3fe6a09e667f3bcd);
    const int64_t n = (int64_t)(bits - root) >> 52;
    bits -= (uint64_t)n << 52;
    double m;
    memcpy(&m, &bits, sizeof m);
    // log m = f - s (f - 2 r), s = f / (2 + f), r the rest of the series of artanh s.
    const double f = m - 1.0, s = f / (2.0 + f), z = s * s;
    double rest = 0.0;
    for (int k = 21; k >= 3; k -= 2)
        rest = z * (1.0 / k + rest);
    const double power = (double)(n - shift), log_m = f - (s * f - 2.0 * s * rest);
    return power * 0x1.62e42feep-1 + (power * 0x1.a39ef35793c76p-33 + log_m);
}
