// Messages of clients: hello, list, subscriptions, writes and turns. Everything in a message is
// checked before anything changes.
#include "serve/peer.h"

void mf_link_done(mf_Server *server, mf_Peer *peer, uint32_t tag) {
    uint8_t *out = mf_peer_message(server, peer, MF_ANSWER_DONE, tag, 16);
    if (out == NULL)
        return;
    out = mf_wire_put_u64(out, mf_link_tick(server));
    mf_wire_put_u64(out, (uint64_t)mf_world_time(server->world));
}

// ---- hello -------------------------------------------------------------------------------------

// Takes the same time for every wrong token of the right length.
static bool is_token(const char *token, const uint8_t *found, uint32_t size) {
    unsigned differ = 0;
    if (token == NULL)
        return true;
    if (strlen(token) != size)
        return false;
    for (uint32_t i = 0; i < size; i++)
        differ |= (unsigned)found[i] ^ (unsigned)(uint8_t)token[i];
    return differ == 0;
}

void mf_link_put_welcome(mf_Server *server, mf_Peer *peer, uint32_t tag) {
    const char *name = server->scene->file->name != NULL ? server->scene->file->name : "";
    const size_t length = strlen(name);
    uint8_t *out = mf_peer_message(server, peer, MF_ANSWER_WELCOME, tag, 56 + length);
    if (out == NULL)
        return;
    out = mf_wire_put_u32(out, MF_PROTOCOL_MAGIC);
    out = mf_wire_put_u32(out, MF_PROTOCOL_MAJOR | MF_PROTOCOL_MINOR << 16);
    out = mf_wire_put_u32(out, peer->number);
    out = mf_wire_put_u32(out, (uint32_t)server->message_limit);
    out = mf_wire_put_u64(out, (uint64_t)server->scene->step);
    out = mf_wire_put_u64(out, mf_link_tick(server));
    out = mf_wire_put_u64(out, (uint64_t)mf_world_time(server->world));
    out = mf_wire_put_u32(out, mf_world_group_count(server->world));
    out = mf_wire_put_u32(out, server->field_count);
    out = mf_wire_put_u32(out, server->paused ? MF_SERVER_PAUSED : 0);
    out = mf_wire_put_u32(out, (uint32_t)length);
    memcpy(out, name, length);
}

static void answer_hello(mf_Server *server, mf_Peer *peer, uint32_t tag, mf_WireReader *reader) {
    const uint32_t magic = mf_wire_u32(reader), version = mf_wire_u32(reader);
    const uint32_t size = mf_wire_u32(reader);
    const uint8_t *token = mf_wire_take(reader, size);
    if (mf_peer_welcome_count(server) >= server->config.connections)
        mf_peer_reap(server, peer); // those that are gone free their slots
    if (!mf_wire_done(reader) || magic != MF_PROTOCOL_MAGIC) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       "expected the hello of a client of Mayfly");
    } else if ((version & 0xffffu) != MF_PROTOCOL_MAJOR) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       "expected version %u of the protocol, found %u", MF_PROTOCOL_MAJOR,
                       version & 0xffffu);
    } else if (!is_token(server->config.token, token, size)) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       "expected the token that the server printed");
    } else if (server->config.token == NULL && !mf_link_is_own_user(server, peer->socket)) {
        mf_peer_refuse(server, peer, tag, MF_UNSUPPORTED,
                       "without a token this server is for its own user (MAYFLY_TOKEN sets one)");
    } else if (mf_peer_welcome_count(server) >= server->config.connections) {
        mf_peer_refuse(server, peer, tag, MF_LIMIT,
                       "the server has %u connections, as many as it accepts",
                       server->config.connections);
    } else {
        peer->welcome = true;
        server->sum.connections++;
        mf_link_put_welcome(server, peer, tag);
        mf_link_event(server, MF_EVENT_JOINED, 0, 0, peer->number);
    }
}

// ---- list --------------------------------------------------------------------------------------

static size_t short_length(const char *text) {
    const size_t length = strlen(text);
    return length < UINT8_MAX ? length : UINT8_MAX;
}

// Counts with out NULL, else writes; returns the bytes.
static size_t list_field(uint8_t *out, const mf_LinkField *field) {
    const mf_FieldInfo *info = &field->field->info;
    const size_t name = short_length(info->name), unit = short_length(info->unit);
    const size_t frame = short_length(info->frame), about = short_length(info->description);
    const size_t texts = name + unit + frame + about, size = 20 + mf_wire_padded(texts, 4);
    const uint32_t elements = info->width > 0 ? field->field->components / info->width : 0;
    if (out == NULL)
        return size;
    uint32_t flags = info->flags & 15u;
    flags |= field->writable ? MF_FIELD_WRITABLE : 0u;
    memset(out, 0, size);
    out = mf_wire_put_u32(out, (uint32_t)info->type);
    out = mf_wire_put_u32(out, elements);
    out = mf_wire_put_u32(out, info->width);
    out = mf_wire_put_u32(out, flags | (uint32_t)info->shape << 8);
    const uint8_t lengths[4] = {(uint8_t)name, (uint8_t)unit, (uint8_t)frame, (uint8_t)about};
    memcpy(out, lengths, sizeof lengths);
    memcpy(out + 4, info->name, name);
    memcpy(out + 4 + name, info->unit, unit);
    memcpy(out + 4 + name + unit, info->frame, frame);
    memcpy(out + 4 + name + unit + frame, info->description, about);
    return size;
}

