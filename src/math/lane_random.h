// Random numbers in lanes, as pure functions of (seed, instance, stream, tick): Philox words
// (base/random.c), normally distributed by the method of Box and Muller (1958). The logarithm is
// taken of a word's leading bit and the 24 bits after it, so nothing is rounded before it, and both
// precisions draw from the same numbers.
#pragma once

#include "math/lane_functions.h"

#include <mayfly/base.h>

// Logarithm of m in [1/2, 1): 2 artanh((m - 1)/(m + 1)), after doubling m below sqrt(1/2). Absolute
// error below 2e-7 (float) and 1e-12 (double).
static inline mf_lane mf_log_mantissa_lane(mf_lane m) {
    const mf_lane one = mf_set((mf_real)1);
    mf_mask low = mf_less(m, mf_set((mf_real)0.70710678118654752440));
    m = mf_select(low, m + m, m);
    mf_lane s = (m - one) / (m + one), z = s * s;
    mf_lane sum = mf_set((mf_real)(2.0 / 15.0));
    sum = mf_fma(sum, z, mf_set((mf_real)(2.0 / 13.0)));
    sum = mf_fma(sum, z, mf_set((mf_real)(2.0 / 11.0)));
    sum = mf_fma(sum, z, mf_set((mf_real)(2.0 / 9.0)));
    sum = mf_fma(sum, z, mf_set((mf_real)(2.0 / 7.0)));
    sum = mf_fma(sum, z, mf_set((mf_real)(2.0 / 5.0)));
    sum = mf_fma(sum, z, mf_set((mf_real)(2.0 / 3.0)));
    sum = mf_fma(sum, z, mf_set((mf_real)2.0));
    return mf_fma(s, sum, mf_keep(low, mf_set((mf_real)-0.69314718055994530942)));
}

// Four independent numbers of mean 0 and variance 1, within +-6.7, for each of the instances
// `first` .. `first` + MF_LANES - 1.
static inline void mf_normal_lanes(uint64_t seed, uint32_t first, uint32_t stream, uint64_t tick,
                                   mf_lane out[4]) {
    MF_ALIGNED(64) mf_real mantissa[2][MF_LANES], zeros[2][MF_LANES], angle[2][MF_LANES];
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        uint32_t word[4];
        mf_random(seed, first + lane, stream, tick, word);
        for (int pair = 0; pair < 2; pair++) {
            uint32_t bits = word[2 * pair] | 1;
            int leading = __builtin_clz(bits);
            mantissa[pair][lane] = (mf_real)(bits << leading >> 8) * (mf_real)0x1p-24;
            zeros[pair][lane] = (mf_real)leading;
            angle[pair][lane] = (mf_real)(word[2 * pair + 1] >> 8) * (mf_real)0x1p-24;
        }
    }
    for (int pair = 0; pair < 2; pair++) {
        mf_lane log = mf_log_mantissa_lane(mf_load(mantissa[pair]));
        log = mf_fma(mf_load(zeros[pair]), mf_set((mf_real)-0.69314718055994530942), log);
        mf_lane size = mf_sqrt(log * mf_set((mf_real)-2)), sine, cosine;
        mf_sin_cos_lane(mf_load(angle[pair]) * mf_set((mf_real)6.28318530717958647693), &sine,
                        &cosine);
        out[2 * pair] = size * cosine;
        out[2 * pair + 1] = size * sine;
    }
}

// Four independent numbers that are uniform in [-1, 1), for each of the MF_LANES numbers in
// `instance`.
static inline void mf_uniform_lanes(uint64_t seed, const uint32_t *instance, uint32_t stream,
                                    uint64_t tick, mf_lane out[4]) {
    MF_ALIGNED(64) mf_real side[4][MF_LANES];
    for (uint32_t lane = 0; lane < MF_LANES; lane++) {
        uint32_t word[4];
        mf_random(seed, instance[lane], stream, tick, word);
        for (int i = 0; i < 4; i++)
            side[i][lane] = (mf_real)((int32_t)(word[i] >> 8) - (1 << 23)) * (mf_real)0x1p-23;
    }
    for (int i = 0; i < 4; i++)
        out[i] = mf_load(side[i]);
}
