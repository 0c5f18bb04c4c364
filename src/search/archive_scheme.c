// The archive's record of the scheme: how individuals are chosen, replaced, made and exchanged. It
// exists from format 4 on; runs of truncation in generations have it in their defaults. Then
// whether a search has the settings of the archive.
#include "search/archive_format.h"
#include "search/population.h"

#include <inttypes.h>
#include <string.h>

// ---- writing -----------------------------------------------------------------------------------

static uint32_t batch_of(const mf_SearchConfig *config) {
    return config->batch < config->population ? config->batch : config->population;
}

static mf_Status insert_descriptor(mf_Database *database, const mf_Descriptor *descriptor,
                                   uint32_t number, mf_Error *error) {
    const mf_SqlValue values[] = {MF_SQL_INTEGER(number), MF_SQL_TEXT(descriptor->name),
                                  MF_SQL_REAL(descriptor->lower), MF_SQL_REAL(descriptor->upper),
                                  MF_SQL_INTEGER(descriptor->cells)};
    return mf_database_insert(
        database,
        "INSERT INTO descriptor (number, name, lower, upper, cells) VALUES (?1,?2,?3,?4,?5)",
        values, 5, error);
}

mf_Status mf_archive_insert_scheme(mf_Database *database, const mf_SearchConfig *config,
                                   mf_Error *error) {
    const mf_SqlValue values[] = {
        MF_SQL_INTEGER(config->selection),  MF_SQL_INTEGER(config->replacement),
        MF_SQL_INTEGER(config->tournament), MF_SQL_INTEGER(batch_of(config)),
        MF_SQL_INTEGER(config->protect),    MF_SQL_INTEGER(config->vary != NULL)};
    MF_TRY(mf_database_insert(
        database,
        "INSERT INTO scheme (id, selection, replacement, tournament, batch, protect, varies) "
        "VALUES (1,?1,?2,?3,?4,?5,?6)",
        values, 6, error));
    for (uint32_t i = 0; i < config->descriptor_count; i++)
        MF_TRY(insert_descriptor(database, &config->descriptors[i], i, error));
    const mf_SqlValue islands[] = {MF_SQL_INTEGER(config->islands),
                                   MF_SQL_INTEGER(config->migration_every),
                                   MF_SQL_INTEGER(config->migration_best)};
    if (config->islands == 1)
        return MF_OK;
    return mf_database_insert(database,
                              "INSERT INTO islands (id, count, every, best) VALUES (1,?1,?2,?3)",
                              islands, 3, error);
}

// ---- reading -----------------------------------------------------------------------------------

static bool decode_descriptor(sqlite3_stmt *statement, uint32_t number, mf_Descriptor *out) {
    const mf_ArchiveCell name = mf_archive_cell(statement, 1);
    int64_t counted, count;
    *out = (mf_Descriptor){0};
    bool named = name.type == SQLITE_TEXT && name.size < sizeof out->name;
    if (named && name.size > 0)
        memcpy(out->name, name.bytes, name.size);
    bool good = named && mf_archive_integer(statement, 0, number, number, &counted) &&
                mf_archive_real(statement, 2, &out->lower) &&
                mf_archive_real(statement, 3, &out->upper) &&
                mf_archive_integer(statement, 4, 1, UINT32_MAX, &count);
    out->cells = good ? (uint32_t)count : 0;
    return good;
}

static mf_Status read_descriptors(mf_Archive *archive, mf_Error *error) {
    mf_Database *database = &archive->database;
    mf_SearchConfig *config = &archive->run.search;
    sqlite3_stmt *statement;
    mf_Status status = mf_database_prepare(
        database, "SELECT number, name, lower, upper, cells FROM descriptor ORDER BY number",
        &statement, error);
    bool row = false;
    MF_THEN(status, mf_database_step(database, statement, &row, error));
    while (status == MF_OK && row) {
        uint32_t number = config->descriptor_count;
        if (number == MF_DESCRIPTOR_LIMIT ||
            !decode_descriptor(statement, number, &config->descriptors[number])) {
            status = mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                                "the archive is damaged (descriptor %" PRIu32 ")", number);
            break;
        }
        config->descriptor_count++;
        status = mf_database_step(database, statement, &row, error);
    }
    sqlite3_finalize(statement);
    return status;
}

static bool decode_scheme(mf_Archive *archive, sqlite3_stmt *statement) {
    mf_SearchConfig *config = &archive->run.search;
    int64_t values[6];
    for (int i = 0; i < 6; i++)
        if (!mf_archive_integer(statement, i, 0, UINT32_MAX, &values[i]))
            return false;
    if (values[0] > MF_SELECTION_UNIFORM || values[1] > MF_REPLACEMENT_CELL || values[5] > 1)
        return false;
    config->selection = (mf_Selection)values[0];
    config->replacement = (mf_Replacement)values[1];
    config->tournament = (uint32_t)values[2];
    config->batch = (uint32_t)values[3];
    config->protect = (uint32_t)values[4];
    archive->varies = values[5] == 1;
    return true;
}