static size_t list_group(uint8_t *out, const mf_Group *group) {
    const mf_GroupConfig *config = mf_group_config_of(group);
    const size_t name = short_length(config->name), size = 16 + mf_wire_padded(name, 4);
    uint32_t motions = 0;
    if (out == NULL)
        return size;
    for (uint32_t m = 0; m <= MF_MOTION_OWN_LAST; m++)
        motions |= (uint32_t)mf_motion_in(group, (mf_Motion)m) << m;
    memset(out, 0, size);
    out = mf_wire_put_u32(out, config->count);
    out = mf_wire_put_u32(out, mf_group_field_count(group));
    out = mf_wire_put_u32(out, motions);
    out = mf_wire_put_u32(out, (uint32_t)name | (config->isolated ? 1u << 8 : 0u));
    memcpy(out, config->name, name);
    return size;
}

static size_t list_all(const mf_Server *server, uint8_t *out) {
    size_t size = 0;
    uint32_t group = UINT32_MAX;
    for (uint32_t f = 0; f < server->field_count; f++) {
        const mf_LinkField *field = &server->fields[f];
        if (field->group_number != group)
            size += list_group(out == NULL ? NULL : out + size, field->group);
        group = field->group_number;
        size += list_field(out == NULL ? NULL : out + size, field);
    }
    return size;
}

static void answer_list(mf_Server *server, mf_Peer *peer, uint32_t tag) {
    uint8_t *out =
        mf_peer_message(server, peer, MF_ANSWER_LISTING, tag, 8 + list_all(server, NULL));
    if (out == NULL)
        return;
    out = mf_wire_put_u32(out, mf_world_group_count(server->world));
    out = mf_wire_put_u32(out, server->field_count);
    list_all(server, out);
}

// ---- subscriptions -----------------------------------------------------------------------------

bool mf_link_read_entry(mf_Server *server, mf_WireReader *reader, mf_LinkEntry *out,
                        mf_Error *error) {
    out->field = mf_wire_u32(reader);
    out->first = mf_wire_u32(reader);
    out->count = mf_wire_u32(reader);
    if (reader->is_short) {
        mf_link_fail_format(error, "entries of a field, the first instance and their number");
        return false;
    }
    if (out->field >= server->field_count) {
        mf_fail(error, MF_NOT_FOUND, "expected a field below %u, found %u", server->field_count,
                out->field);
        return false;
    }
    const uint32_t most = mf_group_count(server->fields[out->field].group);
    if (out->count == MF_PROTOCOL_ALL && out->first < most)
        out->count = most - out->first;
    if (out->first < most && out->count >= 1 && out->count <= most - out->first)
        return true;
    mf_fail(error, MF_BAD_ARGUMENT, "expected instances within 0 .. %u, found %u from %u on",
            most - 1, out->count, out->first);
    return false;
}

static mf_Status read_subscription(mf_Server *server, mf_WireReader *reader, uint32_t count,
                                   mf_Subscription *out, mf_Error *error) {
    size_t size = 32;
    for (uint32_t i = 0; i < count; i++) {
        if (!mf_link_read_entry(server, reader, &out->entries[i], error))
            return error->status;
        size += mf_wire_padded(mf_link_entry_size(server, &out->entries[i]), 8);
        if (size > UINT32_MAX / 2)
            return mf_fail(error, MF_LIMIT, "expected a state below 2^31 bytes");
    }
    out->size = size;
    return mf_wire_done(reader) ? MF_OK : mf_link_fail_format(error, "as many entries as it says");
}

