// The client's calls for properties and what is known about a world (client.h). Answers are checked
// to their last byte before anything of them is used.
#include "client/link.h"
#include "base/floats.h"

#include <stdlib.h>

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

// ---- properties --------------------------------------------------------------------------------

static char *take_text(char **at, const uint8_t **from, size_t length) {
    char *text = *at;
    memcpy(text, *from, length);
    *from += length;
    *at += length + 1; // ended by a zero
    return text;
}

static mf_Status read_property(mf_Client *client, const mf_WireMessage *answer,
                               mf_ClientProperty *out, mf_Error *error) {
    const mf_PropertyAnswer *head = answer->data;
    const size_t texts = (size_t)head->name_size + head->unit_size + head->locked_size;
    const size_t padded = mf_wire_padded(texts, 4), count = head->count;
    if (answer->size != sizeof *head + padded + count * sizeof(mf_PropertyPart))
        return mf_client_malformed(error);
    mf_ClientPropertyPart *parts = keep(client, count * sizeof *parts + texts + 3);
    if (parts == NULL)
        return mf_client_no_memory(error);
    const uint8_t *from = (const uint8_t *)(head + 1);
    const mf_PropertyPart *in = (const void *)(from + padded);
    char *at = (char *)(parts + count);
    *out = (mf_ClientProperty){.count = head->count,
                               .values = head->values,
                               .is_rotation = (head->flags & ROTATION) != 0,
                               .parts = parts};
    out->name = take_text(&at, &from, head->name_size);
    out->unit = take_text(&at, &from, head->unit_size);
    const char *locked = take_text(&at, &from, head->locked_size);
    out->locked = (head->flags & LOCKED) != 0 ? locked : NULL;
    for (size_t i = 0; i < count; i++)
        parts[i] = (mf_ClientPropertyPart){.group = in[i].group,
                                           .instance = in[i].instance,
                                           .field = in[i].field,
                                           .count = in[i].bits & VALUES_MASK,
                                           .type = (mf_FieldType)(in[i].bits >> TYPE_SHIFT & 7u),
                                           .moves = (in[i].bits & MOVES) != 0};
    return MF_OK;
}

mf_Status mf_client_property(mf_Client *client, uint32_t number, const char *path,
                             mf_ClientProperty *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_WireMessage answer;
    mf_ClientProperty own;
    if (client == NULL || path == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or path is NULL");
    const size_t length = strlen(path);
    if (length == 0)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "expected a path, found nothing");
    mf_Status status = mf_client_ask(client, MF_MESSAGE_PROPERTY, &(mf_PropertyRequest){number},
                                     path, length, &answer, error);
    return status == MF_OK ? read_property(client, &answer, out != NULL ? out : &own, error)
                           : status;
}

mf_Status mf_client_get(mf_Client *client, uint32_t number, double *values, uint32_t most,
                        uint32_t *count, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_WireMessage answer;
    if (values == NULL && most > 0)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "values is NULL");
    MF_TRY(
        mf_client_ask(client, MF_MESSAGE_GET, &(mf_GetRequest){number}, NULL, 0, &answer, error));
    const mf_ValuesAnswer *in = answer.data;
    const uint32_t all = in->count;
    if (answer.size != sizeof *in + sizeof(double) * (size_t)all)
        return mf_client_malformed(error);
    if (count != NULL)
        *count = all;
    if (most > 0)
        memcpy(values, in + 1, (all < most ? all : most) * sizeof *values);
    return MF_OK;
}

