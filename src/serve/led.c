// A server that is led: its world moves by mf_server_step alone, and only while a connection has
// the turns. `mayfly run --python` steps so.
#include "serve/peer.h"

bool mf_server_is_led(const mf_Server *server) {
    for (uint32_t p = 0; p < server->peer_count; p++)
        if (server->peers[p].socket >= 0 && server->peers[p].lock_step)
            return true;
    return false;
}

bool mf_link_may_move(const mf_Server *server) {
    return server->steps_left > 0 && !server->stopped &&
           (!server->config.led || mf_server_is_led(server));
}

const char *mf_server_stopped(const mf_Server *server) {
    return server->stopped ? server->reason : NULL;
}

static bool is_decided(const mf_Server *server) {
    return server->stopped || mf_server_is_led(server);
}

mf_Status mf_server_await(mf_Server *server, mf_Error *error) {
    server->steps_left = 0;
    return mf_link_until(server, is_decided, error);
}

static bool cannot_move(const mf_Server *server) {
    return !mf_link_may_move(server);
}

mf_Status mf_server_step(mf_Server *server, uint64_t steps, uint64_t *done, mf_Error *error) {
    server->steps_left = steps;
    mf_Status status = mf_link_until(server, cannot_move, error);
    *done = steps - server->steps_left;
    server->steps_left = 0;
    return status;
}

static bool is_alone(const mf_Server *server) {
    return server->peer_count == 0;
}

mf_Status mf_server_end(mf_Server *server, mf_Error *error) {
    server->steps_left = 0;
    mf_link_event(server, MF_EVENT_END, 0, 0, 0);
    return mf_link_until(server, is_alone, error);
}
