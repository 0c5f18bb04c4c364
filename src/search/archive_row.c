// Decoding of an archive's rows. A file may be damaged or come from anywhere, so each value is
// checked against its type, its range and the run's settings before use.
#include "search/archive_format.h"
#include "search/population.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

mf_ArchiveCell mf_archive_cell(sqlite3_stmt *statement, int column) {
    mf_ArchiveCell cell = {.type = sqlite3_column_type(statement, column)};
    if (cell.type == SQLITE_INTEGER)
        cell.integer = sqlite3_column_int64(statement, column);
    if (cell.type == SQLITE_FLOAT)
        cell.real = sqlite3_column_double(statement, column);
    if (cell.type == SQLITE_BLOB || cell.type == SQLITE_TEXT) {
        cell.bytes = cell.type == SQLITE_TEXT ? (const void *)sqlite3_column_text(statement, column)
                                              : sqlite3_column_blob(statement, column);
        cell.size = cell.bytes == NULL ? 0 : (size_t)sqlite3_column_bytes(statement, column);
    }
    return cell;
}

bool mf_archive_decode_real(const mf_ArchiveCell *cell, double *out) {
    if (cell->type != SQLITE_FLOAT && cell->type != SQLITE_NULL)
        return false;
    *out = cell->type == SQLITE_FLOAT ? cell->real : __builtin_nan("");
    return true;
}

bool mf_archive_decode_integer(const mf_ArchiveCell *cell, int64_t minimum, int64_t maximum,
                               int64_t *out) {
    if (cell->type != SQLITE_INTEGER || cell->integer < minimum || cell->integer > maximum)
        return false;
    *out = cell->integer;
    return true;
}

bool mf_archive_real(sqlite3_stmt *statement, int column, double *out) {
    const mf_ArchiveCell cell = mf_archive_cell(statement, column);
    return mf_archive_decode_real(&cell, out);
}

bool mf_archive_integer(sqlite3_stmt *statement, int column, int64_t minimum, int64_t maximum,
                        int64_t *out) {
    const mf_ArchiveCell cell = mf_archive_cell(statement, column);
    return mf_archive_decode_integer(&cell, minimum, maximum, out);
}

// An individual's parent is older; in generations it is of an earlier one.
static bool decode_parent(const mf_SearchConfig *config, const mf_ArchiveCell *cell, int64_t id,
                          int64_t generation, int64_t *parent) {
    bool steady = mf_search_is_steady(config), has_parent = cell->type != SQLITE_NULL;
    uint64_t first = mf_search_first_id(config, (uint32_t)generation);
    *parent = -1;
    if (generation == 1 || !has_parent)
        return !has_parent && (generation == 1 || steady);
    return mf_archive_decode_integer(cell, 0, steady ? id - 1 : (int64_t)first - 1, parent);
}

static mf_Status decode_origin(const mf_Archive *archive, const mf_ArchiveCell cells[3],
                               mf_Individual *out, mf_Error *error) {
    const mf_SearchConfig *config = &archive->run.search;
    const char *path = archive->database.path;
    int64_t id, generation, parent;
    if (!mf_archive_decode_integer(&cells[0], 0, INT64_MAX, &id))
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0, "individual: the id is no number >= 0");
    if (!mf_archive_decode_integer(&cells[1], 1, UINT32_MAX, &generation))
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRId64 ": the generation is no number >= 1", id);
    uint64_t first = mf_search_first_id(config, (uint32_t)generation);
    uint32_t births = mf_search_births(config, (uint32_t)generation);
    if ((uint64_t)id < first || (uint64_t)id >= first + births)
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRId64 ": expected an id in %" PRIu64 " .. %" PRIu64
                          " in generation %" PRId64,
                          id, first, first + births - 1, generation);
    if (!decode_parent(config, &cells[2], id, generation, &parent))
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRId64
                          ": expected a parent from an earlier generation than %" PRId64
                          " (none in the first)",
                          id, generation);
    out->id = (uint64_t)id;
    out->parent = parent >= 0 ? (uint64_t)parent : UINT64_MAX;
    return MF_OK;
}

mf_Status mf_archive_decode_individual(const mf_Archive *archive,
                                       const mf_ArchiveCell cells[MF_ARCHIVE_INDIVIDUAL_CELLS],
                                       mf_Individual *out, uint8_t *genome, mf_Error *error) {
    const char *path = archive->database.path;
    uint32_t bytes = archive->run.search.genome_bytes;
    mf_Individual individual = {.verified = __builtin_nan(""), .genome = genome};
    MF_TRY(decode_origin(archive, cells, &individual, error));
    bool trimmed = archive->format >= MF_ARCHIVE_FORMAT_GENERAL;
    size_t size = cells[3].size;
    if (cells[3].type != SQLITE_BLOB || size > bytes || (size < bytes && !trimmed))
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRIu64 ": expected a genome of %s%" PRIu32
                          " bytes, found %zu",
                          individual.id, trimmed ? "at most " : "", bytes, size);
    if (!mf_archive_decode_real(&cells[4], &individual.fitness))
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRIu64 ": the fitness is no number", individual.id);
    if (size > 0)
        memcpy(genome, cells[3].bytes, size);
    memset(genome + size, 0, bytes - size);
    *out = individual;
    return MF_OK;
}

// ---- members of a generation -------------------------------------------------------------------

mf_Status mf_archive_prepare_members(mf_Archive *archive, uint32_t generation, const char *order,
                                     sqlite3_stmt **out, mf_Error *error) {
    const mf_SearchConfig *config = &archive->run.search;
    bool steady = mf_search_is_steady(config);
    char sql[512];
    snprintf(sql, sizeof sql, "%s %s",
             steady ? "SELECT " MF_ARCHIVE_INDIVIDUAL_COLUMNS
                      ", i.fitness AS fitness FROM living l JOIN individual i ON i.id = l.id "
                      "WHERE l.generation = ?1"
                    : "SELECT " MF_ARCHIVE_INDIVIDUAL_COLUMNS
                      ", i.fitness AS fitness FROM individual i WHERE i.id BETWEEN ?2 AND ?3 "
                      "UNION ALL SELECT " MF_ARCHIVE_INDIVIDUAL_COLUMNS
                      ", s.fitness FROM survivor s JOIN individual i ON i.id = s.id "
                      "WHERE s.generation = ?1",
             order);
    MF_TRY(mf_database_prepare(&archive->database, sql, out, error));
    uint64_t first = mf_search_first_id(config, generation);
    sqlite3_bind_int64(*out, 1, generation);
    if (steady)
        return MF_OK;
    sqlite3_bind_int64(*out, 2, (int64_t)first);
    sqlite3_bind_int64(*out, 3, (int64_t)(first + mf_search_births(config, generation) - 1));
    return MF_OK;
}

mf_Status mf_archive_read_member(mf_Archive *archive, sqlite3_stmt *statement, mf_Individual *out,
                                 uint8_t *genome, mf_Error *error) {
    mf_ArchiveCell cells[MF_ARCHIVE_INDIVIDUAL_CELLS];
    for (int column = 0; column < MF_ARCHIVE_INDIVIDUAL_CELLS; column++)
        cells[column] = mf_archive_cell(statement, column);
    return mf_archive_decode_individual(archive, cells, out, genome, error);
}
