// Values of an experiment file: each kind of key has one reader here, which checks the kind of
// node, the form and the range. Ranges are tested so that NaN fails.
#include "experiment/decimal.h"
#include "experiment/reader.h"

#include <math.h>
#include <string.h>

enum { PATH_LIMIT = 4096 }; // [byte] longest file name taken from an experiment

void *mf_reader_allocate(mf_Reader *reader, size_t size) {
    mf_ExperimentString *string =
        mf_allocate(reader->tree->context, 1, sizeof *string + (size == 0 ? 1 : size));
    if (string == NULL) {
        mf_fail_at(reader->error, MF_NO_MEMORY, reader->tree->file, 0, 0,
                   "no memory to read the file");
        return NULL;
    }
    string->next = reader->box->strings;
    reader->box->strings = string;
    return string->data;
}

static mf_Status refuse(const mf_Reader *reader, const mf_ExperimentKey *key,
                        const mf_YamlNode *node) {
    char expected[256], found[64];
    return mf_yaml_fail(reader->tree, node, false, MF_BAD_FILE, reader->error,
                        "%s: expected %s, found %s", key->path,
                        mf_experiment_expectation(key, expected, sizeof expected),
                        mf_yaml_describe(node, found, sizeof found));
}

// A variant with more than one sub-group.
static mf_Status refuse_two(const mf_Reader *reader, const mf_ExperimentKey *key,
                            const mf_YamlNode *second) {
    char expected[256];
    return mf_yaml_fail(reader->tree, second, true, MF_BAD_FILE, reader->error,
                        "%s: expected just %s, found %s too", key->path,
                        mf_experiment_expectation(key, expected, sizeof expected), second->key);
}

static void *member(const mf_Reader *reader, const mf_ExperimentKey *key) {
    return (char *)&reader->box->experiment + key->offset;
}

static bool is_plain(const mf_YamlNode *node) {
    return node->kind == MF_YAML_SCALAR && !node->quoted;
}

static bool in_range(const mf_ExperimentKey *key, double value) {
    if (isinf(value))
        return value > 0 && (key->flags & MF_KEY_INFINITE);
    bool above = key->flags & MF_KEY_ABOVE ? value > key->lower : value >= key->lower;
    return above && value <= key->upper;
}

static bool read_number(const mf_ExperimentKey *key, const mf_YamlNode *node, double *out) {
    return is_plain(node) && mf_decimal_parse(node->text, out) && in_range(key, *out);
}

static bool read_count(const mf_ExperimentKey *key, const mf_YamlNode *node, uint32_t *out) {
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

// Index of the chosen word, -1 for another.
static int read_choice(const mf_ExperimentKey *key, const mf_YamlNode *node) {
    for (int i = 0; node->kind == MF_YAML_SCALAR && key->choices[i] != NULL; i++) {
        if (strcmp(key->choices[i], node->text) == 0)
            return i;
    }
    return -1;
}

// One of the sub-groups' names, alone or with settings in it.
static int read_variant(const mf_ExperimentKey *key, const mf_YamlNode *node) {
    if (node->kind != MF_YAML_MAPPING)
        return read_choice(key, node);
    if (node->first == NULL || node->first != node->last)
        return -1;
    const mf_YamlNode name = {.kind = MF_YAML_SCALAR, .text = node->first->key};
    return read_choice(key, &name);
}

static bool read_place(const mf_ExperimentKey *key, const mf_YamlNode *node, double out[2]) {
    if (is_plain(node) && strcmp(node->text, "centered") == 0) {
        out[0] = out[1] = NAN;
        return true;
    }
    if (node->kind != MF_YAML_SEQUENCE || node->first == NULL || node->first->next != node->last)
        return false;
    return read_number(key, node->first, &out[0]) && read_number(key, node->last, &out[1]);
}

// One line without control characters.
static bool is_line(const char *text) {
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            return false;
    }
    return true;
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

// Length of the folder part of the experiment's own path, the slash included. Names from overrides
// were typed in the current folder and stay as they are.
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

static mf_Status take_string(mf_Reader *reader, const mf_ExperimentKey *key,
                             const mf_YamlNode *node) {
    bool file = key->kind == MF_KEY_FILE;
    if (node->kind != MF_YAML_SCALAR || (file && !is_path(node)) || !is_line(node->text))
        return refuse(reader, key, node);
    const char *text = mf_yaml_is_null(node) ? "" : node->text;
    char *copy = join(reader, reader->tree->file, file ? folder_length(reader, node) : 0, text);
    if (copy == NULL)
        return MF_NO_MEMORY;
    *(const char **)member(reader, key) = copy;
    return MF_OK;
}

// "name: folder" becomes the pair "name=folder" with the folder resolved.
static mf_Status take_package(mf_Reader *reader, const mf_ExperimentKey *key,
                              const mf_YamlNode *node, const char **out) {
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

static mf_Status take_packages(mf_Reader *reader, const mf_ExperimentKey *key,
                               const mf_YamlNode *node) {
    mf_ImportConfig *import = member(reader, key);
    if (mf_yaml_is_null(node))
        return MF_OK;
    if (node->kind != MF_YAML_MAPPING)
        return refuse(reader, key, node);
    uint32_t count = 0;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next)
        count++;
    const char **packages = mf_reader_allocate(reader, count * sizeof *packages);
    if (packages == NULL)
        return MF_NO_MEMORY;
    uint32_t index = 0;
    for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next) {
        mf_Status status = take_package(reader, key, entry, &packages[index++]);
        if (status != MF_OK)
            return status;
    }
    import->packages = packages;
    import->package_count = count;
    return MF_OK;
}

