// Kernels that read and write fields of either precision: their own and the other one.
#pragma once

#include "math/lane_list.h"

#if defined(MF_KERNEL_F64)
typedef float OtherReal;
static const bool own_is_double = true;
#else
typedef double OtherReal;
static const bool own_is_double = false;
#endif

// `same`: data has the kernel's own precision.
static MF_INLINE mf_lane read_lanes(const void *data, size_t at, bool same) {
    if (same)
        return mf_load((const mf_real *)data + at);
    MF_ALIGNED(64) mf_real values[MF_LANES];
    for (int lane = 0; lane < MF_LANES; lane++)
        values[lane] = (mf_real)((const OtherReal *)data)[at + (size_t)lane];
    return mf_load(values);
}

static MF_INLINE void write_where(mf_mask mask, void *data, size_t at, bool same, mf_lane value) {
    if (same) {
        mf_store_where(mask, (mf_real *)data + at, value);
        return;
    }
    MF_ALIGNED(64) mf_real values[MF_LANES];
    MF_ALIGNED(64) int32_t chosen[MF_LANES];
    mf_store(values, value);
    mf_store_index(chosen, mf_ones_where(mask));
    for (uint32_t lane = 0; lane < MF_LANES; lane++)
        if (chosen[lane] != 0)
            ((OtherReal *)data)[at + lane] = (OtherReal)values[lane];
}
