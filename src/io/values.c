// Values of a file: each kind of key has one reader here, which checks the kind of
// node, the form and the range. Ranges are tested so that NaN fails.
#include "io/decimal.h"
#include "io/reader.h"
#include "io/yaml_text.h"

#include <math.h>
#include <string.h>

enum {
    PATH_LIMIT = 4096, // [byte] longest file name in a file
    DEFAULT_LENGTH = 8 // [1] most components of a vector's default
};

void *mf_reader_allocate(mf_Reader *reader, size_t size) {
    void *memory = mf_arena_take(&reader->memory->arena, size);
    if (memory == NULL)
        mf_fail_at(reader->error, MF_NO_MEMORY, reader->tree->file, 0, 0,
                   "no memory to read the file");
    return memory;
}

static mf_Status refuse(const mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    char expected[256], found[64];
    return mf_yaml_fail(reader->tree, node, false, MF_BAD_FILE, reader->error,
                        "%s%s: expected %s, found %s", reader->prefix, key->path,
                        mf_key_expectation(key, expected, sizeof expected),
                        mf_yaml_describe(node, found, sizeof found));
}

// A variant with more than one sub-group.
static mf_Status refuse_two(const mf_Reader *reader, const mf_Key *key, const mf_YamlNode *second) {
    char expected[256];
    return mf_yaml_fail(reader->tree, second, true, MF_BAD_FILE, reader->error,
                        "%s%s: expected only %s, found %s, too", reader->prefix, key->path,
                        mf_key_expectation(key, expected, sizeof expected), second->key);
}

static void *member(const mf_Reader *reader, const mf_Key *key) {
    return (char *)reader->base + key->offset;
}

static bool is_plain(const mf_YamlNode *node) {
    return node->kind == MF_YAML_SCALAR && !node->quoted;
}

static bool in_range(const mf_Key *key, double value) {
    if (isinf(value))
        return value > 0 && (key->flags & MF_KEY_INFINITE);
    bool above = key->flags & MF_KEY_ABOVE ? value > key->lower : value >= key->lower;
    return above && value <= key->upper;
}

// "auto" where the row allows it.
static bool is_auto(const mf_Key *key, const mf_YamlNode *node) {
    return (key->flags & MF_KEY_AUTO) && is_plain(node) && strcmp(node->text, "auto") == 0;
}

static bool read_number(const mf_Key *key, const mf_YamlNode *node, double *out) {
    return is_plain(node) && mf_decimal_parse(node->text, out) && in_range(key, *out);
}

static bool read_count(const mf_Key *key, const mf_YamlNode *node, uint32_t *out) {
    uint64_t value;
    if (!is_plain(node) || !mf_decimal_parse_whole(node->text, &value) ||
        !in_range(key, (double)value))
        return false;
    *out = (uint32_t)value;
    return true;
}

static bool read_flag(const mf_YamlNode *node, bool *out) {
    if (!is_plain(node))
        return false;
    *out = strcmp(node->text, "true") == 0;
    return *out || strcmp(node->text, "false") == 0;
}

// Index of the chosen word, -1 if unknown.
static int read_choice(const mf_Key *key, const mf_YamlNode *node) {
    for (int i = 0; node->kind == MF_YAML_SCALAR && key->choices[i] != NULL; i++) {
        if (strcmp(key->choices[i], node->text) == 0)
            return i;
    }
    return -1;
}

// The name of a sub-group, alone or with settings.
static int read_variant(const mf_Key *key, const mf_YamlNode *node) {
    if (node->kind != MF_YAML_MAPPING)
        return read_choice(key, node);
    if (node->first == NULL || node->first != node->last)
        return -1;
    const mf_YamlNode name = {.kind = MF_YAML_SCALAR, .text = node->first->key};
    return read_choice(key, &name);
}

static bool read_position(const mf_Key *key, const mf_YamlNode *node, double out[2]) {
    if (is_plain(node) && strcmp(node->text, "centered") == 0) {
        out[0] = out[1] = NAN;
        return true;
    }
    if (node->kind != MF_YAML_SEQUENCE || node->first == NULL || node->first->next != node->last)
        return false;
    return read_number(key, node->first, &out[0]) && read_number(key, node->last, &out[1]);
}

static bool read_vector(const mf_Key *key, const mf_YamlNode *node, double *out) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < key->length && is_auto(key, node); i++)
        out[i] = NAN;
    if (node->kind != MF_YAML_SEQUENCE)
        return is_auto(key, node);
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next) {
        if (count == key->length || !read_number(key, entry, &out[count]))
            return false;
        count++;
    }
    return count == key->length;
}

