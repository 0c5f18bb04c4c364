// Islands: independence without migration, what migrates and when, resuming, damage, and whether
// they find the better of two optima more often than one population of the same cost.
#include "search/population.h"
#include "support.h"

#include "base/random.h"

enum { ISLANDS = 3 };

// Schemes that islands can have.
static mf_SearchConfig scheme(int i) {
    const mf_SearchConfig configs[] = {
        small_config(),
        WITH(small_config(), .selection = MF_SELECTION_TOURNAMENT, .reuse_fitness = true),
        WITH(small_config(), .selection = MF_SELECTION_RANK, .replacement = MF_REPLACEMENT_RANDOM,
             .batch = 7),
        WITH(small_config(), .replacement = MF_REPLACEMENT_WORST, .batch = 1),
        WITH(small_config(), .selection = MF_SELECTION_TOURNAMENT,
             .replacement = MF_REPLACEMENT_SIMILAR, .batch = 4),
        WITH(small_config(), .verify_every = 2, .verify_best = 5, .verify = rugged),
    };
    return configs[i];
}
enum { SCHEMES = 6 };

static mf_SearchConfig islands_of(mf_SearchConfig config, uint32_t every, uint32_t best) {
    return WITH(config, .islands = ISLANDS, .migration_every = every, .migration_best = best);
}

// ---- the populations ---------------------------------------------------------------------------

static void assert_same_life(const mf_Search *island, const mf_Search *alone, uint32_t k) {
    assert_int_equal(mf_search_count(island), mf_search_count(alone));
    for (uint32_t rank = 0; rank < mf_search_count(alone); rank++) {
        const mf_Individual a = mf_search_individual(island, rank);
        const mf_Individual b = mf_search_individual(alone, rank);
        assert_true(a.id == b.id * ISLANDS + k);
        assert_true(a.parent == (b.parent == UINT64_MAX ? b.parent : b.parent * ISLANDS + k));
        assert_memory_equal(&a.fitness, &b.fitness, sizeof a.fitness);
        assert_memory_equal(&a.verified, &b.verified, sizeof a.verified);
        assert_memory_equal(a.genome, b.genome, alone->config.genome_bytes);
    }
}

SEARCH_TEST(without_migration_they_are_separate_searches) {
    for (int i = 0; i < SCHEMES; i++) {
        const mf_SearchConfig config = islands_of(scheme(i), 0, 1);
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        advance(search, 9);
        double best = -__builtin_inf();
        for (uint32_t k = 0; k < ISLANDS; k++) {
            const uint64_t seed = mf_search_island_seed(config.seed, k);
            AUTO_SEARCH *alone =
                new_search(fixture->context, &WITH(scheme(i), .seed = seed, .migration_every = 1));
            advance(alone, 9);
            assert_same_life(search->islands[k], alone, k);
            best = fmax(best, mf_search_best(alone));
        }
        // With a verification the first need not have the largest fitness.
        assert_true(config.verify_every > 0 || mf_search_best(search) == best);
        assert_int_equal(mf_search_count(search), ISLANDS * config.population);
    }
    assert_true(mf_search_island_seed(5, 0) == 5);
    assert_true(mf_search_island_seed(5, 1) != mf_search_island_seed(5, 2));
    assert_true(mf_search_island_seed(5, 1) != mf_search_island_seed(6, 1));
}

// The first births after a migration are the best of the source; all others are of the island.
static void assert_births(const mf_Search *search, uint64_t emigrants[ISLANDS][3], bool due) {
    const mf_SearchConfig *config = &search->config;
    const uint64_t first = mf_search_first_id(config, search->generation);
    const mf_Population *born = mf_search_is_steady(config) ? &search->born : &search->current;
    const uint32_t count =
        mf_search_is_steady(config) ? mf_search_births(config, 2) : search->count;
    uint32_t immigrants = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (born->id[i] < first)
            continue;
        const uint64_t number = (born->id[i] - first) / ISLANDS;
        const uint32_t island = (uint32_t)(born->id[i] % ISLANDS);
        if (due && number < 3) {
            immigrants++;
            assert_true(born->parent[i] == emigrants[(island + ISLANDS - 1) % ISLANDS][number]);
        } else {
            assert_true(born->parent[i] % ISLANDS == island);
        }
    }
    assert_int_equal(immigrants, due ? 3 * ISLANDS : 0);
}

