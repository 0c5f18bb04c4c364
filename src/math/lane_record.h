// Records of eight values, one per lane from anywhere in a table, and lists of the numbers of
// lanes.
#pragma once

#include "math/lane_list.h"

enum { MF_RECORD = 8 }; // [1] values of a record

#if defined(MF_KERNEL_AVX512) || defined(MF_KERNEL_AVX2)
#if defined(MF_KERNEL_F64)
#define MF_RECORD_LANES_ 4
typedef __m256d mf_record_row_;

// Values 0 to 3 of the records at four places.
static MF_INLINE void mf_transpose_records_(const mf_real *const at[4], __m256d out[4]) {
    const __m256d a = _mm256_loadu_pd(at[0]), b = _mm256_loadu_pd(at[1]);
    const __m256d c = _mm256_loadu_pd(at[2]), d = _mm256_loadu_pd(at[3]);
    const __m256d ab_low = _mm256_unpacklo_pd(a, b), ab_high = _mm256_unpackhi_pd(a, b);
    const __m256d cd_low = _mm256_unpacklo_pd(c, d), cd_high = _mm256_unpackhi_pd(c, d);
    out[0] = _mm256_permute2f128_pd(ab_low, cd_low, 0x20);
    out[1] = _mm256_permute2f128_pd(ab_high, cd_high, 0x20);
    out[2] = _mm256_permute2f128_pd(ab_low, cd_low, 0x31);
    out[3] = _mm256_permute2f128_pd(ab_high, cd_high, 0x31);
}
#else
#define MF_RECORD_LANES_ 8
typedef __m256 mf_record_row_;

static MF_INLINE __m256 mf_record_pair_(const mf_real *low, const mf_real *high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(low)), _mm_loadu_ps(high), 1);
}

// Values 0 to 3 of the records at eight places.
static MF_INLINE void mf_transpose_records_(const mf_real *const at[8], __m256 out[4]) {
    const __m256 a = mf_record_pair_(at[0], at[4]), b = mf_record_pair_(at[1], at[5]);
    const __m256 c = mf_record_pair_(at[2], at[6]), d = mf_record_pair_(at[3], at[7]);
    const __m256d ab_low = _mm256_castps_pd(_mm256_unpacklo_ps(a, b));
    const __m256d ab_high = _mm256_castps_pd(_mm256_unpackhi_ps(a, b));
    const __m256d cd_low = _mm256_castps_pd(_mm256_unpacklo_ps(c, d));
    const __m256d cd_high = _mm256_castps_pd(_mm256_unpackhi_ps(c, d));
    out[0] = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_low, cd_low));
    out[1] = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_low, cd_low));
    out[2] = _mm256_castpd_ps(_mm256_unpacklo_pd(ab_high, cd_high));
    out[3] = _mm256_castpd_ps(_mm256_unpackhi_pd(ab_high, cd_high));
}
#endif
#endif

// Record number[lane] of `records` in each lane.
static MF_INLINE void mf_load_records(const mf_real *records, const int32_t *number,
                                      mf_lane out[MF_RECORD]) {
#if defined(MF_KERNEL_AVX512) || defined(MF_KERNEL_AVX2)
    for (int half = 0; half < 2; half++) {
        mf_record_row_ rows[MF_LANES / MF_RECORD_LANES_][4];
        for (int part = 0; part < MF_LANES / MF_RECORD_LANES_; part++) {
            const mf_real *from[MF_RECORD_LANES_];
            for (int lane = 0; lane < MF_RECORD_LANES_; lane++)
                from[lane] =
                    records + 4 * half + MF_RECORD * (size_t)number[part * MF_RECORD_LANES_ + lane];
            mf_transpose_records_(from, rows[part]);
        }
        for (int c = 0; c < 4; c++)
#if defined(MF_KERNEL_AVX2)
            out[4 * half + c] = rows[0][c];
#elif defined(MF_KERNEL_F64)
            out[4 * half + c] =
                _mm512_insertf64x4(_mm512_castpd256_pd512(rows[0][c]), rows[1][c], 1);
#else
            out[4 * half + c] =
                _mm512_insertf32x8(_mm512_castps256_ps512(rows[0][c]), rows[1][c], 1);
#endif
    }
#else
    MF_ALIGNED(64) mf_real values[MF_RECORD][MF_LANES];
    for (int lane = 0; lane < MF_LANES; lane++)
        for (int c = 0; c < MF_RECORD; c++)
            values[c][lane] = records[MF_RECORD * (size_t)number[lane] + (size_t)c];
    for (int c = 0; c < MF_RECORD; c++)
        out[c] = mf_load(values[c]);
#endif
}

