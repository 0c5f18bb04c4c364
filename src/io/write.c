// A structure as YAML text, by its table of keys: every key with its value, groups indented, what
// does not apply (the settings of other controllers, of the other kind of ground) left out.
#include "io/keys.h"
#include "io/decimal.h"
#include "base/text.h"
#include "base/inject.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_LIMIT = 4096 }; // [byte] longest name of the current folder

typedef struct Writer {
    mf_Context *context;
    mf_Text text;
    uint32_t level;            // [1] nesting level of lists
    uint32_t indent;           // [1] groups around the table
    char folder[FOLDER_LIMIT]; // the current folder, "" until it is needed
    mf_Error *error;
} Writer;

// A table with the structure that it describes.
typedef struct Source {
    const mf_KeyTable *table;
    const char *base;
} Source;

mf_Time mf_key_period(mf_Rate rate) {
    if (rate.numerator == 0)
        return 0;
    return (mf_Time)((__int128)rate.denominator * MF_SECOND / rate.numerator);
}

// Characters that are special inside double quotes, that YAML treats as line breaks, or that a file
// must not contain (YAML 1.1, sections 5.1 and 5.6), with their escapes.
static const struct {
    const char *bytes, *escape;
} escapes[] = {
    {"\"", "\\\""},          {"\\", "\\\\"},          {"\n", "\\n"},
    {"\r", "\\r"},           {"\t", "\\t"},           {"\xc2\x85", "\\N"},
    {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}, {"\xef\xbb\xbf", "\\uFEFF"},
};

// Text inside double quotes, with escapes where YAML needs them.
static void put_escaped(Writer *writer, const char *string, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t taken = 0;
        for (size_t e = 0; e < sizeof escapes / sizeof escapes[0] && taken == 0; e++) {
            size_t bytes = strlen(escapes[e].bytes);
            if (length - i < bytes || memcmp(string + i, escapes[e].bytes, bytes) != 0)
                continue;
            mf_text_put(&writer->text, escapes[e].escape);
            taken = bytes;
        }
        if (taken == 0) {
            mf_text_put_bytes(&writer->text, string + i, 1);
            taken = 1;
        }
        i += taken;
    }
}

static mf_Status put_path(Writer *writer, const char *path, bool below) {
    const bool joins = path[0] != '/' && !below;
    if (joins && writer->folder[0] == '\0' &&
        (!mf_allow(writer->context, "getcwd") ||
         getcwd(writer->folder, sizeof writer->folder) == NULL))
        return mf_fail(writer->error, MF_IO, "cannot determine the current folder: %s",
                       strerror(errno));
    mf_text_put(&writer->text, "\"");
    if (joins) {
        put_escaped(writer, writer->folder, strlen(writer->folder));
        mf_text_put(&writer->text, "/");
    }
    put_escaped(writer, path, strlen(path));
    mf_text_put(&writer->text, "\"");
    return MF_OK;
}

// Indentation of a key in levels of two spaces.
static uint32_t depth_of(const Writer *writer, const mf_Key *key) {
    uint32_t depth = 2 * writer->level + writer->indent;
    for (const char *dot = key->path; (dot = strchr(dot, '.')) != NULL; dot++)
        depth++;
    return depth;
}

// One line `name: "folder"` for each pair "name=folder".
static mf_Status put_packages(Writer *writer, const mf_Key *key, const mf_ImportConfig *import) {
    for (uint32_t i = 0; i < import->package_count; i++) {
        const char *pair = import->packages[i], *equals = strchr(pair, '=');
        mf_text_format(&writer->text, "\n%*s\"", (int)(2 * (depth_of(writer, key) + 1)), "");
        put_escaped(writer, pair, (size_t)(equals - pair));
        mf_text_put(&writer->text, "\": ");
        MF_TRY(put_path(writer, equals + 1, false));
    }
    return MF_OK;
}

static void put_position(Writer *writer, const double position[2]) {
    char x[MF_DECIMAL_TEXT], y[MF_DECIMAL_TEXT];
    if (isnan(position[0]) || isnan(position[1]))
        mf_text_put(&writer->text, "centered");
    else
        mf_text_format(&writer->text, "[%s, %s]", mf_decimal_write(position[0], x),
                       mf_decimal_write(position[1], y));
}

