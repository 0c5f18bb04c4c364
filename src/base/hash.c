// Hashes: FNV-1a with 64 bits (Fowler, Noll, Vo) for state, CRC-32 (IEEE 802.3, reflected
// polynomial 0xedb88320) for file images. Both work on bytes, so byte order does not matter.
#include "base/hash.h"

uint64_t mf_hash_bytes(uint64_t hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

uint32_t mf_crc32(uint32_t crc, const void *data, size_t size) {
    // Remainders of the 16 half bytes: fast enough for files, small enough to stay in cache.
    static const uint32_t table[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
    const unsigned char *bytes = data;
    crc = ~crc;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return ~crc;
}

uint64_t mf_hash_u32(uint64_t hash, uint32_t value) {
    unsigned char bytes[4];
    for (int i = 0; i < 4; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    return mf_hash_bytes(hash, bytes, sizeof bytes);
}

uint64_t mf_hash_doubles(uint64_t hash, const double *values, size_t count) {
    for (size_t i = 0; i < count; i++) {
        union {
            double value;
            uint64_t bits;
        } number = {.value = values[i] + 0.0}; // turns -0 into 0
        hash = mf_hash_u32(hash, (uint32_t)number.bits);
        hash = mf_hash_u32(hash, (uint32_t)(number.bits >> 32));
    }
    return hash;
}
