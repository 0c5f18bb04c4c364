// Rows of tables of keys, for the files that have such tables: each defines T, the structure that
// its table is of. The last argument is the description.
#pragma once

#include "base/key.h"

#define KEY(path, kind, flags, unit, fallback, lower, upper, choices, member, text)                \
    MF_KEY(path, MF_KEY_##kind, flags, unit, fallback, lower, upper, choices, offsetof(T, member), \
           text)
#define REAL(path, flags, unit, fallback, lower, upper, member, text)                              \
    KEY(path, REAL, flags, unit, fallback, lower, upper, NULL, member, text)
#define TIME(path, flags, unit, fallback, lower, upper, member, text)                              \
    KEY(path, TIME, flags, unit, fallback, lower, upper, NULL, member, text)
#define RATE(path, flags, unit, fallback, lower, upper, member, text)                              \
    KEY(path, RATE, flags, unit, fallback, lower, upper, NULL, member, text)
#define COUNT(path, flags, fallback, lower, upper, member, text)                                   \
    KEY(path, COUNT, flags, "1", fallback, lower, upper, NULL, member, text)
#define FLAG(path, fallback, member, text)                                                         \
    KEY(path, FLAG, 0, "", fallback, 0, 0, NULL, member, text)
#define TEXT(path, flags, fallback, member, text)                                                  \
    KEY(path, TEXT, flags, "", fallback, 0, 0, NULL, member, text)
#define CHOICE(path, flags, fallback, choices, member, text)                                       \
    KEY(path, CHOICE, flags, "", fallback, 0, 0, choices, member, text)
#define VARIANT(path, flags, fallback, choices, member, text)                                      \
    KEY(path, VARIANT, flags, "", fallback, 0, 0, choices, member, text)
#define TUPLE(path, kind, length, flags, unit, fallback, lower, upper, member, text)               \
    MF_KEY_TUPLE(path, MF_KEY_##kind, length, flags, unit, fallback, lower, upper,                 \
                 offsetof(T, member), text)
#define VECTOR(path, length, flags, unit, fallback, lower, upper, member, text)                    \
    TUPLE(path, VECTOR, length, flags, unit, fallback, lower, upper, member, text)
#define LIST(path, flags, table, member, text)                                                     \
    MF_KEY_LISTED(path, flags, table, offsetof(T, member), text)
#define SECTION MF_KEY_GROUP

#define ABOVE MF_KEY_ABOVE
#define INFINITE MF_KEY_INFINITE
#define REQUIRED MF_KEY_REQUIRED
#define AUTO MF_KEY_AUTO
