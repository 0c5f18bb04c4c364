// Common code of the tests of the archive: a context checked for leaks, a temporary folder, cheap
// fitness functions, and small helpers for a search with an archive.
#pragma once

#include "rig/rig.h"

#include <sqlite3.h>

#include <dirent.h>

typedef struct Fixture {
    mf_Context *context;
    char folder[256];
    char path[512]; // of an archive in the folder, not there yet
} Fixture;

static inline void empty_folder(const char *folder) {
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;) {
        if (entry->d_name[0] != '.' || strlen(entry->d_name) > 2)
            remove(formatted("%s/%s", folder, entry->d_name));
    }
    closedir(listing);
}

static inline int setup_fixture_in(const char *parent, void **state) {
    static Fixture fixture;
    memset(&fixture, 0, sizeof fixture);
    fixture.context = open_context(1); // some tests fork
    snprintf(fixture.folder, sizeof fixture.folder, "%s/mayfly-archive-XXXXXX", parent);
    if (mkdtemp(fixture.folder) == NULL)
        return 1;
    snprintf(fixture.path, sizeof fixture.path, "%s/run.mayfly", fixture.folder);
    *state = &fixture;
    return 0;
}

// In memory where there is such a folder: hundreds of small files, each synced, take minutes on a
// slow disk.
static inline int setup_fixture(void **state) {
    return setup_fixture_in(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : MAYFLY_BINARY_DIR, state);
}

static inline int setup_fixture_on_disk(void **state) {
    return setup_fixture_in(MAYFLY_BINARY_DIR, state);
}

static inline int teardown_fixture(void **state) {
    Fixture *fixture = *state;
    empty_folder(fixture->folder);
    rmdir(fixture->folder);
    size_t live = mf_context_live_bytes(fixture->context);
    mf_context_destroy(fixture->context);
    if (live != 0)
        fprintf(stderr, "%zu bytes leaked\n", live);
    return live != 0;
}

// A rugged but cheap fitness: weighted set bits, with a share of genomes that fail (NaN).
static inline mf_Status rugged(void *user, const uint8_t *genomes, uint32_t count,
                               uint32_t genome_bytes, double *fitness, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *genome = genomes + (size_t)i * genome_bytes;
        uint64_t hash = mf_hash_bytes(MF_HASH_START, genome, genome_bytes);
        fitness[i] = hash % 16 == 0 ? __builtin_nan("") : (double)(hash % 1000) / 7;
        for (uint32_t k = 0; k < genome_bytes; k++)
            fitness[i] += __builtin_popcount(genome[k]) * 3.3;
    }
    return MF_OK;
}

static inline mf_SearchConfig small_config(void) {
    return WITH(mf_search_config(), .population = 20, .survivors = 8, .genome_bytes = 16,
                .seed = UINT64_C(0xfedcba9876543210), .evaluate = rugged);
}

// Descriptors: share of set bits in the first half, and first byte; NaN for some.
static inline mf_Status describe(void *user, const uint8_t *genomes, uint32_t count,
                                 uint32_t genome_bytes, double *values, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *genome = genomes + (size_t)i * genome_bytes;
        double bits = 0;
        for (uint32_t k = 0; k < genome_bytes / 2; k++)
            bits += __builtin_popcount(genome[k]);
        values[2 * i] = bits / (4.0 * genome_bytes);
        values[2 * i + 1] = genome[0] == 255 ? __builtin_nan("") : genome[0];
    }
    return MF_OK;
}

// MAP-Elites in 24 cells.
static inline mf_SearchConfig in_cells(mf_SearchConfig config) {
    return WITH(config, .replacement = MF_REPLACEMENT_CELL, .descriptor_count = 2,
                .descriptors[0] = ((mf_Descriptor){"bits", 0.3, 0.7, 6}),
                .descriptors[1] = ((mf_Descriptor){"first", 0, 256, 4}), .describe = describe);
}

#define SETTINGS "name: test\n# \xc3\xa4\nduration: 120\n"

static inline mf_Search *new_search(mf_Context *context, const mf_SearchConfig *config) {
    mf_Search *search = NULL;
    MUST(mf_search_create(context, config, &search, &error));
    return search;
}

static inline void advance(mf_Search *search, uint32_t generations) {
    for (uint32_t i = 0; i < generations; i++)
        MUST(mf_search_advance(search, &error));
}

static inline mf_Archive *new_archive(const Fixture *fixture, const mf_SearchConfig *config) {
    mf_Archive *archive = NULL;
    MUST(mf_archive_create(fixture->context, fixture->path, config, SETTINGS, 11, UINT64_MAX,
                           &archive, &error));
    return archive;
}

