// The search: truncation, duplication, mutation statistics, neutral drift, NaN, failures of the
// evaluation, determinism.
#include "support.h"
#include "search/population.h"

static mf_Context *context;

static int begin(void **state) {
    context = open_context(0);
    return 0;
}

static int end(void **state) {
    close_context(context);
    return 0;
}

// ---- fitness functions -------------------------------------------------------------------------

// Number of set bits: the one-max problem.
static mf_Status one_max(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                         double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        fitness[i] = 0;
        for (uint32_t k = 0; k < genome_bytes; k++)
            fitness[i] += __builtin_popcount(genomes[(size_t)i * genome_bytes + k]);
    }
    return MF_OK;
}

static mf_Status all_equal(void *user, const uint8_t *genomes, uint32_t count,
                           uint32_t genome_bytes, double *fitness, mf_Error *error) {
    (void)genomes;
    (void)genome_bytes;
    for (uint32_t i = 0; i < count; i++)
        fitness[i] = *(const double *)user;
    return MF_OK;
}

// The first `count` of a list, whatever the genomes are.
static mf_Status listed(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *fitness, mf_Error *error) {
    (void)genomes;
    (void)genome_bytes;
    memcpy(fitness, user, count * sizeof *fitness);
    return MF_OK;
}

// One-max that counts calls and genomes, and fails when told to.
typedef struct Watched {
    uint32_t calls;
    uint32_t genomes;
    mf_Status failure;
    const char *message; // NULL: fails without a word
} Watched;

static mf_Status watched(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                         double *fitness, mf_Error *error) {
    Watched *watch = user;
    watch->calls++;
    watch->genomes += count;
    // What was written before a failure must not matter.
    one_max(NULL, genomes, count / 2, genome_bytes, fitness, error);
    if (watch->failure != MF_OK)
        return watch->message == NULL ? watch->failure
                                      : mf_fail(error, watch->failure, "%s", watch->message);
    return one_max(NULL, genomes, count, genome_bytes, fitness, error);
}

static mf_SearchConfig configure(mf_EvaluateFn evaluate, void *user) {
    return WITH(mf_search_config(), .evaluate = evaluate, .user = user);
}

static uint64_t hash_after(const mf_SearchConfig *config, uint32_t generations) {
    AUTO_SEARCH *search = new_search(context, config);
    advance(search, generations);
    return mf_search_hash(search);
}

// ---- configuration -----------------------------------------------------------------------------

static void refused(mf_SearchConfig config, const char *field) {
    mf_Search *search = (mf_Search *)&config;
    MUST_FAIL(mf_search_create(context, &config, &search, &error), MF_BAD_ARGUMENT, field);
    assert_null(search);
}

GROUP_FIXTURE(begin, end);

