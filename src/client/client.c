// A client of `mayfly serve` (client.h): hello and list, requests with their answers, and what
// comes unasked. Uses the C library and sockets, nothing of Mayfly's libraries.
#include "client/link.h"
#include "base/floats.h"

#include <stdlib.h>
#include <unistd.h>

mf_Status mf_client_no_memory(mf_Error *error) {
    return mf_client_fail(error, MF_NO_MEMORY, "out of memory");
}

mf_Status mf_client_malformed(mf_Error *error) {
    return mf_client_fail(error, MF_CORRUPT, "the server sent a message that is malformed");
}

// ---- unsolicited messages ----------------------------------------------------------------------

// The heads of both kinds of states are alike.
static mf_Status keep_state(mf_Client *client, const mf_WireMessage *message, mf_Error *error) {
    const mf_StateSharedAnswer *in = message->data;
    if (in->number >= MF_PROTOCOL_SUBSCRIPTIONS)
        return mf_client_malformed(error);
    mf_ClientState *state = &client->states[in->number];
    const bool is_shared = message->kind == MF_ANSWER_STATE_SHARED;
    if (state->data == NULL || (!is_shared && message->size != state->size))
        return MF_OK; // of an earlier subscription
    if (is_shared) {
        MF_TRY(mf_client_keep_state_shared(client, in, error));
    } else {
        if (!client->in_slot)
            memcpy(state->data, in + 1, message->size - sizeof *in);
        mf_client_release_state(state);
        state->values = state->data;
    }
    state->tick = in->tick;
    state->time = in->time;
    state->lost += in->lost;
    state->fresh = true;
    return MF_OK;
}

static void keep_news(mf_Client *client, const mf_ClientNews *news) {
    const uint32_t at = (client->event_first + client->event_count) % MF_CLIENT_EVENTS;
    client->events[at] = *news;
    if (client->event_count < MF_CLIENT_EVENTS)
        client->event_count++;
    else {
        client->event_first = (client->event_first + 1) % MF_CLIENT_EVENTS;
        client->events_lost++;
    }
}

static void keep_event(mf_Client *client, const mf_EventAnswer *in) {
    keep_news(client, &(mf_ClientNews){.kind = MF_ANSWER_EVENT,
                                       .event = in->event,
                                       .group = in->group,
                                       .instance = in->instance,
                                       .value = in->value,
                                       .tick = in->tick,
                                       .time = in->time});
}

static void keep_change(mf_Client *client, const mf_ChangedAnswer *in) {
    keep_news(client, &(mf_ClientNews){.kind = MF_ANSWER_CHANGED,
                                       .control = in->number,
                                       .control_value = in->value,
                                       .tick = in->tick,
                                       .time = in->time});
}

static mf_Status take_error(const mf_WireMessage *message, mf_Error *error) {
    const mf_ErrorAnswer *in = message->data;
    const size_t most = sizeof error->message - 1, length = message->size - sizeof *in;
    return mf_client_fail(
        error, in->code > MF_OK && in->code <= MF_LIMIT ? (mf_Status)in->code : MF_CORRUPT, "%.*s",
        (int)(length < most ? length : most), (const char *)(in + 1));
}

// Why there is no shared memory: all goes over the socket then.
static void keep_refused(mf_Client *client, const mf_WireMessage *message) {
    mf_Error error = {0};
    take_error(message, &error);
    memcpy(client->share_refused, error.message, sizeof client->share_refused - 1);
    client->shared.refused = client->share_refused;
    if (message->tag == MF_CLIENT_TAG_SHARE_WRITES)
        client->writes_asked = SIZE_MAX; // not again
}

