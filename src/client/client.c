// A client of `mayfly serve` (client.h): hello and list, requests with their answers, and what
// comes unasked. Uses the C library and sockets, nothing of Mayfly's libraries.
#include "client/wire.h"
#include "base/floats.h"

#include <stdlib.h>
#include <unistd.h>

mf_Status mf_client_no_memory(mf_Error *error) {
    return mf_client_fail(error, MF_NO_MEMORY, "out of memory");
}

static mf_Status no_client(mf_Error *error) {
    return mf_client_fail(error, MF_BAD_ARGUMENT, "client is NULL");
}

mf_Status mf_client_malformed(mf_Error *error) {
    return mf_client_fail(error, MF_CORRUPT, "the server sent a message that is malformed");
}

// ---- unsolicited messages ----------------------------------------------------------------------

static mf_Status keep_state(mf_Client *client, const mf_ClientMessage *message, mf_Error *error) {
    const uint32_t number =
        message->size >= MF_CLIENT_STATE_HEAD ? mf_client_u32(message->data) : UINT32_MAX;
    if (number >= MF_PROTOCOL_SUBSCRIPTIONS)
        return mf_client_malformed(error);
    mf_ClientState *state = &client->states[number];
    const bool is_shared = message->kind == MF_ANSWER_STATE_SHARED;
    if (state->data == NULL || (!is_shared && message->size != state->size))
        return MF_OK; // of an earlier subscription
    if (is_shared) {
        mf_Status status = mf_client_keep_state_shared(client, message, error);
        if (status != MF_OK)
            return status;
    } else {
        if (!message->in_slot)
            memcpy(state->data, message->data + MF_CLIENT_STATE_HEAD,
                   message->size - MF_CLIENT_STATE_HEAD);
        mf_client_release_state(state);
        state->values = state->data;
    }
    state->tick = mf_client_u64(message->data + 8);
    state->time = (mf_Time)mf_client_u64(message->data + 16);
    state->lost += mf_client_u32(message->data + 4);
    state->fresh = true;
    return MF_OK;
}

static mf_Status keep_event(mf_Client *client, const mf_ClientMessage *message, mf_Error *error) {
    if (message->size != 32)
        return mf_client_malformed(error);
    const uint8_t *data = message->data;
    const uint32_t at = (client->event_first + client->event_count) % MF_CLIENT_EVENTS;
    client->events[at] = (mf_ClientNews){.kind = MF_ANSWER_EVENT,
                                         .event = mf_client_u32(data),
                                         .group = mf_client_u32(data + 4),
                                         .instance = mf_client_u32(data + 8),
                                         .value = mf_client_u32(data + 12),
                                         .tick = mf_client_u64(data + 16),
                                         .time = (mf_Time)mf_client_u64(data + 24)};
    if (client->event_count < MF_CLIENT_EVENTS)
        client->event_count++;
    else {
        client->event_first = (client->event_first + 1) % MF_CLIENT_EVENTS;
        client->events_lost++;
    }
    return MF_OK;
}

static mf_Status take_error(const mf_ClientMessage *message, mf_Error *error) {
    if (message->size < 4)
        return mf_client_malformed(error);
    const uint32_t code = mf_client_u32(message->data);
    const size_t most = sizeof error->message - 1, length = message->size - 4;
    return mf_client_fail(error, code > MF_OK && code <= MF_LIMIT ? (mf_Status)code : MF_CORRUPT,
                          "%.*s", (int)(length < most ? length : most),
                          (const char *)message->data + 4);
}

// Why there is no shared memory: all goes over the socket then.
static void keep_refused(mf_Client *client, const mf_ClientMessage *message) {
    mf_Error error = {0};
    take_error(message, &error);
    memcpy(client->share_refused, error.message, sizeof client->share_refused - 1);
    client->shared.refused = client->share_refused;
    if (message->tag == MF_CLIENT_TAG_SHARE_WRITES)
        client->writes_asked = SIZE_MAX; // not again
}

