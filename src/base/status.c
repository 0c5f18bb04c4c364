// Status values and the one error record. A failure is described once, where it is detected, as one
// printable line of UTF-8: control characters and broken UTF-8 (a binary file quoted in a message,
// a newline in a path) become '?', and a message that is too long ends in "...".
#include "base/plain.h"
#include "base/floats.h"

#include <mayfly/base.h>

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *mf_status_name(mf_Status status) {
    static const char *const names[] = {[MF_OK] = "ok",
                                        [MF_BAD_ARGUMENT] = "bad argument",
                                        [MF_BAD_FILE] = "bad file",
                                        [MF_NO_MEMORY] = "no memory",
                                        [MF_IO] = "input/output error",
                                        [MF_UNSUPPORTED] = "unsupported",
                                        [MF_NOT_FOUND] = "not found",
                                        [MF_BUSY] = "busy",
                                        [MF_CORRUPT] = "corrupt",
                                        [MF_VERSION] = "wrong version",
                                        [MF_STOPPED] = "stopped",
                                        [MF_LIMIT] = "limit exceeded"};
    return (unsigned)status <= MF_LIMIT ? names[status] : "unknown status";
}

const char *mf_version(void) {
    return MAYFLY_VERSION_STRING;
}

// Length of the UTF-8 character at `text`: 1 .. 4, or 0 when it is none (Unicode 15, table 3-7).
static size_t character_length(const unsigned char *text) {
    if (text[0] < 0x80)
        return 1;
    if (text[0] < 0xc2 || text[0] > 0xf4)
        return 0;
    size_t length = text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    for (size_t i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (text[0] == 0xe0 && text[1] < 0xa0) || (text[0] == 0xf0 && text[1] < 0x90);
    bool surrogate = text[0] == 0xed && text[1] >= 0xa0;
    bool beyond = text[0] == 0xf4 && text[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

// Replaces bytes that a terminal, a log or JSON cannot represent.
static void clean(char *text) {
    unsigned char *at = (unsigned char *)text;
    while (*at != '\0') {
        size_t length = character_length(at);
        if (length == 0 || *at < 0x20 || *at == 0x7f)
            *at = '?';
        at += length == 0 ? 1 : length;
    }
}

// Ends a text that was cut at `size` - 1 bytes in "...", without leaving half a UTF-8 character.
static void mark_cut(char *text, size_t size) {
    size_t end = size - 4;
    while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
        end--;
    memcpy(text + end, "...", 4);
}

// A path that is too long loses its beginning: the end says more.
static void set_file(mf_Error *error, const char *file) {
    size_t length = strlen(file), capacity = sizeof error->file - 1;
    if (length <= capacity) {
        memcpy(error->file, file, length + 1);
    } else {
        const char *tail = file + length - (capacity - 3);
        while (((unsigned char)*tail & 0xc0) == 0x80)
            tail++;
        snprintf(error->file, sizeof error->file, "...%s", tail);
    }
    clean(error->file);
}

static mf_Status fail(mf_Error *error, mf_Status status, const char *file, int32_t line,
                      int32_t column, const char *format, va_list arguments) MF_PRINTF(6, 0);

static mf_Status fail(mf_Error *error, mf_Status status, const char *file, int32_t line,
                      int32_t column, const char *format, va_list arguments) {
    assert(status != MF_OK);
    if (error == NULL)
        return status;
    // Built next to `error`, because the arguments may point into it: a caller adds to a message.
    mf_Error made = {.status = status, .line = line, .column = column};
    int length = mf_plain_format_list(made.message, sizeof made.message, format, arguments);
    if (length < 0)
        snprintf(made.message, sizeof made.message, "%s", mf_status_name(status));
    else if ((size_t)length >= sizeof made.message)
        mark_cut(made.message, sizeof made.message);
    clean(made.message);
    if (file != NULL)
        set_file(&made, file);
    *error = made;
    return status;
}

mf_Status mf_fail(mf_Error *error, mf_Status status, const char *format, ...) {
    MF_DEFAULT_FLOATS;
    va_list arguments;
    va_start(arguments, format);
    fail(error, status, NULL, 0, 0, format, arguments);
    va_end(arguments);
    return status;
}

mf_Status mf_fail_at(mf_Error *error, mf_Status status, const char *file, int32_t line,
                     int32_t column, const char *format, ...) {
    MF_DEFAULT_FLOATS;
    va_list arguments;
    va_start(arguments, format);
    fail(error, status, file, line, column, format, arguments);
    va_end(arguments);
    return status;
}

const char *mf_error_format(const mf_Error *error, char *out, size_t out_size) {
    MF_DEFAULT_FLOATS;
    if (out_size == 0)
        return out;
    out[0] = '\0';
    if (error == NULL)
        return out;
    char line[16] = "", column[16] = "";
    if (error->line > 0) {
        snprintf(line, sizeof line, "%d:", error->line);
        if (error->column > 0)
            snprintf(column, sizeof column, "%d:", error->column);
    }
    const char *colon = error->file[0] != '\0' ? ":" : "";
    const char *space = *colon || *line ? " " : "";
    snprintf(out, out_size, "%s%s%s%s%s%s", error->file, colon, line, column, space,
             error->message);
    return out;
}