// Keeps a message that answers no request.
static mf_Status keep(mf_Client *client, const mf_WireMessage *message, mf_Error *error) {
    const mf_TurnAnswer *turn = message->data;
    switch (message->kind) {
    case MF_ANSWER_SHARED:
        return mf_client_keep_shared(client, message->data, error);
    case MF_ANSWER_STATE:
    case MF_ANSWER_STATE_SHARED:
        return keep_state(client, message, error);
    case MF_ANSWER_EVENT:
        keep_event(client, message->data);
        return MF_OK;
    case MF_ANSWER_CHANGED:
        keep_change(client, message->data);
        return MF_OK;
    case MF_ANSWER_TURN:
        client->turn = true;
        client->turn_tick = turn->tick;
        client->turn_time = turn->time;
        return MF_OK;
    case MF_ANSWER_BYE:
        client->goodbye = true;
        return MF_OK;
    case MF_ANSWER_ERROR:
        if (message->tag < MF_CLIENT_TAG_SHARE_WRITES)
            take_error(message, &client->refused);
        else
            keep_refused(client, message);
        return MF_OK;
    default:
        return mf_client_malformed(error);
    }
}

// ---- requests ----------------------------------------------------------------------------------

mf_Status mf_client_ask(mf_Client *client, uint32_t kind, const void *head, const void *tail,
                        size_t size, mf_WireMessage *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_WireMessage own;
    const size_t head_size = mf_wire_rows[kind].head;
    if (client == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client is NULL");
    if (head != NULL) {
        uint8_t *at = mf_client_message(client, kind, 0, head_size + size);
        if (at == NULL)
            return mf_client_no_memory(error);
        memcpy(at, head, head_size);
        if (size > 0)
            memcpy(at + head_size, tail, size);
    }
    out = out != NULL ? out : &own;
    client->tag = (uint16_t)(client->tag % (MF_CLIENT_TAG_SHARE_WRITES - 1) + 1);
    ((mf_WireHead *)(void *)client->out)->tag = client->tag;
    mf_Status status = mf_client_send(client, error);
    while (status == MF_OK) {
        status = mf_client_next(client, MF_CLIENT_PATIENCE, out, error);
        if (status == MF_OK && out->tag == client->tag)
            break;
        MF_THEN(status, keep(client, out, error));
    }
    if (status == MF_OK && out->kind == MF_ANSWER_ERROR)
        return take_error(out, error);
    return status == MF_OK && out->kind != mf_wire_rows[kind].answer ? mf_client_malformed(error)
                                                                     : status;
}

// A request of a head that is answered by DONE.
static mf_Status order(mf_Client *client, uint32_t kind, const void *head, mf_Error *error) {
    return mf_client_ask(client, kind, head, NULL, 0, NULL, error);
}

// ---- hello and list ----------------------------------------------------------------------------

static mf_Status take_welcome(mf_Client *client, const mf_WireMessage *answer, mf_Error *error) {
    const mf_WelcomeAnswer *in = answer->data;
    const size_t length = answer->size - sizeof *in;
    char *title = calloc(length + 1, 1);
    if (title == NULL)
        return mf_client_no_memory(error);
    memcpy(title, in + 1, length);
    free(client->title);
    client->title = title;
    client->message_limit = in->longest;
    client->step = in->step;
    return MF_OK;
}

static mf_Status say_hello(mf_Client *client, const char *token, mf_Error *error) {
    mf_WireMessage answer;
    const size_t length = token == NULL ? 0 : strlen(token);
    const mf_HelloRequest head = {MF_PROTOCOL_MAGIC, MF_PROTOCOL_MAJOR, MF_PROTOCOL_MINOR,
                                  (uint32_t)length};
    MF_TRY(mf_client_ask(client, MF_MESSAGE_HELLO, &head, token, length, &answer, error));
    return take_welcome(client, &answer, error);
}

// The next text of the listing, copied to *text; the others are "" when one is cut off.
static const char *take_text(mf_WireReader *listing, char **text, size_t length) {
    const char *start = *text;
    const void *at = mf_wire_take(listing, length);
    if (at == NULL)
        return "";
    memcpy(*text, at, length);
    *text += length + 1;
    return start;
}

static void read_field(mf_WireReader *listing, char **text, mf_ClientField *field) {
    const mf_FieldPart *in = mf_wire_take(listing, sizeof *in);
    if (in == NULL)
        return;
    const size_t texts =
        (size_t)in->name_size + in->unit_size + in->frame_size + in->description_size;
    field->type = (mf_FieldType)in->type;
    field->elements = in->elements;
    field->width = in->width;
    field->flags = in->flags;
    field->shape = (mf_FieldShape)in->shape;
    field->name = take_text(listing, text, in->name_size);
    field->unit = take_text(listing, text, in->unit_size);
    field->frame = take_text(listing, text, in->frame_size);
    field->description = take_text(listing, text, in->description_size);
    mf_wire_take(listing, mf_wire_padded(texts, 4) - texts);
}

static mf_Status read_listing(mf_Client *client, const mf_WireMessage *answer, mf_Error *error) {
    const mf_ListingAnswer *head = answer->data;
    const uint32_t groups = head->groups;
    uint32_t at = 0;
    free(client->fields);
    free(client->texts);
    client->fields = NULL;
    client->texts = NULL;
    client->field_count = 0;
    if (head->fields > answer->size / sizeof(mf_FieldPart))
        return mf_client_malformed(error);
    client->group_count = groups;
    client->field_count = head->fields;
    client->fields = calloc(client->field_count + 1, sizeof *client->fields);
    client->texts = calloc(1, 2 * answer->size + 16);
    if (client->fields == NULL || client->texts == NULL)
        return mf_client_no_memory(error);
    mf_WireReader listing = mf_wire_tail(answer);
    char *text = client->texts;
    for (uint32_t g = 0; g < groups; g++) {
        const mf_GroupPart *in = mf_wire_take(&listing, sizeof *in);
        if (in == NULL || in->fields > client->field_count - at)
            return mf_client_malformed(error);
        const char *name = take_text(&listing, &text, in->name_size);
        mf_wire_take(&listing, mf_wire_padded(in->name_size, 4) - in->name_size);
        for (uint32_t f = 0; f < in->fields && !listing.is_short; f++, at++) {
            client->fields[at] =
                (mf_ClientField){.group = name, .group_number = g, .instances = in->instances};
            read_field(&listing, &text, &client->fields[at]);
        }
    }
    return listing.is_short || at != client->field_count ? mf_client_malformed(error) : MF_OK;
}

static mf_Status ask_list(mf_Client *client, mf_Error *error) {
    mf_WireMessage answer;
    MF_TRY(mf_client_ask(client, MF_MESSAGE_LIST, "", NULL, 0, &answer, error));
    return read_listing(client, &answer, error);
}

mf_Status mf_client_refresh(mf_Client *client, mf_Error *error) {
    mf_WireMessage answer;
    MF_TRY(mf_client_ask(client, MF_MESSAGE_WORLD, "", NULL, 0, &answer, error));
    MF_TRY(take_welcome(client, &answer, error));
    return ask_list(client, error);
}

static void drop_state(mf_Client *client, mf_ClientState *state) {
    mf_client_unmap(client, &state->region);
    free(state->data);
    free(state->starts);
    *state = (mf_ClientState){.size = 0};
}

mf_Status mf_client_connect(const char *address, const char *token, mf_Client **out,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (address == NULL || out == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "address or out is NULL");
    *out = NULL;
    mf_Client *client = calloc(1, sizeof *client);
    if (client == NULL)
        return mf_client_no_memory(error);
    client->longest_spin = MF_SPIN_LONG;
    client->may_share = strchr(address, '/') != NULL;
    client->share_least = MF_CLIENT_SHARE;
    mf_Status status = mf_client_open(address, &client->socket, error);
    MF_THEN(status, say_hello(client, token, error));
    MF_THEN(status, ask_list(client, error));
    if (status != MF_OK)
        mf_client_close(client);
    else
        *out = client;
    return status;
}

mf_Status mf_client_spin(mf_Client *client, double seconds, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (client == NULL || !(seconds >= 0.0 && seconds <= 1.0))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "expected a client and 0 .. 1 s");
    client->longest_spin = seconds;
    return MF_OK;
}

