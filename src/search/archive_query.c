// Reading an archive: the run, the statistics of its generations, single individuals. Each call
// reads the state committed when it starts, also while another process writes.
#include "search/archive_format.h"
#include "base/floats.h"
#include "search/population.h"

#include <inttypes.h>

mf_Status mf_archive_run(mf_Archive *archive, mf_ArchiveRun *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(archive != NULL && out != NULL, error, "archive: archive or out is NULL");
    mf_ArchiveLast last;
    MF_TRY(mf_archive_last(archive, &last, error));
    *out = archive->run;
    out->generations = last.number;
    out->seconds = last.seconds;
    out->simulated = last.simulated;
    return MF_OK;
}

mf_Status mf_archive_find_generation(mf_Archive *archive, uint32_t *generation, mf_Error *error) {
    mf_ArchiveLast last;
    MF_TRY(mf_archive_last(archive, &last, error));
    if (last.number == 0)
        return mf_fail_at(error, MF_NOT_FOUND, archive->database.path, 0, 0,
                          "the archive contains no generation yet");
    if (*generation > last.number)
        return mf_fail_at(error, MF_NOT_FOUND, archive->database.path, 0, 0,
                          "there is no generation %" PRIu32 "; the newest is %" PRIu32, *generation,
                          last.number);
    if (*generation == 0)
        *generation = last.number;
    return MF_OK;
}

// ---- statistics --------------------------------------------------------------------------------

static bool decode_statistics(sqlite3_stmt *statement, uint32_t expected,
                              mf_ArchiveGeneration *out) {
    int64_t number;
    out->generation = expected;
    return mf_archive_integer(statement, 0, expected, expected, &number) &&
           mf_archive_real(statement, 1, &out->best) && mf_archive_real(statement, 2, &out->mean) &&
           mf_archive_real(statement, 3, &out->seconds) && out->seconds >= 0 &&
           mf_archive_real(statement, 4, &out->verified);
}

static mf_Status read_statistics(mf_Archive *archive, mf_ArchiveGeneration *rows, uint32_t count,
                                 mf_Error *error) {
    mf_Database *database = &archive->database;
    sqlite3_stmt *statement;
    // In format 3 a champion has one verification.
    static const char *const sql[] = {
        [MF_ARCHIVE_FORMAT_PLAIN] =
            "SELECT number, best, mean, seconds, NULL FROM generation ORDER BY number",
        [MF_ARCHIVE_FORMAT_FORGETFUL] =
            "SELECT g.number, g.best, g.mean, g.seconds, v.fitness FROM generation g LEFT JOIN "
            "verified v ON v.generation = g.number AND v.id = g.champion ORDER BY g.number",
        [MF_ARCHIVE_FORMAT_VERIFIED] =
            "SELECT g.number, g.best, g.mean, g.seconds, (SELECT v.fitness FROM verified v WHERE "
            "v.id = g.champion AND v.generation BETWEEN (SELECT generation FROM individual WHERE "
            "id = g.champion) AND g.number LIMIT 1) FROM generation g ORDER BY g.number",
    };
    int64_t format =
        archive->format >= MF_ARCHIVE_FORMAT_GENERAL ? MF_ARCHIVE_FORMAT_VERIFIED : archive->format;
    mf_Status status = mf_database_prepare(database, sql[format], &statement, error);
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        bool row;
        status = mf_database_step(database, statement, &row, error);
        if (status == MF_OK && (!row || !decode_statistics(statement, i + 1, &rows[i])))
            status =
                mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                           "the archive is damaged (the row of generation %" PRIu32 ")", i + 1);
    }
    sqlite3_finalize(statement);
    return status;
}

mf_Status mf_archive_generations(mf_Archive *archive, mf_ArchiveGeneration **out, uint32_t *count,
                                 mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (archive == NULL || out == NULL || count == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "archive: archive, out or count is NULL");
    mf_ArchiveLast last;
    MF_TRY(mf_archive_last(archive, &last, error));
    // The count comes from the file: it must match the number of rows before memory is allocated
    // for them.
    int64_t stored;
    MF_TRY(
        mf_database_integer(&archive->database, "SELECT count(*) FROM generation", &stored, error));
    if (stored < last.number)
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "the archive is damaged (generations are missing)");
    mf_Context *context = archive->database.context;
    mf_ArchiveGeneration *rows = mf_allocate(context, last.number, sizeof *rows);
    if (rows == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, archive->database.path, 0, 0,
                          "no memory for %" PRIu32 " generations", last.number);
    mf_Status status = read_statistics(archive, rows, last.number, error);
    if (status != MF_OK) {
        mf_release(context, rows);
        return status;
    }
    *out = rows;
    *count = last.number;
    return MF_OK;
}