SEARCH_TEST(the_best_migrate_along_a_ring) {
    for (int i = 0; i < SCHEMES; i++) {
        const mf_SearchConfig config = islands_of(scheme(i), 4, 3);
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        advance(search, 1);
        for (uint32_t generation = 2; generation <= 10; generation++) {
            uint64_t emigrants[ISLANDS][3];
            uint8_t genomes[ISLANDS][16];
            for (uint32_t k = 0; k < ISLANDS; k++) {
                for (uint32_t rank = 0; rank < 3; rank++)
                    emigrants[k][rank] = mf_search_individual(search->islands[k], rank).id;
                memcpy(genomes[k], mf_search_individual(search->islands[k], 0).genome, 16);
            }
            advance(search, 1);
            const bool due = generation == 5 || generation == 9;
            assert_births(search, emigrants, due);
            // An immigrant is a copy.
            for (uint32_t rank = 0; rank < search->count && due; rank++) {
                const mf_Individual one = mf_search_individual(search, rank);
                const uint32_t source = (uint32_t)((one.id + ISLANDS - 1) % ISLANDS);
                if (one.parent == emigrants[source][0] && one.id % ISLANDS != source)
                    assert_memory_equal(one.genome, genomes[source], 16);
            }
        }
    }
}

static mf_Status counted(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                         double *fitness, mf_Error *error) {
    uint32_t *calls = user;
    calls[0]++;
    calls[1] = count > calls[1] ? count : calls[1];
    if (calls[0] == calls[2])
        return MF_IO;
    return rugged(NULL, genomes, count, genome_bytes, fitness, error);
}

// All islands in one call, and nothing changes when it fails.
SEARCH_TEST(one_call_evaluates_all) {
    for (int i = 0; i < SCHEMES; i++) {
        uint32_t calls[3] = {0};
        const mf_SearchConfig config =
            WITH(islands_of(scheme(i), 2, 1), .evaluate = counted, .user = calls);
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        advance(search, 1);
        const uint32_t batch = mf_search_is_steady(&config) ? config.batch : config.population;
        assert_int_equal(calls[0], (config.population + batch - 1) / batch);
        assert_int_equal(calls[1], ISLANDS * batch);
        assert_int_equal(mf_search_evaluated_at_once(&config), ISLANDS * batch);
        const uint64_t hash = mf_search_hash(search);
        calls[2] = calls[0] + 1;
        MUST_FAIL(mf_search_advance(search, &error), MF_IO, "generation 2");
        assert_true(mf_search_hash(search) == hash);
        AUTO_SEARCH *whole = new_search(fixture->context, &WITH(config, .evaluate = rugged));
        advance(whole, 3);
        advance(search, 2);
        assert_true(mf_search_hash(search) == mf_search_hash(whole));
    }
}

// ---- the archive -------------------------------------------------------------------------------