void mf_client_close(mf_Client *client) {
    if (client == NULL)
        return;
    if (client->socket >= 0)
        close(client->socket);
    for (uint32_t i = 0; i < MF_PROTOCOL_SUBSCRIPTIONS; i++)
        drop_state(client, &client->states[i]);
    mf_client_unmap(client, &client->writes);
    for (uint32_t i = 0; i < client->file_count; i++)
        close(client->files[i]);
    free(client->photo);
    free(client->kept);
    free(client->title);
    free(client->fields);
    free(client->texts);
    free(client->in);
    free(client->out);
    free(client);
}

// ---- what the world has ------------------------------------------------------------------------

mf_Time mf_client_step_time(const mf_Client *client) {
    return client == NULL ? 0 : client->step;
}

const char *mf_client_title(const mf_Client *client) {
    return client == NULL ? NULL : client->title;
}

uint32_t mf_client_field_count(const mf_Client *client) {
    return client == NULL ? 0 : client->field_count;
}

const mf_ClientField *mf_client_field(const mf_Client *client, uint32_t field) {
    return client == NULL || field >= client->field_count ? NULL : &client->fields[field];
}

uint32_t mf_client_find(const mf_Client *client, const char *group, const char *name) {
    for (uint32_t f = 0; client != NULL && name != NULL && f < client->field_count; f++)
        if (strcmp(client->fields[f].name, name) == 0 &&
            (group == NULL || strcmp(client->fields[f].group, group) == 0))
            return f;
    return UINT32_MAX;
}

