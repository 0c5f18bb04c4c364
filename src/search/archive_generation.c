// Storing a generation, and restoring the newest one.
//
// A generation is one transaction: its statistics, the individuals born in it, and which of the
// older ones are still alive. The population's hash is stored with it, so a resumed search either
// has the bits of an uninterrupted run or is refused.
#include "search/archive_format.h"
#include "base/floats.h"
#include "search/population.h"

#include <inttypes.h>
#include <string.h>

static bool is_duration(double seconds) {
    return seconds >= 0 && __builtin_isfinite(seconds);
}

// ---- the newest generation ---------------------------------------------------------------------

static mf_Status decode_last(mf_Archive *archive, mf_ArchiveLast *out, mf_Error *error) {
    sqlite3_stmt *statement = archive->last_generation;
    int64_t number, hash;
    mf_ArchiveLast last;
    bool good = mf_archive_integer(statement, 0, 1, UINT32_MAX, &number) &&
                mf_archive_real(statement, 1, &last.seconds) && is_duration(last.seconds) &&
                mf_archive_real(statement, 2, &last.simulated) && is_duration(last.simulated) &&
                mf_archive_integer(statement, 3, INT64_MIN, INT64_MAX, &hash);
    if (!good)
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "the archive is damaged (the newest generation's row)");
    last.number = (uint32_t)number;
    last.hash = (uint64_t)hash;
    *out = last;
    return MF_OK;
}

mf_Status mf_archive_last(mf_Archive *archive, mf_ArchiveLast *out, mf_Error *error) {
    bool row;
    mf_Status status = mf_database_step(&archive->database, archive->last_generation, &row, error);
    if (status == MF_OK && row)
        status = decode_last(archive, out, error);
    else if (status == MF_OK)
        *out = (mf_ArchiveLast){0};
    sqlite3_reset(archive->last_generation);
    return status;
}

// ---- append ------------------------------------------------------------------------------------

static mf_Status insert_generation(mf_Archive *archive, const mf_Search *search, double seconds,
                                   double simulated, mf_Error *error) {
    const int64_t champion = search->count > 0 ? (int64_t)search->current.id[0] : -1;
    const mf_SqlValue values[] = {MF_SQL_INTEGER(search->generation),
                                  MF_SQL_REAL(mf_search_best(search)),
                                  MF_SQL_REAL(mf_search_mean(search)),
                                  MF_SQL_INTEGER(champion), // -1: no cell is filled
                                  MF_SQL_REAL(seconds),
                                  MF_SQL_REAL(simulated),
                                  MF_SQL_INTEGER(mf_search_hash(search))};
    return mf_database_execute(&archive->database, archive->insert_generation, values, 7, error);
}

static mf_Status insert_newborn(mf_Archive *archive, const mf_Search *search,
                                const mf_Population *population, uint32_t i, mf_Error *error) {
    const uint32_t bytes = search->config.genome_bytes;
    const uint8_t *genome = population->genomes + (size_t)i * bytes;
    // Format 4 omits the zeros at the end.
    const bool trims = archive->format >= MF_ARCHIVE_FORMAT_GENERAL;
    const mf_SqlValue values[] = {
        MF_SQL_INTEGER(population->id[i]),
        MF_SQL_INTEGER(search->generation),
        {.type = population->parent[i] == UINT64_MAX ? SQLITE_NULL : SQLITE_INTEGER,
         .integer = (int64_t)population->parent[i]},
        MF_SQL_REAL(population->fitness[i]),
        {.type = SQLITE_BLOB,
         .bytes = genome,
         .size = (int)(trims ? mf_genome_used(genome, bytes) : bytes)}};
    return mf_database_execute(&archive->database, archive->insert_individual, values, 5, error);
}

// A row of the generation and an individual, with its one of `numbers`; NULL: without.
static mf_Status insert_member(mf_Archive *archive, sqlite3_stmt *statement,
                               const mf_Search *search, uint32_t rank, const double *numbers,
                               mf_Error *error) {
    const mf_SqlValue values[] = {MF_SQL_INTEGER(search->generation),
                                  MF_SQL_INTEGER(search->current.id[rank]),
                                  MF_SQL_REAL(numbers != NULL ? numbers[rank] : 0.0)};
    return mf_database_execute(&archive->database, statement, values, numbers != NULL ? 3 : 2,
                               error);
}

