// The client's socket: addresses, sending, and whole messages out of the bytes that come.
#include "client/link.h"
#include "base/clock.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FIRST_BUFFER 65536u
#define DIRECT 65536u // [byte] from this size on values of a state go straight to their memory

mf_Status mf_client_fail(mf_Error *error, mf_Status status, const char *format, ...) {
    va_list arguments;
    if (error == NULL)
        return status;
    *error = (mf_Error){.status = status};
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

// ---- addresses ---------------------------------------------------------------------------------

static int try_connect(int family, const struct sockaddr *address, socklen_t size) {
    const int made = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (made >= 0 && connect(made, address, size) == 0)
        return made;
    const int reason = errno;
    if (made >= 0)
        close(made);
    errno = reason;
    return -1;
}

static int open_unix(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (strlen(path) >= sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, strlen(path));
    return try_connect(AF_UNIX, (const struct sockaddr *)&address, sizeof address);
}

static int open_tcp(const char *host, const char *port) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *list = NULL;
    int made = -1;
    if (getaddrinfo(host, port, &hints, &list) != 0) {
        errno = ENOENT;
        return -1;
    }
    for (const struct addrinfo *at = list; at != NULL && made < 0; at = at->ai_next)
        made = try_connect(at->ai_family, at->ai_addr, at->ai_addrlen);
    const int reason = errno, on = 1;
    freeaddrinfo(list);
    if (made >= 0)
        setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    errno = reason;
    return made;
}

mf_Status mf_client_open(const char *address, int *out, mf_Error *error) {
    char host[256];
    const char *colon = strrchr(address, ':');
    if (strchr(address, '/') != NULL) {
        *out = open_unix(address);
    } else {
        const bool bracketed = address[0] == '[' && colon != NULL && colon[-1] == ']';
        const size_t length = colon == NULL ? 0 : (size_t)(colon - address) - 2 * bracketed;
        if (colon == NULL || length == 0 || length >= sizeof host)
            return mf_client_fail(error, MF_BAD_ARGUMENT,
                                  "expected host:port or a path with a slash, found '%.99s'",
                                  address);
        memcpy(host, address + bracketed, length);
        host[length] = '\0';
        *out = open_tcp(host, colon + 1);
    }
    return *out >= 0 ? MF_OK
                     : mf_client_fail(error, MF_IO, "cannot connect to %.200s: %s", address,
                                      strerror(errno));
}

// ---- out ---------------------------------------------------------------------------------------

void *mf_client_message(mf_Client *client, uint32_t kind, uint32_t tag, size_t size) {
    const size_t whole = MF_PROTOCOL_HEAD + size;
    if (size > UINT32_MAX)
        return NULL;
    if (whole > client->out_capacity) {
        uint8_t *larger = realloc(client->out, whole);
        if (larger == NULL)
            return NULL;
        client->out = larger;
        client->out_capacity = whole;
    }
    mf_WireHead *head = (void *)client->out;
    *head = (mf_WireHead){(uint32_t)size, (uint16_t)kind, (uint16_t)tag};
    return head + 1;
}

