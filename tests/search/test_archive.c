// The archive: stored values are read back bit for bit, resuming after any generation gives the
// uninterrupted run, one writer at a time, consistent after every failure.
#include "support.h"

#include <sqlite3.h>

#include <fcntl.h>
#include <float.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_same_individual(mf_Individual found, mf_Individual expected, uint32_t bytes) {
    assert_true(found.id == expected.id && found.parent == expected.parent);
    assert_true(bits_of(found.fitness) == bits_of(expected.fitness));
    assert_memory_equal(found.genome, expected.genome, bytes);
}

// ---- round trip --------------------------------------------------------------------------------

SEARCH_TEST(gives_back_what_was_stored) {
    mf_SearchConfig config = WITH(small_config(), .mutation_rate = 0.1, .reuse_fitness = true);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    AUTO_ARCHIVE *archive = new_archive(fixture, &config);
    mf_ArchiveGeneration expected[6];
    mf_Individual champions[6];
    uint8_t genomes[6][16];
    for (uint32_t g = 0; g < 6; g++) {
        evolve(archive, search, g + 1);
        expected[g] = (mf_ArchiveGeneration){.generation = g + 1,
                                             .best = mf_search_best(search),
                                             .mean = mf_search_mean(search),
                                             .seconds = 0.1 * (g + 1)};
        champions[g] = mf_search_individual(search, 0);
        memcpy(genomes[g], champions[g].genome, 16);
        champions[g].genome = genomes[g];
    }
    mf_archive_close(archive);
    assert_int_equal(count_files(fixture->folder), 1);

    archive = open_archive(fixture, false);
    mf_ArchiveRun run;
    MUST(mf_archive_run(archive, &run, &error));
    assert_int_equal(run.search.struct_size, sizeof run.search);
    assert_int_equal(run.search.population, 20);
    assert_int_equal(run.search.survivors, 8);
    assert_int_equal(run.search.genome_bytes, 16);
    assert_true(run.search.seed == UINT64_C(0xfedcba9876543210));
    assert_true(run.search.mutation_rate == 0.1 && run.search.reuse_fitness);
    assert_true(run.search.evaluate == NULL && run.search.user == NULL);
    assert_string_equal(run.settings, SETTINGS);
    assert_true(run.model_hash == 11 && run.terrain_hash == UINT64_MAX);
    assert_int_equal(run.generations, 6);
    assert_true(run.seconds == 0.1 * 6 && run.simulated == 240.0 * 6);
    assert_string_equal(run.version, mf_version());

    mf_ArchiveGeneration *rows = NULL;
    uint32_t count = 0;
    MUST(mf_archive_generations(archive, &rows, &count, &error));
    assert_int_equal(count, 6);
    for (uint32_t g = 0; g < 6; g++) {
        assert_int_equal(rows[g].generation, g + 1);
        assert_true(bits_of(rows[g].best) == bits_of(expected[g].best));
        assert_true(bits_of(rows[g].mean) == bits_of(expected[g].mean));
        assert_true(rows[g].seconds == expected[g].seconds);
    }
    mf_release(fixture->context, rows);

    mf_Individual found;
    uint8_t genome[16];
    for (uint32_t g = 0; g <= 6; g++) {
        MUST(mf_archive_best(archive, g, &found, genome, 16, &error));
        assert_ptr_equal(found.genome, genome);
        assert_same_individual(found, champions[g == 0 ? 5 : g - 1], 16);
    }
    for (uint32_t rank = 0; rank < 20; rank++) {
        mf_Individual individual = mf_search_individual(search, rank);
        MUST(mf_archive_individual(archive, individual.id, &found, genome, 16, &error));
        assert_same_individual(found, individual, 16);
    }
    // 20 in the first generation, then 12 each.
    for (uint64_t id = 0; id < 80; id++)
        MUST(mf_archive_individual(archive, id, &found, genome, 16, &error));
    const uint64_t absent[] = {80, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX};
    mf_Individual before = found;
    for (int i = 0; i < 4; i++)
        MUST_FAIL(mf_archive_individual(archive, absent[i], &found, genome, 16, &error),
                  MF_NOT_FOUND, "");
    MUST_FAIL(mf_archive_best(archive, 7, &found, genome, 16, &error), MF_NOT_FOUND, "");
    MUST_FAIL(mf_archive_best(archive, 1, &found, genome, 17, &error), MF_BAD_ARGUMENT, "");
    assert_memory_equal(&before, &found, sizeof found);
}

