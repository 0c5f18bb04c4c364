// Reading MCAP recordings of Mayfly, front to back, so that a file whose end is missing is read up
// to its last whole chunk. The first pass finds channels and counts, the second one takes numbers.
#include "record/recording.h"

#include "base/hash.h"
#include "record/compress.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCHEMA = 0x03, CHANNEL, MESSAGE, CHUNK, ATTACHMENT = 0x09, METADATA = 0x0c, FOOTER = 0x02 };
enum { CHANNELS = 4096 }; // [1] channels and schemas that are read, those with the lowest numbers
// [1] Bytes per compressed one: the smallest block of zstd has 4 bytes, and holds at most 2^17.
enum { EXPANSION = 1 << 15 };
static const char magic[] = "\x89MCAP0\r\n";

// Bytes that are read from the front; `bad` once something was missing.
typedef struct Bytes {
    const uint8_t *at, *end;
    bool bad;
} Bytes;

typedef struct Text {
    const char *text; // not terminated
    size_t size;
} Text;

// A channel whose messages are rows of columns.
typedef struct Source {
    uint32_t first, count; // [1] fields of the recording
    uint32_t rows;         // [1] most in a message
    uint32_t samples;      // [1] messages so far
    bool picture;
} Source;

typedef struct Reading {
    mf_Recording *recording;
    Source *sources[CHANNELS];
    bool ours[CHANNELS]; // schemas of Mayfly's own
    uint32_t clock;      // channel of /tf, which has a message per sample; CHANNELS: none yet
    uint32_t drawings;   // channel of /mayfly/drawings; CHANNELS: none
    uint64_t drawn;      // [byte] of its records
    uint32_t samples;
    uint64_t format;
    bool known, several, filling, failed; // failed: error is set
    uint8_t *chunk;                       // the last compressed one, expanded
    size_t chunk_capacity;                // [byte]
    uint64_t most, left;                  // [byte] that chunks may expand to, in each pass
    mf_McapMessageFn heard;               // instead of both passes: messages of others
    void *user;
    const char *topics[CHANNELS], *types[CHANNELS]; // of channels, then; types by their schemas
    uint16_t schemas[CHANNELS];
    mf_Error *error;
} Reading;

// ---- bytes -------------------------------------------------------------------------------------

static const uint8_t *skip(Bytes *bytes, uint64_t count) {
    const uint8_t *at = bytes->at;
    if (bytes->bad || count > (uint64_t)(bytes->end - bytes->at)) {
        bytes->bad = true;
        return NULL;
    }
    bytes->at += count;
    return at;
}

static uint64_t number(Bytes *bytes, size_t size) {
    uint64_t value = 0;
    const uint8_t *at = skip(bytes, size);
    if (at != NULL)
        memcpy(&value, at, size);
    return value;
}

static Text text(Bytes *bytes) {
    const size_t size = (size_t)number(bytes, 4);
    const char *at = (const char *)skip(bytes, size);
    return at != NULL ? (Text){at, size} : (Text){"", 0};
}

static bool equals(Text a, const char *b) {
    return a.size == strlen(b) && memcmp(a.text, b, a.size) == 0;
}

static bool begins(Text a, const char *b) {
    return a.size >= strlen(b) && memcmp(a.text, b, strlen(b)) == 0;
}

static Bytes part(Bytes *bytes, uint64_t size) {
    const uint8_t *at = skip(bytes, size);
    return (Bytes){at, at != NULL ? at + size : NULL, at == NULL};
}

static uint64_t varint(Bytes *bytes) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 64; shift += 7) {
        const uint8_t *at = skip(bytes, 1);
        if (at == NULL)
            return 0;
        value |= (uint64_t)(*at & 0x7f) << shift;
        if (*at < 0x80)
            return value;
    }
    bytes->bad = true;
    return 0;
}

// The next member of a message: its number, and its bytes. False: there are no more.
static bool member(Bytes *message, uint32_t *field, Bytes *content) {
    if (message->bad || message->at == message->end)
        return false;
    const uint64_t tag = varint(message);
    *field = (uint32_t)(tag >> 3);
    switch (tag & 7) {
    case 0: {
        const uint8_t *at = message->at;
        varint(message);
        *content = (Bytes){at, message->at, message->bad};
        break;
    }
    case 1:
        *content = part(message, 8);
        break;
    case 2:
        *content = part(message, varint(message));
        break;
    case 5:
        *content = part(message, 4);
        break;
    default:
        message->bad = true;
    }
    return !message->bad;
}

// ---- the head ----------------------------------------------------------------------------------