// Keeps a message that answers no request.
static mf_Status keep(mf_Client *client, const mf_ClientMessage *message, mf_Error *error) {
    switch (message->kind) {
    case MF_ANSWER_SHARED:
        return mf_client_keep_shared(client, message, error);
    case MF_ANSWER_STATE:
    case MF_ANSWER_STATE_SHARED:
        return keep_state(client, message, error);
    case MF_ANSWER_EVENT:
        return keep_event(client, message, error);
    case MF_ANSWER_TURN:
        if (message->size != 16)
            return mf_client_malformed(error);
        client->turn = true;
        client->turn_tick = mf_client_u64(message->data);
        client->turn_time = (mf_Time)mf_client_u64(message->data + 8);
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

// Sends the message that was begun with the next tag, and waits for an answer of `kind`.
mf_Status mf_client_ask(mf_Client *client, uint32_t kind, mf_ClientMessage *out, mf_Error *error) {
    client->tag = (uint16_t)(client->tag % (MF_CLIENT_TAG_SHARE_WRITES - 1) + 1);
    memcpy(client->out + 6, &client->tag, sizeof client->tag);
    mf_Status status = mf_client_send(client, error);
    while (status == MF_OK) {
        status = mf_client_next(client, MF_CLIENT_PATIENCE, out, error);
        if (status == MF_OK && out->tag == client->tag)
            break;
        if (status == MF_OK)
            status = keep(client, out, error);
    }
    if (status == MF_OK && out->kind == MF_ANSWER_ERROR)
        return take_error(out, error);
    return status == MF_OK && out->kind != kind ? mf_client_malformed(error) : status;
}

mf_Status mf_client_ask_words(mf_Client *client, uint32_t kind, const uint32_t *words,
                              uint32_t count, mf_Error *error) {
    mf_ClientMessage answer;
    if (client == NULL)
        return no_client(error);
    uint8_t *out = mf_client_message(client, kind, 0, count * sizeof *words);
    if (out == NULL)
        return mf_client_no_memory(error);
    if (count > 0)
        memcpy(out, words, count * sizeof *words);
    return mf_client_ask(client, MF_ANSWER_DONE, &answer, error);
}

// ---- hello and list ----------------------------------------------------------------------------

static mf_Status take_welcome(mf_Client *client, const mf_ClientMessage *answer, mf_Error *error) {
    const size_t length = answer->size >= 56 ? mf_client_u32(answer->data + 52) : SIZE_MAX;
    if (length != answer->size - 56)
        return mf_client_malformed(error);
    char *title = calloc(length + 1, 1);
    if (title == NULL)
        return mf_client_no_memory(error);
    memcpy(title, answer->data + 56, length);
    free(client->title);
    client->title = title;
    client->message_limit = mf_client_u32(answer->data + 12);
    client->step = (mf_Time)mf_client_u64(answer->data + 16);
    return MF_OK;
}

static mf_Status say_hello(mf_Client *client, const char *token, mf_Error *error) {
    mf_ClientMessage answer;
    const size_t length = token == NULL ? 0 : strlen(token);
    uint8_t *out = mf_client_message(client, MF_MESSAGE_HELLO, 0, 12 + length);
    if (out == NULL)
        return mf_client_no_memory(error);
    out = mf_client_put_u32(out, MF_PROTOCOL_MAGIC);
    out = mf_client_put_u32(out, MF_PROTOCOL_MAJOR | MF_PROTOCOL_MINOR << 16);
    out = mf_client_put_u32(out, (uint32_t)length);
    if (length > 0)
        memcpy(out, token, length);
    mf_Status status = mf_client_ask(client, MF_ANSWER_WELCOME, &answer, error);
    return status == MF_OK ? take_welcome(client, &answer, error) : status;
}

// A place in the listing, and one in the texts.
typedef struct Listing {
    const uint8_t *at, *end;
    char *text;
    bool is_bad;
} Listing;

static const uint8_t *take(Listing *listing, size_t size) {
    static const uint8_t nothing[20];
    const uint8_t *at = listing->at;
    listing->is_bad |= (size_t)(listing->end - at) < size;
    if (listing->is_bad)
        return nothing;
    listing->at += size;
    return at;
}

static const char *take_text(Listing *listing, size_t length) {
    const char *start = listing->text;
    const uint8_t *at = take(listing, length);
    if (!listing->is_bad)
        memcpy(listing->text, at, length);
    listing->text += listing->is_bad ? 0 : length + 1;
    return start;
}

static void skip_padding(Listing *listing, const uint8_t *start) {
    const size_t size = (size_t)(listing->at - start);
    take(listing, (4 - size % 4) % 4);
}

static void read_field(Listing *listing, mf_ClientField *field) {
    const uint8_t *head = take(listing, 20), *start = listing->at;
    field->type = (mf_FieldType)mf_client_u32(head);
    field->elements = mf_client_u32(head + 4);
    field->width = mf_client_u32(head + 8);
    field->flags = mf_client_u32(head + 12) & 0xffu;
    field->shape = (mf_FieldShape)(mf_client_u32(head + 12) >> 8);
    field->name = take_text(listing, head[16]);
    field->unit = take_text(listing, head[17]);
    field->frame = take_text(listing, head[18]);
    field->description = take_text(listing, head[19]);
    skip_padding(listing, start);
}

static mf_Status read_listing(mf_Client *client, const mf_ClientMessage *answer, mf_Error *error) {
    const uint32_t groups = mf_client_u32(answer->data);
    uint32_t at = 0;
    free(client->fields);
    free(client->texts);
    client->fields = NULL;
    client->texts = NULL;
    client->field_count = 0;
    if (mf_client_u32(answer->data + 4) > answer->size / 20)
        return mf_client_malformed(error);
    client->group_count = groups;
    client->field_count = mf_client_u32(answer->data + 4);
    client->fields = calloc(client->field_count + 1, sizeof *client->fields);
    client->texts = calloc(1, 2 * answer->size + 16);
    if (client->fields == NULL || client->texts == NULL)
        return mf_client_no_memory(error);
    Listing listing = {answer->data + 8, answer->data + answer->size, client->texts, false};
    for (uint32_t g = 0; g < groups && !listing.is_bad; g++) {
        const uint8_t *head = take(&listing, 16), *start = listing.at;
        const uint32_t instances = mf_client_u32(head), fields = mf_client_u32(head + 4);
        const char *name = take_text(&listing, head[12]);
        skip_padding(&listing, start);
        if (fields > client->field_count - at)
            return mf_client_malformed(error);
        for (uint32_t f = 0; f < fields && !listing.is_bad; f++, at++) {
            client->fields[at] =
                (mf_ClientField){.group = name, .group_number = g, .instances = instances};
            read_field(&listing, &client->fields[at]);
        }
    }
    return listing.is_bad || at != client->field_count ? mf_client_malformed(error) : MF_OK;
}

static mf_Status ask_list(mf_Client *client, mf_Error *error) {
    mf_ClientMessage answer;
    if (mf_client_message(client, MF_MESSAGE_LIST, 0, 0) == NULL)
        return mf_client_no_memory(error);
    mf_Status status = mf_client_ask(client, MF_ANSWER_LISTING, &answer, error);
    if (status != MF_OK)
        return status;
    return answer.size >= 8 ? read_listing(client, &answer, error) : mf_client_malformed(error);
}

mf_Status mf_client_refresh(mf_Client *client, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL)
        return no_client(error);
    if (mf_client_message(client, MF_MESSAGE_WORLD, 0, 0) == NULL)
        return mf_client_no_memory(error);
    mf_Status status = mf_client_ask(client, MF_ANSWER_WELCOME, &answer, error);
    if (status == MF_OK)
        status = take_welcome(client, &answer, error);
    return status == MF_OK ? ask_list(client, error) : status;
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
    if (status == MF_OK)
        status = say_hello(client, token, error);
    if (status == MF_OK)
        status = ask_list(client, error);
    if (status != MF_OK) {
        mf_client_close(client);
        return status;
    }
    *out = client;
    return MF_OK;
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
    *state = (mf_ClientState){.size = MF_CLIENT_STATE_HEAD, .count = count};
    state->starts = calloc(count + 1, sizeof *state->starts);
    for (uint32_t i = 0; state->starts != NULL && i < count; i++) {
        state->starts[i] = (uint32_t)state->size - MF_CLIENT_STATE_HEAD;
        state->size += (entry_size(client, &entries[i]) + 7) / 8 * 8;
    }
    state->data = state->size < UINT32_MAX ? calloc(1, state->size) : NULL;
    state->values = state->data;
    return state->starts == NULL || state->data == NULL ? mf_client_no_memory(error) : MF_OK;
}

mf_Status mf_client_subscribe(mf_Client *client, uint32_t subscription, mf_Time period,
                              const mf_ClientEntry *entries, uint32_t count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL || entries == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or entries is NULL");
    if (subscription >= MF_PROTOCOL_SUBSCRIPTIONS || count > MF_PROTOCOL_ENTRIES)
        return mf_client_fail(error, MF_LIMIT, "expected a subscription below %d, %d entries",
                              MF_PROTOCOL_SUBSCRIPTIONS, MF_PROTOCOL_ENTRIES);
    uint8_t *out = mf_client_message(client, MF_MESSAGE_SUBSCRIBE, 0, 16 + count * sizeof *entries);
    if (out == NULL)
        return mf_client_no_memory(error);
    out = mf_client_put_u32(out, subscription);
    out = mf_client_put_u32(out, count);
    out = mf_client_put_u64(out, (uint64_t)period);
    memcpy(out, entries, count * sizeof *entries);
    mf_Status status = mf_client_ask(client, MF_ANSWER_DONE, &answer, error);
    if (status == MF_OK)
        status = reserve(client, &client->states[subscription], entries, count, error);
    if (status == MF_OK)
        status = mf_client_share_states(client, subscription, error);
    return status;
}

mf_Status mf_client_unsubscribe(mf_Client *client, uint32_t subscription, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_Status status = mf_client_ask_words(client, MF_MESSAGE_UNSUBSCRIBE, &subscription, 1, error);
    if (status == MF_OK)
        drop_state(client, &client->states[subscription]);
    return status;
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
        const size_t bytes = entry_size(client, &entries[i]), padded = (bytes + 7) / 8 * 8;
        memcpy(out, &entries[i], sizeof entries[i]);
        out = mf_client_put_u32(out + sizeof entries[i], (uint32_t)bytes);
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
    size_t size = 16;
    if (client == NULL || (count > 0 && (entries == NULL || values == NULL)))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client, entries or values is NULL");
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = entry_size(client, &entries[i]);
        if (bytes == 0)
            return mf_client_fail(error, MF_BAD_ARGUMENT, "entry %u: no such field or instances",
                                  i);
        size += 16 + (bytes + 7) / 8 * 8;
    }
    if (size > client->message_limit)
        return mf_client_fail(error, MF_LIMIT, "expected at most %u bytes in one write, found %zu",
                              client->message_limit, size);
    const size_t bytes = size - 16 * (count + 1);
    uint32_t index[2];
    uint8_t *slot = mf_client_take_slot(client, bytes, index);
    uint8_t *out = slot != NULL ? mf_client_message(client, MF_MESSAGE_WRITE_SHARED, 0,
                                                    size - bytes + sizeof index)
                                : mf_client_message(client, MF_MESSAGE_WRITE, 0, size);
    if (out == NULL)
        return mf_client_no_memory(error);
    out = mf_client_put_u64(out, tick);
    out = mf_client_put_u32(out, count);
    out = mf_client_put_u32(out, go ? MF_WRITE_GO : 0);
    if (slot != NULL)
        out = mf_client_put_u32(mf_client_put_u32(out, index[0]), index[1]);
    put_entries(client, out, slot, entries, values, count);
    mf_Status status = mf_client_send(client, error);
    return status == MF_OK ? mf_client_share_writes(client, bytes, error) : status;
}

