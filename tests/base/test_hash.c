// Hashes against the published check values of their definitions.
#include "rig/rig.h"
#include "base/hash.h"

static uint64_t fnv(const char *text) {
    return mf_hash_bytes(MF_HASH_START, text, strlen(text));
}

TEST(fnv_matches_published_vectors) {
    // Test suite of the FNV reference code, 64-bit FNV-1a
    assert_true(fnv("") == UINT64_C(0xcbf29ce484222325));
    assert_true(fnv("a") == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(fnv("b") == UINT64_C(0xaf63df4c8601f1a5));
    assert_true(fnv("foobar") == UINT64_C(0x85944171f73967e8));
}

TEST(crc_matches_published_vectors) {
    // "check" value of CRC-32/ISO-HDLC, and the IEND chunk of every PNG file
    assert_int_equal(mf_crc32(0, "123456789", 9), 0xcbf43926u);
    assert_int_equal(mf_crc32(0, "IEND", 4), 0xae426082u);
    assert_int_equal(mf_crc32(0, NULL, 0), 0);
}

// Bit by bit, straight from the definition.
static uint32_t crc_slow(const unsigned char *data, size_t size) {
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
    }
    return ~crc;
}

TEST(crc_equals_its_definition_for_every_byte) {
    unsigned char data[256];
    for (int i = 0; i < 256; i++) {
        data[i] = (unsigned char)(i * 167 + 13);
        assert_int_equal(mf_crc32(0, data, (size_t)i + 1), crc_slow(data, (size_t)i + 1));
        unsigned char one = (unsigned char)i;
        assert_int_equal(mf_crc32(0, &one, 1), crc_slow(&one, 1));
    }
}

TEST(both_chain_over_pieces) {
    const char text[] = "six legs walk further than four";
    size_t size = sizeof text;
    for (size_t cut = 0; cut <= size; cut++) {
        uint64_t hash = mf_hash_bytes(MF_HASH_START, text, cut);
        assert_true(mf_hash_bytes(hash, text + cut, size - cut) ==
                    mf_hash_bytes(MF_HASH_START, text, size));
        assert_int_equal(mf_crc32(mf_crc32(0, text, cut), text + cut, size - cut),
                         mf_crc32(0, text, size));
    }
}
