// The second look of a search: who is looked at, what becomes of the order and of parents, and that
// an archive resumes to the bits of the unbroken run.
#include "support.h"

#include "torture.h"

typedef struct Looks {
    uint32_t calls, genomes;
    bool fails;
} Looks;

// The dear level agrees with the cheap one on nothing: it likes genomes whose first byte is small,
// and nothing comes of every fourth value.
static mf_Status look(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                      double *fitness, mf_Error *error) {
    Looks *looks = user;
    if (looks->fails)
        return mf_fail(error, MF_IO, "the second look fails");
    looks->calls++;
    looks->genomes += count;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t first = genomes[(size_t)i * genome_bytes];
        fitness[i] = first % 4 == 3 ? __builtin_nan("") : -(double)first;
    }
    return MF_OK;
}

static mf_SearchConfig looking_config(Looks *looks) {
    mf_SearchConfig config = small_config();
    config.verify_every = 3;
    config.verify_best = 5;
    config.verify = look;
    config.verify_user = looks;
    return config;
}

// The order by the cheap level alone, from a search without a second look.
static void the_best_are_ordered_anew(void **state) {
    Fixture *fixture = *state;
    Looks looks = {0};
    mf_Error error = {0};
    mf_SearchConfig plain = small_config(), config = looking_config(&looks);
    mf_Search *cheap = new_search(fixture->context, &plain);
    mf_Search *search = new_search(fixture->context, &config);
    for (uint32_t generation = 1; generation <= 3; generation++) {
        MUST(mf_search_advance(cheap, &error));
        MUST(mf_search_advance(search, &error));
        if (generation < 3)
            assert_true(mf_search_hash(cheap) == mf_search_hash(search));
    }
    assert_int_equal(looks.calls, 1);
    assert_int_equal(looks.genomes, 5);
    assert_int_equal(mf_search_verified(search), 5);
    assert_true(mf_search_hash(cheap) != mf_search_hash(search));

    // Those looked at are the five best; three of them come first, two last, each by the look.
    static const uint32_t places[] = {0, 1, 2, 18, 19};
    double before = __builtin_inf();
    for (uint32_t i = 0; i < 5; i++) {
        mf_Individual found = mf_search_individual(search, places[i]);
        uint32_t rank = 0;
        while (mf_search_individual(cheap, rank).id != found.id)
            rank++;
        assert_in_range(rank, 0, 4);
        uint8_t first = found.genome[0];
        if (first % 4 == 3) {
            assert_true(found.verified != found.verified);
        } else {
            assert_true(found.verified == -(double)first);
            assert_true(found.verified <= before); // a NaN is never followed by a number
        }
        before = found.verified == found.verified ? found.verified : -__builtin_inf();
    }
    // The others keep their order between.
    for (uint32_t rank = 3; rank < 18; rank++) {
        mf_Individual found = mf_search_individual(search, rank);
        assert_true(found.id == mf_search_individual(cheap, rank + 2).id);
        assert_true(found.verified != found.verified);
    }
    mf_search_destroy(cheap);
    mf_search_destroy(search);
}

static void only_the_better_half_has_children(void **state) {
    Fixture *fixture = *state;
    Looks looks = {0};
    mf_Error error = {0};
    mf_SearchConfig config = looking_config(&looks);
    mf_Search *search = new_search(fixture->context, &config);
    for (int i = 0; i < 3; i++)
        MUST(mf_search_advance(search, &error));
    uint64_t parents[3], dead[2], newest = 0;
    for (uint32_t i = 0; i < 3; i++)
        parents[i] = mf_search_individual(search, i).id;
    for (uint32_t i = 0; i < 2; i++)
        dead[i] = mf_search_individual(search, 18 + i).id;
    for (uint32_t i = 0; i < 20; i++) {
        uint64_t id = mf_search_individual(search, i).id;
        newest = id > newest ? id : newest;
    }
    MUST(mf_search_advance(search, &error));
    assert_int_equal(looks.calls, 1);
    assert_int_equal(mf_search_verified(search), 0);
    uint32_t children[3] = {0}, born = 0;
    for (uint32_t i = 0; i < 20; i++) {
        mf_Individual found = mf_search_individual(search, i);
        assert_true(found.id != dead[0] && found.id != dead[1]);
        if (found.id <= newest)
            continue;
        born++;
        for (uint32_t p = 0; p < 3; p++)
            children[p] += found.parent == parents[p];
    }
    assert_int_equal(born, 12);
    for (uint32_t p = 0; p < 3; p++)
        assert_int_equal(children[p], 4);
    mf_search_destroy(search);
}

