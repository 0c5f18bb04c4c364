#include "engine/wire.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>

enum { PIECE = 65536 }; // [byte] that are read at once

bool mf_engine_reserve(mf_Context *context, mf_EngineBuffer *buffer, size_t size) {
    const size_t used = buffer->end - buffer->begin;
    if (buffer->begin == buffer->end)
        buffer->begin = buffer->end = 0;
    if (buffer->capacity - buffer->end >= size)
        return true;
    if (buffer->capacity - used >= size && buffer->begin >= used) {
        memcpy(buffer->data, buffer->data + buffer->begin, used);
    } else {
        const size_t capacity = 2 * (used + size);
        uint8_t *larger = mf_allocate(context, capacity, 1);
        if (larger == NULL)
            return false;
        if (used > 0)
            memcpy(larger, buffer->data + buffer->begin, used);
        mf_release(context, buffer->data);
        buffer->data = larger;
        buffer->capacity = capacity;
    }
    buffer->begin = 0;
    buffer->end = used;
    return true;
}

bool mf_engine_put(mf_Context *context, mf_EngineBuffer *buffer, mf_EngineKind kind, uint32_t id,
                   const void *data, size_t size) {
    const mf_EngineHead head = {MF_ENGINE_MAGIC << 16 | (uint32_t)kind, id, size};
    if (!mf_engine_reserve(context, buffer, sizeof head + size))
        return false;
    memcpy(buffer->data + buffer->end, &head, sizeof head);
    if (size > 0)
        memcpy(buffer->data + buffer->end + sizeof head, data, size);
    buffer->end += sizeof head + size;
    return true;
}

bool mf_engine_peek(const mf_EngineBuffer *buffer, size_t most, mf_EngineHead *head,
                    const uint8_t **data, mf_Error *error) {
    const size_t there = buffer->end - buffer->begin;
    if (there < sizeof *head)
        return false;
    memcpy(head, buffer->data + buffer->begin, sizeof *head);
    if (head->kind >> 16 != MF_ENGINE_MAGIC || (head->kind & 0xffff) >= MF_ENGINE_KINDS ||
        head->size > most) {
        mf_fail(error, MF_BAD_FILE, "expected a message of at most %zu bytes", most);
        return false;
    }
    head->kind &= 0xffff;
    *data = buffer->data + buffer->begin + sizeof *head;
    return there - sizeof *head >= head->size;
}

void mf_engine_drop(mf_EngineBuffer *buffer, const mf_EngineHead *head) {
    buffer->begin += sizeof *head + head->size;
}

static bool is_passing(void) {
    return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK;
}

bool mf_engine_flush(int socket, mf_EngineBuffer *buffer) {
    while (buffer->begin < buffer->end) {
        const ssize_t sent = send(socket, buffer->data + buffer->begin, buffer->end - buffer->begin,
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0)
            return is_passing();
        buffer->begin += (size_t)sent;
    }
    return true;
}

bool mf_engine_fill(mf_Context *context, int socket, mf_EngineBuffer *buffer) {
    for (;;) {
        if (!mf_engine_reserve(context, buffer, PIECE))
            return false;
        const size_t space = buffer->capacity - buffer->end;
        const ssize_t got = recv(socket, buffer->data + buffer->end, space, MSG_DONTWAIT);
        if (got < 0)
            return is_passing();
        buffer->end += (size_t)got;
        if (got == 0)
            return false;
        if ((size_t)got < space)
            return true;
    }
}

void mf_engine_tune(int socket) {
    const int on = 1, idle = 10, interval = 5, probes = 4;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}