mf_Status mf_client_send(mf_Client *client, mf_Error *error) {
    const size_t size = MF_PROTOCOL_HEAD + ((const mf_WireHead *)(const void *)client->out)->size;
    for (size_t done = 0; done < size;) {
        const ssize_t sent = send(client->socket, client->out + done, size - done, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return mf_client_fail(error, MF_IO, "cannot send: %s", strerror(errno));
        done += (size_t)sent;
    }
    return MF_OK;
}

// ---- in ----------------------------------------------------------------------------------------

// Space for `size` bytes from the beginning of the message on.
static mf_Status reserve(mf_Client *client, size_t size, mf_Error *error) {
    if (client->in_begin > 0 && client->in_capacity - client->in_begin < size) {
        memmove(client->in, client->in + client->in_begin, client->in_end - client->in_begin);
        client->in_end -= client->in_begin;
        client->in_begin = 0;
    }
    if (client->in_capacity - client->in_begin >= size)
        return MF_OK;
    const size_t capacity = size < FIRST_BUFFER ? FIRST_BUFFER : size;
    uint8_t *larger = realloc(client->in, capacity);
    if (larger == NULL)
        return mf_client_fail(error, MF_NO_MEMORY, "out of memory");
    client->in = larger;
    client->in_capacity = capacity;
    return MF_OK;
}

// Takes what is there; MF_BUSY: nothing is, yet.
static mf_Status take(mf_Client *client, mf_Error *error) {
    const bool direct = client->direct != NULL;
    size_t *end = direct ? &client->direct_end : &client->in_end;
    uint8_t *to = (direct ? client->direct : client->in) + *end;
    const size_t capacity = (direct ? client->direct_size : client->in_capacity) - *end;
    const ssize_t got = mf_client_receive_bytes(client, to, capacity);
    if (got > 0)
        *end += (size_t)got;
    if (got == 0)
        return mf_client_fail(error, MF_IO, "the server closed the connection");
    if (got > 0 || errno == EINTR)
        return MF_OK;
    if (errno == EAGAIN || errno == EWOULDBLOCK)
        return MF_BUSY;
    return mf_client_fail(error, MF_IO, "cannot receive: %s", strerror(errno));
}

// Waits until there is something: without a sleep at first, as long as that pays.
static mf_Status await(mf_Client *client, double end, mf_Error *error) {
    const double begin = mf_clock_seconds();
    double now = begin;
    const double spin_end = begin + mf_spin_seconds(&client->spin, client->longest_spin);
    mf_Status status = MF_BUSY;
    while (status == MF_BUSY && now < end && now < spin_end) {
        status = take(client, error);
        now = mf_clock_seconds();
    }
    mf_spin_learn(&client->spin, now - begin, status != MF_BUSY);
    if (status != MF_BUSY)
        return status;
    if (now >= end)
        return mf_client_fail(error, MF_STOPPED, "nothing came in time");
    struct pollfd one = {.fd = client->socket, .events = POLLIN};
    const double left = 1e3 * (end - now) + 1.0;
    poll(&one, 1, left < 1e6 ? (int)left : 1000000);
    return MF_OK;
}

// Reads until `size` bytes are there from the beginning of the message on.
static mf_Status fill(mf_Client *client, size_t size, double end, mf_Error *error) {
    mf_Status status = reserve(client, size, error);
    while (status == MF_OK && client->in_end - client->in_begin < size) {
        status = take(client, error);
        if (status == MF_BUSY)
            status = await(client, end, error);
    }
    return status;
}

// The slot of a large state whose head is there; NULL: it is read like other messages.
static mf_ClientState *state_slot(mf_Client *client) {
    const mf_WireHead *head = (const void *)(client->in + client->in_begin);
    const mf_StateAnswer *in = (const void *)(head + 1);
    if (head->size < DIRECT || head->kind != MF_ANSWER_STATE)
        return NULL;
    mf_ClientState *state = &client->states[in->number % MF_PROTOCOL_SUBSCRIPTIONS];
    return state->data != NULL && state->size == head->size ? state : NULL;
}

// The rest of such a state, straight to its memory: a copy less.
static mf_Status fill_state(mf_Client *client, mf_ClientState *state, double end, mf_Error *error) {
    const size_t head = MF_PROTOCOL_HEAD + sizeof(mf_StateAnswer);
    const size_t whole = state->size - sizeof(mf_StateAnswer);
    const size_t there = client->in_end - client->in_begin - head;
    const size_t begun = there < whole ? there : whole;
    uint8_t *rest = client->in + client->in_begin + head;
    memcpy(state->data, rest, begun);
    memmove(rest, rest + begun, there - begun); // of the next message
    client->in_end -= begun;
    client->direct = state->data;
    client->direct_end = begun;
    client->direct_size = whole;
    mf_Status status = MF_OK;
    while (status == MF_OK && client->direct_end < whole) {
        status = take(client, error);
        if (status == MF_BUSY)
            status = await(client, end, error);
    }
    client->direct = NULL;
    return status;
}

mf_Status mf_client_next(mf_Client *client, double seconds, mf_WireMessage *out, mf_Error *error) {
    const double end = mf_clock_seconds() + seconds;
    if (client->in_begin == client->in_end)
        client->in_begin = client->in_end = 0;
    MF_TRY(fill(client, MF_PROTOCOL_HEAD, end, error));
    const mf_WireHead head = *(const mf_WireHead *)(const void *)(client->in + client->in_begin);
    // What has begun is waited for longer, so that a timeout leaves no part of a message unread.
    const double patience = mf_clock_seconds() + MF_CLIENT_PATIENCE;
    size_t part = head.size < DIRECT ? head.size : sizeof(mf_StateAnswer);
    mf_Status status = fill(client, MF_PROTOCOL_HEAD + part, patience, error);
    mf_ClientState *state = status == MF_OK ? state_slot(client) : NULL;
    if (state != NULL)
        status = fill_state(client, state, patience, error);
    else if (status == MF_OK)
        status = fill(client, MF_PROTOCOL_HEAD + (part = head.size), patience, error);
    if (status != MF_OK)
        return status == MF_STOPPED ? mf_client_fail(error, MF_IO, "a message was cut off")
                                    : status;
    *out = (mf_WireMessage){head.kind, head.tag, client->in + client->in_begin + MF_PROTOCOL_HEAD,
                            head.size};
    client->in_slot = state != NULL;
    client->in_begin += MF_PROTOCOL_HEAD + part;
    return mf_wire_fits(out) ? MF_OK : mf_client_malformed(error);
}
