// A thin layer over SQLite: a test can make every step fail, and every error is one line that names
// the file.
#pragma once

#include <mayfly/search.h>
#include <mayfly/base.h>

#include <sqlite3.h>

typedef struct mf_Database {
    mf_Context *context;
    sqlite3 *handle;
    const char *path; // as given by the caller, for messages; owned
    bool writable;
} mf_Database;

// Opens an existing file. The caller owns the struct; after a failure there is nothing to close.
mf_Status mf_database_open(mf_Context *context, const char *path, bool write, mf_Database *out,
                           mf_Error *error);
// A new database in memory, for mf_database_image. `path` is for messages.
mf_Status mf_database_open_memory(mf_Context *context, const char *path, mf_Database *out,
                                  mf_Error *error);
void mf_database_close(mf_Database *database);

// The file image of a database in memory; release it with sqlite3_free.
mf_Status mf_database_image(mf_Database *database, void **image, size_t *size, mf_Error *error);

mf_Status mf_database_prepare(mf_Database *database, const char *sql, sqlite3_stmt **out,
                              mf_Error *error);
// One step; *row is true if there is a row to read.
mf_Status mf_database_step(mf_Database *database, sqlite3_stmt *statement, bool *row,
                           mf_Error *error);
// A parameter of a statement, whose text or bytes stay valid while it runs. SQLite turns NaN into
// NULL and keeps every other double exactly.
typedef struct mf_SqlValue {
    int type; // SQLITE_INTEGER, SQLITE_FLOAT, SQLITE_TEXT, SQLITE_BLOB or SQLITE_NULL
    int64_t integer;
    double real;
    const void *bytes;
    int size; // [byte] of a blob
} mf_SqlValue;
#define MF_SQL_INTEGER(value)                                                                      \
    { .type = SQLITE_INTEGER, .integer = (int64_t)(value) }
#define MF_SQL_REAL(value)                                                                         \
    { .type = SQLITE_FLOAT, .real = (value) }
#define MF_SQL_TEXT(value)                                                                         \
    { .type = SQLITE_TEXT, .bytes = (value) }
// Runs a statement without result rows, with parameters ?1 .. ?count, and always resets it for the
// next use.
mf_Status mf_database_execute(mf_Database *database, sqlite3_stmt *statement,
                              const mf_SqlValue *values, int count, mf_Error *error);
// The same once, of SQL text.
mf_Status mf_database_insert(mf_Database *database, const char *sql, const mf_SqlValue *values,
                             int count, mf_Error *error);
// Runs SQL text of one or more statements and ignores result rows.
mf_Status mf_database_run(mf_Database *database, const char *sql, mf_Error *error);
// The integer result of a query.
mf_Status mf_database_integer(mf_Database *database, const char *sql, int64_t *out,
                              mf_Error *error);
// Rolls back a transaction if one is open. Cannot fail.
void mf_database_roll_back(mf_Database *database);

// Fails with the status for an SQLite result code.
mf_Status mf_database_fail(mf_Database *database, int code, mf_Error *error);

// The lines of the `leaves` (1 .. 1024) best individuals alive in the newest generation, joined
// where they meet, by decreasing id: *out is an array from mf_allocate. An individual without
// children in the array is one of the leaves.
mf_Status mf_archive_phylogeny(mf_Archive *archive, uint32_t leaves, mf_Ancestor **out,
                               uint32_t *count, mf_Error *error);

// Ids of the best alive in the newest generation, the champion first, then by decreasing fitness:
// at most `most` (1 .. 1024) of them into ids.
mf_Status mf_archive_alive(mf_Archive *archive, uint32_t most, uint64_t *ids, uint32_t *count,
                           mf_Error *error);

// Diversity of one stored generation (0 = of the newest one).
mf_Status mf_archive_diversity(mf_Archive *archive, uint32_t generation, mf_ArchiveDiversity *out,
                               mf_Error *error);

// The filled cells of the newest generation by increasing cell: *out is an array from mf_allocate.
// MF_UNSUPPORTED if the run has no descriptors.
mf_Status mf_archive_cells(mf_Archive *archive, mf_Elite **out, uint32_t *count, mf_Error *error);
