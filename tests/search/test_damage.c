// Invalid archives: foreign, damaged, truncated, edited by hand. Each gives a status and one line
// of error, or is read correctly; never read wrong.
#include "support.h"

#include <sys/stat.h>

static void refused(const Fixture *fixture, const char *path, mf_Status expected,
                    const char *said) {
    for (int write = 0; write < 2; write++) {
        mf_Error error = {0};
        mf_Archive *archive = (mf_Archive *)&error;
        mf_Status status = mf_archive_open(fixture->context, path, write, &archive, &error);
        if (status != expected || strstr(error.message, said) == NULL)
            fail_msg("expected \"%s\" saying \"%s\", found \"%s\": %s", mf_status_name(expected),
                     said, mf_status_name(status), error.message);
        assert_null(archive);
        assert_string_equal(error.file, path);
        assert_null(strchr(error.message, '\n'));
    }
}

SEARCH_TEST(distinguishes_foreign_files) {
    const char *path = fixture->path;
    refused(fixture, path, MF_NOT_FOUND, "No such file");
    refused(fixture, fixture->folder, MF_BAD_FILE, "folder");
    file_put(path, "", 0);
    refused(fixture, path, MF_BAD_FILE, "empty");
    file_put(path, "name: hexapod\n", 14);
    refused(fixture, path, MF_BAD_FILE, "not a SQLite database");
    char noise[8192];
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (char)(i * 37 ^ i >> 3);
    file_put(path, noise, sizeof noise);
    refused(fixture, path, MF_BAD_FILE, "not a SQLite database");
    remove(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    refused(fixture, path, MF_BAD_FILE, "regular file");
    remove(path);
    sql(fixture, "CREATE TABLE run (x); INSERT INTO run VALUES (1)");
    refused(fixture, path, MF_BAD_FILE, "another application");
    sql(fixture, "PRAGMA application_id = 252006673");
    refused(fixture, path, MF_BAD_FILE, "another application");
    assert_int_equal(mf_archive_open(fixture->context, NULL, false, NULL, NULL), MF_BAD_ARGUMENT);
}

SEARCH_TEST(reports_damage_by_name) {
    mf_SearchConfig config = small_config();
    static const Damage damages[] = {
        {"PRAGMA user_version = 6", MF_VERSION, "expected archive format 1 to 5, found 6"},
        {"PRAGMA user_version = 5", MF_CORRUPT, "table 'verification' is missing"},
        {"PRAGMA user_version = 4", MF_CORRUPT, "table 'verification' is missing"},
        {"PRAGMA user_version = 3", MF_CORRUPT, "table 'verification' is missing"},
        {"PRAGMA user_version = 2", MF_CORRUPT, "table 'verification' is missing"},
        {"PRAGMA user_version = 0", MF_VERSION, "found 0"},
        {"DROP TABLE run", MF_CORRUPT, "'run' is missing"},
        {"DROP TABLE generation", MF_CORRUPT, "'generation' is missing"},
        {"DROP TABLE individual", MF_CORRUPT, "'individual' is missing"},
        {"DROP TABLE survivor", MF_CORRUPT, "'survivor' is missing"},
        {"ALTER TABLE survivor ADD COLUMN x ANY", MF_CORRUPT, "'survivor' is not"},
        {"DROP TABLE generation; CREATE VIEW generation AS SELECT 1 AS number", MF_CORRUPT,
         "'generation' is missing"},
        {"DELETE FROM run", MF_CORRUPT, "no run"},
        {"DELETE FROM generation WHERE number = 2", MF_CORRUPT, "generations are missing"},
        {"UPDATE generation SET number = number + 1 WHERE number = 3", MF_CORRUPT,
         "generations are missing"},
        {"UPDATE run SET population = 1", MF_CORRUPT, "out of range"},
        {"UPDATE run SET survivors = 20", MF_CORRUPT, "out of range"},
        {"UPDATE run SET mutation_rate = 1.5", MF_CORRUPT, "out of range"},
        {"UPDATE run SET genome_bytes = 65537", MF_CORRUPT, "out of range"},
        {"UPDATE run SET genome_bytes = -1", MF_CORRUPT, "run.genome_bytes"},
        {"UPDATE run SET population = 4294967316", MF_CORRUPT, "run.population"},
        {"UPDATE run SET reuse_fitness = 2", MF_CORRUPT, "run.reuse_fitness"},
        {"UPDATE run SET library = printf('%100s', 'x')", MF_CORRUPT, "run.library"},
        {"UPDATE run SET settings = printf('%2000000s', 'x')", MF_CORRUPT, "run.settings"},
        {"UPDATE run SET settings = 'a' || char(0) || 'b'", MF_CORRUPT, "run.settings"},
    };
    assert_damages(fixture, &config, 3, false, damages);
}

SEARCH_TEST(reports_damage_on_resume) {
    mf_SearchConfig config = small_config();
    static const Damage damages[] = {
        {"UPDATE individual SET genome = zeroblob(16) WHERE id = 40", MF_CORRUPT, "stored hash"},
        {"UPDATE individual SET fitness = fitness * (1 + 1e-15) WHERE id = (SELECT champion FROM "
         "generation WHERE number = 3); UPDATE survivor SET fitness = fitness * (1 + 1e-15)",
         MF_CORRUPT, "stored hash"},
        {"UPDATE individual SET parent = 2 WHERE id = 40 AND parent <> 2; UPDATE individual SET "
         "parent = 3 WHERE id = 41 AND parent <> 3",
         MF_CORRUPT, "stored hash"},
        {"UPDATE generation SET hash = hash + 1", MF_CORRUPT, "stored hash"},
        {"UPDATE individual SET genome = zeroblob(15) WHERE id = 40", MF_CORRUPT,
         "individual 40: expected a genome of 16 bytes, found 15"},
        {"UPDATE individual SET genome = zeroblob(17) WHERE id = 43", MF_CORRUPT, "found 17"},
        {"UPDATE individual SET parent = NULL WHERE id = 40", MF_CORRUPT, "parent"},
        {"UPDATE individual SET parent = 32 WHERE id = 40", MF_CORRUPT, "parent"},
        {"UPDATE individual SET parent = -1 WHERE id = 40", MF_CORRUPT, "parent"},
        {"UPDATE individual SET generation = 2 WHERE id = 40", MF_CORRUPT,
         "expected an id in 20 .. 31"},
        {"UPDATE individual SET generation = 0 WHERE id = 40", MF_CORRUPT, "generation"},
        {"DELETE FROM individual WHERE id = 40", MF_CORRUPT, "found fewer"},
        {"DELETE FROM survivor WHERE generation = 3", MF_CORRUPT, "found fewer"},
        {"INSERT INTO survivor SELECT 3, id, 1.0 FROM individual WHERE id NOT IN (SELECT id FROM "
         "survivor WHERE generation = 3) AND id < 32 LIMIT 1",
         MF_CORRUPT, "found more"},
        {"UPDATE generation SET seconds = -1", MF_CORRUPT, "newest generation"},
        {"UPDATE generation SET simulated = 9e999", MF_CORRUPT, "newest generation"},
    };
    assert_damages(fixture, &config, 3, true, damages);
    // The champion of the newest generation and the statistics are checked when they are read.
    empty_folder(fixture->folder);
    make_archive(fixture, &config, 3);
    sql(fixture, "UPDATE generation SET champion = 9999");
    AUTO_ARCHIVE *archive = open_archive(fixture, false);
    mf_Individual found;
    uint8_t genome[16];
    assert_int_equal(mf_archive_best(archive, 3, &found, genome, 16, NULL), MF_CORRUPT);
}

// Opens, resumes and reads all. True when everything went well, and then the bits must be right.
static bool survives(const Fixture *fixture, const mf_SearchConfig *config, bool write,
                     uint64_t hash) {
    AUTO_ARCHIVE *archive = NULL;
    mf_Error error = {0};
    mf_Status status = mf_archive_open(fixture->context, fixture->path, write, &archive, &error);
    if (status != MF_OK) {
        assert_true(status == MF_CORRUPT || status == MF_BAD_FILE || status == MF_VERSION ||
                    status == MF_IO);
        assert_null(archive);
        return false;
    }
    AUTO_SEARCH *search = new_search(fixture->context, config);
    mf_ArchiveGeneration *rows = NULL;
    uint32_t count;
    mf_Individual found;
    uint8_t genome[16];
    status = mf_archive_resume(archive, search, NULL, NULL, &error);
    if (status == MF_OK && mf_search_generation(search) == 3)
        assert_true(mf_search_hash(search) == hash);
    mf_archive_best(archive, 0, &found, genome, 16, NULL);
    if (mf_archive_generations(archive, &rows, &count, NULL) == MF_OK)
        mf_release(fixture->context, rows);
    return status == MF_OK;
}

SEARCH_TEST(no_truncation_goes_unnoticed) {
    mf_SearchConfig config = small_config();
    uint64_t hash = make_archive(fixture, &config, 3);
    size_t size;
    AUTO(end_memory) char *image = file_get(fixture->path, &size);
    assert_true(survives(fixture, &config, false, hash));
    for (size_t length = 0; length < size; length += length < 200 ? 7 : 511) {
        empty_folder(fixture->folder);
        file_put(fixture->path, image, length);
        assert_false(survives(fixture, &config, length % 2 == 0, hash));
    }
}

SEARCH_TEST(no_flipped_byte_changes_the_bits) {
    mf_SearchConfig config = small_config();
    uint64_t hash = make_archive(fixture, &config, 3);
    size_t size;
    AUTO(end_memory) char *image = file_get(fixture->path, &size);
    uint32_t noticed = 0;
    for (uint32_t trial = 0; trial < 1500; trial++) {
        uint32_t words[4];
        mf_random(1, 0, 0, trial, words);
        size_t at = trial < 100 ? trial : words[0] % size;
        char old = image[at];
        image[at] = (char)(old ^ (1 + words[1] % 255));
        empty_folder(fixture->folder);
        file_put(fixture->path, image, size);
        noticed += !survives(fixture, &config, trial % 2 == 0, hash);
        image[at] = old;
    }
    // Free space and dead bytes may change unseen; what is in use may not.
    assert_true(noticed > 100);
}

SEARCH_TEST(no_lost_page_is_written_over) {
    mf_SearchConfig config = small_config();
    // Long enough that resuming needs only a few of the pages.
    make_archive(fixture, &config, 100);
    size_t size;
    char page[4096];
    AUTO(end_memory) char *image = file_get(fixture->path, &size);
    assert_true(size >= 20 * sizeof page);
    for (size_t at = 0; at < size; at += sizeof page) {
        memcpy(page, image + at, sizeof page);
        memset(image + at, 0, sizeof page);
        empty_folder(fixture->folder);
        file_put(fixture->path, image, size);
        mf_Archive *archive = NULL;
        mf_Error error = {0};
        assert_int_equal(mf_archive_open(fixture->context, fixture->path, true, &archive, &error),
                         at == 0 ? MF_BAD_FILE : MF_CORRUPT);
        assert_null(archive);
        memcpy(image + at, page, sizeof page);
    }
}

SEARCH_TEST(own_additions_do_no_harm) {
    mf_SearchConfig config = small_config();
    make_archive(fixture, &config, 3);
    sql(fixture, "CREATE INDEX by_parent ON individual (parent);"
                 "CREATE VIEW alive AS SELECT * FROM survivor;"
                 "CREATE TABLE note (text);"
                 "CREATE TRIGGER bomb AFTER INSERT ON individual BEGIN "
                 "DELETE FROM individual; END;");
    mf_Archive *archive = open_archive(fixture, true);
    AUTO_SEARCH *search = resumed(fixture->context, archive, &config);
    evolve(archive, search, 5);
    mf_archive_close(archive);
    assert_true(survives(fixture, &config, true, 0));
}
