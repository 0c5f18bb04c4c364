// Lists of lanes: loads from any address, and compressed stores of the lanes where a mask holds.
#pragma once

#include "math/lane.h"
#include "math/lane_table.h"

// MF_LANES values from any address that is aligned as a single value.
static MF_INLINE mf_lane mf_load_any(const mf_real *address) {
    mf_lane value;
    memcpy(&value, address, sizeof value);
    return value;
}

static MF_INLINE mf_index mf_load_any_index(const int32_t *address) {
    mf_index value;
    memcpy(&value, address, sizeof value);
    return value;
}

// Writes the lanes where the mask holds to `list`, in order, and returns their number. `list` must
// have space for all lanes.
static MF_INLINE uint32_t mf_append_lane(mf_real *list, mf_mask mask, mf_lane value) {
#if defined(MF_KERNEL_AVX512) && defined(MF_KERNEL_F64)
    _mm512_storeu_pd(list, _mm512_maskz_compress_pd(mask, value));
    return (uint32_t)__builtin_popcount(mask);
#elif defined(MF_KERNEL_AVX512)
    _mm512_storeu_ps(list, _mm512_maskz_compress_ps(mask, value));
    return (uint32_t)__builtin_popcount(mask);
#elif MF_LANES == 1
    *list = value;
    return mask;
#else
    MF_ALIGNED(64) mf_real values[MF_LANES], chosen[MF_LANES];
    uint32_t count = 0;
    mf_store(values, value);
    mf_store(chosen, mf_select(mask, mf_set((mf_real)1), mf_zero()));
    for (int lane = 0; lane < MF_LANES; lane++) {
        list[count] = values[lane];
        count += chosen[lane] != 0;
    }
    return count;
#endif
}

// Number of lanes where the mask holds.
static MF_INLINE uint32_t mf_count_lanes(mf_mask mask) {
#if defined(MF_KERNEL_AVX512)
    return (uint32_t)__builtin_popcount(mask);
#elif MF_LANES == 1
    return mask;
#else
    MF_ALIGNED(64) int32_t ones[MF_LANES];
    uint32_t count = 0;
    mf_store_index(ones, mf_select_index(mask, mf_set_index(1), mf_set_index(0)));
    for (int lane = 0; lane < MF_LANES; lane++)
        count += (uint32_t)ones[lane];
    return count;
#endif
}

// 1 where the mask holds, else 0.
static MF_INLINE mf_index mf_ones_where(mf_mask mask) {
    return mf_select_index(mask, mf_set_index(1), mf_set_index(0));
}
