// A worker: it does one work after another, and looks before each whether it is still needed.
#include "base/memory.h"
#include "client/link.h"
#include "engine/engine.h"
#include "engine/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

typedef struct Queued {
    uint32_t id;
    uint8_t *data;
    size_t size; // [byte]
} Queued;

struct mf_Worker {
    mf_Context *context;
    int socket;
    mf_EngineBuffer in, out;
    uint8_t *setup; // NULL: it has not come yet
    size_t setup_size;
    Queued queue[MF_ENGINE_AHEAD];
    uint32_t queued; // [1]
    Queued now;      // what mf_worker_next gave
    bool ended;
};

void mf_worker_destroy(mf_Worker *worker) {
    if (worker == NULL)
        return;
    mf_Context *context = worker->context;
    for (uint32_t i = 0; i < worker->queued; i++)
        mf_release(context, worker->queue[i].data);
    if (worker->socket >= 0)
        close(worker->socket);
    mf_release(context, worker->now.data);
    mf_release(context, worker->setup);
    mf_release(context, worker->in.data);
    mf_release(context, worker->out.data);
    mf_release(context, worker);
}

// ---- out ----------------------------------------------------------------------------------------

static mf_Status await(const mf_Worker *worker, short events, mf_Error *error) {
    struct pollfd one = {.fd = worker->socket, .events = events};
    while (poll(&one, 1, -1) < 0)
        MF_CHECK(errno == EINTR, error, MF_IO, "worker: cannot poll: %s", strerror(errno));
    return MF_OK;
}

static mf_Status send_all(mf_Worker *worker, mf_Error *error) {
    while (worker->out.begin < worker->out.end) {
        MF_CHECK(mf_engine_flush(worker->socket, &worker->out), error, MF_IO,
                 "worker: the master is gone");
        if (worker->out.begin < worker->out.end)
            MF_TRY(await(worker, POLLOUT, error));
    }
    return MF_OK;
}

static mf_Status say(mf_Worker *worker, mf_EngineKind kind, uint32_t id, const void *data,
                     size_t size, mf_Error *error) {
    MF_NEED_MEMORY(mf_engine_put(worker->context, &worker->out, kind, id, data, size), error,
                   "worker");
    return send_all(worker, error);
}

// ---- in -----------------------------------------------------------------------------------------

static mf_Status copy(mf_Context *context, const uint8_t *data, size_t size, uint8_t **out,
                      mf_Error *error) {
    *out = mf_allocate(context, size + 1, 1);
    MF_NEED_MEMORY(*out != NULL, error, "worker");
    if (size > 0)
        memcpy(*out, data, size);
    return MF_OK;
}

static mf_Status cancel(mf_Worker *worker, uint32_t id, mf_Error *error) {
    for (uint32_t i = 0; i < worker->queued; i++) {
        if (worker->queue[i].id != id)
            continue;
        mf_release(worker->context, worker->queue[i].data);
        worker->queued--;
        memmove(worker->queue + i, worker->queue + i + 1,
                (worker->queued - i) * sizeof *worker->queue);
        return say(worker, MF_ENGINE_CANCELED, id, NULL, 0, error);
    }
    return MF_OK; // it is done, and its reply on the way
}

static mf_Status take(mf_Worker *worker, const mf_EngineHead *head, const uint8_t *data,
                      mf_Error *error) {
    Queued *last = &worker->queue[worker->queued];
    switch ((mf_EngineKind)head->kind) {
    case MF_ENGINE_REFUSED:
        return mf_fail(error, MF_IO, "worker: the master refused it: %.*s",
                       (int)(head->size < 400 ? head->size : 400), (const char *)data);
    case MF_ENGINE_SETUP:
        worker->setup_size = head->size;
        mf_release(worker->context, worker->setup);
        return copy(worker->context, data, head->size, &worker->setup, error);
    case MF_ENGINE_WORK:
        MF_CHECK(worker->queued < MF_ENGINE_AHEAD, error, MF_BAD_FILE,
                 "worker: expected at most %d works", MF_ENGINE_AHEAD);
        MF_TRY(copy(worker->context, data, head->size, &last->data, error));
        last->id = head->id;
        last->size = head->size;
        worker->queued++;
        return MF_OK;
    case MF_ENGINE_CANCEL:
        return cancel(worker, head->id, error);
    case MF_ENGINE_END:
        worker->ended = true;
        return MF_OK;
    default:
        return mf_fail(error, MF_BAD_FILE, "worker: a message that no master sends");
    }
}

