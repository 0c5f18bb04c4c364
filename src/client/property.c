// The client's calls for properties, docks, and what is known about a world (client.h). Answers are
// checked to their last byte before anything of them is used.
#include "client/wire.h"
#include "base/floats.h"

#include <stdlib.h>
#include <string.h>

#define TYPE_SHIFT 24
#define VALUES_MASK 0xffffffu
#define MOVES 0x80000000u

enum { LOCKED = 1, ROTATION = 2 }; // flags of PROPERTY

// Memory that replaces that of the call before; NULL: none.
static void *keep(mf_Client *client, size_t size) {
    free(client->kept);
    client->kept = calloc(1, size);
    return client->kept;
}

static size_t padded(size_t size) {
    return (size + 3) / 4 * 4;
}

// ---- properties --------------------------------------------------------------------------------

static char *take_text(char **at, const uint8_t **from, size_t length) {
    char *text = *at;
    memcpy(text, *from, length);
    *from += length;
    *at += length + 1; // ended by a zero
    return text;
}

static mf_Status read_property(mf_Client *client, const mf_ClientMessage *answer,
                               mf_ClientProperty *out, mf_Error *error) {
    uint32_t head[8] = {0};
    if (answer->size < sizeof head)
        return mf_client_malformed(error);
    memcpy(head, answer->data, sizeof head);
    const size_t texts = (size_t)head[4] + head[5] + head[6], count = head[1];
    if (answer->size != sizeof head + padded(texts) + 16 * count)
        return mf_client_malformed(error);
    mf_ClientPropertyPart *parts = keep(client, count * sizeof *parts + texts + 3);
    if (parts == NULL)
        return mf_client_no_memory(error);
    const uint8_t *from = answer->data + sizeof head;
    char *at = (char *)(parts + count);
    *out = (mf_ClientProperty){.count = head[1],
                               .values = head[2],
                               .is_rotation = (head[3] & ROTATION) != 0,
                               .parts = parts};
    out->name = take_text(&at, &from, head[4]);
    out->unit = take_text(&at, &from, head[5]);
    const char *locked = take_text(&at, &from, head[6]);
    out->locked = (head[3] & LOCKED) != 0 ? locked : NULL;
    from = answer->data + sizeof head + padded(texts);
    for (size_t i = 0; i < count; i++, from += 16) {
        const uint32_t word = mf_client_u32(from + 12);
        parts[i] = (mf_ClientPropertyPart){.group = mf_client_u32(from),
                                           .instance = mf_client_u32(from + 4),
                                           .field = mf_client_u32(from + 8),
                                           .count = word & VALUES_MASK,
                                           .type = (mf_FieldType)(word >> TYPE_SHIFT & 7u),
                                           .moves = (word & MOVES) != 0};
    }
    return MF_OK;
}

mf_Status mf_client_property(mf_Client *client, uint32_t number, const char *path,
                             mf_ClientProperty *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    mf_ClientProperty own;
    if (client == NULL || path == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or path is NULL");
    const size_t length = strlen(path);
    if (length == 0)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "expected a path, found nothing");
    uint8_t *request = mf_client_message(client, MF_MESSAGE_PROPERTY, 0, 4 + length);
    if (request == NULL)
        return mf_client_no_memory(error);
    memcpy(mf_client_put_u32(request, number), path, length);
    mf_Status status = mf_client_ask(client, MF_ANSWER_PROPERTY, &answer, error);
    return status == MF_OK ? read_property(client, &answer, out != NULL ? out : &own, error)
                           : status;
}

mf_Status mf_client_get(mf_Client *client, uint32_t number, double *values, uint32_t most,
                        uint32_t *count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL || (values == NULL && most > 0))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or values is NULL");
    uint8_t *request = mf_client_message(client, MF_MESSAGE_GET, 0, 4);
    if (request == NULL)
        return mf_client_no_memory(error);
    mf_client_put_u32(request, number);
    mf_Status status = mf_client_ask(client, MF_ANSWER_VALUES, &answer, error);
    if (status != MF_OK)
        return status;
    const uint32_t all = answer.size >= 8 ? mf_client_u32(answer.data + 4) : 0;
    if (answer.size != 8 + 8 * (size_t)all)
        return mf_client_malformed(error);
    if (count != NULL)
        *count = all;
    if (most > 0)
        memcpy(values, answer.data + 8, (all < most ? all : most) * sizeof *values);
    return MF_OK;
}

