#include "view_server.h"

#include <civetweb.h>
#include <errno.h>
#include <netdb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_SECONDS 0.25 // [s] between two looks at whether the server stops
#define TOKEN 16          // [byte] of randomness

typedef struct Slot {
    mf_ViewServer *server;
    bool open;  // a page has it
    bool asked; // its message waits
    mf_ViewMail mail;
} Slot;

struct mf_ViewServer {
    mf_Context *context;
    mf_ViewServerConfig config;
    struct mg_context *web;
    pthread_mutex_t mutex; // guards the slots
    pthread_cond_t came;   // a message
    pthread_cond_t went;   // an answer
    bool stopping;
    bool needs_token;
    char token[2 * TOKEN + 1];
    uint16_t port;
    char address[256];
    char complaint[256]; // of civetweb, while it starts
    Slot slots[MF_VIEW_PAGES];
};

static struct timespec later(double seconds) {
    struct timespec out;
    clock_gettime(CLOCK_REALTIME, &out);
    const long nanoseconds = out.tv_nsec + (long)(1e9 * seconds);
    out.tv_sec += nanoseconds / 1000000000L;
    out.tv_nsec = nanoseconds % 1000000000L;
    return out;
}

// ---- who may come in ---------------------------------------------------------------------------

// Takes the same time for every wrong token.
static bool same_token(const char *a, const char *b) {
    unsigned differ = strlen(a) != 2 * TOKEN;
    for (size_t i = 0; i < 2 * TOKEN && differ == 0; i++)
        differ |= (unsigned)(a[i] ^ b[i]) << 1;
    return differ == 0;
}

static bool is_loopback(const char *host) {
    return strcmp(host, "127.0.0.1") == 0 || strcmp(host, "localhost") == 0 ||
           strcmp(host, "::1") == 0;
}

// Whether `header`, a host with an optional port, names this machine's loopback. Other names could
// be those of a web page that has its name resolved to here.
static bool names_loopback(const char *header) {
    char host[64];
    snprintf(host, sizeof host, "%s", header[0] == '[' ? header + 1 : header);
    char *end = header[0] == '[' ? strchr(host, ']') : strrchr(host, ':');
    if (end != NULL)
        *end = '\0';
    return is_loopback(host);
}

// A page of another server may not open a socket here: its origin is another host.
static bool same_origin(const struct mg_connection *connection) {
    const char *origin = mg_get_header(connection, "Origin");
    const char *host = mg_get_header(connection, "Host");
    return origin == NULL ||
           (host != NULL && strncmp(origin, "http://", 7) == 0 && strcmp(origin + 7, host) == 0);
}

static bool may_enter(const mf_ViewServer *server, const struct mg_connection *connection) {
    const struct mg_request_info *request = mg_get_request_info(connection);
    const char *host = mg_get_header(connection, "Host");
    char token[2 * TOKEN + 2] = "";
    if (!same_origin(connection))
        return false;
    if (!server->needs_token)
        return host != NULL && names_loopback(host);
    if (request->query_string != NULL)
        mg_get_var(request->query_string, strlen(request->query_string), "token", token,
                   sizeof token);
    return same_token(token, server->token);
}

static int send_page(struct mg_connection *connection, void *user) {
    mf_ViewServer *server = user;
    const struct mg_request_info *request = mg_get_request_info(connection);
    const bool head = strcmp(request->request_method, "HEAD") == 0;
    if (strcmp(request->local_uri, "/") != 0) {
        mg_send_http_error(connection, 404, "there is only /");
        return 404;
    }
    if (!head && strcmp(request->request_method, "GET") != 0) {
        mg_send_http_error(connection, 405, "need GET");
        return 405;
    }
    if (!may_enter(server, connection)) {
        mg_send_http_error(connection, 403, "open the address that mayfly view printed");
        return 403;
    }
    mg_printf(connection,
              "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
              "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
              "Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
              server->config.page_size);
    if (!head)
        mg_write(connection, server->config.page, server->config.page_size);
    return 200;
}

// ---- the sockets of pages ----------------------------------------------------------------------

static int open_socket(const struct mg_connection *connection, void *user) {
    mf_ViewServer *server = user;
    if (server->config.description == NULL || !may_enter(server, connection))
        return 1;
    int refused = 1;
    pthread_mutex_lock(&server->mutex);
    for (uint32_t i = 0; i < MF_VIEW_PAGES && refused != 0 && !server->stopping; i++) {
        Slot *slot = &server->slots[i];
        if (slot->open)
            continue;
        slot->open = true;
        slot->asked = false;
        slot->mail.last_frame = 0.0;
        mg_set_user_connection_data(connection, slot);
        refused = 0;
    }
    pthread_mutex_unlock(&server->mutex);
    return refused;
}

static void greet(struct mg_connection *connection, void *user) {
    const mf_ViewServer *server = user;
    mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_TEXT, server->config.description,
                       strlen(server->config.description));
}

