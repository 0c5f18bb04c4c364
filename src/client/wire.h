// Messages as server and client have them in C, from the table in <mayfly/protocol.h>: a struct for
// the head of each, which lies in a message as it is, and rows by which a message is checked once.
// Numbers are little-endian, at any address.
#pragma once

#include <mayfly/protocol.h>

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the protocol is little-endian, and so is every machine that Mayfly supports"
#endif

#define MF_WIRE __attribute__((packed, may_alias)) // at any address, over any bytes

typedef uint8_t mf_wire_u8;
typedef uint16_t mf_wire_u16;
typedef uint32_t mf_wire_u32;
typedef uint64_t mf_wire_u64;
typedef int64_t mf_wire_i64;
typedef double mf_wire_f64;

// mf_HelloRequest, mf_WelcomeAnswer, mf_FieldPart and so on.
#define MF_WIRE_MEMBER(type, name, ...) mf_wire_##type name;
#define MF_WIRE_REQUEST(kind, NAME, Name, name, ANSWER, members, ...)                              \
    typedef struct MF_WIRE mf_##Name##Request {                                                    \
        members                                                                                    \
    } mf_##Name##Request;
#define MF_WIRE_ANSWER(kind, NAME, Name, members, ...)                                             \
    typedef struct MF_WIRE mf_##Name##Answer {                                                     \
        members                                                                                    \
    } mf_##Name##Answer;
#define MF_WIRE_PART(NAME, Name, members)                                                          \
    typedef struct MF_WIRE mf_##Name##Part {                                                       \
        members                                                                                    \
    } mf_##Name##Part;
MF_PROTOCOL_REQUESTS(MF_WIRE_REQUEST, MF_WIRE_MEMBER, 0)
MF_PROTOCOL_ANSWERS(MF_WIRE_ANSWER, MF_WIRE_MEMBER, 0)
MF_PROTOCOL_PARTS(MF_WIRE_PART, MF_WIRE_MEMBER, 0)

typedef struct MF_WIRE mf_WireHead {
    uint32_t size; // [byte] of what follows
    uint16_t kind, tag;
} mf_WireHead;

typedef struct mf_WireMessage {
    uint32_t kind, tag;
    const void *data; // its head, then what follows
    size_t size;      // [byte]
} mf_WireMessage;

typedef struct mf_WireMember {
    const char *name; // NULL: behind the last one
    size_t size;      // [byte]
    uint64_t most;    // [1] of unsigned integers
} mf_WireMember;

typedef struct mf_WireRow {
    const char *name; // NULL: there is no message of that kind
    uint32_t answer;  // [1] kind; 0: of an answer
    uint32_t head;    // [byte]
    bool has_tail;    // something may follow the head
    const mf_WireMember *members;
} mf_WireRow;

extern const mf_WireRow mf_wire_rows[MF_ANSWER_KINDS]; // by kind

// Whether there is a message of that kind and size.
static inline bool mf_wire_fits(const mf_WireMessage *message) {
    const mf_WireRow *row = &mf_wire_rows[message->kind < MF_ANSWER_KINDS ? message->kind : 0];
    return row->name != NULL &&
           (row->has_tail ? message->size >= row->head : message->size == row->head);
}

// What follows the head of a message that fits, read from the front.
typedef struct mf_WireReader {
    const uint8_t *at, *end;
    bool is_short; // something was read beyond the end
} mf_WireReader;

static inline mf_WireReader mf_wire_tail(const mf_WireMessage *message) {
    const uint8_t *data = message->data;
    return (mf_WireReader){data + mf_wire_rows[message->kind].head, data + message->size, false};
}

// [byte]
static inline size_t mf_wire_left(const mf_WireReader *reader) {
    return (size_t)(reader->end - reader->at);
}

// `size` bytes, or NULL beyond the end, and from then on.
static inline const void *mf_wire_take(mf_WireReader *reader, size_t size) {
    const uint8_t *at = reader->at;
    if (reader->is_short || mf_wire_left(reader) < size) {
        reader->is_short = true;
        return NULL;
    }
    reader->at += size;
    return at;
}

// All of it was read, and nothing is left.
static inline bool mf_wire_done(const mf_WireReader *reader) {
    return !reader->is_short && reader->at == reader->end;
}

// Bytes with the padding that follows them.
static inline size_t mf_wire_padded(size_t size, size_t unit) {
    return (size + unit - 1) / unit * unit;
}
