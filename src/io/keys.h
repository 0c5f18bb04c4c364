// Tables of keys: one row defines a key of a file; reading, checking, overriding, writing, the help
// text and the tables in docs/ are derived from it. There is one table per kind of file or list
// entry; common code is here, the rows are in *_keys.c.
#ifndef MAYFLY_SRC_IO_KEYS_H
#define MAYFLY_SRC_IO_KEYS_H

#include <mayfly/model.h>
#include <mayfly/scene.h>

typedef enum mf_KeyKind {
    MF_KEY_SECTION, // a group of keys
    MF_KEY_VARIANT, // a group of which one sub-group is given, or just the name of one
    MF_KEY_TEXT,    // const char *
    MF_KEY_FILE,    // const char *, resolved against the file's folder
    MF_KEY_REAL,    // double
    MF_KEY_TIME,    // mf_Time, written in seconds
    MF_KEY_RATE,    // mf_Rate, written as its period in seconds
    MF_KEY_COUNT,   // uint32_t
    MF_KEY_SEED,    // uint64_t
    MF_KEY_FLAG,    // bool, written true or false
    MF_KEY_CHOICE,  // an enum (int sized), written as one of `choices`
    MF_KEY_DOUBLE,  // bool, written as one of two `choices`: false, true
    MF_KEY_PLACE,   // double[2], written [x, y], or the word centered for NAN
    MF_KEY_VECTOR,  // double[length], written [a, b, ...]
    MF_KEY_WORDS,   // mf_KeyList of const char *, written [a, b, ...]
    MF_KEY_NUMBERS, // mf_KeyList of double, written [a, b, ...], any number up to `length`
    MF_KEY_POINTS,  // mf_KeyList of double[length], written [[a, b, ...], ...]
    MF_KEY_LIST,    // mf_KeyList of structures, a list of groups with the keys of `items`
    MF_KEY_NAMED,   // mf_KeyList of mf_KeyNamed, written as a group "name: number"
    MF_KEY_PACKAGES // the import's package pairs, written as a group "name: folder"
} mf_KeyKind;

enum {
    MF_KEY_ABOVE = 1,    // the lower bound itself is not allowed
    MF_KEY_INFINITE = 2, // .inf is allowed beside the range
    MF_KEY_REQUIRED = 4, // there is no default
    MF_KEY_IMAGE = 8,    // only for terrain from an image
    MF_KEY_SHAPE = 16,   // only for generated terrain
    MF_KEY_AUTO = 32     // the word auto is allowed: NAN, or 0 of a time
};

#define MF_KEY_NOWHERE SIZE_MAX // the row has no member in the structure

typedef struct mf_Key {
    const char *path; // "search.population"
    mf_KeyKind kind;
    uint32_t flags;             // [1] MF_KEY_*
    const char *unit;           // "s"; "1" for pure numbers, "" where there is none
    const char *fallback;       // the default as it would be written; NULL: what the structure
                                // starts with, or none
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
#define MF_KEY_TUPLE(path, kind, length, flags, unit, fallback, lower, upper, offset, description) \
    { path, kind, flags, unit, fallback, lower, upper, NULL, offset, description, length, NULL }
#define MF_KEY_LISTED(path, flags, table, offset, description)                                     \
    { path, MF_KEY_LIST, flags, "", NULL, 0, 0, NULL, offset, description, 1, table }

// How a list lies in a structure: the entries and, right behind, their number.
typedef struct mf_KeyList {
    void *entries;
    uint32_t count; // [1]
} mf_KeyList;

typedef struct mf_KeyNamed {
    const char *name;
    double value; // [unit of the row]
} mf_KeyNamed;

typedef struct mf_KeyTable {
    const char *noun; // "scene"
    const mf_Key *keys;
    uint32_t count;            // [1] rows; sections come before what is in them
    size_t size;               // [byte] of the structure
    void (*start)(void *base); // fills the structure before reading; NULL: zeros
    // False for rows that mean nothing with the values read, beyond variants not chosen; NULL:
    // all mean something.
    bool (*applies)(const void *base, const mf_Key *key);
} mf_KeyTable;

// The row of a path of `length` bytes, NULL when there is none.
const mf_Key *mf_keys_find(const mf_KeyTable *table, const char *path, size_t length);

// The known path that an unknown one most likely means: one in the same group with few letters
// changed, else one of the same last name elsewhere. NULL when none is near.
const char *mf_keys_near(const mf_KeyTable *table, const char *path);

// False for keys of a variant that is not chosen in `base`.
bool mf_key_is_chosen(const mf_KeyTable *table, const void *base, const mf_Key *key);
// The same, and where the table says so.
bool mf_key_applies(const mf_KeyTable *table, const void *base, const mf_Key *key);

// "a whole number from 2 to 1048576", "one of nearest, bilinear": what the row asks for.
const char *mf_key_expectation(const mf_Key *key, char *out, size_t size);

// The same of one number of the row: "a number from 0 to 1 m".
const char *mf_key_number(const mf_Key *key, char *out, size_t size);

// The allowed values in short, for tables: "2 .. 1048576", "nearest, bilinear", "text".
const char *mf_key_range(const mf_Key *key, char *out, size_t size);

// The value that `key` has in `base`, as it would be written: numbers, words and vectors of them.
const char *mf_key_value(const mf_Key *key, const void *base, char *out, size_t size);

// All keys for people: with `markdown` the tables of docs/, else the text that `mayfly help`
// prints. From mf_allocate.
mf_Status mf_keys_describe(mf_Context *context, const mf_KeyTable *table, bool markdown,
                           char **text, mf_Error *error);

// All keys as a JSON Schema (schema.c). From mf_allocate.
mf_Status mf_keys_schema(mf_Context *context, const mf_KeyTable *table, char **text,
                         mf_Error *error);

// The structure as YAML text with every value that applies. Relative paths are made absolute,
// because the text is kept in archives and read again from elsewhere. From mf_allocate.
mf_Status mf_keys_write(mf_Context *context, const mf_KeyTable *table, const void *base,
                        char **text, mf_Error *error);

// The same with every key in a group named `top`; NULL: in none.
mf_Status mf_keys_write_under(mf_Context *context, const mf_KeyTable *table, const void *base,
                              const char *top, char **text, mf_Error *error);

// Period of a rate that was made from a period.
mf_Time mf_key_period(mf_Rate rate); // [ns]

// Length of the path of the group that a path is in: 6 for "search.population", 0 at the top.
size_t mf_key_group_length(const char *path);

// Letters to insert, delete or replace, or neighbours to swap, to get from a to b, at most 255 long
// (Damerau 1964, Levenshtein 1966; no letter is changed twice). What a mistyped name most likely
// means is always found by it.
size_t mf_name_distance(const char *a, const char *b);

#endif
