// Every fallible call of the archive fails once: allocations, files, locks, database steps.
#include "support.h"
#include "search/database.h"

// Creates an archive and stores two generations.
static mf_Status create_and_append(mf_Context *context, void *user, mf_Error *error) {
    const Fixture *fixture = user;
    mf_SearchConfig config = small_config();
    AUTO_SEARCH *search = NULL;
    AUTO_ARCHIVE *archive = NULL;
    return try_archive(context, fixture, &config, 2, &search, &archive, error);
}

SEARCH_TEST(creating_survives_every_failure) {
    assert_true(torture(fixture->context, create_and_append, fixture, TORTURE_MUST_FAIL) > 100);
}

// ---- an archive of three generations -----------------------------------------------------------

typedef struct Stored {
    const Fixture *fixture; // its context is for what must not fail
    mf_Context *context;    // the one in which calls fail
    char *image;            // of the file with three generations
    size_t size;
    uint64_t hashes[5]; // by generation
} Stored;

static void put_back(const Stored *stored) {
    empty_folder(stored->fixture->folder);
    file_put(stored->fixture->path, stored->image, stored->size);
}

// Whatever happened, the file holds whole generations, and three of them at least.
static void assert_intact(const Stored *stored) {
    const Fixture *fixture = stored->fixture;
    mf_SearchConfig config = small_config();
    AUTO_ARCHIVE *archive = open_archive(fixture, true);
    AUTO_SEARCH *search = resumed(fixture->context, archive, &config);
    uint32_t generation = mf_search_generation(search);
    assert_in_range(generation, 3, 4);
    assert_true(mf_search_hash(search) == stored->hashes[generation]);
}

static mf_Status add_generation(const Stored *stored, mf_Archive *archive, mf_Search *search,
                                mf_Error *error) {
    uint64_t before = mf_search_hash(search);
    double seconds = -1, simulated = -1;
    mf_Status status = mf_archive_resume(archive, search, &seconds, &simulated, error);
    if (status != MF_OK) {
        assert_true(mf_search_hash(search) == before);
        assert_true(seconds == -1 && simulated == -1);
        return status;
    }
    assert_true(mf_search_hash(search) == stored->hashes[3]);
    MF_TRY(mf_search_advance(search, error));
    status = mf_archive_append(archive, search, 9, 9, error);
    // A failed append can be tried again.
    if (status != MF_OK)
        assert_int_equal(mf_archive_append(archive, search, 9, 9, NULL), MF_OK);
    return status;
}

static mf_Status open_and_append(const Stored *stored, mf_Context *context, mf_Error *error) {
    mf_SearchConfig config = small_config();
    AUTO_SEARCH *search = NULL;
    AUTO_ARCHIVE *archive = NULL;
    MF_TRY(mf_search_create(context, &config, &search, error));
    archive = (mf_Archive *)&config;
    mf_Status status = mf_archive_open(context, stored->fixture->path, true, &archive, error);
    if (status == MF_OK)
        return add_generation(stored, archive, search, error);
    assert_null(archive);
    return status;
}

static mf_Status resume_and_append(mf_Context *context, void *user, mf_Error *error) {
    put_back(user);
    mf_Status status = open_and_append(user, context, error);
    assert_intact(user);
    return status;
}

// Each query with outputs that must stay untouched when it fails.
static mf_Status query(mf_Archive *archive, mf_Context *context, mf_Error *error) {
    mf_ArchiveRun run = {.generations = 77};
    mf_Status status = mf_archive_run(archive, &run, error);
    assert_int_equal(run.generations, status == MF_OK ? 3 : 77);
    if (status != MF_OK)
        return status;
    mf_ArchiveGeneration *rows = NULL;
    uint32_t count = 77;
    status = mf_archive_generations(archive, &rows, &count, error);
    assert_true(status == MF_OK ? rows != NULL && count == 3 : rows == NULL && count == 77);
    mf_release(context, rows);
    for (int i = 0; i < 2 && status == MF_OK; i++) {
        uint8_t genome[16], untouched[16];
        memset(genome, 0xaa, sizeof genome);
        memset(untouched, 0xaa, sizeof untouched);
        mf_Individual individual = {.id = 77777};
        status = i == 0 ? mf_archive_best(archive, 2, &individual, genome, 16, error)
                        : mf_archive_individual(archive, 5, &individual, genome, 16, error);
        if (status == MF_OK)
            continue;
        assert_int_equal(individual.id, 77777);
        assert_memory_equal(genome, untouched, sizeof genome);
    }
    return status;
}

