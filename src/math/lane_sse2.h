// Lanes of 128 bits with what every x86-64 has (SSE2). Included by math/lane.h only.
#ifndef MF_MATH_LANE_SSE2_H
#define MF_MATH_LANE_SSE2_H

#include "math/fma.h"

#if defined(__FMA__)
#include <immintrin.h>
#endif

#include <emmintrin.h>

// int32 per lane; for double only the low two of the four are used.
typedef int32_t mf_index __attribute__((vector_size(16)));

#if defined(MF_KERNEL_F64)
#define MF_LANES 2
typedef double mf_lane __attribute__((vector_size(16)));
typedef double mf_mask __attribute__((vector_size(16))); // all bits of a lane

static inline mf_lane mf_set(mf_real a) {
    return _mm_set1_pd(a);
}
static inline mf_lane mf_load(const mf_real *address) {
    return _mm_load_pd(address);
}
static inline void mf_store(mf_real *address, mf_lane a) {
    _mm_store_pd(address, a);
}
static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return _mm_cmplt_pd(a, b);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return _mm_cmple_pd(a, b);
}
static inline mf_mask mf_and(mf_mask a, mf_mask b) {
    return _mm_and_pd(a, b);
}
static inline mf_mask mf_or(mf_mask a, mf_mask b) {
    return _mm_or_pd(a, b);
}
static inline mf_mask mf_differ(mf_mask a, mf_mask b) {
    return _mm_xor_pd(a, b);
}
static inline mf_mask mf_mask_all(void) {
    return _mm_castsi128_pd(_mm_set1_epi32(-1));
}
static inline mf_mask mf_not(mf_mask a) {
    return _mm_xor_pd(a, mf_mask_all());
}
static inline bool mf_any(mf_mask a) {
    return _mm_movemask_pd(a) != 0;
}
static inline bool mf_all(mf_mask a) {
    return _mm_movemask_pd(a) == 3;
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return _mm_or_pd(_mm_and_pd(mask, yes), _mm_andnot_pd(mask, no));
}
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
#if defined(__FMA__)
    return _mm_fmadd_pd(a, b, c);
#else
    return mf_fma_double2(a, b, c);
#endif
}
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return _mm_min_pd(a, b);
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return _mm_max_pd(a, b);
}
static inline mf_lane mf_abs(mf_lane a) {
    return _mm_andnot_pd(_mm_set1_pd(-0.0), a);
}
static inline mf_lane mf_sqrt(mf_lane a) {
    return _mm_sqrt_pd(a);
}
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm_cvttpd_epi32(a);
}
static inline mf_lane mf_from_index(mf_index a) {
    return _mm_cvtepi32_pd((__m128i)a);
}
static inline mf_index mf_load_index(const int32_t *address) {
    return (mf_index)_mm_loadl_epi64((const __m128i *)(const void *)address);
}
static inline void mf_store_index(int32_t *address, mf_index a) {
    _mm_storel_epi64((__m128i *)(void *)address, (__m128i)a);
}
// The low two 32-bit masks, each doubled to 64 bits.
static inline mf_mask mf_widen_(mf_index a) {
    return _mm_castsi128_pd(_mm_unpacklo_epi32((__m128i)a, (__m128i)a));
}
static inline mf_index mf_narrow_(mf_mask mask) {
    return (mf_index)_mm_shuffle_epi32(_mm_castpd_si128(mask), _MM_SHUFFLE(3, 1, 2, 0));
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return _mm_set_pd(table[index[1]], table[index[0]]);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    const mf_index value = {table[index[0]], table[index[1]], 0, 0};
    return value;
}
#else
#define MF_LANES 4
typedef float mf_lane __attribute__((vector_size(16)));
typedef float mf_mask __attribute__((vector_size(16)));