SEARCH_TEST(empty_archive_is_fine) {
    mf_SearchConfig config = small_config();
    mf_archive_close(new_archive(fixture, &config));
    AUTO_ARCHIVE *archive = open_archive(fixture, false);
    mf_ArchiveRun run;
    MUST(mf_archive_run(archive, &run, &error));
    assert_int_equal(run.generations, 0);
    assert_true(run.seconds == 0 && run.simulated == 0);
    mf_ArchiveGeneration *rows = NULL;
    uint32_t count = 99;
    MUST(mf_archive_generations(archive, &rows, &count, &error));
    assert_int_equal(count, 0);
    mf_release(fixture->context, rows);
    mf_Individual found;
    uint8_t genome[16];
    MUST_FAIL(mf_archive_best(archive, 0, &found, genome, 16, &error), MF_NOT_FOUND, "");
    // Resuming from nothing makes the search new, whatever it was.
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    uint64_t hash = mf_search_hash(search);
    advance(search, 1);
    double seconds = 1, simulated = 1;
    MUST(mf_archive_resume(archive, search, &seconds, &simulated, &error));
    assert_int_equal(mf_search_generation(search), 0);
    assert_true(mf_search_hash(search) == hash && seconds == 0 && simulated == 0);
    mf_archive_close(NULL);
}

static const double odd_values[] = {
    NAN,     INFINITY, -INFINITY, -0.0,     0.0,         DBL_MAX, -DBL_MAX,
    DBL_MIN, 5e-324,   -5e-324,   0.1,      1.0 / 3,     1e15,    9007199254740993.0,
    -1,      1e300,    123456789, 1 + 1e-9, 0x1.8p-1050, 42};

static mf_Status odd(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                     double *fitness, mf_Error *error) {
    (void)genomes;
    (void)genome_bytes;
    for (uint32_t i = 0; i < count; i++)
        fitness[i] = odd_values[i];
    return MF_OK;
}

// Survivors get another fitness whenever they are evaluated again.
static mf_Status fading(void *user, const uint8_t *genomes, uint32_t count, uint32_t genome_bytes,
                        double *fitness, mf_Error *error) {
    mf_Status status = rugged(NULL, genomes, count, genome_bytes, fitness, error);
    double *factor = user;
    for (uint32_t i = 0; i < count; i++)
        fitness[i] *= *factor;
    *factor *= 0.9;
    return status;
}

SEARCH_TEST(fitness_is_stored_bit_for_bit) {
    for (int i = 0; i < 2; i++) {
        double factor = 1;
        mf_SearchConfig config =
            WITH(small_config(), .evaluate = i == 0 ? odd : fading, .user = &factor);
        uint64_t hash = make_archive(fixture, &config, 4);
        AUTO_ARCHIVE *archive = open_archive(fixture, false);
        AUTO_SEARCH *search = resumed(fixture->context, archive, &config);
        assert_true(mf_search_hash(search) == hash);
        remove(fixture->path);
    }
}

// ---- resume ------------------------------------------------------------------------------------

SEARCH_TEST(resuming_anywhere_equals_the_unbroken_run) {
    enum { GENERATIONS = 12 };
    for (int reuse = 0; reuse < 2; reuse++) {
        mf_SearchConfig config = WITH(small_config(), .reuse_fitness = reuse == 1);
        uint64_t hashes[GENERATIONS + 1];
        AUTO_SEARCH *unbroken = new_search(fixture->context, &config);
        hashes[0] = mf_search_hash(unbroken);
        for (uint32_t g = 1; g <= GENERATIONS; g++) {
            advance(unbroken, 1);
            hashes[g] = mf_search_hash(unbroken);
        }
        for (uint32_t k = 0; k <= GENERATIONS; k++) {
            assert_true(make_archive(fixture, &config, k) == hashes[k]);
            AUTO_ARCHIVE *archive = open_archive(fixture, true);
            AUTO_SEARCH *search = new_search(fixture->context, &config);
            double seconds = -1, simulated = -1;
            MUST(mf_archive_resume(archive, search, &seconds, &simulated, &error));
            assert_int_equal(mf_search_generation(search), k);
            assert_true(mf_search_hash(search) == hashes[k]);
            assert_true(seconds == 0.1 * k && simulated == 240.0 * k);
            evolve(archive, search, GENERATIONS);
            assert_true(mf_search_hash(search) == hashes[GENERATIONS]);
            // Back again, in the same process and with a search that is elsewhere.
            MUST(mf_archive_resume(archive, search, NULL, NULL, &error));
            assert_true(mf_search_hash(search) == hashes[GENERATIONS]);
            remove(fixture->path);
        }
    }
}

