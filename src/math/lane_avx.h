// What lanes of 256 and of 512 bits have in common: operations whose intrinsics differ only in
// their names. Included by math/lane_avx2.h and math/lane_avx512.h, which define MF_LANES, mf_lane,
// mf_mask and mf_index, and
//   mf_ints_           the type of mf_index for intrinsics
//   MF_REALS_(name)    the intrinsic of that name for lanes
//   MF_INTS_(name)     that for indices
//   MF_ALL_INTS_(name) that for indices of any size, such as loads
#pragma once

static inline mf_lane mf_set(mf_real a) {
    return MF_REALS_(set1)(a);
}
static inline mf_lane mf_load(const mf_real *address) {
    return MF_REALS_(load)(address);
}
static inline void mf_store(mf_real *address, mf_lane a) {
    MF_REALS_(store)(address, a);
}
static inline mf_lane mf_fma(mf_lane a, mf_lane b, mf_lane c) {
    return MF_REALS_(fmadd)(a, b, c);
}
static inline mf_lane mf_min(mf_lane a, mf_lane b) {
    return MF_REALS_(min)(a, b);
}
static inline mf_lane mf_max(mf_lane a, mf_lane b) {
    return MF_REALS_(max)(a, b);
}
static inline mf_lane mf_sqrt(mf_lane a) {
    return MF_REALS_(sqrt)(a);
}
static inline mf_lane mf_from_index(mf_index a) {
    return MF_REALS_(cvtepi32)((mf_ints_)a);
}
static inline mf_index mf_set_index(int32_t a) {
    return (mf_index)MF_INTS_(set1)(a);
}
static inline mf_index mf_load_index(const int32_t *address) {
    return (mf_index)MF_ALL_INTS_(load)((const mf_ints_ *)(const void *)address);
}
static inline void mf_store_index(int32_t *address, mf_index a) {
    MF_ALL_INTS_(store)((mf_ints_ *)(void *)address, (mf_ints_)a);
}
// 0, 1, 2, ... across the lanes.
static inline mf_index mf_lane_numbers(void) {
#if MF_LANES == 4
    const mf_index value = {0, 1, 2, 3};
#elif MF_LANES == 8
    const mf_index value = {0, 1, 2, 3, 4, 5, 6, 7};
#else
    const mf_index value = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#endif
    return value;
}