static const char *keep(Reading *reading, Text from) {
    const char *kept = mf_recording_text(reading->recording, from.text, from.size, reading->error);
    reading->failed = reading->failed || kept == NULL;
    return kept != NULL ? kept : "";
}

static void take_metadata(Reading *reading, Bytes bytes) {
    const Text name = text(&bytes);
    Bytes pairs = part(&bytes, number(&bytes, 4));
    mf_Recording *recording = reading->recording;
    const bool group = equals(name, "mayfly.group");
    if (!equals(name, "mayfly") && (!group || reading->several))
        return;
    while (pairs.at < pairs.end && !pairs.bad && !reading->failed) {
        const Text key = text(&pairs);
        const char *value = keep(reading, text(&pairs));
        if (equals(key, "recording"))
            reading->format = strtoull(value, NULL, 10);
        else if (equals(key, "version"))
            recording->version = value;
        else if (equals(key, "seed"))
            recording->seed = strtoull(value, NULL, 10);
        else if (equals(key, "step"))
            recording->step = strtod(value, NULL);
        else if (equals(key, "run"))
            recording->run = value;
        else if (equals(key, "model"))
            recording->model = value;
        else if (equals(key, "group"))
            recording->group = value;
        else if (equals(key, "groups"))
            reading->several = strcmp(value, "all") == 0;
    }
    reading->known = true;
    reading->failed =
        reading->failed || mf_recording_check(recording, reading->format, reading->error) != MF_OK;
}

static void take_attachment(Reading *reading, Bytes bytes) {
    skip(&bytes, 16);
    const Text name = text(&bytes);
    text(&bytes); // media type
    const uint64_t size = number(&bytes, 8);
    const char *at = (const char *)skip(&bytes, size);
    if (at == NULL)
        return;
    if (equals(name, "picture.json"))
        reading->recording->picture = keep(reading, (Text){at, (size_t)size});
    else if (equals(name, "scene.yaml"))
        reading->recording->scene = keep(reading, (Text){at, (size_t)size});
}

static const char *member_text(Reading *reading, const json_t *about, const char *name) {
    const char *value = json_string_value(json_object_get(about, name));
    return keep(reading, value != NULL ? (Text){value, strlen(value)} : (Text){"", 0});
}

