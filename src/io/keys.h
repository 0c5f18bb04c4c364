// Tables of keys: one row defines a key of a file; reading, checking, overriding, writing, the help
// text and the tables in docs/ are derived from it. There is one table per kind of file or list
// entry; common code is here, the rows are in *_keys.c.
#pragma once

#include "base/key.h"

#include <mayfly/model.h>
#include <mayfly/scene.h>

// Number of rows of a table with its parts, and the row of an index below that.
uint32_t mf_keys_count(const mf_KeyTable *table); // [1]
const mf_Key *mf_keys_at(const mf_KeyTable *table, uint32_t index);

// The row of a path of `length` bytes, NULL when there is none.
const mf_Key *mf_keys_find(const mf_KeyTable *table, const char *path, size_t length);

// Earlier names of keys and the present ones.
enum { MF_KEY_RENAMES = 4 };
typedef struct mf_KeyRename {
    const char *old, *now;
} mf_KeyRename;
extern const mf_KeyRename mf_key_renames[MF_KEY_RENAMES];

// The row of a path whose last name is an old one, NULL when there is none; `*rename` becomes the
// index of the old name.
const mf_Key *mf_keys_renamed(const mf_KeyTable *table, const char *path, uint32_t *rename);

// The known path most similar to an unknown one: one in the same group with few letters changed,
// else one with the same last name in another group. NULL when there is none.
const char *mf_keys_near(const mf_KeyTable *table, const char *path);

// False for keys of a variant that is not chosen in `base`.
bool mf_key_is_chosen(const mf_KeyTable *table, const void *base, const mf_Key *key);
// Also false where the table's `applies` is.
bool mf_key_applies(const mf_KeyTable *table, const void *base, const mf_Key *key);

// What a kind of key accepts.
typedef struct mf_KeyForm {
    const char *number;   // "a number": in a range; NULL: not one number
    const char *expected; // in messages; NULL: one of its choices
    const char *range;    // in tables; NULL: its choices
    const char *schema;   // in JSON Schema; NULL: depends on the row
} mf_KeyForm;
extern const mf_KeyForm mf_key_forms[];

// Whether its value has several numbers of one range.
static inline bool mf_key_is_tuple(const mf_Key *key) {
    return key->kind == MF_KEY_VECTOR || key->kind == MF_KEY_NUMBERS || key->kind == MF_KEY_POINTS;
}

// "a whole number from 2 to 1048576", "one of nearest, bilinear": what the row accepts.
const char *mf_key_expectation(const mf_Key *key, char *out, size_t size);

// The same for one number of the row: "a number from 0 to 1 m".
const char *mf_key_number(const mf_Key *key, char *out, size_t size);

// The allowed values in short form, for tables: "2 .. 1048576", "nearest, bilinear", "text".
const char *mf_key_range(const mf_Key *key, char *out, size_t size);

// The name of a value of a flag or of one of `choices`.
const char *mf_key_choice(const mf_Key *key, const void *value);

// The value of `key` in `base` as written in a file: numbers, words and vectors of them.
const char *mf_key_value(const mf_Key *key, const void *base, char *out, size_t size);

// Documentation of all keys: with `markdown` the tables of docs/, else the text that `mayfly help`
// prints. From mf_allocate.
mf_Status mf_keys_describe(mf_Context *context, const mf_KeyTable *table, bool markdown,
                           char **text, mf_Error *error);

// All keys as a JSON Schema (schema.c). From mf_allocate.
mf_Status mf_keys_schema(mf_Context *context, const mf_KeyTable *table, char **text,
                         mf_Error *error);

// The structure as YAML text with every value that applies. Relative paths are made absolute,
// because the text is stored in archives and read from other folders. From mf_allocate.
mf_Status mf_keys_write(mf_Context *context, const mf_KeyTable *table, const void *base,
                        char **text, mf_Error *error);

// The same with all keys in a group named `top`; NULL: no group.
mf_Status mf_keys_write_under(mf_Context *context, const mf_KeyTable *table, const void *base,
                              const char *top, char **text, mf_Error *error);

// Period of a rate that was created from a period.
mf_Time mf_key_period(mf_Rate rate); // [ns]

// Length of the path of the group that a path is in: 6 for "search.population", 0 at the top.
size_t mf_key_group_length(const char *path);

// Edit distance: letters to insert, delete or replace, or neighbors to swap, to get from a to b, at
// most 255 long (Damerau 1964, Levenshtein 1966; no letter is changed twice). Used for all
// suggestions for mistyped names.
size_t mf_name_distance(const char *a, const char *b);

// What follows the last dot of a path.
const char *mf_key_last_name(const char *path);

// It holds other keys.
static inline bool mf_key_is_group(const mf_Key *key) {
    return key->kind == MF_KEY_SECTION || key->kind == MF_KEY_VARIANT;
}
