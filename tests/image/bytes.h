// A PNG writer independent of libpng: W3C Portable Network Graphics, 3rd edition; zlib stream of
// stored blocks (RFC 1950, RFC 1951 section 3.2.4).
#pragma once

#include "rig/rig.h"
#include "base/hash.h"

typedef struct Bytes {
    uint8_t data[1 << 16];
    size_t size; // [byte]
} Bytes;

static inline void put(Bytes *bytes, const void *data, size_t size) {
    assert_true(bytes->size + size <= sizeof bytes->data);
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

static inline void put_word(Bytes *bytes, uint32_t word) {
    uint8_t raw[4] = {(uint8_t)(word >> 24), (uint8_t)(word >> 16), (uint8_t)(word >> 8),
                      (uint8_t)word};
    put(bytes, raw, 4);
}

static inline void put_chunk(Bytes *bytes, const char *type, const void *data, size_t size) {
    put_word(bytes, (uint32_t)size);
    size_t start = bytes->size;
    put(bytes, type, 4);
    put(bytes, data, size);
    put_word(bytes, mf_crc32(0, bytes->data + start, bytes->size - start));
}

static inline void put_image_data(Bytes *bytes, const uint8_t *raw, size_t size) {
    static Bytes stream;
    stream.size = 0;
    const uint8_t head[7] = {0x78,
                             0x01,
                             0x01,
                             (uint8_t)size,
                             (uint8_t)(size >> 8),
                             (uint8_t)~size,
                             (uint8_t)(~size >> 8)};
    put(&stream, head, sizeof head);
    put(&stream, raw, size);
    uint32_t low = 1, high = 0; // Adler-32
    for (size_t i = 0; i < size; i++) {
        low = (low + raw[i]) % 65521;
        high = (high + low) % 65521;
    }
    put_word(&stream, high << 16 | low);
    put_chunk(bytes, "IDAT", stream.data, stream.size);
}

enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGB_ALPHA = 6 }; // color types of IHDR

typedef struct PngShape {
    uint32_t columns, rows;          // [1]
    uint8_t depth, color, interlace; // as in IHDR
} PngShape;

static inline void put_png_head(Bytes *bytes, PngShape shape) {
    bytes->size = 0;
    put(bytes, "\x89PNG\r\n\x1a\n", 8);
    static Bytes head;
    head.size = 0;
    put_word(&head, shape.columns);
    put_word(&head, shape.rows);
    const uint8_t rest[5] = {shape.depth, shape.color, 0, 0, shape.interlace};
    put(&head, rest, sizeof rest);
    put_chunk(bytes, "IHDR", head.data, head.size);
}

// A whole image of rows that already start with their filter byte.
static inline void put_png(Bytes *bytes, PngShape shape, const uint8_t *raw, size_t size) {
    put_png_head(bytes, shape);
    put_image_data(bytes, raw, size);
    put_chunk(bytes, "IEND", NULL, 0);
}
