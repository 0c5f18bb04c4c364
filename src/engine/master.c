// The master: which worker does which work.
//
// Works go out in their order, one to each idle worker, then a second one that waits beside it, so
// that no worker is idle while a reply travels. When none is left, idle workers do those again that
// wait behind another one, or take far longer than the others have.
#include "engine/master.h"
#include "base/clock.h"
#include "base/memory.h"

#include <stdio.h>
#include <string.h>

#define LOOK_SECONDS 0.05 // [s] between two looks at programs and stop()
#define SLOW_SECONDS 0.5  // [s] below which no work counts as slow
#define SLOW_TIMES 3.0    // [1] as long as works take on average
enum { LOSSES = 20 };     // [1] workers that a work may end while no other one is done

// ---- its life -----------------------------------------------------------------------------------

mf_Status mf_engine_create(mf_Context *context, const mf_EngineConfig *config, mf_Engine **out,
                           mf_Error *error) {
    *out = NULL;
    mf_Engine *engine = mf_allocate(context, 1, sizeof *engine);
    MF_NEED_MEMORY(engine != NULL, error, "workers");
    engine->context = context;
    engine->config = *config;
    engine->listener = -1;
    mf_Status status = MF_OK;
    if (strlen(config->token) >= sizeof engine->token ||
        strlen(config->version) >= sizeof engine->version || config->setup_size > MF_ENGINE_MESSAGE)
        status = mf_fail(error, MF_LIMIT, "workers: a token, version or set-up that is too long");
    snprintf(engine->token, sizeof engine->token, "%s", config->token);
    snprintf(engine->version, sizeof engine->version, "%s", config->version);
    MF_THEN(status, mf_engine_listen(engine, config->address, error));
    if (status == MF_OK)
        *out = engine;
    else
        mf_engine_destroy(engine);
    return status;
}

void mf_engine_destroy(mf_Engine *engine) {
    if (engine == NULL)
        return;
    mf_engine_close_peers(engine);
    mf_engine_end_children(engine);
    mf_release(engine->context, engine);
}

const char *mf_engine_address(const mf_Engine *engine) {
    return engine->address;
}

mf_EngineStatistics mf_engine_statistics(const mf_Engine *engine) {
    return engine->sum;
}

// ---- works --------------------------------------------------------------------------------------

// The task with that number; NULL: of an earlier call.
static mf_EngineTask *task_of(const mf_Engine *engine, uint32_t id) {
    const uint32_t index = id - engine->base;
    return engine->tasks != NULL && index < engine->count ? &engine->tasks[index] : NULL;
}

// Takes a work from a peer's list.
static bool take_back(mf_EnginePeer *peer, uint32_t id, double now) {
    for (uint32_t i = 0; i < peer->work_count; i++) {
        if (peer->works[i] != id)
            continue;
        peer->work_count--;
        memmove(peer->works + i, peer->works + i + 1, (peer->work_count - i) * sizeof *peer->works);
        if (i == 0)
            peer->began = now;
        return true;
    }
    return false;
}

static void put_back(mf_Engine *engine, uint32_t id) {
    mf_EngineTask *task = task_of(engine, id);
    if (task == NULL || task->done)
        return;
    task->copies--;
    if (task->copies == 0 && id - engine->base < engine->waiting)
        engine->waiting = id - engine->base;
}

static void fail(mf_Engine *engine, const mf_Error *reason) {
    if (engine->failed != MF_OK)
        return;
    engine->failed = reason->status;
    engine->reason = *reason;
}

// Others that have it do not begin it any more.
static void cancel(mf_Engine *engine, uint32_t id) {
    for (uint32_t p = 0; p < engine->peer_count; p++) {
        mf_EnginePeer *peer = &engine->peers[p];
        for (uint32_t i = 0; peer->socket >= 0 && i < peer->work_count; i++)
            if (peer->works[i] == id)
                mf_engine_put(engine->context, &peer->out, MF_ENGINE_CANCEL, id, NULL, 0);
    }
}

static void keep(mf_Engine *engine, uint32_t id, const uint8_t *data, size_t size) {
    mf_EngineTask *task = task_of(engine, id);
    mf_Work *work = &engine->works[id - engine->base];
    work->reply = mf_allocate(engine->context, size + 1, 1);
    if (work->reply == NULL) {
        fail(engine, &(mf_Error){.status = MF_NO_MEMORY, .message = "workers: out of memory"});
        return;
    }
    memcpy(work->reply, data, size);
    work->reply_size = size;
    task->done = true;
    engine->left--;
    engine->sum.works++;
    if (task->copies > 1)
        cancel(engine, id);
}

void mf_engine_answered(mf_Engine *engine, mf_EnginePeer *peer, const mf_EngineHead *head,
                        const uint8_t *data) {
    const double now = mf_clock_seconds(), began = peer->began;
    const bool canceled = head->kind == MF_ENGINE_CANCELED;
    if (!take_back(peer, head->id, now))
        return;
    const mf_EngineTask *task = task_of(engine, head->id);
    mf_Error reason;
    if (task == NULL || task->done || canceled) {
        if (canceled)
            put_back(engine, head->id);
    } else if (head->kind == MF_ENGINE_REPLY) {
        engine->seconds += now - began;
        engine->taken++;
        keep(engine, head->id, data, head->size);
    } else if (head->kind == MF_ENGINE_ERROR && head->size == sizeof reason) {
        memcpy(&reason, data, sizeof reason);
        reason.message[sizeof reason.message - 1] = reason.file[sizeof reason.file - 1] = '\0';
        fail(engine, &reason);
    }
}