static void put_list(const mf_Reader *reader, const mf_Key *key, void *entries, uint32_t count) {
    char *target = member(reader, key);
    memcpy(target + offsetof(mf_KeyList, entries), &entries, sizeof entries);
    memcpy(target + offsetof(mf_KeyList, count), &count, sizeof count);
}

static mf_Status take_points(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    if (node->kind != MF_YAML_SEQUENCE)
        return refuse(reader, key, node);
    uint32_t count = mf_yaml_count(node), index = 0;
    double *points = mf_reader_allocate(reader, (size_t)count * key->length * sizeof *points);
    if (points == NULL)
        return MF_NO_MEMORY;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next) {
        if (!read_vector(key, entry, points + (size_t)index++ * key->length))
            return refuse(reader, key, entry);
    }
    put_list(reader, key, points, count);
    return MF_OK;
}

static mf_Status take_numbers(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    uint32_t count = mf_yaml_count(node), index = 0;
    if (node->kind != MF_YAML_SEQUENCE || count > key->length)
        return refuse(reader, key, node);
    double *numbers = mf_reader_allocate(reader, count * sizeof *numbers);
    if (numbers == NULL)
        return MF_NO_MEMORY;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next) {
        if (!read_number(key, entry, &numbers[index++]))
            return refuse(reader, key, entry);
    }
    put_list(reader, key, numbers, count);
    return MF_OK;
}

static mf_Status take_named(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    bool empty = mf_yaml_is_null(node);
    if (node->kind != MF_YAML_MAPPING && !empty)
        return refuse(reader, key, node);
    uint32_t count = empty ? 0 : mf_yaml_count(node), index = 0;
    mf_KeyNamed *named = mf_reader_allocate(reader, count * sizeof *named);
    if (named == NULL)
        return MF_NO_MEMORY;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next, index++) {
        size_t length = strlen(entry->key);
        char *name = mf_reader_allocate(reader, length + 1), expected[200], found[64];
        if (name == NULL)
            return MF_NO_MEMORY;
        memcpy(name, entry->key, length);
        named[index].name = name;
        if (!read_number(key, entry, &named[index].value))
            return mf_yaml_fail(reader->tree, entry, false, MF_BAD_FILE, reader->error,
                                "%s%s.%.80s: expected %s, found %s", reader->prefix, key->path,
                                name, mf_key_number(key, expected, sizeof expected),
                                mf_yaml_describe(entry, found, sizeof found));
    }
    put_list(reader, key, named, count);
    return MF_OK;
}

// Entries of a list are structures of their own table.
static mf_Status take_list(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    const mf_KeyTable *table = key->items;
    if (node->kind != MF_YAML_SEQUENCE || node->first == NULL)
        return refuse(reader, key, node);
    uint32_t count = mf_yaml_count(node), index = 0;
    char *entries = mf_reader_allocate(reader, count * table->size);
    if (entries == NULL)
        return MF_NO_MEMORY;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next, index++) {
        mf_Reader inner = mf_reader_entry(reader, key, entry, index);
        inner.base = entries + index * table->size;
        MF_TRY(mf_reader_read(&inner));
    }
    put_list(reader, key, entries, count);
    return MF_OK;
}

// Whether a text is one line that a YAML file can hold.
static bool is_line(const char *text) {
    return strpbrk(text, "\t\n\r") == NULL && mf_yaml_is_text(text, strlen(text));
}

static char *join(mf_Reader *reader, const char *start, size_t start_length, const char *end) {
    size_t end_length = strlen(end);
    char *text = mf_reader_allocate(reader, start_length + end_length + 1);
    if (text == NULL)
        return NULL;
    memcpy(text, start, start_length);
    memcpy(text + start_length, end, end_length + 1);
    return text;
}

// Length of the folder part of the file's own path, the slash included. Paths in overrides are
// relative to the current folder and are not changed.
static size_t folder_length(const mf_Reader *reader, const mf_YamlNode *node) {
    if (node->override != NULL || node->text[0] == '/')
        return 0;
    const char *slash = strrchr(reader->tree->file, '/');
    return slash == NULL ? 0 : (size_t)(slash - reader->tree->file) + 1;
}

static bool is_path(const mf_YamlNode *node) {
    return node->kind == MF_YAML_SCALAR && node->text[0] != '\0' && !mf_yaml_is_null(node) &&
           strlen(node->text) <= PATH_LIMIT && is_line(node->text);
}

