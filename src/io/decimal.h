// Numbers in files, read and written independent of the locale.
#pragma once

#include <mayfly/base.h>

enum { MF_DECIMAL_TEXT = 40 }; // [byte] enough for every number with its terminator

// Decimal numbers such as 120, -0.5, 1e-3, and .inf, -.inf. False for everything else, NaN and
// numbers beyond the range of double included.
bool mf_decimal_parse(const char *text, double *out);
// Decimal digits only, at most 2^64-1.
bool mf_decimal_parse_whole(const char *text, uint64_t *out);

// A decimal of at most 17 digits that reads back as the same bits.
const char *mf_decimal_write(double value, char out[MF_DECIMAL_TEXT]);
// Seconds of a time, exactly: 80000000 as "0.08". `time` >= 0.
const char *mf_decimal_write_time(mf_Time time, char out[MF_DECIMAL_TEXT]);
