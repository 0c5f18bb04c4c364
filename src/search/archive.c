// The archive of an evolution in one SQLite file: opening and closing. docs/reference/archive.md
// describes the tables.
//
// Journal. While a writer has it open the file is in write-ahead mode with synchronous=NORMAL:
// readers continue during a commit, and a commit needs no sync. After kill -9 the file contains
// every committed generation, since the kernel has the pages. A power cut can lose the last
// generations (those since the last checkpoint), never part of one and never the ones before. A
// clean close returns to rollback mode, so that a finished archive is one file that can be read
// anywhere, also in a folder without write permission.
//
// One writer. The writer holds flock() on the write-ahead file for as long as it is open; the
// kernel releases it with the process, so no stale lock remains. The lock is not on the archive
// itself, because closing any descriptor of that file would release SQLite's own locks on it;
// SQLite does not lock the write-ahead file, which exists from the first read in that mode until
// the last connection closes.
#include "search/archive_format.h"
#include "base/floats.h"
#include "search/population.h"
#include "base/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

// ---- opening -----------------------------------------------------------------------------------

static mf_Status check_identity(mf_Archive *archive, mf_Error *error) {
    mf_Database *database = &archive->database;
    int64_t application = 0, format = 0;
    const int64_t newest = MF_ARCHIVE_FORMAT_ISLANDS;
    MF_TRY(mf_database_integer(database, "PRAGMA application_id", &application, error));
    MF_TRY(mf_database_integer(database, "PRAGMA user_version", &format, error));
    if (application != MF_ARCHIVE_APPLICATION)
        return mf_fail_at(error, MF_BAD_FILE, database->path, 0, 0,
                          "expected a Mayfly archive, found a database of another application "
                          "(application_id %" PRId64 ")",
                          application);
    if (format < MF_ARCHIVE_FORMAT_PLAIN || format > newest)
        return mf_fail_at(error, MF_VERSION, database->path, 0, 0,
                          "expected archive format %d to %d, found %" PRId64,
                          MF_ARCHIVE_FORMAT_PLAIN, MF_ARCHIVE_FORMAT_ISLANDS, format);
    archive->format = format;
    return MF_OK;
}

static bool same_text(const mf_ArchiveCell *cell, const char *text) {
    return cell->type == SQLITE_TEXT && cell->bytes != NULL && cell->size == strlen(text) &&
           memcmp(cell->bytes, text, cell->size) == 0;
}

static mf_Status check_table(mf_Archive *archive, sqlite3_stmt *statement,
                             const mf_ArchiveTable *table, mf_Error *error) {
    mf_Database *database = &archive->database;
    bool row;
    sqlite3_bind_text(statement, 1, table->name, -1, SQLITE_STATIC);
    mf_Status status = mf_database_step(database, statement, &row, error);
    if (status == MF_OK && !row)
        status = mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                            "the archive is damaged (table '%s' is missing)", table->name);
    if (status == MF_OK) {
        mf_ArchiveCell cell = mf_archive_cell(statement, 0);
        if (!same_text(&cell, table->sql))
            status = mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                                "the archive is damaged (table '%s' is not as format %d has it)",
                                table->name, (int)archive->format);
    }
    sqlite3_reset(statement);
    return status;
}

static mf_Status check_tables(mf_Archive *archive, mf_Error *error) {
    sqlite3_stmt *statement;
    mf_Status status = mf_database_prepare(
        &archive->database, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1",
        &statement, error);
    for (int i = 0; i < mf_archive_table_count(archive->format) && status == MF_OK; i++)
        status = check_table(archive, statement, mf_archive_table(archive->format, i), error);
    sqlite3_finalize(statement);
    return status;
}

static mf_Status keep_settings(mf_Archive *archive, const mf_ArchiveCell *cell, mf_Error *error) {
    const char *path = archive->database.path;
    bool is_text = cell->type == SQLITE_TEXT && cell->bytes != NULL;
    if (!is_text || cell->size > MF_ARCHIVE_SETTINGS_LIMIT ||
        memchr(cell->bytes, '\0', cell->size) != NULL)
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0, "run.settings: expected text");
    archive->settings = mf_allocate(archive->database.context, cell->size + 1, 1);
    if (archive->settings == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory for the settings");
    memcpy(archive->settings, cell->bytes, cell->size);
    archive->run.settings = archive->settings;
    return MF_OK;
}