static bool read_type(const char *name, mf_FieldType *out) {
    static const struct {
        const char *name;
        mf_FieldType type;
    } types[] = {{"float32", MF_F32}, {"float64", MF_F64}, {"int32", MF_I32}, {"uint32", MF_U32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(name, types[i].name) == 0) {
            *out = types[i].type;
            return true;
        }
    return false;
}

// One field from the channel's metadata: "key": JSON. `group` is the front of its name.
static void take_field(Reading *reading, Text group, Text json) {
    json_t *about = json_loadb(json.text, json.size, 0, NULL);
    const char *own = json_string_value(json_object_get(about, "name"));
    mf_FieldType type = MF_F64;
    const json_int_t components = json_integer_value(json_object_get(about, "components"));
    const char *type_name = json_string_value(json_object_get(about, "type"));
    if (own == NULL || type_name == NULL || !read_type(type_name, &type) || components < 1 ||
        components > UINT32_MAX) {
        reading->failed = true;
        mf_fail_at(reading->error, MF_BAD_FILE, reading->recording->path, 0, 0,
                   "a channel's metadata do not describe a field");
    }
    mf_RecordedField *field =
        reading->failed ? NULL : mf_recording_field(reading->recording, reading->error);
    char *name = field == NULL ? NULL
                               : mf_recording_take(reading->recording, group.size + strlen(own) + 2,
                                                   1, reading->error);
    reading->failed = reading->failed || name == NULL;
    if (name != NULL) {
        memcpy(name, group.text, group.size);
        if (group.size > 0)
            name[group.size] = '/';
        memcpy(name + group.size + (group.size > 0), own, strlen(own));
        *field = (mf_RecordedField){.name = name, .type = type, .components = (uint32_t)components};
        field->unit = member_text(reading, about, "unit");
        field->frame = member_text(reading, about, "frame");
        field->description = member_text(reading, about, "description");
    }
    json_decref(about);
}

// Topics are /GROUP/fields, /mayfly/world_joints and /mayfly/picture.
static Text group_of(const Reading *reading, Text topic) {
    static const char fields[] = "/fields";
    if (equals(topic, "/mayfly/world_joints"))
        return (Text){"world_joints", strlen("world_joints")};
    if (!reading->several || topic.size <= sizeof fields)
        return (Text){"", 0};
    return (Text){topic.text + 1, topic.size - sizeof fields};
}

static void take_channel(Reading *reading, Bytes bytes) {
    const uint32_t id = (uint32_t)number(&bytes, 2), schema = (uint32_t)number(&bytes, 2);
    const Text topic = text(&bytes);
    text(&bytes); // the encoding
    Bytes pairs = part(&bytes, number(&bytes, 4));
    if (bytes.bad || id >= CHANNELS || schema >= CHANNELS || reading->sources[id] != NULL)
        return;
    if (equals(topic, "/tf"))
        reading->clock = id;
    if (equals(topic, "/mayfly/drawings"))
        reading->drawings = id;
    if (!reading->ours[schema] || reading->drawings == id)
        return;
    Source *source = mf_recording_take(reading->recording, 1, sizeof *source, reading->error);
    reading->failed = reading->failed || source == NULL;
    if (source == NULL)
        return;
    source->picture = equals(topic, "/mayfly/picture");
    source->first = reading->recording->field_count;
    while (pairs.at < pairs.end && !pairs.bad && !reading->failed && !source->picture) {
        text(&pairs);
        take_field(reading, group_of(reading, topic), text(&pairs));
    }
    source->count = reading->recording->field_count - source->first;
    reading->sources[id] = source;
}

// ---- messages ----------------------------------------------------------------------------------

static uint32_t count_rows(Bytes message, uint32_t *size) {
    uint32_t rows = 0, field;
    Bytes content, inner;
    while (member(&message, &field, &content))
        if (field == 2) {
            rows++;
            if (member(&content, &field, &inner))
                *size = (uint32_t)(inner.end - inner.at);
        }
    return rows;
}

static void fill_row(const Reading *reading, const Source *source, uint32_t row, Bytes content) {
    uint32_t number_of;
    Bytes values;
    while (member(&content, &number_of, &values)) {
        const size_t size = (size_t)(values.end - values.at);
        if (source->picture) {
            const size_t each = reading->recording->frame_size * sizeof(float);
            if (number_of == 1 && size == each)
                memcpy((char *)reading->recording->memory->frames + source->samples * each,
                       values.at, each);
            continue;
        }
        if (number_of < 1 || number_of > source->count)
            continue;
        const mf_RecordedField *field = &reading->recording->fields[source->first + number_of - 1];
        const size_t each = field->components * mf_field_value_size(field->type);
        const size_t index = (size_t)source->samples * field->count + row;
        if (size == each)
            memcpy((char *)(uintptr_t)field->values + index * each, values.at, each);
    }
}

static void take_drawings(Reading *reading, Bytes message) {
    uint32_t field;
    Bytes content;
    while (member(&message, &field, &content)) {
        const size_t size = (size_t)(content.end - content.at);
        mf_Recording *recording = reading->recording;
        if (field != 2)
            continue;
        if (reading->filling && size <= reading->drawn - recording->drawings_size) {
            memcpy((uint8_t *)(uintptr_t)recording->drawings + recording->drawings_size, content.at,
                   size);
            recording->drawings_size += size;
        }
        reading->drawn += reading->filling ? 0 : size;
    }
}

static void take_message(Reading *reading, Bytes bytes) {
    const uint32_t id = (uint32_t)number(&bytes, 2);
    skip(&bytes, 4);
    const mf_Time time = (mf_Time)number(&bytes, 8);
    skip(&bytes, 8);
    if (bytes.bad || id >= CHANNELS)
        return;
    if (reading->heard != NULL) {
        const char *type = reading->types[reading->schemas[id]];
        if (reading->topics[id] != NULL && type != NULL)
            reading->failed =
                reading->heard(reading->user, reading->topics[id], type, time, bytes.at,
                               (size_t)(bytes.end - bytes.at), reading->error) != MF_OK;
        return;
    }
    if (id == reading->clock) {
        if (reading->filling && reading->samples < reading->recording->samples)
            reading->recording->memory->time[reading->samples] = mf_time_to_seconds(time);
        reading->samples++;
    }
    if (id == reading->drawings)
        take_drawings(reading, bytes);
    Source *source = reading->sources[id];
    if (source == NULL)
        return;
    if (!reading->filling) {
        uint32_t size = 0;
        const uint32_t rows = count_rows(bytes, &size);
        source->rows = rows > source->rows ? rows : source->rows;
        if (source->picture)
            reading->recording->frame_size = size / (uint32_t)sizeof(float);
    } else if (source->samples < reading->recording->samples) {
        uint32_t field, row = 0;
        Bytes content;
        while (member(&bytes, &field, &content))
            if (field == 2 && row < source->rows)
                fill_row(reading, source, row++, content);
    }
    source->samples++;
}

// A channel or schema of others.
static void take_other(Reading *reading, uint8_t code, Bytes bytes) {
    const uint32_t id = (uint32_t)number(&bytes, 2);
    const uint32_t schema = code == CHANNEL ? (uint32_t)number(&bytes, 2) : 0;
    const Text name = text(&bytes);
    if (bytes.bad || id >= CHANNELS || schema >= CHANNELS)
        return;
    if (code == SCHEMA && reading->types[id] == NULL)
        reading->types[id] = keep(reading, name);
    if (code == CHANNEL && reading->topics[id] == NULL && equals(text(&bytes), "cdr")) {
        reading->topics[id] = keep(reading, name);
        reading->schemas[id] = (uint16_t)schema;
    }
}

static void take_record(Reading *reading, uint8_t code, Bytes bytes) {
    if (code == MESSAGE)
        take_message(reading, bytes);
    else if (reading->filling)
        return;
    else if (reading->heard != NULL) {
        if (code == CHANNEL || code == SCHEMA)
            take_other(reading, code, bytes);
    } else if (code == METADATA)
        take_metadata(reading, bytes);
    else if (code == ATTACHMENT)
        take_attachment(reading, bytes);
    else if (code == CHANNEL)
        take_channel(reading, bytes);
    else if (code == SCHEMA) {
        const uint32_t id = (uint32_t)number(&bytes, 2);
        const Text name = text(&bytes);
        if (!bytes.bad && id < CHANNELS)
            reading->ours[id] = begins(name, "mayfly.");
    }
}

static bool refuse(Reading *reading, mf_Status status, const char *what) {
    reading->failed = true;
    mf_fail_at(reading->error, status, reading->recording->path, 0, 0, "%s", what);
    return false;
}

static bool damaged(Reading *reading, const char *what) {
    return refuse(reading, MF_BAD_FILE, what);
}

// Memory for a compressed chunk, before it is expanded.
static bool make_chunk(Reading *reading, uint64_t size) {
    mf_Context *context = reading->recording->context;
    if (size > reading->left) {
        reading->failed = true;
        mf_fail_at(reading->error, MF_LIMIT, reading->recording->path, 0, 0,
                   "the recording expands to more than %.3g GB", 1e-9 * (double)reading->most);
        return false;
    }
    reading->left -= size;
    if (size <= reading->chunk_capacity)
        return true;
    mf_release(context, reading->chunk);
    reading->chunk_capacity = 0;
    reading->chunk = mf_allocate(context, size, 1);
    if (reading->chunk == NULL)
        return refuse(reading, MF_NO_MEMORY, "no memory to read the recording");
    reading->chunk_capacity = size;
    return true;
}

// The records of a compressed chunk, which are there until the next one.
static bool expand_chunk(Reading *reading, Text compression, uint64_t size, Bytes *records) {
    const size_t packed = (size_t)(records->end - records->at);
    if (!equals(compression, "zstd"))
        return damaged(reading, "chunks are compressed by another method than zstd");
    if (mf_compress_name()[0] == '\0')
        return refuse(reading, MF_UNSUPPORTED,
                      "compressed by zstd: this mayfly was built without it (Debian's "
                      "libzstd-dev)");
    if (size / EXPANSION > packed || mf_expanded_size(records->at, packed) != size)
        return damaged(reading, "a chunk is damaged: it does not hold what its head says");
    if (!make_chunk(reading, size))
        return false;
    if (!mf_expand(reading->chunk, size, records->at, packed))
        return damaged(reading, "a chunk is damaged: it cannot be expanded");
    reading->recording->compression = "zstd";
    *records = (Bytes){reading->chunk, reading->chunk + size, false};
    return true;
}

// The records of a chunk. False: stop here.
static bool take_chunk(Reading *reading, Bytes bytes) {
    skip(&bytes, 16); // times
    const uint64_t size = number(&bytes, 8);
    const uint32_t crc = (uint32_t)number(&bytes, 4);
    const Text compression = text(&bytes);
    Bytes records = part(&bytes, number(&bytes, 8));
    if (bytes.bad)
        return damaged(reading, "a chunk is damaged: it ends within its head");
    if (compression.size != 0 && !expand_chunk(reading, compression, size, &records))
        return false;
    if (!reading->filling && crc != 0 &&
        crc != mf_crc32(0, records.at, (size_t)(records.end - records.at)))
        return damaged(reading, "a chunk is damaged: its checksum is wrong");
    while (records.at < records.end && !reading->failed) {
        const uint8_t code = (uint8_t)number(&records, 1);
        Bytes record = part(&records, number(&records, 8));
        if (records.bad)
            return damaged(reading, "a chunk is damaged: a record goes beyond its end");
        take_record(reading, code, record);
    }
    return !reading->failed;
}

// All records up to the footer, or to where the file breaks off.
static void walk(Reading *reading, const char *data, size_t size) {
    Bytes file = {(const uint8_t *)data + sizeof magic - 1, (const uint8_t *)data + size, false};
    reading->left = reading->most;
    while (file.at < file.end && !reading->failed) {
        const uint8_t code = (uint8_t)number(&file, 1);
        Bytes record = part(&file, number(&file, 8));
        if (file.bad)
            return;
        if (code == FOOTER)
            reading->recording->complete = true;
        else if (code == CHUNK)
            take_chunk(reading, record);
        else
            take_record(reading, code, record);
    }
}

// ---- both passes -------------------------------------------------------------------------------

static void fill_missing(mf_RecordedField *field, uint64_t count) {
    double *doubles = (double *)(uintptr_t)field->values;
    for (uint64_t i = 0; i < count && field->type == MF_F64; i++)
        doubles[i] = (double)NAN;
}

static mf_Status reserve(Reading *reading) {
    mf_Recording *recording = reading->recording;
    recording->samples = reading->samples;
    mf_RecordingMemory *memory = recording->memory;
    memory->time = mf_recording_take(recording, reading->samples, sizeof(double), reading->error);
    memory->frames =
        mf_recording_take(recording, (uint64_t)reading->samples * recording->frame_size,
                          sizeof(float), reading->error);
    if (memory->time == NULL || memory->frames == NULL)
        return reading->error->status;
    recording->drawings = mf_recording_take(recording, reading->drawn, 1, reading->error);
    if (recording->drawings == NULL)
        return reading->error->status;
    recording->time = memory->time;
    recording->frames = memory->frames;
    for (uint32_t i = 0; i < CHANNELS; i++) {
        Source *source = reading->sources[i];
        if (source == NULL)
            continue;
        source->samples = 0;
        for (uint32_t f = source->first; f < source->first + source->count; f++) {
            mf_RecordedField *field = &memory->fields[f];
            field->count = source->rows;
            const uint64_t values = (uint64_t)reading->samples * field->count * field->components;
            field->values = mf_recording_take(recording, values, mf_field_value_size(field->type),
                                              reading->error);
            if (field->values == NULL)
                return reading->error->status;
            fill_missing(field, values);
        }
    }
    reading->samples = 0;
    return MF_OK;
}

// Run-time joints that there never were have no rows.
static void drop_empty(mf_Recording *recording) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < recording->field_count; i++)
        if (recording->fields[i].count > 0)
            recording->memory->fields[kept++] = recording->fields[i];
    recording->field_count = kept;
}

