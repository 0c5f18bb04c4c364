// Schemes of selection and replacement: chances against theory, steady state, MAP-Elites, resuming
// and family trees for every scheme, and genomes made by a function of the caller.
#include "search/population.h"
#include "search/database.h"
#include "support.h"

// ---- helpers -----------------------------------------------------------------------------------

// The schemes that a run can have, one by one.
typedef struct Scheme {
    mf_Selection selection;
    mf_Replacement replacement;
    uint32_t batch;
    bool varies;
} Scheme;

static const Scheme schemes[] = {
    {MF_SELECTION_TRUNCATION, MF_REPLACEMENT_GENERATION, 32, true},
    {MF_SELECTION_PROPORTIONATE, MF_REPLACEMENT_GENERATION, 32, false},
    {MF_SELECTION_RANK, MF_REPLACEMENT_GENERATION, 32, false},
    {MF_SELECTION_TOURNAMENT, MF_REPLACEMENT_GENERATION, 32, true},
    {MF_SELECTION_UNIFORM, MF_REPLACEMENT_GENERATION, 32, false},
    {MF_SELECTION_PROPORTIONATE, MF_REPLACEMENT_RANDOM, 1, true},
    {MF_SELECTION_RANK, MF_REPLACEMENT_RANDOM, 7, false},
    {MF_SELECTION_TRUNCATION, MF_REPLACEMENT_WORST, 3, false},
    {MF_SELECTION_UNIFORM, MF_REPLACEMENT_UNFIT, 8, false},
    {MF_SELECTION_TOURNAMENT, MF_REPLACEMENT_SIMILAR, 4, true},
    {MF_SELECTION_UNIFORM, MF_REPLACEMENT_CELL, 32, false},
    {MF_SELECTION_PROPORTIONATE, MF_REPLACEMENT_CELL, 1, true},
};
enum { SCHEMES = sizeof schemes / sizeof *schemes };

// A genome that grows by one byte per generation up to its limit, and changes one byte.
static mf_Status grow(void *user, const uint8_t *parent, uint64_t seed, uint64_t id, uint8_t *child,
                      uint32_t genome_bytes) {
    uint32_t words[4];
    mf_random(seed, (uint32_t)id, 77, id >> 32, words);
    for (uint32_t i = 0; i < genome_bytes; i++)
        assert_int_equal(child[i], 0);
    if (parent == NULL) {
        child[0] = (uint8_t)(1 + words[0] % 255);
        return MF_OK;
    }
    memcpy(child, parent, genome_bytes);
    uint32_t length = genome_bytes;
    while (length > 0 && child[length - 1] == 0)
        length--;
    if (length < genome_bytes)
        child[length] = (uint8_t)(1 + words[0] % 255);
    child[words[1] % genome_bytes] = (uint8_t)words[2];
    return MF_OK;
}

static mf_SearchConfig scheme_config(const Scheme *scheme) {
    mf_SearchConfig config = small_config();
    if (scheme->replacement == MF_REPLACEMENT_CELL)
        config = in_cells(config);
    return WITH(config, .selection = scheme->selection, .replacement = scheme->replacement,
                .batch = scheme->batch, .vary = scheme->varies ? grow : NULL);
}

// ---- chances -----------------------------------------------------------------------------------

enum { CHOICES = 40000, RANKS = 8 };

// A search whose current individuals have these fitness values, best first.
static mf_Search *with_fitness(mf_Context *context, mf_SearchConfig config, const double *fitness) {
    config.population = RANKS;
    config.survivors = 3;
    mf_Search *search = new_search(context, &config);
    search->count = search->next_count = RANKS;
    for (uint32_t i = 0; i < RANKS; i++) {
        search->current.fitness[i] = search->next.fitness[i] = fitness[i];
        search->current.bias[i] = search->next.bias[i] = 0;
        search->current.id[i] = search->next.id[i] = i;
        search->order[i] = i;
    }
    return search;
}