static inline mf_lane mf_set(mf_real a) {
    return _mm_set1_ps(a);
}
static inline mf_lane mf_load(const mf_real *address) {
    return _mm_load_ps(address);
}
static inline void mf_store(mf_real *address, mf_lane a) {
    _mm_store_ps(address, a);
}
static inline mf_mask mf_less(mf_lane a, mf_lane b) {
    return _mm_cmplt_ps(a, b);
}
static inline mf_mask mf_less_equal(mf_lane a, mf_lane b) {
    return _mm_cmple_ps(a, b);
}
static inline mf_mask mf_and(mf_mask a, mf_mask b) {
    return _mm_and_ps(a, b);
}
static inline mf_mask mf_or(mf_mask a, mf_mask b) {
    return _mm_or_ps(a, b);
}
static inline mf_mask mf_differ(mf_mask a, mf_mask b) {
    return _mm_xor_ps(a, b);
}
static inline mf_mask mf_mask_all(void) {
    return _mm_castsi128_ps(_mm_set1_epi32(-1));
}
static inline mf_mask mf_not(mf_mask a) {
    return _mm_xor_ps(a, mf_mask_all());
}
static inline bool mf_any(mf_mask a) {
    return _mm_movemask_ps(a) != 0;
}
static inline bool mf_all(mf_mask a) {
    return _mm_movemask_ps(a) == 15;
}
static inline mf_lane mf_select(mf_mask mask, mf_lane yes, mf_lane no) {
    return _mm_or_ps(_mm_and_ps(mask, yes), _mm_andnot_ps(mask, no));
}
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
#if defined(__FMA__)
    return _mm_fmadd_ps(a, b, c);
#else
    return mf_fma_float4(a, b, c);
#endif
}
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return _mm_min_ps(a, b);
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return _mm_max_ps(a, b);
}
static inline mf_lane mf_abs(mf_lane a) {
    return _mm_andnot_ps(_mm_set1_ps(-0.0f), a);
}
static inline mf_lane mf_sqrt(mf_lane a) {
    return _mm_sqrt_ps(a);
}
static inline mf_index mf_to_index(mf_lane a) {
    return (mf_index)_mm_cvttps_epi32(a);
}
static inline mf_lane mf_from_index(mf_index a) {
    return _mm_cvtepi32_ps((__m128i)a);
}
static inline mf_index mf_load_index(const int32_t *address) {
    return (mf_index)_mm_load_si128((const __m128i *)(const void *)address);
}
static inline void mf_store_index(int32_t *address, mf_index a) {
    _mm_store_si128((__m128i *)(void *)address, (__m128i)a);
}
static inline mf_mask mf_widen_(mf_index a) {
    return _mm_castsi128_ps((__m128i)a);
}
static inline mf_index mf_narrow_(mf_mask mask) {
    return (mf_index)_mm_castps_si128(mask);
}
static inline mf_lane mf_gather(const mf_real *table, mf_index index) {
    return _mm_set_ps(table[index[3]], table[index[2]], table[index[1]], table[index[0]]);
}
static inline mf_index mf_gather_index(const int32_t *table, mf_index index) {
    const mf_index value = {table[index[0]], table[index[1]], table[index[2]], table[index[3]]};
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
static inline mf_index mf_set_index(int32_t a) {
    return (mf_index)_mm_set1_epi32(a);
}
static inline mf_mask mf_index_equal(mf_index a, mf_index b) {
    return mf_widen_((mf_index)_mm_cmpeq_epi32((__m128i)a, (__m128i)b));
}
static inline mf_mask mf_index_less(mf_index a, mf_index b) {
    return mf_widen_((mf_index)_mm_cmplt_epi32((__m128i)a, (__m128i)b));
}
static inline mf_index mf_select_index(mf_mask mask, mf_index yes, mf_index no) {
    mf_index bits = mf_narrow_(mask);
    return (bits & yes) | (~bits & no);
}
static inline void mf_scatter(mf_mask mask, mf_real *table, mf_index index, mf_lane a) {
    mf_index bits = mf_narrow_(mask);
    for (int lane = 0; lane < MF_LANES; lane++)
        if (bits[lane])
            table[index[lane]] = a[lane];
}
static inline mf_index mf_lane_numbers(void) {
    const mf_index value = {0, 1, 2, 3};
    return value;
}

#endif
