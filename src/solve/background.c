// The background thread: it searches for neighbors and collisions in copies of the positions while
// the world continues.
//
// Two counters of started and finished work, both under a lock. The main thread loads the positions
// before it starts work and does not access that search again before it has waited for it, so the
// two threads never work on the same memory. Results are the same as on the main thread; the time
// at which they take effect depends on the step's number only.
#define _GNU_SOURCE // pthread_sigmask
#include "solve/parts.h"
#include "base/floats.h"
#include "base/inject.h"
#include "base/thread.h"

#include <errno.h>

struct mf_Background {
    mf_Interaction *all;
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t begun, done;
    uint32_t waiting;  // MF_WORK_* started and not finished
    uint32_t stale[2]; // MF_NEIGHBOR_* to rebuild first, for detection and for collisions
    bool stop;
};

static void do_work(mf_Interaction *all, uint32_t work, uint32_t stale) {
    mf_Neighbors *search = work == MF_WORK_DETECT ? all->detect : all->touch;
    bool detect = work == MF_WORK_DETECT;
    mf_neighbors_renew(search, stale, true, detect && all->query.in_view,
                       detect && all->query.relative);
    if (!detect)
        mf_interaction_begin_touch(all);
    for (uint32_t chunk = 0; chunk < search->chunk_count; chunk++)
        mf_interaction_work(all, search, work, chunk);
}

static void *background_main(void *argument) {
    mf_floats_enter(); // not the mode of the host
    mf_Background *background = argument;
    pthread_mutex_lock(&background->mutex);
    for (;;) {
        while (background->waiting == 0 && !background->stop)
            pthread_cond_wait(&background->begun, &background->mutex);
        if (background->waiting == 0)
            break;
        // Collisions first: they are shorter.
        uint32_t work = background->waiting & MF_WORK_COLLIDE ? MF_WORK_COLLIDE : MF_WORK_DETECT;
        uint32_t stale = background->stale[work == MF_WORK_COLLIDE];
        pthread_mutex_unlock(&background->mutex);
        do_work(background->all, work, stale);
        pthread_mutex_lock(&background->mutex);
        background->waiting &= ~work;
        pthread_cond_signal(&background->done);
    }
    pthread_mutex_unlock(&background->mutex);
    return NULL;
}

void mf_background_begin(mf_Background *background, uint32_t work, uint32_t stale) {
    pthread_mutex_lock(&background->mutex);
    background->waiting |= work;
    background->stale[work == MF_WORK_COLLIDE] = stale;
    pthread_cond_signal(&background->begun);
    pthread_mutex_unlock(&background->mutex);
}

void mf_background_wait(mf_Background *background, uint32_t work) {
    pthread_mutex_lock(&background->mutex);
    while ((background->waiting & work) != 0)
        pthread_cond_wait(&background->done, &background->mutex);
    pthread_mutex_unlock(&background->mutex);
}

static bool init_locks(mf_Context *context, mf_Background *background) {
    if (!mf_allow(context, "pthread_mutex_init") ||
        pthread_mutex_init(&background->mutex, NULL) != 0)
        return false;
    if (mf_allow(context, "pthread_cond_init") &&
        pthread_cond_init(&background->begun, NULL) == 0) {
        if (mf_allow(context, "pthread_cond_init") &&
            pthread_cond_init(&background->done, NULL) == 0)
            return true;
        pthread_cond_destroy(&background->begun);
    }
    pthread_mutex_destroy(&background->mutex);
    return false;
}

static void destroy_locks(mf_Background *background) {
    pthread_cond_destroy(&background->done);
    pthread_cond_destroy(&background->begun);
    pthread_mutex_destroy(&background->mutex);
}

mf_Status mf_background_create(mf_Interaction *all, mf_Background **out, mf_Error *error) {
    *out = NULL;
    mf_Background *background = mf_allocate(all->context, 1, sizeof *background);
    MF_NEED_MEMORY(background != NULL, error, "interaction");
    background->all = all;
    if (!init_locks(all->context, background)) {
        mf_release(all->context, background);
        return mf_fail(error, MF_NO_MEMORY, "interaction: no locks left in the system");
    }
    const int problem =
        mf_thread_start(all->context, &background->thread, background_main, background);
    if (problem != 0) {
        destroy_locks(background);
        mf_release(all->context, background);
        errno = problem;
        return mf_fail(error, MF_IO, "interaction: the system gave no thread: %m");
    }
    *out = background;
    return MF_OK;
}

void mf_background_destroy(mf_Background *background) {
    if (background == NULL)
        return;
    pthread_mutex_lock(&background->mutex);
    background->stop = true;
    pthread_cond_signal(&background->begun);
    pthread_mutex_unlock(&background->mutex);
    pthread_join(background->thread, NULL);
    destroy_locks(background);
    mf_release(background->all->context, background);
}