static mf_Status take_word(mf_Reader *reader, const mf_ExperimentKey *key,
                           const mf_YamlNode *node) {
    int index = key->kind == MF_KEY_VARIANT ? read_variant(key, node) : read_choice(key, node);
    if (index < 0 && node->kind == MF_YAML_MAPPING && node->first != node->last)
        return refuse_two(reader, key, node->first->next);
    if (index < 0)
        return refuse(reader, key, node);
    if (key->offset == MF_KEY_NOWHERE)
        return MF_OK;
    if (key->kind == MF_KEY_WORD)
        *(const char **)member(reader, key) = key->choices[index];
    else if (key->kind == MF_KEY_DOUBLE)
        *(bool *)member(reader, key) = index == 1;
    else
        *(int *)member(reader, key) = index;
    return MF_OK;
}

static bool take_time(const mf_Reader *reader, const mf_ExperimentKey *key,
                      const mf_YamlNode *node) {
    double seconds;
    if (!read_number(key, node, &seconds))
        return false;
    mf_Time time = mf_time_from_seconds(seconds);
    if (key->kind == MF_KEY_RATE)
        *(mf_Rate *)member(reader, key) = mf_rate_from_period(time);
    else
        *(mf_Time *)member(reader, key) = time;
    return true;
}

mf_Status mf_reader_take(mf_Reader *reader, const mf_ExperimentKey *key, const mf_YamlNode *node) {
    void *target = key->offset == MF_KEY_NOWHERE ? NULL : member(reader, key);
    bool good = false;
    switch (key->kind) {
    case MF_KEY_SECTION:
        good = node->kind == MF_YAML_MAPPING || mf_yaml_is_null(node);
        break;
    case MF_KEY_VARIANT:
        if (mf_yaml_is_null(node))
            return mf_reader_take_default(reader, key);
        return take_word(reader, key, node);
    case MF_KEY_CHOICE:
    case MF_KEY_DOUBLE:
    case MF_KEY_WORD:
        return take_word(reader, key, node);
    case MF_KEY_TEXT:
    case MF_KEY_FILE:
        return take_string(reader, key, node);
    case MF_KEY_PACKAGES:
        return take_packages(reader, key, node);
    case MF_KEY_REAL:
        good = read_number(key, node, target);
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
    case MF_KEY_PLACE:
        good = read_place(key, node, target);
        break;
    }
    return good ? MF_OK : refuse(reader, key, node);
}

mf_Status mf_reader_take_default(mf_Reader *reader, const mf_ExperimentKey *key) {
    if (key->fallback == NULL)
        return MF_OK;
    const mf_YamlNode node = {.kind = MF_YAML_SCALAR, .text = key->fallback};
    return mf_reader_take(reader, key, &node);
}
