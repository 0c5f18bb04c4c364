// Verification during a search: which individuals are verified, which belong to the elite and
// survive, which have offspring; and an archive resumes to the bits of the uninterrupted run.
#include "support.h"

enum { MOST_LOOKS = 256, BEST = 5, ELITE = 3 };

typedef struct Verifications {
    uint32_t calls, genomes;
    bool fails;
    double (*rate)(const uint8_t *genome); // NULL: dear
    uint8_t seen[MOST_LOOKS][16];
} Verifications;

// The dear level agrees with the cheap one on nothing: it likes genomes whose first byte is small,
// and nothing comes of every fourth value.
static double dear(const uint8_t *genome) {
    return genome[0] % 4 == 3 ? __builtin_nan("") : -(double)genome[0];
}

static mf_Status look(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                      double *fitness, mf_Error *error) {
    Verifications *verifications = user;
    if (verifications->fails)
        return mf_fail(error, MF_IO, "the second look fails");
    verifications->calls++;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *genome = genomes + (size_t)i * genome_bytes;
        if (verifications->genomes < MOST_LOOKS)
            memcpy(verifications->seen[verifications->genomes++], genome, 16);
        fitness[i] = verifications->rate != NULL ? verifications->rate(genome) : dear(genome);
    }
    return MF_OK;
}

static mf_SearchConfig looking_config(Verifications *verifications) {
    mf_SearchConfig config =
        WITH(small_config(), .verify_every = 3, .verify_best = BEST, .verify_disparity = 0,
             .verify = look, .verify_user = verifications);
    return config;
}

// The order by the cheap level alone, from a search without a second look.
SEARCH_TEST(the_best_are_ordered_anew) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig plain = small_config(), config = looking_config(&verifications);
    AUTO_SEARCH *cheap = new_search(fixture->context, &plain);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    for (uint32_t generation = 1; generation <= 3; generation++) {
        MUST(mf_search_advance(cheap, &error));
        MUST(mf_search_advance(search, &error));
        if (generation < 3)
            assert_true(mf_search_hash(cheap) == mf_search_hash(search));
    }
    assert_int_equal(verifications.calls, 1);
    assert_int_equal(verifications.genomes, BEST);
    assert_int_equal(mf_search_verified(search), BEST);
    assert_true(mf_search_hash(cheap) != mf_search_hash(search));

    // Those looked at are the five best by the cheap level.
    uint32_t elite = 0;
    for (uint32_t rank = 0; rank < 20; rank++) {
        mf_Individual found = mf_search_individual(search, rank);
        bool looked = false;
        for (uint32_t i = 0; i < BEST; i++)
            looked = looked || found.id == mf_search_individual(cheap, i).id;
        double expected = looked ? dear(found.genome) : __builtin_nan("");
        assert_memory_equal(&found.verified, &expected, sizeof expected);
        elite += looked && rank < 10;
    }
    // First the elite, falling and no two alike, then the others in their order, then the rest.
    assert_in_range(elite, 1, ELITE);
    for (uint32_t rank = 1; rank < elite; rank++)
        assert_true(mf_search_individual(search, rank).verified <
                    mf_search_individual(search, rank - 1).verified);
    for (uint32_t rank = elite; rank < elite + 15; rank++)
        assert_true(mf_search_individual(search, rank).id ==
                    mf_search_individual(cheap, rank - elite + BEST).id);
}

SEARCH_TEST(only_the_elite_has_children) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    for (int i = 0; i < 3; i++)
        MUST(mf_search_advance(search, &error));
    for (int i = 0; i < 20; i++) {
        uint64_t parents[ELITE], newest = 0;
        for (uint32_t rank = 0; rank < 20; rank++) {
            uint64_t id = mf_search_individual(search, rank).id;
            newest = id > newest ? id : newest;
        }
        for (uint32_t rank = 0; rank < ELITE; rank++)
            parents[rank] = mf_search_individual(search, rank).id;
        MUST(mf_search_advance(search, &error));
        uint32_t born = 0;
        for (uint32_t rank = 0; rank < 20; rank++) {
            mf_Individual found = mf_search_individual(search, rank);
            if (found.id <= newest)
                continue;
            born++;
            assert_true(found.parent == parents[0] || found.parent == parents[1] ||
                        found.parent == parents[2]);
        }
        assert_int_equal(born, 12);
    }
}

