// Numbers as text.
#include "io/decimal.h"

#include "base/plain.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// [+-] digits [. digits] [e [+-] digits] with a digit next to the point: YAML's core schema without
// octal, hexadecimal, underscores and base 60.
static bool is_decimal(const char *text) {
    const char *start = text + (*text == '-' || *text == '+');
    const char *end = mf_skip_digits(start);
    size_t digits = (size_t)(end - start);
    if (*end == '.') {
        start = end + 1;
        end = mf_skip_digits(start);
        digits += (size_t)(end - start);
    }
    if (digits == 0)
        return false;
    if (*end == 'e' || *end == 'E') {
        start = end + 1;
        start += *start == '-' || *start == '+';
        end = mf_skip_digits(start);
        if (end == start)
            return false;
    }
    return *end == '\0';
}

bool mf_decimal_parse(const char *text, double *out) {
    const char *unsigned_text = text + (*text == '-' || *text == '+');
    if (strcmp(unsigned_text, ".inf") == 0) {
        *out = *text == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (!is_decimal(text))
        return false;
    double value = mf_plain_number(text, NULL);
    if (!isfinite(value))
        return false;
    *out = value;
    return true;
}

bool mf_decimal_parse_whole(const char *text, uint64_t *out) {
    if (*text == '\0' || *mf_skip_digits(text) != '\0')
        return false;
    uint64_t value = 0;
    for (; *text != '\0'; text++) {
        uint64_t digit = (uint64_t)(*text - '0');
        if (value > (UINT64_MAX - digit) / 10)
            return false;
        value = value * 10 + digit;
    }
    *out = value;
    return true;
}

const char *mf_decimal_write(double value, char out[MF_DECIMAL_TEXT]) {
    if (isinf(value))
        return strcpy(out, value > 0 ? ".inf" : "-.inf");
    char text[MF_DECIMAL_TEXT];
    for (int digits = 15; digits <= 17; digits++) {
        mf_plain_format(text, sizeof text, "%.*g", digits, value);
        if (mf_plain_number(text, NULL) == value)
            break;
    }
    return strcpy(out, text);
}

const char *mf_decimal_write_time(mf_Time time, char out[MF_DECIMAL_TEXT]) {
    char text[MF_DECIMAL_TEXT];
    int length =
        snprintf(text, sizeof text, "%" PRId64 ".%09" PRId64, time / MF_SECOND, time % MF_SECOND);
    while (text[length - 1] == '0')
        length--;
    if (text[length - 1] == '.')
        length--;
    text[length] = '\0';
    return strcpy(out, text);
}
