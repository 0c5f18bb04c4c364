// Creation of an archive file: the tables of its format and the row that describes the run.
//
// A new file must appear complete or not at all, even after kill -9, and must never overwrite
// another. So the image is created in memory, written next to the target, and linked to its name,
// which fails when the name exists. (A kill between the two steps can leave a temporary file ending
// in ".new".)
#include "search/archive_format.h"
#include "base/floats.h"
#include "search/population.h"
#include "base/inject.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

const mf_ArchiveTable mf_archive_tables[MF_ARCHIVE_TABLES] = {
    {"run", "CREATE TABLE run (\n"
            "    id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row\n"
            "    library TEXT NOT NULL,          -- version of Mayfly that made the file\n"
            "    population INTEGER NOT NULL,    -- individuals per generation\n"
            "    survivors INTEGER NOT NULL,     -- kept from one generation to the next\n"
            "    genome_bytes INTEGER NOT NULL,\n"
            "    seed INTEGER NOT NULL,          -- 64 bits: printf('%u', seed)\n"
            "    mutation_rate REAL NOT NULL,    -- probability that a byte of a child changes\n"
            "    reuse_fitness INTEGER NOT NULL, -- 1: survivors are not evaluated again\n"
            "    model_hash INTEGER NOT NULL,    -- 64 bits: printf('%016x', model_hash)\n"
            "    terrain_hash INTEGER NOT NULL,  -- 64 bits\n"
            "    settings TEXT NOT NULL          -- the scene file, defaults filled in\n"
            ") STRICT"},
    {"generation",
     "CREATE TABLE generation (\n"
     "    number INTEGER PRIMARY KEY, -- counts from 1, no gaps\n"
     "    best REAL,                  -- fitness; NULL when not a number\n"
     "    mean REAL,                  -- of the finite fitness values\n"
     "    champion INTEGER NOT NULL,  -- id of the best individual\n"
     "    seconds REAL NOT NULL,      -- [s] wall time since the run began\n"
     "    simulated REAL NOT NULL,    -- [s] simulated robot time since the run began\n"
     "    hash INTEGER NOT NULL       -- of the whole population, 64 bits\n"
     ") STRICT"},
    {"individual", "CREATE TABLE individual (\n"
                   "    id INTEGER PRIMARY KEY,      -- counts from 0 over the run\n"
                   "    generation INTEGER NOT NULL, -- in which it was born\n"
                   "    parent INTEGER,              -- id; NULL in the first generation\n"
                   "    fitness REAL,                -- at birth; NULL when not a number\n"
                   "    genome BLOB NOT NULL\n"
                   ") STRICT"},
    {"survivor", "CREATE TABLE survivor (\n"
                 "    generation INTEGER NOT NULL, -- in which it survived, not its first\n"
                 "    id INTEGER NOT NULL,         -- of the individual\n"
                 "    fitness REAL,                -- in that generation\n"
                 "    PRIMARY KEY (generation, id)\n"
                 ") STRICT, WITHOUT ROWID"},
    {"verification",
     "CREATE TABLE verification (\n"
     "    id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row\n"
     "    every INTEGER NOT NULL, -- generations from one verification to the next\n"
     "    best INTEGER NOT NULL,  -- individuals that are verified\n"
     "    disparity REAL NOT NULL -- weight of the difference between the levels\n"
     ") STRICT"},
    {"verified", "CREATE TABLE verified (\n"
                 "    generation INTEGER NOT NULL, -- a multiple of `every`\n"
                 "    id INTEGER NOT NULL,         -- of the individual\n"
                 "    fitness REAL,                -- verified fitness; NULL when not a number\n"
                 "    PRIMARY KEY (generation, id)\n"
                 ") STRICT, WITHOUT ROWID"},
    {"scheme", "CREATE TABLE scheme (\n"
               "    id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row\n"
               "    selection INTEGER NOT NULL,   -- mf_Selection\n"
               "    replacement INTEGER NOT NULL, -- mf_Replacement\n"
               "    tournament INTEGER NOT NULL,  -- draws\n"
               "    batch INTEGER NOT NULL,       -- children evaluated at a time\n"
               "    protect INTEGER NOT NULL,     -- best that are never replaced\n"
               "    varies INTEGER NOT NULL       -- 1: genomes are not random bytes\n"
               ") STRICT"},
    {"descriptor", "CREATE TABLE descriptor (\n"
                   "    number INTEGER PRIMARY KEY, -- counts from 0\n"
                   "    name TEXT NOT NULL,\n"
                   "    lower REAL NOT NULL,\n"
                   "    upper REAL NOT NULL,\n"
                   "    cells INTEGER NOT NULL\n"
                   ") STRICT"},
    {"living", "CREATE TABLE living (\n"
               "    generation INTEGER NOT NULL, -- at the end of it\n"
               "    id INTEGER NOT NULL,         -- of the individual\n"
               "    PRIMARY KEY (generation, id)\n"
               ") STRICT, WITHOUT ROWID"},
    {"place", "CREATE TABLE place (\n"
              "    id INTEGER NOT NULL,         -- of the individual\n"
              "    descriptor INTEGER NOT NULL, -- its number\n"
              "    value REAL,                  -- NULL when not a number\n"
              "    PRIMARY KEY (id, descriptor)\n"
              ") STRICT, WITHOUT ROWID"},
    {"islands",
     "CREATE TABLE islands (\n"
     "    id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row\n"
     "    count INTEGER NOT NULL, -- of islands; an individual's is its id modulo this\n"
     "    every INTEGER NOT NULL, -- generations from one migration to the next; 0: none\n"
     "    best INTEGER NOT NULL   -- individuals that migrate\n"
     ") STRICT"},
};