bool mf_recording_is_mcap(const char *data, size_t size) {
    return size >= sizeof magic - 1 && memcmp(data, magic, sizeof magic - 1) == 0;
}

mf_Status mf_recording_read_mcap(mf_Recording *recording, const char *data, size_t size,
                                 mf_Error *error) {
    Reading *reading = mf_allocate(recording->context, 1, sizeof *reading);
    MF_NEED_MEMORY(reading != NULL, error, "recording");
    recording->kind = "MCAP";
    reading->recording = recording;
    reading->clock = reading->drawings = CHANNELS;
    reading->most = recording->memory->left;
    reading->error = error;
    walk(reading, data, size);
    mf_Status status = reading->failed ? error->status : MF_OK;
    if (status == MF_OK && !reading->known)
        status = mf_fail_at(error, MF_BAD_FILE, recording->path, 0, 0,
                            "an MCAP file, but no recording of Mayfly");
    MF_THEN(status, reserve(reading));
    if (status == MF_OK) {
        reading->filling = true;
        walk(reading, data, size);
        drop_empty(recording);
    }
    mf_release(recording->context, reading->chunk);
    mf_release(recording->context, reading);
    return status;
}

mf_Status mf_recording_messages(mf_Recording *recording, const char *data, size_t size,
                                mf_McapMessageFn heard, void *user, mf_Error *error) {
    Reading *reading = mf_allocate(recording->context, 1, sizeof *reading);
    MF_NEED_MEMORY(reading != NULL, error, "recording");
    reading->recording = recording;
    reading->clock = CHANNELS;
    reading->most = recording->memory->left;
    reading->heard = heard;
    reading->user = user;
    reading->error = error;
    walk(reading, data, size);
    const mf_Status status = reading->failed ? error->status : MF_OK;
    mf_release(recording->context, reading->chunk);
    mf_release(recording->context, reading);
    return status;
}
