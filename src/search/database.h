// A thin layer over SQLite: every step can be made to fail by a test, every failure is one line
// that names the file.
#ifndef MAYFLY_SRC_SEARCH_DATABASE_H
#define MAYFLY_SRC_SEARCH_DATABASE_H

#include <mayfly/base.h>

#include <sqlite3.h>

typedef struct mf_Database {
    mf_Context *context;
    sqlite3 *handle;
    const char *path; // as the caller gave it, for messages; owned
    bool writable;
} mf_Database;

// Opens an existing file. The struct is the caller's; after a failure there is nothing to close.
mf_Status mf_database_open(mf_Context *context, const char *path, bool write, mf_Database *out,
                           mf_Error *error);
// A new database in memory, to be written out with mf_database_image. `path` is for messages.
mf_Status mf_database_open_memory(mf_Context *context, const char *path, mf_Database *out,
                                  mf_Error *error);
void mf_database_close(mf_Database *database);

// The file image of a database in memory; release it with sqlite3_free.
mf_Status mf_database_image(mf_Database *database, void **image, size_t *size, mf_Error *error);

mf_Status mf_database_prepare(mf_Database *database, const char *sql, sqlite3_stmt **out,
                              mf_Error *error);
// One step; *row tells whether there is a row to read.
mf_Status mf_database_step(mf_Database *database, sqlite3_stmt *statement, bool *row,
                           mf_Error *error);
// Steps a statement that gives no rows and makes it ready for the next use, whatever happened.
mf_Status mf_database_execute(mf_Database *database, sqlite3_stmt *statement, mf_Error *error);
// Prepares and steps SQL text that gives no rows of interest; several statements are fine.
mf_Status mf_database_run(mf_Database *database, const char *sql, mf_Error *error);
// The one integer that a query gives.
mf_Status mf_database_integer(mf_Database *database, const char *sql, int64_t *out,
                              mf_Error *error);
// Ends a transaction that may or may not be open. Cannot fail.
void mf_database_roll_back(mf_Database *database);

// Fails with the status for an SQLite result code.
mf_Status mf_database_fail(mf_Database *database, int code, mf_Error *error);

#endif