// ---- states ------------------------------------------------------------------------------------

// [byte] of an entry's values; 0: no such field or instances.
static size_t entry_size(const mf_Client *client, const mf_ClientEntry *entry) {
    const mf_ClientField *field = mf_client_field(client, entry->field);
    if (field == NULL || entry->first >= field->instances)
        return 0;
    const uint32_t most = field->instances - entry->first;
    const uint32_t count = entry->count == MF_PROTOCOL_ALL ? most : entry->count;
    return count > most
               ? 0
               : (size_t)count * field->elements * field->width * (field->type == MF_F64 ? 8 : 4);
}

static mf_Status reserve(mf_Client *client, mf_ClientState *state, const mf_ClientEntry *entries,
                         uint32_t count, mf_Error *error) {
    drop_state(client, state);
    *state = (mf_ClientState){.size = sizeof(mf_StateAnswer), .count = count};
    state->starts = calloc(count + 1, sizeof *state->starts);
    for (uint32_t i = 0; state->starts != NULL && i < count; i++) {
        state->starts[i] = (uint32_t)(state->size - sizeof(mf_StateAnswer));
        state->size += mf_wire_padded(entry_size(client, &entries[i]), 8);
    }
    state->data = state->size < UINT32_MAX ? calloc(1, state->size) : NULL;
    state->values = state->data;
    return state->starts == NULL || state->data == NULL ? mf_client_no_memory(error) : MF_OK;
}

