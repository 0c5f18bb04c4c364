// Services of the server: pause, steps, resets, snapshots, motions, statistics, speed and events.
#include "io/model_json.h"
#include "serve/peer.h"
#include "scene/watch.h"

#include <math.h>
#include <stdlib.h>

#define POSITION_MOST 1e9 // [m]
// [1] events that a connection's own mf_Watch looks for
#define WATCHED                                                                                    \
    (1u << MF_EVENT_RAISED | 1u << MF_EVENT_FALL | 1u << MF_EVENT_DOCK | 1u << MF_EVENT_GOAL)

// ---- time --------------------------------------------------------------------------------------

static mf_Status set_pause(mf_Server *server, mf_WireReader *reader, mf_Error *error) {
    const uint32_t on = mf_wire_u32(reader);
    if (!mf_wire_done(reader) || on > 1)
        return mf_link_fail_format(error, "0 or 1");
    mf_server_pause(server, on == 1);
    return MF_OK;
}

// Answered when the steps are done; MF_BUSY without an error.
static mf_Status ask_steps(mf_Server *server, mf_Peer *peer, uint32_t tag, mf_WireReader *reader,
                           mf_Error *error) {
    const uint64_t steps = mf_wire_u64(reader);
    if (!mf_wire_done(reader))
        return mf_link_fail_format(error, "a number of steps");
    mf_Status status = mf_server_ask_steps(server, steps, error);
    if (status != MF_OK)
        return status;
    peer->steps = true;
    peer->steps_tag = (uint16_t)tag;
    return MF_BUSY;
}

static mf_Status set_speed(mf_Server *server, mf_WireReader *reader, mf_Error *error) {
    const double speed = mf_wire_f64(reader);
    if (!mf_wire_done(reader))
        return mf_link_fail_format(error, "a speed");
    return mf_server_set_speed(server, speed, error);
}

// ---- states ------------------------------------------------------------------------------------

// Instances of a group, or of all groups.
typedef struct Range {
    uint32_t first_group, groups, first, count;
} Range;

