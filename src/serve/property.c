// Properties by path for clients: what scripts need and fields do not give. A client names a path
// or a pattern once, under a number of its own, and reads and writes all values of it.
#include "model/fields.h"
#include "scene/watch.h"
#include "serve/peer.h"
#include "world/group.h"
#include "world/property.h"

#define PROPERTIES_MOST (1u << 20) // [1] of a connection

// Flags of PROPERTY.
enum { LOCKED = 1, ROTATION = 2 };

// ---- resolving ---------------------------------------------------------------------------------

typedef struct Fill {
    mf_LinkProperties *out;
    uint64_t count, values;
    uint32_t flags;
    const char *locked, *unit, *name;
} Fill;

static bool visit(const mf_Property *property, void *user) {
    Fill *fill = user;
    if (fill->out->list != NULL)
        fill->out->list[fill->count] = *property;
    fill->count++;
    fill->values += property->count;
    fill->name = property->name;
    fill->unit = property->unit;
    if (mf_property_is_rotation(property))
        fill->flags |= ROTATION;
    if (fill->locked == NULL)
        fill->locked = mf_property_locked(property);
    return fill->count < PROPERTIES_MOST;
}

static uint32_t field_number(const mf_Server *server, const mf_Property *property) {
    uint32_t f = 0;
    while (f < server->field_count && server->fields[f].field != property->field)
        f++;
    return f < server->field_count ? f : UINT32_MAX;
}

static uint32_t group_number(const mf_Server *server, const mf_Group *group) {
    uint32_t g = 0;
    while (mf_world_group(server->world, g) != group)
        g++;
    return g;
}

static void put_properties(mf_Server *server, mf_Peer *peer, uint32_t tag, uint32_t number,
                           const mf_LinkProperties *found, const Fill *fill) {
    const char *locked = fill->locked != NULL ? fill->locked : "";
    const size_t name = strlen(fill->name), unit = strlen(fill->unit), reason = strlen(locked);
    const size_t texts = mf_wire_padded(name + unit + reason, 4);
    mf_PropertyAnswer *head =
        mf_peer_message(server, peer, MF_ANSWER_PROPERTY, tag,
                        sizeof *head + texts + sizeof(mf_PropertyPart) * (size_t)found->count);
    if (head == NULL)
        return;
    *head = (mf_PropertyAnswer){.number = number,
                                .count = found->count,
                                .values = found->values,
                                .flags = fill->flags | (fill->locked != NULL ? LOCKED : 0u),
                                .name_size = (uint32_t)name,
                                .unit_size = (uint32_t)unit,
                                .locked_size = (uint32_t)reason};
    uint8_t *out = (uint8_t *)(head + 1);
    memset(out, 0, texts);
    memcpy(out, fill->name, name);
    memcpy(out + name, fill->unit, unit);
    memcpy(out + name + unit, locked, reason);
    mf_PropertyPart *parts = (void *)(out + texts);
    const mf_Field *last = NULL;
    uint32_t field = UINT32_MAX;
    bool moved = false;
    for (uint32_t i = 0; i < found->count; i++) {
        const mf_Property *property = &found->list[i];
        if (property->field != NULL && property->field != last) {
            last = property->field;
            field = field_number(server, property);
            moved = mf_property_moves(property);
        }
        const uint32_t type =
            property->field != NULL ? (uint32_t)property->field->info.type : MF_F64;
        parts[i] = (mf_PropertyPart){group_number(server, property->group), property->instance,
                                     property->field != NULL ? field : UINT32_MAX,
                                     property->count | type << 24 | (moved ? 1u << 31 : 0u)};
    }
}

static void drop(mf_Server *server, mf_Peer *peer, mf_LinkProperties *properties) {
    peer->property_count -= properties->count;
    mf_release(server->context, properties->list);
    *properties = (mf_LinkProperties){.list = NULL};
}

void mf_link_drop_properties(mf_Server *server, mf_Peer *peer) {
    for (uint32_t i = 0; peer->properties != NULL && i < MF_PROTOCOL_PROPERTIES; i++)
        drop(server, peer, &peer->properties[i]);
    mf_release(server->context, peer->properties);
    peer->properties = NULL;
}

