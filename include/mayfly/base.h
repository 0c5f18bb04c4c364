// Mayfly: status values, errors, the context with its allocator and I/O hook, integer time,
// counter-based random numbers and the one way to run in parallel.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Marks what the libraries, or a plugin, show to others. Functions have C linkage in C++, too.
#if defined(__GNUC__)
#define MF_VISIBLE __attribute__((visibility("default")))
#else
#define MF_VISIBLE
#endif
#ifdef __cplusplus
#define MF_API extern "C" MF_VISIBLE
#else
#define MF_API MF_VISIBLE
#endif

#if defined(__GNUC__)
#define MF_PRINTF(format_index, first_argument)                                                    \
    __attribute__((format(printf, format_index, first_argument)))
#else
#define MF_PRINTF(format_index, first_argument)
#endif

// Result of a function that can fail. MF_OK is 0, everything else is a failure.
typedef enum mf_Status {
    MF_OK = 0,
    MF_BAD_ARGUMENT, // an argument is out of range or inconsistent
    MF_BAD_FILE,     // the content of a file violates its format
    MF_NO_MEMORY,    // the allocator returned NULL
    MF_IO,           // the operating system failed to open, read, write, rename or sync
    MF_UNSUPPORTED,  // well-formed, but not supported by this version
    MF_NOT_FOUND,    // no file, field, run or individual of that name
    MF_BUSY,         // locked by another process
    MF_CORRUPT,      // a checksum or an internal relation is wrong
    MF_VERSION,      // written by an incompatible version
    MF_STOPPED,      // stopped early on request; can be resumed
    MF_LIMIT         // larger than a documented limit
} mf_Status;

// One failure, to be printed as one line. May be NULL in every function.
typedef struct mf_Error {
    mf_Status status;
    int32_t line;      // [1] 1-based line in `file`, 0 when unknown
    int32_t column;    // [1] 1-based column in `file`, 0 when unknown
    char file[256];    // path as the caller gave it, "" when no file is involved
    char message[512]; // what was expected and what was found; no newline
} mf_Error;

// Name of a status, for example "bad file". Static storage, never NULL.
MF_API const char *mf_status_name(mf_Status status);

// Writes "file:line:column: message" (unknown parts are omitted) into `out`, always terminated.
// Returns `out`.
MF_API const char *mf_error_format(const mf_Error *error, char *out, size_t out_size);

// Fills `error` (may be NULL) and returns `status`, so that callers can `return mf_fail(...)`.
MF_API mf_Status mf_fail(mf_Error *error, mf_Status status, const char *format, ...)
    MF_PRINTF(3, 4);

// As mf_fail, with a position in a file. `file` may be NULL; `line` and `column` may be 0.
MF_API mf_Status mf_fail_at(mf_Error *error, mf_Status status, const char *file, int32_t line,
                            int32_t column, const char *format, ...) MF_PRINTF(6, 7);

// ---- context -----------------------------------------------------------------------------------

// Everything that the library uses of its surroundings: memory, fallible calls, threads. All other
// objects keep a pointer to the context with which they were created; it must outlive them.
typedef struct mf_Context mf_Context;

typedef void (*mf_TaskFn)(void *task, uint32_t index);

typedef struct mf_ContextConfig {
    uint32_t struct_size; // [byte] set by mf_context_config(); guards layout and defaults
    uint32_t threads;     // [1] worker count including the caller, 0 = all online processors
    void *user;           // passed to the functions below
    // Returns `size` bytes aligned to 64, or NULL. NULL function = the C library.
    void *(*allocate)(void *user, size_t size);
    void (*release)(void *user, void *memory);
    // Runs task(0) .. task(count-1) in any order and returns when all are done. NULL function =
    // the built-in pool of `threads` workers.
    void (*parallel_for)(void *user, uint32_t count, mf_TaskFn function, void *task);
} mf_ContextConfig;

// The defaults of mf_ContextConfig: every configuration starts from them.
MF_API mf_ContextConfig mf_context_config(void);

// Creates a context. `config` may be NULL for the defaults. Free with mf_context_destroy.
MF_API mf_Status mf_context_create(const mf_ContextConfig *config, mf_Context **out,
                                   mf_Error *error);
MF_API void mf_context_destroy(mf_Context *context); // NULL is allowed

// Number of workers that mf_parallel_for uses, >= 1.
MF_API uint32_t mf_context_threads(const mf_Context *context);

