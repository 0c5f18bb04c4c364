// Messages of clients: hello, list, subscriptions, writes and turns. Everything in a message is
// checked before anything changes.
#include "serve/peer.h"

void mf_link_done(mf_Server *server, mf_Peer *peer, uint32_t tag) {
    mf_DoneAnswer *out = mf_peer_message(server, peer, MF_ANSWER_DONE, tag, sizeof *out);
    if (out != NULL)
        *out = (mf_DoneAnswer){mf_link_tick(server), mf_world_time(server->world)};
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

// After the event WORLD.
mf_Status mf_answer_world(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const char *name = server->scene->file->name != NULL ? server->scene->file->name : "";
    const size_t length = strlen(name);
    mf_WelcomeAnswer *out =
        mf_peer_message(server, peer, MF_ANSWER_WELCOME, message->tag, sizeof *out + length);
    (void)error;
    if (out == NULL)
        return MF_BUSY;
    *out = (mf_WelcomeAnswer){.magic = MF_PROTOCOL_MAGIC,
                              .major = MF_PROTOCOL_MAJOR,
                              .minor = MF_PROTOCOL_MINOR,
                              .number = peer->number,
                              .longest = (uint32_t)server->message_limit,
                              .step = server->scene->step,
                              .tick = mf_link_tick(server),
                              .time = mf_world_time(server->world),
                              .groups = mf_world_group_count(server->world),
                              .fields = server->field_count,
                              .flags = server->paused ? MF_SERVER_PAUSED : 0,
                              .title_size = (uint32_t)length};
    memcpy(out + 1, name, length);
    return MF_BUSY;
}

mf_Status mf_answer_hello(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    const mf_HelloRequest *in = message->data;
    const uint32_t tag = message->tag;
    if (mf_peer_welcome_count(server) >= server->config.connections)
        mf_peer_reap(server, peer); // those that are gone free their slots
    if (in->magic != MF_PROTOCOL_MAGIC || in->token_size != message->size - sizeof *in) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       "expected the hello of a client of Mayfly");
    } else if (in->major != MF_PROTOCOL_MAJOR) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       "expected version %u of the protocol, found %u", MF_PROTOCOL_MAJOR,
                       in->major);
    } else if (!is_token(server->config.token, (const uint8_t *)(in + 1), in->token_size)) {
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
        mf_answer_world(server, peer, message, error);
        mf_link_event(server, MF_EVENT_JOINED, 0, 0, peer->number);
    }
    return MF_BUSY;
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
    const size_t texts = name + unit + frame + about,
                 size = sizeof(mf_FieldPart) + mf_wire_padded(texts, 4);
    const uint32_t elements = info->width > 0 ? field->field->components / info->width : 0;
    if (out == NULL)
        return size;
    memset(out, 0, size);
    *(mf_FieldPart *)(void *)out = (mf_FieldPart){
        .type = (uint32_t)info->type,
        .elements = elements,
        .width = info->width,
        .flags = (uint8_t)((info->flags & 15u) | (field->writable ? MF_FIELD_WRITABLE : 0u)),
        .shape = (uint8_t)info->shape,
        .name_size = (uint8_t)name,
        .unit_size = (uint8_t)unit,
        .frame_size = (uint8_t)frame,
        .description_size = (uint8_t)about};
    out += sizeof(mf_FieldPart);
    memcpy(out, info->name, name);
    memcpy(out + name, info->unit, unit);
    memcpy(out + name + unit, info->frame, frame);
    memcpy(out + name + unit + frame, info->description, about);
    return size;
}