static int by_falling(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

// Of all that were ever looked at, the best live and come first: at every moment, however much the
// cheap level dislikes them.
SEARCH_TEST(the_best_by_the_look_are_never_lost) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    for (int generation = 1; generation <= 100; generation++) {
        MUST(mf_search_advance(search, &error));
        double all[MOST_LOOKS];
        uint32_t count = 0, distinct = 0;
        for (uint32_t i = 0; i < verifications.genomes; i++) {
            double value = dear(verifications.seen[i]);
            if (value == value)
                all[count++] = value;
        }
        qsort(all, count, sizeof *all, by_falling);
        for (uint32_t i = 0; i < count && distinct < ELITE; i++) {
            if (i > 0 && all[i] == all[i - 1])
                continue;
            assert_true(mf_search_individual(search, distinct).verified == all[i]);
            distinct++;
        }
    }
    assert_int_equal(verifications.genomes, 33 * BEST);
    // It did find out what the dear level likes.
    assert_true(mf_search_individual(search, 0).verified > -8);
}

// The cheap level likes byte 0 large, the dear one likes it small, both like byte 1 large.
static mf_Status cheap_bytes(void *user, const uint8_t *genomes, uint32_t count,
                             uint32_t genome_bytes, double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++)
        fitness[i] = genomes[(size_t)i * genome_bytes] + genomes[(size_t)i * genome_bytes + 1];
    return MF_OK;
}

static mf_Status dear_bytes(void *user, const uint8_t *genomes, uint32_t count,
                            uint32_t genome_bytes, double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++)
        fitness[i] =
            255 - genomes[(size_t)i * genome_bytes] + genomes[(size_t)i * genome_bytes + 1];
    return MF_OK;
}

// With x and y these bytes, v = 255 - x + y is largest at x = 0, and v - |v - f|, which is x + y up
// to x = 127 and 510 - 3x + y from there on, at x = 127.
SEARCH_TEST(what_one_level_only_likes_counts_less) {
    Fixture *fixture = *state;
    mf_SearchConfig config = WITH(small_config(), .evaluate = cheap_bytes, .verify_every = 1,
                                  .verify_best = 10, .verify = dear_bytes);
    for (int weight = 0; weight < 2; weight++) {
        config.verify_disparity = weight;
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        for (int i = 0; i < 100; i++)
            MUST(mf_search_advance(search, &error));
        mf_Individual best = mf_search_individual(search, 0);
        assert_in_range(best.genome[0], weight == 0 ? 0 : 120, weight == 0 ? 7 : 130);
        assert_in_range(best.genome[1], 240, 255);
    }
}

// Counts ones in the second half; the dear level sees the first byte, too. Who differs from its
// parent in the first half alone is looked at only where places are left, though it promises more
// than most: nearly every other mutant of somebody with few ones has more.
static mf_Status blind(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                       double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        fitness[i] = 0;
        for (uint32_t k = 8; k < 16; k++)
            fitness[i] -= __builtin_popcount(genomes[(size_t)i * genome_bytes + k]);
    }
    return MF_OK;
}

static double ones(const uint8_t *genome) {
    double fitness = 0;
    blind(NULL, genome, 1, 16, &fitness, NULL);
    return fitness;
}

static double ones_and_first(const uint8_t *genome) {
    return ones(genome) - genome[0] / 1024.0;
}

SEARCH_TEST(neutral_mutants_wait) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig config = WITH(looking_config(&verifications), .evaluate = blind);
    verifications.rate = ones_and_first;
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    for (int i = 0; i < 60; i++)
        MUST(mf_search_advance(search, &error));
    uint32_t neutral = 0, known = verifications.genomes;
    double elite[ELITE];
    for (uint32_t rank = 0; rank < ELITE; rank++)
        elite[rank] = ones(mf_search_individual(search, rank).genome);
    for (int i = 0; i < 3; i++)
        MUST(mf_search_advance(search, &error));
    for (uint32_t i = known; i < verifications.genomes; i++)
        for (uint32_t k = 0; k < ELITE; k++)
            neutral += ones(verifications.seen[i]) == elite[k];
    assert_int_equal(verifications.genomes, known + BEST);
    assert_int_equal(neutral, 0);
    // They were there, and would have come first by what they promise.
    uint32_t waiting = 0;
    for (uint32_t rank = 0; rank < 20; rank++) {
        mf_Individual found = mf_search_individual(search, rank);
        for (uint32_t k = 0; k < ELITE && found.verified != found.verified; k++)
            waiting += ones(found.genome) == elite[k];
    }
    assert_true(waiting > 0);
}

