// Numbers from random words, which kernels take, too.
#pragma once

#include <mayfly/base.h>

// Uniform integer in [0, bound), bound >= 1, by multiply-shift (bias below bound / 2^32).
uint32_t mf_random_below(uint32_t word, uint32_t bound);

// Uniform in [0, 1) with 24 and 53 random bits.
float mf_random_unit_float(uint32_t word);
