// The server's life and its loop: answer, publish, wait for turns, step (server.h).
//
// Between two steps every connection is looked at at least each LOOK_SECONDS of the clock; steps
// are cut where a state or a turn is due. While a turn is waited for, the sockets of those that
// have it are polled without sleeping for a while: a controller usually answers within
// microseconds, and a sleep costs more.
#define _GNU_SOURCE // ppoll
#include "scene/script/script.h"
#include "serve/peer.h"
#include "world/attach.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define LOOK_SECONDS 0.001   // [s] of steps between two looks at the sockets
#define WAIT_SECONDS 0.02    // [s] for messages, while nothing moves
#define LATE_SECONDS 0.25    // [s] by which a slow world may lag, before it gives the rest up
#define FACTOR_SECONDS 0.5   // [s] over which the real-time factor is measured
#define HELLO_SECONDS 5.0    // [s] for a hello, and to take the last answers
#define SPARE_SLOTS 16u      // [1] for connections that are refused
#define STEPS_MOST 1048576.0 // [1] between two looks

mf_ServerConfig mf_server_config(void) {
    return (mf_ServerConfig){.struct_size = sizeof(mf_ServerConfig),
                             .address = "127.0.0.1",
                             .port = MF_PROTOCOL_PORT,
                             .connections = 64,
                             .shared_limit = (size_t)64 << 20,
                             .speed = 1.0,
                             .spin = MF_SPIN_LONG};
}

// ---- time --------------------------------------------------------------------------------------

uint64_t mf_link_tick(const mf_Server *server) {
    return (uint64_t)(mf_world_time(server->world) / server->scene->step);
}

uint64_t mf_link_next(const mf_Server *server, mf_Time period, uint64_t tick) {
    const mf_Time step = server->scene->step;
    if (period <= step)
        return tick + 1;
    const mf_Time time = (mf_Time)tick * step, due = time / period;
    if (due >= INT64_MAX / period - 1) // beyond the end of time
        return UINT64_MAX;
    return (uint64_t)(((due + 1) * period + step - 1) / step);
}

static double simulated(const mf_Server *server) {
    return mf_time_to_seconds(mf_world_time(server->world));
}

void mf_link_restart_clock(mf_Server *server) {
    server->clock_begin = server->factor_clock = mf_clock_seconds();
    server->simulated_begin = server->factor_simulated = simulated(server);
}

static void measure(mf_Server *server, double now) {
    const double passed = now - server->factor_clock;
    if (passed < FACTOR_SECONDS)
        return;
    server->factor = (simulated(server) - server->factor_simulated) / passed;
    server->factor_clock = now;
    server->factor_simulated = simulated(server);
}

// Steps by the clock, at most as many as fit between two looks.
static double paced(mf_Server *server, double now) {
    const double step = mf_time_to_seconds(server->scene->step);
    const double fit = server->step_seconds > 0.0 ? LOOK_SECONDS / server->step_seconds : 1.0;
    double steps = fit < 1.0 ? 1.0 : fit > STEPS_MOST ? STEPS_MOST : fit;
    if (server->paused)
        return steps < (double)server->steps_asked ? steps : (double)server->steps_asked;
    if (server->speed <= 0.0)
        return steps;
    const double lag =
        (now - server->clock_begin) * server->speed - (simulated(server) - server->simulated_begin);
    if (lag > LATE_SECONDS * server->speed) { // it cannot keep up: from here on, not from then
        server->clock_begin = now - LATE_SECONDS;
        server->simulated_begin = simulated(server);
    }
    return lag / step < steps ? lag / step : steps;
}

// Steps to do now: none beyond the next state or turn that is due, nor beyond the end.
static uint64_t due(mf_Server *server, double now) {
    const uint64_t tick = mf_link_tick(server);
    const double steps = paced(server, now);
    uint64_t count = steps >= 1.0 ? (uint64_t)steps : 0;
    if (!mf_link_may_move(server))
        return 0;
    count = server->steps_left < count ? server->steps_left : count;
    count = server->to_sample < count ? server->to_sample : count;
    if (server->config.scripts_first && count > 1) // they are called at each step
        count = 1;
    for (uint32_t p = 0; p < server->peer_count; p++) {
        const mf_Peer *peer = &server->peers[p];
        if (peer->socket < 0 || peer->closing)
            continue;
        if (peer->waiting)
            return 0;
        if (peer->lock_step && peer->turn - tick < count)
            count = peer->turn - tick;
        for (uint32_t i = 0; i < peer->used; i++)
            if (peer->subscriptions[i].entries != NULL &&
                peer->subscriptions[i].next - tick < count)
                count = peer->subscriptions[i].next - tick;
    }
    if (server->config.duration > 0) {
        const mf_Time left = server->config.duration - mf_world_time(server->world);
        const uint64_t most = (uint64_t)((left + server->scene->step - 1) / server->scene->step);
        count = most < count ? most : count;
    }
    return count;
}