mf_Status mf_client_set(mf_Client *client, const mf_ClientValues *entries, uint32_t count,
                        mf_Error *error) {
    MF_DEFAULT_FLOATS;
    size_t size = sizeof(mf_SetRequest);
    if (client == NULL || (entries == NULL && count > 0))
        return mf_client_fail(error, MF_BAD_ARGUMENT, "client or entries is NULL");
    for (uint32_t i = 0; i < count; i++) {
        if (entries[i].values == NULL && entries[i].count > 0)
            return mf_client_fail(error, MF_BAD_ARGUMENT, "the values of entry %u are NULL", i);
        size += sizeof(mf_SetEntryPart) + sizeof(double) * (size_t)entries[i].count;
    }
    if (size > client->message_limit)
        return mf_client_fail(error, MF_LIMIT, "expected at most %u bytes at once, found %zu",
                              client->message_limit, size);
    mf_SetRequest *head = mf_client_message(client, MF_MESSAGE_SET, 0, size);
    if (head == NULL)
        return mf_client_no_memory(error);
    *head = (mf_SetRequest){.count = count};
    mf_SetEntryPart *out = (void *)(head + 1);
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = sizeof(double) * (size_t)entries[i].count;
        *out++ = (mf_SetEntryPart){entries[i].number, entries[i].first, entries[i].count, 0};
        if (bytes > 0)
            memcpy(out, entries[i].values, bytes);
        out = (void *)((uint8_t *)out + bytes);
    }
    return mf_client_ask(client, MF_MESSAGE_SET, NULL, NULL, 0, NULL, error);
}

// ---- the world ---------------------------------------------------------------------------------

// The next name of ABOUT, of `*length` bytes; NULL: there is none.
static const void *next_name(mf_WireReader *about, size_t *length) {
    const mf_NamePart *in = mf_wire_take(about, sizeof *in);
    *length = in != NULL ? in->size : 0;
    return in != NULL ? mf_wire_take(about, mf_wire_padded(*length, 4)) : NULL;
}

// Counts groups and names, and checks all of it.
static bool count_about(mf_WireReader about, uint32_t *groups, size_t *names) {
    *groups = 0;
    *names = 0;
    for (; about.at < about.end && !about.is_short; (*groups)++) {
        const mf_GroupNamesPart *in = mf_wire_take(&about, sizeof *in);
        const uint64_t of_group = in != NULL ? (uint64_t)in->gaits + in->docks : 0;
        size_t length;
        for (uint64_t i = 0; i < of_group && !about.is_short; i++, (*names)++)
            next_name(&about, &length);
    }
    return !about.is_short;
}

static void fill_about(mf_WireReader about, mf_ClientGroupAbout *groups, uint32_t count,
                       const char **names, char *text) {
    for (uint32_t g = 0; g < count; g++) {
        mf_ClientGroupAbout *group = &groups[g];
        const mf_GroupNamesPart *in = mf_wire_take(&about, sizeof *in);
        group->gait_count = in->gaits;
        group->dock_count = in->docks;
        group->gaits = names;
        group->docks = names + group->gait_count;
        for (uint32_t i = 0; i < group->gait_count + group->dock_count; i++) {
            size_t length;
            const void *name = next_name(&about, &length);
            *names++ = text;
            memcpy(text, name, length);
            text += length + 1;
        }
    }
}

mf_Status mf_client_about(mf_Client *client, mf_ClientAbout *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    mf_WireMessage answer;
    uint32_t groups;
    size_t names;
    if (out == NULL)
        return mf_client_fail(error, MF_BAD_ARGUMENT, "out is NULL");
    MF_TRY(mf_client_ask(client, MF_MESSAGE_ABOUT, "", NULL, 0, &answer, error));
    const mf_AboutAnswer *in = answer.data;
    const mf_WireReader about = mf_wire_tail(&answer);
    if (!count_about(about, &groups, &names))
        return mf_client_malformed(error);
    const size_t heads = groups * sizeof(mf_ClientGroupAbout), lists = names * sizeof(char *);
    // Each name has four bytes before it in the message: space for its zero.
    mf_ClientGroupAbout *list = keep(client, heads + lists + answer.size);
    if (list == NULL)
        return mf_client_no_memory(error);
    const char **texts = (const char **)(list + groups);
    fill_about(about, list, groups, texts, (char *)(texts + names));
    *out = (mf_ClientAbout){
        .seed = in->seed, .faults = in->faults, .group_count = groups, .groups = list};
    return MF_OK;
}
