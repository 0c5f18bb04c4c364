#include "view_server_own.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define WAIT_SECONDS 0.25 // [s] between two looks at whether the server stops

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
    unsigned differ = strlen(a) != MF_APP_TOKEN - 1;
    for (size_t i = 0; i < MF_APP_TOKEN - 1; i++) // both have space for so many characters
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

bool mf_view_may_enter(const mf_ViewServer *server, const struct mg_connection *connection) {
    const struct mg_request_info *request = mg_get_request_info(connection);
    const char *host = mg_get_header(connection, "Host");
    char token[MF_APP_TOKEN + 1] = "";
    if (!same_origin(connection))
        return false;
    if (!server->needs_token)
        return host != NULL && names_loopback(host);
    if (request->query_string != NULL)
        mg_get_var(request->query_string, strlen(request->query_string), "token", token,
                   sizeof token);
    return same_token(token, server->token);
}

// ---- texts of worlds ---------------------------------------------------------------------------

static void free_texts(const mf_ViewServer *server, mf_ViewOld *old) {
    for (mf_ViewOld *next; old != NULL; old = next) {
        next = old->next;
        mf_text_free(&old->page);
        mf_text_free(&old->description);
        mf_release(server->context, old);
    }
}

// Those of earlier worlds, if nobody is sent them any more. The mutex is locked.
static void drop_old(mf_ViewServer *server) {
    if (server->sending > 0 || server->old == NULL)
        return;
    free_texts(server, server->old->next);
    server->old->next = NULL;
}

// The texts of the present world, which stay until end_sending().
static mf_ViewServerConfig begin_sending(mf_ViewServer *server) {
    pthread_mutex_lock(&server->mutex);
    const mf_ViewServerConfig texts = server->config;
    server->sending++;
    pthread_mutex_unlock(&server->mutex);
    return texts;
}

static void end_sending(mf_ViewServer *server) {
    pthread_mutex_lock(&server->mutex);
    server->sending--;
    drop_old(server);
    pthread_mutex_unlock(&server->mutex);
}

// ---- the page ----------------------------------------------------------------------------------

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
    if (!mf_view_may_enter(server, connection)) {
        mg_send_http_error(connection, 403, "open the address that mayfly printed");
        return 403;
    }
    const mf_ViewServerConfig texts = begin_sending(server);
    mg_printf(connection,
              "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %zu\r\n"
              "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
              "Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n"
              "Content-Security-Policy: frame-ancestors 'none'\r\nConnection: close\r\n\r\n",
              texts.page_size);
    if (!head)
        mg_write(connection, texts.page, texts.page_size);
    end_sending(server);
    return 200;
}

// ---- the sockets of pages ----------------------------------------------------------------------

// Space for the answers of the present world.
static bool reserve(mf_ViewServer *server, mf_ViewSlot *slot) {
    if (slot->memory >= server->config.answer_capacity)
        return true;
    free(slot->mail.answer);
    slot->mail.answer = malloc(server->config.answer_capacity);
    slot->memory = slot->mail.answer != NULL ? server->config.answer_capacity : 0;
    return slot->memory > 0;
}

static int open_socket(const struct mg_connection *connection, void *user) {
    mf_ViewServer *server = user;
    if (server->config.description == NULL || !mf_view_may_enter(server, connection))
        return 1;
    int refused = 1;
    pthread_mutex_lock(&server->mutex);
    for (uint32_t i = 0; i < MF_VIEW_PAGES && refused != 0 && !server->stopping; i++) {
        mf_ViewSlot *slot = &server->slots[i];
        if (slot->open || slot->mail.holds || !reserve(server, slot))
            continue;
        slot->open = true;
        slot->asked = false;
        slot->world = server->world;
        slot->mail.last_frame = 0.0;
        mg_set_user_connection_data(connection, slot);
        refused = 0;
    }
    pthread_mutex_unlock(&server->mutex);
    return refused;
}

static bool goes_on(const mf_ViewSlot *slot) {
    return !slot->server->stopping && slot->world == slot->server->world;
}

