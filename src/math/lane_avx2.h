// Lanes of 256 bits (AVX2). Included by math/lane.h only.
#ifndef MF_MATH_LANE_AVX2_H
#define MF_MATH_LANE_AVX2_H

#include <immintrin.h>

#if defined(MF_KERNEL_F64)
#define MF_LANES 4
typedef double mf_lane __attribute__((vector_size(32)));
typedef double mf_mask __attribute__((vector_size(32))); // all bits of a lane
typedef int32_t mf_index __attribute__((vector_size(16)));

static inline mf_lane mf_set(mf_real a) {
    return _mm256_set1_pd(a);
}
static inline mf_lane mf_load(const mf_real *address) {
    return _mm256_load_pd(address);
}
static inline void mf_store(mf_real *address, mf_lane a) {
    _mm256_store_pd(address, a);
}
static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return _mm256_cmp_pd(a, b, _CMP_LT_OQ);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return _mm256_cmp_pd(a, b, _CMP_LE_OQ);
}
static inline mf_mask mf_equal(mf_lane a, mf_lane b) {
    return _mm256_cmp_pd(a, b, _CMP_EQ_OQ);
}
static inline mf_mask mf_and(mf_mask a, mf_mask b) {
    return _mm256_and_pd(a, b);
}
static inline mf_mask mf_or(mf_mask a, mf_mask b) {
    return _mm256_or_pd(a, b);
}
static inline mf_mask mf_differ(mf_mask a, mf_mask b) {
    return _mm256_xor_pd(a, b);
}
static inline mf_mask mf_mask_all(void) {
    return _mm256_castsi256_pd(_mm256_set1_epi32(-1));
}
static inline mf_mask mf_not(mf_mask a) {
    return _mm256_xor_pd(a, mf_mask_all());
}
static inline bool mf_any(mf_mask a) {
    return _mm256_movemask_pd(a) != 0;
}
static inline bool mf_all(mf_mask a) {
    return _mm256_movemask_pd(a) == 15;
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return _mm256_blendv_pd(no, yes, mask);
}
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
    return _mm256_fmadd_pd(a, b, c);
}
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return _mm256_min_pd(a, b);
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return _mm256_max_pd(a, b);
}
static inline mf_lane mf_abs(mf_lane a) {
    return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a);
}
static inline mf_lane mf_sqrt(mf_lane a) {
    return _mm256_sqrt_pd(a);
}
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm256_cvttpd_epi32(a);
}
static inline mf_lane mf_from_index(mf_index a) {
    return _mm256_cvtepi32_pd((__m128i)a);
}
static inline mf_index mf_set_index(int32_t a) {
    return (mf_index)_mm_set1_epi32(a);
}
static inline mf_index mf_load_index(const int32_t *address) {
    return (mf_index)_mm_load_si128((const __m128i *)(const void *)address);
}
static inline void mf_store_index(int32_t *address, mf_index a) {
    _mm_store_si128((__m128i *)(void *)address, (__m128i)a);
}
static inline mf_mask mf_index_equal(mf_index a, mf_index b) {
    return _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_cmpeq_epi32((__m128i)a, (__m128i)b)));
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return _mm256_castsi256_pd(_mm256_cvtepi32_epi64(_mm_cmplt_epi32((__m128i)a, (__m128i)b)));
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
    mf_index bits = (mf_index)_mm256_castsi256_si128(
        _mm256_permutevar8x32_epi32(_mm256_castpd_si256(mask), even));
    return (bits & yes) | (~bits & no);
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return _mm256_i32gather_pd(table, (__m128i)index, 8);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return (mf_index)_mm_i32gather_epi32(table, (__m128i)index, 4);
}
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    int bits = _mm256_movemask_pd(mask);
    for (int lane = 0; lane < MF_LANES; lane++)
        if (bits >> lane & 1)
            table[index[lane]] = a[lane];
}
static inline mf_index mf_lane_numbers(void) {
    const mf_index value = {0, 1, 2, 3};
    return value;
}
#else
#define MF_LANES 8
typedef float mf_lane __attribute__((vector_size(32)));
typedef float mf_mask __attribute__((vector_size(32)));
typedef int32_t mf_index __attribute__((vector_size(32)));

static inline mf_lane mf_set(mf_real a) {
    return _mm256_set1_ps(a);
}
static inline mf_lane mf_load(const mf_real *address) {
    return _mm256_load_ps(address);
}
static inline void mf_store(mf_real *address, mf_lane a) {
    _mm256_store_ps(address, a);
}
static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return _mm256_cmp_ps(a, b, _CMP_LT_OQ);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return _mm256_cmp_ps(a, b, _CMP_LE_OQ);
}
static inline mf_mask mf_equal(mf_lane a, mf_lane b) {
    return _mm256_cmp_ps(a, b, _CMP_EQ_OQ);
}
static inline mf_mask mf_and(mf_mask a, mf_mask b) {
    return _mm256_and_ps(a, b);
}
static inline mf_mask mf_or(mf_mask a, mf_mask b) {
    return _mm256_or_ps(a, b);
}
static inline mf_mask mf_differ(mf_mask a, mf_mask b) {
    return _mm256_xor_ps(a, b);
}
static inline mf_mask mf_mask_all(void) {
    return _mm256_castsi256_ps(_mm256_set1_epi32(-1));
}
static inline mf_mask mf_not(mf_mask a) {
    return _mm256_xor_ps(a, mf_mask_all());
}
static inline bool mf_any(mf_mask a) {
    return _mm256_movemask_ps(a) != 0;
}
static inline bool mf_all(mf_mask a) {
    return _mm256_movemask_ps(a) == 255;
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return _mm256_blendv_ps(no, yes, mask);
}
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
    return _mm256_fmadd_ps(a, b, c);
}
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return _mm256_min_ps(a, b);
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return _mm256_max_ps(a, b);
}
static inline mf_lane mf_abs(mf_lane a) {
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a);
}
static inline mf_lane mf_sqrt(mf_lane a) {
    return _mm256_sqrt_ps(a);
}
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm256_cvttps_epi32(a);
}
static inline mf_lane mf_from_index(mf_index a) {
    return _mm256_cvtepi32_ps((__m256i)a);
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
    return _mm256_castsi256_ps(_mm256_cmpeq_epi32((__m256i)a, (__m256i)b));
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return _mm256_castsi256_ps(_mm256_cmpgt_epi32((__m256i)b, (__m256i)a));
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    return (mf_index)_mm256_blendv_epi8((__m256i)no, (__m256i)yes, _mm256_castps_si256(mask));
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return _mm256_i32gather_ps(table, (__m256i)index, 4);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    return (mf_index)_mm256_i32gather_epi32(table, (__m256i)index, 4);
}
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    int bits = _mm256_movemask_ps(mask);
    for (int lane = 0; lane < MF_LANES; lane++)
        if (bits >> lane & 1)
            table[index[lane]] = a[lane];
}
static inline mf_index mf_lane_numbers(void) {
    const mf_index value = {0, 1, 2, 3, 4, 5, 6, 7};
    return value;
}
#endif

static inline mf_lane mf_add_where(mf_mask mask, mf_lane a, mf_lane b) {
    return mf_select(mask, a + b, a);
}
static inline mf_lane mf_fma_where(mf_mask mask, mf_lane a, mf_lane b, mf_lane c) {
    return mf_select(mask, mf_fma(a, b, c), c);
}
static inline void mf_store_where(mf_mask mask, mf_real *address, mf_lane a) {
    mf_store(address, mf_select(mask, a, mf_load(address)));
}

#endif
