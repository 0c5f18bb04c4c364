// A thin layer over SQLite (https://sqlite.org/c3ref/intro.html).
//
// SQLite's allocator and file system belong to the process and not to a connection, so its memory
// does not come from the context; failure injection applies to the calls in this file.
//
// Files are not trusted: views, triggers and functions in the schema are turned off, and values are
// limited in size. Invariant: no statement of this layer runs SQL text from a file.
#include "search/database.h"
#include "base/inject.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUSY_MILLISECONDS = 1000, VALUE_LIMIT = 64 << 20 };

static mf_Status status_of(int code) {
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
        return MF_BUSY;
    case SQLITE_NOMEM:
        return MF_NO_MEMORY;
    case SQLITE_NOTADB:
        return MF_BAD_FILE;
    case SQLITE_TOOBIG:
        return MF_LIMIT;
    // The statements are correct, so such errors are caused by the content of the file.
    case SQLITE_ERROR:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_CORRUPT:
    case SQLITE_FORMAT:
    case SQLITE_SCHEMA:
        return MF_CORRUPT;
    default:
        return MF_IO;
    }
}

mf_Status mf_database_fail(mf_Database *database, int code, mf_Error *error) {
    mf_Status status = status_of(code);
    const char *reason = sqlite3_errmsg(database->handle);
    const char *what = status == MF_BUSY      ? "the archive is in use by another process"
                       : status == MF_CORRUPT ? "the archive is damaged"
                       : status == MF_IO      ? "cannot read or write the archive"
                                              : "the archive cannot be used";
    if (status == MF_BAD_FILE)
        return mf_fail_at(error, status, database->path, 0, 0,
                          "expected a Mayfly archive, found a file that is not a SQLite database");
    return mf_fail_at(error, status, database->path, 0, 0, "%s (%s)", what, reason);
}

static bool allow(mf_Database *database, const char *operation, mf_Status *status,
                  mf_Error *error) {
    *status = MF_OK;
    if (mf_allow(database->context, operation))
        return true;
    *status = mf_fail_at(error, MF_IO, database->path, 0, 0, "%s: %s", operation, strerror(errno));
    return false;
}

// ---- open and close ----------------------------------------------------------------------------

// Distinguishes these cases before SQLite opens the path: SQLite reports all of them as "unable to
// open" and would wait for a writer on a pipe.
static mf_Status check_file(mf_Context *context, const char *path, mf_Error *error) {
    struct stat info;
    bool found = mf_allow(context, "stat") && stat(path, &info) == 0;
    if (!found) {
        bool missing = errno == ENOENT || errno == ENOTDIR;
        return mf_fail_at(error, missing ? MF_NOT_FOUND : MF_IO, path, 0, 0,
                          "cannot open the archive: %s", strerror(errno));
    }
    if (!S_ISREG(info.st_mode))
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0, "expected a Mayfly archive, found %s",
                          S_ISDIR(info.st_mode) ? "a folder" : "not a regular file");
    if (info.st_size == 0)
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                          "expected a Mayfly archive, found an empty file");
    if (!mf_allow(context, "access") || access(path, R_OK) != 0)
        return mf_fail_at(error, MF_IO, path, 0, 0, "cannot open the archive: %s", strerror(errno));
    return MF_OK;
}

static char *copy_text(mf_Context *context, const char *prefix, const char *text) {
    size_t before = strlen(prefix), length = strlen(text);
    char *copy = mf_allocate(context, before + length + 1, 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, prefix, before);
    memcpy(copy + before, text, length + 1);
    return copy;
}

static mf_Status open_handle(mf_Database *database, const char *location, int flags,
                             mf_Error *error) {
    mf_Status status;
    if (!allow(database, "sqlite open", &status, error))
        return status;
    int code = sqlite3_open_v2(location, &database->handle, flags | SQLITE_OPEN_NOMUTEX, NULL);
    if (database->handle == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, database->path, 0, 0,
                          "no memory to open the archive");
    if (code != SQLITE_OK)
        return mf_database_fail(database, code, error);
    sqlite3_extended_result_codes(database->handle, 1);
    sqlite3_busy_timeout(database->handle, BUSY_MILLISECONDS);
    sqlite3_limit(database->handle, SQLITE_LIMIT_LENGTH, VALUE_LIMIT);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)NULL);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, (int *)NULL);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, (int *)NULL);
    sqlite3_db_config(database->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    return MF_OK;
}