static void put_vector(Writer *writer, const double *values, uint32_t length) {
    char number[MF_DECIMAL_TEXT];
    mf_text_put(&writer->text, "[");
    for (uint32_t i = 0; i < length; i++)
        mf_text_format(&writer->text, "%s%s", i == 0 ? "" : ", ",
                       mf_decimal_write(values[i], number));
    mf_text_put(&writer->text, "]");
}

static mf_KeyList list_of(const void *value) {
    mf_KeyList list;
    memcpy(&list.entries, (const char *)value + offsetof(mf_KeyList, entries), sizeof list.entries);
    memcpy(&list.count, (const char *)value + offsetof(mf_KeyList, count), sizeof list.count);
    return list;
}

static void put_points(Writer *writer, const mf_Key *key, const void *value) {
    mf_KeyList list = list_of(value);
    const double *points = list.entries;
    mf_text_put(&writer->text, "[");
    for (uint32_t i = 0; i < list.count; i++) {
        mf_text_put(&writer->text, i == 0 ? "" : ", ");
        put_vector(writer, points + (size_t)i * key->length, key->length);
    }
    mf_text_put(&writer->text, "]");
}

static void put_names(Writer *writer, mf_KeyList list) {
    const char *const *words = list.entries;
    mf_text_put(&writer->text, "[");
    for (uint32_t i = 0; i < list.count; i++) {
        mf_text_put(&writer->text, i == 0 ? "\"" : ", \"");
        put_escaped(writer, words[i], strlen(words[i]));
        mf_text_put(&writer->text, "\"");
    }
    mf_text_put(&writer->text, "]");
}

// In one line: { "name": number, ... }.
static void put_named(Writer *writer, const void *value) {
    mf_KeyList list = list_of(value);
    const mf_KeyNamed *named = list.entries;
    char number[MF_DECIMAL_TEXT];
    mf_text_put(&writer->text, "{");
    for (uint32_t i = 0; i < list.count; i++) {
        mf_text_put(&writer->text, i == 0 ? "\"" : ", \"");
        put_escaped(writer, named[i].name, strlen(named[i].name));
        mf_text_format(&writer->text, "\": %s", mf_decimal_write(named[i].value, number));
    }
    mf_text_put(&writer->text, "}");
}

static mf_Status put_keys(Writer *writer, Source source);

// Each entry begins with "- " before its first key.
static mf_Status put_list(Writer *writer, const mf_Key *key, const void *value) {
    mf_KeyList list = list_of(value);
    mf_Status status = MF_OK;
    const uint32_t around = writer->indent;
    writer->indent = depth_of(writer, key) - 2 * writer->level; // the groups that it is in, too
    writer->level++;
    for (uint32_t i = 0; i < list.count && status == MF_OK; i++) {
        mf_text_format(&writer->text, "\n%*s-", (int)(4 * writer->level - 2 + 2 * writer->indent),
                       "");
        Source entry = {key->items, (const char *)list.entries + i * key->items->size};
        status = put_keys(writer, entry);
    }
    writer->level--;
    writer->indent = around;
    return status;
}

static bool is_auto(const mf_Key *key, const void *value) {
    if (!(key->flags & MF_KEY_AUTO))
        return false;
    if (key->kind == MF_KEY_RATE)
        return ((const mf_Rate *)value)->numerator == 0;
    return key->kind == MF_KEY_TIME ? *(const mf_Time *)value == 0 : isnan(*(const double *)value);
}

static mf_Status put_value(Writer *writer, const mf_Key *key, const void *base) {
    const void *value = (const char *)base + key->offset;
    mf_Text *text = &writer->text;
    char number[MF_DECIMAL_TEXT];
    if (is_auto(key, value)) {
        mf_text_put(text, "auto");
        return MF_OK;
    }
    switch (key->kind) {
    case MF_KEY_TEXT:
        mf_text_put(text, "\"");
        put_escaped(writer, *(const char *const *)value, strlen(*(const char *const *)value));
        mf_text_put(text, "\"");
        break;
    case MF_KEY_FILE:
        return put_path(writer, *(const char *const *)value, (key->flags & MF_KEY_BELOW) != 0);
    case MF_KEY_RATE:
        mf_text_put(text, mf_decimal_write_time(mf_key_period(*(const mf_Rate *)value), number));
        break;
    case MF_KEY_SEED:
        mf_text_format(text, "%" PRIu64, *(const uint64_t *)value);
        break;
    case MF_KEY_FLAG:
    case MF_KEY_DOUBLE:
    case MF_KEY_CHOICE:
        mf_text_put(text, mf_key_choice(key, value));
        break;
    case MF_KEY_REAL:
    case MF_KEY_TIME:
    case MF_KEY_COUNT:
        mf_text_put(text, mf_key_value(key, base, number, sizeof number));
        break;
    case MF_KEY_POSITION:
        put_position(writer, value);
        break;
    case MF_KEY_PACKAGES:
        return put_packages(writer, key, value);
    case MF_KEY_VECTOR:
        put_vector(writer, value, key->length);
        break;
    case MF_KEY_POINTS:
        put_points(writer, key, value);
        break;
    case MF_KEY_NUMBERS:
        put_vector(writer, list_of(value).entries, list_of(value).count);
        break;
    case MF_KEY_NAMES:
        put_names(writer, list_of(value));
        break;
    case MF_KEY_NAMED:
        put_named(writer, value);
        break;
    case MF_KEY_LIST:
        return put_list(writer, key, value);
    case MF_KEY_SECTION:
    case MF_KEY_VARIANT:
        break;
    }
    return MF_OK;
}