static mf_Status decode_run(mf_Archive *archive, sqlite3_stmt *statement, mf_Error *error) {
    const char *path = archive->database.path;
    int64_t population, survivors, genome_bytes, seed, reuse, model_hash, terrain_hash;
    const struct {
        int64_t *out, minimum, maximum;
    } integers[] = {
        {&population, 0, UINT32_MAX},
        {&survivors, 0, UINT32_MAX},
        {&genome_bytes, 0, UINT32_MAX},
        {&seed, INT64_MIN, INT64_MAX},
        {&reuse, 0, 1},
        {&model_hash, INT64_MIN, INT64_MAX},
        {&terrain_hash, INT64_MIN, INT64_MAX},
    };
    for (int i = 0; i < (int)(sizeof integers / sizeof *integers); i++) {
        if (!mf_archive_integer(statement, i, integers[i].minimum, integers[i].maximum,
                                integers[i].out))
            return mf_fail_at(error, MF_CORRUPT, path, 0, 0, "run.%s: not a number in range",
                              sqlite3_column_name(statement, i));
    }
    mf_SearchConfig config = mf_search_config();
    config.population = (uint32_t)population;
    config.survivors = (uint32_t)survivors;
    config.genome_bytes = (uint32_t)genome_bytes;
    config.seed = (uint64_t)seed;
    config.reuse_fitness = reuse == 1;
    mf_ArchiveCell library = mf_archive_cell(statement, 8);
    mf_ArchiveCell settings = mf_archive_cell(statement, 9);
    mf_Error detail;
    if (!mf_archive_real(statement, 7, &config.mutation_rate) ||
        mf_search_check_config(&config, &detail) != MF_OK)
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0, "the run's settings are out of range");
    if (library.type != SQLITE_TEXT || library.size >= sizeof archive->run.version)
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0, "run.library: expected a version");
    archive->run = (mf_ArchiveRun){
        .search = config,
        .model_hash = (uint64_t)model_hash,
        .terrain_hash = (uint64_t)terrain_hash,
    };
    if (library.size > 0)
        memcpy(archive->run.version, library.bytes, library.size);
    return keep_settings(archive, &settings, error);
}

// Reads the only row of a table by `decode`; `missing` is the message of MF_CORRUPT without a row.
static mf_Status read_row(mf_Archive *archive, const char *sql, const char *missing,
                          mf_Status (*decode)(mf_Archive *, sqlite3_stmt *, mf_Error *),
                          mf_Error *error) {
    sqlite3_stmt *statement;
    mf_Status status = mf_database_prepare(&archive->database, sql, &statement, error);
    bool row = false;
    MF_THEN(status, mf_database_step(&archive->database, statement, &row, error));
    if (status == MF_OK && !row)
        status = mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0, "%s", missing);
    MF_THEN(status, decode(archive, statement, error));
    sqlite3_finalize(statement);
    return status;
}

static mf_Status read_run(mf_Archive *archive, mf_Error *error) {
    return read_row(archive,
                    "SELECT population, survivors, genome_bytes, seed, reuse_fitness, model_hash, "
                    "terrain_hash, mutation_rate, library, settings FROM run WHERE id = 1",
                    "the archive is damaged (it contains no run)", decode_run, error);
}

static mf_Status check_generations(mf_Archive *archive, mf_Error *error) {
    int64_t whole = 0;
    mf_Status status = mf_database_integer(
        &archive->database,
        "SELECT count(*) = coalesce(max(number), 0) AND coalesce(min(number), 1) = 1 "
        "FROM generation",
        &whole, error);
    if (status == MF_OK && whole != 1)
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "the archive is damaged (generations are missing)");
    return status;
}

// ---- writing rights ----------------------------------------------------------------------------

