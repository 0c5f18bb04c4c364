// Small memories of lanes: 32 bytes of its own for each lane, read at an address that differs per
// lane, and lists of the lanes where a mask holds.
//
// With wide registers the 32 bytes are packed into eight of them and an address picks by a tree of
// selections, a third of a gather's latency; narrow sets read memory.
#pragma once

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

// True where `a` and `bits` have a bit in common.
static inline mf_mask mf_index_has(mf_index a, mf_index bits) {
#if defined(MF_KERNEL_AVX512) && defined(MF_KERNEL_F64)
    return _mm256_test_epi32_mask((__m256i)a, (__m256i)bits);
#elif defined(MF_KERNEL_AVX512)
    return _mm512_test_epi32_mask((__m512i)a, (__m512i)bits);
#else
    return mf_not(mf_index_equal(a & bits, mf_set_index(0)));
#endif
}

// Rotates to the right by bits 3 and 4 of `cell`: brings the byte of a word to its lowest bits.
#if defined(MF_KERNEL_AVX512) && defined(MF_KERNEL_F64)
static inline mf_index mf_bring_byte_(mf_index a, mf_index cell) {
    return (mf_index)_mm256_rorv_epi32((__m256i)a, (__m256i)cell);
}
#elif defined(MF_KERNEL_AVX512)
static inline mf_index mf_bring_byte_(mf_index a, mf_index cell) {
    return (mf_index)_mm512_rorv_epi32((__m512i)a, (__m512i)cell);
}
#elif defined(MF_KERNEL_AVX2)
static inline mf_index mf_bring_byte_(mf_index a, mf_index cell) {
    return a >> (cell & mf_set_index(24)); // a shift: only the low byte is examined
}
#endif

// The byte at address `cell` / 8 modulo 32, in the low eight bits; the bits above are arbitrary.
// Addresses are counted in bits, a multiple of 8, because that picks a byte out of a register.
static inline mf_index mf_bytes_read(const mf_Bytes *bytes, mf_index cell) {
#if defined(MF_KERNEL_AVX512) || defined(MF_KERNEL_AVX2)
    const mf_index *word = bytes->word;
    mf_mask odd = mf_index_has(cell, mf_set_index(32));
    mf_mask second = mf_index_has(cell, mf_set_index(64));
    mf_mask high = mf_index_has(cell, mf_set_index(128));
    mf_index low0 = mf_select_index(odd, word[1], word[0]);
    mf_index low1 = mf_select_index(odd, word[3], word[2]);
    mf_index high0 = mf_select_index(odd, word[5], word[4]);
    mf_index high1 = mf_select_index(odd, word[7], word[6]);
    mf_index low = mf_select_index(second, low1, low0);
    mf_index picked = mf_select_index(high, mf_select_index(second, high1, high0), low);
    return mf_bring_byte_(picked, cell);
#else
    mf_index row = (cell >> 3) & mf_set_index(MF_BYTES_ROWS - 1);
    return mf_gather_index(bytes->rows, row * mf_set_index(MF_BYTES_STRIDE) + mf_lane_numbers());
#endif
}

// Writes the values of the lanes where the mask holds to `list`, in order of the lanes, and returns
// their number. `list` must have space for all lanes.
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
    MF_ALIGNED(64) int32_t values[16], chosen[16];
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