static mf_Status take_string(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    bool file = key->kind == MF_KEY_FILE;
    const bool lines = (key->flags & MF_KEY_LINES) != 0;
    if (node->kind != MF_YAML_SCALAR || (file && !is_path(node)) ||
        (!lines && !is_line(node->text)))
        return refuse(reader, key, node);
    const char *text = mf_yaml_is_null(node) ? "" : node->text;
    char *copy = join(reader, reader->tree->file, file ? folder_length(reader, node) : 0, text);
    if (copy == NULL)
        return MF_NO_MEMORY;
    *(const char **)member(reader, key) = copy;
    return MF_OK;
}

static mf_Status take_names(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    uint32_t count = mf_yaml_count(node), index = 0;
    if (node->kind != MF_YAML_SEQUENCE)
        return refuse(reader, key, node);
    const char **names = mf_reader_allocate(reader, count * sizeof *names);
    if (names == NULL)
        return MF_NO_MEMORY;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next) {
        if (!is_path(entry))
            return refuse(reader, key, entry);
        names[index] = join(reader, "", 0, entry->text);
        if (names[index++] == NULL)
            return MF_NO_MEMORY;
    }
    put_list(reader, key, names, count);
    return MF_OK;
}

// "name: folder" becomes the pair "name=folder" with the folder resolved.
static mf_Status take_package(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node,
                              const char **out) {
    if (!is_path(node) || strpbrk(node->key, "=/") != NULL || !is_line(node->key))
        return refuse(reader, key, node);
    size_t folder = folder_length(reader, node);
    char *start = join(reader, node->key, strlen(node->key), "=");
    char *whole = start == NULL
                      ? NULL
                      : mf_reader_allocate(reader, strlen(start) + folder + strlen(node->text) + 1);
    if (whole == NULL)
        return MF_NO_MEMORY;
    size_t length = strlen(start);
    memcpy(whole, start, length);
    memcpy(whole + length, reader->tree->file, folder);
    memcpy(whole + length + folder, node->text, strlen(node->text) + 1);
    *out = whole;
    return MF_OK;
}

static mf_Status take_packages(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    mf_ImportConfig *import = member(reader, key);
    if (mf_yaml_is_null(node))
        return MF_OK;
    if (node->kind != MF_YAML_MAPPING)
        return refuse(reader, key, node);
    uint32_t count = mf_yaml_count(node);
    const char **packages = mf_reader_allocate(reader, count * sizeof *packages);
    if (packages == NULL)
        return MF_NO_MEMORY;
    uint32_t index = 0;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next) {
        MF_TRY(take_package(reader, key, entry, &packages[index++]));
    }
    import->packages = packages;
    import->package_count = count;
    return MF_OK;
}

static mf_Status take_name(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    int index = key->kind == MF_KEY_VARIANT ? read_variant(key, node) : read_choice(key, node);
    if (index < 0 && node->kind == MF_YAML_MAPPING && node->first != node->last)
        return refuse_two(reader, key, node->first->next);
    if (index < 0)
        return refuse(reader, key, node);
    if (key->offset == MF_KEY_NOWHERE)
        return MF_OK;
    if (key->kind == MF_KEY_DOUBLE)
        *(bool *)member(reader, key) = index == 1;
    else
        *(int *)member(reader, key) = index;
    return MF_OK;
}

static bool take_time(const mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    double seconds = 0.0;
    if (!is_auto(key, node) && !read_number(key, node, &seconds))
        return false;
    mf_Time time = mf_time_from_seconds(seconds);
    if (key->kind == MF_KEY_RATE)
        // A period of 0, where the range allows it, means every step.
        *(mf_Rate *)member(reader, key) = time == 0 ? (mf_Rate){0, 0} : mf_rate_from_period(time);
    else
        *(mf_Time *)member(reader, key) = time;
    return true;
}

