// How long to wait for the next tick of an exact rate.
#pragma once

#include <mayfly/base.h>

// [1] Steps from `time` >= 0 until mf_rate_due is true for the first time, >= 1. `step` [ns] > 0.
// The n-th tick, counted from 0, is in [0, time] as soon as time >= n / rate.
static inline uint64_t mf_rate_wait(mf_Rate rate, mf_Time time, mf_Time step) {
    const __int128 ticks = mf_rate_ticks(rate, time);
    const __int128 unit = ticks * rate.denominator * MF_SECOND;
    const __int128 next = (unit + rate.numerator - 1) / rate.numerator;
    const __int128 steps = (next - time + step - 1) / step;
    return steps < 1 ? 1 : (uint64_t)steps;
}
