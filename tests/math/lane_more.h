// What the test of exponentials and normal numbers asks of every copy of random_lane_kernel.c.
#pragma once

#include "math/kernel.h"

// out[i] = exp(x[i]) and out[i] = log(x[i]) for x in [1/2, 1); `count` is a multiple of 16 and both
// arrays are aligned to 64 bytes.
MF_KERNEL_COPIES(void, mf_test_exp, (const void *x, void *out, uint32_t count));
MF_KERNEL_COPIES(void, mf_test_log, (const void *x, void *out, uint32_t count));
// Four numbers for each instance 0 .. count-1 of a tick: out[4 rows of count].
MF_KERNEL_COPIES(void, mf_test_normal, (uint64_t seed, uint64_t tick, void *out, uint32_t count));
