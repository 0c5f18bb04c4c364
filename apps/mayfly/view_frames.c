// Frames of pages by RFC 6455. civetweb shakes hands and writes, but takes frames that a server
// must refuse (5.1: those of a client that are not masked) and does not show the bit; so frames are
// read here, from its socket, in the thread that it gives the connection.
#include "view_server_own.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { WAIT_MILLISECONDS = 250 };

#define LONGEST (1u << 20) // [byte] of a frame; pages of ours send far less

// ---- the socket --------------------------------------------------------------------------------

// Whether the socket has that peer, and this port at its own end.
static bool is_of(int handle, const struct mg_request_info *request, uint16_t port) {
    struct sockaddr_storage peer, own;
    socklen_t peer_size = sizeof peer, own_size = sizeof own;
    char address[INET6_ADDRSTRLEN] = "";
    if (getpeername(handle, (struct sockaddr *)&peer, &peer_size) != 0 ||
        getsockname(handle, (struct sockaddr *)&own, &own_size) != 0 ||
        peer.ss_family != own.ss_family ||
        (peer.ss_family != AF_INET && peer.ss_family != AF_INET6))
        return false;
    const bool six = peer.ss_family == AF_INET6;
    const struct sockaddr_in *four = (const void *)&peer, *own_four = (const void *)&own;
    const struct sockaddr_in6 *other = (const void *)&peer, *own_six = (const void *)&own;
    inet_ntop(peer.ss_family, six ? (const void *)&other->sin6_addr : (const void *)&four->sin_addr,
              address, sizeof address);
    return ntohs(six ? other->sin6_port : four->sin_port) == request->remote_port &&
           ntohs(six ? own_six->sin6_port : own_four->sin_port) == port &&
           strcmp(address, request->remote_addr) == 0;
}

// civetweb does not name it; -1: there is none.
static int find_socket(const struct mg_connection *connection, uint16_t port) {
    const struct mg_request_info *request = mg_get_request_info(connection);
    DIR *folder = opendir("/proc/self/fd");
    int found = -1;
    for (const struct dirent *entry; folder != NULL && found < 0 && (entry = readdir(folder));) {
        char *end;
        const long handle = strtol(entry->d_name, &end, 10);
        if (end != entry->d_name && *end == '\0' && is_of((int)handle, request, port))
            found = (int)handle;
    }
    if (folder != NULL)
        closedir(folder);
    return found;
}

static bool is_stopping(mf_ViewServer *server) {
    pthread_mutex_lock(&server->mutex);
    const bool stopping = server->stopping;
    pthread_mutex_unlock(&server->mutex);
    return stopping;
}

// Waits for so many bytes. False: the page has gone, or the server stops.
static bool take(mf_ViewServer *server, int handle, uint8_t *out, size_t size) {
    while (size > 0) {
        struct pollfd ready = {.fd = handle, .events = POLLIN};
        const int found = poll(&ready, 1, WAIT_MILLISECONDS);
        if ((found < 0 && errno != EINTR) || is_stopping(server))
            return false;
        if (found <= 0)
            continue;
        const ssize_t got = recv(handle, out, size, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
            return false;
        out += got > 0 ? got : 0;
        size -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

// ---- frames ------------------------------------------------------------------------------------

typedef struct Frame {
    int bits; // its first byte
    bool masked;
    uint8_t mask[4];
    uint64_t size; // [byte]
} Frame;

static bool take_head(mf_ViewServer *server, int handle, Frame *out) {
    uint8_t head[2], more[8] = {0};
    if (!take(server, handle, head, sizeof head))
        return false;
    *out = (Frame){.bits = head[0], .masked = (head[1] & 0x80) != 0, .size = head[1] & 0x7fu};
    const size_t longer = out->size == 127 ? 8 : out->size == 126 ? 2 : 0;
    if (!take(server, handle, more, longer))
        return false;
    for (size_t i = 0; i < longer; i++)
        out->size = (i == 0 ? 0 : out->size << 8) | more[i];
    return !out->masked || take(server, handle, out->mask, sizeof out->mask);
}

// Whether a client may send it: no reserved bit (5.2) or opcode, masked (5.1), control frames whole
// and short (5.5). Messages of pages are never in pieces.
static bool is_legal(const Frame *frame) {
    const int kind = frame->bits & 0x0f;
    const bool whole = (frame->bits & 0x80) != 0,
               control = kind >= MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE;
    if (!frame->masked || (frame->bits & 0x70) != 0 || !whole || kind > MG_WEBSOCKET_OPCODE_PONG)
        return false;
    return control ? frame->size <= 125
                   : kind == MG_WEBSOCKET_OPCODE_TEXT || kind == MG_WEBSOCKET_OPCODE_BINARY;
}

// Closes with a status (7.4.1).
static void close_with(struct mg_connection *connection, int status) {
    const char bytes[] = {(char)(status >> 8), (char)(status & 255)};
    mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE, bytes, sizeof bytes);
}

// One frame. False: the connection ends.
static bool read_frame(struct mg_connection *connection, mf_ViewServer *server, int handle,
                       char *data, mf_ViewFrameFn use) {
    Frame frame;
    if (!take_head(server, handle, &frame))
        return false;
    if (!is_legal(&frame)) {
        close_with(connection, 1002); // protocol error
        return false;
    }
    if (frame.size > LONGEST) {
        close_with(connection, 1009); // too big
        return false;
    }
    if (!take(server, handle, (uint8_t *)data, (size_t)frame.size))
        return false;
    for (size_t i = 0; i < frame.size; i++)
        data[i] = (char)(data[i] ^ frame.mask[i % 4]);
    return use(connection, frame.bits & 0x0f, data, (size_t)frame.size);
}

void mf_view_read_frames(struct mg_connection *connection, mf_ViewServer *server,
                         mf_ViewFrameFn use) {
    const int handle = find_socket(connection, server->port);
    char *data = handle >= 0 ? malloc(LONGEST) : NULL;
    while (data != NULL && read_frame(connection, server, handle, data, use)) {
    }
    free(data);
    if (handle >= 0)
        shutdown(handle, SHUT_RD); // civetweb finds the end
}