static mf_Status open_and_query(mf_Context *context, void *user, mf_Error *error) {
    const Stored *stored = user;
    AUTO_ARCHIVE *archive = NULL;
    MF_TRY(mf_archive_open(context, stored->fixture->path, false, &archive, error));
    return query(archive, context, error);
}

static void store(const Fixture *fixture, Stored *stored) {
    mf_SearchConfig config = small_config();
    *stored = (Stored){.fixture = fixture, .context = open_context(1)};
    for (uint32_t generation = 3; generation <= 4; generation++) {
        empty_folder(fixture->folder);
        stored->hashes[generation] = make_archive(fixture, &config, generation);
        if (generation == 3)
            stored->image = file_get(fixture->path, &stored->size);
    }
    put_back(stored);
}

static void drop(Stored *stored) {
    close_context(stored->context);
    free(stored->image);
}

SEARCH_TEST(resuming_survives_every_failure) {
    AUTO(drop) Stored stored;
    store(fixture, &stored);
    assert_true(torture(stored.context, resume_and_append, &stored, TORTURE_MUST_FAIL) > 80);
}

SEARCH_TEST(reading_survives_every_failure) {
    AUTO(drop) Stored stored;
    store(fixture, &stored);
    assert_true(torture(stored.context, open_and_query, &stored, TORTURE_MUST_FAIL) > 30);
}

// ---- steady states and MAP-Elites --------------------------------------------------------------

static mf_Status read_descent(mf_Archive *archive, mf_Context *context, uint64_t id,
                              mf_Error *error) {
    mf_Ancestor *line = NULL, *tree = NULL;
    mf_Elite *elites = NULL;
    mf_ArchiveDiversity diversity = {.alive = 77};
    uint64_t ids[4];
    uint32_t count;
    mf_Status status = mf_archive_ancestry(archive, id, &line, &count, error);
    if (status == MF_OK)
        status = mf_archive_phylogeny(archive, 5, &tree, &count, error);
    if (status == MF_OK)
        status = mf_archive_alive(archive, 4, ids, &count, error);
    if (status == MF_OK)
        status = mf_archive_cells(archive, &elites, &count, error);
    if (status == MF_OK)
        status = mf_archive_diversity(archive, 0, &diversity, error);
    assert_true(status == MF_OK || diversity.alive == 77);
    mf_release(context, line);
    mf_release(context, tree);
    mf_release(context, elites);
    return status;
}

// A run of two generations from its creation, resumed by another search, and all that is read of
// it.
static mf_Status live_in_cells(mf_Context *context, void *user, mf_Error *error) {
    const Fixture *fixture = user;
    const mf_SearchConfig config = WITH(in_cells(small_config()), .selection = MF_SELECTION_RANK);
    AUTO_SEARCH *search = NULL, *again = NULL;
    AUTO_ARCHIVE *archive = NULL;
    MF_TRY(try_archive(context, fixture, &config, 2, &search, &archive, error));
    MF_TRY(mf_search_create(context, &config, &again, error));
    MF_TRY(mf_archive_resume(archive, again, NULL, NULL, error));
    assert_true(mf_search_hash(again) == mf_search_hash(search));
    return read_descent(archive, context, mf_search_individual(search, 0).id, error);
}

SEARCH_TEST(repertoires_survive_every_failure) {
    assert_true(torture(fixture->context, live_in_cells, fixture, TORTURE_MUST_FAIL) > 150);
}
