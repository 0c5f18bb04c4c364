// The connections of a master.
#include "base/clock.h"
#include "engine/master.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096
#define HELLO_MOST 512u    // [byte]
#define HELLO_SECONDS 10.0 // [s] for a hello, and to take why it is refused
#define PEERS_MOST 65536u  // [1]

// ---- the listener -------------------------------------------------------------------------------

// "127.0.0.1:0" or "[::1]:0".
static bool read_address(const char *text, struct sockaddr_storage *out, socklen_t *size) {
    char host[64];
    const char *colon = strrchr(text, ':');
    const bool bracketed = text[0] == '[';
    char *end = NULL;
    if (colon == NULL || colon == text || (bracketed && colon[-1] != ']'))
        return false;
    const size_t length = (size_t)(colon - text) - (bracketed ? 2u : 0u);
    const unsigned long port = strtoul(colon + 1, &end, 10);
    if (length == 0 || length >= sizeof host || colon[1] == '\0' || *end != '\0' || port > 65535)
        return false;
    memcpy(host, text + bracketed, length);
    host[length] = '\0';
    struct sockaddr_in *four = (struct sockaddr_in *)out;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)out;
    *out = (struct sockaddr_storage){.ss_family = bracketed ? AF_INET6 : AF_INET};
    *(bracketed ? &six->sin6_port : &four->sin_port) = htons((uint16_t)port);
    *size = bracketed ? sizeof *six : sizeof *four;
    return inet_pton(out->ss_family, host,
                     bracketed ? (void *)&six->sin6_addr : (void *)&four->sin_addr) == 1;
}

static void write_address(const struct sockaddr_storage *from, char *out, size_t size) {
    char host[INET6_ADDRSTRLEN] = "";
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    const bool is_six = from->ss_family == AF_INET6;
    inet_ntop(from->ss_family, is_six ? (const void *)&six->sin6_addr : &four->sin_addr, host,
              sizeof host);
    snprintf(out, size, is_six ? "[%s]:%u" : "%s:%u", host,
             ntohs(is_six ? six->sin6_port : four->sin_port));
}

