// Files that are dropped on a page, one (POST /load) or a package (/load/files): their thread
// leaves them for the thread that owns the world, and waits until it has loaded them.
#include "view_server_own.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Leaves the file and waits until it was loaded. False: the server stops, or is busy.
static bool leave(mf_ViewServer *server, const mf_ViewDrop *drop, char note[MF_VIEW_NOTE],
                  bool *took) {
    pthread_mutex_lock(&server->mutex);
    const bool free = !server->dropped && !server->stopping;
    if (free) {
        server->drop = *drop;
        server->seen = false;
        server->dropped = true;
        pthread_cond_signal(&server->came);
        while (server->dropped && !server->stopping)
            pthread_cond_wait(&server->loaded, &server->mutex);
        snprintf(note, MF_VIEW_NOTE, "%s", server->note);
        *took = server->took;
    }
    const bool going = free && !server->stopping;
    server->dropped = server->dropped && !free;
    pthread_mutex_unlock(&server->mutex);
    return going;
}

static int answer_line(struct mg_connection *connection, int status, const char *line) {
    mg_printf(connection,
              "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: "
              "%zu\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n%s",
              status, mg_get_response_code_text(connection, status), strlen(line), line);
    return status;
}

static int receive(mf_ViewServer *server, struct mg_connection *connection, mf_ViewDrop *drop,
                   char *data) {
    char note[MF_VIEW_NOTE] = "";
    bool took = false;
    for (size_t have = 0; have < drop->size;) {
        const int got = mg_read(connection, data + have, drop->size - have);
        if (got <= 0)
            return answer_line(connection, 400, "the file came only in part");
        have += (size_t)got;
    }
    drop->data = data;
    if (!leave(server, drop, note, &took))
        return answer_line(connection, 503, "another file is being loaded");
    return answer_line(connection, took ? 200 : 400, note);
}

int mf_view_take_file(struct mg_connection *connection, void *user) {
    mf_ViewServer *server = user;
    const struct mg_request_info *request = mg_get_request_info(connection);
    mf_ViewDrop drop = {.several = strcmp(request->local_uri, "/load/files") == 0};
    const long long most = drop.several ? MF_VIEW_DROPS : MF_VIEW_DROP;
    if (strcmp(request->request_method, "POST") != 0)
        return answer_line(connection, 405, "need POST");
    if (server->needs_token || server->config.description == NULL ||
        !mf_view_may_enter(server, connection))
        return answer_line(connection, 403,
                           "files can be dropped only on a live page of one's own machine");
    if (request->content_length < 0 || request->content_length > most)
        return answer_line(connection, 413,
                           drop.several ? "the files are too large: expected at most 256 MiB"
                                        : "the file is too large: expected at most 16 MiB");
    if (request->query_string == NULL ||
        mg_get_var(request->query_string, strlen(request->query_string), "name", drop.name,
                   sizeof drop.name) <= 0)
        return answer_line(connection, 400, "expected the name of the file");
    drop.size = (size_t)request->content_length;
    char *data = malloc(drop.size + 1); // of this thread, not of the world's
    if (data == NULL)
        return answer_line(connection, 500, "out of memory");
    const int status = receive(server, connection, &drop, data);
    free(data);
    return status;
}

bool mf_view_server_dropped(mf_ViewServer *server, mf_ViewDrop *out) {
    pthread_mutex_lock(&server->mutex);
    const bool is_new = server->dropped && !server->seen;
    server->seen = true;
    if (is_new)
        *out = server->drop;
    pthread_mutex_unlock(&server->mutex);
    return is_new;
}

void mf_view_server_loaded(mf_ViewServer *server, bool loaded, const char *line) {
    pthread_mutex_lock(&server->mutex);
    snprintf(server->note, sizeof server->note, "%s", line);
    server->took = loaded;
    server->dropped = false;
    pthread_cond_broadcast(&server->loaded);
    pthread_mutex_unlock(&server->mutex);
}