// Chi square of counts against chances; those with chance 0 must not occur. Seven degrees of
// freedom at most: above 24.3 once in a thousand seeds, and the seed is fixed.
static void assert_chances(const uint32_t *counts, const double *chances) {
    double sum = 0, chi_square = 0;
    for (uint32_t i = 0; i < RANKS; i++)
        sum += chances[i];
    for (uint32_t i = 0; i < RANKS; i++) {
        double expected = chances[i] / sum * CHOICES;
        if (expected == 0)
            assert_int_equal(counts[i], 0);
        else
            chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    }
    if (!(chi_square < 24.3))
        fail_msg("chi square %g", chi_square);
}

static void assert_parents(mf_Context *context, mf_Selection selection, const double *fitness,
                           const double *chances) {
    mf_SearchConfig config =
        WITH(small_config(), .selection = selection, .replacement = MF_REPLACEMENT_RANDOM);
    AUTO_SEARCH *search = with_fitness(context, config, fitness);
    mf_search_weigh_parents(search, &search->current, NULL, RANKS);
    uint32_t counts[RANKS] = {0};
    for (uint64_t id = 0; id < CHOICES; id++)
        counts[mf_search_choose_parent(search, id, RANKS)]++;
    assert_chances(counts, chances);
}

static const double even[RANKS] = {1, 1, 1, 1, 1, 1, 1, 1};

SEARCH_TEST(parents_have_the_chances_of_theory) {
    mf_Context *context = fixture->context;
    const double fitness[RANKS] = {9, 7, 4, 4, 2, 1, 0.5, 0};
    const double ranks[RANKS] = {8, 7, 6, 5, 4, 3, 2, 1};
    const double truncated[RANKS] = {1, 1, 1};
    double drawn[RANKS];
    // The best of four draws has a rank >= r with the chance ((8 - r) / 8)^4.
    for (int r = 0; r < RANKS; r++)
        drawn[r] = pow((8.0 - r) / 8, 4) - pow((7.0 - r) / 8, 4);
    assert_parents(context, MF_SELECTION_PROPORTIONATE, fitness, fitness);
    assert_parents(context, MF_SELECTION_RANK, fitness, ranks);
    assert_parents(context, MF_SELECTION_TOURNAMENT, fitness, drawn);
    assert_parents(context, MF_SELECTION_UNIFORM, fitness, even);
    assert_parents(context, MF_SELECTION_TRUNCATION, fitness, truncated);
}

