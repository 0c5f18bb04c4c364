// Decimal numbers in text files: the same value in every locale.
#pragma once

#include <stdbool.h>

// Reads one finite decimal number ("-1.5e-3") at `text`, which must be terminated by a byte that is
// not part of a number. Sets `*end` after it. False for anything else: no digits, hexadecimal, nan,
// inf, or too large for a double.
bool mf_number_parse(const char *text, const char **end, double *out);

// What may stand between them: blanks, tabs, ends of lines and pages.
static inline bool mf_is_space(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}