static mf_Status insert_descriptors(mf_Archive *archive, const mf_Search *search, uint32_t i,
                                    mf_Error *error) {
    const uint32_t dimensions = search->config.descriptor_count;
    for (uint32_t d = 0; d < dimensions; d++) {
        const mf_SqlValue values[] = {
            MF_SQL_INTEGER(search->born.id[i]), MF_SQL_INTEGER(d),
            MF_SQL_REAL(search->born.descriptor[(size_t)i * dimensions + d])};
        MF_TRY(
            mf_database_execute(&archive->database, archive->insert_descriptors, values, 3, error));
    }
    return MF_OK;
}

// Of a steady state: all births, also of those replaced, and who is alive.
static mf_Status insert_steady(mf_Archive *archive, const mf_Search *search, mf_Error *error) {
    mf_Status status = MF_OK;
    uint32_t births = mf_search_births(&search->config, search->generation);
    for (uint32_t i = 0; i < births && status == MF_OK; i++) {
        status = insert_newborn(archive, search, &search->born, i, error);
        MF_THEN(status, insert_descriptors(archive, search, i, error));
    }
    for (uint32_t rank = 0; rank < search->count && status == MF_OK; rank++)
        status = insert_member(archive, archive->insert_living, search, rank, NULL, error);
    return status;
}

static mf_Status insert_members(mf_Archive *archive, const mf_Search *search, mf_Error *error) {
    uint64_t first_id = mf_search_first_id(&search->config, search->generation);
    mf_Status status = MF_OK;
    for (uint32_t rank = 0; rank < search->count && status == MF_OK; rank++) {
        status = search->current.id[rank] >= first_id
                     ? insert_newborn(archive, search, &search->current, rank, error)
                     : insert_member(archive, archive->insert_survivor, search, rank,
                                     search->current.fitness, error);
        if (status == MF_OK && search->current.checked[rank] == MF_VERIFIED_NOW)
            status = insert_member(archive, archive->insert_verified, search, rank,
                                   search->current.verified, error);
    }
    return status;
}

static mf_Status insert_all(mf_Archive *archive, const mf_Search *search, double seconds,
                            double simulated, mf_Error *error) {
    mf_ArchiveLast last;
    MF_TRY(mf_archive_last(archive, &last, error));
    if (search->generation != last.number + UINT64_C(1))
        return mf_fail_at(error, MF_BAD_ARGUMENT, archive->database.path, 0, 0,
                          "expected generation %" PRIu64 " next, found %" PRIu32 " in the search",
                          last.number + UINT64_C(1), search->generation);
    MF_TRY(insert_generation(archive, search, seconds, simulated, error));
    return mf_search_is_steady(&search->config) ? insert_steady(archive, search, error)
                                                : insert_members(archive, search, error);
}