// All that match; with none the message of mf_property_find.
static mf_Status find_all(mf_Server *server, const mf_Peer *peer, const char *path,
                          mf_LinkProperties *out, Fill *fill, mf_Error *error) {
    mf_Property one;
    *out = (mf_LinkProperties){.list = NULL};
    *fill = (Fill){.out = out};
    mf_property_list(server->world, path, visit, fill);
    if (fill->count == 0) {
        mf_Status status = mf_property_find(server->world, path, &one, error);
        return status == MF_OK
                   ? mf_fail(error, MF_NOT_FOUND, "property %.200s: it has no values", path)
                   : status;
    }
    if (fill->count > PROPERTIES_MOST - peer->property_count ||
        fill->values > server->message_limit / 8)
        return mf_fail(error, MF_LIMIT, "property %.200s: more values than a connection may have",
                       path);
    out->list = mf_allocate(server->context, fill->count, sizeof *out->list);
    MF_NEED_MEMORY(out->list != NULL, error, "serve");
    out->count = (uint32_t)fill->count;
    out->values = (uint32_t)fill->values;
    *fill = (Fill){.out = out};
    mf_property_list(server->world, path, visit, fill);
    return MF_OK;
}

mf_Status mf_answer_property(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                             mf_Error *error) {
    const mf_PropertyRequest *in = message->data;
    const uint32_t number = in->number;
    const size_t size = message->size - sizeof *in;
    char path[MF_PROPERTY_PATH];
    if (size == 0)
        return mf_link_fail_format(error, "a number and a path");
    MF_CHECK(size < sizeof path, error, MF_LIMIT, "expected a path below %zu bytes", sizeof path);
    memcpy(path, in + 1, size);
    path[size] = '\0';
    if (peer->properties == NULL)
        peer->properties =
            mf_allocate(server->context, MF_PROTOCOL_PROPERTIES, sizeof *peer->properties);
    MF_NEED_MEMORY(peer->properties != NULL, error, "serve");
    mf_LinkProperties made;
    Fill fill;
    MF_TRY(find_all(server, peer, path, &made, &fill, error));
    drop(server, peer, &peer->properties[number]);
    peer->properties[number] = made;
    peer->property_count += made.count;
    put_properties(server, peer, message->tag, number, &made, &fill);
    return MF_BUSY;
}

// ---- values ------------------------------------------------------------------------------------

static const mf_LinkProperties *find(const mf_Peer *peer, uint32_t number, mf_Error *error) {
    if (number < MF_PROTOCOL_PROPERTIES && peer->properties != NULL &&
        peer->properties[number].list != NULL)
        return &peer->properties[number];
    mf_fail(error, MF_NOT_FOUND, "expected the number of a property, found %u", number);
    return NULL;
}

mf_Status mf_answer_get(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                        mf_Error *error) {
    const mf_GetRequest *in = message->data;
    const mf_LinkProperties *found = find(peer, in->number, error);
    if (found == NULL)
        return error->status;
    mf_ValuesAnswer *head = mf_peer_message(server, peer, MF_ANSWER_VALUES, message->tag,
                                            sizeof *head + 8 * (size_t)found->values);
    if (head == NULL)
        return MF_BUSY;
    *head = (mf_ValuesAnswer){in->number, found->values};
    uint8_t *out = (uint8_t *)(head + 1);
    for (uint32_t i = 0; i < found->count; i++)
        for (uint32_t v = 0; v < found->list[i].count; v++, out += 8) {
            const mf_Property *property = &found->list[i];
            const double value =
                property->field == NULL
                    ? property->constant[v]
                    : mf_field_get(property->field, property->instance, property->first + v);
            memcpy(out, &value, sizeof value);
        }
    return MF_BUSY;
}

// Values first .. first + count - 1 of a property; the others keep theirs.
static mf_Status write_part(mf_Server *server, const mf_Property *property, uint32_t first,
                            uint32_t count, const uint8_t *data, mf_Error *error) {
    double *values = mf_allocate(server->context, property->count, sizeof *values);
    MF_NEED_MEMORY(values != NULL, error, "serve");
    mf_property_read(property, values);
    memcpy(values + first, data, count * sizeof *values);
    mf_Status status = mf_property_write(property, values, error);
    mf_release(server->context, values);
    return status;
}

