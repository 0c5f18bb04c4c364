// The built-in pool behind mf_parallel_for: persistent workers that claim indices one by one.
//
// Method: one 64-bit word `claim` = generation << 32 | next index. A call closes the word (its
// index is one that no count reaches, so nobody can claim), writes the job, opens the word for a
// new generation and works with the others. A worker reads the word, then the job, then takes an
// index by compare-and-exchange on the whole word, so a late worker cannot join a job that it has
// read only partly: the job's fields are written only while the word is closed, and reading a new
// field makes the closing visible. A call never waits for sleeping workers; it returns when all its
// indices are done.
//
// Waiting, on both sides: spin for 0.2 ms (the parallel loops of a swarm are separated by serial
// work of up to 100 us, and waking a sleeping thread costs 10 to 50 us), then sleep on a condition
// variable. A thread sets its sleep flag before its last read of the atomic, and the waking thread
// changes the atomic before it reads the flags (both sequentially consistent), so at least one of
// them sees the other's write.
#define _GNU_SOURCE // pthread_sigmask
#include "base/clock.h"
#include "base/context.h"
#include "base/inject.h"
#include "base/thread.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

enum {
    SPIN_TIME = 200000, // [ns] a waiting thread spins before it sleeps
    SPIN_BURST = 16     // [1] reads of the atomic between two reads of the clock
};

#define CLOSED UINT32_MAX // index that no count reaches

struct mf_Pool {
    // Written by all threads, so on cache lines of their own.
    _Alignas(64) _Atomic uint64_t claim;
    _Alignas(64) _Atomic uint32_t done; // [1] indices of this job that are finished
    _Alignas(64) _Atomic uint32_t count;
    _Atomic(mf_TaskFn) function;
    _Atomic(void *) task;
    _Atomic bool stop;
    _Atomic bool busy;        // a call is running
    _Atomic uint32_t started; // [1] workers whose thread runs
    _Atomic uint32_t sleepers;
    _Atomic bool caller_sleeps;
    pthread_mutex_t mutex;
    pthread_cond_t work;     // a new job, or the end
    pthread_cond_t finished; // the job's last index is done
    uint32_t worker_count;   // [1] without the caller
    pthread_t workers[];
};

static void pause_briefly(void) {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static uint64_t generation_of(uint64_t claim) {
    return claim >> 32;
}

// Claims and runs indices of the current job until none is left.
static void work_on_job(mf_Pool *pool) {
    uint64_t claim = atomic_load(&pool->claim);
    for (;;) {
        mf_TaskFn function = atomic_load(&pool->function);
        void *task = atomic_load(&pool->task);
        uint32_t count = atomic_load(&pool->count);
        uint32_t index = (uint32_t)claim;
        if (index >= count)
            return;
        if (!atomic_compare_exchange_weak(&pool->claim, &claim, claim + 1))
            continue;
        function(task, index);
        // After the last index is counted the caller may return, so only the pool is accessed from
        // here on.
        if (atomic_fetch_add(&pool->done, 1) + 1 == count && atomic_load(&pool->caller_sleeps)) {
            pthread_mutex_lock(&pool->mutex);
            pthread_cond_signal(&pool->finished);
            pthread_mutex_unlock(&pool->mutex);
        }
        claim = atomic_load(&pool->claim);
    }
}

// Returns when there is a job newer than `generation`, or the end.
static void wait_for_work(mf_Pool *pool, uint64_t generation) {
    int64_t begin = mf_clock_now();
    do {
        for (int spin = 0; spin < SPIN_BURST; spin++) {
            if (generation_of(atomic_load(&pool->claim)) != generation || atomic_load(&pool->stop))
                return;
            pause_briefly();
        }
    } while (mf_clock_now() - begin < SPIN_TIME);
    pthread_mutex_lock(&pool->mutex);
    atomic_fetch_add(&pool->sleepers, 1);
    while (generation_of(atomic_load(&pool->claim)) == generation && !atomic_load(&pool->stop))
        pthread_cond_wait(&pool->work, &pool->mutex);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->mutex);
}

static void *worker_main(void *argument) {
    mf_Pool *pool = argument;
    uint64_t generation = 0;
    atomic_fetch_add(&pool->started, 1);
    for (;;) {
        wait_for_work(pool, generation);
        if (atomic_load(&pool->stop))
            return NULL;
        generation = generation_of(atomic_load(&pool->claim));
        work_on_job(pool);
    }
}