// What is written into a file that was removed is lost when the run ends.
static mf_Status check_placement(const mf_Database *database, mf_Error *error) {
    int moved = 0;
    sqlite3_file_control(database->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return moved == 0 ? MF_OK
                      : mf_fail_at(error, MF_IO, database->path, 0, 0,
                                   "was removed or replaced while the run was writing it");
}

mf_Status mf_archive_append(mf_Archive *archive, const mf_Search *search, double seconds,
                            double simulated, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(archive != NULL && search != NULL, error, "archive: archive or search is NULL");
    mf_Database *database = &archive->database;
    if (!database->writable)
        return mf_fail_at(error, MF_BAD_ARGUMENT, database->path, 0, 0,
                          "the archive was opened for reading only");
    if (!is_duration(seconds) || !is_duration(simulated))
        return mf_fail_at(error, MF_BAD_ARGUMENT, database->path, 0, 0,
                          "expected finite times >= 0 s, found %g and %g", seconds, simulated);
    MF_TRY(mf_archive_compare(archive, &search->config, error));
    MF_TRY(check_placement(database, error));
    MF_TRY(mf_database_run(database, "BEGIN IMMEDIATE", error));
    mf_Status status = insert_all(archive, search, seconds, simulated, error);
    MF_THEN(status, mf_database_run(database, "COMMIT", error));
    if (status != MF_OK)
        mf_database_roll_back(database);
    return status;
}

// ---- resume ------------------------------------------------------------------------------------

// Reads into search->next; next_count is the number of rows, at most one more than fit.
static mf_Status read_members(mf_Archive *archive, sqlite3_stmt *statement, mf_Search *search,
                              mf_Error *error) {
    uint32_t bytes = search->config.genome_bytes, most = mf_search_capacity(&search->config);
    mf_Population *next = &search->next;
    search->next_count = 0;
    for (;;) {
        bool row;
        mf_Status status = mf_database_step(&archive->database, statement, &row, error);
        if (status != MF_OK || !row)
            return status;
        uint32_t i = search->next_count++;
        if (i >= most)
            return MF_OK; // too many: the caller checks the count
        mf_Individual individual;
        MF_TRY(mf_archive_read_member(archive, statement, &individual,
                                      next->genomes + (size_t)i * bytes, error));
        mf_search_clear(next, i, individual.id, individual.parent);
        next->fitness[i] = individual.fitness;
    }
}

static mf_Status read_generation(mf_Archive *archive, mf_Search *search, uint32_t generation,
                                 mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    sqlite3_stmt *statement;
    MF_TRY(mf_archive_prepare_members(archive, generation, "", &statement, error));
    mf_Status status = read_members(archive, statement, search, error);
    sqlite3_finalize(statement);
    uint32_t most = mf_search_capacity(config), found = search->next_count;
    uint32_t least = config->replacement == MF_REPLACEMENT_CELL ? 0 : most;
    if (status == MF_OK && (found < least || found > most))
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "generation %" PRIu32 ": expected %" PRIu32 " individuals, found %s",
                          generation, most, found < most ? "fewer" : "more");
    return status;
}

// Reads the descriptors of search->next[i] and marks its cell, which must be free.
static mf_Status read_position(mf_Archive *archive, sqlite3_stmt *statement, mf_Search *search,
                               uint32_t i, mf_Error *error) {
    const mf_SearchConfig *config = &search->config;
    double *descriptor = search->next.descriptor + (size_t)i * config->descriptor_count;
    bool good = true, row = true;
    sqlite3_bind_int64(statement, 1, (int64_t)search->next.id[i]);
    for (uint32_t d = 0; d < config->descriptor_count && good; d++) {
        int64_t number;
        MF_TRY(mf_database_step(&archive->database, statement, &row, error));
        good = row && mf_archive_integer(statement, 0, d, d, &number) &&
               mf_archive_real(statement, 1, &descriptor[d]);
    }
    uint32_t cell = good ? mf_search_cell(config, descriptor) : UINT32_MAX;
    double fitness = search->next.fitness[i];
    if (cell == UINT32_MAX || fitness != fitness || search->cells[cell] != UINT32_MAX)
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "individual %" PRIu64
                          ": expected a fitness and the descriptors of a cell of its own",
                          search->next.id[i]);
    search->cells[cell] = i;
    sqlite3_reset(statement);
    return MF_OK;
}

static mf_Status read_positions(mf_Archive *archive, mf_Search *search, mf_Error *error) {
    sqlite3_stmt *statement;
    if (search->cells == NULL)
        return MF_OK;
    mf_Status status = mf_database_prepare(
        &archive->database, "SELECT descriptor, value FROM place WHERE id = ?1 ORDER BY descriptor",
        &statement, error);
    memset(search->cells, 0xff, mf_search_capacity(&search->config) * sizeof *search->cells);
    for (uint32_t i = 0; i < search->next_count && status == MF_OK; i++)
        status = read_position(archive, statement, search, i, error);
    sqlite3_finalize(statement);
    return status;
}

