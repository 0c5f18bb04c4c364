// Numbers as text under the "C" locale, whatever setlocale has chosen for the process.
//
// The C library's conversions round correctly, so they are kept; the locale of the calling thread
// is changed during one call, which other threads do not see. The locale object "C" is static in
// glibc and musl, so newlocale allocates nothing. If it is not available, the call uses the locale
// of the process.
#define _GNU_SOURCE // newlocale and uselocale
#include "base/plain.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct Plain {
    locale_t made, before;
} Plain;

static Plain begin(void) {
    locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return (Plain){made, made == (locale_t)0 ? (locale_t)0 : uselocale(made)};
}

static void end(Plain plain) {
    if (plain.made == (locale_t)0)
        return;
    uselocale(plain.before);
    freelocale(plain.made);
}

int mf_plain_format_list(char *out, size_t size, const char *format, va_list arguments) {
    Plain plain = begin();
    int length = vsnprintf(out, size, format, arguments);
    end(plain);
    return length;
}

int mf_plain_format(char *out, size_t size, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = mf_plain_format_list(out, size, format, arguments);
    va_end(arguments);
    return length;
}

double mf_plain_number(const char *text, char **stop) {
    Plain plain = begin();
    double value = strtod(text, stop);
    end(plain);
    return value;
}

mf_Status mf_ranges_check(const char *what, const mf_Range *ranges, size_t count, mf_Error *error) {
    for (size_t i = 0; i < count; i++)
        if (!(ranges[i].value >= ranges[i].low && ranges[i].value <= ranges[i].high))
            return mf_fail(error, MF_BAD_ARGUMENT, "%s.%s: %g%s%s, need %g .. %g", what,
                           ranges[i].name, ranges[i].value, ranges[i].unit[0] != 0 ? " " : "",
                           ranges[i].unit, ranges[i].low, ranges[i].high);
    return MF_OK;
}
