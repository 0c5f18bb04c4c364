// Integer time in nanoseconds and exact rates. Every product is formed in 128 bits, which holds
// time (63 bits) * numerator (63) and denominator (63) * 10^9 (30), so nothing is rounded.
// Invariant: tick k of a rate lies at exactly k * denominator / numerator seconds, k >= 0.
#include <mayfly/base.h>

#include <assert.h>
#include <string.h>

typedef unsigned __int128 Wide;

mf_Time mf_time_from_seconds(double seconds) {
    uint64_t bits;
    memcpy(&bits, &seconds, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7ff);
    uint64_t mantissa = bits & UINT64_C(0xfffffffffffff);
    bool negative = bits >> 63 != 0;
    if (biased == 0x7ff && mantissa != 0)
        return INT64_MIN; // NaN
    mf_Time limit = negative ? INT64_MIN : INT64_MAX;
    if (biased >= 1075)
        return limit; // 2^52 s and more, and infinity
    if (biased < 1023 - 64)
        return 0;
    // |seconds| = mantissa * 2^-shift; halves are rounded away from 0.
    int shift = 1075 - biased;
    mantissa |= UINT64_C(0x10000000000000);
    Wide nanoseconds = ((Wide)mantissa * MF_SECOND + ((Wide)1 << (shift - 1))) >> shift;
    if (nanoseconds > INT64_MAX)
        return limit;
    return negative ? -(mf_Time)nanoseconds : (mf_Time)nanoseconds;
}

double mf_time_to_seconds(mf_Time time) {
    return (double)time / 1e9;
}

mf_Rate mf_rate_from_period(mf_Time period) {
    assert(period > 0);
    int64_t a = MF_SECOND, b = period;
    while (b != 0) { // greatest common divisor (Euclid)
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return (mf_Rate){.numerator = MF_SECOND / a, .denominator = period / a};
}

// floor(time * rate) + 1 for time >= 0, else 0: ticks in [0, time].
static Wide count_ticks(mf_Rate rate, mf_Time time) {
    assert(rate.numerator > 0 && rate.denominator > 0);
    if (time < 0)
        return 0;
    Wide product = (Wide)time * (Wide)rate.numerator;
    return product / ((Wide)rate.denominator * MF_SECOND) + 1;
}

int64_t mf_rate_ticks(mf_Rate rate, mf_Time time) {
    if (rate.denominator <= 0) // no rate
        return 0;
    Wide ticks = count_ticks(rate, time);
    return ticks > INT64_MAX ? INT64_MAX : (int64_t)ticks;
}

bool mf_rate_due(mf_Rate rate, mf_Time time, mf_Time step) {
    if (time <= 0)
        return time == 0;
    if (step <= 0)
        return false;
    return count_ticks(rate, time) > count_ticks(rate, time - step);
}