static void answer_steps(mf_Server *server) {
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        if (peer->socket < 0 || !peer->steps)
            continue;
        peer->steps = false;
        mf_link_done(server, peer, peer->steps_tag);
    }
}

static mf_Status sample(mf_Server *server, uint64_t count, mf_Error *error) {
    if (server->config.sample == NULL || (server->to_sample -= count) > 0)
        return MF_OK;
    server->to_sample = server->config.sample_steps;
    return server->config.sample(server->config.sampled, error);
}

// After a script has restored another moment: states come at once, turns at their times.
static void jump(mf_Server *server) {
    const uint64_t tick = mf_link_tick(server);
    mf_link_due_now(server);
    for (uint32_t p = 0; p < server->peer_count && tick > 0; p++)
        server->peers[p].turn = mf_link_next(server, server->peers[p].turn_period, tick - 1);
    mf_link_event(server, MF_EVENT_RESTORE, 0, 0, 0);
}

// mf_scene_step, or what moves the world instead. Fewer steps than `*count`: the run stops.
static mf_Status move(mf_Server *server, uint64_t *count, mf_Error *error) {
    uint64_t done = *count;
    const mf_Time time = mf_world_time(server->world);
    mf_Status status = MF_OK;
    if (server->config.move != NULL)
        status = server->config.move(server->config.mover, *count, &done, error);
    else
        status = mf_scene_step(server->scene, *count, &done, error);
    server->stopped = server->stopped || done < *count;
    *count = done;
    if (mf_world_time(server->world) != time + (mf_Time)done * server->scene->step)
        jump(server);
    return status;
}

// The end of a world that a client has loaded, by its script or by a failure, is not the server's:
// it rests until another one is loaded.
static mf_Status rest(mf_Server *server, mf_Status status, mf_Error *error) {
    if (!server->is_loaded || (status == MF_OK && !server->stopped))
        return status;
    const char *stopped = mf_scene_scripts_stopped(server->scene);
    if (status != MF_OK)
        mf_error_format(error, server->reason, sizeof server->reason);
    else
        snprintf(server->reason, sizeof server->reason, "%s", stopped != NULL ? stopped : "");
    server->stopped = true;
    mf_server_pause(server, true);
    mf_link_event(server, MF_EVENT_END, 0, 0, 0);
    if (server->config.ended != NULL)
        server->config.ended(server->config.user, server->reason);
    for (uint32_t p = 0; p < server->peer_count && server->steps_asked > 0; p++) {
        mf_Peer *peer = &server->peers[p];
        mf_Error why;
        if (peer->socket < 0 || !peer->steps)
            continue;
        peer->steps = false;
        mf_link_check_live(server, &why);
        mf_peer_error(server, peer, peer->steps_tag, &why);
    }
    server->steps_asked = 0;
    return MF_OK;
}

// What scripts do before the turns of this step. They may restore the world to another time.
static mf_Status prepare(mf_Server *server, mf_Error *error) {
    const mf_Time time = mf_world_time(server->world);
    if (!server->config.scripts_first || !mf_link_may_move(server))
        return MF_OK;
    mf_Status status = mf_scene_call_scripts(server->scene, error);
    server->stopped = server->stopped || mf_scene_scripts_stopped(server->scene) != NULL;
    if (mf_world_time(server->world) != time)
        jump(server);
    return rest(server, status, error);
}

static mf_Status step(mf_Server *server, uint64_t count, double before, mf_Error *error) {
    mf_Status status = rest(server, move(server, &count, error), error);
    if (status != MF_OK || count == 0 || (server->is_loaded && server->stopped))
        return status;
    const double each = (mf_clock_seconds() - before) / (double)count;
    server->step_seconds += 0.3 * (each - server->step_seconds);
    mf_link_watch_faults(server);
    mf_link_watch_scene(server);
    if (server->steps_left != UINT64_MAX)
        server->steps_left -= count;
    if (server->paused) {
        server->steps_asked -= count;
        if (server->steps_asked == 0)
            answer_steps(server);
    }
    return sample(server, count, error);
}

