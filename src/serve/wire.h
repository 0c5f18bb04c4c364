// Numbers in messages: little-endian, at any address. Readers keep a position and an end; a read
// beyond the end gives 0 and marks the reader as short, so that a message is checked once.
#ifndef MAYFLY_SERVE_WIRE_H
#define MAYFLY_SERVE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the protocol is little-endian, and so is every machine that Mayfly supports"
#endif

typedef struct mf_WireReader {
    const uint8_t *at, *end;
    bool is_short; // something was read beyond the end
} mf_WireReader;

// `size` bytes, or NULL beyond the end.
static inline const uint8_t *mf_wire_take(mf_WireReader *reader, size_t size) {
    const uint8_t *at = reader->at;
    if (reader->is_short || (size_t)(reader->end - at) < size) {
        reader->is_short = true;
        return NULL;
    }
    reader->at += size;
    return at;
}

static inline uint32_t mf_wire_u32(mf_WireReader *reader) {
    uint32_t value = 0;
    const uint8_t *at = mf_wire_take(reader, sizeof value);
    if (at != NULL)
        memcpy(&value, at, sizeof value);
    return value;
}

static inline uint64_t mf_wire_u64(mf_WireReader *reader) {
    uint64_t value = 0;
    const uint8_t *at = mf_wire_take(reader, sizeof value);
    if (at != NULL)
        memcpy(&value, at, sizeof value);
    return value;
}

static inline double mf_wire_f64(mf_WireReader *reader) {
    double value = 0.0;
    const uint8_t *at = mf_wire_take(reader, sizeof value);
    if (at != NULL)
        memcpy(&value, at, sizeof value);
    return value;
}

// The whole message was read, and nothing is left.
static inline bool mf_wire_done(const mf_WireReader *reader) {
    return !reader->is_short && reader->at == reader->end;
}

static inline uint8_t *mf_wire_put_u32(uint8_t *out, uint32_t value) {
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

static inline uint8_t *mf_wire_put_u64(uint8_t *out, uint64_t value) {
    memcpy(out, &value, sizeof value);
    return out + sizeof value;
}

// Bytes with the padding that follows them.
static inline size_t mf_wire_padded(size_t size, size_t unit) {
    return (size + unit - 1) / unit * unit;
}

#endif
