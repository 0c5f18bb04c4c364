// mf_fma over arrays, for every copy of fma_kernel.c.
#pragma once

#include "math/kernel.h"

typedef enum mf_FmaForm {
    MF_FMA_PLAIN,   // a b + c
    MF_FMA_NEGATED, // -a b - c
    MF_FMA_ROTATED  // -(a b + c), which has another sign where the sum is zero
} mf_FmaForm;

// For `count` values, a multiple of 16; all arrays aligned to 64 bytes.
MF_KERNEL_COPIES(void, mf_fma_run,
                 (const void *a, const void *b, const void *c, void *out, uint32_t count,
                  mf_FmaForm form));
