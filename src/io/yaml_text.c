// Checks of the bytes of a YAML file before parsing: clean UTF-8 without control characters, byte
// order mark and tabs in the indentation. libyaml reports these errors by byte offset or as a
// syntax error elsewhere; checking first gives a clear message with the exact position.
#include "io/yaml_text.h"

#include <string.h>

// Length of the well-formed UTF-8 sequence at `bytes` (Unicode 15, table 3-7), 0 when there is
// none.
static size_t sequence_length(const unsigned char *bytes, size_t left) {
    unsigned char lead = bytes[0];
    if (lead < 0x80)
        return 1;
    size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || left < length)
        return 0;
    unsigned char low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    unsigned char high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (bytes[1] < low || bytes[1] > high)
        return 0;
    for (size_t i = 2; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    return length;
}

// The characters of YAML 1.1, section 5.1, except control characters, U+FEFF, U+FFFE and U+FFFF.
static bool is_printable(const unsigned char *bytes, size_t length) {
    if (length == 1)
        return bytes[0] == '\t' || bytes[0] == '\n' || bytes[0] == '\r' ||
               (bytes[0] >= 0x20 && bytes[0] < 0x7f);
    if (length == 2)
        return bytes[0] != 0xc2 || bytes[1] >= 0xa0 || bytes[1] == 0x85;
    if (length == 3 && bytes[0] == 0xef)
        return memcmp(bytes, "\xef\xbb\xbf", 3) != 0 && memcmp(bytes, "\xef\xbf\xbe", 3) != 0 &&
               memcmp(bytes, "\xef\xbf\xbf", 3) != 0;
    return true;
}

bool mf_yaml_is_text(const char *text, size_t size) {
    const unsigned char *bytes = (const unsigned char *)text;
    for (size_t i = 0, length; i < size; i += length) {
        length = sequence_length(bytes + i, size - i);
        if (length == 0 || !is_printable(bytes + i, length))
            return false;
    }
    return true;
}

static mf_Status check_start(const char *file, const unsigned char *bytes, size_t size,
                             mf_Error *error) {
    if (size >= 2 && (memcmp(bytes, "\xff\xfe", 2) == 0 || memcmp(bytes, "\xfe\xff", 2) == 0))
        return mf_fail_at(error, MF_BAD_FILE, file, 1, 1,
                          "expected UTF-8, found UTF-16: save the file as UTF-8");
    return MF_OK;
}

mf_Status mf_yaml_check_text(const char *file, const char *text, size_t size, mf_Error *error) {
    const unsigned char *bytes = (const unsigned char *)text;
    MF_TRY(check_start(file, bytes, size, error));
    int32_t line = 1, column = 1;
    bool indentation = true;
    // A byte order mark is not part of the text.
    const size_t first = size >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (size_t i = first; i < size;) {
        size_t length = sequence_length(bytes + i, size - i);
        if (length == 0)
            return mf_fail_at(error, MF_BAD_FILE, file, line, column,
                              "expected UTF-8 text, found the byte 0x%02x", bytes[i]);
        if (!is_printable(bytes + i, length))
            return mf_fail_at(error, MF_BAD_FILE, file, line, column,
                              "expected text, found a control character (byte 0x%02x)", bytes[i]);
        if (indentation && bytes[i] == '\t')
            return mf_fail_at(error, MF_BAD_FILE, file, line, column,
                              "expected spaces in front of the line, found a tab");
        bool lone_return = bytes[i] == '\r' && (i + 1 == size || bytes[i + 1] != '\n');
        bool ends_line = bytes[i] == '\n' || lone_return;
        indentation = ends_line || (indentation && bytes[i] == ' ');
        line += ends_line;
        column = ends_line ? 1 : column + 1;
        i += length;
    }
    return MF_OK;
}

bool mf_yaml_has_top_key(const char *text, size_t size, const char *key) {
    size_t length = strlen(key);
    const size_t first = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    for (size_t start = first; start < size;) {
        const char *end = memchr(text + start, '\n', size - start);
        size_t left = size - start;
        if (left > length && memcmp(text + start, key, length) == 0 && text[start + length] == ':')
            return true;
        start = end == NULL ? size : (size_t)(end - text) + 1;
    }
    return false;
}