mf_Status mf_client_lock_step(mf_Client *client, bool on, mf_Time period, mf_Time limit,
                              mf_Error *error) {
    MF_DEFAULT_FLOATS;
    uint32_t words[6] = {on, 0};
    memcpy(words + 2, &period, sizeof period);
    memcpy(words + 4, &limit, sizeof limit);
    if (client != NULL)
        client->turn = false;
    return mf_client_ask_words(client, MF_MESSAGE_LOCK_STEP, words, 6, error);
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
    mf_ClientMessage message;
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
        mf_Status status = mf_client_next(client, seconds, &message, error);
        if (status == MF_OK)
            status = keep(client, &message, error);
        if (status != MF_OK)
            return status;
    }
}

// ---- services ----------------------------------------------------------------------------------

mf_Status mf_client_pause(mf_Client *client, bool on, mf_Error *error) {
    const uint32_t word = on;
    return mf_client_ask_words(client, MF_MESSAGE_PAUSE, &word, 1, error);
}

mf_Status mf_client_run_steps(mf_Client *client, uint64_t steps, mf_Error *error) {
    uint32_t words[2];
    memcpy(words, &steps, sizeof steps);
    return mf_client_ask_words(client, MF_MESSAGE_STEP, words, 2, error);
}

mf_Status mf_client_set_speed(mf_Client *client, double speed, mf_Error *error) {
    uint32_t words[2];
    memcpy(words, &speed, sizeof speed);
    return mf_client_ask_words(client, MF_MESSAGE_SPEED, words, 2, error);
}

