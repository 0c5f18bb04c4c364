// Settings of a search: defaults, ranges, and which ids are born in which generation.
#include "search/population.h"
#include "base/floats.h"

#include <inttypes.h>
#include <string.h>

enum { POPULATION_LIMIT = 1 << 20, GENOME_LIMIT = 1 << 16, TOURNAMENT_LIMIT = 1024 };

mf_SearchConfig mf_search_config(void) {
    return (mf_SearchConfig){
        .struct_size = sizeof(mf_SearchConfig),
        .population = 100,
        .survivors = 50,
        .genome_bytes = 32,
        .mutation_rate = 1.0 / 16,
        .tournament = 4,
        .batch = 32,
        .protect = 1,
        .islands = 1,
        .migration_every = 10,
        .migration_best = 1,
        .verify_best = 8,
        .verify_disparity = 1,
    };
}

static mf_Status check_verification(const mf_SearchConfig *config, mf_Error *error) {
    if (config->verify_every == 0)
        return MF_OK;
    MF_NEED(!mf_search_is_steady(config) && config->selection == MF_SELECTION_TRUNCATION, error,
            "search config.verify_every: verification needs selection truncation and "
            "replacement generation");
    MF_NEED(config->verify_best >= 2 && config->verify_best <= config->population, error,
            "search config.verify_best: expected 2 .. %" PRIu32 " (population), found %" PRIu32,
            config->population, config->verify_best);
    MF_NEED(config->verify_disparity >= 0 && config->verify_disparity <= 1000, error,
            "search config.verify_disparity: expected 0 .. 1000, found %g",
            config->verify_disparity);
    return MF_OK;
}

static mf_Status check_descriptors(const mf_SearchConfig *config, mf_Error *error) {
    bool grid = config->replacement == MF_REPLACEMENT_CELL;
    uint32_t least = grid ? 1 : 0, most = grid ? MF_DESCRIPTOR_LIMIT : 0;
    if (config->descriptor_count < least || config->descriptor_count > most)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "search config.descriptor_count: expected %s, found %" PRIu32,
                       grid ? "1 .. 4" : "0 without replacement cell", config->descriptor_count);
    uint64_t cells = 1;
    for (uint32_t i = 0; i < config->descriptor_count; i++) {
        const mf_Descriptor *axis = &config->descriptors[i];
        MF_NEED(memchr(axis->name, '\0', sizeof axis->name) != NULL, error,
                "search config.descriptors[%" PRIu32 "].name: expected at most %d bytes", i,
                MF_DESCRIPTOR_NAME - 1);
        if (!(axis->lower < axis->upper && __builtin_isfinite(axis->lower) &&
              __builtin_isfinite(axis->upper)))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "search config.descriptors[%" PRIu32
                           "]: expected finite lower < upper, found %g and %g",
                           i, axis->lower, axis->upper);
        cells *= axis->cells;
        if (axis->cells < 1 || cells > POPULATION_LIMIT)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "search config.descriptors[%" PRIu32
                           "].cells: expected at least 1, and at most %d in the grid, found "
                           "%" PRIu32,
                           i, POPULATION_LIMIT, axis->cells);
    }
    return MF_OK;
}

static mf_Status check_scheme(const mf_SearchConfig *config, mf_Error *error) {
    if ((uint32_t)config->selection > MF_SELECTION_UNIFORM)
        return mf_fail(error, MF_BAD_ARGUMENT, "search config.selection: unknown scheme %d",
                       (int)config->selection);
    if ((uint32_t)config->replacement > MF_REPLACEMENT_CELL)
        return mf_fail(error, MF_BAD_ARGUMENT, "search config.replacement: unknown scheme %d",
                       (int)config->replacement);
    MF_NEED(config->tournament >= 1 && config->tournament <= TOURNAMENT_LIMIT, error,
            "search config.tournament: expected 1 .. %d, found %" PRIu32, TOURNAMENT_LIMIT,
            config->tournament);
    MF_NEED(config->batch >= 1 && config->batch <= POPULATION_LIMIT, error,
            "search config.batch: expected 1 .. %d, found %" PRIu32, POPULATION_LIMIT,
            config->batch);
    MF_NEED(config->protect < config->population, error,
            "search config.protect: expected 0 .. %" PRIu32 " (population - 1), found %" PRIu32,
            config->population - 1, config->protect);
    return check_descriptors(config, error);
}

static mf_Status check_islands(const mf_SearchConfig *config, mf_Error *error) {
    const uint32_t births = config->replacement == MF_REPLACEMENT_GENERATION
                                ? config->population - config->survivors
                                : config->population;
    MF_NEED(config->islands >= 1 && config->islands <= MF_ISLAND_LIMIT &&
                config->islands <= POPULATION_LIMIT / config->population,
            error,
            "search config.islands: expected 1 .. %d and at most %d individuals in all, found "
            "%" PRIu32 " of %" PRIu32,
            MF_ISLAND_LIMIT, POPULATION_LIMIT, config->islands, config->population);
    if (config->islands == 1)
        return MF_OK;
    MF_NEED(config->replacement != MF_REPLACEMENT_CELL, error,
            "search config.islands: expected 1 with replacement cell, found %" PRIu32,
            config->islands);
    MF_NEED(config->migration_best >= 1 && config->migration_best <= births, error,
            "search config.migration_best: expected 1 .. %" PRIu32
            " (births of a generation), found %" PRIu32,
            births, config->migration_best);
    return MF_OK;
}

mf_Status mf_search_check_config(const mf_SearchConfig *config, mf_Error *error) {
    MF_NEED(config != NULL && config->struct_size == sizeof *config, error,
            "search config: expected one that starts from mf_search_config()");
    MF_NEED(config->population >= 2 && config->population <= POPULATION_LIMIT, error,
            "search config.population: expected 2 .. %d, found %" PRIu32, POPULATION_LIMIT,
            config->population);
    MF_NEED(config->survivors >= 1 && config->survivors < config->population, error,
            "search config.survivors: expected 1 .. %" PRIu32 " (population - 1), found %" PRIu32,
            config->population - 1, config->survivors);
    MF_NEED(config->genome_bytes >= 1 && config->genome_bytes <= GENOME_LIMIT, error,
            "search config.genome_bytes: expected 1 .. %d, found %" PRIu32, GENOME_LIMIT,
            config->genome_bytes);
    // Written so that NaN also fails.
    MF_NEED(config->mutation_rate >= 0 && config->mutation_rate <= 1, error,
            "search config.mutation_rate: expected 0 .. 1, found %g", config->mutation_rate);
    MF_TRY(check_scheme(config, error));
    MF_TRY(check_islands(config, error));
    return check_verification(config, error);
}

uint64_t mf_search_first_id(const mf_SearchConfig *config, uint32_t generation) {
    if (generation <= 1)
        return 0;
    uint64_t islands = config->islands;
    if (mf_search_is_steady(config))
        return (generation - UINT64_C(1)) * config->population * islands;
    uint64_t births = config->population - config->survivors;
    return (config->population + (generation - UINT64_C(2)) * births) * islands;
}

uint32_t mf_search_births(const mf_SearchConfig *config, uint32_t generation) {
    bool all = generation <= 1 || mf_search_is_steady(config);
    return config->islands * (all ? config->population : config->population - config->survivors);
}

uint32_t mf_search_evaluated_at_once(const mf_SearchConfig *config) {
    MF_DEFAULT_FLOATS;
    if (config == NULL)
        return 0;
    bool batches = mf_search_is_steady(config) && config->batch < config->population;
    return config->islands * (batches ? config->batch : config->population);
}