// Leaves the message in the mailbox and waits for the answer. False: the server stops.
static bool ask(Slot *slot, const char *data, size_t size) {
    mf_ViewServer *server = slot->server;
    pthread_mutex_lock(&server->mutex);
    memcpy(slot->mail.message, data, size);
    slot->mail.message[size] = '\0';
    slot->mail.size = size;
    slot->mail.asked = mf_app_clock();
    slot->mail.answer_size = 0;
    slot->mail.done = false;
    slot->asked = true;
    pthread_cond_signal(&server->came);
    while (slot->asked && !server->stopping) {
        const struct timespec until = later(WAIT_SECONDS);
        pthread_cond_timedwait(&server->went, &server->mutex, &until);
    }
    slot->asked = false;
    const bool going = !server->stopping;
    pthread_mutex_unlock(&server->mutex);
    return going;
}

static int take_message(struct mg_connection *connection, int bits, char *data, size_t size,
                        void *user) {
    Slot *slot = mg_get_user_connection_data(connection);
    (void)user;
    const int kind = bits & 0x0f;
    if (kind == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE || slot == NULL)
        return 0;
    if (kind == MG_WEBSOCKET_OPCODE_PING || kind == MG_WEBSOCKET_OPCODE_PONG)
        return 1;
    if (kind != MG_WEBSOCKET_OPCODE_TEXT || size >= MF_VIEW_MESSAGE)
        return 1; // nothing that a page of ours sends
    if (!ask(slot, data, size))
        return 0;
    if (slot->mail.answer_size == 0)
        return 1;
    const int opcode = slot->mail.binary ? MG_WEBSOCKET_OPCODE_BINARY : MG_WEBSOCKET_OPCODE_TEXT;
    return mg_websocket_write(connection, opcode, (const char *)slot->mail.answer,
                              slot->mail.answer_size) > 0;
}

