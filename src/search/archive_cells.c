// Reading an archive: the filled cells of MAP-Elites.
#include "search/archive_format.h"
#include "search/database.h"
#include "base/floats.h"
#include "search/population.h"

#include <inttypes.h>

static mf_Status decode_elite(mf_Archive *archive, sqlite3_stmt *statement, uint32_t dimensions,
                              mf_Elite *out, mf_Error *error) {
    int64_t id = 0;
    *out = (mf_Elite){0};
    bool good = mf_archive_integer(statement, 0, 0, INT64_MAX, &id) &&
                mf_archive_real(statement, 1, &out->fitness);
    for (uint32_t d = 0; d < dimensions && good; d++)
        good = mf_archive_real(statement, 2 + (int)d, &out->descriptor[d]);
    out->id = (uint64_t)id;
    out->cell = good ? mf_search_cell(&archive->run.search, out->descriptor) : UINT32_MAX;
    if (out->cell == UINT32_MAX)
        return mf_fail_at(error, MF_CORRUPT, archive->database.path, 0, 0,
                          "individual %" PRId64 ": expected the descriptors of a cell", id);
    return MF_OK;
}

// Reads the rows into out[cell], then moves them together.
static mf_Status read_elites(mf_Archive *archive, sqlite3_stmt *statement, mf_Elite *elites,
                             uint32_t *count, mf_Error *error) {
    const mf_SearchConfig *config = &archive->run.search;
    uint32_t capacity = mf_search_capacity(config);
    for (uint32_t cell = 0; cell < capacity; cell++)
        elites[cell].cell = UINT32_MAX;
    bool row = true;
    mf_Status status = MF_OK;
    while (status == MF_OK) {
        mf_Elite elite;
        status = mf_database_step(&archive->database, statement, &row, error);
        if (status != MF_OK || !row)
            break;
        status = decode_elite(archive, statement, config->descriptor_count, &elite, error);
        if (status == MF_OK)
            elites[elite.cell] = elite;
    }
    *count = 0;
    for (uint32_t cell = 0; cell < capacity; cell++)
        if (elites[cell].cell != UINT32_MAX)
            elites[(*count)++] = elites[cell];
    return status;
}

mf_Status mf_archive_cells(mf_Archive *archive, mf_Elite **out, uint32_t *count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (archive == NULL || out == NULL || count == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "archive: archive, out or count is NULL");
    const mf_SearchConfig *config = &archive->run.search;
    if (config->descriptor_count == 0)
        return mf_fail_at(error, MF_UNSUPPORTED, archive->database.path, 0, 0,
                          "the run has no descriptors (replacement: cell)");
    mf_ArchiveLast last;
    MF_TRY(mf_archive_last(archive, &last, error));
    mf_Context *context = archive->database.context;
    mf_Elite *elites = mf_allocate(context, mf_search_capacity(config), sizeof *elites);
    if (elites == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, archive->database.path, 0, 0,
                          "no memory for the cells");
    sqlite3_stmt *statement = NULL;
    mf_Status status = mf_database_prepare(
        &archive->database,
        "SELECT i.id, i.fitness, a.value, b.value, c.value, d.value FROM living l "
        "JOIN individual i ON i.id = l.id "
        "LEFT JOIN place a ON a.id = l.id AND a.descriptor = 0 "
        "LEFT JOIN place b ON b.id = l.id AND b.descriptor = 1 "
        "LEFT JOIN place c ON c.id = l.id AND c.descriptor = 2 "
        "LEFT JOIN place d ON d.id = l.id AND d.descriptor = 3 WHERE l.generation = ?1",
        &statement, error);
    if (status == MF_OK) {
        sqlite3_bind_int64(statement, 1, last.number);
        status = read_elites(archive, statement, elites, count, error);
    }
    sqlite3_finalize(statement);
    if (status != MF_OK)
        mf_release(context, elites);
    else
        *out = elites;
    return status;
}