SEARCH_TEST(proportionate_chances_of_any_fitness) {
    mf_Context *context = fixture->context;
    const double nan = __builtin_nan(""), infinity = __builtin_inf(), huge = 1.7e308;
    const struct {
        double fitness[RANKS], chances[RANKS];
    } cases[] = {
        {{0}, {1, 1, 1, 1, 1, 1, 1, 1}},
        {{3, 3, 3, 3, 3, 3, 3, 3}, {1, 1, 1, 1, 1, 1, 1, 1}},
        {{-3, -3, -3, -3, -3, -3, -3, -3}, {1, 1, 1, 1, 1, 1, 1, 1}},
        {{4, 2, 0, -1, -2, -2, -3, -4}, {8, 6, 4, 3, 2, 2, 1, 0}},
        {{4, 2, 1, 1, 0, -infinity, nan, nan}, {4, 2, 1, 1, 0, 0, 0, 0}},
        {{infinity, infinity, 5, 1, 0, -infinity, nan, nan}, {1, 1}},
        {{nan, nan, nan, nan, nan, nan, nan, nan}, {1, 1, 1, 1, 1, 1, 1, 1}},
        {{huge, huge, 0, 0, 0, 0, -huge, -huge}, {2, 2, 1, 1, 1, 1, 0, 0}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_parents(context, MF_SELECTION_PROPORTIONATE, cases[i].fitness, cases[i].chances);
}

static void assert_victims(mf_Context *context, mf_Replacement replacement, uint32_t protect,
                           const double *fitness, const double *chances) {
    mf_SearchConfig config =
        WITH(small_config(), .replacement = replacement, .protect = protect, .genome_bytes = 8);
    AUTO_SEARCH *search = with_fitness(context, config, fitness);
    // Individual r has r bytes of the child's eight.
    memset(search->spare.genomes, 7, 8);
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t k = 0; k < 8; k++)
            search->next.genomes[8 * r + k] = k < r ? 7 : 9;
    uint32_t counts[RANKS] = {0};
    for (uint64_t id = 0; id < CHOICES; id++) {
        search->spare.id[0] = id;
        counts[mf_search_choose_victim(search, 0)]++;
    }
    assert_chances(counts, chances);
}

SEARCH_TEST(victims_have_the_chances_of_theory) {
    mf_Context *context = fixture->context;
    const double nan = __builtin_nan(""), infinity = __builtin_inf();
    const double fitness[RANKS] = {9, 7, 4, 4, 2, 1, 0.5, -1};
    const double failed[RANKS] = {9, 7, 4, 4, 2, -infinity, nan, nan};
    const double endless[RANKS] = {infinity, 7, 4, 4, 2, 1, 0, 0};
    assert_victims(context, MF_REPLACEMENT_RANDOM, 0, fitness, even);
    assert_victims(context, MF_REPLACEMENT_RANDOM, 3, fitness,
                   (double[RANKS]){0, 0, 0, 1, 1, 1, 1, 1});
    assert_victims(context, MF_REPLACEMENT_WORST, 1, fitness, (double[RANKS]){[7] = 1});
    assert_victims(context, MF_REPLACEMENT_UNFIT, 0, fitness,
                   (double[RANKS]){0, 2, 5, 5, 7, 8, 8.5, 10});
    assert_victims(context, MF_REPLACEMENT_UNFIT, 1, failed,
                   (double[RANKS]){0, 0, 0, 0, 0, 1, 1, 1});
    assert_victims(context, MF_REPLACEMENT_UNFIT, 0, endless,
                   (double[RANKS]){0, 1, 1, 1, 1, 1, 1, 1});
    assert_victims(context, MF_REPLACEMENT_SIMILAR, 0, fitness,
                   (double[RANKS]){0, 1, 2, 3, 4, 5, 6, 7});
}

// ---- steady state ------------------------------------------------------------------------------

// With random replacement each of n individuals outlives n births with the chance (1 - 1/n)^n.
SEARCH_TEST(random_replacement_outlives_as_theory_says) {
    mf_Context *context = fixture->context;
    mf_SearchConfig config =
        WITH(small_config(), .replacement = MF_REPLACEMENT_RANDOM,
             .selection = MF_SELECTION_UNIFORM, .population = 50, .protect = 0, .batch = 1);
    double alive = 0, runs = 400;
    for (uint32_t run = 0; run < runs; run++) {
        config.seed = run;
        AUTO_SEARCH *search = new_search(context, &config);
        advance(search, 2);
        for (uint32_t rank = 0; rank < config.population; rank++)
            alive += mf_search_individual(search, rank).id < config.population;
    }
    double chance = pow(1 - 1.0 / 50, 50), births = 50 * runs;
    // Survivals of one run are negatively correlated, so this variance is an upper bound.
    assert_true(fabs(alive - births * chance) < 4 * sqrt(births * chance * (1 - chance)));
}

// Strict: the parent of each child was alive right before it was born; seen in a naive replay.
SEARCH_TEST(batch_of_one_is_strict) {
    mf_SearchConfig config = WITH(small_config(), .replacement = MF_REPLACEMENT_WORST,
                                  .selection = MF_SELECTION_UNIFORM, .batch = 1);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    uint64_t alive[20];
    double fitness[20];
    uint32_t within = 0;
    advance(search, 1);
    for (uint32_t i = 0; i < 20; i++) {
        alive[i] = search->current.id[i];
        fitness[i] = search->current.fitness[i];
    }
    for (uint32_t generation = 2; generation < 30; generation++) {
        advance(search, 1);
        for (uint32_t i = 0; i < 20; i++) {
            uint64_t id = search->born.id[i];
            double f = search->born.fitness[i];
            assert_int_equal(id, (generation - 1) * 20 + i);
            bool found = false;
            for (uint32_t k = 0; k < 20; k++)
                found = found || alive[k] == search->born.parent[i];
            assert_true(found);
            within += search->born.parent[i] >= (generation - 1) * 20;
            // The worst by rank gives way, of equals the oldest, unless the child is worse.
            uint32_t worst = 0;
            for (uint32_t k = 1; k < 20; k++) {
                bool less =
                    fitness[k] == fitness[k] && fitness[worst] == fitness[worst]
                        ? fitness[k] < fitness[worst] ||
                              (fitness[k] == fitness[worst] && alive[k] < alive[worst])
                        : isnan(fitness[k]) && (!isnan(fitness[worst]) || alive[k] < alive[worst]);
                worst = less ? k : worst;
            }
            if (f >= fitness[worst] || isnan(fitness[worst])) {
                alive[worst] = id;
                fitness[worst] = f;
            }
        }
        for (uint32_t rank = 0; rank < 20; rank++) {
            bool found = false;
            for (uint32_t k = 0; k < 20; k++)
                found = found || alive[k] == search->current.id[rank];
            assert_true(found);
        }
    }
    assert_true(within > 0); // children of the same generation were parents
}

SEARCH_TEST(the_protected_stay) {
    for (mf_Replacement r = MF_REPLACEMENT_RANDOM; r <= MF_REPLACEMENT_SIMILAR; r++) {
        mf_SearchConfig config = WITH(small_config(), .replacement = r, .protect = 3);
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        double best[3] = {-1, -1, -1};
        for (int generation = 0; generation < 40; generation++) {
            advance(search, 1);
            for (uint32_t rank = 0; rank < 3; rank++) {
                double now = mf_search_individual(search, rank).fitness;
                assert_true(now >= best[rank]);
                best[rank] = now;
            }
            for (uint32_t rank = 1; rank < 20; rank++)
                assert_true(
                    mf_search_ranks_before(&search->current, rank - 1, &search->current, rank));
        }
    }
}

// ---- MAP-Elites --------------------------------------------------------------------------------

// The best of all that were born, by cell.
SEARCH_TEST(each_cell_has_the_best_ever) {
    mf_SearchConfig config = scheme_config(&schemes[10]);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    double best[24];
    uint64_t holder[24];
    for (int cell = 0; cell < 24; cell++)
        best[cell] = __builtin_nan("");
    double quality = 0, coverage = 0;
    for (int generation = 0; generation < 60; generation++) {
        advance(search, 1);
        for (uint32_t i = 0; i < config.population; i++) {
            uint32_t cell = mf_search_cell(&config, search->born.descriptor + 2 * i);
            double f = search->born.fitness[i];
            if (cell == UINT32_MAX || isnan(f) || best[cell] > f)
                continue;
            best[cell] = f;
            holder[cell] = search->born.id[i];
        }
        uint32_t filled = 0;
        double sum = 0;
        for (int cell = 0; cell < 24; cell++)
            filled += !isnan(best[cell]);
        assert_int_equal(mf_search_count(search), filled);
        for (uint32_t rank = 0; rank < filled; rank++) {
            mf_Individual individual = mf_search_individual(search, rank);
            uint32_t cell = mf_search_cell(&config, mf_search_descriptors(search, rank));
            assert_true(cell < 24 && individual.id == holder[cell]);
            assert_true(individual.fitness == best[cell]);
            sum += individual.fitness;
        }
        assert_true(mf_search_coverage(search) == filled / 24.0);
        assert_true(fabs(mf_search_quality(search) - sum) < 1e-9 * sum);
        assert_true(mf_search_quality(search) >= quality);
        assert_true(mf_search_coverage(search) >= coverage);
        quality = mf_search_quality(search);
        coverage = mf_search_coverage(search);
    }
    assert_true(coverage > 0.5);
    assert_null(mf_search_descriptors(search, 24));
}

TEST(cells_of_a_grid) {
    const double nan = __builtin_nan(""), infinity = __builtin_inf();
    mf_SearchConfig config = WITH(mf_search_config(), .descriptor_count = 2,
                                  .descriptors[0] = ((mf_Descriptor){"a", -1, 1, 4}),
                                  .descriptors[1] = ((mf_Descriptor){"b", 0, 1e308, 3}));
    const struct {
        double values[2];
        uint32_t cell;
    } cases[] = {
        {{-1, 0}, 0},           {{1, 1e308}, 11},           {{-0.5, 0}, 3},
        {{-0.50001, 0}, 0},     {{0.999, 0.9e308}, 11},     {{-9, -9}, 0},
        {{9, 9e307}, 11},       {{infinity, -infinity}, 9}, {{nan, 0}, UINT32_MAX},
        {{0, nan}, UINT32_MAX}, {{0, 0.5e308}, 7},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(mf_search_cell(&config, cases[i].values), cases[i].cell);
}

static mf_Status describe_nothing(void *user, const uint8_t *genomes, uint32_t count,
                                  uint32_t genome_bytes, double *values, mf_Error *error) {
    return MF_OK; // NaN remain
}

SEARCH_TEST(a_grid_may_stay_empty) {
    mf_SearchConfig config = WITH(scheme_config(&schemes[10]), .describe = describe_nothing);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    AUTO_ARCHIVE *archive = new_archive(fixture, &config);
    evolve(archive, search, 3);
    assert_int_equal(mf_search_count(search), 0);
    assert_true(isnan(mf_search_best(search)) && isnan(mf_search_mean(search)));
    mf_Individual individual;
    uint8_t genome[16];
    MUST_FAIL(mf_archive_best(archive, 0, &individual, genome, 16, &error), MF_NOT_FOUND, "");
    AUTO_SEARCH *again = resumed(fixture->context, archive, &config);
    assert_int_equal(mf_search_generation(again), 3);
    assert_true(mf_search_hash(again) == mf_search_hash(search));
}

// ---- for every scheme --------------------------------------------------------------------------

SEARCH_TEST(resuming_gives_the_same_bits) {
    for (int i = 0; i < SCHEMES; i++) {
        mf_SearchConfig config = scheme_config(&schemes[i]);
        AUTO_SEARCH *whole = new_search(fixture->context, &config);
        advance(whole, 12);
        empty_folder(fixture->folder);
        for (uint32_t until = 3; until <= 12; until += 3) {
            AUTO_ARCHIVE *archive =
                until == 3 ? new_archive(fixture, &config) : open_archive(fixture, true);
            AUTO_SEARCH *search = resumed(fixture->context, archive, &config);
            evolve(archive, search, until);
            if (until == 12 && mf_search_hash(search) != mf_search_hash(whole))
                fail_msg("scheme %d: not the same population after resuming", i);
        }
    }
}

SEARCH_TEST(other_schemes_are_refused) {
    mf_SearchConfig config = scheme_config(&schemes[11]);
    make_archive(fixture, &config, 2);
    mf_SearchConfig others[] = {
        WITH(config, .selection = MF_SELECTION_RANK),
        WITH(config, .batch = 2),
        WITH(config, .vary = NULL),
        WITH(config, .descriptor_count = 1),
        WITH(config, .descriptors[1].cells = 5),
        WITH(config, .descriptors[0].upper = 2),
        WITH(config, .descriptors[0] = ((mf_Descriptor){"other", 0.3, 0.7, 6})),
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        AUTO_SEARCH *search = new_search(fixture->context, &others[i]);
        AUTO_ARCHIVE *archive = open_archive(fixture, true);
        MUST_FAIL(mf_archive_resume(archive, search, NULL, NULL, &error), MF_BAD_ARGUMENT, "");
    }
}

// ---- families ----------------------------------------------------------------------------------

SEARCH_TEST(lines_end_in_the_first_generation) {
    for (int i = 0; i < SCHEMES; i++) {
        mf_SearchConfig config = scheme_config(&schemes[i]);
        empty_folder(fixture->folder);
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        AUTO_ARCHIVE *archive = new_archive(fixture, &config);
        evolve(archive, search, 15);
        mf_Individual best = mf_search_individual(search, 0), stored;
        mf_Ancestor *line, *tree;
        uint32_t count, nodes;
        uint8_t genome[16];
        MUST(mf_archive_ancestry(archive, best.id, &line, &count, &error));
        assert_true(line[0].id == best.id && line[0].parent == best.parent);
        assert_int_equal(line[count - 1].generation, 1);
        assert_true(line[count - 1].parent == UINT64_MAX && line[count - 1].changed == 0);
        for (uint32_t k = 0; k < count; k++) {
            MUST(mf_archive_individual(archive, line[k].id, &stored, genome, 16, &error));
            assert_true(stored.parent == line[k].parent);
            if (k + 1 == count)
                break;
            assert_true(line[k + 1].id == line[k].parent && line[k + 1].id < line[k].id);
            assert_true(config.vary != NULL || line[k].changed > 0);
        }
        uint64_t alive[3];
        MUST(mf_archive_alive(archive, 3, alive, &nodes, &error));
        assert_in_range(nodes, 1, 3);
        for (uint32_t k = 0; k < nodes; k++)
            assert_true(alive[k] == mf_search_individual(search, k).id);
        assert_int_equal(mf_archive_alive(archive, 0, alive, &nodes, NULL), MF_BAD_ARGUMENT);
        assert_int_equal(mf_archive_alive(archive, 1025, alive, &nodes, NULL), MF_BAD_ARGUMENT);
        MUST(mf_archive_phylogeny(archive, 5, &tree, &nodes, &error));
        assert_true(nodes >= count);
        uint32_t at = 0, roots = 0;
        for (uint32_t k = 0; k < nodes; k++) {
            assert_true(k == 0 || tree[k].id < tree[k - 1].id);
            at += at < count && tree[k].id == line[at].id;
            roots += tree[k].parent == UINT64_MAX;
            bool known = tree[k].parent == UINT64_MAX;
            for (uint32_t j = k + 1; j < nodes; j++)
                known = known || tree[j].id == tree[k].parent;
            assert_true(known);
        }
        assert_int_equal(at, count); // the line of the best is part of the tree
        assert_true(roots >= 1 && roots <= 5);
        mf_release(fixture->context, line);
        mf_release(fixture->context, tree);
        MUST_FAIL(mf_archive_ancestry(archive, 1000000, &line, &count, &error), MF_NOT_FOUND, "");
    }
}

SEARCH_TEST(diversity_counts_genomes) {
    for (int i = 0; i < SCHEMES; i++) {
        mf_SearchConfig config = scheme_config(&schemes[i]);
        empty_folder(fixture->folder);
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        AUTO_ARCHIVE *archive = new_archive(fixture, &config);
        evolve(archive, search, 9);
        mf_ArchiveDiversity diversity;
        MUST(mf_archive_diversity(archive, 0, &diversity, &error));
        uint32_t count = mf_search_count(search), distinct = 0;
        double different = 0;
        for (uint32_t a = 0; a < count; a++) {
            const uint8_t *one = mf_search_individual(search, a).genome;
            bool first = true;
            for (uint32_t b = 0; b < a; b++) {
                const uint8_t *other = mf_search_individual(search, b).genome;
                uint32_t longer = 0, unequal = 0;
                for (uint32_t k = 0; k < 16; k++) {
                    longer = one[k] != 0 || other[k] != 0 ? k + 1 : longer;
                    unequal += one[k] != other[k];
                }
                first = first && unequal > 0;
                different += longer > 0 ? (double)unequal / longer : 0;
            }
            distinct += first;
        }
        assert_int_equal(diversity.alive, count);
        assert_int_equal(diversity.distinct, distinct);
        double pairs = count * (count - 1) / 2.0;
        assert_true(fabs(diversity.distance - different / pairs) < 1e-12);
        MUST_FAIL(mf_archive_diversity(archive, 10, &diversity, &error), MF_NOT_FOUND, "");
    }
}

SEARCH_TEST(elites_of_the_archive_are_those_alive) {
    mf_SearchConfig config = scheme_config(&schemes[11]);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    AUTO_ARCHIVE *archive = new_archive(fixture, &config);
    evolve(archive, search, 20);
    mf_Elite *elites;
    uint32_t count;
    MUST(mf_archive_cells(archive, &elites, &count, &error));
    assert_int_equal(count, mf_search_count(search));
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = 0;
        while (mf_search_individual(search, rank).id != elites[i].id)
            assert_true(++rank < count);
        assert_true(i == 0 || elites[i].cell > elites[i - 1].cell);
        assert_true(mf_search_individual(search, rank).fitness == elites[i].fitness);
        assert_memory_equal(mf_search_descriptors(search, rank), elites[i].descriptor,
                            2 * sizeof(double));
    }
    mf_release(fixture->context, elites);
}

// ---- genomes by a function ---------------------------------------------------------------------

SEARCH_TEST(zeros_at_the_end_are_not_stored) {
    mf_SearchConfig config = WITH(small_config(), .genome_bytes = 65536, .vary = grow);
    mf_Search *search = new_search(fixture->context, &config);
    mf_Archive *archive = new_archive(fixture, &config);
    mf_Error error = {0};
    mf_Individual stored;
    uint8_t *genome = malloc(65536);
    mf_search_advance(search, &error);
    must(mf_archive_append(archive, search, 0, 0, &error), &error);
    for (uint64_t rank = 0; rank < 20; rank++) {
        mf_Individual individual = mf_search_individual(search, (uint32_t)rank);
        must(mf_archive_individual(archive, individual.id, &stored, genome, 65536, &error), &error);
        assert_memory_equal(genome, individual.genome, 65536);
    }
    mf_archive_close(archive);
    mf_search_destroy(search);
    free(genome);
    size_t size;
    free(file_get(fixture->path, &size));
    assert_true(size < 100000); // 20 genomes of one byte, not of 64 KiB
}

static mf_Status refuse(void *user, const uint8_t *parent, uint64_t seed, uint64_t id,
                        uint8_t *child, uint32_t genome_bytes) {
    (void)parent, (void)seed, (void)genome_bytes;
    child[0] = 1;
    return id >= *(uint64_t *)user ? MF_LIMIT : MF_OK;
}

SEARCH_TEST(a_function_that_fails_changes_nothing) {
    for (mf_Replacement r = MF_REPLACEMENT_GENERATION; r <= MF_REPLACEMENT_RANDOM; r++) {
        uint64_t limit = 5;
        AUTO_SEARCH *search = NULL;
        mf_SearchConfig config =
            WITH(small_config(), .replacement = r, .vary = refuse, .vary_user = &limit);
        if (r == MF_REPLACEMENT_GENERATION)
            MUST_FAIL(mf_search_create(fixture->context, &config, &search, &error), MF_LIMIT, "");
        assert_null(search);
        limit = 25;
        search = new_search(fixture->context, &config);
        advance(search, 1);
        uint64_t before = mf_search_hash(search);
        MUST_FAIL(mf_search_advance(search, &error), MF_LIMIT, "");
        assert_true(mf_search_hash(search) == before && mf_search_generation(search) == 1);
        limit = 1000;
        advance(search, 1);
        assert_int_equal(mf_search_generation(search), 2);
    }
}

static mf_Status fail_evaluation(void *user, const uint8_t *genomes, uint32_t count,
                                 uint32_t genome_bytes, double *fitness, mf_Error *error) {
    int *calls = user;
    if (--*calls == 0)
        return mf_fail(error, MF_IO, "no more");
    return rugged(NULL, genomes, count, genome_bytes, fitness, error);
}

SEARCH_TEST(a_failed_batch_leaves_the_generation) {
    mf_SearchConfig config = scheme_config(&schemes[5]);
    AUTO_SEARCH *plain = new_search(fixture->context, &config);
    advance(plain, 3);
    int calls = 20 + 20 + 7; // in the third generation
    config.evaluate = fail_evaluation;
    config.user = &calls;
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    AUTO_ARCHIVE *archive = new_archive(fixture, &config);
    advance(search, 1);
    MUST(mf_archive_append(archive, search, 0, 0, &error));
    advance(search, 1);
    MUST_FAIL(mf_search_advance(search, &error), MF_IO, "");
    MUST(mf_archive_append(archive, search, 0, 0, &error)); // the births of the second are there
    advance(search, 1);
    assert_true(mf_search_hash(search) == mf_search_hash(plain));
    MUST(mf_archive_append(archive, search, 0, 0, &error));
}

// ---- settings and damage -----------------------------------------------------------------------

SEARCH_TEST(refuses_bad_schemes) {
    const mf_SearchConfig steady = scheme_config(&schemes[5]), cells = scheme_config(&schemes[10]);
    mf_SearchConfig unnamed = cells;
    memset(unnamed.descriptors[0].name, 'x', MF_DESCRIPTOR_NAME);
    const struct {
        mf_SearchConfig config;
        const char *name;
    } bad[] = {
        {WITH(cells, .selection = (mf_Selection)5), "selection"},
        {WITH(cells, .replacement = (mf_Replacement)-1), "replacement"},
        {WITH(cells, .tournament = 0), "tournament"},
        {WITH(cells, .tournament = 1025), "tournament"},
        {WITH(cells, .batch = 0), "batch"},
        {WITH(cells, .protect = 20), "protect"},
        {WITH(cells, .descriptor_count = 5), "descriptor_count"},
        {WITH(steady, .descriptor_count = 1), "descriptor_count"},
        {WITH(cells, .descriptors[0].upper = 0.3), "descriptors[0]"},
        {WITH(cells, .descriptors[1].cells = 1 << 20), "descriptors[1].cells"},
        {WITH(cells, .describe = NULL), "describe"},
        {WITH(cells, .verify_every = 1), "verify_every"},
        {unnamed, "name"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_Search *search = NULL;
        MUST_FAIL(mf_search_create(fixture->context, &bad[i].config, &search, &error),
                  MF_BAD_ARGUMENT, bad[i].name);
        assert_null(search);
    }
}

SEARCH_TEST(damage_is_reported) {
    static const Damage unreadable[] = {
        {"UPDATE scheme SET selection = 9", MF_CORRUPT, "scheme"},
        {"UPDATE scheme SET varies = 2", MF_CORRUPT, "scheme"},
        {"UPDATE scheme SET batch = 0", MF_CORRUPT, "scheme"},
        {"UPDATE scheme SET protect = 4000", MF_CORRUPT, "scheme"},
        {"DELETE FROM scheme", MF_CORRUPT, "scheme"},
        {"DELETE FROM descriptor", MF_CORRUPT, "scheme"},
        {"UPDATE descriptor SET cells = 0 WHERE number = 1", MF_CORRUPT, "descriptor 1"},
        {"UPDATE descriptor SET upper = lower", MF_CORRUPT, "scheme"},
        {"UPDATE descriptor SET number = 7 WHERE number = 1", MF_CORRUPT, "descriptor 1"},
        {"DROP TABLE living", MF_CORRUPT, "'living' is missing"},
    };
    static const Damage damages[] = {
        {"DELETE FROM living WHERE id = (SELECT max(id) FROM living)", MF_CORRUPT, "hash"},
        {"DELETE FROM place", MF_CORRUPT, "descriptors of a cell"},
        {"UPDATE place SET value = NULL", MF_CORRUPT, "descriptors of a cell"},
        {"UPDATE place SET value = 0.0", MF_CORRUPT, "a cell of its own"},
        {"UPDATE individual SET parent = id WHERE parent IS NOT NULL", MF_CORRUPT, "parent"},
        {"UPDATE individual SET genome = zeroblob(17)", MF_CORRUPT, "genome of at most 16 bytes"},
        {"UPDATE individual SET fitness = NULL", MF_CORRUPT, "expected a fitness"},
        {"UPDATE individual SET fitness = fitness + 1", MF_CORRUPT, "hash"},
    };
    mf_SearchConfig config = scheme_config(&schemes[11]);
    assert_damages(fixture, &config, 8, true, damages);
    assert_damages(fixture, &config, 8, false, unreadable);
}
