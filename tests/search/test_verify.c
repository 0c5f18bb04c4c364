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
    return WITH(small_config(), .verify_every = 3, .verify_best = BEST, .verify_disparity = 0,
                .verify = look, .verify_user = verifications);
}

// The order by the cheap level alone, from a search without a second look.
SEARCH_TEST(the_best_are_ordered_anew) {
    Verifications verifications = {0};
    mf_SearchConfig plain = small_config(), config = looking_config(&verifications);
    AUTO_SEARCH *cheap = new_search(fixture->context, &plain);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    for (uint32_t generation = 1; generation <= 3; generation++) {
        advance(cheap, 1);
        advance(search, 1);
        assert_int_equal(mf_search_hash(cheap) == mf_search_hash(search), generation < 3);
    }
    assert_int_equal(verifications.calls, 1);
    assert_int_equal(verifications.genomes, BEST);
    assert_int_equal(mf_search_verified(search), BEST);

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
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    advance(search, 3);
    for (int i = 0; i < 20; i++) {
        uint64_t parents[ELITE], newest = 0;
        for (uint32_t rank = 0; rank < 20; rank++) {
            uint64_t id = mf_search_individual(search, rank).id;
            newest = id > newest ? id : newest;
        }
        for (uint32_t rank = 0; rank < ELITE; rank++)
            parents[rank] = mf_search_individual(search, rank).id;
        advance(search, 1);
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
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    for (int generation = 1; generation <= 100; generation++) {
        advance(search, 1);
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
    mf_SearchConfig config = WITH(small_config(), .evaluate = cheap_bytes, .verify_every = 1,
                                  .verify_best = 10, .verify = dear_bytes);
    for (int weight = 0; weight < 2; weight++) {
        config.verify_disparity = weight;
        AUTO_SEARCH *search = new_search(fixture->context, &config);
        advance(search, 100);
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
    Verifications verifications = {0};
    mf_SearchConfig config = WITH(looking_config(&verifications), .evaluate = blind);
    verifications.rate = ones_and_first;
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    advance(search, 60);
    uint32_t neutral = 0, known = verifications.genomes;
    double elite[ELITE];
    for (uint32_t rank = 0; rank < ELITE; rank++)
        elite[rank] = ones(mf_search_individual(search, rank).genome);
    advance(search, 3);
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
    Verifications verifications = {0};
    mf_SearchConfig config = looking_config(&verifications);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    advance(search, 2);
    uint64_t before = mf_search_hash(search);
    verifications.fails = true;
    MUST_FAIL_AS(mf_search_advance(search, &error), MF_IO, "the second look fails");
    assert_true(mf_search_hash(search) == before);
    assert_int_equal(mf_search_generation(search), 2);
    verifications.fails = false;
    advance(search, 1);

    // The same as if it had never failed.
    AUTO_SEARCH *other = new_search(fixture->context, &config);
    advance(other, 3);
    assert_true(mf_search_hash(other) == mf_search_hash(search));
}

SEARCH_TEST(bad_settings_are_refused) {
    Verifications verifications = {0};
    const mf_SearchConfig config = looking_config(&verifications);
    const struct {
        mf_SearchConfig config;
        const char *message;
    } bad[] = {
        {WITH(config, .verify_best = 1), "verify_best"},
        {WITH(config, .verify_best = 21),
         "search config.verify_best: expected 2 .. 20 (population), found 21"},
        {WITH(config, .verify_best = 20, .verify_disparity = NAN), "verify_disparity"},
        {WITH(config, .verify_best = 20, .verify = NULL), "verify"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mf_Search *search;
        MUST_FAIL(mf_search_create(fixture->context, &bad[i].config, &search, &error),
                  MF_BAD_ARGUMENT, bad[i].message);
    }
}

// ---- the archive -------------------------------------------------------------------------------

SEARCH_TEST(a_resumed_run_ends_with_the_same_bits) {
    Verifications verifications = {0};
    mf_SearchConfig config = WITH(looking_config(&verifications), .verify_disparity = 0.75);
    uint64_t hashes[15];
    uint32_t known[15];
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    for (uint32_t i = 1; i < 15; i++) {
        advance(search, 1);
        hashes[i] = mf_search_hash(search);
        known[i] = mf_search_verified(search);
    }
    assert_true(known[4] > 0 && known[14] > 0);
    // Broken off after every generation, those of a second look included.
    for (uint32_t stop = 1; stop < 14; stop++) {
        empty_folder(fixture->folder);
        make_archive(fixture, &config, stop);
        AUTO_ARCHIVE *archive = open_archive(fixture, true);
        AUTO_SEARCH *again = resumed(fixture->context, archive, &config);
        assert_true(mf_search_hash(again) == hashes[stop]);
        assert_int_equal(mf_search_verified(again), known[stop]);
        evolve(archive, again, 14);
        assert_true(mf_search_hash(again) == hashes[14]);
    }
}

SEARCH_TEST(the_archive_holds_both_curves) {
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
    Verifications verifications = {0};
    const mf_SearchConfig config = looking_config(&verifications);
    make_archive(fixture, &config, 3);
    AUTO_ARCHIVE *archive = open_archive(fixture, true);
    AUTO_SEARCH *search = new_search(fixture->context, &WITH(config, .verify_every = 4));
    MUST_FAIL(mf_archive_resume(archive, search, NULL, NULL, &error), MF_BAD_ARGUMENT,
              "search.verify_every: the archive was made with 3");
    mf_archive_close(archive);
    archive = NULL;
    static const Damage damages[] = {
        {"UPDATE verified SET fitness = -1000.0 WHERE id = (SELECT min(id) FROM verified)",
         MF_CORRUPT, "do not match the stored hash"},
        {"DELETE FROM verified WHERE id = (SELECT min(id) FROM verified)", MF_CORRUPT,
         "do not match the stored hash"},
        {"UPDATE verified SET id = 100000 WHERE id = (SELECT min(id) FROM verified)", MF_CORRUPT,
         "of nobody who lived"},
    };
    static const Damage unreadable[] = {
        {"UPDATE verification SET best = 21", MF_CORRUPT, "best in 2 .. 20 and"},
        {"UPDATE verification SET disparity = -1", MF_CORRUPT, "disparity in 0 .. 1000"},
        {"DELETE FROM verification", MF_CORRUPT, "'verification' is empty"},
    };
    assert_damages(fixture, &config, 3, true, damages);
    assert_damages(fixture, &config, 3, false, unreadable);
}

// Of a search by the rule before this one: read, but not gone on with.
SEARCH_TEST(a_forgetful_archive_can_be_read) {
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
    MF_TRY(try_archive(context, fixture, &config, 3, &search, &archive, error));
    return mf_archive_resume(archive, search, NULL, NULL, error);
}

SEARCH_TEST(every_failing_call_is_survived) {
    assert_true(torture(fixture->context, run_and_resume, fixture, TORTURE_MUST_FAIL) > 100);
}