SEARCH_TEST(other_settings_are_refused_by_name) {
    const mf_SearchConfig stored = small_config();
    make_archive(fixture, &stored, 3);
    AUTO_ARCHIVE *archive = open_archive(fixture, true);
    const struct {
        mf_SearchConfig config;
        const char *name;
    } others[] = {
        {WITH(stored, .population = 21), "population"},
        {WITH(stored, .survivors = 7), "survivors"},
        {WITH(stored, .genome_bytes = 17), "genome_bytes"},
        {WITH(stored, .seed = stored.seed ^ UINT64_C(1) << 63), "seed"},
        {WITH(stored, .mutation_rate = nextafter(stored.mutation_rate, 1)), "mutation_rate"},
        {WITH(stored, .reuse_fitness = true), "reuse_fitness"},
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        AUTO_SEARCH *search = new_search(fixture->context, &others[i].config);
        uint64_t hash = mf_search_hash(search);
        mf_Error error = {0};
        assert_fails(mf_archive_resume(archive, search, NULL, NULL, &error), MF_BAD_ARGUMENT,
                     &error, others[i].name);
        assert_string_equal(error.file, fixture->path);
        assert_true(mf_search_hash(search) == hash);
        assert_fails(mf_archive_append(archive, search, 1, 1, &error), MF_BAD_ARGUMENT, &error,
                     others[i].name);
    }
}

SEARCH_TEST(only_the_next_generation_is_appended) {
    mf_SearchConfig config = small_config();
    AUTO_ARCHIVE *archive = new_archive(fixture, &config);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    MUST_FAIL(mf_archive_append(archive, search, 0, 0, &error), MF_BAD_ARGUMENT, "");
    advance(search, 1);
    const double bad[] = {NAN, -1, INFINITY};
    for (int i = 0; i < 3; i++) {
        MUST_FAIL(mf_archive_append(archive, search, bad[i], 0, &error), MF_BAD_ARGUMENT, "");
        MUST_FAIL(mf_archive_append(archive, search, 0, bad[i], &error), MF_BAD_ARGUMENT, "");
    }
    MUST(mf_archive_append(archive, search, 0, 0, &error));
    MUST_FAIL(mf_archive_append(archive, search, 0, 0, &error), MF_BAD_ARGUMENT,
              "expected generation 2 next, found 1");
    advance(search, 2);
    MUST_FAIL(mf_archive_append(archive, search, 0, 0, &error), MF_BAD_ARGUMENT, "");
    mf_archive_close(archive);
    archive = open_archive(fixture, false);
    MUST_FAIL(mf_archive_append(archive, search, 0, 0, &error), MF_BAD_ARGUMENT, "reading");
}

// ---- one writer, many readers ------------------------------------------------------------------

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Seconds that a refusal took.
static double assert_busy(const Fixture *fixture) {
    mf_Archive *second = (mf_Archive *)&second;
    mf_Error error = {0};
    double begin = now();
    assert_int_equal(mf_archive_open(fixture->context, fixture->path, true, &second, &error),
                     MF_BUSY);
    assert_null(second);
    assert_string_equal(error.file, fixture->path);
    mf_SearchConfig config = small_config();
    assert_int_equal(
        mf_archive_create(fixture->context, fixture->path, &config, "", 0, 0, &second, NULL),
        MF_BUSY);
    return now() - begin;
}

