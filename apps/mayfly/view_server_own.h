// The inside of the server (view_server.c), shared with view_drop.c.
#pragma once

#include "view_server.h"

#include <civetweb.h>
#include <pthread.h>

typedef struct mf_ViewSlot {
    mf_ViewServer *server;
    bool open;      // a page has it
    bool asked;     // its message waits
    uint32_t world; // [1] that it shows
    size_t memory;  // [byte] of its answers
    mf_ViewMail mail;
} mf_ViewSlot;

// Texts of an earlier world, which somebody may still be sent.
typedef struct mf_ViewOld {
    mf_Text page, description;
    struct mf_ViewOld *next;
} mf_ViewOld;

struct mf_ViewServer {
    mf_Context *context;
    mf_ViewServerConfig config;
    struct mg_context *web;
    pthread_mutex_t mutex; // guards the slots
    pthread_cond_t came;   // a message
    pthread_cond_t went;   // an answer
    bool stopping;
    bool needs_token;
    char token[MF_APP_TOKEN];
    uint16_t port;
    char address[256];
    char complaint[256]; // of civetweb, while it starts
    uint32_t world;      // [1] how often it has changed
    mf_ViewOld *old;  // the texts of the present world, unless it is the first one, and older ones
    uint32_t sending; // [1] threads that send texts
    pthread_cond_t loaded; // the dropped file
    bool dropped;          // a file waits, or is loaded
    bool seen;             // by the thread that owns the world
    mf_ViewDrop drop;
    bool took;               // it was loaded
    char note[MF_VIEW_NOTE]; // what is to be said of it
    mf_ViewSlot slots[MF_VIEW_PAGES];
};

// Whether the request is one of somebody who may see the page.
bool mf_view_may_enter(const mf_ViewServer *server, const struct mg_connection *connection);
// One message of a page, of a kind MG_WEBSOCKET_OPCODE_*. False ends the connection.
typedef bool (*mf_ViewFrameFn)(struct mg_connection *connection, int kind, const char *data,
                               size_t size);
// Reads frames (view_frames.c) until `use` or the page ends the connection, or the server stops.
void mf_view_read_frames(struct mg_connection *connection, mf_ViewServer *server,
                         mf_ViewFrameFn use);
// Takes a file that is dropped on a page: POST /load?name=NAME.
int mf_view_take_file(struct mg_connection *connection, void *user);