const mf_ArchiveTable mf_archive_forgetful_verification = {
    "verification", "CREATE TABLE verification (\n"
                    "    id INTEGER PRIMARY KEY CHECK (id = 1), -- there is one row\n"
                    "    every INTEGER NOT NULL, -- generations from one verification to the next\n"
                    "    best INTEGER NOT NULL   -- individuals that are verified\n"
                    ") STRICT"};

// ---- creating ----------------------------------------------------------------------------------

static mf_Status insert_run(mf_Database *database, const mf_SearchConfig *config,
                            const char *settings, uint64_t model_hash, uint64_t terrain_hash,
                            mf_Error *error) {
    const mf_SqlValue values[] = {MF_SQL_TEXT(mf_version()),
                                  MF_SQL_INTEGER(config->population),
                                  MF_SQL_INTEGER(config->survivors),
                                  MF_SQL_INTEGER(config->genome_bytes),
                                  MF_SQL_INTEGER(config->seed),
                                  MF_SQL_REAL(config->mutation_rate),
                                  MF_SQL_INTEGER(config->reuse_fitness),
                                  MF_SQL_INTEGER(model_hash),
                                  MF_SQL_INTEGER(terrain_hash),
                                  MF_SQL_TEXT(settings)};
    return mf_database_insert(database,
                              "INSERT INTO run (id, library, population, survivors, genome_bytes, "
                              "seed, mutation_rate, reuse_fitness, model_hash, terrain_hash, "
                              "settings) VALUES (1,?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
                              values, sizeof values / sizeof *values, error);
}

static mf_Status insert_verification(mf_Database *database, const mf_SearchConfig *config,
                                     mf_Error *error) {
    const mf_SqlValue values[] = {MF_SQL_INTEGER(config->verify_every),
                                  MF_SQL_INTEGER(config->verify_best),
                                  MF_SQL_REAL(config->verify_disparity)};
    return mf_database_insert(
        database, "INSERT INTO verification (id, every, best, disparity) VALUES (1,?1,?2,?3)",
        values, 3, error);
}

static int format_of(const mf_SearchConfig *config) {
    if (config->islands > 1)
        return MF_ARCHIVE_FORMAT_ISLANDS;
    if (config->vary != NULL || mf_search_is_steady(config) ||
        config->selection != MF_SELECTION_TRUNCATION)
        return MF_ARCHIVE_FORMAT_GENERAL;
    return config->verify_every > 0 ? MF_ARCHIVE_FORMAT_VERIFIED : MF_ARCHIVE_FORMAT_PLAIN;
}

static mf_Status fill_new(mf_Database *database, const mf_SearchConfig *config,
                          const char *settings, uint64_t model_hash, uint64_t terrain_hash,
                          mf_Error *error) {
    char pragmas[96];
    int format = format_of(config);
    snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d;",
             MF_ARCHIVE_APPLICATION, format);
    MF_TRY(mf_database_run(database, pragmas, error));
    for (int i = 0; i < mf_archive_table_count(format); i++)
        MF_TRY(mf_database_run(database, mf_archive_tables[i].sql, error));
    MF_TRY(insert_run(database, config, settings, model_hash, terrain_hash, error));
    if (config->verify_every > 0)
        MF_TRY(insert_verification(database, config, error));
    if (format >= MF_ARCHIVE_FORMAT_GENERAL)
        MF_TRY(mf_archive_insert_scheme(database, config, error));
    return MF_OK;
}