SEARCH_TEST(resuming_gives_the_same_bits) {
    for (int i = 0; i < SCHEMES; i++) {
        const mf_SearchConfig config = islands_of(scheme(i), 3, 2);
        AUTO_SEARCH *whole = new_search(fixture->context, &config);
        advance(whole, 10);
        empty_folder(fixture->folder);
        for (uint32_t until = 1; until <= 10; until++) {
            AUTO_ARCHIVE *archive =
                until == 1 ? new_archive(fixture, &config) : open_archive(fixture, true);
            AUTO_SEARCH *search = resumed(fixture->context, archive, &config);
            evolve(archive, search, until);
            if (until == 10 && mf_search_hash(search) != mf_search_hash(whole))
                fail_msg("scheme %d: not the same population after resuming", i);
        }
        AUTO_ARCHIVE *archive = open_archive(fixture, false);
        mf_ArchiveRun run;
        MUST(mf_archive_run(archive, &run, &error));
        assert_int_equal(run.search.islands, ISLANDS);
        assert_int_equal(run.search.migration_every, 3);
        assert_int_equal(run.search.migration_best, 2);
        mf_Ancestor *line;
        uint32_t count;
        MUST(
            mf_archive_ancestry(archive, mf_search_individual(whole, 0).id, &line, &count, &error));
        assert_true(line[count - 1].generation == 1 && line[count - 1].parent == UINT64_MAX);
        mf_release(fixture->context, line);
    }
}

