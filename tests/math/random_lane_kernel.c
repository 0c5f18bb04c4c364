// Runs exponentials, logarithms and normal numbers of lanes over arrays; compiled once per
// instruction set and precision like every kernel.
#include "lane_more.h"

#include "math/lane_random.h"

void MF_KERNEL(mf_test_exp)(const void *x, void *out, uint32_t count) {
    for (uint32_t i = 0; i < count; i += MF_LANES)
        mf_store((mf_real *)out + i, mf_exp_lane(mf_load((const mf_real *)x + i)));
}

void MF_KERNEL(mf_test_log)(const void *x, void *out, uint32_t count) {
    for (uint32_t i = 0; i < count; i += MF_LANES)
        mf_store((mf_real *)out + i, mf_log_mantissa_lane(mf_load((const mf_real *)x + i)));
}

void MF_KERNEL(mf_test_normal)(uint64_t seed, uint64_t tick, void *out, uint32_t count) {
    for (uint32_t i = 0; i < count; i += MF_LANES) {
        mf_lane values[4];
        mf_normal_lanes(seed, i, 7, tick, values);
        for (uint32_t k = 0; k < 4; k++)
            mf_store((mf_real *)out + k * count + i, values[k]);
    }
}
