// Rows of key tables: one row defines one key of a file. Each table is next to the structure that
// it describes; reading, writing and documentation are in io/keys.h.
#pragma once

#include <mayfly/base.h>

typedef enum mf_KeyKind {
    MF_KEY_SECTION,  // a group of keys
    MF_KEY_VARIANT,  // a group with exactly one sub-group, or just its name
    MF_KEY_TEXT,     // const char *
    MF_KEY_FILE,     // const char *, resolved against the file's folder
    MF_KEY_REAL,     // double
    MF_KEY_TIME,     // mf_Time, written in seconds
    MF_KEY_RATE,     // mf_Rate, written as its period in seconds
    MF_KEY_COUNT,    // uint32_t
    MF_KEY_SEED,     // uint64_t
    MF_KEY_FLAG,     // bool, written true or false
    MF_KEY_CHOICE,   // an enum (int sized), written as one of `choices`
    MF_KEY_DOUBLE,   // bool, written as one of two `choices`: false, true
    MF_KEY_POSITION, // double[2], written [x, y], or the word centered for NAN
    MF_KEY_VECTOR,   // double[length], written [a, b, ...]
    MF_KEY_NAMES,    // mf_KeyList of const char *, written [a, b, ...]
    MF_KEY_NUMBERS,  // mf_KeyList of double, written [a, b, ...], any number up to `length`
    MF_KEY_POINTS,   // mf_KeyList of double[length], written [[a, b, ...], ...]
    MF_KEY_LIST,     // mf_KeyList of structures, a list of groups with the keys of `items`
    MF_KEY_NAMED,    // mf_KeyList of mf_KeyNamed, written as a group "name: number"
    MF_KEY_PACKAGES  // the import's package pairs, written as a group "name: folder"
} mf_KeyKind;

enum {
    MF_KEY_ABOVE = 1,    // the lower bound itself is not allowed
    MF_KEY_INFINITE = 2, // .inf is allowed next to the range
    MF_KEY_REQUIRED = 4, // there is no default
    MF_KEY_IMAGE = 8,    // only for terrain from an image
    MF_KEY_SHAPE = 16,   // only for generated terrain
    MF_KEY_AUTO = 32,    // the word auto is allowed: NAN, or 0 of a time
    MF_KEY_LINES = 64,   // a text may have several lines
    MF_KEY_BELOW = 128   // a file below the folder of the document: written as a relative path
};

#define MF_KEY_NOWHERE SIZE_MAX // the row has no member

typedef struct mf_Key {
    const char *path; // "search.population"
    mf_KeyKind kind;
    uint32_t flags;             // [1] MF_KEY_*
    const char *unit;           // "s"; "1" for pure numbers, "" where there is none
    const char *fallback;       // default as written in a file; NULL: the start value, or none
    double lower, upper;        // [unit of the row] allowed range of numbers
    const char *const *choices; // NULL-terminated
    size_t offset;              // [byte] in the structure
    const char *description;
    uint32_t length;                 // [1] components of a vector or point
    const struct mf_KeyTable *items; // of a list
} mf_Key;

// Rows of a table.
#define MF_KEY(path, kind, flags, unit, fallback, lower, upper, choices, offset, description)      \
    { path, kind, flags, unit, fallback, lower, upper, choices, offset, description, 1, NULL }
#define MF_KEY_GROUP(path, description)                                                            \
    MF_KEY(path, MF_KEY_SECTION, 0, "", NULL, 0, 0, NULL, MF_KEY_NOWHERE, description)
#define MF_KEY_TUPLE(path, kind, length, flags, unit, fallback, lower, upper, offset, description) \
    { path, kind, flags, unit, fallback, lower, upper, NULL, offset, description, length, NULL }
#define MF_KEY_LISTED(path, flags, table, offset, description)                                     \
    { path, MF_KEY_LIST, flags, "", NULL, 0, 0, NULL, offset, description, 1, table }

// Layout of a list in a structure: the entries, directly followed by their count.
typedef struct mf_KeyList {
    void *entries;
    uint32_t count; // [1]
} mf_KeyList;

typedef struct mf_KeyNamed {
    const char *name;
    double value; // [unit of the row]
} mf_KeyNamed;

#define MF_KEY_IS_LIST(type, entries, number)                                                      \
    (offsetof(type, number) - offsetof(type, entries) == offsetof(mf_KeyList, count))

// More rows of a table, from any file, with offsets in the same structure: an array, or by calls.
typedef struct mf_KeyPart {
    const mf_Key *keys;
    uint32_t count;                       // [1] of `keys`
    uint32_t (*total)(void);              // [1] rows by calls; NULL: an array
    const mf_Key *(*key)(uint32_t index); // below that
} mf_KeyPart;

#define MF_KEY_PART(rows) .keys = rows, .count = sizeof rows / sizeof *rows

typedef struct mf_KeyTable {
    const char *noun; // "scene"
    const mf_Key *keys;
    uint32_t count;            // [1] of `keys`; sections precede their members
    size_t size;               // [byte] of the structure
    void (*start)(void *base); // fills the structure before reading; NULL: zeros
    // False for rows without meaning for the values read (variants that are not chosen are excluded
    // elsewhere); NULL: all rows apply.
    bool (*applies)(const void *base, const mf_Key *key);
    const mf_KeyPart *const *parts; // rows that follow, ended by NULL; NULL: none
} mf_KeyTable;

// The first members of a table: the rows of an array, of a structure.
#define MF_KEY_ROWS(name, rows, type)                                                              \
    .noun = name, .keys = rows, .count = sizeof rows / sizeof *rows, .size = sizeof(type)