SEARCH_TEST(a_look_that_fails_changes_nothing) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    MUST(mf_search_advance(search, &error));
    MUST(mf_search_advance(search, &error));
    uint64_t before = mf_search_hash(search);
    verifications.fails = true;
    MUST_FAIL_AS(mf_search_advance(search, &error), MF_IO, "the second look fails");
    assert_true(mf_search_hash(search) == before);
    assert_int_equal(mf_search_generation(search), 2);
    verifications.fails = false;
    MUST(mf_search_advance(search, &error));

    // The same as if it had never failed.
    AUTO_SEARCH *other = new_search(fixture->context, &config);
    for (int i = 0; i < 3; i++)
        MUST(mf_search_advance(other, &error));
    assert_true(mf_search_hash(other) == mf_search_hash(search));
}

SEARCH_TEST(bad_settings_are_refused) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_Search *search;
    mf_Error error;
    mf_SearchConfig config = WITH(looking_config(&verifications), .verify_best = 1);
    assert_int_equal(mf_search_create(fixture->context, &config, &search, &error), MF_BAD_ARGUMENT);
    config.verify_best = 21;
    assert_int_equal(mf_search_create(fixture->context, &config, &search, &error), MF_BAD_ARGUMENT);
    assert_string_equal(error.message,
                        "search config.verify_best: expected 2 .. 20 (population), found 21");
    config.verify_best = 20;
    config.verify_disparity = __builtin_nan("");
    assert_int_equal(mf_search_create(fixture->context, &config, &search, &error), MF_BAD_ARGUMENT);
    config.verify_disparity = 0;
    config.verify = NULL;
    assert_int_equal(mf_search_create(fixture->context, &config, &search, &error), MF_BAD_ARGUMENT);
}

// ---- the archive -------------------------------------------------------------------------------

SEARCH_TEST(a_resumed_run_ends_with_the_same_bits) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig config = WITH(looking_config(&verifications), .verify_disparity = 0.75);
    uint64_t hashes[15];
    uint32_t known[15];
    mf_Search *search = new_search(fixture->context, &config);
    for (uint32_t i = 1; i < 15; i++) {
        MUST(mf_search_advance(search, &error));
        hashes[i] = mf_search_hash(search);
        known[i] = mf_search_verified(search);
    }
    assert_true(known[4] > 0 && known[14] > 0);
    mf_search_destroy(search);
    // Broken off after every generation, those of a second look included.
    for (uint32_t stop = 1; stop < 14; stop++) {
        empty_folder(fixture->folder);
        make_archive(fixture, &config, stop);
        search = new_search(fixture->context, &config);
        mf_Archive *archive = open_archive(fixture, true);
        MUST(mf_archive_resume(archive, search, NULL, NULL, &error));
        assert_true(mf_search_hash(search) == hashes[stop]);
        assert_int_equal(mf_search_verified(search), known[stop]);
        evolve(archive, search, 14);
        assert_true(mf_search_hash(search) == hashes[14]);
        mf_archive_close(archive);
        mf_search_destroy(search);
    }
}

SEARCH_TEST(the_archive_holds_both_curves) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    make_archive(fixture, &config, 7);
    mf_Archive *archive = open_archive(fixture, false);
    mf_ArchiveGeneration *rows;
    mf_ArchiveRun run;
    uint32_t count;
    MUST(mf_archive_run(archive, &run, &error));
    assert_int_equal(run.search.verify_every, 3);
    assert_int_equal(run.search.verify_best, 5);
    MUST(mf_archive_generations(archive, &rows, &count, &error));
    assert_int_equal(count, 7);
    for (uint32_t i = 0; i < count; i++) {
        mf_Individual best;
        uint8_t genome[16];
        MUST(mf_archive_best(archive, i + 1, &best, genome, 16, &error));
        assert_true(best.fitness == rows[i].best || best.fitness != best.fitness);
        assert_memory_equal(&best.verified, &rows[i].verified, sizeof(double));
        if (i + 1 >= 3)
            assert_true(rows[i].verified == dear(genome));
        else
            assert_true(rows[i].verified != rows[i].verified);
    }
    mf_release(fixture->context, rows);
    mf_archive_close(archive);
    // Nobody is looked at twice.
    sql(fixture,
        "CREATE TABLE once (x CHECK (x = 1)); INSERT INTO once SELECT count(*) = count(DISTINCT "
        "id) FROM verified; INSERT INTO once SELECT count(*) = 10 FROM verified");
}