MF_API size_t mf_context_live_bytes(const mf_Context *context); // [byte] allocated, not freed

// Zeroed memory, aligned to 64 bytes; NULL if it fails or count * size overflows. A count or size
// of 0 gives a valid pointer that can be released.
MF_API void *mf_allocate(mf_Context *context, size_t count, size_t size);
MF_API void mf_release(mf_Context *context, void *memory); // NULL is allowed

// ---- files -------------------------------------------------------------------------------------

// Reads a whole regular file of at most `limit` bytes; adds a terminating 0, which is not counted
// in `size`. The caller releases *data with mf_release. The error names the file.
MF_API mf_Status mf_file_read(mf_Context *context, const char *path, size_t limit, char **data,
                              size_t *size, mf_Error *error);

// Replaces `path` atomically: temporary file in the same folder, write, fsync, rename, fsync of the
// folder. On failure the old file is unchanged and no temporary file remains.
MF_API mf_Status mf_file_replace(mf_Context *context, const char *path, const void *data,
                                 size_t size, mf_Error *error);

// ---- integer time ------------------------------------------------------------------------------

typedef int64_t mf_Time; // [ns] simulated time or duration

#define MF_SECOND ((mf_Time)1000000000)
#define MF_MILLISECOND ((mf_Time)1000000)

// Nearest nanosecond; values that are not finite or out of range give INT64_MAX / INT64_MIN.
MF_API mf_Time mf_time_from_seconds(double seconds);
MF_API double mf_time_to_seconds(mf_Time time);

// An exact rate of numerator/denominator ticks per second.
typedef struct mf_Rate {
    int64_t numerator;   // [1] > 0
    int64_t denominator; // [s] > 0
} mf_Rate;

MF_API mf_Rate mf_rate_from_period(mf_Time period); // [ns] period > 0, exact

// Number of ticks of `rate` in [0, time], the one at 0 included: floor(time * rate) + 1 for
// time >= 0. Exact for every time and rate (128-bit arithmetic).
MF_API int64_t mf_rate_ticks(mf_Rate rate, mf_Time time);

// True if a tick of `rate` is in (time - step, time]; at time 0 always.
MF_API bool mf_rate_due(mf_Rate rate, mf_Time time, mf_Time step);

// ---- random numbers ----------------------------------------------------------------------------

// Four independent 32-bit words for (seed, instance, stream, tick): key = seed, counter =
// {low tick, high tick, instance, stream}. The same on every machine and for every thread count.
MF_API void mf_random(uint64_t seed, uint32_t instance, uint32_t stream, uint64_t tick,
                      uint32_t out[4]);

MF_API double mf_random_unit_double(uint32_t high, uint32_t low);

// ---- hashing -----------------------------------------------------------------------------------

// 64-bit FNV-1a over `size` bytes, chained through `hash`; start from MF_HASH_START. Used for
// state hashes (byte order: little endian on every machine).
#define MF_HASH_START UINT64_C(0xcbf29ce484222325)
MF_API uint64_t mf_hash_bytes(uint64_t hash, const void *data, size_t size);

// "major.minor.patch" of the library.
MF_API const char *mf_version(void);

// Ends the calling function, which returns an mf_Status, with that of `call` unless it is MF_OK.
#define MF_TRY(call)                                                                               \
    do {                                                                                           \
        const mf_Status try_status_ = (call);                                                      \
        if (try_status_ != MF_OK)                                                                  \
            return try_status_;                                                                    \
    } while (0)

// Calls what comes next, unless something failed before: `status` is that of the first failure.
#define MF_THEN(status, call)                                                                      \
    do {                                                                                           \
        if ((status) == MF_OK)                                                                     \
            (status) = (call);                                                                     \
    } while (0)

// Ends the calling function unless the condition holds, with that status and message, as mf_fail;
// MF_NEED with MF_BAD_ARGUMENT, MF_NEED_MEMORY with MF_NO_MEMORY and "<who>: out of memory".
#define MF_CHECK(condition, error, status, ...)                                                    \
    do {                                                                                           \
        if (!(condition))                                                                          \
            return mf_fail(error, status, __VA_ARGS__);                                            \
    } while (0)
#define MF_NEED(condition, error, ...) MF_CHECK(condition, error, MF_BAD_ARGUMENT, __VA_ARGS__)
#define MF_NEED_MEMORY(condition, error, who)                                                      \
    MF_CHECK(condition, error, MF_NO_MEMORY, "%s: out of memory", who)