SEARCH_TEST(other_islands_are_refused) {
    const mf_SearchConfig config = islands_of(scheme(0), 3, 2);
    make_archive(fixture, &config, 4);
    const struct {
        mf_SearchConfig config;
        const char *message;
    } others[] = {
        {WITH(config, .islands = 2), "search.islands: the archive was made with 3, the search has"},
        {WITH(config, .islands = 1), "search.islands"},
        {WITH(config, .migration_every = 4), "search.migration_every: the archive was made with 3"},
        {WITH(config, .migration_best = 1), "search.migration_best: the archive was made with 2"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        AUTO_SEARCH *search = new_search(fixture->context, &others[i].config);
        AUTO_ARCHIVE *archive = open_archive(fixture, true);
        MUST_FAIL(mf_archive_resume(archive, search, NULL, NULL, &error), MF_BAD_ARGUMENT,
                  others[i].message);
    }
}

SEARCH_TEST(reports_damage) {
    const mf_SearchConfig config = islands_of(scheme(2), 3, 2);
    static const Damage opening[] = {
        {"DELETE FROM islands", MF_CORRUPT, "islands: the settings are out of range"},
        {"UPDATE islands SET count = 1", MF_CORRUPT, "islands: the settings are out of range"},
        {"UPDATE islands SET count = 257", MF_CORRUPT, "out of range"},
        {"UPDATE islands SET every = -1", MF_CORRUPT, "islands: the settings are out of range"},
        {"UPDATE islands SET best = 21", MF_CORRUPT, "out of range"},
        {"DROP TABLE islands", MF_CORRUPT, "'islands' is missing"},
        {"PRAGMA user_version = 6", MF_VERSION, "expected archive format 1 to 5, found 6"},
    };
    assert_damages(fixture, &config, 4, false, opening);
    static const Damage resuming[] = {
        {"DELETE FROM living WHERE id = (SELECT max(id) FROM living WHERE generation = 4) AND "
         "generation = 4",
         MF_CORRUPT, "expected 60 individuals, found fewer"},
    };
    assert_damages(fixture, &config, 4, true, resuming);
}

static mf_Status live_on_islands(mf_Context *context, void *user, mf_Error *error) {
    const Fixture *fixture = user;
    const mf_SearchConfig config = islands_of(scheme(4), 1, 2);
    AUTO_SEARCH *search = NULL;
    AUTO_SEARCH *again = NULL;
    AUTO_ARCHIVE *archive = NULL;
    MF_TRY(try_archive(context, fixture, &config, 2, &search, &archive, error));
    MF_TRY(mf_search_create(context, &config, &again, error));
    return mf_archive_resume(archive, again, NULL, NULL, error);
}

SEARCH_TEST(every_failure_leaves_nothing_behind) {
    assert_true(torture(fixture->context, live_on_islands, fixture, TORTURE_MUST_FAIL) > 100);
}

// ---- settings ----------------------------------------------------------------------------------

SEARCH_TEST(refuses_bad_islands) {
    const mf_SearchConfig config = islands_of(small_config(), 1, 1);
    const struct {
        mf_SearchConfig config;
        const char *message;
    } cases[] = {
        {WITH(config, .islands = 0), "search config.islands: expected 1 .. 256"},
        {WITH(config, .islands = 257), "found 257 of 20"},
        {WITH(config, .islands = 128, .population = 8193), "at most 1048576 individuals in all"},
        {WITH(config, .migration_best = 0), "search config.migration_best: expected 1 .. 12"},
        {WITH(config, .migration_best = 13), "(births of a generation), found 13"},
        {WITH(config, .replacement = MF_REPLACEMENT_WORST, .migration_best = 21), "1 .. 20"},
        {WITH(in_cells(config), .islands = 2),
         "search config.islands: expected 1 with replacement cell, found 2"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_Search *search = NULL;
        MUST_FAIL(mf_search_create(fixture->context, &cases[i].config, &search, &error),
                  MF_BAD_ARGUMENT, cases[i].message);
        assert_null(search);
    }
}

// ---- two optima --------------------------------------------------------------------------------

// A genome of eight coordinates in [0, 1): uniform at first, then small steps.
enum { AXES = 8 };

static double coordinate(const uint8_t *genome, int axis) {
    return (genome[2 * axis] | genome[2 * axis + 1] << 8) / 65536.0;
}

static mf_Status step(void *user, const uint8_t *parent, uint64_t seed, uint64_t id, uint8_t *child,
                      uint32_t genome_bytes) {
    for (int axis = 0; axis < AXES; axis++) {
        uint32_t words[4];
        mf_random(seed, (uint32_t)id, 91, (uint64_t)axis, words);
        const double u = mf_random_unit_double(words[0], words[1]);
        double x = parent == NULL ? u : coordinate(parent, axis) + 0.2 * (u - 0.5);
        x = fmin(fmax(x, 0), 0.99999);
        const uint32_t value = (uint32_t)(x * 65536);
        child[2 * axis] = (uint8_t)value;
        child[2 * axis + 1] = (uint8_t)(value >> 8);
    }
    return MF_OK;
}

// A hill of height 0.8 and a steeper one of height 1, which is the lower one in most of the cube.
static mf_Status two_hills(void *user, const uint8_t *genomes, uint32_t count,
                           uint32_t genome_bytes, double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        double low = 0, high = 0;
        for (int axis = 0; axis < AXES; axis++) {
            const double x = coordinate(genomes + i * genome_bytes, axis);
            low += (x - 0.3) * (x - 0.3);
            high += (x - 0.7) * (x - 0.7);
        }
        fitness[i] = fmax(0.8 - sqrt(low), 1 - 1.6 * sqrt(high));
    }
    return MF_OK;
}

enum { SEEDS = 120 };

// Seeds whose best after 40 generations is on the higher hill.
static int solved(mf_Context *context, mf_SearchConfig config) {
    int count = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        config.seed = seed;
        AUTO_SEARCH *search = new_search(context, &config);
        advance(search, 40);
        count += mf_search_best(search) > 0.82;
    }
    return count;
}

// The same number of evaluations: 160 in each generation. By the two-proportion z-test.
SEARCH_TEST(islands_find_the_higher_hill_more_often) {
    const mf_SearchConfig one = WITH(mf_search_config(), .population = 160, .survivors = 16,
                                     .genome_bytes = 2 * AXES, .vary = step, .evaluate = two_hills);
    const mf_SearchConfig many =
        WITH(one, .islands = 16, .population = 10, .survivors = 1, .migration_every = 20);
    const int single = solved(fixture->context, one), islands = solved(fixture->context, many);
    const double share = 0.5 * (single + islands) / SEEDS;
    const double z = (islands - single) / sqrt(2 * SEEDS * share * (1 - share));
    if (!(z > 4))
        fail_msg("one population solves %d of %d, islands %d: z %.2f", single, SEEDS, islands, z);
}
