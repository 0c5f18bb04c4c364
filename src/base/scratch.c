// A pool of scratch blocks. A thread takes a block by an atomic exchange of its flag. The search
// starts at an index derived from the thread, so a thread mostly gets the same block, which is
// still in its cache.
#include "base/scratch.h"

#include "base/context.h"
#include "base/memory.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum { ALIGNMENT = 64 };

struct mf_Scratch {
    size_t size; // [byte] of a block, a multiple of ALIGNMENT
    uint32_t count;
    char *blocks;
    _Atomic uint32_t taken[]; // [1] per block: 1 while it is borrowed
};

mf_Status mf_scratch_reserve(mf_Context *context, mf_Scratch *scratch, size_t size,
                             mf_Error *error) {
    if (size < scratch->size)
        return MF_OK;
    if (size > (size_t)MF_MEMORY_MANY * 64)
        MF_TRY(mf_memory_suffices(size, scratch->count, "blocks of working memory", error));
    size = (size / ALIGNMENT + 1) * ALIGNMENT; // never 0
    char *blocks = mf_allocate(context, scratch->count, size);
    MF_NEED_MEMORY(blocks != NULL, error, "scratch");
    mf_release(context, scratch->blocks);
    scratch->blocks = blocks;
    scratch->size = size;
    return MF_OK;
}

mf_Status mf_scratch_create(mf_Context *context, size_t size, uint32_t most, mf_Scratch **out,
                            mf_Error *error) {
    const uint32_t threads = mf_context_threads(context);
    const uint32_t count = most < threads ? (most > 0 ? most : 1) : threads;
    mf_Scratch *scratch = *out =
        mf_allocate(context, 1, sizeof *scratch + count * sizeof scratch->taken[0]);
    MF_NEED_MEMORY(scratch != NULL, error, "scratch");
    scratch->count = count;
    const mf_Status status = mf_scratch_reserve(context, scratch, size, error);
    if (status != MF_OK) {
        mf_release(context, scratch);
        *out = NULL;
    }
    return status;
}

void mf_scratch_destroy(mf_Context *context, mf_Scratch *scratch) {
    if (scratch == NULL)
        return;
    mf_release(context, scratch->blocks);
    mf_release(context, scratch);
}

// Where assertions hold, NaN in every number of it: what reads before it writes is found at once.
static void *undefined(void *block, size_t size) {
#ifndef NDEBUG
    memset(block, 0xff, size);
#else
    (void)size;
#endif
    return block;
}

void *mf_scratch_borrow(mf_Scratch *scratch) {
    // pthread_self() differs between threads by at least a page.
    const uint32_t first = (uint32_t)((uintptr_t)pthread_self() >> 12) % scratch->count;
    for (;; sched_yield())
        for (uint32_t i = 0; i < scratch->count; i++) {
            const uint32_t at = (first + i) % scratch->count;
            if (atomic_exchange_explicit(&scratch->taken[at], 1, memory_order_acquire) == 0)
                return undefined(scratch->blocks + at * scratch->size, scratch->size);
        }
}

void mf_scratch_return(mf_Scratch *scratch, void *block) {
    const size_t at = (size_t)((char *)block - scratch->blocks) / scratch->size;
    atomic_store_explicit(&scratch->taken[at], 0, memory_order_release);
}