// Runs a pragma and compares its result.
static mf_Status expect_answer(mf_Archive *archive, const char *pragma, const char *expected,
                               mf_Status otherwise, mf_Error *error) {
    sqlite3_stmt *statement;
    mf_Status status = mf_database_prepare(&archive->database, pragma, &statement, error);
    bool row = false;
    MF_THEN(status, mf_database_step(&archive->database, statement, &row, error));
    if (status == MF_OK) {
        mf_ArchiveCell cell = row ? mf_archive_cell(statement, 0) : (mf_ArchiveCell){0};
        if (!same_text(&cell, expected))
            status = mf_fail_at(error, otherwise, archive->database.path, 0, 0,
                                "%s: expected '%s', found '%.*s'", pragma, expected,
                                cell.type == SQLITE_TEXT ? (int)cell.size : 0,
                                cell.bytes == NULL ? "" : (const char *)cell.bytes);
    }
    sqlite3_finalize(statement);
    return status;
}

static mf_Status lock_writer(mf_Archive *archive, mf_Error *error) {
    mf_Database *database = &archive->database;
    const char *file = sqlite3_filename_wal(sqlite3_db_filename(database->handle, "main"));
    if (mf_allow(database->context, "open"))
        archive->writer_lock = open(file, O_RDWR | O_CLOEXEC);
    if (archive->writer_lock < 0)
        return mf_fail_at(error, MF_IO, database->path, 0, 0, "cannot open the -wal file: %s",
                          strerror(errno));
    if (mf_allow(database->context, "flock") && flock(archive->writer_lock, LOCK_EX | LOCK_NB) == 0)
        return MF_OK;
    if (errno == EWOULDBLOCK)
        return mf_fail_at(error, MF_BUSY, database->path, 0, 0,
                          "another process is writing to the archive");
    return mf_fail_at(error, MF_IO, database->path, 0, 0, "cannot lock the archive: %s",
                      strerror(errno));
}

static mf_Status prepare_inserts(mf_Archive *archive, mf_Error *error) {
    const struct {
        int64_t since; // format
        sqlite3_stmt **statement;
        const char *sql;
    } inserts[] = {
        {MF_ARCHIVE_FORMAT_PLAIN, &archive->insert_generation,
         "INSERT INTO generation (number, best, mean, champion, seconds, simulated, hash) "
         "VALUES (?1,?2,?3,?4,?5,?6,?7)"},
        {MF_ARCHIVE_FORMAT_PLAIN, &archive->insert_individual,
         "INSERT INTO individual (id, generation, parent, fitness, genome) "
         "VALUES (?1,?2,?3,?4,?5)"},
        {MF_ARCHIVE_FORMAT_PLAIN, &archive->insert_survivor,
         "INSERT INTO survivor (generation, id, fitness) VALUES (?1,?2,?3)"},
        {MF_ARCHIVE_FORMAT_VERIFIED, &archive->insert_verified,
         "INSERT INTO verified (generation, id, fitness) VALUES (?1,?2,?3)"},
        {MF_ARCHIVE_FORMAT_GENERAL, &archive->insert_living,
         "INSERT INTO living (generation, id) VALUES (?1,?2)"},
        {MF_ARCHIVE_FORMAT_GENERAL, &archive->insert_descriptors,
         "INSERT INTO place (id, descriptor, value) VALUES (?1,?2,?3)"},
    };
    for (size_t i = 0; i < sizeof inserts / sizeof *inserts; i++) {
        if (archive->format >= inserts[i].since)
            MF_TRY(mf_database_prepare(&archive->database, inserts[i].sql, inserts[i].statement,
                                       error));
    }
    return MF_OK;
}

static mf_Status begin_writing(mf_Archive *archive, mf_Error *error) {
    mf_Database *database = &archive->database;
    mf_Status status =
        expect_answer(archive, "PRAGMA journal_mode=WAL", "wal", MF_UNSUPPORTED, error);
    int64_t format;
    // The first read in write-ahead mode opens the file that the lock needs.
    MF_THEN(status, mf_database_integer(database, "PRAGMA user_version", &format, error));
    MF_THEN(status, lock_writer(archive, error));
    // Writing to a damaged file would damage it further.
    MF_THEN(status, expect_answer(archive, "PRAGMA quick_check(1)", "ok", MF_CORRUPT, error));
    MF_THEN(status, mf_database_run(database, "PRAGMA synchronous=NORMAL", error));
    return status == MF_OK ? prepare_inserts(archive, error) : status;
}

