// Formats of the archive file (docs/reference/archive.md), and the members of mf_Archive. Runs
// without verification use format 1, runs with verification format 3, which has two more tables.
// Format 2 does not store verifications: such files can be read, not resumed.
#ifndef MAYFLY_SRC_SEARCH_ARCHIVE_FORMAT_H
#define MAYFLY_SRC_SEARCH_ARCHIVE_FORMAT_H

#include "search/database.h"

#include <mayfly/search.h>

enum {
    MF_ARCHIVE_APPLICATION = 0x4d617966, // "Mayf"
    MF_ARCHIVE_FORMAT_PLAIN = 1,
    MF_ARCHIVE_FORMAT_FORGETFUL = 2,
    MF_ARCHIVE_FORMAT_VERIFIED = 3,
    MF_ARCHIVE_TABLES_PLAIN = 4,
    MF_ARCHIVE_TABLES = 6,
    MF_ARCHIVE_VERIFICATION = 4,        // index of the table that differs in format 2
    MF_ARCHIVE_SETTINGS_LIMIT = 1 << 20 // [byte] of the scene's text
};

// Name and definition of each table. A file must contain exactly these texts, including comments.
typedef struct mf_ArchiveTable {
    const char *name;
    const char *sql;
} mf_ArchiveTable;
extern const mf_ArchiveTable mf_archive_tables[MF_ARCHIVE_TABLES];
extern const mf_ArchiveTable mf_archive_forgetful_verification;

static inline int mf_archive_table_count(int64_t format) {
    return format == MF_ARCHIVE_FORMAT_PLAIN ? MF_ARCHIVE_TABLES_PLAIN : MF_ARCHIVE_TABLES;
}

static inline const mf_ArchiveTable *mf_archive_table(int64_t format, int i) {
    bool old = format == MF_ARCHIVE_FORMAT_FORGETFUL && i == MF_ARCHIVE_VERIFICATION;
    return old ? &mf_archive_forgetful_verification : &mf_archive_tables[i];
}

struct mf_Archive {
    mf_Database database;
    mf_ArchiveRun run;
    char *settings;
    int64_t format;
    int writer_lock; // open file descriptor, -1 when reading
    sqlite3_stmt *last_generation;
    sqlite3_stmt *insert_generation;
    sqlite3_stmt *insert_individual;
    sqlite3_stmt *insert_survivor;
    sqlite3_stmt *insert_verified; // NULL in format 1
};

// One value as returned by SQLite.
typedef struct mf_ArchiveCell {
    int type; // SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL
    int64_t integer;
    double real;
    const void *bytes;
    size_t size;
} mf_ArchiveCell;

// The columns that describe an individual, in this order in every query.
#define MF_ARCHIVE_INDIVIDUAL_COLUMNS "i.id, i.generation, i.parent, i.genome"
enum { MF_ARCHIVE_INDIVIDUAL_CELLS = 5 }; // the four above and a fitness

mf_ArchiveCell mf_archive_cell(sqlite3_stmt *statement, int column);
// A REAL, or NaN for NULL; false when it is neither.
bool mf_archive_decode_real(const mf_ArchiveCell *cell, double *out);
// An INTEGER in minimum .. maximum; else false.
bool mf_archive_decode_integer(const mf_ArchiveCell *cell, int64_t minimum, int64_t maximum,
                               int64_t *out);
// Checks an individual against the run's settings. The genome in *out points into the cell. `path`
// is for messages.
mf_Status mf_archive_decode_individual(const mf_ArchiveCell cells[MF_ARCHIVE_INDIVIDUAL_CELLS],
                                       const mf_SearchConfig *config, const char *path,
                                       mf_Individual *out, mf_Error *error);

// The newest stored generation; number 0 when there is none.
typedef struct mf_ArchiveLast {
    uint32_t number;
    double seconds;
    double simulated;
    uint64_t hash;
} mf_ArchiveLast;
mf_Status mf_archive_last(mf_Archive *archive, mf_ArchiveLast *out, mf_Error *error);

#endif
