// Properties of a row of a table of keys: its path, the expected value, and the row with the name
// most similar to an unknown one. The rows are in *_keys.c.
#include "io/keys.h"

#include "io/decimal.h"

#include <stdio.h>
#include <string.h>

static uint32_t count_of(const mf_KeyPart *part) {
    return part->total != NULL ? part->total() : part->count;
}

static const mf_Key *key_of(const mf_KeyPart *part, uint32_t index) {
    return part->total != NULL ? part->key(index) : &part->keys[index];
}

uint32_t mf_keys_count(const mf_KeyTable *table) {
    uint32_t count = table->count;
    for (uint32_t p = 0; table->parts != NULL && table->parts[p] != NULL; p++)
        count += count_of(table->parts[p]);
    return count;
}

const mf_Key *mf_keys_at(const mf_KeyTable *table, uint32_t index) {
    if (index < table->count)
        return &table->keys[index];
    index -= table->count;
    const mf_KeyPart *const *part = table->parts;
    for (; index >= count_of(*part); part++)
        index -= count_of(*part);
    return key_of(*part, index);
}

static bool is_path(const mf_Key *key, const char *path, size_t length) {
    return strncmp(key->path, path, length) == 0 && key->path[length] == '\0';
}

const mf_Key *mf_keys_find(const mf_KeyTable *table, const char *path, size_t length) {
    for (uint32_t i = 0; i < table->count; i++)
        if (is_path(&table->keys[i], path, length))
            return &table->keys[i];
    for (uint32_t p = 0; table->parts != NULL && table->parts[p] != NULL; p++)
        for (uint32_t i = 0, count = count_of(table->parts[p]); i < count; i++)
            if (is_path(key_of(table->parts[p], i), path, length))
                return key_of(table->parts[p], i);
    return NULL;
}

size_t mf_key_group_length(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot == NULL ? 0 : (size_t)(dot - path);
}

// True when the variant that `path`'s group belongs to has that group chosen, or when it belongs to
// none. `length` is that of the group's path.
static bool is_chosen(const mf_KeyTable *table, const void *base, const char *path, size_t length) {
    size_t outer = length;
    while (outer > 0 && path[outer - 1] != '.')
        outer--;
    const mf_Key *variant = outer == 0 ? NULL : mf_keys_find(table, path, outer - 1);
    if (variant == NULL || variant->kind != MF_KEY_VARIANT || variant->offset == MF_KEY_NOWHERE)
        return true;
    const char *chosen = variant->choices[*(const int *)((const char *)base + variant->offset)];
    return strlen(chosen) == length - outer && strncmp(path + outer, chosen, length - outer) == 0;
}

bool mf_key_is_chosen(const mf_KeyTable *table, const void *base, const mf_Key *key) {
    for (size_t length = strlen(key->path); length > 0; length--) {
        bool whole = key->path[length] == '\0' || key->path[length] == '.';
        if (whole && !is_chosen(table, base, key->path, length))
            return false;
    }
    return true;
}

bool mf_key_applies(const mf_KeyTable *table, const void *base, const mf_Key *key) {
    return mf_key_is_chosen(table, base, key) &&
           (table->applies == NULL || table->applies(base, key));
}

// ---- near names --------------------------------------------------------------------------------

enum { NAME_MOST = 255 }; // [1] letters

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