static mf_Status decode_verification(mf_Archive *archive, sqlite3_stmt *statement,
                                     mf_Error *error) {
    mf_SearchConfig *config = &archive->run.search;
    int64_t every = 0, best = 0;
    double disparity = 0;
    bool good = mf_archive_integer(statement, 0, 1, UINT32_MAX, &every) &&
                mf_archive_integer(statement, 1, 2, config->population, &best) &&
                mf_archive_real(statement, 2, &disparity) && disparity >= 0 && disparity <= 1000;
    if (!good)
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "verification: expected every >= 1, best in 2 .. %" PRIu32
                          " and disparity in 0 .. 1000",
                          config->population);
    config->verify_every = (uint32_t)every;
    config->verify_best = (uint32_t)best;
    config->verify_disparity = disparity;
    return MF_OK;
}

// Reads the settings of the verification, which formats 2 and 3 have and later ones may have.
static mf_Status read_verification(mf_Archive *archive, mf_Error *error) {
    int64_t rows = archive->format != MF_ARCHIVE_FORMAT_PLAIN;
    mf_Status status = MF_OK;
    if (archive->format >= MF_ARCHIVE_FORMAT_GENERAL)
        status = mf_database_integer(&archive->database, "SELECT count(*) FROM verification", &rows,
                                     error);
    if (status != MF_OK || rows == 0)
        return status;
    return read_row(archive,
                    archive->format == MF_ARCHIVE_FORMAT_FORGETFUL
                        ? "SELECT every, best, 0.0 FROM verification WHERE id = 1"
                        : "SELECT every, best, disparity FROM verification WHERE id = 1",
                    "the archive is damaged (the table 'verification' is empty)",
                    decode_verification, error);
}

static mf_Status open_checked(mf_Archive *archive, bool write, mf_Error *error) {
    MF_TRY(check_identity(archive, error));
    MF_TRY(check_tables(archive, error));
    // Its generations were ordered by a rule that no longer exists, so it cannot be resumed.
    if (write && archive->format == MF_ARCHIVE_FORMAT_FORGETFUL)
        return mf_fail_at(error, MF_VERSION, archive->database.path, 0, 0,
                          "made by a search that did not store verifications (format %d): it can "
                          "be read and replayed, but not resumed",
                          MF_ARCHIVE_FORMAT_FORGETFUL);
    MF_TRY(read_run(archive, error));
    MF_TRY(read_verification(archive, error));
    if (archive->format >= MF_ARCHIVE_FORMAT_GENERAL)
        MF_TRY(mf_archive_read_scheme(archive, error));
    if (write)
        MF_TRY(begin_writing(archive, error));
    MF_TRY(check_generations(archive, error));
    return mf_database_prepare(&archive->database,
                               "SELECT number, seconds, simulated, hash "
                               "FROM generation ORDER BY number DESC LIMIT 1",
                               &archive->last_generation, error);
}

mf_Status mf_archive_open(mf_Context *context, const char *path, bool write, mf_Archive **out,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "archive: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && path != NULL, error, "archive: context or path is NULL");
    mf_Archive *archive = mf_allocate(context, 1, sizeof *archive);
    if (archive == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to open the archive");
    archive->writer_lock = -1;
    mf_Status status = mf_database_open(context, path, write, &archive->database, error);
    if (status != MF_OK) {
        mf_release(context, archive);
        return status;
    }
    status = open_checked(archive, write, error);
    if (status != MF_OK)
        mf_archive_close(archive);
    else
        *out = archive;
    return status;
}

void mf_archive_close(mf_Archive *archive) {
    if (archive == NULL)
        return;
    mf_Context *context = archive->database.context;
    bool was_writing = archive->insert_survivor != NULL;
    sqlite3_finalize(archive->last_generation);
    sqlite3_finalize(archive->insert_generation);
    sqlite3_finalize(archive->insert_individual);
    sqlite3_finalize(archive->insert_survivor);
    sqlite3_finalize(archive->insert_verified);
    sqlite3_finalize(archive->insert_living);
    sqlite3_finalize(archive->insert_descriptors);
    if (was_writing) {
        // Fails while others read; then the file stays in write-ahead mode, which is valid.
        sqlite3_busy_timeout(archive->database.handle, 0);
        sqlite3_exec(archive->database.handle, "PRAGMA journal_mode=DELETE", NULL, NULL, NULL);
    }
    mf_database_close(&archive->database);
    if (archive->writer_lock >= 0)
        close(archive->writer_lock);
    mf_release(context, archive->settings);
    mf_release(context, archive);
}