// Leaves the message in the mailbox and waits for the answer. False: the server stops, or shows
// another world.
static bool ask(mf_ViewSlot *slot, const char *data, size_t size) {
    mf_ViewServer *server = slot->server;
    pthread_mutex_lock(&server->mutex);
    memcpy(slot->mail.message, data, size);
    slot->mail.message[size] = '\0';
    slot->mail.size = size;
    slot->mail.asked = mf_clock_seconds();
    slot->mail.answer_size = 0;
    slot->mail.done = false;
    slot->asked = true;
    pthread_cond_signal(&server->came);
    while (slot->asked && goes_on(slot)) {
        const struct timespec until = later(WAIT_SECONDS);
        pthread_cond_timedwait(&server->went, &server->mutex, &until);
    }
    slot->asked = false;
    const bool going = goes_on(slot);
    pthread_mutex_unlock(&server->mutex);
    return going;
}

static bool take_message(struct mg_connection *connection, int kind, const char *data,
                         size_t size) {
    mf_ViewSlot *slot = mg_get_user_connection_data(connection);
    if (kind == MG_WEBSOCKET_OPCODE_CONNECTION_CLOSE || slot == NULL)
        return false;
    if (kind == MG_WEBSOCKET_OPCODE_PING)
        return mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_PONG, data, size) > 0;
    if (kind != MG_WEBSOCKET_OPCODE_TEXT || size >= MF_VIEW_MESSAGE)
        return true; // nothing that a page of ours sends
    if (!ask(slot, data, size))
        return false;
    if (slot->mail.answer_size == 0)
        return true;
    const int opcode = slot->mail.binary ? MG_WEBSOCKET_OPCODE_BINARY : MG_WEBSOCKET_OPCODE_TEXT;
    return mg_websocket_write(connection, opcode, (const char *)slot->mail.answer,
                              slot->mail.answer_size) > 0;
}

// All of a page's life, after the handshake.
static void attend(struct mg_connection *connection, void *user) {
    mf_ViewServer *server = user;
    const char *description = begin_sending(server).description;
    mg_websocket_write(connection, MG_WEBSOCKET_OPCODE_TEXT, description, strlen(description));
    end_sending(server);
    mf_view_read_frames(connection, server, take_message);
}

// What civetweb itself reads came before the handshake was over, or after the end.
static int refuse_rest(struct mg_connection *connection, int bits, char *data, size_t size,
                       void *user) {
    (void)connection, (void)bits, (void)data, (void)size, (void)user;
    return 0;
}

static void close_socket(const struct mg_connection *connection, void *user) {
    mf_ViewServer *server = user;
    mf_ViewSlot *slot = mg_get_user_connection_data(connection);
    if (slot == NULL)
        return;
    pthread_mutex_lock(&server->mutex);
    slot->open = slot->asked = false;
    pthread_mutex_unlock(&server->mutex);
}

// What a page held that is gone, closed or reloaded in the middle of a push.
static void let_go(mf_ViewSlot *slot, void (*answer)(mf_ViewMail *mail, void *user), void *user) {
    slot->mail.size =
        (size_t)snprintf(slot->mail.message, sizeof slot->mail.message, "{\"do\":\"release\"}");
    if (slot->world == slot->server->world)
        answer(&slot->mail, user);
    slot->mail.holds = false;
}

