// The context: allocator with accounting, failure injection, and the choice of threads.
//
// Every block has a hidden header of 64 bytes with its size, so that live bytes can be counted with
// any allocator, and a mark that identifies a foreign or already released pointer. Invariants:
// live_bytes counts the requested sizes, without headers and without the context itself; failure
// injection is one atomic countdown, so exactly one call fails even with many threads.
#define _GNU_SOURCE // sched_getaffinity
#include "base/context.h"
#include "base/floats.h"
#include "base/inject.h"

#include <assert.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ALIGNMENT = 64 };

#define LIVE_MARK UINT64_C(0x6d61796666c79a11)

typedef struct Header {
    _Alignas(ALIGNMENT) size_t size; // [byte] as requested by the caller
    uint64_t mark;
} Header;

_Static_assert(sizeof(Header) == ALIGNMENT, "the header must keep the alignment");

static void *allocate_default(void *user, size_t size) {
    (void)user;
    void *memory = NULL;
    // Not aligned_alloc: it requires a rounded size, which would hide overruns from memory
    // checkers.
    return posix_memalign(&memory, ALIGNMENT, size) == 0 ? memory : NULL;
}

static void release_default(void *user, void *memory) {
    (void)user;
    free(memory);
}

mf_ContextConfig mf_context_config(void) {
    return (mf_ContextConfig){.struct_size = sizeof(mf_ContextConfig)};
}

// Processors this process may use: in a container often fewer than the machine has.
static uint32_t online_processors(void) {
    long count = 0;
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
#endif
    if (count < 1)
        count = sysconf(_SC_NPROCESSORS_ONLN);
    if (count < 1)
        count = 1;
    return count < MF_THREAD_LIMIT ? (uint32_t)count : MF_THREAD_LIMIT;
}

static mf_Status check_config(const mf_ContextConfig *config, mf_Error *error) {
    if (config->struct_size != sizeof *config)
        return mf_fail(error, MF_BAD_ARGUMENT, "context config: start from mf_context_config()");
    MF_NEED(config->threads <= MF_THREAD_LIMIT, error, "config.threads: need at most %d, found %u",
            MF_THREAD_LIMIT, config->threads);
    if ((config->allocate == NULL) != (config->release == NULL))
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "config.allocate and config.release: need both or neither");
    return MF_OK;
}

static mf_Status make_context(const mf_ContextConfig *config, uint64_t countdown, mf_Context **out,
                              mf_Error *error) {
    // The context itself comes straight from the allocator, as the first fallible call.
    mf_Context *context = countdown == 1 ? NULL : config->allocate(config->user, sizeof *context);
    if (context == NULL)
        return mf_fail(error, MF_NO_MEMORY, "context: no memory for %zu bytes", sizeof *context);
    if ((uintptr_t)context % ALIGNMENT != 0) {
        config->release(config->user, context);
        return mf_fail(error, MF_BAD_ARGUMENT, "config.allocate: need memory aligned to %d bytes",
                       ALIGNMENT);
    }
    memset(context, 0, sizeof *context);
    context->config = *config;
    context->threads = config->threads != 0 ? config->threads : online_processors();
    atomic_init(&context->countdown, countdown > 1 ? countdown - 1 : 0);
    atomic_init(&context->call_count, 1);
    atomic_init(&context->live_bytes, 0);
    atomic_init(&context->failed_operation, NULL);
    atomic_init(&context->plugins_allowed, false);
    *out = context;
    return MF_OK;
}

mf_Status mf_context_create_failing(const mf_ContextConfig *config, uint64_t countdown,
                                    mf_Context **out, mf_Error *error) {
    *out = NULL;
    mf_ContextConfig used = config != NULL ? *config : mf_context_config();
    MF_TRY(check_config(&used, error));
    if (used.allocate == NULL) {
        used.allocate = allocate_default;
        used.release = release_default;
    }
    mf_Context *context = NULL;
    MF_TRY(make_context(&used, countdown, &context, error));
    mf_Status status = MF_OK;
    if (context->threads > 1 && used.parallel_for == NULL)
        status = mf_pool_create(context, context->threads, &context->pool, error);
    if (status != MF_OK)
        mf_context_destroy(context);
    else
        *out = context;
    return status;
}

