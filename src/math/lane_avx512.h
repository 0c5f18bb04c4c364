// Lanes of 512 bits (AVX-512 F, DQ, VL, BW), truth values in mask registers. Included by
// math/lane.h only.
#pragma once

#include <immintrin.h>

#if defined(MF_KERNEL_F64)
#define MF_LANES 8
#define MF_REALS_(name) _mm512_##name##_pd
#define MF_MASK_OF_REALS_(name) _mm512_##name##_pd_mask
#define MF_INTS_(name) _mm256_##name##_epi32
#define MF_MASK_OF_INTS_(name) _mm256_##name##_epi32_mask
#define MF_ALL_INTS_(name) _mm256_##name##_si256
typedef double mf_lane __attribute__((vector_size(64)));
typedef __mmask8 mf_mask;
typedef int32_t mf_index __attribute__((vector_size(32)));
typedef __m256i mf_ints_;
#else
#define MF_LANES 16
#define MF_REALS_(name) _mm512_##name##_ps
#define MF_MASK_OF_REALS_(name) _mm512_##name##_ps_mask
#define MF_INTS_(name) _mm512_##name##_epi32
#define MF_MASK_OF_INTS_(name) _mm512_##name##_epi32_mask
#define MF_ALL_INTS_(name) _mm512_##name##_si512
typedef float mf_lane __attribute__((vector_size(64)));
typedef __mmask16 mf_mask;
typedef int32_t mf_index __attribute__((vector_size(64)));
typedef __m512i mf_ints_;
#endif

#include "math/lane_avx.h"

static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return MF_MASK_OF_REALS_(cmp)(a, b, _CMP_LT_OQ);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return MF_MASK_OF_REALS_(cmp)(a, b, _CMP_LE_OQ);
}
static inline mf_mask mf_equal(mf_lane a, mf_lane b) {
    return MF_MASK_OF_REALS_(cmp)(a, b, _CMP_EQ_OQ);
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return MF_REALS_(mask_blend)(mask, no, yes);
}
static inline void mf_store_where(mf_mask mask, mf_real *address, mf_lane a) {
    MF_REALS_(mask_store)(address, mask, a);
}
static inline mf_lane mf_add_where(mf_mask mask, mf_lane a, mf_lane b) {
    return MF_REALS_(mask_add)(a, mask, a, b);
}
static inline mf_lane mf_fma_where(mf_mask mask, mf_lane a, mf_lane b, mf_lane c) {
    return MF_REALS_(mask3_fmadd)(a, b, c, mask);
}
static inline mf_lane mf_abs(mf_lane a) {
    return MF_REALS_(abs)(a);
}
static inline mf_mask mf_index_equal(mf_index a, mf_index b) {
    return MF_MASK_OF_INTS_(cmpeq)((mf_ints_)a, (mf_ints_)b);
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return MF_MASK_OF_INTS_(cmplt)((mf_ints_)a, (mf_ints_)b);
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    return (mf_index)MF_INTS_(mask_blend)(mask, (mf_ints_)no, (mf_ints_)yes);
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return MF_REALS_(i32gather)((mf_ints_)index, table, sizeof(mf_real));
}
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    MF_REALS_(mask_i32scatter)(table, mask, (mf_ints_)index, a, sizeof(mf_real));
}
#if defined(MF_KERNEL_F64)
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm512_cvttpd_epi32(a);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return (mf_index)_mm256_i32gather_epi32(table, (__m256i)index, 4);
}
#else
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm512_cvttps_epi32(a);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return (mf_index)_mm512_i32gather_epi32((__m512i)index, table, 4);
}
#endif

static inline mf_mask mf_and(mf_mask a, mf_mask b) {
    return (mf_mask)(a & b);
}
static inline mf_mask mf_or(mf_mask a, mf_mask b) {
    return (mf_mask)(a | b);
}
static inline mf_mask mf_differ(mf_mask a, mf_mask b) {
    return (mf_mask)(a ^ b);
}
static inline mf_mask mf_mask_all(void) {
    return (mf_mask) ~(mf_mask)0;
}
static inline mf_mask mf_not(mf_mask a) {
    return (mf_mask)~a;
}
static inline bool mf_any(mf_mask a) {
    return a != 0;
}
static inline bool mf_all(mf_mask a) {
    return a == mf_mask_all();
}