TEST(refuses_bad_settings) {
    const mf_SearchConfig good = configure(one_max, NULL);
    refused(WITH(good, .struct_size = 0), "mf_search_config()");
    refused(WITH(good, .evaluate = NULL), "evaluate");
    const struct {
        uint32_t population, survivors, genome_bytes;
        const char *field;
    } sizes[] = {
        {1, 1, 32, "population"},           {(1u << 20) + 1, 1, 32, "population"},
        {100, 0, 32, "survivors"},          {100, 100, 32, "survivors"},
        {100, UINT32_MAX, 32, "survivors"}, {100, 50, 0, "genome_bytes"},
        {100, 50, 65537, "genome_bytes"},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        refused(WITH(good, .population = sizes[i].population, .survivors = sizes[i].survivors,
                     .genome_bytes = sizes[i].genome_bytes),
                sizes[i].field);
    const double rates[] = {-0.01, 1.01, NAN, INFINITY};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        refused(WITH(good, .mutation_rate = rates[i]), "mutation_rate");
    assert_int_equal(mf_search_create(context, &good, NULL, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_search_advance(NULL, NULL), MF_BAD_ARGUMENT);
    mf_search_destroy(NULL);
}

TEST(smallest_and_largest_sizes_work) {
    mf_SearchConfig config =
        WITH(configure(one_max, NULL), .population = 2, .survivors = 1, .genome_bytes = 1);
    AUTO_SEARCH *search = new_search(context, &config);
    advance(search, 200);
    // With one parent and a strict order nothing is ever lost; 8 set bits is the most.
    assert_true(mf_search_best(search) == 8);
    mf_search_destroy(search);
    config.population = 1 << 20;
    config.survivors = (1 << 20) - 1;
    search = new_search(context, &config);
    advance(search, 2);
    assert_true(mf_search_individual(search, 0).fitness == 8);
    assert_true(mf_search_individual(search, (1 << 20) - 1).fitness == 0);
}

// ---- first generation --------------------------------------------------------------------------

TEST(first_generation_is_random_by_id) {
    mf_SearchConfig config = WITH(configure(one_max, NULL), .seed = 7, .population = 4096);
    AUTO_SEARCH *search = new_search(context, &config);
    assert_int_equal(mf_search_generation(search), 0);
    assert_true(isnan(mf_search_best(search)) && isnan(mf_search_mean(search)));
    double sum = 0;
    uint32_t histogram[256] = {0};
    for (uint32_t i = 0; i < config.population; i++) {
        mf_Individual individual = mf_search_individual(search, i);
        assert_int_equal(individual.id, i);
        assert_true(individual.parent == UINT64_MAX);
        assert_true(isnan(individual.fitness));
        for (uint32_t k = 0; k < config.genome_bytes; k++) {
            histogram[individual.genome[k]]++;
            sum += individual.genome[k];
        }
    }
    // Uniform bytes: mean 127.5, standard deviation 73.9; chi square over 256 values has mean 255
    // and standard deviation sqrt(2 * 255) = 22.6. Five deviations allowed.
    double bytes = 4096.0 * 32, expected = bytes / 256, chi_square = 0;
    assert_true(fabs(sum / bytes - 127.5) < 5 * 73.9 / sqrt(bytes));
    for (int value = 0; value < 256; value++)
        chi_square += (histogram[value] - expected) * (histogram[value] - expected) / expected;
    assert_true(fabs(chi_square - 255) < 5 * 22.6);
    mf_Individual beyond = mf_search_individual(search, config.population);
    assert_true(beyond.genome == NULL && isnan(beyond.fitness));
}

// ---- selection ---------------------------------------------------------------------------------

TEST(keeps_the_best_and_duplicates_them_in_turn) {
    // Ten individuals with known fitness, id by id; three survive.
    double first[10] = {3, 9, 1, 7, 8, 2, 0, 6, 5, 4};
    AUTO_SEARCH *search = new_search(context, &WITH(configure(listed, first), .population = 10,
                                                    .survivors = 3, .mutation_rate = 0.5));
    advance(search, 1);
    const uint64_t by_rank[10] = {1, 4, 3, 7, 8, 9, 0, 5, 2, 6};
    uint8_t parents[3][32];
    for (uint32_t rank = 0; rank < 10; rank++)
        assert_int_equal(mf_search_individual(search, rank).id, by_rank[rank]);
    for (uint32_t rank = 0; rank < 3; rank++)
        memcpy(parents[rank], mf_search_individual(search, rank).genome, 32);
    assert_true(mf_search_best(search) == 9 && mf_search_mean(search) == 4.5);
    // The evaluator hands out by position: survivors 1, 4, 3, then children 10 .. 16.
    double second[10] = {50, 49, 48, 40, 41, 42, 43, 44, 45, 46};
    memcpy(first, second, sizeof second);
    advance(search, 1);
    const uint64_t then[10] = {1, 4, 3, 16, 15, 14, 13, 12, 11, 10};
    const uint64_t parent_of[7] = {1, 4, 3, 1, 4, 3, 1}; // of ids 10 .. 16
    for (uint32_t rank = 0; rank < 10; rank++) {
        mf_Individual individual = mf_search_individual(search, rank);
        assert_int_equal(individual.id, then[rank]);
        if (rank < 3) {
            assert_true(individual.parent == UINT64_MAX);
            assert_memory_equal(individual.genome, parents[rank], 32);
            continue;
        }
        assert_int_equal(individual.parent, parent_of[individual.id - 10]);
        assert_memory_not_equal(individual.genome, parents[(individual.id - 10) % 3], 32);
    }
}

TEST(equal_fitness_drifts) {
    double value = 1.5;
    mf_SearchConfig config = WITH(configure(all_equal, &value), .population = 10, .survivors = 5);
    AUTO_SEARCH *search = new_search(context, &config);
    advance(search, 1);
    for (uint32_t rank = 0; rank < 10; rank++)
        assert_int_equal(mf_search_individual(search, rank).id, 9 - rank);
    advance(search, 1);
    // Children 10 .. 14 come before the five youngest of the first generation.
    for (uint32_t rank = 0; rank < 10; rank++)
        assert_int_equal(mf_search_individual(search, rank).id, 14 - rank);
    advance(search, 1);
    // Each generation replaces its parents: nobody is older than the generation before.
    for (uint32_t rank = 0; rank < 10; rank++) {
        mf_Individual individual = mf_search_individual(search, rank);
        assert_int_equal(individual.id, 19 - rank);
        assert_true(individual.parent != UINT64_MAX);
    }
}

TEST(nan_is_worst) {
    uint64_t odd_bits = UINT64_C(0xfff8dead0000beef);
    double odd_nan;
    memcpy(&odd_nan, &odd_bits, sizeof odd_nan);
    double fitness[6] = {NAN, -INFINITY, odd_nan, -0.0, INFINITY, 0.0};
    mf_SearchConfig config = WITH(configure(listed, fitness), .population = 6, .survivors = 2);
    AUTO_SEARCH *search = new_search(context, &config);
    advance(search, 1);
    const uint64_t by_rank[6] = {4, 5, 3, 1, 2, 0};
    for (uint32_t rank = 0; rank < 6; rank++)
        assert_int_equal(mf_search_individual(search, rank).id, by_rank[rank]);
    // The mean is over finite values: 0 and -0, which is stored as 0.
    assert_true(mf_search_mean(search) == 0);
    assert_false(signbit(mf_search_individual(search, 2).fitness));
    // Every NaN has the same bits, so that hashes do not depend on how it came about.
    double first = mf_search_individual(search, 4).fitness;
    double second = mf_search_individual(search, 5).fitness;
    assert_memory_equal(&first, &second, sizeof first);
    mf_search_destroy(search);

    double none = NAN;
    config = configure(all_equal, &none);
    search = new_search(context, &config);
    advance(search, 3);
    assert_true(isnan(mf_search_best(search)) && isnan(mf_search_mean(search)));
}

// ---- mutation ----------------------------------------------------------------------------------

typedef struct Changes {
    double children;    // [1]
    double bytes;       // [1] of children
    double changed;     // [1] bytes that differ from the parent's
    double one_bit;     // [1] of those: one bit differs
    double same_opcode; // [1] of those: the upper three bits are equal
    uint32_t fewest;    // [1] changed bytes in a child
    uint32_t most;      // [1]
} Changes;

// Compares each child of the second generation with its parent.
static Changes count_changes(double rate, uint32_t genome_bytes, uint32_t population) {
    double value = 0;
    mf_SearchConfig config =
        WITH(configure(all_equal, &value), .mutation_rate = rate, .genome_bytes = genome_bytes,
             .population = population, .survivors = population / 2, .seed = 99);
    AUTO_SEARCH *before = new_search(context, &config), *after = new_search(context, &config);
    advance(after, 2);
    Changes changes = {.fewest = UINT32_MAX};
    for (uint32_t rank = 0; rank < population; rank++) {
        mf_Individual child = mf_search_individual(after, rank);
        if (child.parent == UINT64_MAX)
            continue;
        const uint8_t *parent = mf_search_individual(before, (uint32_t)child.parent).genome;
        uint32_t changed = 0;
        for (uint32_t i = 0; i < genome_bytes; i++) {
            uint32_t difference = (uint32_t)(child.genome[i] ^ parent[i]);
            changed += difference != 0;
            changes.one_bit += __builtin_popcount(difference) == 1;
            changes.same_opcode += difference != 0 && difference < 32;
        }
        changes.children++;
        changes.bytes += genome_bytes;
        changes.changed += changed;
        changes.fewest = changed < changes.fewest ? changed : changes.fewest;
        changes.most = changed > changes.most ? changed : changes.most;
    }
    assert_true(changes.children == population / 2);
    return changes;
}

static void near_fraction(double hits, double trials, double expected) {
    double deviation = sqrt(expected * (1 - expected) / trials);
    if (fabs(hits / trials - expected) > 5 * deviation)
        fail_msg("expected %g +- %g, found %g", expected, deviation, hits / trials);
}

TEST(mutation_rate_is_exact) {
    const double rates[] = {1.0 / 16, 0.25, 0.9};
    for (int i = 0; i < 3; i++) {
        // Long genomes, where a child without any mutation practically does not happen.
        Changes changes = count_changes(rates[i], 1024, 512);
        near_fraction(changes.changed, changes.bytes, rates[i]);
        // Of the three kinds a third each: another byte (one bit differs in 8 of 255 cases, the
        // opcode is kept in 31), one bit (opcode kept for 5 of 8), another operand (one bit in 5
        // of 31, opcode always kept).
        near_fraction(changes.one_bit, changes.changed, (8.0 / 255 + 1 + 5.0 / 31) / 3);
        near_fraction(changes.same_opcode, changes.changed, (31.0 / 255 + 5.0 / 8 + 1) / 3);
    }
}

TEST(every_child_differs) {
    // 32 bytes at 1/16: (15/16)^32 = 12.7 % of the children have no byte chosen and get one.
    double rate = 1.0 / 16, none = pow(1 - rate, 32);
    Changes changes = count_changes(rate, 32, 20000);
    assert_int_equal(changes.fewest, 1);
    double mean = changes.changed / changes.children, expected = 32 * rate + none;
    double deviation = sqrt(32 * rate * (1 - rate) / changes.children);
    assert_true(fabs(mean - expected) < 5 * deviation);
    // The ends of the range: one byte, all bytes.
    changes = count_changes(0, 32, 1000);
    assert_true(changes.fewest == 1 && changes.most == 1);
    changes = count_changes(1, 32, 1000);
    assert_true(changes.fewest == 32 && changes.most == 32);
    changes = count_changes(0, 1, 1000);
    assert_true(changes.fewest == 1);
}

// ---- determinism -------------------------------------------------------------------------------

TEST(depends_on_nothing_but_settings) {
    mf_SearchConfig config = WITH(configure(one_max, NULL), .seed = 1);
    uint64_t hash = hash_after(&config, 20);
    assert_true(hash_after(&config, 20) == hash);
    // Reusing fitness saves evaluations and changes no bit.
    Watched every = {0}, fresh = {0};
    config.evaluate = watched;
    config.user = &every;
    assert_true(hash_after(&config, 20) == hash);
    config.reuse_fitness = true;
    config.user = &fresh;
    assert_true(hash_after(&config, 20) == hash);
    assert_int_equal(every.genomes, 20 * 100);
    assert_int_equal(fresh.genomes, 100 + 19 * 50);
    assert_int_equal(fresh.calls, 20);
    // Every setting matters, the upper half of the seed too.
    const mf_SearchConfig base = WITH(configure(one_max, NULL), .seed = 1);
    const mf_SearchConfig others[] = {
        WITH(base, .seed = 2),          WITH(base, .seed = UINT64_C(1) + (UINT64_C(1) << 32)),
        WITH(base, .population = 101),  WITH(base, .survivors = 49),
        WITH(base, .genome_bytes = 31), WITH(base, .mutation_rate = 0.07),
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(hash_after(&others[i], 20) != hash);
}

TEST(hash_is_the_same_everywhere) {
    // Recorded once; equal for every compiler, optimization and machine. The statistics above say
    // that it is right, this says that it stays.
    mf_SearchConfig config = WITH(configure(one_max, NULL), .seed = 2024);
    assert_int_equal(hash_after(&config, 1), UINT64_C(0xba6f860bb42316bf));
    assert_int_equal(hash_after(&config, 100), UINT64_C(0xf26f7dd8dc31bed2));
}

TEST(hash_covers_everything) {
    mf_SearchConfig config = configure(one_max, NULL);
    AUTO_SEARCH *search = new_search(context, &config);
    advance(search, 3);
    uint64_t hash = mf_search_hash(search);
    for (uint32_t rank = 0; rank < 100; rank += 33) {
        search->current.id[rank] ^= UINT64_C(1) << 63;
        assert_true(mf_search_hash(search) != hash);
        search->current.id[rank] ^= UINT64_C(1) << 63;
        search->current.parent[rank] ^= 1;
        assert_true(mf_search_hash(search) != hash);
        search->current.parent[rank] ^= 1;
        double fitness = search->current.fitness[rank];
        search->current.fitness[rank] = nextafter(fitness, INFINITY);
        assert_true(mf_search_hash(search) != hash);
        search->current.fitness[rank] = fitness;
        search->current.genomes[rank * 32 + 31] ^= 0x80;
        assert_true(mf_search_hash(search) != hash);
        search->current.genomes[rank * 32 + 31] ^= 0x80;
    }
    assert_true(mf_search_hash(search) == hash);
}

TEST(ids_never_run_into_each_other) {
    mf_SearchConfig config = WITH(configure(one_max, NULL), .population = 1 << 20, .survivors = 1);
    assert_int_equal(mf_search_first_id(&config, 1), 0);
    assert_int_equal(mf_search_first_id(&config, 2), 1 << 20);
    for (uint32_t generation = UINT32_MAX - 3; generation < UINT32_MAX; generation++)
        assert_true(mf_search_first_id(&config, generation + 1) ==
                    mf_search_first_id(&config, generation) +
                        mf_search_births(&config, generation));
    assert_true(mf_search_first_id(&config, UINT32_MAX) < INT64_MAX);
    // Two individuals 2^32 apart draw different mutations: 4 births a generation, so 2^30
    // generations lie between them.
    double value = 0;
    config = WITH(configure(all_equal, &value), .population = 10, .survivors = 6);
    AUTO_SEARCH *near_one = new_search(context, &config), *far_one = new_search(context, &config);
    advance(near_one, 1);
    advance(far_one, 1);
    far_one->generation += 1u << 30;
    advance(near_one, 1);
    advance(far_one, 1);
    for (uint32_t rank = 0; rank < 4; rank++) {
        mf_Individual close = mf_search_individual(near_one, rank);
        mf_Individual distant = mf_search_individual(far_one, rank);
        assert_true(distant.id == close.id + (UINT64_C(1) << 32));
        assert_true(distant.parent == close.parent);
        assert_memory_not_equal(close.genome, distant.genome, 32);
    }
}

TEST(stops_at_the_last_generation) {
    mf_SearchConfig config = configure(one_max, NULL);
    AUTO_SEARCH *search = new_search(context, &config);
    advance(search, 1);
    search->generation = UINT32_MAX;
    uint64_t hash = mf_search_hash(search);
    assert_int_equal(mf_search_advance(search, NULL), MF_LIMIT);
    assert_true(mf_search_hash(search) == hash);
}

// ---- evolution ---------------------------------------------------------------------------------

TEST(one_max_converges) {
    for (uint64_t seed = 0; seed < 5; seed++) {
        mf_SearchConfig config = WITH(configure(one_max, NULL), .genome_bytes = 8, .seed = seed);
        AUTO_SEARCH *search = new_search(context, &config);
        double best = 0;
        for (int i = 0; i < 300; i++) {
            advance(search, 1);
            // Truncation keeps the best, so it never gets worse.
            assert_true(mf_search_best(search) >= best);
            best = mf_search_best(search);
        }
        assert_true(best == 64);
        for (uint32_t rank = 1; rank < 100; rank++)
            assert_true(mf_search_individual(search, rank).fitness <=
                        mf_search_individual(search, rank - 1).fitness);
    }
}

// ---- failures ----------------------------------------------------------------------------------

TEST(failed_evaluation_changes_nothing) {
    mf_SearchConfig config = configure(one_max, NULL);
    uint64_t unbroken = hash_after(&config, 3);
    Watched watch = {.message = "the robot is on fire"};
    config.evaluate = watched;
    config.user = &watch;
    AUTO_SEARCH *search = new_search(context, &config);
    for (uint32_t generation = 0; generation < 3; generation++) {
        uint64_t hash = mf_search_hash(search);
        mf_Error error = {0};
        watch.failure = MF_STOPPED;
        watch.message = "the robot is on fire";
        assert_int_equal(mf_search_advance(search, &error), MF_STOPPED);
        assert_int_equal(error.status, MF_STOPPED);
        assert_string_equal(error.message, "the robot is on fire");
        watch.message = NULL;
        assert_fails(mf_search_advance(search, &error), MF_STOPPED, &error,
                     "evaluation of generation");
        assert_int_equal(mf_search_advance(search, NULL), MF_STOPPED);
        assert_int_equal(mf_search_generation(search), generation);
        assert_true(mf_search_hash(search) == hash);
        watch.failure = MF_OK;
        advance(search, 1);
    }
    assert_true(mf_search_hash(search) == unbroken);
}

static mf_Status silent(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *fitness, mf_Error *error) {
    (void)genomes;
    (void)genome_bytes;
    (void)fitness;
    return MF_OK;
}

TEST(unwritten_fitness_is_nan) {
    mf_SearchConfig config = configure(silent, NULL);
    AUTO_SEARCH *search = new_search(context, &config);
    advance(search, 2);
    for (uint32_t rank = 0; rank < 100; rank++)
        assert_true(isnan(mf_search_individual(search, rank).fitness));
}

static mf_Status make_and_advance(mf_Context *torn, void *user, mf_Error *error) {
    AUTO_SEARCH *search = (mf_Search *)&torn;
    mf_Status status = mf_search_create(torn, user, &search, error);
    if (status == MF_OK)
        return mf_search_advance(search, error);
    assert_null(search);
    return status;
}

TEST(every_allocation_can_fail) {
    mf_SearchConfig config = configure(one_max, NULL);
    assert_true(torture(context, make_and_advance, &config, TORTURE_MUST_FAIL) >= 5);
}

TEST(advancing_allocates_nothing) {
    mf_SearchConfig config = configure(one_max, NULL);
    AUTO_SEARCH *search = new_search(context, &config);
    uint64_t calls = mf_context_call_count(context);
    advance(search, 10);
    assert_true(mf_context_call_count(context) == calls);
}
