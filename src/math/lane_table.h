// Small memories of lanes: 32 bytes of its own for each lane, read at an address that differs per
// lane, and lists of the lanes where a mask holds.
//
// With wide registers the 32 bytes are packed into eight of them and an address picks by a tree of
// selections, a third of a gather's latency; narrow sets read memory.
#ifndef MF_MATH_LANE_TABLE_H
#define MF_MATH_LANE_TABLE_H

#include "math/lane.h"

enum {
    MF_BYTES_ROWS = 32,  // [1] bytes per lane
    MF_BYTES_STRIDE = 16 // [1] values from one row to the next: a block
};

typedef struct mf_Bytes {
#if defined(MF_KERNEL_AVX512) || defined(MF_KERNEL_AVX2)
    mf_index word[MF_BYTES_ROWS / 4]; // bytes 4n .. 4n+3, the lowest address in the lowest bits
#else
    const int32_t *rows;
#endif
} mf_Bytes;

// The low eight bits of 32 rows of values, `rows` being those of the first lane, aligned as lanes
// are; they must stay as they are while the result is in use.
static inline mf_Bytes mf_bytes_pack(const int32_t *rows) {
    mf_Bytes bytes;
#if defined(MF_KERNEL_AVX512) || defined(MF_KERNEL_AVX2)
    const mf_index low8 = mf_set_index(255);
    for (int i = 0; i < MF_BYTES_ROWS / 4; i++) {
        const int32_t *row = rows + 4 * i * MF_BYTES_STRIDE;
        mf_index word = mf_load_index(row + 3 * MF_BYTES_STRIDE);
        word = (word << 8) | (mf_load_index(row + 2 * MF_BYTES_STRIDE) & low8);
        word = (word << 8) | (mf_load_index(row + MF_BYTES_STRIDE) & low8);
        bytes.word[i] = (word << 8) | (mf_load_index(row) & low8);
    }
#else
    bytes.rows = rows;
#endif
    return bytes;
}

// The byte 0 .. 255 at `address`, of which the low five bits count.
static inline mf_index mf_bytes_read(const mf_Bytes *bytes, mf_index address) {
#if defined(MF_KERNEL_AVX512) || defined(MF_KERNEL_AVX2)
    const mf_index *word = bytes->word;
    mf_index four = mf_set_index(4), eight = mf_set_index(8), sixteen = mf_set_index(16);
    mf_mask odd = mf_index_equal(address & four, four);
    mf_mask second = mf_index_equal(address & eight, eight);
    mf_mask high = mf_index_equal(address & sixteen, sixteen);
    mf_index low0 = mf_select_index(odd, word[1], word[0]);
    mf_index low1 = mf_select_index(odd, word[3], word[2]);
    mf_index high0 = mf_select_index(odd, word[5], word[4]);
    mf_index high1 = mf_select_index(odd, word[7], word[6]);
    mf_index low = mf_select_index(second, low1, low0);
    mf_index picked = mf_select_index(high, mf_select_index(second, high1, high0), low);
    return (picked >> ((address & mf_set_index(3)) << 3)) & mf_set_index(255);
#else
    mf_index cell = (address & mf_set_index(31)) * mf_set_index(MF_BYTES_STRIDE);
    return mf_gather_index(bytes->rows, cell + mf_lane_numbers()) & mf_set_index(255);
#endif
}

// Writes the values of the lanes where the mask holds to `list`, in order of the lanes, and returns
// their number. `list` must have room for all lanes.
static inline uint32_t mf_append_index(int32_t *list, mf_mask mask, mf_index value) {
#if defined(MF_KERNEL_AVX512) && defined(MF_KERNEL_F64)
    _mm256_storeu_si256((__m256i *)(void *)list, _mm256_maskz_compress_epi32(mask, (__m256i)value));
    return (uint32_t)__builtin_popcount(mask);
#elif defined(MF_KERNEL_AVX512)
    _mm512_storeu_si512(list, _mm512_maskz_compress_epi32(mask, (__m512i)value));
    return (uint32_t)__builtin_popcount(mask);
#elif MF_LANES == 1
    *list = value;
    return mask;
#else
    // Without a branch: each value is written and kept or overwritten by the next.
    _Alignas(64) int32_t values[16], chosen[16];
    uint32_t count = 0;
    mf_store_index(values, value);
    mf_store_index(chosen, mf_select_index(mask, mf_set_index(1), mf_set_index(0)));
    for (int lane = 0; lane < MF_LANES; lane++) {
        list[count] = values[lane];
        count += (uint32_t)chosen[lane];
    }
    return count;
#endif
}

#endif
