// Random words of Philox4x32, and numbers from them.
#pragma once

#include <mayfly/base.h>

// Philox4x32-10; `counter` and `key` as in the paper (random.c).
void mf_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

// Uniform integer in [0, bound), bound >= 1, by multiply-shift (bias below bound / 2^32).
uint32_t mf_random_below(uint32_t word, uint32_t bound);

// Uniform in [0, 1) with 24 and 53 random bits.
float mf_random_unit_float(uint32_t word);