static size_t list_group(uint8_t *out, const mf_Group *group) {
    const mf_GroupConfig *config = mf_group_config_of(group);
    const size_t name = short_length(config->name);
    const size_t size = sizeof(mf_GroupPart) + mf_wire_padded(name, 4);
    uint32_t motions = 0;
    if (out == NULL)
        return size;
    for (uint32_t m = 0; m <= MF_MOTION_OWN_LAST; m++)
        motions |= (uint32_t)mf_motion_in(group, (mf_Motion)m) << m;
    memset(out, 0, size);
    *(mf_GroupPart *)(void *)out = (mf_GroupPart){.instances = config->count,
                                                  .fields = mf_group_field_count(group),
                                                  .motions = motions,
                                                  .name_size = (uint8_t)name,
                                                  .isolated = config->isolated};
    memcpy(out + sizeof(mf_GroupPart), config->name, name);
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

mf_Status mf_answer_list(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                         mf_Error *error) {
    mf_ListingAnswer *out = mf_peer_message(server, peer, MF_ANSWER_LISTING, message->tag,
                                            sizeof *out + list_all(server, NULL));
    (void)error;
    peer->stale = false;
    if (out == NULL)
        return MF_BUSY;
    *out = (mf_ListingAnswer){mf_world_group_count(server->world), server->field_count};
    list_all(server, (uint8_t *)(out + 1));
    return MF_BUSY;
}

// ---- subscriptions -----------------------------------------------------------------------------

// An entry of SUBSCRIBE or WRITE; checks the field and the range, and replaces MF_PROTOCOL_ALL.
static bool read_entry(mf_Server *server, const mf_EntryPart *in, mf_EntryPart *out,
                       mf_Error *error) {
    if (in == NULL) {
        mf_link_fail_format(error, "as many entries as it says");
        return false;
    }
    *out = *in;
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

static mf_Status read_subscription(mf_Server *server, mf_WireReader tail, uint32_t count,
                                   mf_Subscription *out, mf_Error *error) {
    size_t size = sizeof(mf_StateAnswer);
    for (uint32_t i = 0; i < count; i++) {
        if (!read_entry(server, mf_wire_take(&tail, sizeof(mf_EntryPart)), &out->entries[i], error))
            return error->status;
        size += mf_wire_padded(mf_link_entry_size(server, &out->entries[i]), 8);
        if (size > UINT32_MAX / 2)
            return mf_fail(error, MF_LIMIT, "expected a state below 2^31 bytes");
    }
    out->size = size;
    return mf_wire_done(&tail) ? MF_OK : mf_link_fail_format(error, "as many entries as it says");
}

mf_Status mf_answer_subscribe(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                              mf_Error *error) {
    const mf_SubscribeRequest *in = message->data;
    const uint32_t number = in->number, count = in->count;
    mf_Subscription made = {.period = in->period, .entry_count = count};
    MF_NEED(count >= 1, error, "expected a subscription with entries");
    MF_NEED(made.period >= 0, error, "expected a period >= 0 ns");
    made.entries = mf_allocate(server->context, count, sizeof *made.entries);
    MF_NEED_MEMORY(made.entries != NULL, error, "serve");
    mf_Status status = read_subscription(server, mf_wire_tail(message), count, &made, error);
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

mf_Status mf_answer_unsubscribe(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                                mf_Error *error) {
    const mf_UnsubscribeRequest *in = message->data;
    const uint32_t number = in->number;
    (void)error;
    mf_link_drop_region(server, &peer->subscriptions[number].region, true);
    mf_peer_drop_subscription(server, &peer->subscriptions[number]);
    return MF_OK;
}

// ---- writes ------------------------------------------------------------------------------------

// Reads all entries; writes the values only where `writes` is set. They follow each entry, or lie
// in shared memory, one after the other (`slot`); the lengths come from the message.
static mf_Status read_writes(mf_Server *server, mf_WireReader reader, mf_WireReader *slot,
                             uint32_t count, bool writes, mf_Error *error) {
    for (uint32_t i = 0; i < count; i++) {
        mf_EntryPart entry;
        const mf_WriteEntryPart *in = mf_wire_take(&reader, sizeof *in);
        if (!read_entry(server, (const void *)in, &entry, error))
            return error->status;
        const mf_LinkField *field = &server->fields[entry.field];
        const size_t size = mf_link_entry_size(server, &entry);
        MF_NEED(field->writable, error,
                "field %.99s is no input, or a system of the scene writes it",
                field->field->info.name);
        const uint8_t *values =
            mf_wire_take(slot != NULL ? slot : &reader, mf_wire_padded(size, 8));
        MF_NEED(values != NULL && in->size == size, error, "expected %zu bytes of %.99s, found %u",
                size, field->field->info.name, in->size);
        if (writes)
            mf_link_scatter(field->field, values, entry.first, entry.count);
    }
    return mf_wire_done(&reader) ? MF_OK : mf_link_fail_format(error, "as many entries as it says");
}

static mf_Status fail_stale(mf_Error *error) {
    return mf_fail(error, MF_VERSION,
                   "the world was replaced and numbers have changed: ask for LIST first");
}

// `slot` NULL: the values are in the message. Both kinds of writes begin alike.
static mf_Status act(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                     mf_WireReader *slot, mf_Error *error) {
    const mf_WriteRequest *write = message->data;
    const mf_WireReader entries = mf_wire_tail(message);
    const uint64_t tick = mf_link_tick(server), meant = write->tick;
    mf_WireReader check = slot != NULL ? *slot : entries;
    if (peer->stale && write->count > 0) // one without values may end a turn
        return fail_stale(error);
    MF_TRY(read_writes(server, entries, slot != NULL ? &check : NULL, write->count, false, error));
    MF_TRY(read_writes(server, entries, slot, write->count, true, error));
    peer->seen.writes++;
    server->sum.writes++;
    peer->seen.late += meant < tick;
    server->sum.late += meant < tick;
    if ((write->flags & MF_WRITE_GO) != 0 && peer->waiting && meant >= peer->turn) {
        peer->waiting = false;
        peer->turn = mf_link_next(server, peer->turn_period, peer->turn);
    }
    return message->tag == 0 ? MF_BUSY : MF_OK;
}

mf_Status mf_answer_write(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    return act(server, peer, message, NULL, error);
}

mf_Status mf_answer_write_shared(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                                 mf_Error *error) {
    const mf_WriteSharedRequest *in = message->data;
    mf_Region *region = peer->writes;
    if (region == NULL || in->slot >= region->slots)
        return mf_link_fail_format(error, "a write in a slot of shared memory");
    const uint8_t *at = mf_region_slot(region, in->slot);
    mf_WireReader values = {at, at + region->stride, false};
    mf_Status status = act(server, peer, message, &values, error);
    mf_region_release(region, in->slot, in->number);
    peer->shared_in += (uint64_t)(values.at - at);
    peer->bytes_left -= (double)(values.at - at);
    return status;
}

mf_Status mf_answer_lock_step(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                              mf_Error *error) {
    const mf_LockStepRequest *in = message->data;
    MF_NEED(in->period >= 0, error, "expected a period >= 0 ns");
    if (in->on == 1 && (in->limit < MF_MILLISECOND || in->limit > 3600 * MF_SECOND))
        return mf_fail(error, MF_BAD_ARGUMENT, "expected a limit of 1 ms .. 1 h");
    peer->lock_step = in->on == 1;
    peer->waiting = false;
    peer->turn_period = in->period;
    peer->limit = in->limit;
    peer->turn = mf_link_tick(server);
    return MF_OK;
}

// ---- all of them -------------------------------------------------------------------------------

// Whether a message has numbers of groups or fields; writes look for themselves.
static bool names_numbers(const mf_WireMessage *message) {
    const uint8_t *at = message->data;
    for (const mf_WireMember *member = mf_wire_rows[message->kind].members; member->name != NULL;
         member++) {
        uint32_t value = 0;
        if (strcmp(member->name, "group") == 0) {
            memcpy(&value, at, sizeof value);
            return value != MF_PROTOCOL_ALL;
        }
        at += member->size;
    }
    return message->kind == MF_MESSAGE_SUBSCRIBE;
}

// The members of the head within the ranges of the table.
static mf_Status check_members(const mf_WireMessage *message, mf_Error *error) {
    const mf_WireRow *row = &mf_wire_rows[message->kind];
    const uint8_t *at = message->data;
    for (const mf_WireMember *member = row->members; member->name != NULL; member++) {
        uint64_t value = 0;
        memcpy(&value, at, member->size);
        if (value > member->most)
            return mf_fail(error, MF_BAD_ARGUMENT, "%s: expected %s 0 .. %llu, found %llu",
                           row->name, member->name, (unsigned long long)member->most,
                           (unsigned long long)value);
        at += member->size;
    }
    return MF_OK;
}

static mf_Status answer(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                        mf_Error *error) {
#define CALL(kind, NAME, Name, name, ...) [kind] = mf_answer_##name,
    static mf_Status (*const calls[MF_MESSAGE_KINDS])(mf_Server *, mf_Peer *,
                                                      const mf_WireMessage *, mf_Error *) = {
        MF_PROTOCOL_REQUESTS(CALL, MF_PROTOCOL_NOTHING, 0)};
    if (check_members(message, error) != MF_OK)
        return error->status;
    if (peer->stale && names_numbers(message))
        return fail_stale(error);
    return calls[message->kind](server, peer, message, error);
}

void mf_link_answer(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message) {
    const uint32_t kind = message->kind, tag = message->tag;
    const bool exists = kind < MF_MESSAGE_KINDS && mf_wire_rows[kind].name != NULL;
    mf_Error error = {0};
    if ((kind == MF_MESSAGE_HELLO) == peer->welcome) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       peer->welcome ? "expected one hello" : "expected a hello at first");
    } else if (!exists) {
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT,
                       "expected a kind of message of 1 .. %d, found %u", MF_MESSAGE_KINDS - 1,
                       kind);
    } else if (!mf_wire_fits(message)) {
        const mf_WireRow *row = &mf_wire_rows[kind];
        mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT, "%s: expected %s%u bytes, found %zu",
                       row->name, row->has_tail ? "at least " : "", row->head, message->size);
    } else {
        const mf_Status status = answer(server, peer, message, &error);
        if (status == MF_OK)
            mf_link_done(server, peer, tag);
        else if (error.status == MF_BAD_FILE) // no message of this kind: what follows is garbage
            mf_peer_refuse(server, peer, tag, MF_BAD_ARGUMENT, "%s", error.message);
        else if (error.status != MF_OK)
            mf_peer_error(server, peer, tag, &error);
    }
}