// A variant whose choice has no settings is written as the name alone.
static const char *bare_choice(const Source *source, const mf_Key *key) {
    if (key->kind != MF_KEY_VARIANT || key->offset == MF_KEY_NOWHERE)
        return NULL;
    const char *chosen = key->choices[*(const int *)(const void *)(source->base + key->offset)];
    size_t length = strlen(key->path);
    for (uint32_t i = 0; i < mf_keys_count(source->table); i++) {
        const char *path = mf_keys_at(source->table, i)->path;
        if (strncmp(path, key->path, length) == 0 && path[length] == '.' &&
            strcmp(path + length + 1, chosen) == 0)
            return NULL;
    }
    return chosen;
}

static void put_indent(Writer *writer, const mf_Key *key, bool first) {
    if (first && writer->level > 0)
        mf_text_put(&writer->text, " "); // after the dash
    else
        mf_text_format(&writer->text, "%*s", (int)(2 * depth_of(writer, key)), "");
}

static mf_Status put_key(Writer *writer, const Source *source, const mf_Key *key) {
    mf_Text *text = &writer->text;
    size_t group = mf_key_group_length(key->path);
    mf_text_format(text, "%s:", key->path + group + (group != 0));
    const char *choice = bare_choice(source, key);
    if (choice != NULL)
        mf_text_format(text, " %s", choice);
    mf_Status status = MF_OK;
    if (key->kind != MF_KEY_SECTION && key->kind != MF_KEY_VARIANT) {
        mf_text_put(text, key->kind == MF_KEY_PACKAGES || key->kind == MF_KEY_LIST ? "" : " ");
        status = put_value(writer, key, source->base);
    }
    bool unit = key->unit[0] != '\0' && strcmp(key->unit, "1") != 0;
    if (unit)
        mf_text_format(text, " # [%s]", key->unit);
    return status;
}

// An empty list of groups cannot be written.
static bool is_empty_list(const Source *source, const mf_Key *key) {
    return key->kind == MF_KEY_LIST && list_of(source->base + key->offset).count == 0;
}

static mf_Status put_keys(Writer *writer, Source source) {
    mf_Status status = MF_OK;
    bool first = true;
    for (uint32_t i = 0; i < mf_keys_count(source.table) && status == MF_OK; i++) {
        const mf_Key *key = mf_keys_at(source.table, i);
        if (!mf_key_applies(source.table, source.base, key) || is_empty_list(&source, key))
            continue;
        if (!first)
            mf_text_put(&writer->text, "\n");
        put_indent(writer, key, first);
        status = put_key(writer, &source, key);
        first = false;
    }
    return status;
}

mf_Status mf_keys_write_under(mf_Context *context, const mf_KeyTable *table, const void *base,
                              const char *top, char **text, mf_Error *error) {
    Writer writer = {.context = context,
                     .text = mf_text_begin(context),
                     .indent = top == NULL ? 0 : 1,
                     .error = error};
    Source source = {table, base};
    if (top != NULL)
        mf_text_format(&writer.text, "%s:\n", top);
    mf_Status status = put_keys(&writer, source);
    mf_text_put(&writer.text, "\n");
    return mf_text_end(&writer.text, status, table->noun, text, error);
}

mf_Status mf_keys_write(mf_Context *context, const mf_KeyTable *table, const void *base,
                        char **text, mf_Error *error) {
    return mf_keys_write_under(context, table, base, NULL, text, error);
}
