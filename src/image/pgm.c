// PGM images, ASCII (P2) and binary (P5), from memory.
//
// Source: the format's manual page, Netpbm "pgm(5)": magic, width, height and largest gray value as
// decimal numbers separated by white space, '#' to the end of the line is a comment; then, for P5,
// exactly one white-space byte and the raster, one byte a sample or, above 255, two with the high
// byte first. Two rules are ours: comments are also taken inside a P2 raster, because common
// editors write them there, and nothing but white space may follow the first image, because a
// longer raster usually means a damaged header.
//
// Invariant: nothing is read at or after `size`; the size of the file is checked against the header
// before memory is taken.

#include "image/image.h"

#include <inttypes.h>
#include <stdio.h>

#define LARGEST_GRAY 65535u

typedef struct Cursor {
    const uint8_t *data;
    size_t size;    // [byte]
    size_t offset;  // [byte] next byte to read
    int32_t line;   // [1] 1-based line of the next byte
    size_t line_at; // [byte] offset where that line starts
    const char *name;
    mf_Error *error;
} Cursor;

static bool is_space(uint8_t byte) {
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

// Steps over one byte; a comment counts as the line end that closes it.
static void skip_byte(Cursor *cursor) {
    if (cursor->data[cursor->offset] == '#')
        while (cursor->offset + 1 < cursor->size && cursor->data[cursor->offset] != '\n')
            cursor->offset++;
    if (cursor->data[cursor->offset++] == '\n') {
        cursor->line++;
        cursor->line_at = cursor->offset;
    }
}

static void skip_blank(Cursor *cursor) {
    while (cursor->offset < cursor->size &&
           (is_space(cursor->data[cursor->offset]) || cursor->data[cursor->offset] == '#'))
        skip_byte(cursor);
}

static int32_t column_of(const Cursor *cursor) {
    size_t column = cursor->offset - cursor->line_at + 1;
    return column > INT32_MAX ? 0 : (int32_t)column;
}

static mf_Status expected_number(const Cursor *cursor, const char *what, uint32_t lowest,
                                 uint32_t highest, const char *found) {
    return mf_fail_at(cursor->error, MF_BAD_FILE, cursor->name, cursor->line, column_of(cursor),
                      "PGM: expected %s, a number in %" PRIu32 " .. %" PRIu32 ", found %s", what,
                      lowest, highest, found);
}

// Reads the next decimal number and checks its range; the cursor then stands behind its last digit.
static mf_Status read_number(Cursor *cursor, const char *what, uint32_t lowest, uint32_t highest,
                             uint32_t *value) {
    skip_blank(cursor);
    if (cursor->offset == cursor->size)
        return expected_number(cursor, what, lowest, highest, "the end of the file");
    if (!is_digit(cursor->data[cursor->offset])) {
        char found[16];
        snprintf(found, sizeof found, "byte 0x%02x", cursor->data[cursor->offset]);
        return expected_number(cursor, what, lowest, highest, found);
    }
    uint64_t number = 0;
    size_t end = cursor->offset;
    for (; end < cursor->size && is_digit(cursor->data[end]); end++)
        number = number > UINT32_MAX ? number : number * 10 + (cursor->data[end] - '0');
    if (number < lowest || number > highest) {
        char found[24] = "a larger one";
        if (number <= UINT32_MAX)
            snprintf(found, sizeof found, "%" PRIu64, number);
        return expected_number(cursor, what, lowest, highest, found);
    }
    cursor->offset = end;
    *value = (uint32_t)number;
    return MF_OK;
}

static mf_Status read_header(Cursor *cursor, mf_Image *image) {
    cursor->offset = 2;
    if (cursor->size > 2 && !is_space(cursor->data[2]) && cursor->data[2] != '#')
        return mf_fail_at(cursor->error, MF_BAD_FILE, cursor->name, 1, 3,
                          "PGM: expected white space after the magic number");
    // Sizes of 0 and above the limit are left to mf_image_check, which has a better message.
    MF_TRY(read_number(cursor, "the width", 0, INT32_MAX, &image->width));
    MF_TRY(read_number(cursor, "the height", 0, INT32_MAX, &image->height));
    return read_number(cursor, "the largest gray value", 1, LARGEST_GRAY, &image->white);
}

static mf_Status too_short(const Cursor *cursor, const char *least, uint64_t needed) {
    return mf_fail_at(cursor->error, MF_BAD_FILE, cursor->name, 0, 0,
                      "PGM: expected %s%" PRIu64 " bytes of raster from byte %zu, found %zu "
                      "(truncated?)",
                      least, needed, cursor->offset, cursor->size - cursor->offset);
}

static mf_Status read_ascii(Cursor *cursor, const mf_Image *image) {
    uint16_t *gray = image->pixels;
    uint64_t cells = (uint64_t)image->width * image->height;
    for (uint64_t cell = 0; cell < cells; cell++) {
        uint32_t value;
        MF_TRY(read_number(cursor, "a gray value", 0, image->white, &value));
        gray[cell] = (uint16_t)value;
    }
    return MF_OK;
}

static mf_Status read_binary(Cursor *cursor, const mf_Image *image) {
    uint16_t *gray = image->pixels;
    uint64_t cells = (uint64_t)image->width * image->height;
    const bool wide = image->white > 255;
    const uint8_t *raster = cursor->data + cursor->offset;
    for (uint64_t cell = 0; cell < cells; cell++) {
        uint32_t value =
            wide ? (uint32_t)raster[2 * cell] << 8 | raster[2 * cell + 1] : raster[cell];
        if (value > image->white)
            return mf_fail_at(cursor->error, MF_BAD_FILE, cursor->name, 0, 0,
                              "PGM: expected gray values up to %" PRIu32 ", found %" PRIu32
                              " at byte %zu",
                              image->white, value, cursor->offset + (size_t)cell * (wide ? 2 : 1));
        gray[cell] = (uint16_t)value;
    }
    cursor->offset += (size_t)cells * (wide ? 2 : 1);
    return MF_OK;
}

// The least number of raster bytes: in ASCII a digit for each sample and a blank between two.
static uint64_t least_raster(const mf_Image *image, bool binary) {
    uint64_t cells = (uint64_t)image->width * image->height;
    if (!binary)
        return 2 * cells - 1;
    return cells * (image->white > 255 ? 2 : 1);
}

static mf_Status expect_end(Cursor *cursor, bool binary) {
    while (cursor->offset < cursor->size && (is_space(cursor->data[cursor->offset]) ||
                                             (!binary && cursor->data[cursor->offset] == '#')))
        skip_byte(cursor);
    if (cursor->offset == cursor->size)
        return MF_OK;
    return mf_fail_at(cursor->error, MF_BAD_FILE, cursor->name, 0, 0,
                      "PGM: expected the end of the file after the raster, found %zu more bytes "
                      "from byte %zu",
                      cursor->size - cursor->offset, cursor->offset);
}

mf_Status mf_pgm_parse(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_Image *image, mf_Error *error) {
    Cursor cursor = {.data = data, .size = size, .line = 1, .name = name, .error = error};
    const bool binary = cursor.data[1] == '5';
    mf_Image read = {.channels = 1, .bits = 16};
    MF_TRY(read_header(&cursor, &read));
    MF_TRY(mf_image_check(&read, name, error));
    if (cursor.offset < size && !is_space(cursor.data[cursor.offset]) &&
        cursor.data[cursor.offset] != '#')
        return mf_fail_at(error, MF_BAD_FILE, name, cursor.line, column_of(&cursor),
                          "PGM: expected white space after the largest gray value");
    if (cursor.offset < size)
        skip_byte(&cursor);
    uint64_t least = least_raster(&read, binary);
    if (size - cursor.offset < least)
        return too_short(&cursor, binary ? "" : "at least ", least);
    MF_TRY(mf_image_allocate(context, &read, name, error));
    mf_Status status = binary ? read_binary(&cursor, &read) : read_ascii(&cursor, &read);
    MF_THEN(status, expect_end(&cursor, binary));
    if (status != MF_OK)
        mf_release(context, read.pixels);
    else
        *image = read;
    return status;
}
