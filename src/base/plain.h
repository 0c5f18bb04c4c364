// Formatting and parsing of numbers that ignore the locale of the host program: the decimal point
// is always a point. printf and strtod depend on it (after setlocale).
#pragma once

#include <mayfly/base.h>

#include <stdarg.h>

// As vsnprintf and snprintf.
int mf_plain_format_list(char *out, size_t size, const char *format, va_list arguments)
    MF_PRINTF(3, 0);
int mf_plain_format(char *out, size_t size, const char *format, ...) MF_PRINTF(3, 4);

// As strtod.
double mf_plain_number(const char *text, char **end);

// A number of some settings, and its range, in which NaN is not.
typedef struct mf_Range {
    const char *name, *unit; // "": none
    double value, low, high;
} mf_Range;

// MF_BAD_ARGUMENT, "<what>.<name>: 3 m, need 0 .. 2", by the first that is out of its range.
mf_Status mf_ranges_check(const char *what, const mf_Range *ranges, size_t count, mf_Error *error);

// The first character that is no digit.
static inline const char *mf_skip_digits(const char *text) {
    while (*text >= '0' && *text <= '9')
        text++;
    return text;
}