// Reads the row of the islands.
static mf_Status read_islands(mf_Archive *archive, mf_Error *error) {
    mf_Database *database = &archive->database;
    mf_SearchConfig *config = &archive->run.search;
    sqlite3_stmt *statement;
    int64_t count = 0, every = 0, best = 0;
    bool row = false;
    if (archive->format < MF_ARCHIVE_FORMAT_ISLANDS)
        return MF_OK;
    mf_Status status = mf_database_prepare(
        database, "SELECT count, every, best FROM islands WHERE id=1", &statement, error);
    MF_THEN(status, mf_database_step(database, statement, &row, error));
    bool good = status == MF_OK && row && mf_archive_integer(statement, 0, 2, UINT32_MAX, &count) &&
                mf_archive_integer(statement, 1, 0, UINT32_MAX, &every) &&
                mf_archive_integer(statement, 2, 1, UINT32_MAX, &best);
    sqlite3_finalize(statement);
    if (status == MF_OK && !good)
        return mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                          "islands: the settings are out of range");
    config->islands = (uint32_t)count;
    config->migration_every = (uint32_t)every;
    config->migration_best = (uint32_t)best;
    return status;
}

mf_Status mf_archive_read_scheme(mf_Archive *archive, mf_Error *error) {
    mf_Database *database = &archive->database;
    sqlite3_stmt *statement;
    mf_Status status = mf_database_prepare(
        database,
        "SELECT selection, replacement, tournament, batch, protect, varies FROM scheme WHERE id=1",
        &statement, error);
    bool row = false;
    MF_THEN(status, mf_database_step(database, statement, &row, error));
    bool good = status == MF_OK && row && decode_scheme(archive, statement);
    sqlite3_finalize(statement);
    MF_THEN(status, read_descriptors(archive, error));
    MF_THEN(status, read_islands(archive, error));
    if (status != MF_OK)
        return status;
    mf_Error detail;
    if (!good || mf_search_check_config(&archive->run.search, &detail) != MF_OK)
        return mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                          "scheme: the settings are out of range");
    return MF_OK;
}

// ---- comparing ---------------------------------------------------------------------------------

static mf_Status compare_descriptors(const mf_Archive *archive, const mf_SearchConfig *search,
                                     mf_Error *error) {
    for (uint32_t i = 0; i < search->descriptor_count; i++) {
        const mf_Descriptor *stored = &archive->run.search.descriptors[i];
        const mf_Descriptor *given = &search->descriptors[i];
        if (strcmp(stored->name, given->name) != 0 || stored->lower != given->lower ||
            stored->upper != given->upper || stored->cells != given->cells)
            return mf_fail_at(error, MF_BAD_ARGUMENT, archive->database.path, 0, 0,
                              "search.descriptors[%" PRIu32 "]: the archive was made with %s %.17g "
                              ".. %.17g in %" PRIu32 " cells, the search has %s %.17g .. %.17g in "
                              "%" PRIu32,
                              i, stored->name, stored->lower, stored->upper, stored->cells,
                              given->name, given->lower, given->upper, given->cells);
    }
    return MF_OK;
}

mf_Status mf_archive_compare(const mf_Archive *archive, const mf_SearchConfig *search,
                             mf_Error *error) {
    const mf_SearchConfig *stored = &archive->run.search;
    bool steady = mf_search_is_steady(search), grid = search->descriptor_count > 0;
    bool drawn = search->selection == MF_SELECTION_TOURNAMENT;
    bool verifies = stored->verify_every > 0;
    bool several = search->islands > 1, migrates = several && search->migration_every > 0;
    const struct {
        const char *name;
        uint64_t stored, search;
        bool counts; // for the bits of the run, and so the rows
    } fields[] = {
        {"population", stored->population, search->population, true},
        {"survivors", stored->survivors, search->survivors, true},
        {"genome_bytes", stored->genome_bytes, search->genome_bytes, true},
        {"seed", stored->seed, search->seed, true},
        {"reuse_fitness", stored->reuse_fitness, search->reuse_fitness, true},
        {"verify_every", stored->verify_every, search->verify_every, true},
        {"verify_best", stored->verify_best, search->verify_best, verifies},
        {"selection", stored->selection, search->selection, true},
        {"replacement", stored->replacement, search->replacement, true},
        {"tournament", stored->tournament, search->tournament, drawn},
        {"batch", batch_of(stored), batch_of(search), steady},
        {"protect", stored->protect, search->protect, steady && !grid},
        {"islands", stored->islands, search->islands, true},
        {"migration_every", stored->migration_every, search->migration_every, several},
        {"migration_best", stored->migration_best, search->migration_best, migrates},
        {"descriptor_count", stored->descriptor_count, search->descriptor_count, true},
        {"vary", archive->varies, search->vary != NULL, true},
    };
    const struct {
        const char *name;
        double stored, search;
        bool counts;
    } reals[] = {
        {"verify_disparity", stored->verify_disparity, search->verify_disparity, verifies},
        {"mutation_rate", stored->mutation_rate, search->mutation_rate, true},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (fields[i].counts && fields[i].stored != fields[i].search)
            return mf_fail_at(error, MF_BAD_ARGUMENT, archive->database.path, 0, 0,
                              "search.%s: the archive was made with %" PRIu64
                              ", the search has %" PRIu64,
                              fields[i].name, fields[i].stored, fields[i].search);
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (reals[i].counts && reals[i].stored != reals[i].search)
            return mf_fail_at(error, MF_BAD_ARGUMENT, archive->database.path, 0, 0,
                              "search.%s: the archive was made with %.17g, the search has %.17g",
                              reals[i].name, reals[i].stored, reals[i].search);
    return compare_descriptors(archive, search, error);
}
