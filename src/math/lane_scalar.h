// Lanes of width one, for single robots and as the reference. Included by math/lane.h only.
#pragma once

#define MF_LANES 1

// Whether the compiler may use the instruction; without it the built-in functions call the
// mathematical library. Every GPU has it.
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA) || defined(__CUDA_ARCH__)
#define MF_SCALAR_FMA_
#else
#include "math/fma.h"
#endif

typedef mf_real mf_lane;
typedef bool mf_mask;
typedef int32_t mf_index;

static inline mf_lane mf_set(mf_real a) {
    return a;
}
static inline mf_lane mf_load(const mf_real *address) {
    return *address;
}
static inline void mf_store(mf_real *address, mf_lane a) {
    *address = a;
}
static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return a < b;
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return a <= b;
}
static inline mf_mask mf_equal(mf_lane a, mf_lane b) {
    return a == b;
}
static inline mf_mask mf_and(mf_mask a, mf_mask b) {
    return a && b;
}
static inline mf_mask mf_or(mf_mask a, mf_mask b) {
    return a || b;
}
static inline mf_mask mf_differ(mf_mask a, mf_mask b) {
    return a != b;
}
static inline mf_mask mf_not(mf_mask a) {
    return !a;
}
static inline mf_mask mf_mask_all(void) {
    return true;
}
static inline bool mf_any(mf_mask a) {
    return a;
}
static inline bool mf_all(mf_mask a) {
    return a;
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return mask ? yes : no;
}
// a + b where the mask holds, else a.
static inline mf_lane mf_add_where(mf_mask mask, mf_lane a, mf_lane b) {
    return mask ? a + b : a;
}
// Hides where a value came from: gcc would compile -(a * b + c) as -a * b - c, which is +0 instead
// of -0 where the sum is zero.
#if defined(__CUDA_ARCH__)
#define MF_HIDE_ORIGIN_(a)
#else
#define MF_HIDE_ORIGIN_(a) __asm__("" : "+x"(a))
#endif

// a * b + c, rounded once.
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
#if defined(MF_SCALAR_FMA_) && defined(MF_KERNEL_F64)
    mf_lane sum = __builtin_fma(a, b, c);
    MF_HIDE_ORIGIN_(sum);
    return sum;
#elif defined(MF_SCALAR_FMA_)
    mf_lane sum = __builtin_fmaf(a, b, c);
    MF_HIDE_ORIGIN_(sum);
    return sum;
#elif defined(MF_KERNEL_F64)
    return mf_fma_double(a, b, c);
#else
    return mf_fma_float(a, b, c);
#endif
}
// a * b + c where the mask holds, else c.
static inline mf_lane mf_fma_where(mf_mask mask, mf_lane a, mf_lane b, mf_lane c) {
    return mask ? mf_fma(a, b, c) : c;
}
// a < b ? a : b, so the second value where one is NaN.
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return a < b ? a : b;
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return a > b ? a : b;
}
static inline mf_lane mf_abs(mf_lane a) {
#if defined(MF_KERNEL_F64)
    return __builtin_fabs(a);
#else
    return __builtin_fabsf(a);
#endif
}
static inline mf_lane mf_sqrt(mf_lane a) {
#if defined(MF_KERNEL_F64)
    return __builtin_sqrt(a);
#else
    return __builtin_sqrtf(a);
#endif
}

// Stores `a` only where the mask holds.
static inline void mf_store_where(mf_mask mask, mf_real *address, mf_lane a) {
    if (mask)
        *address = a;
}

// Toward zero; the value must fit.
static inline mf_index mf_to_index(mf_lane a) {
    mf_index index = (mf_index)a;
#if defined(__SSE4_1__)
    // gcc 12 would make one rounding of this and mf_from_index, and -0 of what is 0.
    __asm__("" : "+r"(index));
#endif
    return index;
}
static inline mf_lane mf_from_index(mf_index a) {
    return (mf_lane)a;
}
static inline mf_index mf_set_index(int32_t a) {
    return a;
}
static inline mf_index mf_load_index(const int32_t *address) {
    return *address;
}
static inline void mf_store_index(int32_t *address, mf_index a) {
    *address = a;
}
static inline mf_mask mf_index_equal(mf_index a, mf_index b) {
    return a == b;
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return a < b;
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    return mask ? yes : no;
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return table[index];
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return table[index];
}
// table[index] = a where the mask holds; two lanes must not write the same element.
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    if (mask)
        table[index] = a;
}
// 0, 1, 2, ... across the lanes.
static inline mf_index mf_lane_numbers(void) {
    return 0;
}