static void close_socket(const struct mg_connection *connection, void *user) {
    mf_ViewServer *server = user;
    Slot *slot = mg_get_user_connection_data(connection);
    if (slot == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    slot->open = slot->asked = false;
    pthread_mutex_unlock(&server->mutex);
}

void mf_view_server_serve(mf_ViewServer *server, void (*answer)(mf_ViewMail *mail, void *user),
                          void *user) {
    bool any = false;
    pthread_mutex_lock(&server->mutex);
    for (Slot *slot = server->slots; slot < server->slots + MF_VIEW_PAGES; slot++) {
        if (!slot->asked)
            continue;
        answer(&slot->mail, user);
        slot->asked = !slot->mail.done;
        any = any || slot->mail.done;
    }
    if (any)
        pthread_cond_broadcast(&server->went);
    pthread_mutex_unlock(&server->mutex);
}

void mf_view_server_wait(mf_ViewServer *server, double seconds) {
    const struct timespec until = later(seconds);
    pthread_mutex_lock(&server->mutex);
    pthread_cond_timedwait(&server->came, &server->mutex, &until);
    pthread_mutex_unlock(&server->mutex);
}

uint32_t mf_view_server_pages(mf_ViewServer *server) {
    uint32_t count = 0;
    pthread_mutex_lock(&server->mutex);
    for (uint32_t i = 0; i < MF_VIEW_PAGES; i++)
        count += server->slots[i].open;
    pthread_mutex_unlock(&server->mutex);
    return count;
}

// ---- start and stop ----------------------------------------------------------------------------

static mf_Status make_token(mf_ViewServer *server, mf_Error *error) {
    uint8_t bytes[TOKEN];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return mf_fail(error, MF_UNSUPPORTED, "view: no random numbers for a token");
    for (size_t i = 0; i < TOKEN; i++)
        snprintf(server->token + 2 * i, 3, "%02x", bytes[i]);
    return MF_OK;
}

static int keep_complaint(const struct mg_connection *connection, const char *message) {
    const struct mg_context *web = mg_get_context(connection);
    mf_ViewServer *server = web != NULL ? mg_get_user_data(web) : NULL;
    if (server != NULL && server->complaint[0] == '\0')
        snprintf(server->complaint, sizeof server->complaint, "%s", message);
    return 1; // printed nowhere
}

// Why nothing can listen there, by trying: civetweb only says that it cannot.
static mf_Status try_bind(const char *host, uint16_t port, mf_Error *error) {
    struct addrinfo wanted = {.ai_family = AF_UNSPEC,
                              .ai_socktype = SOCK_STREAM,
                              .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char number[8];
    snprintf(number, sizeof number, "%u", port);
    if (getaddrinfo(host, number, &wanted, &found) != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "view: --host: expected an address such as 127.0.0.1, 0.0.0.0 or ::1, found "
                       "'%.100s'",
                       host);
    const int on = 1, handle = socket(found->ai_family, found->ai_socktype, 0);
    if (handle >= 0)
        setsockopt(handle, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on); // as civetweb does
    const bool bound = handle >= 0 && bind(handle, found->ai_addr, found->ai_addrlen) == 0 &&
                       listen(handle, 1) == 0;
    const int reason = errno;
    if (handle >= 0)
        close(handle);
    freeaddrinfo(found);
    if (bound)
        return MF_OK;
    if (reason == EADDRINUSE)
        return mf_fail(error, MF_BUSY,
                       "view: port %u of %s is in use by another program; --port 0 takes a free "
                       "port",
                       port, host);
    if (reason == EADDRNOTAVAIL)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "view: --host %s is no address of this machine; `ip address` lists them, "
                       "0.0.0.0 is all of them",
                       host);
    if (reason == EACCES)
        return mf_fail(error, MF_UNSUPPORTED,
                       "view: port %u may not be used without special rights; take one from 1024 "
                       "on",
                       port);
    return mf_fail(error, MF_UNSUPPORTED, "view: cannot listen at port %u of %s: %s", port, host,
                   strerror(reason));
}

static mf_Status listen_at(mf_ViewServer *server, uint16_t port, mf_Error *error) {
    const bool six = strchr(server->config.host, ':') != NULL;
    char where[192];
    snprintf(where, sizeof where, "%s%s%s:%u", six ? "[" : "", server->config.host, six ? "]" : "",
             port);
    const char *options[] = {"listening_ports",
                             where,
                             "num_threads",
                             "16",
                             "request_timeout_ms",
                             "5000",
                             "websocket_timeout_ms",
                             "3600000",
                             "tcp_nodelay", // a small answer does not wait for the next
                             "1",
                             "enable_directory_listing",
                             "no",
                             NULL};
    const struct mg_callbacks callbacks = {.log_message = keep_complaint};
    mf_Status status = try_bind(server->config.host, port, error);
    if (status != MF_OK)
        return status;
    server->web = mg_start(&callbacks, server, options);
    if (server->web == NULL)
        return mf_fail(error, MF_UNSUPPORTED, "view: cannot listen at %s: %s", where,
                       server->complaint);
    struct mg_server_port ports[2];
    if (mg_get_server_ports(server->web, 2, ports) > 0)
        port = (uint16_t)ports[0].port;
    server->port = port;
    snprintf(server->address, sizeof server->address, "http://%s%s%s:%u/%s%s", six ? "[" : "",
             server->config.host, six ? "]" : "", port, server->needs_token ? "?token=" : "",
             server->token);
    return MF_OK;
}

static mf_Status make_slots(mf_ViewServer *server, mf_Error *error) {
    for (uint32_t i = 0; i < MF_VIEW_PAGES; i++) {
        server->slots[i].server = server;
        if (server->config.description == NULL)
            continue;
        server->slots[i].mail.answer = mf_allocate(server->context, server->config.answer_room, 1);
        if (server->slots[i].mail.answer == NULL)
            return mf_fail(error, MF_NO_MEMORY, "view: out of memory");
    }
    return MF_OK;
}

mf_Status mf_view_server_start(mf_Context *context, const mf_ViewServerConfig *config,
                               mf_ViewServer **out, mf_Error *error) {
    *out = NULL;
    mf_ViewServer *server = mf_allocate(context, 1, sizeof *server);
    if (server == NULL)
        return mf_fail(error, MF_NO_MEMORY, "view: out of memory");
    server->context = context;
    server->config = *config;
    server->needs_token = !is_loopback(config->host);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->came, NULL);
    pthread_cond_init(&server->went, NULL);
    mg_init_library(0);
    mf_Status status = make_slots(server, error);
    if (status == MF_OK && server->needs_token)
        status = make_token(server, error);
    if (status == MF_OK)
        status = listen_at(server, config->port, error);
    if (status != MF_OK) {
        mf_view_server_stop(server);
        return status;
    }
    mg_set_request_handler(server->web, "/", send_page, server);
    mg_set_websocket_handler(server->web, "/live", open_socket, greet, take_message, close_socket,
                             server);
    *out = server;
    return MF_OK;
}

const char *mf_view_server_address(const mf_ViewServer *server) {
    return server->address;
}

// civetweb looks every two seconds whether it should stop, or when somebody comes.
static void *come(void *user) {
    const mf_ViewServer *server = user;
    const struct timespec shortly = {.tv_nsec = 5000000};
    char complaint[64];
    nanosleep(&shortly, NULL); // until it has been told to stop
    struct mg_connection *connection =
        mg_connect_client(server->config.host, server->port, 0, complaint, sizeof complaint);
    if (connection != NULL)
        mg_close_connection(connection);
    return NULL;
}

static void stop_web(mf_ViewServer *server) {
    pthread_t visitor;
    const bool comes = pthread_create(&visitor, NULL, come, server) == 0;
    mg_stop(server->web);
    if (comes)
        pthread_join(visitor, NULL);
}

void mf_view_server_stop(mf_ViewServer *server) {
    if (server == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    server->stopping = true;
    pthread_cond_broadcast(&server->went);
    pthread_mutex_unlock(&server->mutex);
    if (server->web != NULL)
        stop_web(server);
    mg_exit_library();
    for (uint32_t i = 0; i < MF_VIEW_PAGES; i++)
        mf_release(server->context, server->slots[i].mail.answer);
    pthread_cond_destroy(&server->went);
    pthread_cond_destroy(&server->came);
    pthread_mutex_destroy(&server->mutex);
    mf_release(server->context, server);
}
