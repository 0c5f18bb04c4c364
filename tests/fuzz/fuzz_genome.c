// Fuzz target: the decoder of an individual's row in the archive. The input gives the run's
// settings and five values as SQLite would return them; an accepted individual must fit the
// settings.
#include "fuzz.h"
#include "search/archive_format.h"
#include "search/population.h"

typedef struct Input {
    const uint8_t *data;
    size_t size;
} Input;

// The next `size` bytes, little endian; zeros beyond the end.
static uint64_t take(Input *input, size_t size) {
    uint64_t value = 0;
    for (size_t i = 0; i < size && input->size > 0; i++) {
        value |= (uint64_t)*input->data++ << 8 * i;
        input->size--;
    }
    return value;
}

static void check(const mf_Individual *individual, const mf_SearchConfig *config,
                  const mf_ArchiveCell *cells) {
    uint32_t generation = (uint32_t)cells[1].integer;
    uint64_t first = mf_search_first_id(config, generation);
    require(cells[1].integer >= 1 && cells[1].integer <= UINT32_MAX);
    require(individual->id >= first);
    require(individual->id - first < mf_search_births(config, generation));
    bool root = individual->parent == UINT64_MAX, steady = mf_search_is_steady(config);
    require(generation > 1 || root);
    require(root ? generation == 1 || steady
                 : individual->parent < (steady ? individual->id : first));
    require(cells[3].size <= config->genome_bytes);
    require(cells[3].size == 0 || memcmp(individual->genome, cells[3].bytes, cells[3].size) == 0);
    for (size_t i = cells[3].size; i < config->genome_bytes; i++)
        require(individual->genome[i] == 0);
    // Read it all, so that a checker sees a length that is wrong.
    volatile uint64_t hash = mf_hash_bytes(MF_HASH_START, individual->genome, config->genome_bytes);
    (void)hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Input input = {data, size};
    mf_SearchConfig config = mf_search_config();
    config.population = (uint32_t)take(&input, 4);
    config.survivors = (uint32_t)take(&input, 4);
    config.genome_bytes = (uint32_t)take(&input, 2);
    // Bits that a corpus of generations has as 0.
    bool steady = config.survivors >> 31 & 1, trims = config.survivors >> 30 & 1;
    config.survivors &= 0x3fffffff;
    config.replacement = steady ? MF_REPLACEMENT_RANDOM : MF_REPLACEMENT_GENERATION;
    if (mf_search_check_config(&config, NULL) != MF_OK)
        return 0;
    mf_ArchiveCell cells[MF_ARCHIVE_INDIVIDUAL_CELLS];
    for (int i = 0; i < MF_ARCHIVE_INDIVIDUAL_CELLS; i++) {
        cells[i] = (mf_ArchiveCell){.type = (int)(1 + take(&input, 1) % 5)};
        uint64_t bits = take(&input, 8);
        if (cells[i].type == SQLITE_INTEGER)
            memcpy(&cells[i].integer, &bits, sizeof bits);
        else if (cells[i].type == SQLITE_FLOAT)
            memcpy(&cells[i].real, &bits, sizeof bits);
    }
    // The rest is every text and blob, in memory of exactly its size.
    uint8_t *bytes = malloc(input.size == 0 ? 1 : input.size);
    require(bytes != NULL);
    memcpy(bytes, input.data, input.size);
    for (int i = 0; i < MF_ARCHIVE_INDIVIDUAL_CELLS; i++) {
        if (cells[i].type == SQLITE_TEXT || cells[i].type == SQLITE_BLOB) {
            cells[i].bytes = bytes;
            cells[i].size = input.size;
        }
    }
    mf_Error error = {0};
    mf_Individual individual = {.id = 77};
    mf_Archive archive = {.database.path = "fuzz",
                          .run.search = config,
                          .format = steady || trims ? MF_ARCHIVE_FORMAT_GENERAL
                                                    : MF_ARCHIVE_FORMAT_PLAIN};
    uint8_t *genome = malloc(config.genome_bytes); // a checker sees bytes beyond it
    require(genome != NULL);
    mf_Status status = mf_archive_decode_individual(&archive, cells, &individual, genome, &error);
    if (status == MF_OK)
        check(&individual, &config, cells);
    else
        require(status == MF_CORRUPT && error.message[0] != '\0' && individual.id == 77);
    free(genome);
    free(bytes);
    return 0;
}