// ---- waiting -----------------------------------------------------------------------------------

// What is over: hellos that do not come, last answers that are not taken, turns.
static void watch_clock(mf_Server *server, double now) {
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        if (peer->socket < 0)
            continue;
        if (peer->resume > 0.0 && now >= peer->resume)
            mf_peer_resume(server, peer);
        if (peer->socket < 0)
            continue;
        if (peer->closing && now - peer->since > HELLO_SECONDS) {
            mf_peer_close(server, peer);
        } else if (!peer->welcome && !peer->closing && now - peer->since > HELLO_SECONDS) {
            mf_peer_refuse(server, peer, 0, MF_BAD_ARGUMENT, "expected a hello within %g s",
                           HELLO_SECONDS);
            mf_peer_flush(server, peer);
        } else if (peer->waiting && now > peer->deadline) {
            peer->waiting = false;
            peer->turn = mf_link_next(server, peer->turn_period, peer->turn);
            peer->seen.missed++;
            server->sum.missed++;
            mf_link_event(server, MF_EVENT_LATE, 0, 0, peer->number);
        }
    }
}

// Whether one that has the turn is not read now.
static bool waits_for_client(const mf_Server *server) {
    for (uint32_t p = 0; p < server->peer_count; p++)
        if (server->peers[p].socket >= 0 && server->peers[p].waiting &&
            server->peers[p].resume > 0.0)
            return true;
    return false;
}

// Reads and sends to those that have the turn; whether some still have it. `moved`: bytes went.
static bool attend(mf_Server *server, bool *moved) {
    bool waits = false;
    *moved = false;
    for (uint32_t p = 0; p < server->peer_count; p++) {
        mf_Peer *peer = &server->peers[p];
        if (peer->socket < 0 || !peer->waiting || peer->resume > 0.0)
            continue;
        const uint64_t bytes = peer->bytes_in + peer->bytes_out;
        if (peer->out.begin < peer->out.end)
            mf_peer_flush(server, peer);
        if (peer->socket >= 0)
            mf_peer_read(server, peer);
        waits |= peer->socket >= 0 && peer->waiting;
        *moved |= peer->bytes_in + peer->bytes_out != bytes;
    }
    return waits;
}

// Waits for those that have the turn without a sleep, for a while after bytes went either way, as
// long as that pays (mf_Spin). True: none of them is waited for any more.
static bool spin(mf_Server *server) {
    const double seconds = mf_spin_seconds(&server->spin, server->config.spin);
    const double begin = mf_clock_seconds();
    double now = begin, end = begin + seconds;
    bool waits, moved;
    while ((waits = attend(server, &moved)) && (moved || now < end)) {
        now = mf_clock_seconds();
        end = moved ? now + seconds : end;
    }
    mf_spin_learn(&server->spin, now - begin, !waits);
    return !waits && !waits_for_client(server);
}