static mf_Status set_entry(mf_Server *server, const mf_Peer *peer, mf_WireReader *reader,
                           bool writes, mf_Error *error) {
    const mf_SetEntryPart *in = mf_wire_take(reader, sizeof *in);
    const uint8_t *data = in != NULL ? mf_wire_take(reader, 8 * (size_t)in->count) : NULL;
    if (data == NULL)
        return mf_link_fail_format(error,
                                   "entries of a property, the first value, their number and them");
    const uint32_t first = in->first, count = in->count;
    const mf_LinkProperties *found = find(peer, in->number, error);
    if (found == NULL)
        return error->status;
    if (first > found->values || count > found->values - first)
        return mf_fail(error, MF_BAD_ARGUMENT, "expected values within 0 .. %u, found %u from %u",
                       found->values - 1, count, first);
    uint32_t at = 0;
    mf_Status status = MF_OK;
    for (uint32_t i = 0; writes && i < found->count && status == MF_OK; i++) {
        const mf_Property *property = &found->list[i];
        const uint32_t begin = first > at ? first : at, last = at + property->count;
        const uint32_t end = first + count < last ? first + count : last;
        if (begin < end)
            status = write_part(server, property, begin - at, end - begin,
                                data + 8 * (size_t)(begin - first), error);
        at = last;
    }
    return status;
}

// What its entries name is checked before any value is written.
mf_Status mf_answer_set(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                        mf_Error *error) {
    const mf_SetRequest *in = message->data;
    mf_Status status = MF_OK;
    for (int writes = 0; writes < 2; writes++) {
        mf_WireReader at = mf_wire_tail(message);
        for (uint32_t i = 0; i < in->count && status == MF_OK; i++)
            status = set_entry(server, peer, &at, writes == 1, error);
        if (status != MF_OK)
            return status;
        if (!mf_wire_done(&at))
            return mf_link_fail_format(error, "as many entries as it says");
    }
    return MF_OK;
}

// ---- the world ---------------------------------------------------------------------------------

static size_t put_name(uint8_t *out, const char *name) {
    const size_t length = strlen(name), size = sizeof(mf_NamePart) + mf_wire_padded(length, 4);
    if (out == NULL)
        return size;
    memset(out, 0, size);
    *(mf_NamePart *)(void *)out = (mf_NamePart){(uint32_t)length};
    memcpy(out + sizeof(mf_NamePart), name, length);
    return size;
}

// Counts with out NULL, else writes; returns the bytes.
static size_t put_about(const mf_Server *server, uint8_t *out) {
    const mf_Scene *scene = server->scene;
    size_t size = 0;
    for (uint32_t g = 0; g < scene->group_count; g++) {
        const uint32_t gaits = scene->file->groups[g].gait_count;
        const mf_Model *model = mf_group_model(mf_world_group(scene->world, g));
        uint32_t parts = 0;
        mf_model_items(model, mf_watched_parts.item, &parts);
        if (out != NULL)
            *(mf_GroupNamesPart *)(void *)(out + size) = (mf_GroupNamesPart){gaits, parts};
        size += sizeof(mf_GroupNamesPart);
        for (uint32_t i = 0; i < gaits; i++)
            size += put_name(out == NULL ? NULL : out + size, scene->gaits[g][i]->name);
        for (uint32_t i = 0; i < parts; i++)
            size += put_name(out == NULL ? NULL : out + size,
                             mf_model_item_name(model, mf_watched_parts.item, i));
    }
    return size;
}

mf_Status mf_answer_about(mf_Server *server, mf_Peer *peer, const mf_WireMessage *message,
                          mf_Error *error) {
    uint64_t faults = 0;
    (void)error;
    for (uint32_t g = 0; g < mf_world_group_count(server->world); g++)
        faults += mf_group_fault_total(mf_world_group(server->world, g));
    mf_AboutAnswer *out = mf_peer_message(server, peer, MF_ANSWER_ABOUT, message->tag,
                                          sizeof *out + put_about(server, NULL));
    if (out == NULL)
        return MF_BUSY;
    *out = (mf_AboutAnswer){mf_world_config_of(server->world)->seed, faults};
    put_about(server, (uint8_t *)(out + 1));
    return MF_BUSY;
}