static mf_Status subscribe(mf_Server *server, mf_Peer *peer, mf_WireReader *reader,
                           mf_Error *error) {
    const uint32_t number = mf_wire_u32(reader), count = mf_wire_u32(reader);
    mf_Subscription made = {.period = (mf_Time)mf_wire_u64(reader), .entry_count = count};
    if (number >= MF_PROTOCOL_SUBSCRIPTIONS || count < 1 || count > MF_PROTOCOL_ENTRIES)
        return mf_fail(error, MF_LIMIT,
                       "expected a subscription below %d with 1 .. %d entries, found %u with %u",
                       MF_PROTOCOL_SUBSCRIPTIONS, MF_PROTOCOL_ENTRIES, number, count);
    if (made.period < 0)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a period >= 0 ns");
    made.entries = mf_allocate(server->context, count, sizeof *made.entries);
    if (made.entries == NULL)
        return mf_fail(error, MF_NO_MEMORY, "out of memory");
    mf_Status status = read_subscription(server, reader, count, &made, error);
    if (status != MF_OK) {
        mf_peer_drop_subscription(server, &made);
        return status;
    }
    made.next = mf_link_tick(server);
    mf_link_drop_region(server, &peer->subscriptions[number].region, true);
    mf_peer_drop_subscription(server, &peer->subscriptions[number]);
    peer->subscriptions[number] = made;
    peer->used = number >= peer->used ? number + 1 : peer->used;
    return MF_OK;
}

static mf_Status unsubscribe(mf_Server *server, mf_Peer *peer, mf_WireReader *reader,
                             mf_Error *error) {
    const uint32_t number = mf_wire_u32(reader);
    if (!mf_wire_done(reader) || number >= MF_PROTOCOL_SUBSCRIPTIONS)
        return mf_link_fail_format(error, "the number of a subscription");
    mf_link_drop_region(server, &peer->subscriptions[number].region, true);
    mf_peer_drop_subscription(server, &peer->subscriptions[number]);
    return MF_OK;
}

// ---- writes ------------------------------------------------------------------------------------

typedef struct Write {
    uint64_t tick; // for which it is meant
    uint32_t count, flags;
} Write;

static mf_Status read_write(mf_WireReader *reader, Write *out, mf_Error *error) {
    out->tick = mf_wire_u64(reader);
    out->count = mf_wire_u32(reader);
    out->flags = mf_wire_u32(reader);
    if (reader->is_short || out->count > MF_PROTOCOL_ENTRIES ||
        (out->flags & ~(uint32_t)MF_WRITE_GO) != 0)
        return mf_link_fail_format(error, "a tick, 0 .. 1024 entries, and flags");
    return MF_OK;
}

// Reads all entries; writes the values only where `writes` is set. They follow each entry, or lie
// in shared memory, one after the other (`slot`); all lengths are those of the message.
static mf_Status read_writes(mf_Server *server, mf_WireReader reader, mf_WireReader *slot,
                             uint32_t count, bool writes, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        mf_LinkEntry entry;
        if (!mf_link_read_entry(server, &reader, &entry, error))
            return error->status;
        const mf_LinkField *field = &server->fields[entry.field];
        const size_t size = mf_link_entry_size(server, &entry);
        const uint32_t said = mf_wire_u32(&reader);
        if (!field->writable)
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "field %.99s is no input, or a system of the scene writes it",
                           field->field->info.name);
        const uint8_t *values =
            mf_wire_take(slot != NULL ? slot : &reader, mf_wire_padded(size, 8));
        if (values == NULL || said != size)
            return mf_fail(error, MF_BAD_ARGUMENT, "expected %zu bytes of %.99s, found %u", size,
                           field->field->info.name, said);
        if (writes)
            mf_link_scatter(field->field, values, entry.first, entry.count);
    }
    return mf_wire_done(&reader) ? MF_OK : mf_link_fail_format(error, "as many entries as it says");
}

// `slot` NULL: the values are in the message.
static mf_Status act(mf_Server *server, mf_Peer *peer, const Write *write,
                     const mf_WireReader *reader, mf_WireReader *slot, mf_Error *error) {
    const uint64_t tick = mf_link_tick(server), meant = write->tick;
    mf_WireReader check = slot != NULL ? *slot : *reader;
    mf_Status status =
        read_writes(server, *reader, slot != NULL ? &check : NULL, write->count, false, error);
    if (status == MF_OK)
        status = read_writes(server, *reader, slot, write->count, true, error);
    if (status != MF_OK)
        return status;
    peer->seen.writes++;
    server->sum.writes++;
    peer->seen.late += meant < tick;
    server->sum.late += meant < tick;
    if ((write->flags & MF_WRITE_GO) != 0 && peer->waiting && meant >= peer->turn) {
        peer->waiting = false;
        peer->turn = mf_link_next(server, peer->turn_period, peer->turn);
    }
    return MF_OK;
}

static mf_Status answer_write(mf_Server *server, mf_Peer *peer, mf_WireReader *reader,
                              mf_Error *error) {
    Write write;
    mf_Status status = read_write(reader, &write, error);
    return status == MF_OK ? act(server, peer, &write, reader, NULL, error) : status;
}