// Reads which individuals of that generation were verified, then or before, and the results.
static mf_Status read_verified(mf_Archive *archive, mf_Search *search, uint32_t generation,
                               mf_Error *error) {
    mf_Database *database = &archive->database;
    mf_Population *next = &search->next;
    sqlite3_stmt *statement;
    if (search->config.verify_every == 0)
        return MF_OK;
    MF_TRY(mf_database_prepare(
        database,
        "SELECT id, fitness, generation = ?1 FROM verified WHERE generation = ?1 OR id IN "
        "(SELECT id FROM survivor WHERE generation = ?1)",
        &statement, error));
    mf_Status status = MF_OK;
    sqlite3_bind_int64(statement, 1, generation);
    bool row = true;
    while (status == MF_OK && row) {
        status = mf_database_step(database, statement, &row, error);
        if (status != MF_OK || !row)
            break;
        int64_t id;
        double fitness;
        uint32_t i = 0;
        bool good = mf_archive_integer(statement, 0, 0, INT64_MAX, &id) &&
                    mf_archive_real(statement, 1, &fitness);
        while (good && i < search->next_count && next->id[i] != (uint64_t)id)
            i++;
        if (!good || i == search->next_count) {
            status =
                mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                           "generation %" PRIu32 ": the archive is damaged (a row of the table "
                           "'verified' is of nobody who lived)",
                           generation);
            break;
        }
        next->verified[i] = fitness;
        next->checked[i] = sqlite3_column_int(statement, 2) ? MF_VERIFIED_NOW : MF_VERIFIED_BEFORE;
    }
    sqlite3_finalize(statement);
    return status;
}

// Reads the bias of individuals whose parents had been verified before their birth.
static mf_Status read_bias(mf_Archive *archive, mf_Search *search, mf_Error *error) {
    mf_Database *database = &archive->database;
    mf_Population *next = &search->next;
    sqlite3_stmt *statement;
    if (search->config.verify_every == 0)
        return MF_OK;
    mf_Status status = mf_database_prepare(
        database,
        "SELECT v.fitness, p.fitness FROM individual i JOIN individual p ON p.id = i.parent JOIN "
        "verified v ON v.id = p.id AND v.generation BETWEEN p.generation AND i.generation - 1 "
        "WHERE i.id = ?1",
        &statement, error);
    for (uint32_t i = 0; i < search->next_count && status == MF_OK; i++) {
        bool row;
        sqlite3_bind_int64(statement, 1, (int64_t)next->id[i]);
        status = mf_database_step(database, statement, &row, error);
        double verified, fitness;
        if (status == MF_OK && row && mf_archive_real(statement, 0, &verified) &&
            mf_archive_real(statement, 1, &fitness))
            next->bias[i] = mf_search_bias(&search->config, verified, fitness);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return status;
}

static mf_Status restore(mf_Archive *archive, mf_Search *search, mf_ArchiveLast *last,
                         mf_Error *error) {
    MF_TRY(mf_archive_last(archive, last, error));
    if (last->number == 0)
        return mf_search_reset(search, error);
    MF_TRY(read_generation(archive, search, last->number, error));
    MF_TRY(read_positions(archive, search, error));
    MF_TRY(read_verified(archive, search, last->number, error));
    MF_TRY(read_bias(archive, search, error));
    if (!mf_search_adopt(search, last->number, last->hash))
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "generation %" PRIu32 ": the individuals do not match the stored hash",
                          last->number);
    return MF_OK;
}

mf_Status mf_archive_resume(mf_Archive *archive, mf_Search *search, double *seconds,
                            double *simulated, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(archive != NULL && search != NULL, error, "archive: archive or search is NULL");
    MF_TRY(mf_archive_compare(archive, &search->config, error));
    // One transaction, so that another process cannot add a generation between two reads.
    MF_TRY(mf_database_run(&archive->database, "BEGIN", error));
    mf_ArchiveLast last;
    mf_Status status = restore(archive, search, &last, error);
    mf_database_roll_back(&archive->database);
    if (status != MF_OK)
        return status;
    if (seconds != NULL)
        *seconds = last.seconds;
    if (simulated != NULL)
        *simulated = last.simulated;
    return MF_OK;
}
