// Connections: their buffers, and messages out of and into the bytes of their sockets.
#include "serve/peer.h"
#include "scene/watch.h"
#include "visual/draw.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define FIRST_BUFFER 4096u           // [byte]
#define HOLD_SECONDS 0.01            // [s] least time that a connection is held
#define PASS_BYTES ((size_t)4 << 20) // [byte] read of one connection before others get a turn
#define SILENT_SECONDS 0.05          // [s] for a hello while others wait for a slot
#define HELLO_MOST (MF_PROTOCOL_TOKEN + sizeof(mf_HelloRequest)) // [byte] of the first message
#define UNREAD_MOST                                                                                \
    ((size_t)64 << 20) // [byte] of answers that a client may leave unread,
                       // beyond one message

// ---- buffers -----------------------------------------------------------------------------------

// Space for `size` bytes behind the end; false: out of memory.
static bool reserve(mf_Context *context, mf_LinkBuffer *buffer, size_t size) {
    if (buffer->capacity - buffer->end >= size)
        return true;
    if (buffer->begin > 0) {
        memmove(buffer->data, buffer->data + buffer->begin, buffer->end - buffer->begin);
        buffer->end -= buffer->begin;
        buffer->begin = 0;
    }
    if (buffer->capacity - buffer->end >= size)
        return true;
    size_t capacity = buffer->capacity > 0 ? buffer->capacity : FIRST_BUFFER;
    while (capacity - buffer->end < size)
        capacity *= 2;
    uint8_t *data = mf_allocate(context, capacity, 1);
    if (data == NULL)
        return false;
    if (buffer->end > 0)
        memcpy(data, buffer->data, buffer->end);
    mf_release(context, buffer->data);
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

static void drop_buffer(mf_Context *context, mf_LinkBuffer *buffer) {
    mf_release(context, buffer->data);
    *buffer = (mf_LinkBuffer){.data = NULL};
}

// ---- out ---------------------------------------------------------------------------------------

static void begin_closing(mf_Peer *peer) {
    peer->closing = true;
    peer->waiting = peer->lock_step = false;
    peer->since = mf_clock_seconds();
}

void *mf_peer_message(mf_Server *server, mf_Peer *peer, uint32_t kind, uint32_t tag, size_t size) {
    const size_t unread = peer->out.end - peer->out.begin;
    if (peer->closing)
        return NULL;
    if (unread > UNREAD_MOST || !reserve(server->context, &peer->out, MF_PROTOCOL_HEAD + size)) {
        server->sum.refused++;
        begin_closing(peer);
        return NULL;
    }
    mf_WireHead *head = (void *)(peer->out.data + peer->out.end);
    *head = (mf_WireHead){(uint32_t)size, (uint16_t)kind, (uint16_t)tag};
    peer->out.end += MF_PROTOCOL_HEAD + size;
    return head + 1;
}

void mf_peer_text(mf_Server *server, mf_Peer *peer, uint32_t kind, uint32_t tag, const void *text,
                  size_t size) {
    void *out = mf_peer_message(server, peer, kind, tag, size);
    if (out != NULL)
        memcpy(out, text, size);
}

void mf_peer_flush(mf_Server *server, mf_Peer *peer) {
    mf_LinkBuffer *out = &peer->out;
    while (out->begin < out->end) {
        const ssize_t sent = mf_link_send(peer, out->data + out->begin, out->end - out->begin);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK)
            mf_peer_close(server, peer);
        if (sent < 0)
            return;
        out->begin += (size_t)sent;
        peer->bytes_out += (uint64_t)sent;
    }
    out->begin = out->end = 0;
    // Closed when the client closes or in a while: a close with bytes unread would take back what
    // was just sent.
    if (peer->closing && !peer->is_shut)
        peer->is_shut = shutdown(peer->socket, SHUT_WR) == 0;
}

static void put_error(mf_Server *server, mf_Peer *peer, uint32_t tag, uint32_t code,
                      const char *text) {
    const size_t length = strlen(text);
    mf_ErrorAnswer *out = mf_peer_message(server, peer, MF_ANSWER_ERROR, tag, sizeof *out + length);
    if (out == NULL)
        return;
    out->code = code;
    memcpy(out + 1, text, length);
}