static mf_Status read_range(const mf_Server *server, mf_WireReader *reader, Range *out,
                            mf_Error *error) {
    const uint32_t groups = mf_world_group_count(server->world), group = mf_wire_u32(reader);
    *out = (Range){.first_group = group == MF_PROTOCOL_ALL ? 0 : group,
                   .groups = group == MF_PROTOCOL_ALL ? groups : 1,
                   .first = mf_wire_u32(reader),
                   .count = mf_wire_u32(reader)};
    if (reader->is_short)
        return mf_link_fail_format(error, "a group, its first instance and their number");
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

static mf_Status reset(mf_Server *server, mf_WireReader *reader, mf_Error *error) {
    Range range;
    mf_Status status = read_range(server, reader, &range, error);
    if (status != MF_OK)
        return status;
    if (!mf_wire_done(reader))
        return mf_link_fail_format(error, "a group, its first instance and their number");
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

// A pose of PLACE; false: it is none.
static bool read_pose(mf_WireReader *reader, double position[3], double orientation[4]) {
    double length = 0.0;
    bool fits = true;
    for (uint32_t k = 0; k < 3; k++) {
        position[k] = mf_wire_f64(reader);
        fits = fits && fabs(position[k]) < POSITION_MOST;
    }
    for (uint32_t k = 0; k < 4; k++) {
        orientation[k] = mf_wire_f64(reader);
        length += orientation[k] * orientation[k];
    }
    length = sqrt(length);
    for (uint32_t k = 0; k < 4; k++)
        orientation[k] /= length;
    return fits && fabs(length - 1.0) <= 0.01; // what is no number is none, either
}

// Resets robots and puts their bases somewhere else, at rest.
static mf_Status place(mf_Group *robots, mf_WireReader reader, const Range *range, bool acts,
                       mf_Error *error) {
    mf_Field *at = mf_group_find_field(robots, "base.position");
    mf_Field *rotation = mf_group_find_field(robots, "base.orientation");
    double position[3], orientation[4];
    if (at == NULL || rotation == NULL)
        return mf_fail(error, MF_UNSUPPORTED, "the group %.99s has no bases whose pose can be set",
                       mf_group_config_of(robots)->name);
    for (uint32_t i = 0; i < range->count; i++) {
        const uint32_t robot = range->first + i;
        const bool fits = read_pose(&reader, position, orientation);
        if (!fits && !reader.is_short)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "expected positions below 1e9 m and quaternions of length 1");
        if (!acts || !fits)
            continue;
        mf_group_reset(robots, robot);
        for (uint32_t k = 0; k < 3; k++)
            mf_field_set(at, robot, k, position[k]);
        for (uint32_t k = 0; k < 4; k++)
            mf_field_set(rotation, robot, k, orientation[k]);
        mf_group_refresh(robots, robot);
    }
    return mf_wire_done(&reader) ? MF_OK : mf_link_fail_format(error, "as many poses as it says");
}

static mf_Status answer_set_poses(mf_Server *server, mf_WireReader *reader, mf_Error *error) {
    Range range;
    mf_Status status = read_range(server, reader, &range, error);
    if (status != MF_OK)
        return status;
    if (range.count == MF_PROTOCOL_ALL)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected one group");
    mf_wire_u32(reader); // keeps the poses at multiples of 8 bytes
    mf_Group *robots = mf_world_group(server->world, range.first_group);
    status = place(robots, *reader, &range, false, error);
    if (status == MF_OK)
        status = place(robots, *reader, &range, true, error);
    if (status == MF_OK)
        mf_link_event(server, MF_EVENT_RESET, range.first_group, range.first, range.count);
    return status;
}

static mf_Status take_snapshot(mf_Server *server, mf_Peer *peer, uint32_t tag,
                               const mf_WireReader *reader, mf_Error *error) {
    const size_t size = mf_world_snapshot_size(server->world);
    if (!mf_wire_done(reader))
        return mf_link_fail_format(error, "nothing");
    if (size > UINT32_MAX)
        return mf_fail(error, MF_LIMIT, "the snapshot has 2^32 bytes or more");
    void *image = mf_allocate(server->context, size, 1);
    if (image == NULL)
        return mf_fail(error, MF_NO_MEMORY, "out of memory");
    mf_Status status = mf_world_snapshot(server->world, image, size, error);
    uint8_t *out =
        status == MF_OK ? mf_peer_message(server, peer, MF_ANSWER_IMAGE, tag, size) : NULL;
    if (out != NULL)
        memcpy(out, image, size);
    mf_release(server->context, image);
    return status == MF_OK ? MF_BUSY : status;
}

static mf_Status restore(mf_Server *server, const mf_WireReader *reader, mf_Error *error) {
    const size_t size = (size_t)(reader->end - reader->at);
    void *image = mf_allocate(server->context, size + 1, 1);
    if (image == NULL)
        return mf_fail(error, MF_NO_MEMORY, "out of memory");
    memcpy(image, reader->at, size);
    mf_Status status = mf_server_restore(server, image, size, error);
    mf_release(server->context, image);
    return status;
}

static mf_Status switch_motion(mf_Server *server, mf_WireReader *reader, mf_Error *error) {
    Range range;
    mf_Status status = read_range(server, reader, &range, error);
    if (status != MF_OK)
        return status;
    const uint32_t motion = mf_wire_u32(reader);
    if (!mf_wire_done(reader))
        return mf_link_fail_format(error, "a group, its first instance, their number and a motion");
    if (range.count == MF_PROTOCOL_ALL)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected one group");
    if (motion > MF_MOTION_OWN_LAST)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a motion of 0 .. %d, found %u",
                       MF_MOTION_OWN_LAST, motion);
    return mf_server_switch(server, range.first_group, range.first, range.count, (mf_Motion)motion,
                            error);
}

// ---- the connection ----------------------------------------------------------------------------

static mf_Status put_statistics(mf_Server *server, mf_Peer *peer, uint32_t tag,
                                mf_WireReader *reader, mf_Error *error) {
    const uint32_t flags = mf_wire_u32(reader);
    if (!mf_wire_done(reader) || (flags & ~(uint32_t)MF_STATISTICS_HASH) != 0)
        return mf_link_fail_format(error, "flags");
    const uint64_t hash = flags != 0 ? mf_world_hash(server->world) : 0;
    const mf_ServerStatistics *seen = &peer->seen;
    const uint64_t numbers[] = {mf_link_tick(server),
                                (uint64_t)mf_world_time(server->world),
                                hash,
                                seen->states,
                                seen->lost,
                                seen->writes,
                                seen->late,
                                seen->turns,
                                seen->missed,
                                peer->bytes_in + peer->shared_in,
                                peer->bytes_out + peer->shared_out};
    uint8_t *out = mf_peer_message(server, peer, MF_ANSWER_STATISTICS, tag, sizeof numbers + 24);
    if (out == NULL)
        return MF_BUSY;
    memcpy(out, numbers, sizeof numbers);
    out += sizeof numbers;
    memcpy(out, &server->speed, sizeof server->speed);
    memcpy(out + 8, &server->factor, sizeof server->factor);
    out = mf_wire_put_u32(out + 16, mf_peer_welcome_count(server));
    mf_wire_put_u32(out, (server->paused ? MF_SERVER_PAUSED : 0) | mf_link_shares(peer));
    return MF_BUSY;
}