mf_Status mf_client_reset(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                          mf_Error *error) {
    const uint32_t words[] = {group, first, count};
    return mf_client_ask_words(client, MF_MESSAGE_RESET, words, 3, error);
}

mf_Status mf_client_set_poses(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                              const double *poses, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const uint32_t words[] = {group, first, count, 0};
    const size_t size = 7 * sizeof *poses * (size_t)count;
    mf_ClientMessage answer;
    if (client == NULL || poses == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or poses is NULL");
    uint8_t *out = mf_client_message(client, MF_MESSAGE_SET_POSES, 0, sizeof words + size);
    if (out == NULL)
        return mf_client_no_memory(error);
    memcpy(out, words, sizeof words);
    memcpy(out + sizeof words, poses, size);
    return mf_client_ask(client, MF_ANSWER_DONE, &answer, error);
}

mf_Status mf_client_snapshot(mf_Client *client, const void **image, size_t *size, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL || image == NULL || size == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client, image or size is NULL");
    if (mf_client_message(client, MF_MESSAGE_SNAPSHOT, 0, 0) == NULL)
        return mf_client_no_memory(error);
    mf_Status status = mf_client_ask(client, MF_ANSWER_IMAGE, &answer, error);
    *image = status == MF_OK ? answer.data : NULL;
    *size = status == MF_OK ? answer.size : 0;
    return status;
}

mf_Status mf_client_model(mf_Client *client, uint32_t group, const char **text, size_t *size,
                          mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL || text == NULL || size == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client, text or size is NULL");
    uint8_t *out = mf_client_message(client, MF_MESSAGE_MODEL, 0, sizeof group);
    if (out == NULL)
        return mf_client_no_memory(error);
    mf_client_put_u32(out, group);
    mf_Status status = mf_client_ask(client, MF_ANSWER_MODEL, &answer, error);
    *text = status == MF_OK ? (const char *)answer.data : NULL;
    *size = status == MF_OK ? answer.size : 0;
    return status;
}

mf_Status mf_client_restore(mf_Client *client, const void *image, size_t size, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL || image == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or image is NULL");
    uint8_t *out = mf_client_message(client, MF_MESSAGE_RESTORE, 0, size);
    if (out == NULL)
        return mf_client_no_memory(error);
    memcpy(out, image, size);
    return mf_client_ask(client, MF_ANSWER_DONE, &answer, error);
}

mf_Status mf_client_switch(mf_Client *client, uint32_t group, uint32_t first, uint32_t count,
                           uint32_t motion, mf_Error *error) {
    const uint32_t words[] = {group, first, count, motion};
    return mf_client_ask_words(client, MF_MESSAGE_SWITCH, words, 4, error);
}

mf_Status mf_client_events(mf_Client *client, uint32_t mask, mf_Error *error) {
    return mf_client_ask_words(client, MF_MESSAGE_EVENTS, &mask, 1, error);
}

// Asks for a picture; the answer is complete.
static mf_Status ask_photo(mf_Client *client, const uint32_t words[4], mf_ClientMessage *answer,
                           mf_Error *error) {
    uint8_t *request = mf_client_message(client, MF_MESSAGE_PHOTO, 0, 16);
    if (request == NULL)
        return mf_client_no_memory(error);
    memcpy(request, words, 16);
    mf_Status status = mf_client_ask(client, MF_ANSWER_PHOTO, answer, error);
    if (status != MF_OK)
        return status;
    if (answer->size < MF_PHOTO_HEAD ||
        mf_client_u32(answer->data + 28) != answer->size - MF_PHOTO_HEAD)
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
    const uint32_t words[] = {group, 0, 0, MF_PHOTO_LIST};
    mf_ClientMessage answer;
    if (client == NULL || count == NULL || (out == NULL && most > 0))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client, count or out is NULL");
    mf_Status status = ask_photo(client, words, &answer, error);
    if (status != MF_OK)
        return status;
    *count = mf_client_u32(answer.data + 20);
    const uint8_t *at = answer.data + MF_PHOTO_HEAD, *end = answer.data + answer.size;
    char *name = (char *)client->photo; // shorter than the answer: no heads
    for (uint32_t i = 0; i < *count && i < most; i++) {
        const size_t left = (size_t)(end - at);
        const size_t length = left >= 16 ? mf_client_u32(at + 12) : SIZE_MAX;
        if (length > left || (length + 3) / 4 * 4 > left - 16)
            return mf_client_malformed(error);
        out[i] = (mf_ClientCamera){name, mf_client_u32(at), mf_client_u32(at + 4),
                                   mf_client_u32(at + 8)};
        memcpy(name, at + 16, length);
        name[length] = '\0';
        name += length + 1;
        at += 16 + (length + 3) / 4 * 4;
    }
    return MF_OK;
}

mf_Status mf_client_photo(mf_Client *client, uint32_t group, uint32_t instance, uint32_t camera,
                          uint32_t kind, mf_ClientPhoto *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    static const uint64_t units[] = {3, 4, 12};
    const uint32_t words[] = {group, instance, camera, kind};
    mf_ClientMessage answer;
    if (client == NULL || out == NULL || kind > MF_PHOTO_SEGMENTATION)
        return mf_client_fail(error, MF_BAD_ARGUMENT,
                              "client or out is NULL, or there is no such kind of picture");
    mf_Status status = ask_photo(client, words, &answer, error);
    if (status != MF_OK)
        return status;
    *out = (mf_ClientPhoto){.tick = mf_client_u64(answer.data),
                            .time = (mf_Time)mf_client_u64(answer.data + 8),
                            .kind = mf_client_u32(answer.data + 16),
                            .width = mf_client_u32(answer.data + 20),
                            .height = mf_client_u32(answer.data + 24),
                            .size = mf_client_u32(answer.data + 28),
                            .pixels = client->photo};
    if (out->kind != kind || out->size != units[kind] * out->width * out->height)
        return mf_client_malformed(error);
    memcpy(client->photo, answer.data + MF_PHOTO_HEAD, out->size);
    return MF_OK;
}

mf_Status mf_client_statistics(mf_Client *client, bool hash, mf_ClientStatistics *out,
                               mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL || out == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or out is NULL");
    uint8_t *request = mf_client_message(client, MF_MESSAGE_STATISTICS, 0, 4);
    if (request == NULL)
        return mf_client_no_memory(error);
    mf_client_put_u32(request, hash ? MF_STATISTICS_HASH : 0);
    mf_Status status = mf_client_ask(client, MF_ANSWER_STATISTICS, &answer, error);
    if (status != MF_OK)
        return status;
    _Static_assert(sizeof *out == 112, "the message and the struct have the same layout");
    if (answer.size != sizeof *out)
        return mf_client_malformed(error);
    memcpy(out, answer.data, sizeof *out);
    return MF_OK;
}
