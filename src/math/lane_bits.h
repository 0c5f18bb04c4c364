// Masks as whole numbers, for loops over the few lanes where they hold.
#ifndef MF_MATH_LANE_BITS_H
#define MF_MATH_LANE_BITS_H

#include "math/lane.h"

// Bit k is the truth value of lane k.
static MF_INLINE uint32_t mf_mask_bits(mf_mask mask) {
#if defined(MF_KERNEL_AVX512) || MF_LANES == 1
    return (uint32_t)mask;
#elif defined(MF_KERNEL_AVX2) && defined(MF_KERNEL_F64)
    return (uint32_t)_mm256_movemask_pd(mask);
#elif defined(MF_KERNEL_AVX2)
    return (uint32_t)_mm256_movemask_ps(mask);
#elif defined(MF_KERNEL_F64)
    return (uint32_t)_mm_movemask_pd(mask);
#else
    return (uint32_t)_mm_movemask_ps(mask);
#endif
}

// The number of the lowest bit that is set, of `bits` that are not all 0.
static MF_INLINE uint32_t mf_lowest_bit(uint32_t bits) {
#if defined(__GNUC__)
    return (uint32_t)__builtin_ctz(bits);
#else
    uint32_t bit = 0;
    while ((bits >> bit & 1) == 0)
        bit++;
    return bit;
#endif
}

#endif
