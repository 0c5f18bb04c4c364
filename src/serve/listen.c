// The listening socket, and new connections.
#include "serve/peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 1024

static bool make_nonblocking(int socket) {
    const int flags = fcntl(socket, F_GETFL);
    return flags >= 0 && fcntl(socket, F_SETFL, flags | O_NONBLOCK) == 0 &&
           fcntl(socket, F_SETFD, FD_CLOEXEC) == 0;
}

static mf_Status fail_system(mf_Error *error, const char *what, const char *where) {
    return mf_fail(error, MF_IO, "serve: cannot %s %s: %s", what, where, strerror(errno));
}

static mf_Status open_listener(mf_Server *server, const struct sockaddr *address, socklen_t size,
                               const char *name, mf_Error *error) {
    const int on = 1;
    server->listener = socket(address->sa_family, SOCK_STREAM, 0);
    if (server->listener < 0 || !make_nonblocking(server->listener))
        return fail_system(error, "open a socket for", name);
    if (address->sa_family != AF_UNIX)
        setsockopt(server->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(server->listener, address, size) != 0)
        return errno == EADDRINUSE && address->sa_family != AF_UNIX
                   ? mf_fail(error, MF_BUSY,
                             "serve: %s is in use by another program; --port 0 takes a free port",
                             name)
                   : fail_system(error, "bind", name);
    return listen(server->listener, BACKLOG) == 0 ? MF_OK : fail_system(error, "listen at", name);
}

// ---- TCP ---------------------------------------------------------------------------------------

static mf_Status listen_tcp(mf_Server *server, mf_Error *error) {
    const char *host = server->config.address;
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(server->config.port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(server->config.port)};
    const bool is_four = inet_pton(AF_INET, host, &four.sin_addr) == 1;
    MF_NEED(is_four || inet_pton(AF_INET6, host, &six.sin6_addr) == 1, error,
            "serve: expected an address such as 127.0.0.1, 0.0.0.0 or ::1, found '%.99s'", host);
    snprintf(server->address, sizeof server->address, is_four ? "%s:%u" : "[%s]:%u", host,
             server->config.port);
    mf_Status status = is_four ? open_listener(server, (const struct sockaddr *)&four, sizeof four,
                                               server->address, error)
                               : open_listener(server, (const struct sockaddr *)&six, sizeof six,
                                               server->address, error);
    socklen_t size = is_four ? sizeof four : sizeof six;
    if (status != MF_OK)
        return status;
    struct sockaddr *bound = is_four ? (struct sockaddr *)&four : (struct sockaddr *)&six;
    if (getsockname(server->listener, bound, &size) != 0)
        return fail_system(error, "read the port of", host);
    snprintf(server->address, sizeof server->address, is_four ? "%s:%u" : "[%s]:%u", host,
             ntohs(is_four ? four.sin_port : six.sin6_port));
    return MF_OK;
}

// ---- Unix --------------------------------------------------------------------------------------

// A socket that nobody listens at is left from a server that was killed.
static bool is_left_over(const struct sockaddr_un *address) {
    struct stat found;
    if (lstat(address->sun_path, &found) != 0 || !S_ISSOCK(found.st_mode))
        return false;
    const int probe = socket(AF_UNIX, SOCK_STREAM, 0);
    const bool refused = probe >= 0 &&
                         connect(probe, (const struct sockaddr *)address, sizeof *address) != 0 &&
                         errno == ECONNREFUSED;
    if (probe >= 0)
        close(probe);
    return refused;
}

static mf_Status listen_unix(mf_Server *server, mf_Error *error) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = server->config.path;
    MF_CHECK(path[0] != '\0' && strlen(path) < sizeof address.sun_path, error, MF_LIMIT,
             "serve: expected a path of 1 .. %zu bytes for the socket",
             sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    if (is_left_over(&address))
        unlink(path);
    const mode_t before = umask(0077); // for this user alone
    mf_Status status =
        open_listener(server, (const struct sockaddr *)&address, sizeof address, path, error);
    umask(before);
    if (status != MF_OK)
        return status;
    memcpy(server->path, path, strlen(path) + 1);
    snprintf(server->address, sizeof server->address, "%s", path);
    return MF_OK;
}

mf_Status mf_link_listen(mf_Server *server, mf_Error *error) {
    return server->config.path != NULL ? listen_unix(server, error) : listen_tcp(server, error);
}

// ---- whose it is -------------------------------------------------------------------------------

// "0100007F:22B8", as /proc/net/tcp has the ends of connections; false: of another family.
static bool put_end(const struct sockaddr_storage *from, char out[40]) {
    const struct sockaddr_in *four = (const struct sockaddr_in *)from;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
    uint32_t words[4];
    if (from->ss_family == AF_INET) {
        snprintf(out, 40, "%08X:%04X", four->sin_addr.s_addr, ntohs(four->sin_port));
        return true;
    }
    memcpy(words, &six->sin6_addr, sizeof words);
    snprintf(out, 40, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
             ntohs(six->sin6_port));
    return from->ss_family == AF_INET6;
}

// A loopback port is open to all users of the machine: the system knows which one has connected.
bool mf_link_is_own_user(const mf_Server *server, int socket) {
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t sizes[2] = {sizeof here, sizeof there};
    char ends[2][40], line[512], local[64], far[64];
    unsigned long user = 0;
    bool found = false;
    if (server->config.path != NULL)
        return true; // the socket has its permissions
    if (getsockname(socket, (struct sockaddr *)&here, &sizes[0]) != 0 ||
        getpeername(socket, (struct sockaddr *)&there, &sizes[1]) != 0 ||
        !put_end(&there, ends[0]) || !put_end(&here, ends[1]))
        return true;
    FILE *file = fopen(there.ss_family == AF_INET ? "/proc/net/tcp" : "/proc/net/tcp6", "re");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL)
        found = sscanf(line, " %*[^:]: %63s %63s %*s %*s %*s %*s %lu", local, far, &user) == 3 &&
                strcmp(local, ends[0]) == 0 && strcmp(far, ends[1]) == 0;
    if (file != NULL)
        fclose(file);
    return !found || user == 0 || user == (unsigned long)geteuid(); // else it comes from elsewhere
}

void mf_link_accept(mf_Server *server) {
    while (mf_peer_has_slot(server)) { // others wait in the queue of the system
        const int on = 1, client = accept(server->listener, NULL, NULL);
        if (client < 0 && errno == EINTR)
            continue;
        if (client < 0)
            return;
        if (!make_nonblocking(client)) {
            close(client);
            continue;
        }
        if (server->config.path == NULL) {
            setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
            setsockopt(client, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
        }
        mf_peer_make_slot(server);
        mf_peer_open(server, client);
    }
}
