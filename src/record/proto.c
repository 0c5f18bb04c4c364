// Protocol buffers: the wire format (protobuf.dev, "Encoding") and descriptor.proto, of which only
// what proto3 messages need is here.
#include "record/proto.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VARINT = 0, FIXED64 = 1, SIZED = 2, FIXED32 = 5 }; // wire types
enum { VARINT_MOST = 10 };                                // [byte]

static size_t encode(uint64_t value, uint8_t out[VARINT_MOST]) {
    size_t size = 0;
    for (; value >= 0x80; value >>= 7)
        out[size++] = (uint8_t)(value | 0x80);
    out[size++] = (uint8_t)value;
    return size;
}

static void put_varint(mf_Text *out, uint64_t value) {
    uint8_t bytes[VARINT_MOST];
    mf_text_put_bytes(out, (const char *)bytes, encode(value, bytes));
}

static void put_tag(mf_Text *out, uint32_t field, uint32_t wire) {
    put_varint(out, field << 3 | wire);
}

void mf_proto_uint(mf_Text *out, uint32_t field, uint64_t value) {
    put_tag(out, field, VARINT);
    put_varint(out, value);
}

void mf_proto_fixed32(mf_Text *out, uint32_t field, uint32_t value) {
    put_tag(out, field, FIXED32);
    mf_text_put_bytes(out, (const char *)&value, sizeof value);
}

void mf_proto_double(mf_Text *out, uint32_t field, double value) {
    put_tag(out, field, FIXED64);
    mf_text_put_bytes(out, (const char *)&value, sizeof value);
}

void mf_proto_bytes(mf_Text *out, uint32_t field, const void *bytes, size_t size) {
    put_tag(out, field, SIZED);
    put_varint(out, size);
    mf_text_put_bytes(out, bytes, size);
}

void mf_proto_string(mf_Text *out, uint32_t field, const char *text) {
    mf_proto_bytes(out, field, text, strlen(text));
}

size_t mf_proto_open(mf_Text *out, uint32_t field) {
    put_tag(out, field, SIZED);
    return out->size;
}

void mf_proto_close(mf_Text *out, size_t opened) {
    uint8_t bytes[VARINT_MOST];
    const size_t length = out->size - opened, size = encode(length, bytes);
    mf_text_put_bytes(out, (const char *)bytes, size); // makes space
    if (out->failed)
        return;
    memmove(out->data + opened + size, out->data + opened, length);
    memcpy(out->data + opened, bytes, size);
}

void mf_proto_time(mf_Text *out, uint32_t field, mf_Time time) {
    const size_t opened = mf_proto_open(out, field);
    mf_proto_uint(out, 1, (uint64_t)(time / 1000000000));
    mf_proto_uint(out, 2, (uint64_t)(time % 1000000000));
    mf_proto_close(out, opened);
}

// ---- descriptions ------------------------------------------------------------------------------

// Numbers of descriptor.proto.
enum { FILE_OF_SET = 1, FILE_NAME = 1, FILE_PACKAGE = 2, FILE_USES = 3, FILE_MESSAGE = 4 };
enum { FILE_SYNTAX = 12, MESSAGE_NAME = 1, MESSAGE_FIELD = 2, MESSAGE_ENUM = 4 };
enum { MESSAGE_ONEOF = 8, FIELD_NAME = 1, FIELD_NUMBER = 3, FIELD_LABEL = 4, FIELD_TYPE = 5 };
enum { FIELD_TYPE_NAME = 6, FIELD_ONEOF = 9, FIELD_OPTIONAL = 17, ENUM_VALUE = 2 };
enum { LABEL_SINGLE = 1, LABEL_REPEATED = 3, TYPE_MESSAGE = 11, TYPE_ENUM = 14 };
enum { WORD = 200 }; // [byte] longest field of a line, and longest name of a type

// [1] The number of a scalar type; 0: it is none.
static uint32_t scalar_type(const char *type) {
    static const char letters[] = "drsbyui";
    static const uint8_t numbers[] = {1, 2, 9, 8, 12, 7, 15};
    const char *found = strlen(type) == 1 ? strchr(letters, type[0]) : NULL;
    return found != NULL ? numbers[found - letters] : 0;
}

static void put_type(mf_Text *out, const char *package, const char *message, const char *type) {
    char name[2 * WORD];
    const uint32_t scalar = scalar_type(type);
    const size_t length = strcspn(type, "(");
    if (scalar != 0) {
        mf_proto_uint(out, FIELD_TYPE, scalar);
        return;
    }
    if (strcmp(type, "T") == 0 || strcmp(type, "D") == 0)
        snprintf(name, sizeof name, ".google.protobuf.%s",
                 type[0] == 'T' ? "Timestamp" : "Duration");
    else if (type[length] == '(')
        snprintf(name, sizeof name, ".%s.%s.%.*s", package, message, (int)length, type);
    else
        snprintf(name, sizeof name, ".%s.%s", package, type);
    mf_proto_uint(out, FIELD_TYPE, type[length] == '(' ? TYPE_ENUM : TYPE_MESSAGE);
    mf_proto_string(out, FIELD_TYPE_NAME, name);
}

