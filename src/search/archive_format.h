// Formats of the archive file (docs/reference/archive.md), and the members of mf_Archive. Runs
// without verification use format 1, runs with verification format 3, which has two more tables.
// Format 2 does not store verifications: such files can be read, not resumed. Format 4 is for runs
// with another scheme than truncation in generations, or with the caller's kind of genome; it omits
// the zeros at the end of genomes. Format 5 is format 4 with islands, and has one more table.
#pragma once

#include "search/database.h"

#include <mayfly/search.h>

enum {
    MF_ARCHIVE_APPLICATION = 0x4d617966, // "Mayf"
    MF_ARCHIVE_FORMAT_PLAIN = 1,
    MF_ARCHIVE_FORMAT_FORGETFUL = 2,
    MF_ARCHIVE_FORMAT_VERIFIED = 3,
    MF_ARCHIVE_FORMAT_GENERAL = 4,
    MF_ARCHIVE_FORMAT_ISLANDS = 5,
    MF_ARCHIVE_TABLES_PLAIN = 4,
    MF_ARCHIVE_TABLES_VERIFIED = 6,
    MF_ARCHIVE_TABLES_GENERAL = 10,
    MF_ARCHIVE_TABLES = 11,
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
    static const int counts[] = {[MF_ARCHIVE_FORMAT_PLAIN] = MF_ARCHIVE_TABLES_PLAIN,
                                 [MF_ARCHIVE_FORMAT_FORGETFUL] = MF_ARCHIVE_TABLES_VERIFIED,
                                 [MF_ARCHIVE_FORMAT_VERIFIED] = MF_ARCHIVE_TABLES_VERIFIED,
                                 [MF_ARCHIVE_FORMAT_GENERAL] = MF_ARCHIVE_TABLES_GENERAL,
                                 [MF_ARCHIVE_FORMAT_ISLANDS] = MF_ARCHIVE_TABLES};
    return counts[format];
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
    bool varies;     // genomes are made by the caller's function
    int writer_lock; // open file descriptor, -1 when reading
    sqlite3_stmt *last_generation;
    sqlite3_stmt *insert_generation;
    sqlite3_stmt *insert_individual;
    sqlite3_stmt *insert_survivor;
    sqlite3_stmt *insert_verified; // NULL in format 1
    sqlite3_stmt *insert_living;   // NULL below format 4, as the next one
    sqlite3_stmt *insert_descriptors;
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
// Likewise of a column of the current row.
bool mf_archive_real(sqlite3_stmt *statement, int column, double *out);
bool mf_archive_integer(sqlite3_stmt *statement, int column, int64_t minimum, int64_t maximum,
                        int64_t *out);
// Checks an individual against the run's settings. Writes the genome, padded with zeros, to
// genome[0 .. config->genome_bytes-1]; *out points to it.
mf_Status mf_archive_decode_individual(const mf_Archive *archive,
                                       const mf_ArchiveCell cells[MF_ARCHIVE_INDIVIDUAL_CELLS],
                                       mf_Individual *out, uint8_t *genome, mf_Error *error);

// Reads the settings of the scheme (from format 4 on, archive_scheme.c).
mf_Status mf_archive_read_scheme(mf_Archive *archive, mf_Error *error);
// Writes them into a new file.
mf_Status mf_archive_insert_scheme(mf_Database *database, const mf_SearchConfig *config,
                                   mf_Error *error);
// Fails if the search has other settings than the archive.
mf_Status mf_archive_compare(const mf_Archive *archive, const mf_SearchConfig *search,
                             mf_Error *error);
// Sets a generation of 0 to the newest one. MF_NOT_FOUND: there is no such generation.
mf_Status mf_archive_find_generation(mf_Archive *archive, uint32_t *generation, mf_Error *error);

// A query for the individuals alive in `generation`, in no order, with the columns of individuals;
// `order` is appended. The caller finalizes it.
mf_Status mf_archive_prepare_members(mf_Archive *archive, uint32_t generation, const char *order,
                                     sqlite3_stmt **out, mf_Error *error);
// The individual in the current row of such a query.
mf_Status mf_archive_read_member(mf_Archive *archive, sqlite3_stmt *statement, mf_Individual *out,
                                 uint8_t *genome, mf_Error *error);

// The newest stored generation; number 0 when there is none.
typedef struct mf_ArchiveLast {
    uint32_t number;
    double seconds;
    double simulated;
    uint64_t hash;
} mf_ArchiveLast;
mf_Status mf_archive_last(mf_Archive *archive, mf_ArchiveLast *out, mf_Error *error);