mf_Status mf_client_subscribe(mf_Client *client, uint32_t subscription, mf_Time period,
                              const mf_ClientEntry *entries, uint32_t count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (client == NULL || entries == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or entries is NULL");
    if (subscription >= MF_PROTOCOL_SUBSCRIPTIONS || count > MF_PROTOCOL_ENTRIES)
        return mf_client_fail(error, MF_LIMIT, "expected a subscription below %d, %d entries",
                              MF_PROTOCOL_SUBSCRIPTIONS, MF_PROTOCOL_ENTRIES);
    _Static_assert(sizeof *entries == sizeof(mf_EntryPart),
                   "entries lie in the message as they are");
    const mf_SubscribeRequest head = {subscription, count, period};
    MF_TRY(mf_client_ask(client, MF_MESSAGE_SUBSCRIBE, &head, entries, count * sizeof *entries,
                         NULL, error));
    MF_TRY(reserve(client, &client->states[subscription], entries, count, error));
    return mf_client_share_states(client, subscription, error);
}

mf_Status mf_client_unsubscribe(mf_Client *client, uint32_t subscription, mf_Error *error) {
    MF_TRY(order(client, MF_MESSAGE_UNSUBSCRIBE, &(mf_UnsubscribeRequest){subscription}, error));
    drop_state(client, &client->states[subscription]);
    return MF_OK;
}

const void *mf_client_values(const mf_Client *client, uint32_t subscription, uint32_t entry) {
    if (client == NULL || subscription >= MF_PROTOCOL_SUBSCRIPTIONS)
        return NULL;
    const mf_ClientState *state = &client->states[subscription];
    return state->data == NULL || entry >= state->count ? NULL
                                                        : state->values + state->starts[entry];
}

// ---- commands ----------------------------------------------------------------------------------

// The values go into the slot, or behind each entry where it is NULL.
static void put_entries(const mf_Client *client, uint8_t *out, uint8_t *slot,
                        const mf_ClientEntry *entries, const void *const *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const mf_ClientEntry *entry = &entries[i];
        const size_t bytes = entry_size(client, entry), padded = mf_wire_padded(bytes, 8);
        *(mf_WriteEntryPart *)(void *)out =
            (mf_WriteEntryPart){entry->field, entry->first, entry->count, (uint32_t)bytes};
        out += sizeof(mf_WriteEntryPart);
        uint8_t *at = slot != NULL ? slot : out;
        memcpy(at, values[i], bytes);
        memset(at + bytes, 0, padded - bytes);
        if (slot != NULL)
            slot += padded;
        else
            out += padded;
    }
}

mf_Status mf_client_write(mf_Client *client, uint64_t tick, const mf_ClientEntry *entries,
                          const void *const *values, uint32_t count, bool go, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    size_t values_size = 0;
    if (client == NULL || (count > 0 && (entries == NULL || values == NULL)))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client, entries or values is NULL");
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = entry_size(client, &entries[i]);
        if (bytes == 0)
            return mf_client_fail(error, MF_BAD_ARGUMENT, "entry %u: no such field or instances",
                                  i);
        values_size += mf_wire_padded(bytes, 8);
    }
    const size_t heads = sizeof(mf_WriteRequest) + count * sizeof(mf_WriteEntryPart);
    const size_t size = heads + values_size;
    if (size > client->message_limit)
        return mf_client_fail(error, MF_LIMIT, "expected at most %u bytes in one write, found %zu",
                              client->message_limit, size);
    uint32_t index[2];
    uint8_t *slot = mf_client_take_slot(client, values_size, index);
    uint8_t *out = slot != NULL
                       ? mf_client_message(client, MF_MESSAGE_WRITE_SHARED, 0, heads + sizeof index)
                       : mf_client_message(client, MF_MESSAGE_WRITE, 0, size);
    if (out == NULL)
        return mf_client_no_memory(error);
    const uint32_t flags = go ? MF_WRITE_GO : 0;
    if (slot != NULL)
        *(mf_WriteSharedRequest *)(void *)out =
            (mf_WriteSharedRequest){tick, count, flags, index[0], index[1]};
    else
        *(mf_WriteRequest *)(void *)out = (mf_WriteRequest){tick, count, flags};
    out += slot != NULL ? sizeof(mf_WriteSharedRequest) : sizeof(mf_WriteRequest);
    put_entries(client, out, slot, entries, values, count);
    MF_TRY(mf_client_send(client, error));
    return mf_client_share_writes(client, values_size, error);
}

mf_Status mf_client_lock_step(mf_Client *client, bool on, mf_Time period, mf_Time limit,
                              mf_Error *error) {
    const mf_LockStepRequest head = {.on = on, .period = period, .limit = limit};
    if (client != NULL)
        client->turn = false;
    return order(client, MF_MESSAGE_LOCK_STEP, &head, error);
}