mf_Status mf_client_set(mf_Client *client, const mf_ClientValues *entries, uint32_t count,
                        mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    size_t size = 8;
    if (client == NULL || (entries == NULL && count > 0))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or entries is NULL");
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].values == NULL && entries[i].count > 0)
            return mf_client_fail(error, MF_BAD_ARGUMENT, "the values of entry %u are NULL", i);
        size += 16 + sizeof(double) * (size_t)entries[i].count;
    }
    if (size > client->message_limit)
        return mf_client_fail(error, MF_LIMIT, "expected at most %u bytes at once, found %zu",
                              client->message_limit, size);
    uint8_t *out = mf_client_message(client, MF_MESSAGE_SET, 0, size);
    if (out == NULL)
        return mf_client_no_memory(error);
    out = mf_client_put_u32(mf_client_put_u32(out, count), 0);
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = sizeof(double) * (size_t)entries[i].count;
        out = mf_client_put_u32(out, entries[i].number);
        out = mf_client_put_u32(out, entries[i].first);
        out = mf_client_put_u32(out, entries[i].count);
        out = mf_client_put_u32(out, 0);
        if (bytes > 0)
            memcpy(out, entries[i].values, bytes);
        out += bytes;
    }
    return mf_client_ask(client, MF_ANSWER_DONE, &answer, error);
}

// ---- the world ---------------------------------------------------------------------------------

// A place in the answer ABOUT.
typedef struct About {
    const uint8_t *at, *end;
    bool is_bad;
} About;

static uint32_t next_u32(About *about) {
    if (about->end - about->at < 4) {
        about->is_bad = true;
        return 0;
    }
    about->at += 4;
    return mf_client_u32(about->at - 4);
}

// A name of `*length` bytes, which are those of the message; NULL: there is none.
static const uint8_t *next_name(About *about, size_t *length) {
    const uint8_t *name = about->at + 4;
    *length = next_u32(about);
    const size_t size = padded(*length);
    about->is_bad |= size < *length || size > (size_t)(about->end - about->at);
    if (about->is_bad)
        return NULL;
    about->at += size;
    return name;
}

// Counts groups and names, and checks all of it.
static bool count_about(About about, uint32_t *groups, size_t *names) {
    *groups = 0;
    *names = 0;
    for (; about.at < about.end && !about.is_bad; (*groups)++) {
        const uint32_t gaits = next_u32(&about), docks = next_u32(&about);
        const uint64_t of_group = (uint64_t)gaits + docks;
        size_t length;
        for (uint64_t i = 0; i < of_group && !about.is_bad; i++, (*names)++)
            next_name(&about, &length);
    }
    return !about.is_bad;
}

static void fill_about(About about, mf_ClientGroupAbout *groups, uint32_t count, const char **names,
                       char *text) {
    for (uint32_t g = 0; g < count; g++) {
        mf_ClientGroupAbout *group = &groups[g];
        group->gait_count = next_u32(&about);
        group->dock_count = next_u32(&about);
        group->gaits = names;
        group->docks = names + group->gait_count;
        for (uint32_t i = 0; i < group->gait_count + group->dock_count; i++) {
            size_t length;
            const uint8_t *name = next_name(&about, &length);
            *names++ = text;
            memcpy(text, name, length);
            text += length + 1;
        }
    }
}

mf_Status mf_client_about(mf_Client *client, mf_ClientAbout *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_ClientMessage answer;
    if (client == NULL || out == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or out is NULL");
    if (mf_client_message(client, MF_MESSAGE_ABOUT, 0, 0) == NULL)
        return mf_client_no_memory(error);
    mf_Status status = mf_client_ask(client, MF_ANSWER_ABOUT, &answer, error);
    if (status != MF_OK)
        return status;
    uint32_t groups;
    size_t names;
    if (answer.size < 16)
        return mf_client_malformed(error);
    const About about = {answer.data + 16, answer.data + answer.size, false};
    if (!count_about(about, &groups, &names))
        return mf_client_malformed(error);
    const size_t heads = groups * sizeof(mf_ClientGroupAbout), lists = names * sizeof(char *);
    // Each name has four bytes before it in the message: space for its zero.
    mf_ClientGroupAbout *list = keep(client, heads + lists + answer.size);
    if (list == NULL)
        return mf_client_no_memory(error);
    const char **texts = (const char **)(list + groups);
    fill_about(about, list, groups, texts, (char *)(texts + names));
    *out = (mf_ClientAbout){.seed = mf_client_u64(answer.data),
                            .faults = mf_client_u64(answer.data + 8),
                            .group_count = groups,
                            .groups = list};
    return MF_OK;
}

mf_Status mf_client_dock(mf_Client *client, const mf_ClientDock *first, const mf_ClientDock *second,
                         uint32_t orientation, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (first == NULL || second == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "a dock is NULL");
    const uint32_t words[] = {1,
                              first->group,
                              first->instance,
                              first->dock,
                              second->group,
                              second->instance,
                              second->dock,
                              orientation};
    return mf_client_ask_words(client, MF_MESSAGE_DOCK, words, 8, error);
}

mf_Status mf_client_undock(mf_Client *client, const mf_ClientDock *first, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (first == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "the dock is NULL");
    const uint32_t words[] = {
        0, first->group, first->instance, first->dock, first->group, first->instance, first->dock,
        0};
    return mf_client_ask_words(client, MF_MESSAGE_DOCK, words, 8, error);
}
