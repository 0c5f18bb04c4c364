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
