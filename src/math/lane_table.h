// Look-up in a table of 32 values that all lanes share: one permutation of two registers where the
// instruction set has it, else a gather. Tables are aligned to 64 bytes; indices are 0 .. 31.
#ifndef MF_MATH_LANE_TABLE_H
#define MF_MATH_LANE_TABLE_H

#include "math/lane.h"

#define MF_TABLE_SIZE 32 // [1] values in a table

static inline mf_lane mf_look_up(const mf_real *table, mf_index index) {
#if defined(MF_KERNEL_AVX512) && !defined(MF_KERNEL_F64)
    return _mm512_permutex2var_ps(_mm512_load_ps(table), (__m512i)index,
                                  _mm512_load_ps(table + 16));
#else
    return mf_gather(table, index);
#endif
}

static inline mf_index mf_look_up_index(const int32_t *table, mf_index index) {
#if defined(MF_KERNEL_AVX512) && !defined(MF_KERNEL_F64)
    return (mf_index)_mm512_permutex2var_epi32(_mm512_load_si512(table), (__m512i)index,
                                               _mm512_load_si512(table + 16));
#else
    return mf_gather_index(table, index);
#endif
}

#endif