// The next thing that is kept; false: nothing.
static bool take_news(mf_Client *client, mf_ClientNews *out) {
    for (uint32_t i = 0; i < MF_PROTOCOL_SUBSCRIPTIONS; i++) {
        mf_ClientState *state = &client->states[i];
        if (!state->fresh)
            continue;
        *out = (mf_ClientNews){.kind = MF_ANSWER_STATE,
                               .subscription = i,
                               .lost = state->lost,
                               .tick = state->tick,
                               .time = state->time};
        state->fresh = false;
        state->lost = 0;
        return true;
    }
    if (client->turn) {
        *out = (mf_ClientNews){
            .kind = MF_ANSWER_TURN, .tick = client->turn_tick, .time = client->turn_time};
        client->turn = false;
        return true;
    }
    if (client->event_count > 0) {
        *out = client->events[client->event_first];
        out->lost = client->events_lost;
        client->events_lost = 0;
        client->event_first = (client->event_first + 1) % MF_CLIENT_EVENTS;
        client->event_count--;
        return true;
    }
    if (client->goodbye)
        *out = (mf_ClientNews){.kind = MF_ANSWER_BYE};
    return client->goodbye;
}

mf_Status mf_client_receive(mf_Client *client, double seconds, mf_ClientNews *out,
                            mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_WireMessage message;
    if (client == NULL || out == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or out is NULL");
    for (;;) {
        if (client->refused.status != MF_OK) {
            const mf_Status status = client->refused.status;
            if (error != NULL)
                *error = client->refused;
            client->refused.status = MF_OK;
            return status;
        }
        if (take_news(client, out))
            return MF_OK;
        MF_TRY(mf_client_next(client, seconds, &message, error));
        MF_TRY(keep(client, &message, error));
    }
}

// ---- services ----------------------------------------------------------------------------------

mf_Status mf_client_pause(mf_Client *client, bool on, mf_Error *error) {
    return order(client, MF_MESSAGE_PAUSE, &(mf_PauseRequest){on}, error);
}

mf_Status mf_client_run_steps(mf_Client *client, uint64_t steps, mf_Error *error) {
    return order(client, MF_MESSAGE_STEP, &(mf_StepRequest){steps}, error);
}

mf_Status mf_client_set_speed(mf_Client *client, double speed, mf_Error *error) {
    return order(client, MF_MESSAGE_SPEED, &(mf_SpeedRequest){speed}, error);
}

mf_Status mf_client_reset(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                          mf_Error *error) {
    return order(client, MF_MESSAGE_RESET, &(mf_ResetRequest){group, first, count}, error);
}

mf_Status mf_client_set_poses(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                              const double *poses, mf_Error *error) {
    const mf_SetPosesRequest head = {group, first, count, 0};
    if (poses == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "poses is NULL");
    return mf_client_ask(client, MF_MESSAGE_SET_POSES, &head, poses,
                         sizeof(mf_PosePart) * (size_t)count, NULL, error);
}

// An answer that is bytes from its beginning on.
static mf_Status ask_bytes(mf_Client *client, uint32_t kind, const void *head, const void **out,
                           size_t *size, mf_Error *error) {
    mf_WireMessage answer;
    if (out == NULL || size == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "the bytes or their size is NULL");
    mf_Status status = mf_client_ask(client, kind, head, NULL, 0, &answer, error);
    *out = status == MF_OK ? answer.data : NULL;
    *size = status == MF_OK ? answer.size : 0;
    return status;
}

mf_Status mf_client_snapshot(mf_Client *client, const void **image, size_t *size, mf_Error *error) {
    return ask_bytes(client, MF_MESSAGE_SNAPSHOT, "", image, size, error);
}

mf_Status mf_client_model(mf_Client *client, uint32_t group, const char **text, size_t *size,
                          mf_Error *error) {
    const void *bytes = NULL;
    mf_Status status = ask_bytes(client, MF_MESSAGE_MODEL, &(mf_ModelRequest){group},
                                 text != NULL ? &bytes : NULL, size, error);
    if (text != NULL)
        *text = bytes;
    return status;
}

mf_Status mf_client_restore(mf_Client *client, const void *image, size_t size, mf_Error *error) {
    if (image == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "image is NULL");
    return mf_client_ask(client, MF_MESSAGE_RESTORE, "", image, size, NULL, error);
}

mf_Status mf_client_switch(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                           uint32_t motion, mf_Error *error) {
    return order(client, MF_MESSAGE_SWITCH, &(mf_SwitchRequest){group, first, count, motion},
                 error);
}

mf_Status mf_client_events(mf_Client *client, uint32_t mask, mf_Error *error) {
    return order(client, MF_MESSAGE_EVENTS, &(mf_EventsRequest){mask}, error);
}

// Asks for a picture; the answer is complete.
static mf_Status ask_photo(mf_Client *client, const mf_PhotoRequest *head, mf_WireMessage *answer,
                           mf_Error *error) {
    MF_TRY(mf_client_ask(client, MF_MESSAGE_PHOTO, head, NULL, 0, answer, error));
    const mf_PhotoAnswer *in = answer->data;
    if (in->size != answer->size - sizeof *in)
        return mf_client_malformed(error);
    if (client->photo_size < answer->size) {
        free(client->photo);
        client->photo = malloc(answer->size);
        client->photo_size = client->photo != NULL ? answer->size : 0;
    }
    return client->photo != NULL ? MF_OK : mf_client_no_memory(error);
}

mf_Status mf_client_cameras(mf_Client *client, uint32_t group, mf_ClientCamera *out, uint32_t most,
                            uint32_t *count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_WireMessage answer;
    if (count == NULL || (out == NULL && most > 0))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "count or out is NULL");
    MF_TRY(ask_photo(client, &(mf_PhotoRequest){group, 0, 0, MF_PHOTO_LIST}, &answer, error));
    *count = ((const mf_PhotoAnswer *)answer.data)->width;
    mf_WireReader list = mf_wire_tail(&answer);
    char *name = (char *)client->photo; // shorter than the answer: no heads
    for (uint32_t i = 0; i < *count && i < most; i++) {
        const mf_CameraPart *in = mf_wire_take(&list, sizeof *in);
        const size_t length = in != NULL ? in->name_size : 0;
        const void *text = in != NULL ? mf_wire_take(&list, mf_wire_padded(length, 4)) : NULL;
        if (text == NULL)
            return mf_client_malformed(error);
        out[i] = (mf_ClientCamera){name, in->width, in->height, in->kinds};
        memcpy(name, text, length);
        name[length] = '\0';
        name += length + 1;
    }
    return MF_OK;
}