static inline mf_Archive *open_archive(const Fixture *fixture, bool write) {
    mf_Archive *archive = NULL;
    MUST(mf_archive_open(fixture->context, fixture->path, write, &archive, &error));
    return archive;
}

// A search that goes on with what is stored.
static inline mf_Search *resumed(mf_Context *context, mf_Archive *archive,
                                 const mf_SearchConfig *config) {
    mf_Search *search = new_search(context, config);
    MUST(mf_archive_resume(archive, search, NULL, NULL, &error));
    return search;
}

// Advances and stores until `generation` is reached.
static inline void evolve(mf_Archive *archive, mf_Search *search, uint32_t generation) {
    while (mf_search_generation(search) < generation) {
        advance(search, 1);
        double time = mf_search_generation(search);
        MUST(mf_archive_append(archive, search, 0.1 * time, 240.0 * time, &error));
    }
}

// A file with `generations` generations; returns the hash of the last population.
static inline uint64_t make_archive(const Fixture *fixture, const mf_SearchConfig *config,
                                    uint32_t generations) {
    AUTO_SEARCH *search = new_search(fixture->context, config);
    AUTO_ARCHIVE *archive = new_archive(fixture, config);
    evolve(archive, search, generations);
    return mf_search_hash(search);
}

// Changes a file behind the archive's back.
static inline void sql(const Fixture *fixture, const char *text) {
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &database), SQLITE_OK);
    char *message = NULL;
    if (sqlite3_exec(database, text, NULL, NULL, &message) != SQLITE_OK)
        fail_msg("%s: %s", text, message);
    sqlite3_close(database);
}

// An archive that is changed by hand: what opening it, or resuming a search from it, gives.
typedef struct Damage {
    const char *sql;
    mf_Status status;
    const char *message; // a part of it
} Damage;

static inline void assert_damage(const Fixture *fixture, const mf_SearchConfig *config,
                                 uint32_t generations, bool opens, const Damage *damage) {
    empty_folder(fixture->folder);
    make_archive(fixture, config, generations);
    sql(fixture, damage->sql);
    AUTO_SEARCH *search = new_search(fixture->context, config);
    const uint64_t hash = mf_search_hash(search);
    double seconds = 5, simulated = 5;
    for (int write = 0; write < 2; write++) {
        AUTO_ARCHIVE *archive = (mf_Archive *)&search;
        mf_Error error = {0};
        mf_Status status =
            mf_archive_open(fixture->context, fixture->path, write, &archive, &error);
        assert_int_equal(status == MF_OK, opens);
        if (status == MF_OK)
            status = mf_archive_resume(archive, search, &seconds, &simulated, &error);
        else
            assert_null(archive);
        if (status != damage->status || strstr(error.message, damage->message) == NULL)
            fail_msg("%s: expected \"%s\", found \"%s\": %s", damage->sql, damage->message,
                     mf_status_name(status), error.message);
        assert_string_equal(error.file, fixture->path);
        assert_null(strchr(error.message, '\n'));
    }
    assert_true(seconds == 5 && simulated == 5 && mf_search_hash(search) == hash);
    assert_int_equal(mf_search_generation(search), 0);
}

// All rows of a table.
#define assert_damages(fixture, config, generations, opens, damages)                               \
    for (size_t damage = 0; damage < sizeof(damages) / sizeof *(damages); damage++)                \
    assert_damage(fixture, config, generations, opens, &(damages)[damage])

// For scenarios of torture: a search of so many generations in a new archive. Where none can be
// made nothing is left behind, the files beside it included.
static inline mf_Status try_archive(mf_Context *context, const Fixture *fixture,
                                    const mf_SearchConfig *config, int generations,
                                    mf_Search **search, mf_Archive **archive, mf_Error *error) {
    empty_folder(fixture->folder);
    MF_TRY(mf_search_create(context, config, search, error));
    *archive = (mf_Archive *)search;
    mf_Status status =
        mf_archive_create(context, fixture->path, config, SETTINGS, 1, 2, archive, error);
    if (status != MF_OK) {
        assert_null(*archive);
        assert_string_equal(error->file, fixture->path);
        assert_int_equal(count_files(fixture->folder), 0);
        return status;
    }
    for (int i = 0; i < generations; i++) {
        MF_TRY(mf_search_advance(*search, error));
        MF_TRY(mf_archive_append(*archive, *search, i, i, error));
    }
    return MF_OK;
}

#define SEARCH_TEST(name) TEST_ON_WITH(name, Fixture *fixture, setup_fixture, teardown_fixture)