mf_Status mf_reader_take(mf_Reader *reader, const mf_Key *key, const mf_YamlNode *node) {
    void *target = key->offset == MF_KEY_NOWHERE ? NULL : member(reader, key);
    bool good = false;
    switch (key->kind) {
    case MF_KEY_SECTION:
        good = node->kind == MF_YAML_MAPPING || mf_yaml_is_null(node);
        break;
    case MF_KEY_VARIANT:
        if (mf_yaml_is_null(node))
            return mf_reader_take_default(reader, key);
        return take_name(reader, key, node);
    case MF_KEY_CHOICE:
    case MF_KEY_DOUBLE:
        return take_name(reader, key, node);
    case MF_KEY_TEXT:
    case MF_KEY_FILE:
        return take_string(reader, key, node);
    case MF_KEY_PACKAGES:
        return take_packages(reader, key, node);
    case MF_KEY_REAL:
        good = is_auto(key, node) || read_number(key, node, target);
        if (is_auto(key, node))
            *(double *)target = NAN;
        break;
    case MF_KEY_TIME:
    case MF_KEY_RATE:
        good = take_time(reader, key, node);
        break;
    case MF_KEY_COUNT:
        good = read_count(key, node, target);
        break;
    case MF_KEY_SEED:
        good = is_plain(node) && mf_decimal_parse_whole(node->text, target);
        break;
    case MF_KEY_FLAG:
        good = read_flag(node, target);
        break;
    case MF_KEY_POSITION:
        good = read_position(key, node, target);
        break;
    case MF_KEY_VECTOR:
        good = read_vector(key, node, target);
        break;
    case MF_KEY_POINTS:
        return take_points(reader, key, node);
    case MF_KEY_NUMBERS:
        return take_numbers(reader, key, node);
    case MF_KEY_NAMES:
        return take_names(reader, key, node);
    case MF_KEY_LIST:
        return take_list(reader, key, node);
    case MF_KEY_NAMED:
        return take_named(reader, key, node);
    }
    return good ? MF_OK : refuse(reader, key, node);
}

// Parses the default "[a, b, c]" into a list node as if read from a file.
static void split_default(const mf_Key *key, mf_YamlNode *list, mf_YamlNode *entries, char *text) {
    strcpy(text, key->fallback + 1);
    text[strlen(text) - 1] = '\0';
    *list = (mf_YamlNode){.kind = MF_YAML_SEQUENCE, .first = entries};
    for (uint32_t i = 0; i < key->length; i++) {
        char *end = strstr(text, ", ");
        entries[i] = (mf_YamlNode){.kind = MF_YAML_SCALAR, .text = text};
        entries[i].next = end == NULL ? NULL : &entries[i + 1];
        list->last = &entries[i];
        if (end != NULL)
            *end = '\0';
        text = end == NULL ? text : end + 2;
    }
}

mf_Status mf_reader_take_default(mf_Reader *reader, const mf_Key *key) {
    if (key->fallback == NULL)
        return MF_OK;
    mf_YamlNode node = {.kind = MF_YAML_SCALAR, .text = key->fallback};
    mf_YamlNode entries[DEFAULT_LENGTH];
    char text[DEFAULT_LENGTH * MF_DECIMAL_TEXT];
    if (key->kind == MF_KEY_VECTOR && key->fallback[0] == '[')
        split_default(key, &node, entries, text);
    return mf_reader_take(reader, key, &node);
}

static mf_Status refuse_root(const mf_Reader *reader) {
    char found[64];
    const char *first = "";
    for (uint32_t i = 0; i < mf_keys_count(reader->table) && first[0] == '\0'; i++) {
        if (mf_keys_at(reader->table, i)->flags & MF_KEY_REQUIRED)
            first = mf_keys_at(reader->table, i)->path;
    }
    bool hint = first[0] != '\0';
    return mf_yaml_fail(reader->tree, reader->root, false, MF_BAD_FILE, reader->error,
                        "%s: expected a group of keys%s%s, found %s", reader->what,
                        hint ? " such as " : "", first,
                        mf_yaml_describe(reader->root, found, sizeof found));
}

static mf_Status read_keys(mf_Reader *reader) {
    const mf_KeyTable *table = reader->table;
    for (uint32_t i = 0; i < mf_keys_count(table); i++) {
        const mf_Key *key = mf_keys_at(table, i);
        // Variants share members, so only the chosen one's may be touched.
        if (!mf_key_is_chosen(table, reader->base, key))
            continue;
        const mf_YamlNode *node = mf_reader_find(reader, key->path);
        if (node == NULL && (key->flags & MF_KEY_REQUIRED))
            return mf_yaml_fail(reader->tree, reader->root, false, MF_BAD_FILE, reader->error,
                                "expected the key %s%s, which is missing", reader->prefix,
                                key->path);
        mf_Status status =
            node == NULL ? mf_reader_take_default(reader, key) : mf_reader_take(reader, key, node);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

mf_Status mf_reader_read(mf_Reader *reader) {
    if (reader->root->kind != MF_YAML_MAPPING)
        return refuse_root(reader);
    MF_TRY(mf_reader_check_keys(reader, reader->root, ""));
    if (reader->table->start != NULL)
        reader->table->start(reader->base);
    return read_keys(reader);
}
