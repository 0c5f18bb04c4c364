// Counter-based random numbers: Philox4x32 with ten rounds (Salmon, Moraes, Dror, Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", SC 2011). A number is a pure function of its key and
// counter, so it does not depend on the order of work.
#include <mayfly/base.h>
#include "base/random.h"

#include <string.h>

void mf_philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]) {
    if (counter == NULL)
        return;
    // Multipliers and Weyl increments of the key schedule from the paper.
    const uint64_t multiplier0 = 0xd2511f53, multiplier1 = 0xcd9e8d57;
    const uint32_t weyl0 = 0x9e3779b9, weyl1 = 0xbb67ae85;
    uint32_t word[4] = {counter[0], counter[1], counter[2], counter[3]};
    uint32_t key0 = key[0], key1 = key[1];
    for (int round = 0; round < 10; round++) {
        uint64_t product0 = multiplier0 * word[0], product1 = multiplier1 * word[2];
        const uint32_t next[4] = {(uint32_t)(product1 >> 32) ^ word[1] ^ key0, (uint32_t)product1,
                                  (uint32_t)(product0 >> 32) ^ word[3] ^ key1, (uint32_t)product0};
        memcpy(word, next, sizeof word);
        key0 += weyl0;
        key1 += weyl1;
    }
    memcpy(out, word, sizeof word);
}

void mf_random(uint64_t seed, uint32_t instance, uint32_t stream, uint64_t tick, uint32_t out[4]) {
    if (out == NULL)
        return;
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    const uint32_t counter[4] = {(uint32_t)tick, (uint32_t)(tick >> 32), instance, stream};
    mf_philox4x32(counter, key, out);
}

float mf_random_unit_float(uint32_t word) {
    return (float)(word >> 8) * 0x1p-24f;
}

double mf_random_unit_double(uint32_t high, uint32_t low) {
    uint64_t bits = (uint64_t)high << 32 | low;
    return (double)(bits >> 11) * 0x1p-53;
}

uint32_t mf_random_below(uint32_t word, uint32_t bound) {
    return (uint32_t)((uint64_t)word * bound >> 32);
}