void mf_view_server_serve(mf_ViewServer *server, void (*answer)(mf_ViewMail *mail, void *user),
                          void *user) {
    bool any = false;
    pthread_mutex_lock(&server->mutex);
    for (mf_ViewSlot *slot = server->slots; slot < server->slots + MF_VIEW_PAGES; slot++) {
        if (!slot->open && slot->mail.holds)
            let_go(slot, answer, user);
        if (!slot->asked || !goes_on(slot))
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

static int keep_complaint(const struct mg_connection *connection, const char *message) {
    const struct mg_context *web = mg_get_context(connection);
    mf_ViewServer *server = web != NULL ? mg_get_user_data(web) : NULL;
    if (server != NULL && server->complaint[0] == '\0')
        snprintf(server->complaint, sizeof server->complaint, "%s", message);
    return 1; // printed nowhere
}

// Why nothing can listen there, by trying: civetweb only says that it cannot.
static mf_Status try_bind(const mf_ViewServerConfig *config, uint16_t port, mf_Error *error) {
    const char *host = config->host;
    struct addrinfo hints = {.ai_family = AF_UNSPEC,
                             .ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    char number[8];
    snprintf(number, sizeof number, "%u", port);
    if (getaddrinfo(host, number, &hints, &found) != 0)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: %s: expected an address such as 127.0.0.1, 0.0.0.0 or ::1, found "
                       "'%.100s'",
                       config->command, config->host_option, host);
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
                       "%s: port %u of %s is in use by another program; %s 0 takes a free port",
                       config->command, port, host, config->port_option);
    if (reason == EADDRNOTAVAIL)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "%s: %s %s is no address of this machine; `ip address` lists them, 0.0.0.0 "
                       "is all of them",
                       config->command, config->host_option, host);
    if (reason == EACCES)
        return mf_fail(error, MF_UNSUPPORTED,
                       "%s: port %u may not be used without special rights; take one from 1024 "
                       "on",
                       config->command, port);
    return mf_fail(error, MF_UNSUPPORTED, "%s: cannot listen at port %u of %s: %s", config->command,
                   port, host, strerror(reason));
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
                             "2000",
                             "websocket_timeout_ms",
                             "3600000",
                             "tcp_nodelay", // a small answer does not wait for the next
                             "1",
                             "enable_directory_listing",
                             "no",
                             NULL};
    const struct mg_callbacks callbacks = {.log_message = keep_complaint};
    MF_TRY(try_bind(&server->config, port, error));
    server->web = mg_start(&callbacks, server, options);
    if (server->web == NULL)
        return mf_fail(error, MF_UNSUPPORTED, "%s: cannot listen at %s: %s", server->config.command,
                       where, server->complaint);
    struct mg_server_port ports[2];
    if (mg_get_server_ports(server->web, 2, ports) > 0)
        port = (uint16_t)ports[0].port;
    server->port = port;
    snprintf(server->address, sizeof server->address, "http://%s%s%s:%u/%s%s", six ? "[" : "",
             server->config.host, six ? "]" : "", port, server->needs_token ? "?token=" : "",
             server->token);
    return MF_OK;
}

mf_Status mf_view_server_change(mf_ViewServer *server, mf_Text *page, mf_Text *description,
                                size_t answer_capacity, mf_Error *error) {
    mf_ViewOld *texts = mf_allocate(server->context, 1, sizeof *texts);
    MF_NEED_MEMORY(texts != NULL, error, "view");
    texts->page = *page;
    texts->description = *description;
    *page = *description = mf_text_begin(server->context);
    pthread_mutex_lock(&server->mutex);
    texts->next = server->old;
    server->old = texts;
    server->config.page = texts->page.data;
    server->config.page_size = texts->page.size;
    server->config.description = texts->description.data;
    server->config.answer_capacity = answer_capacity;
    server->world++;
    drop_old(server);
    pthread_cond_broadcast(&server->went);
    pthread_mutex_unlock(&server->mutex);
    return MF_OK;
}

mf_Status mf_view_server_start(mf_Context *context, const mf_ViewServerConfig *config,
                               mf_ViewServer **out, mf_Error *error) {
    *out = NULL;
    mf_ViewServer *server = mf_allocate(context, 1, sizeof *server);
    MF_NEED_MEMORY(server != NULL, error, "view");
    server->context = context;
    server->config = *config;
    server->needs_token = !is_loopback(config->host);
    pthread_mutex_init(&server->mutex, NULL);
    pthread_cond_init(&server->came, NULL);
    pthread_cond_init(&server->went, NULL);
    mg_init_library(0);
    pthread_cond_init(&server->loaded, NULL);
    for (uint32_t i = 0; i < MF_VIEW_PAGES; i++)
        server->slots[i].server = server;
    mf_Status status = server->needs_token ? mf_app_token("view", server->token, error) : MF_OK;
    MF_THEN(status, listen_at(server, config->port, error));
    if (status != MF_OK) {
        mf_view_server_stop(server);
        return status;
    }
    mg_set_request_handler(server->web, "/", send_page, server);
    mg_set_request_handler(server->web, "/load", mf_view_take_file, server);
    mg_set_websocket_handler(server->web, "/live", open_socket, attend, refuse_rest, close_socket,
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
    pthread_cond_broadcast(&server->loaded);
    pthread_mutex_unlock(&server->mutex);
    if (server->web != NULL)
        stop_web(server);
    mg_exit_library();
    for (uint32_t i = 0; i < MF_VIEW_PAGES; i++)
        free(server->slots[i].mail.answer);
    free_texts(server, server->old);
    pthread_cond_destroy(&server->loaded);
    pthread_cond_destroy(&server->went);
    pthread_cond_destroy(&server->came);
    pthread_mutex_destroy(&server->mutex);
    mf_release(server->context, server);
}