// Nobody waits for it, and programs do not inherit it.
static bool make_own(int socket) {
    const int flags = fcntl(socket, F_GETFL);
    return flags >= 0 && fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

mf_Status mf_engine_listen(mf_Engine *engine, const char *address, mf_Error *error) {
    struct sockaddr_storage bound;
    socklen_t size;
    MF_NEED(read_address(address, &bound, &size), error,
            "workers: expected an address such as 127.0.0.1:0 or 0.0.0.0:9000, found '%.99s'",
            address);
    const int on = 1;
    engine->listener = socket(bound.ss_family, SOCK_STREAM, 0);
    if (engine->listener >= 0)
        setsockopt(engine->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (engine->listener < 0 || !make_own(engine->listener) ||
        bind(engine->listener, (struct sockaddr *)&bound, size) != 0 ||
        listen(engine->listener, BACKLOG) != 0 ||
        getsockname(engine->listener, (struct sockaddr *)&bound, &size) != 0)
        return mf_fail(error, MF_IO, "workers: cannot listen at %.99s: %s", address,
                       strerror(errno));
    write_address(&bound, engine->address, sizeof engine->address);
    return MF_OK;
}

// ---- connections --------------------------------------------------------------------------------

static void drop(mf_Engine *engine, mf_EnginePeer *peer) {
    if (peer->welcome) {
        engine->sum.workers--;
        engine->sum.lost++;
        mf_engine_lost(engine, peer);
    }
    close(peer->socket);
    mf_release(engine->context, peer->in.data);
    mf_release(engine->context, peer->out.data);
    *peer = (mf_EnginePeer){.socket = -1};
}

void mf_engine_send(mf_Engine *engine, mf_EnginePeer *peer) {
    const size_t before = peer->out.begin;
    const bool open = mf_engine_flush(peer->socket, &peer->out);
    engine->sum.sent += peer->out.begin - before;
    if (!open || (peer->closing && peer->out.begin == peer->out.end))
        drop(engine, peer);
}

void mf_engine_close_peers(mf_Engine *engine) {
    for (uint32_t p = 0; p < engine->peer_count; p++) {
        mf_EnginePeer *peer = &engine->peers[p];
        if (peer->socket < 0)
            continue;
        if (peer->welcome && mf_engine_put(engine->context, &peer->out, MF_ENGINE_END, 0, NULL, 0))
            mf_engine_flush(peer->socket, &peer->out);
        shutdown(peer->socket, SHUT_WR); // what is sent arrives
        peer->welcome = false;           // nobody is lost
        drop(engine, peer);
    }
    if (engine->listener >= 0)
        close(engine->listener);
    mf_release(engine->context, engine->peers);
    mf_release(engine->context, engine->polls);
}

static bool grow(mf_Engine *engine) {
    mf_Context *context = engine->context;
    const uint32_t capacity = engine->peer_capacity < 64 ? 64 : 2 * engine->peer_capacity;
    mf_EnginePeer *peers = mf_allocate(context, capacity, sizeof *peers);
    struct pollfd *polls = mf_allocate(context, capacity + 1u, sizeof *polls);
    if (peers == NULL || polls == NULL || capacity > PEERS_MOST) {
        mf_release(context, peers);
        mf_release(context, polls);
        return false;
    }
    if (engine->peer_count > 0)
        memcpy(peers, engine->peers, engine->peer_count * sizeof *peers);
    mf_release(context, engine->peers);
    mf_release(context, engine->polls);
    engine->peers = peers;
    engine->polls = polls;
    engine->peer_capacity = capacity;
    return true;
}

static void accept_all(mf_Engine *engine) {
    for (;;) {
        const int made = accept(engine->listener, NULL, NULL);
        uint32_t p = 0;
        if (made < 0)
            return;
        while (p < engine->peer_count && engine->peers[p].socket >= 0)
            p++;
        if (!make_own(made) || (p == engine->peer_capacity && !grow(engine))) {
            close(made);
            return;
        }
        engine->peer_count = p < engine->peer_count ? engine->peer_count : p + 1;
        engine->peers[p] = (mf_EnginePeer){.socket = made, .began = mf_clock_seconds()};
        mf_engine_tune(made);
    }
}

// ---- messages -----------------------------------------------------------------------------------

static void refuse(mf_Engine *engine, mf_EnginePeer *peer, const char *reason) {
    peer->closing = true;
    if (!mf_engine_put(engine->context, &peer->out, MF_ENGINE_REFUSED, 0, reason, strlen(reason)))
        peer->out.end = peer->out.begin;
}

// Takes as long for a wrong token as for the right one.
static bool is_same(const char *given, const char *token) {
    const size_t length = strlen(token);
    unsigned char other = strlen(given) != length;
    for (size_t i = 0; i < length && given[i] != '\0'; i++)
        other |= (unsigned char)(given[i] ^ token[i]);
    return other == 0;
}

static void greet(mf_Engine *engine, mf_EnginePeer *peer, const mf_EngineHead *head,
                  const uint8_t *data) {
    char text[HELLO_MOST + 2] = "", reason[200];
    memcpy(text, data, head->size);
    const char *version = text + strlen(text) + 1;
    if (head->kind != MF_ENGINE_HELLO || !is_same(text, engine->token)) {
        refuse(engine, peer, "expected its token (MAYFLY_TOKEN)");
    } else if (strcmp(version, engine->version) != 0) {
        snprintf(reason, sizeof reason, "expected version %s, found %.99s", engine->version,
                 version);
        refuse(engine, peer, reason);
    } else if (!mf_engine_put(engine->context, &peer->out, MF_ENGINE_SETUP, 0, engine->config.setup,
                              engine->config.setup_size)) {
        refuse(engine, peer, "out of memory");
    } else {
        peer->welcome = true;
        engine->early = 0;
        engine->sum.workers++;
    }
}

static void read_peer(mf_Engine *engine, mf_EnginePeer *peer) {
    mf_EngineHead head;
    const uint8_t *data;
    mf_Error wrong = {.status = MF_OK};
    const size_t before = peer->in.end - peer->in.begin;
    bool open = mf_engine_fill(engine->context, peer->socket, &peer->in);
    engine->sum.received += peer->in.end - peer->in.begin - before;
    while (!peer->closing &&
           mf_engine_peek(&peer->in, peer->welcome ? MF_ENGINE_MESSAGE : HELLO_MOST, &head, &data,
                          &wrong)) {
        if (peer->welcome)
            mf_engine_answered(engine, peer, &head, data);
        else
            greet(engine, peer, &head, data);
        mf_engine_drop(&peer->in, &head);
    }
    if (!open || wrong.status != MF_OK)
        drop(engine, peer);
}

mf_Status mf_engine_look(mf_Engine *engine, double seconds, mf_Error *error) {
    struct pollfd alone;
    struct pollfd *polls = engine->polls != NULL ? engine->polls : &alone;
    const uint32_t count = engine->peer_count;
    polls[0] = (struct pollfd){.fd = engine->listener, .events = POLLIN};
    for (uint32_t p = 0; p < count; p++) {
        const mf_EnginePeer *peer = &engine->peers[p];
        const bool sends = peer->out.begin < peer->out.end;
        polls[p + 1] = (struct pollfd){.fd = peer->socket, // below 0: left out
                                       .events = (short)(POLLIN | (sends ? POLLOUT : 0))};
    }
    const int ready = poll(polls, count + 1, (int)(1e3 * seconds + 0.999));
    MF_CHECK(ready >= 0 || errno == EINTR, error, MF_IO, "workers: cannot poll: %s",
             strerror(errno));
    const double now = mf_clock_seconds();
    for (uint32_t p = 0; p < count; p++) {
        mf_EnginePeer *peer = &engine->peers[p];
        const short events = ready > 0 ? polls[p + 1].revents : 0;
        if (peer->socket >= 0 && (events & (POLLIN | POLLERR | POLLHUP)) != 0)
            read_peer(engine, peer);
        if (peer->socket >= 0 && peer->out.begin < peer->out.end)
            mf_engine_send(engine, peer);
        if (peer->socket >= 0 && !peer->welcome && now - peer->began > HELLO_SECONDS)
            drop(engine, peer);
    }
    if (ready > 0 && polls[0].revents != 0)
        accept_all(engine);
    return MF_OK;
}
