// mf_fma over arrays, for every copy of fma_kernel.c.
#ifndef MF_TESTS_MATH_FMA_CASES_H
#define MF_TESTS_MATH_FMA_CASES_H

#include "math/kernel.h"

// out = a b + c for `count` values, a multiple of 16; all arrays aligned to 64 bytes. With `negate`
// out = -a b - c.
MF_KERNEL_COPIES(void, mf_fma_run,
                 (const void *a, const void *b, const void *c, void *out, uint32_t count,
                  bool negate));

#endif
