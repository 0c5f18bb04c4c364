// Lanes of 256 bits (AVX2). Included by math/lane.h only.
#pragma once

#include <immintrin.h>

#if defined(MF_KERNEL_F64)
#define MF_LANES 4
#define MF_REALS_(name) _mm256_##name##_pd
#define MF_INTS_(name) _mm_##name##_epi32
#define MF_ALL_INTS_(name) _mm_##name##_si128
#define MF_MASK_OF_INTS_(a) _mm256_castsi256_pd(_mm256_cvtepi32_epi64(a))
typedef double mf_lane __attribute__((vector_size(32)));
typedef double mf_mask __attribute__((vector_size(32))); // all bits of a lane
typedef int32_t mf_index __attribute__((vector_size(16)));
typedef __m128i mf_ints_;
#else
#define MF_LANES 8
#define MF_REALS_(name) _mm256_##name##_ps
#define MF_INTS_(name) _mm256_##name##_epi32
#define MF_ALL_INTS_(name) _mm256_##name##_si256
#define MF_MASK_OF_INTS_(a) _mm256_castsi256_ps(a)
typedef float mf_lane __attribute__((vector_size(32)));
typedef float mf_mask __attribute__((vector_size(32)));
typedef int32_t mf_index __attribute__((vector_size(32)));
typedef __m256i mf_ints_;
#endif

#include "math/lane_avx.h"

static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return MF_REALS_(cmp)(a, b, _CMP_LT_OQ);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return MF_REALS_(cmp)(a, b, _CMP_LE_OQ);
}
static inline mf_mask mf_equal(mf_lane a, mf_lane b) {
    return MF_REALS_(cmp)(a, b, _CMP_EQ_OQ);
}
static inline mf_mask mf_and(mf_mask a, mf_mask b) {
    return MF_REALS_(and)(a, b);
}
static inline mf_mask mf_or(mf_mask a, mf_mask b) {
    return MF_REALS_(or)(a, b);
}
static inline mf_mask mf_differ(mf_mask a, mf_mask b) {
    return MF_REALS_(xor)(a, b);
}
static inline mf_mask mf_mask_all(void) {
    return MF_REALS_(castsi256)(_mm256_set1_epi32(-1));
}
static inline mf_mask mf_not(mf_mask a) {
    return MF_REALS_(xor)(a, mf_mask_all());
}
static inline bool mf_any(mf_mask a) {
    return MF_REALS_(movemask)(a) != 0;
}
static inline bool mf_all(mf_mask a) {
    return MF_REALS_(movemask)(a) == (1 << MF_LANES) - 1;
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return MF_REALS_(blendv)(no, yes, mask);
}
static inline mf_lane mf_add_where(mf_mask mask, mf_lane a, mf_lane b) {
    return mf_select(mask, a + b, a);
}
static inline mf_lane mf_fma_where(mf_mask mask, mf_lane a, mf_lane b, mf_lane c) {
    return mf_select(mask, mf_fma(a, b, c), c);
}
static inline void mf_store_where(mf_mask mask, mf_real *address, mf_lane a) {
    mf_store(address, mf_select(mask, a, mf_load(address)));
}
static inline mf_lane mf_abs(mf_lane a) {
    return MF_REALS_(andnot)(MF_REALS_(set1)((mf_real)-0.0), a);
}
static inline mf_mask mf_index_equal(mf_index a, mf_index b) {
    return MF_MASK_OF_INTS_(MF_INTS_(cmpeq)((mf_ints_)a, (mf_ints_)b));
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return MF_MASK_OF_INTS_(MF_INTS_(cmpgt)((mf_ints_)b, (mf_ints_)a));
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return MF_REALS_(i32gather)(table, (mf_ints_)index, sizeof(mf_real));
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return (mf_index)MF_INTS_(i32gather)(table, (mf_ints_)index, 4);
}
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    int bits = MF_REALS_(movemask)(mask);
    for (int lane = 0; lane < MF_LANES; lane++)
        if (bits >> lane & 1)
            table[index[lane]] = a[lane];
}
#if defined(MF_KERNEL_F64)
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm256_cvttpd_epi32(a);
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    mf_index bits = (mf_index)_mm256_castsi256_si128(
        _mm256_permutevar8x32_epi32(_mm256_castpd_si256(mask), even));
    return (bits & yes) | (~bits & no);
}
#else
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm256_cvttps_epi32(a);
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    return (mf_index)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, _mm256_castps_si256(mask));
}
#endif