mf_Status mf_context_create(const mf_ContextConfig *config, mf_Context **out, mf_Error *error) {
    MF_NEED(out != NULL, error, "mf_context_create: out is NULL");
    return mf_context_create_failing(config, 0, out, error);
}

void mf_context_destroy(mf_Context *context) {
    if (context == NULL)
        return;
    mf_pool_destroy(context, context->pool);
    context->config.release(context->config.user, context);
}

uint32_t mf_context_threads(const mf_Context *context) {
    return context == NULL ? 0 : context->threads;
}

void mf_context_fail_after(mf_Context *context, uint64_t countdown) {
    if (context == NULL)
        return;
    atomic_store(&context->countdown, countdown);
}

uint64_t mf_context_call_count(const mf_Context *context) {
    return context == NULL ? 0 : atomic_load(&context->call_count);
}

size_t mf_context_live_bytes(const mf_Context *context) {
    return context == NULL ? 0 : atomic_load(&context->live_bytes);
}

const char *mf_context_failed_operation(const mf_Context *context) {
    return atomic_load(&context->failed_operation);
}

bool mf_allow(mf_Context *context, const char *operation) {
    if (context == NULL)
        return false;
    atomic_fetch_add_explicit(&context->call_count, 1, memory_order_relaxed);
    uint64_t left = atomic_load_explicit(&context->countdown, memory_order_relaxed);
    while (left != 0) {
        if (!atomic_compare_exchange_weak(&context->countdown, &left, left - 1))
            continue;
        if (left > 1)
            return true;
        atomic_store(&context->failed_operation, operation);
        errno = EIO;
        return false;
    }
    return true;
}

void *mf_allocate(mf_Context *context, size_t count, size_t size) {
    if (context == NULL)
        return NULL;
    size_t bytes, total;
    bool fits = !__builtin_mul_overflow(count, size, &bytes) &&
                !__builtin_add_overflow(bytes, sizeof(Header), &total);
    Header *header = NULL;
    if (mf_allow(context, "allocate") && fits)
        header = context->config.allocate(context->config.user, total);
    if (header == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    assert((uintptr_t)header % ALIGNMENT == 0);
    memset(header, 0, total);
    header->size = bytes;
    header->mark = LIVE_MARK;
    atomic_fetch_add_explicit(&context->live_bytes, bytes, memory_order_relaxed);
    return header + 1;
}

void mf_release(mf_Context *context, void *memory) {
    if (memory == NULL)
        return;
    Header *header = (Header *)memory - 1;
    assert(header->mark == LIVE_MARK && "released twice, or not from mf_allocate");
    header->mark = 0;
    atomic_fetch_sub_explicit(&context->live_bytes, header->size, memory_order_relaxed);
    context->config.release(context->config.user, header);
}

typedef struct Task {
    mf_TaskFn function;
    void *user;
} Task;

// Threads have the floating-point environment of their host, or of what ran on them before.
static void run_task(void *user, uint32_t index) {
    MF_DEFAULT_FLOATS;
    const Task *task = user;
    task->function(task->user, index);
}

void mf_parallel_for(mf_Context *context, uint32_t count, mf_TaskFn function, void *task) {
    if (context == NULL || function == NULL)
        return;
    Task own = {function, task};
    if (count > 1 && context->config.parallel_for != NULL) {
        context->config.parallel_for(context->config.user, count, run_task, &own);
        return;
    }
    if (count > 1 && context->pool != NULL) {
        mf_pool_run(context->pool, count, run_task, &own);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        function(task, i);
}