static mf_Status answer_write_shared(mf_Server *server, mf_Peer *peer, mf_WireReader *reader,
                                     mf_Error *error) {
    Write write;
    mf_Status status = read_write(reader, &write, error);
    const uint32_t slot = mf_wire_u32(reader), number = mf_wire_u32(reader);
    mf_Region *region = peer->writes;
    if (status != MF_OK)
        return status;
    if (reader->is_short || region == NULL || slot >= region->slots)
        return mf_link_fail_format(error, "a write in a slot of shared memory");
    const uint8_t *at = mf_region_slot(region, slot);
    mf_WireReader values = {at, at + region->stride, false};
    status = act(server, peer, &write, reader, &values, error);
    mf_region_release(region, slot, number);
    peer->shared_in += (uint64_t)(values.at - at);
    peer->bytes_left -= (double)(values.at - at);
    return status;
}

static mf_Status answer_lock_step(mf_Server *server, mf_Peer *peer, mf_WireReader *reader,
                                  mf_Error *error) {
    const uint32_t on = mf_wire_u32(reader);
    const uint32_t unused = mf_wire_u32(reader);
    const mf_Time period = (mf_Time)mf_wire_u64(reader), limit = (mf_Time)mf_wire_u64(reader);
    if (!mf_wire_done(reader) || on > 1 || unused != 0 || period < 0)
        return mf_link_fail_format(error, "0 or 1, 0, a period >= 0 ns and a limit");
    if (on == 1 && (limit < MF_MILLISECOND || limit > 3600 * MF_SECOND))
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a limit of 1 ms .. 1 h");
    peer->lock_step = on == 1;
    peer->waiting = false;
    peer->turn_period = period;
    peer->limit = limit;
    peer->turn = mf_link_tick(server);
    return MF_OK;
}

// ---- all of them -------------------------------------------------------------------------------

// Whether a message has numbers of groups or fields.
static bool names_numbers(uint32_t kind, mf_WireReader reader) {
    switch (kind) {
    case MF_MESSAGE_WRITE:
        mf_wire_u64(&reader);
        return mf_wire_u32(&reader) > 0; // one without values may end a turn
    case MF_MESSAGE_RESET:
        return mf_wire_u32(&reader) != MF_PROTOCOL_ALL;
    case MF_MESSAGE_SUBSCRIBE:
    case MF_MESSAGE_SWITCH:
    case MF_MESSAGE_MODEL:
    case MF_MESSAGE_PHOTO:
    case MF_MESSAGE_SET_POSES:
    case MF_MESSAGE_DOCK:
        return true;
    default:
        return false;
    }
}

// MF_BUSY: it is answered already, or later.
static mf_Status answer(mf_Server *server, mf_Peer *peer, uint32_t kind, uint32_t tag,
                        mf_WireReader *reader, mf_Error *error) {
    if (peer->stale && names_numbers(kind, *reader))
        return mf_fail(error, MF_VERSION,
                       "the world was replaced and numbers have changed: ask for LIST first");
    switch (kind) {
    case MF_MESSAGE_LIST:
        peer->stale = false;
        answer_list(server, peer, tag);
        return MF_BUSY;
    case MF_MESSAGE_SUBSCRIBE:
        return subscribe(server, peer, reader, error);
    case MF_MESSAGE_UNSUBSCRIBE:
        return unsubscribe(server, peer, reader, error);
    case MF_MESSAGE_WRITE:
    case MF_MESSAGE_WRITE_SHARED: {
        const mf_Status status = kind == MF_MESSAGE_WRITE
                                     ? answer_write(server, peer, reader, error)
                                     : answer_write_shared(server, peer, reader, error);
        return status == MF_OK && tag == 0 ? MF_BUSY : status;
    }
    case MF_MESSAGE_LOCK_STEP:
        return answer_lock_step(server, peer, reader, error);
    default:
        return mf_link_serve(server, peer, kind, tag, reader, error);
    }
}

void mf_link_answer(mf_Server *server, mf_Peer *peer, uint32_t kind, uint32_t tag,
                    mf_WireReader *reader) {
    mf_Error error = {0};
    if ((kind == MF_MESSAGE_HELLO) == peer->welcome) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       peer->welcome ? "expected one hello" : "expected a hello at first");
    } else if (kind == MF_MESSAGE_HELLO) {
        answer_hello(server, peer, tag, reader);
    } else if (kind == 0 || kind >= MF_MESSAGE_KINDS) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       "expected a kind of message of 1 .. %d, found %u", MF_MESSAGE_KINDS - 1,
                       kind);
    } else {
        const mf_Status status = answer(server, peer, kind, tag, reader, &error);
        if (status == MF_OK)
            mf_link_done(server, peer, tag);
        else if (error.status == MF_BAD_FILE) // no message of this kind: what follows is garbage
            mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT, "%s", error.message);
        else if (error.status != MF_OK)
            mf_peer_error(server, peer, tag, &error);
    }
}