// All that is there; waits for something if nothing is.
static mf_Status look(mf_Worker *worker, bool waits, mf_Error *error) {
    mf_EngineHead head;
    const uint8_t *data;
    mf_Error wrong = {.status = MF_OK};
    if (waits)
        MF_TRY(await(worker, POLLIN, error));
    const bool open = mf_engine_fill(worker->context, worker->socket, &worker->in);
    while (mf_engine_peek(&worker->in, MF_ENGINE_MESSAGE, &head, &data, &wrong)) {
        MF_TRY(take(worker, &head, data, error));
        mf_engine_drop(&worker->in, &head);
    }
    MF_CHECK(wrong.status == MF_OK, error, MF_BAD_FILE, "worker: %s", wrong.message);
    return open || worker->ended ? MF_OK : mf_fail(error, MF_IO, "worker: the master is gone");
}

// ---- its life -----------------------------------------------------------------------------------

static mf_Status greet(mf_Worker *worker, const char *token, const char *version, mf_Error *error) {
    char hello[512];
    const int size = snprintf(hello, sizeof hello, "%s%c%s", token, 0, version);
    MF_CHECK(size >= 0 && (size_t)size < sizeof hello, error, MF_LIMIT,
             "worker: expected a token and a version of less than %zu bytes", sizeof hello);
    MF_TRY(say(worker, MF_ENGINE_HELLO, 0, hello, (size_t)size, error));
    mf_Status status = MF_OK;
    while (status == MF_OK && worker->setup == NULL && !worker->ended)
        status = look(worker, true, error);
    return status;
}

mf_Status mf_worker_connect(mf_Context *context, const char *address, const char *token,
                            const char *version, mf_Worker **out, mf_Error *error) {
    *out = NULL;
    mf_Worker *worker = mf_allocate(context, 1, sizeof *worker);
    MF_NEED_MEMORY(worker != NULL, error, "worker");
    worker->context = context;
    worker->socket = -1;
    mf_Status status = mf_client_open(address, &worker->socket, error);
    if (status == MF_OK)
        mf_engine_tune(worker->socket);
    MF_THEN(status, greet(worker, token, version, error));
    if (status == MF_OK)
        *out = worker;
    else
        mf_worker_destroy(worker);
    return status;
}

const void *mf_worker_setup(const mf_Worker *worker, size_t *size) {
    *size = worker->setup_size;
    return worker->setup;
}

mf_Status mf_worker_next(mf_Worker *worker, const void **data, size_t *size, mf_Error *error) {
    mf_release(worker->context, worker->now.data);
    worker->now.data = NULL;
    do
        MF_TRY(look(worker, worker->queued == 0, error));
    while (worker->queued == 0 && !worker->ended);
    if (worker->ended)
        return mf_fail(error, MF_STOPPED, "worker: the master needs no more");
    worker->now = worker->queue[0];
    worker->queued--;
    memmove(worker->queue, worker->queue + 1, worker->queued * sizeof *worker->queue);
    *data = worker->now.data;
    *size = worker->now.size;
    return MF_OK;
}

mf_Status mf_worker_reply(mf_Worker *worker, const void *reply, size_t size, mf_Error *error) {
    return say(worker, MF_ENGINE_REPLY, worker->now.id, reply, size, error);
}

mf_Status mf_worker_fail(mf_Worker *worker, const mf_Error *reason, mf_Error *error) {
    return say(worker, MF_ENGINE_ERROR, worker->now.id, reason, sizeof *reason, error);
}
