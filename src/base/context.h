// Internals of the context, shared by base/context.c and base/threads.c, and by tests that need to
// fail the calls of context creation itself.
#pragma once

#include <mayfly/base.h>

#include <stdatomic.h>

enum { MF_THREAD_LIMIT = 1024 }; // workers of a context, including the caller

typedef struct mf_Pool mf_Pool;

// Called for every file that is read; see mf_file_watch.
typedef void (*mf_FileSeenFn)(const char *path, void *user);

struct mf_Context {
    mf_ContextConfig config;
    uint32_t threads;            // [1] including the caller, >= 1
    mf_Pool *pool;               // NULL with one thread or with the user's parallel_for
    _Atomic uint64_t countdown;  // [1] fallible calls until one fails, 0 = never
    _Atomic uint64_t call_count; // [1] fallible calls so far
    _Atomic size_t live_bytes;   // [byte] requested and not yet released
    _Atomic(const char *) failed_operation;
    _Atomic bool plugins_allowed; // mf_plugins_allow
    mf_FileSeenFn file_seen;      // mf_file_watch
    void *file_user;
    bool (*file_may)(const char *path, void *user); // mf_file_guard; NULL: all may be read
    void *file_guard;
};

// As mf_context_create, with failure injection armed before the first call.
mf_Status mf_context_create_failing(const mf_ContextConfig *config, uint64_t countdown,
                                    mf_Context **out, mf_Error *error);

// Name of the last operation that failure injection refused, or NULL. Static storage.
const char *mf_context_failed_operation(const mf_Context *context);

// Starts threads - 1 workers; `threads` >= 2. All memory is the context's.
mf_Status mf_pool_create(mf_Context *context, uint32_t threads, mf_Pool **out, mf_Error *error);
void mf_pool_destroy(mf_Context *context, mf_Pool *pool); // may be NULL
void mf_pool_run(mf_Pool *pool, uint32_t count, mf_TaskFn function, void *task);

// Runs function(task, 0 .. count-1), distributed over the context's threads; returns when all are
// done. Work is divided by index, never by worker. Must not be nested.
void mf_parallel_for(mf_Context *context, uint32_t count, mf_TaskFn function, void *task);
