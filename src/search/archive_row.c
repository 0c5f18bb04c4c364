// Decoding of an archive's rows. A file may be damaged or come from anywhere, so each value is
// checked against its type, its range and the run's settings before use.
#include "search/archive_format.h"
#include "search/population.h"

#include <inttypes.h>

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

mf_Status mf_archive_decode_individual(const mf_ArchiveCell cells[MF_ARCHIVE_INDIVIDUAL_CELLS],
                                       const mf_SearchConfig *config, const char *path,
                                       mf_Individual *out, mf_Error *error) {
    int64_t id, generation, parent = -1;
    double fitness;
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
    bool has_parent = cells[2].type != SQLITE_NULL;
    if (has_parent != (generation > 1) ||
        (has_parent && !mf_archive_decode_integer(&cells[2], 0, (int64_t)first - 1, &parent)))
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRId64
                          ": expected a parent from an earlier generation than %" PRId64
                          " (none in the first)",
                          id, generation);
    if (cells[3].type != SQLITE_BLOB || cells[3].size != config->genome_bytes)
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRId64 ": expected a genome of %" PRIu32
                          " bytes, found %zu",
                          id, config->genome_bytes, cells[3].size);
    if (!mf_archive_decode_real(&cells[4], &fitness))
        return mf_fail_at(error, MF_CORRUPT, path, 0, 0,
                          "individual %" PRId64 ": the fitness is no number", id);
    *out = (mf_Individual){
        .id = (uint64_t)id,
        .parent = has_parent ? (uint64_t)parent : UINT64_MAX,
        .fitness = fitness,
        .verified = __builtin_nan(""),
        .genome = cells[3].bytes,
    };
    return MF_OK;
}
