// Genomes of new individuals: by the caller's function, or random bytes and their mutation.
//
// Mutation. Each byte of a child changes with chance `mutation_rate`. A byte that changes becomes,
// with equal chance, (a) any other byte, (b) itself with one bit flipped, or (c) itself with
// another lower five bits. Genomes are machine code with a 3-bit opcode above a 5-bit operand: (a)
// reaches everything, (b) is the small step, (c) keeps the instruction and changes what it acts on.
// All three always change the byte, so the rate is exact; a child in which no byte was chosen gets
// one mutation at a random position, so no evaluation is spent on a copy.
//
// Random numbers are mf_random(seed, id, stream, draw): an individual depends on the seed, its id
// and its parent, never on threads, the order of evaluation or the number of resumptions.
#include "search/population.h"
#include "base/random.h"

#include <inttypes.h>
#include <string.h>

void mf_search_draw(const mf_Search *search, uint64_t id, uint32_t stream, uint32_t index,
                    uint32_t words[4]) {
    // The number within its island: an island has the random numbers of a search of its own.
    uint64_t own = id / search->island_count;
    // The upper half of the id shares the tick with the draw index, which stays below 2^32.
    uint64_t tick = (own & UINT64_C(0xffffffff00000000)) | index;
    mf_random(search->config.seed, (uint32_t)own, stream, tick, words);
}

static void randomize(const mf_Search *search, uint64_t id, uint8_t *genome) {
    uint32_t words[4];
    for (uint32_t i = 0; i < search->config.genome_bytes; i++) {
        if (i % 16 == 0)
            mf_search_draw(search, id, MF_STREAM_GENOME, i / 16, words);
        genome[i] = (uint8_t)(words[i % 16 / 4] >> 8 * (i % 4));
    }
}

// A byte different from `byte`; see the file header for the three kinds.
static uint8_t mutated(uint8_t byte, uint32_t kind_name, uint32_t value_name) {
    switch (mf_random_below(kind_name, 3)) {
    case 0:
        return (uint8_t)(byte + 1 + mf_random_below(value_name, 255));
    case 1:
        return (uint8_t)(byte ^ 1u << mf_random_below(value_name, 8));
    default:
        return (uint8_t)((byte & 0xe0) | ((byte + 1 + mf_random_below(value_name, 31)) & 0x1f));
    }
}

static void mutate(const mf_Search *search, uint64_t id, uint8_t *genome) {
    uint32_t bytes = search->config.genome_bytes;
    uint32_t words[4];
    bool changed = false;
    for (uint32_t i = 0; i < bytes; i++) {
        mf_search_draw(search, id, MF_STREAM_MUTATION, i, words);
        if (mf_random_unit_double(words[0], words[1]) >= search->config.mutation_rate)
            continue;
        genome[i] = mutated(genome[i], words[2], words[3]);
        changed = true;
    }
    if (changed)
        return;
    mf_search_draw(search, id, MF_STREAM_MUTATION, bytes, words);
    uint8_t *byte = genome + mf_random_below(words[0], bytes);
    *byte = mutated(*byte, words[2], words[3]);
}

mf_Status mf_search_vary(const mf_Search *search, const uint8_t *parent, uint64_t id,
                         uint8_t *genome, mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    if (config->vary != NULL) {
        memset(genome, 0, config->genome_bytes);
        mf_Status status = config->vary(config->vary_user, parent, config->seed,
                                        id / search->island_count, genome, config->genome_bytes);
        return status == MF_OK ? MF_OK
                               : mf_fail(error, status,
                                         "search config.vary: failed for individual %" PRIu64, id);
    }
    if (parent == NULL) {
        randomize(search, id, genome);
        return MF_OK;
    }
    memcpy(genome, parent, config->genome_bytes);
    mutate(search, id, genome);
    return MF_OK;
}
