// Islands: several populations with one scheme, which exchange individuals (Cohoon, Hegde, Martin
// and Richards, Punctuated equilibria: a parallel genetic algorithm, 1987; Whitley, Rana and
// Heckendorn, The island model genetic algorithm, 1999). The topology is a ring: island i receives
// from island i - 1, and island 0 from the last one. Migration is synchronous, between two
// generations, and copies: the best of the source become births of the target, without mutation,
// and take their chances there by the scheme's rule of replacement. So every generation has as many
// evaluations as without migration, and the archive needs no more than the parents of individuals.
//
// Each island is a search, with a seed of its own; without migration its individuals are those of a
// separate search with that seed. The search that owns the islands evaluates the children of all in
// one call, and has the union of their individuals by rank.
//
// Invariants: id modulo the number of islands is the island of birth, id divided by it the id in a
// separate search; nobody moves, so it is the island of life, too. Islands are committed together,
// after all evaluations of a generation.
#include "search/population.h"
#include "base/random.h"

#include <string.h>

uint64_t mf_search_island_seed(uint64_t seed, uint32_t island) {
    uint32_t words[4];
    if (island == 0)
        return seed;
    mf_random(seed, island, MF_STREAM_ISLAND, 0, words);
    return words[0] | (uint64_t)words[1] << 32;
}

mf_Status mf_search_create_islands(mf_Search *search, mf_Error *error) {
    const uint32_t count = search->config.islands;
    search->islands = mf_allocate(search->context, count, sizeof *search->islands);
    MF_NEED_MEMORY(search->islands != NULL, error, "search");
    for (uint32_t k = 0; k < count; k++) {
        mf_SearchConfig config = search->config;
        config.islands = 1;
        config.seed = mf_search_island_seed(config.seed, k);
        MF_TRY(mf_search_create_island(search->context, &config, k, count, &search->islands[k],
                                       error));
    }
    for (uint32_t k = 0; k < count; k++)
        search->islands[k]->source = search->islands[(k + count - 1) % count];
    mf_search_unite(search);
    return MF_OK;
}

void mf_search_destroy_islands(mf_Search *search) {
    for (uint32_t k = 0; search->islands != NULL && k < search->config.islands; k++)
        mf_search_destroy(search->islands[k]);
    mf_release(search->context, search->islands);
}

mf_Status mf_search_rate_batches(mf_Search *search, const mf_Batch *batches, uint32_t count,
                                 mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    const size_t bytes = config->genome_bytes;
    if (count == 1)
        return mf_search_rate(search, config->evaluate, config->user, batches->genomes,
                              batches->count, batches->fitness, error);
    // search->next is free until the islands are united.
    uint32_t total = 0;
    for (uint32_t k = 0; k < count; k++) {
        memcpy(search->next.genomes + total * bytes, batches[k].genomes, batches[k].count * bytes);
        total += batches[k].count;
    }
    MF_TRY(mf_search_rate(search, config->evaluate, config->user, search->next.genomes, total,
                          search->next.fitness, error));
    total = 0;
    for (uint32_t k = 0; k < count; k++) {
        memcpy(batches[k].fitness, search->next.fitness + total,
               batches[k].count * sizeof *batches[k].fitness);
        total += batches[k].count;
    }
    return MF_OK;
}

void mf_search_unite(mf_Search *search) {
    const uint32_t count = search->config.islands;
    const mf_SearchConfig *config = &search->config;
    search->next_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        const mf_Search *island = search->islands[k];
        for (uint32_t i = 0; i < island->count; i++)
            mf_search_copy(config, &search->next, search->next_count++, &island->current, i);
        // In the order of ids.
        for (uint32_t i = 0; mf_search_is_steady(config) && i < config->population; i++)
            mf_search_copy(config, &search->born, i * count + k, &island->born, i);
    }
    mf_search_sort(search);
    mf_search_commit(search);
    search->generation = search->islands[0]->generation;
}

bool mf_search_divide(mf_Search *search, uint32_t generation) {
    const uint32_t count = search->config.islands, population = search->config.population;
    for (uint32_t k = 0; k < count; k++)
        search->islands[k]->next_count = 0;
    for (uint32_t i = 0; i < search->next_count; i++) {
        mf_Search *island = search->islands[search->next.id[i] % count];
        if (island->next_count == population)
            return false;
        mf_search_copy(&search->config, &island->next, island->next_count++, &search->next, i);
    }
    if (search->next_count != count * population)
        return false;
    for (uint32_t k = 0; k < count; k++) {
        mf_search_sort(search->islands[k]);
        mf_search_commit(search->islands[k]);
        search->islands[k]->generation = generation;
    }
    return true;
}
