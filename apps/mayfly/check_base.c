// Check cases of the base: random numbers, integer time, hashes.
#include "check.h"
#include "base/hash.h"
#include "base/random.h"

// Salmon, Moraes, Dror, Shaw (2011), "Parallel random numbers: as easy as 1, 2, 3"; the vectors are
// those of the authors' Random123 package, file kat_vectors, philox4x32 with 10 rounds.
static void check_philox(mf_CheckRun *run) {
    static const struct {
        const char *name;
        uint32_t counter[4], key[2], expected[4];
    } rows[] = {
        {"zeros", {0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {"ones",
         {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {"digits of pi",
         {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint32_t out[4];
        mf_philox4x32(rows[i].counter, rows[i].key, out);
        for (int half = 0; half < 2; half++) {
            mf_check_bits(run,
                          mf_check_name(run, "philox4x32-10, %s, words %d and %d", rows[i].name,
                                        2 * half, 2 * half + 1),
                          (uint64_t)rows[i].expected[2 * half] << 32 |
                              rows[i].expected[2 * half + 1],
                          (uint64_t)out[2 * half] << 32 | out[2 * half + 1]);
        }
    }
}

// A rate of 400/3 per second has its k-th tick at 3 k / 400 s exactly; after 10^9 steps of 1 ms
// (10^6 s) that is floor(10^6 * 400 / 3) + 1 ticks.
static void check_rates(mf_CheckRun *run) {
    mf_Rate odd = {400, 3}, video = {30000, 1001};
    mf_Time end = 1000000 * MF_SECOND;
    mf_check_near(run, "ticks of 400/3 Hz in 1e9 steps of 1 ms", 133333334.0,
                  (double)mf_rate_ticks(odd, end), 0.0);
    // 10^6 * 30000 / 1001 = 29970029.97
    mf_check_near(run, "ticks of 30000/1001 Hz in the same time", 29970030.0,
                  (double)mf_rate_ticks(video, end), 0.0);
    int64_t due = 0;
    for (mf_Time time = 0; time <= 3 * MF_SECOND; time += MF_MILLISECOND)
        due += mf_rate_due(odd, time, MF_MILLISECOND);
    mf_check_near(run, "steps of 1 ms with a tick of 400/3 Hz in 3 s", 401.0, (double)due, 0.0);
}

// The CRC catalog's check value for CRC-32/ISO-HDLC, and FNV-1a 64 of "foobar" from the test
// suite of its authors (Fowler, Noll, Vo, draft-eastlake-fnv).
static void check_hashes(mf_CheckRun *run) {
    mf_check_bits(run, "CRC-32 of \"123456789\"", 0xcbf43926u, mf_crc32(0, "123456789", 9));
    mf_check_bits(run, "FNV-1a 64 of \"foobar\"", UINT64_C(0x85944171f73967e8),
                  mf_hash_bytes(MF_HASH_START, "foobar", 6));
}

const mf_CheckCase mf_check_base_cases[] = {
    {"philox", "random numbers: the authors' test vectors", check_philox},
    {"J10", "sample times are exact in integer time", check_rates},
    {"hashes", "checksums and hashes: published check values", check_hashes},
    {NULL, NULL, NULL}};
