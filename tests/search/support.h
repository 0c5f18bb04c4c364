// Common code of the tests of the archive: a context checked for leaks, a temporary folder, cheap
// fitness functions, and small helpers for a search with an archive.
#ifndef MAYFLY_TESTS_SEARCH_SUPPORT_H
#define MAYFLY_TESTS_SEARCH_SUPPORT_H

#include "rig/rig.h"

#include <sqlite3.h>

#include <dirent.h>

typedef struct Fixture {
    mf_Context *context;
    char folder[256];
    char path[512]; // of an archive in the folder, not there yet
} Fixture;

static inline uint32_t count_files(const char *folder) {
    uint32_t count = 0;
    DIR *listing = opendir(folder);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(listing);
    return count;
}

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
    mf_ContextConfig config = mf_context_config();
    config.threads = 1; // some tests fork
    if (mf_context_create(&config, &fixture.context, NULL) != MF_OK)
        return 1;
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
    mf_SearchConfig config =
        WITH(mf_search_config(), .population = 20, .survivors = 8, .genome_bytes = 16,
             .seed = UINT64_C(0xfedcba9876543210), .evaluate = rugged);
    return config;
}

#define SETTINGS "name: test\n# \xc3\xa4\nduration: 120\n"

static inline mf_Search *new_search(mf_Context *context, const mf_SearchConfig *config) {
    mf_Search *search = NULL;
    MUST(mf_search_create(context, config, &search, &error));
    return search;
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

// Advances and stores until `generation` is reached.
static inline void evolve(mf_Archive *archive, mf_Search *search, uint32_t generation) {
    while (mf_search_generation(search) < generation) {
        MUST(mf_search_advance(search, &error));
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

#define SEARCH_TEST(name) TEST_WITH(name, setup_fixture, teardown_fixture)

#endif