static mf_Status open_at(mf_Context *context, const char *path, const char *location, int flags,
                         mf_Database *out, mf_Error *error) {
    mf_Database database = {.context = context, .path = copy_text(context, "", path)};
    if (database.path == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to open the archive");
    mf_Status status = open_handle(&database, location, flags, error);
    if (status != MF_OK)
        mf_database_close(&database);
    else
        *out = database;
    return status;
}

mf_Status mf_database_open(mf_Context *context, const char *path, bool write, mf_Database *out,
                           mf_Error *error) {
    MF_TRY(check_file(context, path, error));
    // SQLite treats "file:...", ":memory:" and similar names specially; "./" prevents that.
    char *location = copy_text(context, path[0] == '/' ? "" : "./", path);
    if (location == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to open the archive");
    // Readers may have to roll back an incomplete transaction of a killed writer. SQLite opens
    // read-only if the system does not permit writing.
    mf_Status status = open_at(context, path, location, SQLITE_OPEN_READWRITE, out, error);
    mf_release(context, location);
    if (status != MF_OK)
        return status;
    out->writable = write;
    if (!write)
        status = mf_database_run(out, "PRAGMA query_only=ON", error);
    else if (sqlite3_db_readonly(out->handle, "main") == 1)
        status = mf_fail_at(error, MF_IO, path, 0, 0, "the archive cannot be written to");
    if (status != MF_OK)
        mf_database_close(out);
    return status;
}

mf_Status mf_database_open_memory(mf_Context *context, const char *path, mf_Database *out,
                                  mf_Error *error) {
    MF_TRY(
        open_at(context, path, ":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, out, error));
    out->writable = true;
    return MF_OK;
}

void mf_database_close(mf_Database *database) {
    sqlite3_close_v2(database->handle);
    mf_release(database->context, (void *)database->path);
    *database = (mf_Database){0};
}

mf_Status mf_database_image(mf_Database *database, void **image, size_t *size, mf_Error *error) {
    mf_Status status;
    if (!allow(database, "sqlite serialize", &status, error))
        return status;
    sqlite3_int64 length = 0;
    *image = sqlite3_serialize(database->handle, "main", &length, 0);
    if (*image == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, database->path, 0, 0,
                          "no memory to create the archive");
    *size = (size_t)length;
    return MF_OK;
}

// ---- statements --------------------------------------------------------------------------------

mf_Status mf_database_prepare(mf_Database *database, const char *sql, sqlite3_stmt **out,
                              mf_Error *error) {
    mf_Status status;
    *out = NULL;
    if (!allow(database, "sqlite prepare", &status, error))
        return status;
    int code = sqlite3_prepare_v2(database->handle, sql, -1, out, NULL);
    return code == SQLITE_OK ? MF_OK : mf_database_fail(database, code, error);
}

mf_Status mf_database_step(mf_Database *database, sqlite3_stmt *statement, bool *row,
                           mf_Error *error) {
    mf_Status status;
    *row = false;
    if (!allow(database, "sqlite step", &status, error))
        return status;
    int code = sqlite3_step(statement);
    *row = code == SQLITE_ROW;
    return *row || code == SQLITE_DONE ? MF_OK : mf_database_fail(database, code, error);
}

static void bind(sqlite3_stmt *statement, int number, const mf_SqlValue *value) {
    if (value->type == SQLITE_INTEGER)
        sqlite3_bind_int64(statement, number, value->integer);
    else if (value->type == SQLITE_FLOAT)
        sqlite3_bind_double(statement, number, value->real);
    else if (value->type == SQLITE_TEXT)
        sqlite3_bind_text(statement, number, value->bytes, -1, SQLITE_STATIC);
    else if (value->type == SQLITE_BLOB)
        sqlite3_bind_blob(statement, number, value->bytes, value->size, SQLITE_STATIC);
    else
        sqlite3_bind_null(statement, number);
}

mf_Status mf_database_execute(mf_Database *database, sqlite3_stmt *statement,
                              const mf_SqlValue *values, int count, mf_Error *error) {
    bool row;
    for (int i = 0; i < count; i++)
        bind(statement, i + 1, &values[i]);
    mf_Status status = mf_database_step(database, statement, &row, error);
    sqlite3_reset(statement);
    return status;
}

mf_Status mf_database_insert(mf_Database *database, const char *sql, const mf_SqlValue *values,
                             int count, mf_Error *error) {
    sqlite3_stmt *statement;
    mf_Status status = mf_database_prepare(database, sql, &statement, error);
    MF_THEN(status, mf_database_execute(database, statement, values, count, error));
    sqlite3_finalize(statement);
    return status;
}

mf_Status mf_database_run(mf_Database *database, const char *sql, mf_Error *error) {
    mf_Status status;
    if (!allow(database, "sqlite exec", &status, error))
        return status;
    int code = sqlite3_exec(database->handle, sql, NULL, NULL, NULL);
    return code == SQLITE_OK ? MF_OK : mf_database_fail(database, code, error);
}

mf_Status mf_database_integer(mf_Database *database, const char *sql, int64_t *out,
                              mf_Error *error) {
    sqlite3_stmt *statement;
    MF_TRY(mf_database_prepare(database, sql, &statement, error));
    bool row;
    mf_Status status = mf_database_step(database, statement, &row, error);
    if (status == MF_OK && (!row || sqlite3_column_type(statement, 0) != SQLITE_INTEGER))
        status = mf_fail_at(error, MF_CORRUPT, database->path, 0, 0,
                            "the archive is damaged (an integer is missing)");
    if (status == MF_OK)
        *out = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}

void mf_database_roll_back(mf_Database *database) {
    if (!sqlite3_get_autocommit(database->handle))
        sqlite3_exec(database->handle, "ROLLBACK", NULL, NULL, NULL);
}
