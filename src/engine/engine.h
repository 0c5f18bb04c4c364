// Works of one program that others do: a master, which hands them out, and its workers.
//
// A work and its reply are bytes whose meaning the programs share. The reply depends on the work
// and on the set-up alone, so that any worker may do it, twice if need be: the works of a worker
// that is lost go to others, and at the end those of slow ones do, too. The first reply counts.
//
// Workers connect to the master over TCP and prove by a token that they are its own. Messages are
// not encrypted: let networks be private, or tunnel them.
#pragma once

#include <mayfly/base.h>

// ---- the master ---------------------------------------------------------------------------------

typedef struct mf_Engine mf_Engine;

typedef struct mf_EngineConfig {
    const char *address;      // numeric "HOST:PORT" to listen at; port 0: a free one
    const char *token;        // that workers send; "": none
    const char *version;      // of the programs; workers of another one are refused
    const void *setup;        // what each worker gets before its first work; borrowed
    size_t setup_size;        // [byte]
    bool (*stop)(void *user); // asked at least every 50 ms; true: MF_STOPPED; NULL: never
    void *user;
} mf_EngineConfig;

// Listens at the address; nobody works yet. MF_IO: it cannot be bound.
mf_Status mf_engine_create(mf_Context *context, const mf_EngineConfig *config, mf_Engine **out,
                           mf_Error *error);
// Ends the workers; programs that it started and that do not end within 2 s are killed.
void mf_engine_destroy(mf_Engine *engine);

// "127.0.0.1:40123".
const char *mf_engine_address(const mf_Engine *engine);

// Starts `count` programs, each with the environment variable MAYFLY_TOKEN, and starts another one
// for each that ends. `arguments` ends with NULL and is copied.
mf_Status mf_engine_start(mf_Engine *engine, const char *const *arguments, uint32_t count,
                          mf_Error *error);

typedef struct mf_Work {
    const void *data;  // borrowed
    size_t size;       // [byte]
    void *reply;       // out: mf_release it
    size_t reply_size; // [byte] out
} mf_Work;

// Has all works done. What has no reply after an error is NULL.
// MF_STOPPED: stop() said so. The error of a work, as its worker gave it. MF_IO: it ended twenty
// workers while nothing else was done, or programs end before they work.
mf_Status mf_engine_do(mf_Engine *engine, mf_Work *works, uint32_t count, mf_Error *error);

typedef struct mf_EngineStatistics {
    uint32_t workers;        // [1] that are ready now
    uint64_t works;          // [1] replies that counted
    uint64_t lost;           // [1] workers
    uint64_t repeated;       // [1] works that were handed out again
    uint64_t sent, received; // [byte]
} mf_EngineStatistics;
mf_EngineStatistics mf_engine_statistics(const mf_Engine *engine);

// ---- a worker -----------------------------------------------------------------------------------

typedef struct mf_Worker mf_Worker;

// Connects, and waits for the set-up. MF_IO: there is no master, or it refused the token or the
// version.
mf_Status mf_worker_connect(mf_Context *context, const char *address, const char *token,
                            const char *version, mf_Worker **out, mf_Error *error);
void mf_worker_destroy(mf_Worker *worker);
// Valid until mf_worker_destroy.
const void *mf_worker_setup(const mf_Worker *worker, size_t *size);

// Waits for a work, whose data are valid until the next call. MF_STOPPED: the master needs no more.
mf_Status mf_worker_next(mf_Worker *worker, const void **data, size_t *size, mf_Error *error);
// Answers it: with a reply, or with an error, after which the master's call fails.
mf_Status mf_worker_reply(mf_Worker *worker, const void *reply, size_t size, mf_Error *error);
mf_Status mf_worker_fail(mf_Worker *worker, const mf_Error *reason, mf_Error *error);