static void a_look_that_fails_changes_nothing(void **state) {
    Fixture *fixture = *state;
    Looks looks = {0};
    mf_Error error = {0};
    mf_SearchConfig config = looking_config(&looks);
    mf_Search *search = new_search(fixture->context, &config);
    MUST(mf_search_advance(search, &error));
    MUST(mf_search_advance(search, &error));
    uint64_t before = mf_search_hash(search);
    looks.fails = true;
    assert_int_equal(mf_search_advance(search, &error), MF_IO);
    assert_string_equal(error.message, "the second look fails");
    assert_true(mf_search_hash(search) == before);
    assert_int_equal(mf_search_generation(search), 2);
    looks.fails = false;
    MUST(mf_search_advance(search, &error));

    // The same as if it had never failed.
    mf_Search *other = new_search(fixture->context, &config);
    for (int i = 0; i < 3; i++)
        MUST(mf_search_advance(other, &error));
    assert_true(mf_search_hash(other) == mf_search_hash(search));
    mf_search_destroy(search);
    mf_search_destroy(other);
}

static void bad_settings_are_refused(void **state) {
    Fixture *fixture = *state;
    Looks looks = {0};
    mf_Search *search;
    mf_Error error;
    mf_SearchConfig config = looking_config(&looks);
    config.verify_best = 1;
    assert_int_equal(mf_search_create(fixture->context, &config, &search, &error), MF_BAD_ARGUMENT);
    config.verify_best = 21;
    assert_int_equal(mf_search_create(fixture->context, &config, &search, &error), MF_BAD_ARGUMENT);
    assert_string_equal(error.message,
                        "search config.verify_best: expected 2 .. 20 (population), found 21");
    config.verify_best = 20;
    config.verify = NULL;
    assert_int_equal(mf_search_create(fixture->context, &config, &search, &error), MF_BAD_ARGUMENT);
}

// ---- the archive -------------------------------------------------------------------------------

static void a_resumed_run_ends_with_the_same_bits(void **state) {
    Fixture *fixture = *state;
    Looks looks = {0};
    mf_Error error = {0};
    mf_SearchConfig config = looking_config(&looks);
    uint64_t hashes[9];
    mf_Search *search = new_search(fixture->context, &config);
    for (uint32_t i = 1; i < 9; i++) {
        MUST(mf_search_advance(search, &error));
        hashes[i] = mf_search_hash(search);
    }
    mf_search_destroy(search);
    // Broken off after every generation, those of a second look included.
    for (uint32_t stop = 1; stop < 8; stop++) {
        empty_folder(fixture->folder);
        make_archive(fixture, &config, stop);
        search = new_search(fixture->context, &config);
        mf_Archive *archive = open_archive(fixture, true);
        MUST(mf_archive_resume(archive, search, NULL, NULL, &error));
        assert_true(mf_search_hash(search) == hashes[stop]);
        assert_int_equal(mf_search_verified(search), stop % 3 == 0 ? 5 : 0);
        evolve(archive, search, 8);
        assert_true(mf_search_hash(search) == hashes[8]);
        mf_archive_close(archive);
        mf_search_destroy(search);
    }
}

static void the_archive_tells_both_curves(void **state) {
    Fixture *fixture = *state;
    Looks looks = {0};
    mf_Error error = {0};
    mf_SearchConfig config = looking_config(&looks);
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
        if ((i + 1) % 3 == 0)
            assert_true(rows[i].verified == -(double)genome[0]);
        else
            assert_true(rows[i].verified != rows[i].verified);
    }
    mf_release(fixture->context, rows);
    mf_archive_close(archive);
}

static void other_settings_and_damage_are_refused(void **state) {
    Fixture *fixture = *state;
    Looks looks = {0};
    mf_Error error = {0};
    mf_SearchConfig config = looking_config(&looks), other = config;
    make_archive(fixture, &config, 3);
    mf_Archive *archive = open_archive(fixture, true);
    other.verify_every = 4;
    mf_Search *search = new_search(fixture->context, &other);
    assert_int_equal(mf_archive_resume(archive, search, NULL, NULL, &error), MF_BAD_ARGUMENT);
    assert_non_null(strstr(error.message, "search.verify_every: the archive was made with 3"));
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
        {"UPDATE verification SET best = 21", MF_CORRUPT, "best in 2 .. 20, found 3 and 21"},
        {"DELETE FROM verification", MF_CORRUPT, "every >= 1"},
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

static mf_Status run_and_resume(mf_Context *context, void *user, mf_Error *error) {
    const Fixture *fixture = user;
    Looks looks = {0};
    mf_SearchConfig config = looking_config(&looks);
    mf_Search *search = NULL;
    mf_Archive *archive = NULL;
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
    mf_archive_close(archive);
    mf_search_destroy(search);
    return status;
}

static void every_failing_call_is_survived(void **state) {
    Fixture *fixture = *state;
    assert_true(torture(fixture->context, run_and_resume, fixture, TORTURE_MUST_FAIL) > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(the_best_are_ordered_anew),
        WITH_FIXTURE(only_the_better_half_has_children),
        WITH_FIXTURE(a_look_that_fails_changes_nothing),
        WITH_FIXTURE(bad_settings_are_refused),
        WITH_FIXTURE(a_resumed_run_ends_with_the_same_bits),
        WITH_FIXTURE(the_archive_tells_both_curves),
        WITH_FIXTURE(other_settings_and_damage_are_refused),
        WITH_FIXTURE(every_failing_call_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
