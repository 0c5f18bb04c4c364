// Lanes of 512 bits (AVX-512 F, DQ, VL, BW), truth values in mask registers. Included by
// math/lane.h only.
#ifndef MF_MATH_LANE_AVX512_H
#define MF_MATH_LANE_AVX512_H

#include <immintrin.h>

#if defined(MF_KERNEL_F64)
#define MF_LANES 8
typedef double mf_lane __attribute__((vector_size(64)));
typedef __mmask8 mf_mask;
typedef int32_t mf_index __attribute__((vector_size(32)));

static inline mf_lane mf_set(mf_real a) {
    return _mm512_set1_pd(a);
}
static inline mf_lane mf_load(const mf_real *address) {
    return _mm512_load_pd(address);
}
static inline void mf_store(mf_real *address, mf_lane a) {
    _mm512_store_pd(address, a);
}
static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_LE_OQ);
}
static inline mf_mask mf_equal(mf_lane a, mf_lane b) {
    return _mm512_cmp_pd_mask(a, b, _CMP_EQ_OQ);
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return _mm512_mask_blend_pd(mask, no, yes);
}
static inline void mf_store_where(mf_mask mask, mf_real *address, mf_lane a) {
    _mm512_mask_store_pd(address, mask, a);
}
static inline mf_lane mf_add_where(mf_mask mask, mf_lane a, mf_lane b) {
    return _mm512_mask_add_pd(a, mask, a, b);
}
static inline mf_lane mf_fma_where(mf_mask mask, mf_lane a, mf_lane b, mf_lane c) {
    return _mm512_mask3_fmadd_pd(a, b, c, mask);
}
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
    return _mm512_fmadd_pd(a, b, c);
}
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return _mm512_min_pd(a, b);
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return _mm512_max_pd(a, b);
}
static inline mf_lane mf_abs(mf_lane a) {
    return _mm512_abs_pd(a);
}
static inline mf_lane mf_sqrt(mf_lane a) {
    return _mm512_sqrt_pd(a);
}
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm512_cvttpd_epi32(a);
}
static inline mf_lane mf_from_index(mf_index a) {
    return _mm512_cvtepi32_pd((__m256i)a);
}
static inline mf_index mf_set_index(int32_t a) {
    return (mf_index)_mm256_set1_epi32(a);
}
static inline mf_index mf_load_index(const int32_t *address) {
    return (mf_index)_mm256_load_si256((const __m256i *)(const void *)address);
}
static inline void mf_store_index(int32_t *address, mf_index a) {
    _mm256_store_si256((__m256i *)(void *)address, (__m256i)a);
}
static inline mf_mask mf_index_equal(mf_index a, mf_index b) {
    return _mm256_cmpeq_epi32_mask((__m256i)a, (__m256i)b);
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return _mm256_cmplt_epi32_mask((__m256i)a, (__m256i)b);
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    return (mf_index)_mm256_mask_blend_epi32(mask, (__m256i)no, (__m256i)yes);
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return _mm512_i32gather_pd((__m256i)index, table, 8);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return (mf_index)_mm256_i32gather_epi32(table, (__m256i)index, 4);
}
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    _mm512_mask_i32scatter_pd(table, mask, (__m256i)index, a, 8);
}
static inline mf_index mf_lane_numbers(void) {
    const mf_index value = {0, 1, 2, 3, 4, 5, 6, 7};
    return value;
}
#else
#define MF_LANES 16
typedef float mf_lane __attribute__((vector_size(64)));
typedef __mmask16 mf_mask;
typedef int32_t mf_index __attribute__((vector_size(64)));

static inline mf_lane mf_set(mf_real a) {
    return _mm512_set1_ps(a);
}
static inline mf_lane mf_load(const mf_real *address) {
    return _mm512_load_ps(address);
}
static inline void mf_store(mf_real *address, mf_lane a) {
    _mm512_store_ps(address, a);
}
static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ);
}
static inline mf_mask mf_equal(mf_lane a, mf_lane b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ);
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return _mm512_mask_blend_ps(mask, no, yes);
}
static inline void mf_store_where(mf_mask mask, mf_real *address, mf_lane a) {
    _mm512_mask_store_ps(address, mask, a);
}
static inline mf_lane mf_add_where(mf_mask mask, mf_lane a, mf_lane b) {
    return _mm512_mask_add_ps(a, mask, a, b);
}
static inline mf_lane mf_fma_where(mf_mask mask, mf_lane a, mf_lane b, mf_lane c) {
    return _mm512_mask3_fmadd_ps(a, b, c, mask);
}
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
    return _mm512_fmadd_ps(a, b, c);
}
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return _mm512_min_ps(a, b);
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return _mm512_max_ps(a, b);
}
static inline mf_lane mf_abs(mf_lane a) {
    return _mm512_abs_ps(a);
}
static inline mf_lane mf_sqrt(mf_lane a) {
    return _mm512_sqrt_ps(a);
}
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm512_cvttps_epi32(a);
}
static inline mf_lane mf_from_index(mf_index a) {
    return _mm512_cvtepi32_ps((__m512i)a);
}
static inline mf_index mf_set_index(int32_t a) {
    return (mf_index)_mm512_set1_epi32(a);
}
static inline mf_index mf_load_index(const int32_t *address) {
    return (mf_index)_mm512_load_si512(address);
}
static inline void mf_store_index(int32_t *address, mf_index a) {
    _mm512_store_si512(address, (__m512i)a);
}
static inline mf_mask mf_index_equal(mf_index a, mf_index b) {
    return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    return (mf_index)_mm512_mask_blend_epi32(mask, (__m512i)no, (__m512i)yes);
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return _mm512_i32gather_ps((__m512i)index, table, 4);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return (mf_index)_mm512_i32gather_epi32((__m512i)index, table, 4);
}
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    _mm512_mask_i32scatter_ps(table, mask, (__m512i)index, a, 4);
}
static inline mf_index mf_lane_numbers(void) {
    const mf_index value = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    return value;
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

#endif