mf_Status mf_client_photo(mf_Client *client, uint32_t group, uint32_t instance, uint32_t camera,
                          uint32_t kind, mf_ClientPhoto *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const uint64_t units[] = {3, 4, 12};
    mf_WireMessage answer;
    if (out == NULL || kind > MF_PHOTO_SEGMENTATION)
        return mf_client_fail(error, MF_BAD_ARGUMENT,
                              "out is NULL, or there is no such kind of picture");
    MF_TRY(ask_photo(client, &(mf_PhotoRequest){group, instance, camera, kind}, &answer, error));
    const mf_PhotoAnswer *in = answer.data;
    *out = (mf_ClientPhoto){.tick = in->tick,
                            .time = in->time,
                            .kind = in->kind,
                            .width = in->width,
                            .height = in->height,
                            .size = in->size,
                            .pixels = client->photo};
    if (out->kind != kind || out->size != units[kind] * out->width * out->height)
        return mf_client_malformed(error);
    memcpy(client->photo, in + 1, out->size);
    return MF_OK;
}

mf_Status mf_client_statistics(mf_Client *client, bool hash, mf_ClientStatistics *out,
                               mf_Error *error) {
    mf_WireMessage answer;
    if (out == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "out is NULL");
    mf_Status status = mf_client_ask(client, MF_MESSAGE_STATISTICS,
                                     &(mf_StatisticsRequest){hash ? MF_STATISTICS_HASH : 0}, NULL,
                                     0, &answer, error);
    _Static_assert(sizeof *out == sizeof(mf_StatisticsAnswer), "they have the same layout");
    if (status == MF_OK)
        memcpy(out, answer.data, sizeof *out);
    return status;
}