static mf_Status put_model(mf_Server *server, mf_Peer *peer, uint32_t tag, mf_WireReader *reader,
                           mf_Error *error) {
    const uint32_t number = mf_wire_u32(reader), groups = mf_world_group_count(server->world);
    if (!mf_wire_done(reader))
        return mf_link_fail_format(error, "a group");
    if (number >= groups)
        return mf_fail(error, MF_NOT_FOUND, "expected a group below %u, found %u", groups, number);
    const mf_Group *group = mf_world_group(server->world, number);
    char *text = mf_group_json(group);
    if (text == NULL)
        return mf_fail(error, MF_NO_MEMORY, "out of memory");
    const size_t size = strlen(text);
    uint8_t *out = mf_peer_message(server, peer, MF_ANSWER_MODEL, tag, size);
    if (out != NULL)
        memcpy(out, text, size);
    free(text);
    return MF_BUSY;
}

static mf_Status set_events(mf_Server *server, mf_Peer *peer, mf_WireReader *reader,
                            mf_Error *error) {
    const uint32_t mask = mf_wire_u32(reader);
    if (!mf_wire_done(reader))
        return mf_link_fail_format(error, "a mask of events");
    if (mask >= 1u << MF_EVENT_KINDS)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected events 0 .. %d", MF_EVENT_KINDS - 1);
    mf_Status status = mf_link_begin_watch(server, error);
    if (status == MF_OK && (mask & WATCHED) != 0 && peer->watch == NULL)
        status = mf_watch_create(server->scene, &peer->watch, error);
    if (status != MF_OK)
        return status;
    peer->events = mask;
    return MF_OK;
}

static mf_Status stop_run(mf_Server *server, const mf_WireReader *reader, mf_Error *error) {
    const size_t size = (size_t)(reader->end - reader->at), most = sizeof server->reason - 1;
    if (!server->config.led)
        return mf_fail(error, MF_UNSUPPORTED, "this world runs without an end: pause it instead");
    memcpy(server->reason, reader->at, size < most ? size : most);
    server->reason[size < most ? size : most] = '\0';
    server->stopped = true;
    return MF_OK;
}

mf_Status mf_link_serve(mf_Server *server, mf_Peer *peer, uint32_t kind, uint32_t tag,
                        mf_WireReader *reader, mf_Error *error) {
    switch (kind) {
    case MF_MESSAGE_PAUSE:
        return set_pause(server, reader, error);
    case MF_MESSAGE_STEP:
        return ask_steps(server, peer, tag, reader, error);
    case MF_MESSAGE_RESET:
        return reset(server, reader, error);
    case MF_MESSAGE_SET_POSES:
        return answer_set_poses(server, reader, error);
    case MF_MESSAGE_SNAPSHOT:
        return take_snapshot(server, peer, tag, reader, error);
    case MF_MESSAGE_RESTORE:
        return restore(server, reader, error);
    case MF_MESSAGE_SWITCH:
        return switch_motion(server, reader, error);
    case MF_MESSAGE_STATISTICS:
        return put_statistics(server, peer, tag, reader, error);
    case MF_MESSAGE_SPEED:
        return set_speed(server, reader, error);
    case MF_MESSAGE_EVENTS:
        return set_events(server, peer, reader, error);
    case MF_MESSAGE_MODEL:
        return put_model(server, peer, tag, reader, error);
    case MF_MESSAGE_PHOTO:
        return mf_link_photo(server, peer, tag, reader, error);
    case MF_MESSAGE_SHARE:
        return mf_link_share(server, peer, tag, reader, error);
    case MF_MESSAGE_LOAD:
    case MF_MESSAGE_SPAWN:
    case MF_MESSAGE_WORLD:
        return mf_link_load(server, peer, kind, tag, reader, error);
    case MF_MESSAGE_STOP:
        return stop_run(server, reader, error);
    case MF_MESSAGE_PING:
        return MF_OK;
    default:
        return mf_link_property(server, peer, kind, tag, reader, error);
    }
}
