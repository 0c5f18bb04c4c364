// The page of `mayfly serve`: that of `mayfly view`, on a world in which other programs take part.
#pragma once

#include "serve/server.h"

typedef struct mf_ServePage mf_ServePage;

// Prepares the page of a scene and lets `config` call it: before mf_server_create, since pictures
// need fields that are listed there. `scene` is borrowed.
mf_Status mf_serve_page_create(mf_Context *context, mf_Scene *scene, mf_ServerConfig *config,
                               mf_ServePage **out, mf_Error *error);
// Listens at a port (0: a free one) of the address of `config`, or of this machine alone where that
// is a Unix socket.
mf_Status mf_serve_page_open(mf_ServePage *page, mf_Server *server, uint16_t port, mf_Error *error);
// "http://127.0.0.1:8765/", with a token when the address is not the loopback's.
const char *mf_serve_page_address(const mf_ServePage *page);
// mf_world_step of the world of the server, with what pages push.
void mf_serve_page_move(mf_ServePage *page, uint64_t steps);
// Before the world that it shows is destroyed, because there is another one, which it shows from
// its next visit on.
void mf_serve_page_leave(mf_ServePage *page);
// Before the server is destroyed. NULL is allowed.
void mf_serve_page_destroy(mf_ServePage *page);
