// The background thread: it searches for neighbours and collisions in copies of the positions while
// the world continues.
//
// One counter of started and one of finished work, both under a lock. The main thread loads the
// positions before it starts work and does not access that search again before it has waited for
// it, so the two threads never work on the same memory. Results are the same as on the main thread;
// the time at which they take effect depends on the step's number only.
#define _GNU_SOURCE // pthread_sigmask
#include "interaction/parts.h"
#include "math/float_mode.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

struct mf_Beside {
    mf_Interaction *all;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t begun, done;
    uint32_t waiting;  // MF_WORK_* begun and not yet done
    uint32_t stale[2]; // MF_NEIGHBOUR_* to be renewed first, of detection and of collisions
    bool stop;
};

static void do_work(mf_Interaction *all, uint32_t work, uint32_t stale) {
    mf_Neighbours *search = work == MF_WORK_LOOK ? all->look : all->touch;
    bool look = work == MF_WORK_LOOK;
    mf_neighbours_renew(search, stale, true, look && all->query.in_sight,
                        look && all->query.relative);
    if (!look)
        mf_interaction_begin_touch(all);
    for (uint32_t chunk = 0; chunk < search->chunk_count; chunk++)
        mf_interaction_work(all, search, work, chunk);
}

static void *beside_main(void *argument) {
    mf_Beside *beside = argument;
    unsigned mode = mf_float_mode_enter();
    pthread_mutex_lock(&beside->mutex);
    for (;;) {
        while (beside->waiting == 0 && !beside->stop)
            pthread_cond_wait(&beside->begun, &beside->mutex);
        if (beside->waiting == 0)
            break;
        // Collisions first: they are shorter.
        uint32_t work = beside->waiting & MF_WORK_TOUCH ? MF_WORK_TOUCH : MF_WORK_LOOK;
        uint32_t stale = beside->stale[work == MF_WORK_TOUCH];
        pthread_mutex_unlock(&beside->mutex);
        do_work(beside->all, work, stale);
        pthread_mutex_lock(&beside->mutex);
        beside->waiting &= ~work;
        pthread_cond_signal(&beside->done);
    }
    pthread_mutex_unlock(&beside->mutex);
    mf_float_mode_leave(mode);
    return NULL;
}

void mf_beside_begin(mf_Beside *beside, uint32_t work, uint32_t stale) {
    pthread_mutex_lock(&beside->mutex);
    beside->waiting |= work;
    beside->stale[work == MF_WORK_TOUCH] = stale;
    pthread_cond_signal(&beside->begun);
    pthread_mutex_unlock(&beside->mutex);
}

void mf_beside_wait(mf_Beside *beside, uint32_t work) {
    pthread_mutex_lock(&beside->mutex);
    while ((beside->waiting & work) != 0)
        pthread_cond_wait(&beside->done, &beside->mutex);
    pthread_mutex_unlock(&beside->mutex);
}

static bool init_locks(mf_Context *context, mf_Beside *beside) {
    if (!mf_allow(context, "pthread_mutex_init") || pthread_mutex_init(&beside->mutex, NULL) != 0)
        return false;
    if (mf_allow(context, "pthread_cond_init") && pthread_cond_init(&beside->begun, NULL) == 0) {
        if (mf_allow(context, "pthread_cond_init") && pthread_cond_init(&beside->done, NULL) == 0)
            return true;
        pthread_cond_destroy(&beside->begun);
    }
    pthread_mutex_destroy(&beside->mutex);
    return false;
}

static void destroy_locks(mf_Beside *beside) {
    pthread_cond_destroy(&beside->done);
    pthread_cond_destroy(&beside->begun);
    pthread_mutex_destroy(&beside->mutex);
}

mf_Status mf_beside_create(mf_Interaction *all, mf_Beside **out, mf_Error *error) {
    *out = NULL;
    mf_Beside *beside = mf_allocate(all->context, 1, sizeof *beside);
    if (beside == NULL)
        return mf_fail(error, MF_NO_MEMORY, "interaction: out of memory");
    beside->all = all;
    if (!init_locks(all->context, beside)) {
        mf_release(all->context, beside);
        return mf_fail(error, MF_NO_MEMORY, "interaction: no locks left in the system");
    }
    // Signals are the host's, but for faults of the thread itself (as in base/threads.c).
    sigset_t blocked, before;
    sigfillset(&blocked);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGPROF};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&blocked, faults[i]);
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    int problem = EAGAIN;
    if (mf_allow(all->context, "pthread_create"))
        problem = pthread_create(&beside->thread, NULL, beside_main, beside);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (problem != 0) {
        destroy_locks(beside);
        mf_release(all->context, beside);
        errno = problem;
        return mf_fail(error, MF_IO, "interaction: the system gave no thread: %m");
    }
    *out = beside;
    return MF_OK;
}

void mf_beside_destroy(mf_Beside *beside) {
    if (beside == NULL)
        return;
    pthread_mutex_lock(&beside->mutex);
    beside->stop = true;
    pthread_cond_signal(&beside->begun);
    pthread_mutex_unlock(&beside->mutex);
    pthread_join(beside->thread, NULL);
    destroy_locks(beside);
    mf_release(beside->all->context, beside);
}