size_t mf_name_distance(const char *a, const char *b) {
    size_t rows[3][NAME_MOST + 1]; // of the table: the current one and the previous two
    const size_t length = strlen(b);
    if (strlen(a) > NAME_MOST || length > NAME_MOST)
        return SIZE_MAX;
    for (size_t j = 0; j <= length; j++)
        rows[0][j] = j;
    size_t i = 1;
    for (; a[i - 1] != '\0'; i++) {
        size_t *now = rows[i % 3];
        const size_t *above = rows[(i + 2) % 3], *second = rows[(i + 1) % 3];
        now[0] = i;
        for (size_t j = 1; j <= length; j++) {
            now[j] = least(above[j - 1] + (a[i - 1] != b[j - 1]), least(above[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], second[j - 2] + 1);
        }
    }
    return rows[(i - 1) % 3][length];
}

static bool in_group(const char *path, const char *other) {
    size_t group = mf_key_group_length(path);
    return mf_key_group_length(other) == group && strncmp(path, other, group) == 0;
}

const mf_KeyRename mf_key_renames[MF_KEY_RENAMES] = {
    {"place", "placement"}, {"turn", "orientation"}, {"turn", "yaw"}, {"turn", "pivot_time"}};

const mf_Key *mf_keys_renamed(const mf_KeyTable *table, const char *path, uint32_t *rename) {
    for (uint32_t r = 0; r < MF_KEY_RENAMES; r++) {
        for (uint32_t i = 0;
             strcmp(mf_key_last_name(path), mf_key_renames[r].old) == 0 && i < mf_keys_count(table);
             i++) {
            const mf_Key *known = mf_keys_at(table, i);
            if (in_group(known->path, path) &&
                strcmp(mf_key_last_name(known->path), mf_key_renames[r].now) == 0) {
                *rename = r;
                return known;
            }
        }
    }
    return NULL;
}

const char *mf_keys_near(const mf_KeyTable *table, const char *path) {
    uint32_t rename;
    const mf_Key *renamed = mf_keys_renamed(table, path, &rename);
    if (renamed != NULL)
        return renamed->path;
    const char *name = mf_key_last_name(path), *near = NULL;
    size_t limit = strlen(name) / 2 < 3 ? strlen(name) / 2 : 3; // letters allowed to be wrong
    size_t best = limit + 1;
    for (uint32_t i = 0; i < mf_keys_count(table); i++) {
        const char *known = mf_keys_at(table, i)->path;
        size_t distance =
            in_group(known, path) ? mf_name_distance(name, mf_key_last_name(known)) : best;
        if (distance < best) {
            near = known;
            best = distance;
        }
    }
    // A name of another group must match exactly.
    for (uint32_t i = 0; near == NULL && i < mf_keys_count(table); i++) {
        if (strcmp(name, mf_key_last_name(mf_keys_at(table, i)->path)) == 0)
            near = mf_keys_at(table, i)->path;
    }
    return near;
}

// ---- checks of values --------------------------------------------------------------------------

static void list_choices(const mf_Key *key, char *out, size_t size) {
    size_t used = 0;
    out[0] = '\0';
    for (const char *const *choice = key->choices; *choice != NULL && used < size; choice++)
        used += (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", *choice);
}

static const char *one_of(const mf_Key *key, char *out, size_t size) {
    char names[240];
    list_choices(key, names, sizeof names);
    snprintf(out, size, "%s%s", key->choices[1] == NULL ? "" : "one of ", names);
    return out;
}

static const char *number_range(const mf_Key *key, const char *what, char *out, size_t size) {
    char lower[MF_DECIMAL_TEXT], upper[MF_DECIMAL_TEXT];
    bool pure = key->unit[0] == '\0' || strcmp(key->unit, "1") == 0;
    snprintf(out, size, "%s %s %s %s %s%s%s%s", what, key->flags & MF_KEY_ABOVE ? "above" : "from",
             mf_decimal_write(key->lower, lower), key->flags & MF_KEY_ABOVE ? "up to" : "to",
             mf_decimal_write(key->upper, upper), pure ? "" : " ", pure ? "" : key->unit,
             key->flags & MF_KEY_INFINITE ? " or .inf"
             : key->flags & MF_KEY_AUTO   ? " or auto"
                                          : "");
    return out;
}

const char *mf_key_number(const mf_Key *key, char *out, size_t size) {
    return number_range(key, "a number", out, size);
}

// "a list of 3 numbers from 0 to 1 m", "a list of points, each a list of ...".
static const char *tuple_range(const mf_Key *key, char *out, size_t size) {
    char what[80];
    snprintf(what, sizeof what, "%sa list of %s%u numbers",
             key->kind == MF_KEY_POINTS ? "points, each " : "",
             key->kind == MF_KEY_NUMBERS ? "at most " : "", key->length);
    return number_range(key, what, out, size);
}

// clang-format off
const mf_KeyForm mf_key_forms[] = {
    [MF_KEY_SECTION] = {NULL, "a group of keys", "", ""},
    [MF_KEY_VARIANT] = {NULL, NULL, NULL, ""},
    [MF_KEY_TEXT] = {NULL, "text", "text", "\"type\": \"string\""},
    [MF_KEY_FILE] = {NULL, "the name of a file", "path", "\"type\": \"string\""},
    [MF_KEY_REAL] = {"a number", NULL, NULL, NULL},
    [MF_KEY_TIME] = {"a time", NULL, NULL, NULL},
    [MF_KEY_RATE] = {"a time", NULL, NULL, NULL},
    [MF_KEY_COUNT] = {"a whole number", NULL, NULL, NULL},
    [MF_KEY_SEED] = {NULL, "a whole number from 0 to 18446744073709551615", "0 .. 2^64-1",
                     "\"type\": \"integer\", \"minimum\": 0"},
    [MF_KEY_FLAG] = {NULL, "true or false", "true, false", "\"type\": \"boolean\""},
    [MF_KEY_CHOICE] = {NULL, NULL, NULL, NULL},
    [MF_KEY_DOUBLE] = {NULL, NULL, NULL, NULL},
    [MF_KEY_POSITION] = {NULL, "[x, y] in m within -1e9 .. 1e9, or centered", "[x, y], centered",
                         "\"anyOf\": [{\"type\": \"array\", \"items\": {\"type\": \"number\"}, "
                         "\"minItems\": 2, \"maxItems\": 2}, {\"const\": \"centered\"}]"},
    [MF_KEY_LIST] = {NULL, "a list", "a list", NULL},
    [MF_KEY_NAMES] = {NULL, "a list of names", "list of names",
                      "\"type\": \"array\", \"items\": {\"type\": \"string\"}"},
    [MF_KEY_NAMED] = {NULL, "a mapping `name: number`", "name: number",
                      "\"type\": \"object\", \"additionalProperties\": {\"type\": \"number\"}"},
    [MF_KEY_PACKAGES] = {NULL, "a mapping `name: folder`", "name: folder",
                         "\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}"},
};
// clang-format on

const char *mf_key_expectation(const mf_Key *key, char *out, size_t size) {
    const mf_KeyForm *form = &mf_key_forms[key->kind];
    if (mf_key_is_tuple(key))
        return tuple_range(key, out, size);
    if (form->number != NULL)
        return number_range(key, form->number, out, size);
    if (form->expected == NULL)
        return one_of(key, out, size);
    snprintf(out, size, "%s", form->expected);
    return out;
}

const char *mf_key_range(const mf_Key *key, char *out, size_t size) {
    const mf_KeyForm *form = &mf_key_forms[key->kind];
    char lower[MF_DECIMAL_TEXT], upper[MF_DECIMAL_TEXT];
    mf_decimal_write(key->lower, lower);
    mf_decimal_write(key->upper, upper);
    const char *above = key->flags & MF_KEY_ABOVE ? "> " : "";
    if (mf_key_is_tuple(key))
        snprintf(out, size, "%s%u x %s%s .. %s",
                 key->kind == MF_KEY_POINTS    ? "list of "
                 : key->kind == MF_KEY_NUMBERS ? "up to "
                                               : "",
                 key->length, above, lower, upper);
    else if (form->number != NULL)
        snprintf(out, size, "%s%s .. %s%s", above, lower, upper,
                 key->flags & MF_KEY_INFINITE ? ", .inf"
                 : key->flags & MF_KEY_AUTO   ? ", auto"
                                              : "");
    else if (form->range == NULL)
        list_choices(key, out, size);
    else
        snprintf(out, size, "%s", form->range);
    return out;
}

const char *mf_key_choice(const mf_Key *key, const void *value) {
    if (key->kind == MF_KEY_FLAG)
        return *(const bool *)value ? "true" : "false";
    return key->choices[key->kind == MF_KEY_DOUBLE ? *(const bool *)value : *(const int *)value];
}

const char *mf_key_value(const mf_Key *key, const void *base, char *out, size_t size) {
    const void *value = (const char *)base + key->offset;
    char number[MF_DECIMAL_TEXT];
    size_t used = 0;
    switch (key->kind) {
    case MF_KEY_REAL:
        snprintf(out, size, "%s", mf_decimal_write(*(const double *)value, number));
        break;
    case MF_KEY_VECTOR:
        for (uint32_t i = 0; i < key->length && used < size; i++)
            used += (size_t)snprintf(out + used, size - used, "%s%s%s", i == 0 ? "[" : ", ",
                                     mf_decimal_write(((const double *)value)[i], number),
                                     i + 1 == key->length ? "]" : "");
        break;
    case MF_KEY_TIME:
        snprintf(out, size, "%s", mf_decimal_write_time(*(const mf_Time *)value, number));
        break;
    case MF_KEY_COUNT:
        snprintf(out, size, "%u", *(const uint32_t *)value);
        break;
    case MF_KEY_FLAG:
    case MF_KEY_CHOICE:
    case MF_KEY_DOUBLE:
        snprintf(out, size, "%s", mf_key_choice(key, value));
        break;
    default:
        snprintf(out, size, "none");
        break;
    }
    return out;
}

const char *mf_key_last_name(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot == NULL ? path : dot + 1;
}