SEARCH_TEST(second_writer_is_refused) {
    mf_SearchConfig config = small_config();
    AUTO_ARCHIVE *first = new_archive(fixture, &config);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    evolve(first, search, 2);
    // At once: waiting for a lock takes SQLite's second. The fastest of some counts, for the
    // machine may be busy.
    double fastest = INFINITY;
    for (int i = 0; i < 5; i++)
        fastest = fmin(fastest, assert_busy(fixture));
    assert_true(fastest < 0.5);
    pid_t child = fork();
    if (child == 0) {
        mf_Context *context = NULL;
        if (mf_context_create(NULL, &context, NULL) != MF_OK)
            _exit(2);
        mf_Archive *second = NULL;
        mf_Status status = mf_archive_open(context, fixture->path, true, &second, NULL);
        _exit(status == MF_BUSY ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    // The failed attempts have not taken the lock away.
    assert_busy(fixture);
    evolve(first, search, 4);
    mf_archive_close(first);
    first = open_archive(fixture, true);
    evolve(first, search, 5);
}

SEARCH_TEST(readers_go_on_while_one_writes) {
    mf_SearchConfig config = small_config();
    mf_Archive *writer = new_archive(fixture, &config);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    mf_Archive *readers[3];
    for (int i = 0; i < 3; i++)
        readers[i] = open_archive(fixture, false);
    for (uint32_t g = 1; g <= 5; g++) {
        evolve(writer, search, g);
        for (int i = 0; i < 3; i++) {
            mf_ArchiveRun run;
            MUST(mf_archive_run(readers[i], &run, &error));
            assert_int_equal(run.generations, g);
        }
    }
    uint64_t hash = mf_search_hash(search);
    mf_archive_close(writer);
    // The writer is gone, the readers still read; one of them gives its state to a new search.
    mf_search_destroy(search);
    search = resumed(fixture->context, readers[2], &config);
    assert_true(mf_search_hash(search) == hash);
    writer = open_archive(fixture, true);
    evolve(writer, search, 6);
    for (int i = 0; i < 3; i++)
        mf_archive_close(readers[i]);
    mf_archive_close(writer);
    assert_int_equal(count_files(fixture->folder), 1);
}

SEARCH_TEST(waits_out_a_foreign_lock) {
    mf_SearchConfig config = small_config();
    AUTO_ARCHIVE *archive = new_archive(fixture, &config);
    AUTO_SEARCH *search = new_search(fixture->context, &config);
    evolve(archive, search, 1);
    sqlite3 *shell = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &shell), SQLITE_OK);
    assert_int_equal(sqlite3_exec(shell, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    advance(search, 1);
    MUST_FAIL(mf_archive_append(archive, search, 2, 2, &error), MF_BUSY, "");
    assert_int_equal(sqlite3_exec(shell, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(shell);
    MUST(mf_archive_append(archive, search, 2, 2, &error));
}

SEARCH_TEST(names_have_no_special_meaning) {
    mf_SearchConfig config = small_config();
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(fixture->folder), 0);
    static const char *const names[] = {":memory:", "file:x?mode=memory", "a b%20c#?.db", "plain"};
    for (int i = 0; i < 4; i++) {
        mf_Archive *archive = NULL;
        MUST(mf_archive_create(fixture->context, names[i], &config, NULL, 0, 0, &archive, &error));
        mf_archive_close(archive);
        assert_int_equal(access(names[i], R_OK | W_OK), 0);
        assert_int_equal(count_files("."), 1);
        remove(names[i]);
    }
    assert_int_equal(chdir(before), 0);
}

// ---- creating ----------------------------------------------------------------------------------

SEARCH_TEST(never_overwrites) {
    mf_SearchConfig config = small_config();
    mf_Archive *archive = (mf_Archive *)&config;
    mf_Error error = {0};
    file_put(fixture->path, "precious", 8);
    assert_int_equal(
        mf_archive_create(fixture->context, fixture->path, &config, "", 0, 0, &archive, &error),
        MF_BAD_ARGUMENT);
    assert_null(archive);
    assert_non_null(strstr(error.message, "exists"));
    size_t size;
    char *data = file_get(fixture->path, &size);
    assert_int_equal(size, 8);
    assert_memory_equal(data, "precious", 8);
    free(data);
    assert_int_equal(count_files(fixture->folder), 1);
    remove(fixture->path);
    // A link that points nowhere is also something.
    assert_int_equal(symlink("nowhere", fixture->path), 0);
    assert_int_equal(
        mf_archive_create(fixture->context, fixture->path, &config, "", 0, 0, &archive, &error),
        MF_BAD_ARGUMENT);
    assert_int_equal(count_files(fixture->folder), 1);
}

SEARCH_TEST(creation_refuses_bad_arguments) {
    mf_Archive *archive = NULL;
    mf_Error error = {0};
    mf_SearchConfig config = WITH(small_config(), .survivors = 0);
    assert_int_equal(
        mf_archive_create(fixture->context, fixture->path, &config, "", 0, 0, &archive, &error),
        MF_BAD_ARGUMENT);
    config = small_config();
    char *longest = malloc((1 << 20) + 2);
    memset(longest, 'x', (1 << 20) + 1);
    longest[(1 << 20) + 1] = '\0';
    assert_int_equal(
        mf_archive_create(fixture->context, fixture->path, &config, longest, 0, 0, &archive, NULL),
        MF_LIMIT);
    assert_int_equal(count_files(fixture->folder), 0);
    longest[1 << 20] = '\0';
    must(mf_archive_create(fixture->context, fixture->path, &config, longest, 0, 0, &archive,
                           &error),
         &error);
    mf_archive_close(archive);
    archive = open_archive(fixture, false);
    mf_ArchiveRun run;
    must(mf_archive_run(archive, &run, &error), &error);
    assert_string_equal(run.settings, longest);
    mf_archive_close(archive);
    free(longest);
    const char *nowhere = formatted("%s/no/such/folder", fixture->folder);
    mf_Status status =
        mf_archive_create(fixture->context, nowhere, &config, "", 0, 0, &archive, &error);
    assert_true(status == MF_IO || status == MF_NOT_FOUND);
    assert_string_equal(error.file, nowhere);
    assert_null(archive);
}

// ---- the disk ----------------------------------------------------------------------------------

// Runs a part of a test in a child that can change its rights; the child's exit status is 0 when
// all was well and else the number of the failed step.
typedef int (*ChildFn)(const Fixture *fixture);

static void run_child(const Fixture *fixture, ChildFn function) {
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(function(fixture));
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static int use_read_only_folder(const Fixture *fixture) {
    // The super-user may write everywhere, so become somebody else.
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
        return 1;
    mf_Archive *archive = NULL;
    mf_SearchConfig config = small_config();
    mf_Error error = {0};
    const char *other = formatted("%s/other", fixture->folder);
    if (mf_archive_create(fixture->context, other, &config, "", 0, 0, &archive, &error) != MF_IO ||
        strcmp(error.file, other) != 0)
        return 2;
    if (mf_archive_open(fixture->context, fixture->path, true, &archive, &error) != MF_IO)
        return 3;
    if (mf_archive_open(fixture->context, fixture->path, false, &archive, &error) != MF_OK)
        return 4;
    mf_Search *search = NULL;
    if (mf_search_create(fixture->context, &config, &search, &error) != MF_OK)
        return 5;
    if (mf_archive_resume(archive, search, NULL, NULL, &error) != MF_OK ||
        mf_search_generation(search) != 3)
        return 6;
    mf_search_destroy(search);
    mf_archive_close(archive);
    return 0;
}

SEARCH_TEST(read_only_folder_can_be_read) {
    // Somewhere that another user can get to; the build folder may be private.
    Fixture elsewhere = *fixture;
    strcpy(elsewhere.folder, "/tmp/mayfly-archive-XXXXXX");
    assert_non_null(mkdtemp(elsewhere.folder));
    snprintf(elsewhere.path, sizeof elsewhere.path, "%s/run.mayfly", elsewhere.folder);
    mf_SearchConfig config = small_config();
    make_archive(&elsewhere, &config, 3);
    assert_int_equal(chmod(elsewhere.path, 0444), 0);
    assert_int_equal(chmod(elsewhere.folder, 0555), 0);
    run_child(&elsewhere, use_read_only_folder);
    assert_int_equal(count_files(elsewhere.folder), 1);
    assert_int_equal(chmod(elsewhere.folder, 0755), 0);
    empty_folder(elsewhere.folder);
    rmdir(elsewhere.folder);
}

static int fill_the_disk(const Fixture *fixture) {
    signal(SIGXFSZ, SIG_IGN);
    mf_SearchConfig config = small_config();
    mf_Search *search = NULL;
    mf_Archive *archive = NULL;
    mf_Error error = {0};
    struct rlimit small = {.rlim_cur = 8 * 4096}, large;
    getrlimit(RLIMIT_FSIZE, &large);
    small.rlim_max = large.rlim_max;
    if (mf_search_create(fixture->context, &config, &search, NULL) != MF_OK)
        return 1;
    // Not even space for a new archive.
    struct rlimit none = {.rlim_cur = 4096, .rlim_max = large.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    if (mf_archive_create(fixture->context, fixture->path, &config, "", 0, 0, &archive, NULL) !=
        MF_IO)
        return 2;
    if (access(fixture->path, F_OK) == 0)
        return 3;
    setrlimit(RLIMIT_FSIZE, &large);
    if (mf_archive_create(fixture->context, fixture->path, &config, "", 0, 0, &archive, &error) !=
        MF_OK)
        return 4;
    setrlimit(RLIMIT_FSIZE, &small);
    mf_Status status = MF_OK;
    while (status == MF_OK && mf_search_generation(search) < 1000) {
        mf_search_advance(search, NULL);
        status = mf_archive_append(archive, search, 1, 1, &error);
    }
    if (status != MF_IO || strcmp(error.file, fixture->path) != 0)
        return 5;
    // Room again: the same generation goes in as if nothing had happened.
    setrlimit(RLIMIT_FSIZE, &large);
    if (mf_archive_append(archive, search, 1, 1, &error) != MF_OK)
        return 6;
    uint64_t hash = mf_search_hash(search);
    mf_archive_close(archive);
    if (mf_archive_open(fixture->context, fixture->path, true, &archive, &error) != MF_OK)
        return 7;
    if (mf_archive_resume(archive, search, NULL, NULL, &error) != MF_OK ||
        mf_search_hash(search) != hash)
        return 8;
    mf_archive_close(archive);
    mf_search_destroy(search);
    return 0;
}

SEARCH_TEST(full_disk_loses_nothing) {
    run_child(fixture, fill_the_disk);
}

// ---- the documentation -------------------------------------------------------------------------

static int count_row(void *user, int columns, char **values, char **names) {
    (void)columns;
    (void)names;
    ++*(int *)user;
    return 0;
}

SEARCH_TEST(documented_queries_work) {
    mf_SearchConfig config = small_config();
    make_archive(fixture, &config, 40);
    size_t size;
    AUTO(end_memory) char *text = file_get(MAYFLY_SOURCE_DIR "/docs/reference/archive.md", &size);
    text[size] = '\0';
    sqlite3 *database = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &database), SQLITE_OK);
    int queries = 0;
    for (char *at = text; (at = strstr(at, "```sql\n")) != NULL; queries++) {
        char *query = at + strlen("```sql\n"), *end = strstr(query, "```");
        assert_non_null(end);
        *end = '\0';
        int rows = 0;
        char *message = NULL;
        if (sqlite3_exec(database, query, count_row, &rows, &message) != SQLITE_OK)
            fail_msg("%s: %s", query, message);
        if (rows == 0)
            fail_msg("%s: no rows", query);
        at = end + 3;
    }
    assert_true(queries >= 6);
    sqlite3_close(database);
}

SEARCH_TEST(documented_tables_are_the_tables) {
    mf_SearchConfig config = small_config();
    mf_archive_close(new_archive(fixture, &config));
    size_t size;
    AUTO(end_memory) char *text = file_get(MAYFLY_SOURCE_DIR "/docs/reference/archive.md", &size);
    text[size] = '\0';
    sqlite3 *database = NULL;
    sqlite3_stmt *statement = NULL;
    assert_int_equal(sqlite3_open(fixture->path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_prepare_v2(database, "SELECT sql FROM sqlite_schema WHERE sql > ''",
                                        -1, &statement, NULL),
                     SQLITE_OK);
    int tables = 0;
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *definition = (const char *)sqlite3_column_text(statement, 0);
        if (strstr(text, definition) == NULL)
            fail_msg("docs/reference/archive.md lacks: %s", definition);
        tables++;
    }
    assert_int_equal(tables, 4);
    sqlite3_finalize(statement);
    sqlite3_close(database);
}
