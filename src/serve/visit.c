// What clients and a visitor (server.h) do to a world: one code for the messages of the ones and
// the calls of the other, so that all connections are told of both.
#include "serve/peer.h"

#define STEPS_MOST UINT64_C(1000000000) // [1] of one request
#define SPEED_MOST 1e6                  // [1]

mf_ServerPace mf_server_pace(const mf_Server *server) {
    return (mf_ServerPace){server->paused, server->speed, server->factor};
}

void mf_server_pause(mf_Server *server, bool paused) {
    if (server->paused != paused)
        mf_link_event(server, MF_EVENT_PAUSE, 0, 0, paused);
    server->paused = paused;
    mf_link_restart_clock(server);
}

mf_Status mf_link_check_live(const mf_Server *server, mf_Error *error) {
    MF_CHECK(!server->is_loaded || !server->stopped, error, MF_STOPPED,
             "the loaded world has stopped%s%s: load another one",
             server->reason[0] != '\0' ? ": " : "", server->reason);
    return MF_OK;
}

mf_Status mf_server_ask_steps(mf_Server *server, uint64_t steps, mf_Error *error) {
    MF_TRY(mf_link_check_live(server, error));
    MF_NEED(server->paused, error, "expected a paused world: pause it first");
    MF_CHECK(server->steps_asked == 0, error, MF_BUSY,
             "steps that were asked for are not done yet");
    if (steps < 1 || steps > STEPS_MOST)
        return mf_fail(error, MF_LIMIT, "expected 1 .. 1e9 steps");
    server->steps_asked = steps;
    return MF_OK;
}

mf_Status mf_server_set_speed(mf_Server *server, double speed, mf_Error *error) {
    MF_NEED(speed >= 0.0 && speed <= SPEED_MOST, error, "expected a speed of 0 .. 1e6");
    server->speed = speed;
    mf_link_restart_clock(server);
    return MF_OK;
}

void mf_server_reset(mf_Server *server) {
    for (uint32_t g = 0; g < mf_world_group_count(server->world); g++) {
        mf_Group *group = mf_world_group(server->world, g);
        for (uint32_t i = 0; i < mf_group_count(group); i++)
            mf_group_reset(group, i);
        mf_link_event(server, MF_EVENT_RESET, g, 0, mf_group_count(group));
    }
}

mf_Status mf_server_restore(mf_Server *server, const void *image, size_t size, mf_Error *error) {
    MF_TRY(mf_world_restore(server->world, image, size, error));
    mf_link_due_now(server);
    mf_link_restart_clock(server);
    mf_link_event(server, MF_EVENT_RESTORE, 0, 0, 0);
    return MF_OK;
}

mf_Status mf_server_switch(mf_Server *server, uint32_t group, uint32_t first, uint32_t count,
                           mf_Motion motion, mf_Error *error) {
    mf_Group *robots = mf_world_group(server->world, group);
    for (uint32_t i = 0; i < count; i++) {
        MF_TRY(mf_motion_switch(robots, first + i, motion, error));
    }
    mf_link_event(server, MF_EVENT_SWITCH, group, first, (uint32_t)motion);
    return MF_OK;
}