void mf_peer_error(mf_Server *server, mf_Peer *peer, uint32_t tag, const mf_Error *error) {
    put_error(server, peer, tag, (uint32_t)error->status, error->message);
}

void mf_peer_refuse(mf_Server *server, mf_Peer *peer, uint32_t tag, mf_Status status,
                    const char *format, ...) {
    char text[256];
    va_list arguments;
    if (peer->closing)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put_error(server, peer, tag, (uint32_t)status, text);
    server->sum.refused++;
    begin_closing(peer);
}

// ---- in ----------------------------------------------------------------------------------------

// Rates: a connection has the budget of a second, which fills with time. Where it is used up the
// connection is not read for a while, so that its socket, and then the client, has to wait.
static void fill_budget(const mf_Server *server, mf_Peer *peer, double now) {
    const double messages = server->config.message_rate, bytes = server->config.byte_rate;
    const double passed = now - peer->filled < 1.0 ? now - peer->filled : 1.0;
    peer->filled = now;
    peer->messages_left += messages * passed;
    if (peer->messages_left > messages)
        peer->messages_left = messages;
    peer->bytes_left += bytes * passed;
    if (peer->bytes_left > bytes)
        peer->bytes_left = bytes;
}

// Whether it may go on; else it is held until its budget is back.
static bool has_budget(mf_Server *server, mf_Peer *peer) {
    const mf_ServerConfig *config = &server->config;
    const bool counts = config->message_rate > 0.0, weighs = config->byte_rate > 0.0;
    if ((!counts || peer->messages_left >= 1.0) && (!weighs || peer->bytes_left > 0.0))
        return true;
    const double now = mf_clock_seconds();
    fill_budget(server, peer, now);
    const double messages = counts && peer->messages_left < 1.0
                                ? (1.0 - peer->messages_left) / config->message_rate
                                : 0.0;
    const double bytes =
        weighs && peer->bytes_left <= 0.0 ? (1.0 - peer->bytes_left) / config->byte_rate : 0.0;
    const double wait = messages > bytes ? messages : bytes;
    if (wait <= 0.0)
        return true;
    peer->resume = now + (wait > HOLD_SECONDS ? wait : HOLD_SECONDS);
    server->sum.paused++;
    mf_link_event(server, MF_EVENT_HELD, 0, 0, peer->number);
    return false;
}

// Hands over the whole messages of the buffer.
static void take_messages(mf_Server *server, mf_Peer *peer) {
    mf_LinkBuffer *in = &peer->in;
    while (!peer->closing && in->end - in->begin >= MF_PROTOCOL_HEAD) {
        const mf_WireHead head = *(const mf_WireHead *)(const void *)(in->data + in->begin);
        const size_t most = peer->welcome ? server->message_limit : HELLO_MOST;
        if (head.size > most) {
            mf_peer_refuse(server, peer, head.tag, MF_BAD_ARGUMENT,
                           "expected a message of at most %zu bytes, found %u", most, head.size);
            return;
        }
        if (in->end - in->begin - MF_PROTOCOL_HEAD < head.size) {
            if (!reserve(server->context, in, head.size))
                mf_peer_refuse(server, peer, head.tag, MF_NO_MEMORY, "out of memory");
            return;
        }
        if (!has_budget(server, peer))
            return;
        peer->messages_left -= 1.0;
        const mf_WireMessage message = {head.kind, head.tag,
                                        in->data + in->begin + MF_PROTOCOL_HEAD, head.size};
        in->begin += MF_PROTOCOL_HEAD + head.size;
        mf_link_answer(server, peer, &message);
    }
    if (in->begin == in->end)
        in->begin = in->end = 0;
}

