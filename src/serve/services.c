// Services of the server: pause, steps, resets, snapshots, motions, statistics, speed and events.
#include "io/model_json.h"
#include "world/attach.h"
#include "serve/peer.h"
#include "scene/watch.h"

#include <math.h>
#include <stdlib.h>

#define POSITION_MOST 1e9 // [m]
// [1] events that a connection's own mf_Watch looks for
#define WATCHED (((1u << MF_HAPPENINGS) - 1u) << MF_EVENT_RAISED)

// ---- time --------------------------------------------------------------------------------------

mf_Status mf_answer_ping(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                         mf_Error *error) {
    (void)server, (void)peer, (void)message, (void)error;
    return MF_OK;
}

mf_Status mf_answer_pause(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const mf_PauseRequest *in = message->data;
    (void)peer;
    MF_TRY(in->on == 1 ? MF_OK : mf_link_check_live(server, error));
    mf_server_pause(server, in->on == 1);
    return MF_OK;
}

// Answered when the steps are done.
mf_Status mf_answer_step(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                         mf_Error *error) {
    const mf_StepRequest *in = message->data;
    MF_TRY(mf_server_ask_steps(server, in->steps, error));
    peer->steps = true;
    peer->steps_tag = (uint16_t)message->tag;
    return MF_BUSY;
}

mf_Status mf_answer_speed(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const mf_SpeedRequest *in = message->data;
    (void)peer;
    return mf_server_set_speed(server, in->speed, error);
}

// ---- states ------------------------------------------------------------------------------------

// Instances of a group, or of all groups. RESET, SWITCH and SET_POSES begin with one.
typedef struct Range {
    uint32_t first_group, first, count;
} Range;

static mf_Status read_range(const mf_Server *server, const mf_ResetRequest *in, Range *out,
                            mf_Error *error) {
    const uint32_t groups = mf_world_group_count(server->world), group = in->group;
    *out = (Range){.first_group = group == MF_PROTOCOL_ALL ? 0 : group,
                   .first = in->first,
                   .count = in->count};
    if (group == MF_PROTOCOL_ALL)
        return out->first == 0 && out->count == MF_PROTOCOL_ALL
                   ? MF_OK
                   : mf_fail(error, MF_BAD_ARGUMENT, "expected all instances of all groups");
    if (group >= groups)
        return mf_fail(error, MF_NOT_FOUND, "expected a group below %u, found %u", groups, group);
    const uint32_t most = mf_group_count(mf_world_group(server->world, group));
    if (out->count == MF_PROTOCOL_ALL && out->first < most)
        out->count = most - out->first;
    if (out->first >= most || out->count < 1 || out->count > most - out->first)
        return mf_fail(error, MF_BAD_ARGUMENT,
                       "expected instances within 0 .. %u, found %u from %u on", most - 1,
                       out->count, out->first);
    return MF_OK;
}

mf_Status mf_answer_reset(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    Range range;
    MF_TRY(read_range(server, message->data, &range, error));
    (void)peer;
    if (range.count == MF_PROTOCOL_ALL) {
        mf_server_reset(server);
        return MF_OK;
    }
    mf_Group *group = mf_world_group(server->world, range.first_group);
    for (uint32_t i = 0; i < range.count; i++)
        mf_group_reset(group, range.first + i);
    mf_link_event(server, MF_EVENT_RESET, range.first_group, range.first, range.count);
    return MF_OK;
}

// A pose of SET_POSES; false: it is none.
static bool read_pose(const mf_PosePart *in, double position[3], double orientation[4]) {
    const double at[3] = {in->x, in->y, in->z}, rotation[4] = {in->qw, in->qx, in->qy, in->qz};
    double length = 0.0;
    bool fits = true;
    for (uint32_t k = 0; k < 3; k++) {
        position[k] = at[k];
        fits = fits && fabs(position[k]) < POSITION_MOST;
    }
    for (uint32_t k = 0; k < 4; k++)
        length += rotation[k] * rotation[k];
    length = sqrt(length);
    for (uint32_t k = 0; k < 4; k++)
        orientation[k] = rotation[k] / length;
    return fits && fabs(length - 1.0) <= 0.01; // what is no number is none, either
}

// Resets robots and puts their bases somewhere else, at rest.
static mf_Status place(mf_Group *robots, const mf_PosePart *poses, const Range *range, bool acts,
                       mf_Error *error) {
    mf_Field *at = mf_group_find_field(robots, "base.position");
    mf_Field *rotation = mf_group_find_field(robots, "base.orientation");
    double position[3], orientation[4];
    MF_CHECK(at != NULL && rotation != NULL, error, MF_UNSUPPORTED,
             "the group %.99s has no bases whose pose can be set",
             mf_group_config_of(robots)->name);
    for (uint32_t i = 0; i < range->count; i++) {
        const uint32_t robot = range->first + i;
        MF_NEED(read_pose(&poses[i], position, orientation), error,
                "expected positions below 1e9 m and quaternions of length 1");
        if (!acts)
            continue;
        mf_group_reset(robots, robot);
        mf_field_write(at, robot, 0, 3, position);
        mf_field_write(rotation, robot, 0, 4, orientation);
        mf_group_refresh(robots, robot);
    }
    return MF_OK;
}