static mf_Status fail_existing(mf_Error *error, const char *path) {
    return mf_fail_at(error, MF_BAD_ARGUMENT, path, 0, 0,
                      "exists already; an archive is never overwritten");
}

// Fails if `path` exists, with MF_BUSY if it is an archive being written.
static mf_Status check_free(mf_Context *context, const char *path, char *spare, size_t spare_size,
                            mf_Error *error) {
    struct stat info;
    if (!mf_allow(context, "stat"))
        return mf_fail_at(error, MF_IO, path, 0, 0, "cannot access it: %s", strerror(errno));
    if (lstat(path, &info) != 0)
        return MF_OK; // errors of the folder are reported when writing to it
    snprintf(spare, spare_size, "%s-wal", path);
    int file = open(spare, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool busy = file >= 0 && flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (file >= 0)
        close(file);
    if (busy)
        return mf_fail_at(error, MF_BUSY, path, 0, 0, "another process is writing to the archive");
    return fail_existing(error, path);
}

// Writes the image next to the target and links it; `spare` is a buffer for the temporary name.
static mf_Status place(mf_Context *context, const char *path, char *spare, size_t spare_size,
                       const void *image, size_t size, mf_Error *error) {
    snprintf(spare, spare_size, "%s.%ld.new", path, (long)getpid());
    mf_Status status = mf_file_replace(context, spare, image, size, error);
    if (status != MF_OK) {
        // The message names the requested file.
        if (error != NULL)
            snprintf(error->file, sizeof error->file, "%s", path);
        return status;
    }
    if (!mf_allow(context, "link") || link(spare, path) != 0)
        status = errno == EEXIST ? fail_existing(error, path)
                                 : mf_fail_at(error, MF_IO, path, 0, 0, "cannot create it: %s",
                                              strerror(errno));
    unlink(spare);
    return status;
}

static void remove_new(const char *path, char *spare, size_t spare_size) {
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (int i = 0; i < 4; i++) {
        snprintf(spare, spare_size, "%s%s", path, suffixes[i]);
        unlink(spare);
    }
}

static mf_Status create_file(mf_Context *context, const char *path, const mf_SearchConfig *config,
                             const char *settings, uint64_t model_hash, uint64_t terrain_hash,
                             char *spare, size_t spare_size, mf_Error *error) {
    MF_TRY(check_free(context, path, spare, spare_size, error));
    mf_Database database;
    MF_TRY(mf_database_open_memory(context, path, &database, error));
    void *image = NULL;
    size_t size = 0;
    mf_Status status = fill_new(&database, config, settings, model_hash, terrain_hash, error);
    MF_THEN(status, mf_database_image(&database, &image, &size, error));
    mf_database_close(&database);
    MF_THEN(status, place(context, path, spare, spare_size, image, size, error));
    sqlite3_free(image);
    return status;
}

mf_Status mf_archive_create(mf_Context *context, const char *path, const mf_SearchConfig *config,
                            const char *settings, uint64_t model_hash, uint64_t terrain_hash,
                            mf_Archive **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "archive: out is NULL");
    *out = NULL;
    MF_NEED(context != NULL && path != NULL, error, "archive: context or path is NULL");
    MF_TRY(mf_search_check_config(config, error));
    if (settings == NULL)
        settings = "";
    if (strlen(settings) > MF_ARCHIVE_SETTINGS_LIMIT)
        return mf_fail_at(error, MF_LIMIT, path, 0, 0,
                          "settings: expected at most %d bytes, found %zu",
                          MF_ARCHIVE_SETTINGS_LIMIT, strlen(settings));
    size_t spare_size = strlen(path) + 32;
    char *spare = mf_allocate(context, spare_size, 1);
    if (spare == NULL)
        return mf_fail_at(error, MF_NO_MEMORY, path, 0, 0, "no memory to create the archive");
    mf_Status status = create_file(context, path, config, settings, model_hash, terrain_hash, spare,
                                   spare_size, error);
    if (status == MF_OK) {
        status = mf_archive_open(context, path, true, out, error);
        // Busy means that another process has begun to use it.
        if (status != MF_OK && status != MF_BUSY)
            remove_new(path, spare, spare_size);
    }
    mf_release(context, spare);
    return status;
}