void mf_peer_read(mf_Server *server, mf_Peer *peer) {
    mf_LinkBuffer *in = &peer->in;
    size_t passed = 0;
    if (server->config.message_rate > 0.0 || server->config.byte_rate > 0.0)
        fill_budget(server, peer, mf_clock_seconds());
    while (passed < PASS_BYTES && peer->socket >= 0) {
        if (peer->closing) // what it still sends is not read by anyone
            in->begin = in->end = 0;
        else if (!has_budget(server, peer))
            return;
        if (!reserve(server->context, in, FIRST_BUFFER)) {
            mf_peer_refuse(server, peer, 0, MF_NO_MEMORY, "out of memory");
            return;
        }
        const size_t capacity = in->capacity - in->end;
        const ssize_t got = recv(peer->socket, in->data + in->end, capacity, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK))
            mf_peer_close(server, peer);
        if (got <= 0)
            return;
        in->end += (size_t)got;
        passed += (size_t)got;
        peer->bytes_in += (uint64_t)got;
        peer->bytes_left -= (double)got;
        take_messages(server, peer);
        if (peer->resume > 0.0 || (size_t)got < capacity) // the socket is empty
            return;
    }
}

void mf_peer_resume(mf_Server *server, mf_Peer *peer) {
    peer->resume = 0.0;
    take_messages(server, peer);
    if (peer->resume <= 0.0 && peer->socket >= 0)
        mf_peer_read(server, peer);
}

// ---- their life --------------------------------------------------------------------------------

uint32_t mf_peer_welcome_count(const mf_Server *server) {
    uint32_t count = 0;
    for (uint32_t p = 0; p < server->peer_count; p++)
        count +=
            server->peers[p].socket >= 0 && server->peers[p].welcome && !server->peers[p].closing;
    return count;
}

void mf_peer_reap(mf_Server *server, const mf_Peer *except) {
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        uint8_t byte;
        if (peer->socket >= 0 && peer != except &&
            recv(peer->socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
            mf_peer_close(server, peer);
    }
}

static uint32_t free_slot(const mf_Server *server) {
    uint32_t at = 0;
    while (at < server->peer_limit && server->peers[at].socket >= 0)
        at++;
    return at;
}

// The connection that is longest without a hello, or about to be closed, and has had its time.
static mf_Peer *silent_peer(const mf_Server *server) {
    const double now = mf_clock_seconds();
    mf_Peer *found = NULL;
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        if (peer->socket >= 0 && (!peer->welcome || peer->closing) &&
            now - peer->since > SILENT_SECONDS && (found == NULL || peer->since < found->since))
            found = peer;
    }
    return found;
}

bool mf_peer_has_slot(const mf_Server *server) {
    return free_slot(server) < server->peer_limit || silent_peer(server) != NULL;
}

void mf_peer_make_slot(mf_Server *server) {
    if (free_slot(server) == server->peer_limit)
        mf_peer_close(server, silent_peer(server));
}

void mf_peer_open(mf_Server *server, int socket) {
    const uint32_t at = free_slot(server);
    if (at == server->peer_count)
        server->peer_count++;
    server->peers[at] = (mf_Peer){.socket = socket,
                                  .number = ++server->numbers,
                                  .messages_left = server->config.message_rate,
                                  .bytes_left = server->config.byte_rate,
                                  .since = mf_clock_seconds()};
    server->peers[at].filled = server->peers[at].since;
}

void mf_peer_drop_subscription(mf_Server *server, mf_Subscription *subscription) {
    mf_link_drop_region(server, &subscription->region, false);
    mf_release(server->context, subscription->entries);
    *subscription = (mf_Subscription){.entries = NULL};
}

void mf_peer_close(mf_Server *server, mf_Peer *peer) {
    const uint32_t number = peer->number;
    const bool welcome = peer->welcome;
    if (peer->socket < 0)
        return;
    close(peer->socket);
    drop_buffer(server->context, &peer->in);
    drop_buffer(server->context, &peer->out);
    mf_link_unshare(server, peer);
    for (uint32_t i = 0; i < peer->used; i++)
        mf_peer_drop_subscription(server, &peer->subscriptions[i]);
    mf_link_drop_properties(server, peer);
    mf_draw_forget(server->world, number);
    mf_watch_destroy(peer->watch);
    *peer = (mf_Peer){.socket = -1};
    while (server->peer_count > 0 && server->peers[server->peer_count - 1].socket < 0)
        server->peer_count--;
    if (welcome)
        mf_link_event(server, MF_EVENT_LEFT, 0, 0, number);
}
