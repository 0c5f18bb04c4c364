// Fuzzes the PNG reader from memory: each input unchanged, and with corrected chunk checksums,
// because mutations rarely have valid ones.
#include "fuzz/image.h"
#include "base/hash.h"

#include <string.h>

static uint32_t word_at(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// A chunk is its length, type, data and the checksum of type and data.
static void repair_checksums(uint8_t *data, size_t size) {
    size_t offset = 8;
    while (offset + 12 <= size && word_at(data + offset) <= size - offset - 12) {
        size_t length = word_at(data + offset);
        uint8_t *checksum = data + offset + 8 + length;
        uint32_t crc = mf_crc32(0, data + offset + 4, length + 4);
        for (int i = 0; i < 4; i++)
            checksum[i] = (uint8_t)(crc >> (24 - 8 * i));
        offset += length + 12;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    fuzz_image(data, size);
    uint8_t *repaired = malloc(size + 1);
    if (repaired == NULL)
        return 0;
    if (size > 0)
        memcpy(repaired, data, size);
    if (size >= 8)
        memcpy(repaired, "\x89PNG\r\n\x1a\n", 8);
    repair_checksums(repaired, size);
    fuzz_image(repaired, size);
    free(repaired);
    return 0;
}