// ---- individuals -------------------------------------------------------------------------------

static mf_Status check_target(mf_Archive *archive, mf_Individual *out, const uint8_t *genome,
                              uint32_t genome_bytes, mf_Error *error) {
    if (archive == NULL || out == NULL || genome == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "archive: archive, out or genome is NULL");
    if (genome_bytes != archive->run.search.genome_bytes)
        return mf_fail_at(error, MF_BAD_ARGUMENT, archive->database.path, 0, 0,
                          "genome_bytes: the archive has %" PRIu32 ", the caller %" PRIu32,
                          archive->run.search.genome_bytes, genome_bytes);
    return MF_OK;
}

// Runs a query for one individual with its id bound; *found is false if there is none.
static mf_Status read_individual(mf_Archive *archive, sqlite3_stmt *statement, mf_Individual *out,
                                 uint8_t *genome, bool *found, mf_Error *error) {
    mf_Status status = mf_database_step(&archive->database, statement, found, error);
    if (status != MF_OK || !*found)
        return status;
    return mf_archive_read_member(archive, statement, out, genome, error);
}

// Reads the individual's verification, if there is one.
static mf_Status read_verified(mf_Archive *archive, mf_Individual *individual, mf_Error *error) {
    sqlite3_stmt *statement;
    if (archive->format == MF_ARCHIVE_FORMAT_PLAIN)
        return MF_OK;
    MF_TRY(mf_database_prepare(
        &archive->database,
        "SELECT fitness FROM verified WHERE id = ?1 ORDER BY generation DESC LIMIT 1", &statement,
        error));
    bool row;
    sqlite3_bind_int64(statement, 1, (int64_t)individual->id);
    mf_Status status = mf_database_step(&archive->database, statement, &row, error);
    if (status == MF_OK && row)
        mf_archive_real(statement, 0, &individual->verified);
    sqlite3_finalize(statement);
    return status;
}

static mf_Status query_individual(mf_Archive *archive, const char *sql, int64_t number,
                                  mf_Individual *out, uint8_t *genome, bool *found,
                                  mf_Error *error) {
    sqlite3_stmt *statement;
    MF_TRY(mf_database_prepare(&archive->database, sql, &statement, error));
    sqlite3_bind_int64(statement, 1, number);
    mf_Status status = read_individual(archive, statement, out, genome, found, error);
    sqlite3_finalize(statement);
    return status == MF_OK && *found ? read_verified(archive, out, error) : status;
}

mf_Status mf_archive_individual(mf_Archive *archive, uint64_t id, mf_Individual *out,
                                uint8_t *genome, uint32_t genome_bytes, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_TRY(check_target(archive, out, genome, genome_bytes, error));
    mf_Status status = MF_OK;
    bool found = false;
    if (id <= INT64_MAX)
        status = query_individual(archive,
                                  "SELECT " MF_ARCHIVE_INDIVIDUAL_COLUMNS
                                  ", i.fitness FROM individual i WHERE i.id = ?1",
                                  (int64_t)id, out, genome, &found, error);
    if (status == MF_OK && !found)
        return mf_fail_at(error, MF_NOT_FOUND, archive->database.path, 0, 0,
                          "there is no individual %" PRIu64, id);
    return status;
}

mf_Status mf_archive_best(mf_Archive *archive, uint32_t generation, mf_Individual *out,
                          uint8_t *genome, uint32_t genome_bytes, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_TRY(check_target(archive, out, genome, genome_bytes, error));
    MF_TRY(mf_archive_find_generation(archive, &generation, error));
    bool found;
    mf_Status status =
        query_individual(archive,
                         "SELECT " MF_ARCHIVE_INDIVIDUAL_COLUMNS
                         ", g.best FROM generation g JOIN individual i ON i.id = g.champion "
                         "WHERE g.number = ?1",
                         generation, out, genome, &found, error);
    if (status == MF_OK && !found && archive->run.search.replacement == MF_REPLACEMENT_CELL)
        return mf_fail_at(error, MF_NOT_FOUND, archive->database.path, 0, 0,
                          "generation %" PRIu32 ": no cell is filled", generation);
    if (status == MF_OK && !found)
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "generation %" PRIu32 ": its champion is missing", generation);
    return status;
}