static mf_Status look(mf_Server *server, double seconds, mf_Error *error) {
    const uint32_t peers = server->peer_count;
    server->polls[0] =
        (struct pollfd){.fd = mf_peer_has_slot(server) ? server->listener : -1, .events = POLLIN};
    for (uint32_t p = 0; p < peers; p++) {
        const mf_Peer *peer = &server->peers[p];
        const bool writes = peer->out.begin < peer->out.end;
        server->polls[p + 1] =
            (struct pollfd){.fd = peer->socket, .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
        if (peer->resume > 0.0) { // not even whether it is closed, before all of it is read
            server->polls[p + 1].events = POLLOUT;
            server->polls[p + 1].fd = writes ? peer->socket : -1;
        }
    }
    const struct timespec wait = {.tv_nsec = (long)(1e9 * seconds)};
    const int ready = ppoll(server->polls, peers + 1, &wait, NULL);
    MF_CHECK(ready >= 0 || errno == EINTR, error, MF_IO, "serve: cannot poll: %s", strerror(errno));
    if (ready <= 0)
        return MF_OK;
    for (uint32_t p = 0; p < peers; p++) {
        mf_Peer *peer = &server->peers[p];
        const short events = server->polls[p + 1].revents;
        if (events == 0 || peer->socket != server->polls[p + 1].fd)
            continue;
        if ((events & POLLIN) != 0)
            mf_peer_read(server, peer);
        else if ((events & (POLLERR | POLLHUP | POLLNVAL)) != 0)
            mf_peer_close(server, peer);
        if (peer->socket >= 0 && (events & POLLOUT) != 0)
            mf_peer_flush(server, peer);
    }
    if (server->polls[0].revents != 0)
        mf_link_accept(server);
    return MF_OK;
}

// [s] until something is to be done without a message.
static double idle(const mf_Server *server, double now) {
    double wait = WAIT_SECONDS;
    bool waits = false;
    for (uint32_t p = 0; p < server->peer_count; p++) {
        const mf_Peer *peer = &server->peers[p];
        if (peer->socket >= 0 && peer->resume > 0.0 && peer->resume - now < wait)
            wait = peer->resume - now;
        if (peer->socket < 0 || !peer->waiting)
            continue;
        waits = true;
        wait = peer->deadline - now < wait ? peer->deadline - now : wait;
    }
    if (!waits && server->paused && server->steps_asked > 0)
        return 0.0;
    if (!waits && !server->paused && mf_link_may_move(server)) {
        const double step = mf_time_to_seconds(server->scene->step);
        const double lag = (now - server->clock_begin) * server->speed -
                           (simulated(server) - server->simulated_begin);
        const double next = server->speed > 0.0 ? (step - lag) / server->speed : 0.0;
        wait = next < wait ? next : wait;
    }
    return wait > 0.0 ? wait : 0.0;
}

static bool is_over(const mf_Server *server) {
    if (server->config.stop != NULL && server->config.stop(server->config.user))
        return true;
    if (server->stopped && !server->is_loaded && !server->config.led)
        return true;
    return server->config.duration > 0 && mf_world_time(server->world) >= server->config.duration;
}

// Messages or steps, whatever is next.
static mf_Status go_on(mf_Server *server, mf_Error *error) {
    MF_TRY(prepare(server, error));
    if (server->config.visit != NULL)
        server->config.visit(server->config.visitor);
    mf_link_tell_controls(server);
    mf_link_publish(server);
    double now = mf_clock_seconds();
    uint64_t count = due(server, now);
    if (count == 0 && spin(server)) {
        mf_link_publish(server); // states of subscriptions that are new
        count = due(server, now = mf_clock_seconds());
    }
    if (count == 0 || now - server->looked > LOOK_SECONDS) {
        mf_Status status = look(server, count > 0 ? 0.0 : idle(server, now), error);
        server->looked = now = mf_clock_seconds();
        watch_clock(server, now);
        return status;
    }
    measure(server, now);
    return step(server, count, now, error);
}

mf_Status mf_link_until(mf_Server *server, bool (*is_done)(const mf_Server *server),
                        mf_Error *error) {
    mf_Status status = MF_OK;
    mf_Error own = {0};
    while (status == MF_OK && !is_done(server) && !is_over(server))
        status = go_on(server, error != NULL ? error : &own);
    return status;
}

static bool never(const mf_Server *server) {
    (void)server;
    return false;
}

mf_Status mf_server_run(mf_Server *server, mf_Error *error) {
    mf_link_restart_clock(server);
    return mf_link_until(server, never, error);
}

// ---- its life ----------------------------------------------------------------------------------

mf_Status mf_link_list_fields(mf_Server *server, mf_Error *error) {
    size_t inputs = 0;
    for (uint32_t g = 0; g < mf_world_group_count(server->world); g++)
        server->field_count += mf_group_field_count(mf_world_group(server->world, g));
    server->fields = mf_allocate(server->context, server->field_count, sizeof *server->fields);
    MF_NEED_MEMORY(server->fields != NULL, error, "serve");
    mf_LinkField *out = server->fields;
    for (uint32_t g = 0; g < mf_world_group_count(server->world); g++) {
        mf_Group *group = mf_world_group(server->world, g);
        for (uint32_t f = 0; f < mf_group_field_count(group); f++, out++) {
            mf_Field *field = mf_group_field(group, f);
            *out = (mf_LinkField){group, field, g, mf_field_is_input(group, field)};
            if (out->writable)
                inputs += (size_t)mf_group_count(group) * field->components *
                          mf_field_value_size(field->info.type);
        }
    }
    const size_t image = mf_world_snapshot_size(server->world);
    const size_t most = 2 * (inputs > image ? inputs : image) + MF_LINK_MESSAGE;
    server->message_limit = most < UINT32_MAX / 2 ? most : UINT32_MAX / 2;
    return MF_OK;
}

static mf_Status open_all(mf_Server *server, mf_Error *error) {
    const uint32_t most = server->config.connections + SPARE_SLOTS;
    server->peer_limit = most;
    server->peers = mf_allocate(server->context, most, sizeof *server->peers);
    server->polls = mf_allocate(server->context, most + 1, sizeof *server->polls);
    MF_NEED_MEMORY(server->peers != NULL && server->polls != NULL, error, "serve");
    for (uint32_t p = 0; p < most; p++)
        server->peers[p].socket = -1;
    MF_TRY(mf_link_find_eyes(server, error));
    MF_TRY(mf_link_list_fields(server, error));
    return mf_link_listen(server, error);
}

mf_Status mf_server_create(mf_Context *context, mf_Scene *scene, const mf_ServerConfig *config,
                           mf_Server **out, mf_Error *error) {
    *out = NULL;
    MF_NEED(config->struct_size == sizeof *config, error, "serve: start from mf_server_config()");
    if (config->connections < 1 || config->connections > 4096)
        return mf_fail(error, MF_BAD_ARGUMENT, "serve: expected 1 .. 4096 connections");
    MF_NEED((config->message_rate == 0.0 || config->message_rate >= 1.0) &&
                (config->byte_rate == 0.0 || config->byte_rate >= 1.0),
            error, "serve: expected rates of 0, or at least 1 a second");
    if (!(config->spin >= 0.0 && config->spin <= 1.0))
        return mf_fail(error, MF_BAD_ARGUMENT, "serve: expected to spin for 0 .. 1 s");
    if (config->token != NULL && strlen(config->token) > MF_PROTOCOL_TOKEN)
        return mf_fail(error, MF_LIMIT, "serve: expected a token of at most %d bytes",
                       MF_PROTOCOL_TOKEN);
    mf_Server *server = mf_allocate(context, 1, sizeof *server);
    MF_NEED_MEMORY(server != NULL, error, "serve");
    server->context = context;
    server->scene = scene;
    server->world = scene->world;
    server->has_bridges = scene->file->bridge_count > 0;
    server->config = *config;
    server->listener = -1;
    server->paused = config->paused;
    server->speed = config->speed;
    server->to_sample = config->sample != NULL ? config->sample_steps : UINT64_MAX;
    server->steps_left = config->led ? 0 : UINT64_MAX;
    mf_Status status = open_all(server, error);
    if (status != MF_OK)
        mf_server_destroy(server);
    else
        *out = server;
    return status;
}

static void say_goodbye(mf_Server *server, mf_Peer *peer) {
    static const char text[] = "the server ends";
    uint8_t *out =
        peer->welcome ? mf_peer_message(server, peer, MF_ANSWER_BYE, 0, sizeof text - 1) : NULL;
    if (out != NULL)
        memcpy(out, text, sizeof text - 1);
    mf_peer_flush(server, peer);
    mf_peer_close(server, peer);
}

void mf_server_destroy(mf_Server *server) {
    if (server == NULL)
        return;
    for (uint32_t p = server->peer_count; p > 0; p--) {
        server->peers[p - 1].events = 0;
        if (server->peers[p - 1].socket >= 0)
            say_goodbye(server, &server->peers[p - 1]);
    }
    if (server->listener >= 0)
        close(server->listener);
    if (server->path[0] != '\0')
        unlink(server->path);
    mf_link_drop_eyes(server);
    mf_release(server->context, server->words);
    mf_release(server->context, server->fields);
    mf_link_drop_made(server);
    mf_release(server->context, server->polls);
    mf_release(server->context, server->peers);
    mf_release(server->context, server);
}

mf_Scene *mf_server_scene(const mf_Server *server) {
    return server->scene;
}

const char *mf_server_address(const mf_Server *server) {
    return server->address;
}

mf_ServerStatistics mf_server_statistics(const mf_Server *server) {
    return server->sum;
}