mf_Status mf_answer_set_poses(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                              mf_Error *error) {
    Range range;
    const mf_WireReader tail = mf_wire_tail(message);
    const mf_PosePart *poses = (const void *)tail.at;
    (void)peer;
    MF_TRY(read_range(server, message->data, &range, error));
    MF_NEED(range.count != MF_PROTOCOL_ALL, error, "expected one group");
    if (mf_wire_left(&tail) != range.count * sizeof *poses)
        return mf_link_fail_format(error, "as many poses as it says");
    mf_Group *robots = mf_world_group(server->world, range.first_group);
    MF_TRY(place(robots, poses, &range, false, error));
    MF_TRY(place(robots, poses, &range, true, error));
    mf_link_event(server, MF_EVENT_RESET, range.first_group, range.first, range.count);
    return MF_OK;
}

mf_Status mf_answer_snapshot(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                             mf_Error *error) {
    const size_t size = mf_world_snapshot_size(server->world);
    if (size > UINT32_MAX)
        return mf_fail(error, MF_LIMIT, "the snapshot has 2^32 bytes or more");
    void *image = mf_allocate(server->context, size, 1);
    MF_NEED_MEMORY(image != NULL, error, "serve");
    mf_Status status = mf_world_snapshot(server->world, image, size, error);
    if (status == MF_OK)
        mf_peer_text(server, peer, MF_ANSWER_IMAGE, message->tag, image, size);
    mf_release(server->context, image);
    return status == MF_OK ? MF_BUSY : status;
}

mf_Status mf_answer_restore(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                            mf_Error *error) {
    const size_t size = message->size;
    void *image = mf_allocate(server->context, size + 1, 1);
    (void)peer;
    MF_NEED_MEMORY(image != NULL, error, "serve");
    memcpy(image, message->data, size);
    mf_Status status = mf_server_restore(server, image, size, error);
    mf_release(server->context, image);
    return status;
}

mf_Status mf_answer_switch(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                           mf_Error *error) {
    const mf_SwitchRequest *in = message->data;
    Range range;
    MF_TRY(read_range(server, message->data, &range, error));
    (void)peer;
    MF_NEED(range.count != MF_PROTOCOL_ALL, error, "expected one group");
    return mf_server_switch(server, range.first_group, range.first, range.count,
                            (mf_Motion)in->motion, error);
}

// ---- the connection ----------------------------------------------------------------------------

mf_Status mf_answer_statistics(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                               mf_Error *error) {
    const mf_StatisticsRequest *in = message->data;
    const uint64_t hash = in->flags != 0 ? mf_world_hash(server->world) : 0;
    const mf_ServerStatistics *seen = &peer->seen;
    mf_StatisticsAnswer *out =
        mf_peer_message(server, peer, MF_ANSWER_STATISTICS, message->tag, sizeof *out);
    (void)error;
    if (out != NULL)
        *out = (mf_StatisticsAnswer){.tick = mf_link_tick(server),
                                     .time = mf_world_time(server->world),
                                     .hash = hash,
                                     .states = seen->states,
                                     .lost = seen->lost,
                                     .writes = seen->writes,
                                     .late = seen->late,
                                     .turns = seen->turns,
                                     .missed = seen->missed,
                                     .bytes_in = peer->bytes_in + peer->shared_in,
                                     .bytes_out = peer->bytes_out + peer->shared_out,
                                     .speed = server->speed,
                                     .factor = server->factor,
                                     .connections = mf_peer_welcome_count(server),
                                     .flags = (server->paused ? MF_SERVER_PAUSED : 0u) |
                                              mf_link_shares(peer)};
    return MF_BUSY;
}

mf_Status mf_answer_model(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const mf_ModelRequest *in = message->data;
    const uint32_t number = in->group, groups = mf_world_group_count(server->world);
    if (number >= groups)
        return mf_fail(error, MF_NOT_FOUND, "expected a group below %u, found %u", groups, number);
    const mf_Group *group = mf_world_group(server->world, number);
    char *text = mf_group_json(group);
    MF_NEED_MEMORY(text != NULL, error, "serve");
    mf_peer_text(server, peer, MF_ANSWER_MODEL, message->tag, text, strlen(text));
    free(text);
    return MF_BUSY;
}

mf_Status mf_answer_events(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                           mf_Error *error) {
    const mf_EventsRequest *in = message->data;
    MF_TRY(mf_link_begin_watch(server, error));
    if ((in->mask & WATCHED) != 0 && peer->watch == NULL)
        MF_TRY(mf_watch_create(server->scene, &peer->watch, error));
    peer->events = in->mask;
    return MF_OK;
}

mf_Status mf_answer_stop(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                         mf_Error *error) {
    const size_t size = message->size, most = sizeof server->reason - 1;
    (void)peer;
    if (!server->config.led)
        return mf_fail(error, MF_UNSUPPORTED, "this world runs without an end: pause it instead");
    memcpy(server->reason, message->data, size < most ? size : most);
    server->reason[size < most ? size : most] = '\0';
    server->stopped = true;
    return MF_OK;
}