void mf_engine_lost(mf_Engine *engine, mf_EnginePeer *peer) {
    for (uint32_t i = 0; i < peer->work_count; i++) {
        mf_EngineTask *task = task_of(engine, peer->works[i]);
        if (task == NULL || task->done)
            continue;
        engine->sum.repeated++;
        put_back(engine, peer->works[i]);
        if (i > 0) // only the first was begun
            continue;
        task->losses = task->works == engine->sum.works ? task->losses + 1 : 1;
        task->works = engine->sum.works;
        if (task->losses < LOSSES)
            continue;
        mf_Error reason = {.status = MF_IO};
        snprintf(reason.message, sizeof reason.message, "workers: work %u ended %d of them",
                 peer->works[i] - engine->base, LOSSES);
        fail(engine, &reason);
    }
}

// ---- who does what ------------------------------------------------------------------------------

static void give(mf_Engine *engine, mf_EnginePeer *peer, uint32_t index) {
    const mf_Work *work = &engine->works[index];
    if (!mf_engine_put(engine->context, &peer->out, MF_ENGINE_WORK, engine->base + index,
                       work->data, work->size))
        return; // later
    if (peer->work_count == 0)
        peer->began = mf_clock_seconds();
    peer->works[peer->work_count++] = engine->base + index;
    engine->tasks[index].copies++;
    mf_engine_send(engine, peer);
}

static bool find_waiting(mf_Engine *engine) {
    const mf_EngineTask *tasks = engine->tasks;
    while (engine->waiting < engine->count &&
           (tasks[engine->waiting].done || tasks[engine->waiting].copies > 0))
        engine->waiting++;
    return engine->waiting < engine->count;
}

// To each that has fewer than `most` works.
static void give_waiting(mf_Engine *engine, uint32_t most) {
    for (uint32_t p = 0; p < engine->peer_count && find_waiting(engine); p++) {
        mf_EnginePeer *peer = &engine->peers[p];
        if (peer->socket >= 0 && peer->welcome && peer->work_count < most)
            give(engine, peer, engine->waiting);
    }
}

// An idle one from `p` on.
static uint32_t find_idle(const mf_Engine *engine, uint32_t p) {
    while (p < engine->peer_count && (engine->peers[p].socket < 0 || !engine->peers[p].welcome ||
                                      engine->peers[p].work_count > 0))
        p++;
    return p;
}

static void give_again(mf_Engine *engine, double now) {
    const double average = engine->taken > 0 ? engine->seconds / (double)engine->taken : 0.0;
    const double slow = SLOW_TIMES * average > SLOW_SECONDS ? SLOW_TIMES * average : SLOW_SECONDS;
    uint32_t idle = find_idle(engine, 0);
    for (uint32_t p = 0; p < engine->peer_count && idle < engine->peer_count; p++) {
        const mf_EnginePeer *peer = &engine->peers[p];
        for (uint32_t i = peer->work_count; i-- > 0 && idle < engine->peer_count;) {
            const mf_EngineTask *task = task_of(engine, peer->works[i]);
            if (task == NULL || task->done || task->copies != 1 ||
                (i == 0 && (engine->taken == 0 || now - peer->began < slow)))
                continue;
            engine->sum.repeated++;
            give(engine, &engine->peers[idle], peer->works[i] - engine->base);
            idle = find_idle(engine, idle + 1);
        }
    }
}

static void give_out(mf_Engine *engine) {
    for (uint32_t most = 1; most <= MF_ENGINE_AHEAD; most++)
        give_waiting(engine, most);
    if (engine->waiting == engine->count && engine->left > 0)
        give_again(engine, mf_clock_seconds());
}

static mf_Status work(mf_Engine *engine, mf_Error *error) {
    double watched = 0.0;
    while (engine->left > 0) {
        const double now = mf_clock_seconds();
        if (now - watched >= LOOK_SECONDS) {
            watched = now;
            MF_TRY(mf_engine_watch(engine, error));
            if (engine->config.stop != NULL && engine->config.stop(engine->config.user))
                return mf_fail(error, MF_STOPPED, "workers: stopped");
        }
        give_out(engine);
        MF_TRY(mf_engine_look(engine, LOOK_SECONDS, error));
        if (engine->failed != MF_OK) {
            if (error != NULL)
                *error = engine->reason;
            return engine->failed;
        }
    }
    return MF_OK;
}

mf_Status mf_engine_do(mf_Engine *engine, mf_Work *works, uint32_t count, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        works[i].reply = NULL;
        works[i].reply_size = 0;
        MF_NEED(works[i].size <= MF_ENGINE_MESSAGE, error, "workers: a work of %zu bytes",
                works[i].size);
    }
    engine->tasks = mf_allocate(engine->context, count, sizeof *engine->tasks);
    MF_NEED_MEMORY(engine->tasks != NULL || count == 0, error, "workers");
    engine->works = works;
    engine->count = engine->left = count;
    engine->waiting = 0;
    engine->failed = MF_OK;
    mf_Status status = work(engine, error);
    for (uint32_t i = 0; i < count; i++) { // after an error nothing is kept
        if (!engine->tasks[i].done && engine->tasks[i].copies > 0)
            cancel(engine, engine->base + i);
        if (status != MF_OK) {
            mf_release(engine->context, works[i].reply);
            works[i].reply = NULL;
        }
    }
    mf_release(engine->context, engine->tasks);
    engine->tasks = NULL;
    engine->works = NULL;
    engine->base += count;
    engine->count = 0;
    return status;
}