#if defined(MF_KERNEL_AVX2)
// For each mask of eight lanes the numbers of those that hold, a byte each from the lowest on.
#define MF_HOLDS_(mask, lane) ((uint64_t)(mask) >> (lane)&1u)
#define MF_BELOW2_(mask) (MF_HOLDS_(mask, 0) + MF_HOLDS_(mask, 1))
#define MF_BELOW4_(mask) (MF_BELOW2_(mask) + MF_BELOW2_((mask) >> 2))
#define MF_BELOW6_(mask) (MF_BELOW4_(mask) + MF_BELOW2_((mask) >> 4))
#define MF_BYTE_(mask, lane, below) (MF_HOLDS_(mask, lane) * (uint64_t)(lane) << 8 * (below))
#define MF_BYTES_(mask)                                                                            \
    (MF_BYTE_(mask, 1, MF_HOLDS_(mask, 0)) | MF_BYTE_(mask, 2, MF_BELOW2_(mask)) |                 \
     MF_BYTE_(mask, 3, MF_BELOW2_(mask) + MF_HOLDS_(mask, 2)) |                                    \
     MF_BYTE_(mask, 4, MF_BELOW4_(mask)) |                                                         \
     MF_BYTE_(mask, 5, MF_BELOW4_(mask) + MF_HOLDS_(mask, 4)) |                                    \
     MF_BYTE_(mask, 6, MF_BELOW6_(mask)) |                                                         \
     MF_BYTE_(mask, 7, MF_BELOW6_(mask) + MF_HOLDS_(mask, 6)))
#define MF_BYTES4_(mask)                                                                           \
    MF_BYTES_(mask), MF_BYTES_(mask + 1), MF_BYTES_(mask + 2), MF_BYTES_(mask + 3)
#define MF_BYTES16_(mask)                                                                          \
    MF_BYTES4_(mask), MF_BYTES4_(mask + 4), MF_BYTES4_(mask + 8), MF_BYTES4_(mask + 12)
#define MF_BYTES64_(mask)                                                                          \
    MF_BYTES16_(mask), MF_BYTES16_(mask + 16), MF_BYTES16_(mask + 32), MF_BYTES16_(mask + 48)
static const uint64_t mf_lanes_of_mask_[256] = {MF_BYTES64_(0), MF_BYTES64_(64), MF_BYTES64_(128),
                                                MF_BYTES64_(192)};
#endif

// Writes first + lane for the lanes where the mask holds to `list`, in order, and returns their
// number. `list` must have space for all lanes.
static MF_INLINE uint32_t mf_append_numbers(int32_t *list, mf_mask mask, int32_t first) {
#if defined(MF_KERNEL_AVX2)
#if defined(MF_KERNEL_F64)
    const uint32_t bits = (uint32_t)_mm256_movemask_pd(mask);
    const __m128i bytes = _mm_cvtsi64_si128((int64_t)mf_lanes_of_mask_[bits]);
    const mf_index lanes = (mf_index)_mm_cvtepu8_epi32(bytes);
#else
    const uint32_t bits = (uint32_t)_mm256_movemask_ps(mask);
    const __m128i bytes = _mm_cvtsi64_si128((int64_t)mf_lanes_of_mask_[bits]);
    const mf_index lanes = (mf_index)_mm256_cvtepu8_epi32(bytes);
#endif
    const mf_index numbers = lanes + mf_set_index(first);
    memcpy(list, &numbers, sizeof numbers);
    return (uint32_t)__builtin_popcount(bits);
#else
    return mf_append_index(list, mask, mf_lane_numbers() + mf_set_index(first));
#endif
}