SEARCH_TEST(other_settings_and_damage_are_refused) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_Error error = {0};
    mf_SearchConfig config = looking_config(&verifications), other = config;
    make_archive(fixture, &config, 3);
    mf_Archive *archive = open_archive(fixture, true);
    other.verify_every = 4;
    mf_Search *search = new_search(fixture->context, &other);
    assert_fails(mf_archive_resume(archive, search, NULL, NULL, &error), MF_BAD_ARGUMENT, &error,
                 "search.verify_every: the archive was made with 3");
    mf_search_destroy(search);
    mf_archive_close(archive);

    static const struct {
        const char *sql;
        mf_Status status;
        const char *message;
    } cases[] = {
        {"UPDATE verified SET fitness = -1000.0 WHERE id = (SELECT min(id) FROM verified)",
         MF_CORRUPT, "do not match the stored hash"},
        {"DELETE FROM verified WHERE id = (SELECT min(id) FROM verified)", MF_CORRUPT,
         "do not match the stored hash"},
        {"UPDATE verified SET id = 100000 WHERE id = (SELECT min(id) FROM verified)", MF_CORRUPT,
         "of nobody who lived"},
        {"UPDATE verification SET best = 21", MF_CORRUPT, "best in 2 .. 20 and"},
        {"UPDATE verification SET disparity = -1", MF_CORRUPT, "disparity in 0 .. 1000"},
        {"DELETE FROM verification", MF_CORRUPT, "'verification' is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        empty_folder(fixture->folder);
        make_archive(fixture, &config, 3);
        sql(fixture, cases[i].sql);
        search = new_search(fixture->context, &config);
        mf_Status status = mf_archive_open(fixture->context, fixture->path, true, &archive, &error);
        if (status == MF_OK)
            status = mf_archive_resume(archive, search, NULL, NULL, &error);
        if (status != cases[i].status || strstr(error.message, cases[i].message) == NULL)
            fail_msg("%s: found \"%s\"", cases[i].sql, error.message);
        mf_archive_close(archive);
        mf_search_destroy(search);
    }
}

// Of a search by the rule before this one: read, but not gone on with.
SEARCH_TEST(a_forgetful_archive_can_be_read) {
    Fixture *fixture = *state;
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    make_archive(fixture, &config, 3);
    sql(fixture, "PRAGMA user_version=2; DROP TABLE verification; CREATE TABLE verification (\n"
                 "    id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row\n"
                 "    every INTEGER NOT NULL, -- generations from one verification to the next\n"
                 "    best INTEGER NOT NULL   -- individuals that are verified\n"
                 ") STRICT; INSERT INTO verification VALUES (1, 3, 5)");
    mf_Archive *archive = open_archive(fixture, false);
    mf_ArchiveGeneration *rows;
    mf_ArchiveRun run;
    mf_Individual best;
    uint8_t genome[16];
    uint32_t count;
    MUST(mf_archive_run(archive, &run, &error));
    assert_int_equal(run.search.verify_best, BEST);
    MUST(mf_archive_generations(archive, &rows, &count, &error));
    MUST(mf_archive_best(archive, 0, &best, genome, 16, &error));
    assert_true(rows[2].verified == dear(genome) && best.verified == dear(genome));
    mf_release(fixture->context, rows);
    mf_archive_close(archive);
    MUST_FAIL(mf_archive_open(fixture->context, fixture->path, true, &archive, &error), MF_VERSION,
              "can be read and replayed, but not resumed");
}

static mf_Status run_and_resume(mf_Context *context, void *user, mf_Error *error) {
    const Fixture *fixture = user;
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    AUTO_SEARCH *search = NULL;
    AUTO_ARCHIVE *archive = NULL;
    empty_folder(fixture->folder);
    mf_Status status = mf_search_create(context, &config, &search, error);
    if (status == MF_OK)
        status =
            mf_archive_create(context, fixture->path, &config, SETTINGS, 1, 2, &archive, error);
    for (int i = 0; i < 3 && status == MF_OK; i++) {
        status = mf_search_advance(search, error);
        if (status == MF_OK)
            status = mf_archive_append(archive, search, 1, 1, error);
    }
    if (status == MF_OK)
        status = mf_archive_resume(archive, search, NULL, NULL, error);
    return status;
}

SEARCH_TEST(every_failing_call_is_survived) {
    Fixture *fixture = *state;
    assert_true(torture(fixture->context, run_and_resume, fixture, TORTURE_MUST_FAIL) > 100);
}
