// A growing text. Capacity doubles, so appending costs amortised constant time; the terminator is
// always in place.
#include "base/text.h"

#include "base/plain.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

mf_Text mf_text_begin(mf_Context *context) {
    return (mf_Text){.context = context};
}

void mf_text_free(mf_Text *text) {
    mf_release(text->context, text->data);
    *text = (mf_Text){.context = text->context};
}

// Makes space for `extra` bytes and the terminator.
static bool reserve(mf_Text *text, size_t extra) {
    if (text->failed)
        return false;
    if (extra < text->capacity - text->size) // the terminator needs one byte more than `size`
        return true;
    size_t capacity = text->capacity == 0 ? 4096 : text->capacity;
    while (capacity <= SIZE_MAX / 4 && capacity <= text->size + extra)
        capacity *= 2;
    char *data = extra < SIZE_MAX / 4 ? mf_allocate(text->context, capacity, 1) : NULL;
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    if (text->size != 0)
        memcpy(data, text->data, text->size);
    mf_release(text->context, text->data);
    text->data = data;
    text->capacity = capacity;
    return true;
}

void mf_text_put_bytes(mf_Text *text, const char *bytes, size_t size) {
    if (!reserve(text, size))
        return;
    if (size > 0) // `bytes` of none may be NULL
        memcpy(text->data + text->size, bytes, size);
    text->size += size;
    text->data[text->size] = '\0';
}

void mf_text_put(mf_Text *text, const char *string) {
    mf_text_put_bytes(text, string, strlen(string));
}

void mf_text_format_list(mf_Text *text, const char *format, va_list arguments) {
    if (!reserve(text, 256))
        return;
    va_list again;
    va_copy(again, arguments);
    int length = mf_plain_format_list(text->data + text->size, text->capacity - text->size, format,
                                      arguments);
    if (length < 0) {
        text->failed = true;
    } else if ((size_t)length < text->capacity - text->size) {
        text->size += (size_t)length;
    } else if (reserve(text, (size_t)length)) {
        mf_plain_format_list(text->data + text->size, text->capacity - text->size, format, again);
        text->size += (size_t)length;
    }
    va_end(again);
}

void mf_text_format(mf_Text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    mf_text_format_list(text, format, arguments);
    va_end(arguments);
}

// Length of the UTF-8 sequence at `bytes`, or 0 when XML does not allow it. Each byte is checked
// before the next one is read, so nothing after the terminator is read.
static size_t utf8_length(const unsigned char *bytes) {
    unsigned char lead = bytes[0];
    if (lead < 0x80)
        return lead >= 0x20 || lead == '\n' || lead == '\t' ? 1 : 0;
    size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                    : lead >= 0xe0 && lead < 0xf0 ? 3
                    : lead >= 0xf0 && lead < 0xf5 ? 4
                                                  : 0;
    for (size_t i = 1; i < length; i++) {
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    }
    bool overlong = (lead == 0xe0 && bytes[1] < 0xa0) || (lead == 0xf0 && bytes[1] < 0x90);
    bool surrogate = lead == 0xed && bytes[1] >= 0xa0;
    bool beyond = lead == 0xf4 && bytes[1] >= 0x90;
    bool not_character = lead == 0xef && bytes[1] == 0xbf && bytes[2] >= 0xbe;
    return length == 0 || overlong || surrogate || beyond || not_character ? 0 : length;
}

static const char *reference_of(char character) {
    static const char characters[] = "&<>\"'";
    static const char *const references[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    const char *found = strchr(characters, character);
    return found == NULL ? NULL : references[found - characters];
}

void mf_text_escape(mf_Text *text, const char *string) {
    if (string == NULL)
        return;
    while (*string != '\0') {
        const char *reference = reference_of(*string);
        size_t length = utf8_length((const unsigned char *)string);
        if (reference != NULL)
            mf_text_put(text, reference);
        else if (length != 0)
            mf_text_put_bytes(text, string, length);
        else
            mf_text_put(text, "\xef\xbf\xbd");
        string += length == 0 ? 1 : length;
    }
}

// ---- numbers -----------------------------------------------------------------------------------

static MF_PRINTF(1, 2) mf_TextNumber number(const char *format, ...) {
    mf_TextNumber out;
    va_list arguments;
    va_start(arguments, format);
    mf_plain_format_list(out.text, sizeof out.text, format, arguments);
    va_end(arguments);
    return out;
}

mf_TextNumber mf_text_count(uint64_t value) {
    char digits[24];
    mf_TextNumber out;
    size_t size = 0;
    const int length = snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.text[size++] = ',';
        out.text[size++] = digits[i];
    }
    out.text[size] = '\0';
    return out;
}

mf_TextNumber mf_text_measure(double value) {
    double size = fabs(value);
    if (!isfinite(value))
        return number("%s", isnan(value) ? "not a number" : value > 0 ? "infinite" : "-infinite");
    if (size >= 1e15)
        return number("%.2e", value);
    if (size < 999.5)
        return number("%.3g", value);
    // Three significant digits.
    uint64_t unit = 1;
    while (size >= 1000.0 * (double)unit)
        unit *= 10;
    return number("%s%s", value < 0 ? "-" : "",
                  mf_text_count((uint64_t)(size / (double)unit + 0.5) * unit).text);
}

mf_TextNumber mf_text_duration(double seconds) {
    if (!isfinite(seconds) || seconds < 0.0)
        return number("unknown");
    if (seconds < 99.95)
        return number("%.3g s", seconds);
    const int whole = seconds < 3599.5 ? (int)(seconds + 0.5) : 0;
    if (whole > 0 && whole % 60 == 0)
        return number("%d min", whole / 60);
    if (whole > 0)
        return number("%d min %d s", whole / 60, whole % 60);
    if (seconds < 48.0 * 3600.0)
        return number("%.1f h", seconds / 3600.0);
    if (seconds < 3.0 * 365.25 * 86400.0)
        return number("%.1f days", seconds / 86400.0);
    return number("%.1f years", seconds / (365.25 * 86400.0));
}

mf_Status mf_text_end(mf_Text *text, mf_Status status, const char *what, char **out,
                      mf_Error *error) {
    if (status == MF_OK && text->failed)
        status = mf_fail(error, MF_NO_MEMORY, "%s: out of memory", what);
    *out = status == MF_OK ? text->data : NULL;
    if (status != MF_OK)
        mf_text_free(text);
    return status;
}

mf_Status mf_text_save(mf_Text *text, const char *path, const char *what, mf_Error *error) {
    mf_Status status = text->failed
                           ? mf_fail(error, MF_NO_MEMORY, "%s: out of memory", what)
                           : mf_file_replace(text->context, path, text->data, text->size, error);
    mf_text_free(text);
    return status;
}

void mf_text_base64(mf_Text *text, const uint8_t *bytes, size_t size) {
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t word = (uint32_t)bytes[i] << 16;
        word |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0u;
        word |= left > 2 ? (uint32_t)bytes[i + 2] : 0u;
        char group[4] = {alphabet[word >> 18], alphabet[(word >> 12) & 63],
                         left > 1 ? alphabet[(word >> 6) & 63] : '=',
                         left > 2 ? alphabet[word & 63] : '='};
        mf_text_put_bytes(text, group, sizeof group);
    }
}

bool mf_name_listed(const char *const *names, const char *name) {
    for (; names != NULL && *names != NULL; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

bool mf_name_in_text(const char *text, const char *name) {
    const size_t size = strlen(name);
    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        const size_t own = strcspn(text, " ");
        if (own == size && memcmp(text, name, size) == 0)
            return true;
        text += own;
    }
    return false;
}