static void wait_until_done(mf_Pool *pool, uint32_t count) {
    if (atomic_load(&pool->done) == count)
        return;
    int64_t begin = mf_clock_now();
    do {
        for (int spin = 0; spin < SPIN_BURST; spin++) {
            if (atomic_load(&pool->done) == count)
                return;
            pause_briefly();
        }
    } while (mf_clock_now() - begin < SPIN_TIME);
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->caller_sleeps, true);
    while (atomic_load(&pool->done) != count)
        pthread_cond_wait(&pool->finished, &pool->mutex);
    atomic_store(&pool->caller_sleeps, false);
    pthread_mutex_unlock(&pool->mutex);
}

void mf_pool_run(mf_Pool *pool, uint32_t count, mf_TaskFn function, void *task) {
    // A call from inside a task, or from a second thread, runs alone instead of breaking the first.
    if (atomic_exchange(&pool->busy, true)) {
        for (uint32_t i = 0; i < count; i++)
            function(task, i);
        return;
    }
    // One generation closed, the next one open.
    uint64_t generation = generation_of(atomic_load(&pool->claim)) + 1;
    atomic_store(&pool->claim, generation << 32 | CLOSED);
    atomic_store(&pool->function, function);
    atomic_store(&pool->task, task);
    atomic_store(&pool->count, count);
    atomic_store(&pool->done, 0);
    atomic_store(&pool->claim, (generation + 1) << 32);
    if (atomic_load(&pool->sleepers) != 0) {
        pthread_mutex_lock(&pool->mutex);
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->mutex);
    }
    work_on_job(pool);
    wait_until_done(pool, count);
    atomic_store(&pool->busy, false);
}

// ---- creation and destruction ------------------------------------------------------------------

int mf_thread_start(mf_Context *context, pthread_t *thread, void *(*run)(void *), void *user) {
    sigset_t blocked, before;
    sigfillset(&blocked);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int problem = EAGAIN;
    if (mf_allow(context, "pthread_create"))
        problem = pthread_create(thread, NULL, run, user);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return problem;
}

// Returns once all workers run. While the C library or a sanitizer sets a thread up it holds locks
// that a child of fork would wait for without end (files of HDF5 are tried in a child).
static mf_Status start_workers(mf_Context *context, mf_Pool *pool, uint32_t count,
                               mf_Error *error) {
    int problem = 0;
    while (pool->worker_count < count && problem == 0) {
        problem = mf_thread_start(context, &pool->workers[pool->worker_count], worker_main, pool);
        if (problem == 0)
            pool->worker_count++;
    }
    while (atomic_load(&pool->started) < pool->worker_count)
        sched_yield();
    if (problem == 0)
        return MF_OK;
    errno = problem;
    return mf_fail(error, MF_IO, "threads: need %u threads, the system gave %u: %m", count + 1,
                   pool->worker_count + 1);
}

static bool init_locks(mf_Context *context, mf_Pool *pool) {
    if (!mf_allow(context, "pthread_mutex_init") || pthread_mutex_init(&pool->mutex, NULL) != 0)
        return false;
    if (mf_allow(context, "pthread_cond_init") && pthread_cond_init(&pool->work, NULL) == 0) {
        if (mf_allow(context, "pthread_cond_init") && pthread_cond_init(&pool->finished, NULL) == 0)
            return true;
        pthread_cond_destroy(&pool->work);
    }
    pthread_mutex_destroy(&pool->mutex);
    return false;
}

mf_Status mf_pool_create(mf_Context *context, uint32_t threads, mf_Pool **out, mf_Error *error) {
    uint32_t worker_count = threads - 1;
    size_t size = sizeof(mf_Pool) + worker_count * sizeof(pthread_t);
    // Directly from the allocator: the pool belongs to the context and is not counted in
    // live_bytes.
    mf_Pool *pool = NULL;
    if (mf_allow(context, "allocate"))
        pool = context->config.allocate(context->config.user, size);
    if (pool == NULL)
        return mf_fail(error, MF_NO_MEMORY, "threads: no memory for %u threads", threads);
    // Zeroed atomics are valid; generation 0 is closed because its count is 0.
    memset(pool, 0, size);
    if (!init_locks(context, pool)) {
        context->config.release(context->config.user, pool);
        return mf_fail(error, MF_NO_MEMORY, "threads: no locks left in the system");
    }
    mf_Status status = start_workers(context, pool, worker_count, error);
    if (status != MF_OK)
        mf_pool_destroy(context, pool);
    else
        *out = pool;
    return status;
}

void mf_pool_destroy(mf_Context *context, mf_Pool *pool) {
    if (pool == NULL)
        return;
    pthread_mutex_lock(&pool->mutex);
    atomic_store(&pool->stop, true);
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->finished);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    context->config.release(context->config.user, pool);
}