static void put_enum(mf_Text *out, char *type) {
    char *values = strchr(type, '(');
    uint32_t number = 0;
    const size_t opened = mf_proto_open(out, MESSAGE_ENUM);
    *values++ = '\0';
    mf_proto_string(out, 1, type);
    for (char *rest = values, *name; (name = strsep(&rest, ",)")) != NULL;) {
        if (name[0] == '\0')
            continue;
        const size_t value = mf_proto_open(out, ENUM_VALUE);
        mf_proto_string(out, 1, name);
        mf_proto_uint(out, 2, number++);
        mf_proto_close(out, value);
    }
    mf_proto_close(out, opened);
}

// The part of a line that describes one field: "name=7:*Type".
typedef struct Part {
    char text[WORD];
    char *type;
    uint32_t number; // [1]
    bool repeated, optional;
} Part;

static void read_part(const char *from, size_t length, uint32_t number, Part *out) {
    *out = (Part){.number = number};
    snprintf(out->text, sizeof out->text, "%.*s", (int)length, from);
    out->type = strchr(out->text, ':');
    *out->type++ = '\0';
    char *own = strchr(out->text, '=');
    if (own != NULL) {
        *own++ = '\0';
        out->number = (uint32_t)strtoul(own, NULL, 10);
    }
    out->repeated = out->type[0] == '*';
    out->optional = out->type[0] == '?';
    out->type += out->repeated || out->optional;
}

static void put_field(mf_Text *out, const char *package, const char *message, const Part *part,
                      uint32_t choice) {
    const size_t opened = mf_proto_open(out, MESSAGE_FIELD);
    mf_proto_string(out, FIELD_NAME, part->text);
    mf_proto_uint(out, FIELD_NUMBER, part->number);
    mf_proto_uint(out, FIELD_LABEL, part->repeated ? LABEL_REPEATED : LABEL_SINGLE);
    put_type(out, package, message, part->type);
    if (part->optional) {
        mf_proto_uint(out, FIELD_ONEOF, choice);
        mf_proto_uint(out, FIELD_OPTIONAL, 1);
    }
    mf_proto_close(out, opened);
}

static void put_choice(mf_Text *out, const char *field) {
    char name[WORD + 1];
    const size_t opened = mf_proto_open(out, MESSAGE_ONEOF);
    snprintf(name, sizeof name, "_%s", field);
    mf_proto_string(out, 1, name);
    mf_proto_close(out, opened);
}

static void put_message(mf_Text *out, const char *package, const char *line) {
    char name[WORD];
    const size_t opened = mf_proto_open(out, FILE_MESSAGE);
    const size_t length = strcspn(line, " ");
    snprintf(name, sizeof name, "%.*s", (int)length, line);
    mf_proto_string(out, MESSAGE_NAME, name);
    uint32_t number = 1, choices = 0;
    for (const char *from = line + length; *from != '\0'; from += strcspn(from, " ")) {
        from += strspn(from, " ");
        Part part;
        read_part(from, strcspn(from, " "), number, &part);
        put_field(out, package, name, &part, choices);
        if (part.optional) {
            put_choice(out, part.text);
            choices++;
        }
        if (strchr(part.type, '(') != NULL)
            put_enum(out, part.type);
        number = part.number + 1;
    }
    mf_proto_close(out, opened);
}

static void put_moment(mf_Text *out, const char *file, const char *name) {
    const size_t opened = mf_proto_open(out, FILE_OF_SET);
    static const char *const fields[] = {"seconds", "nanos"};
    static const uint32_t types[] = {3, 5}; // int64, int32
    mf_proto_string(out, FILE_NAME, file);
    mf_proto_string(out, FILE_PACKAGE, "google.protobuf");
    const size_t message = mf_proto_open(out, FILE_MESSAGE);
    mf_proto_string(out, MESSAGE_NAME, name);
    for (uint32_t i = 0; i < 2; i++) {
        const size_t field = mf_proto_open(out, MESSAGE_FIELD);
        mf_proto_string(out, FIELD_NAME, fields[i]);
        mf_proto_uint(out, FIELD_NUMBER, i + 1);
        mf_proto_uint(out, FIELD_LABEL, LABEL_SINGLE);
        mf_proto_uint(out, FIELD_TYPE, types[i]);
        mf_proto_close(out, field);
    }
    mf_proto_close(out, message);
    mf_proto_string(out, FILE_SYNTAX, "proto3");
    mf_proto_close(out, opened);
}

void mf_proto_describe(mf_Text *out, const char *package, const char *const *lines) {
    static const char timestamp[] = "google/protobuf/timestamp.proto",
                      duration[] = "google/protobuf/duration.proto";
    char name[WORD];
    put_moment(out, timestamp, "Timestamp");
    put_moment(out, duration, "Duration");
    const size_t opened = mf_proto_open(out, FILE_OF_SET);
    snprintf(name, sizeof name, "%s.proto", package);
    mf_proto_string(out, FILE_NAME, name);
    mf_proto_string(out, FILE_PACKAGE, package);
    mf_proto_string(out, FILE_USES, timestamp);
    mf_proto_string(out, FILE_USES, duration);
    for (; *lines != NULL; lines++)
        put_message(out, package, *lines);
    mf_proto_string(out, FILE_SYNTAX, "proto3");
    mf_proto_close(out, opened);
}
