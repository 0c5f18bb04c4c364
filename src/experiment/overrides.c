// Overrides and the check for unknown keys: both work on the node tree, before any value is read,
// so that an override is checked exactly like a line of the file.
#include "experiment/reader.h"
#include "experiment/yaml_text.h"

#include <stdio.h>
#include <string.h>

mf_YamlNode *mf_reader_find(const mf_YamlTree *tree, const char *path) {
    mf_YamlNode *node = tree->root;
    while (node != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        node = mf_yaml_find(node, path, length);
        path += length + (path[length] == '.');
    }
    return node;
}

// ---- unknown keys ------------------------------------------------------------------------------

static void list_known(const char *group, char *out, size_t size) {
    uint32_t count;
    const mf_ExperimentKey *keys = mf_experiment_keys(&count);
    size_t length = strlen(group), used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < count && used < size; i++) {
        if (mf_experiment_group_length(keys[i].path) != length ||
            strncmp(keys[i].path, group, length) != 0)
            continue;
        const char *name = keys[i].path + length + (length != 0);
        used += (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ", name);
    }
}

static mf_Status refuse_unknown(const mf_Reader *reader, const mf_YamlNode *node, const char *group,
                                const char *path) {
    const char *near = mf_experiment_near_key(path);
    if (near != NULL)
        return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                            "%.80s: unknown key, did you mean %s?", path, near);
    char known[256];
    list_known(group, known, sizeof known);
    return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                        "%.80s: unknown key, expected one of %s", path, known);
}

mf_Status mf_reader_check_keys(const mf_Reader *reader, const mf_YamlNode *group,
                               const char *path) {
    for (const mf_YamlNode *entry = group->first; entry != NULL; entry = entry->next) {
        char inner[2 * MF_YAML_KEY];
        int length =
            snprintf(inner, sizeof inner, "%s%s%s", path, path[0] == '\0' ? "" : ".", entry->key);
        // A key with a dot in it would look like a path, but is none.
        const mf_ExperimentKey *key =
            strchr(entry->key, '.') != NULL ? NULL : mf_experiment_find_key(inner, (size_t)length);
        if (key == NULL)
            return refuse_unknown(reader, entry, path, inner);
        if (entry->kind != MF_YAML_MAPPING ||
            (key->kind != MF_KEY_SECTION && key->kind != MF_KEY_VARIANT))
            continue;
        mf_Status status = mf_reader_check_keys(reader, entry, inner);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

// ---- overrides ---------------------------------------------------------------------------------

static mf_Status fail_memory(const mf_Reader *reader) {
    return mf_fail_at(reader->error, MF_NO_MEMORY, reader->tree->file, 0, 0,
                      "no memory to apply an override");
}

// The group that the last name of `path` goes into, made where the file does not have it.
static mf_YamlNode *open_group(const mf_Reader *reader, const char *path, const char *text) {
    mf_YamlNode *node = reader->tree->root;
    size_t end = mf_experiment_group_length(path);
    for (size_t start = 0; node != NULL && start < end;) {
        size_t length = strcspn(path + start, ".");
        const mf_ExperimentKey *outer = start == 0 ? NULL : mf_experiment_find_key(path, start - 1);
        mf_YamlNode *inner = mf_yaml_find(node, path + start, length);
        if (outer != NULL && outer->kind == MF_KEY_VARIANT && inner == NULL)
            node->first = node->last = NULL; // choosing one variant drops the other
        if (inner == NULL)
            inner = mf_yaml_add(reader->tree, node, path + start, length, text);
        if (inner != NULL && inner->kind != MF_YAML_MAPPING) {
            inner->kind = MF_YAML_MAPPING;
            inner->first = inner->last = NULL;
        }
        node = inner;
        start += length + 1;
    }
    return node;
}

// An override that says where the ground comes from takes back what the file says about the other
// way; what other overrides say stays, so that a contradiction among them is found.
static void drop_other_ground(const mf_Reader *reader, const mf_ExperimentKey *key) {
    mf_YamlNode *terrain = mf_reader_find(reader->tree, "terrain");
    bool image = strcmp(key->path, "terrain.file") == 0;
    if (terrain == NULL || terrain->kind != MF_YAML_MAPPING ||
        (!image && strcmp(key->path, "terrain.shape") != 0))
        return;
    for (mf_YamlNode *entry = terrain->first, *next; entry != NULL; entry = next) {
        char path[2 * MF_YAML_KEY];
        next = entry->next;
        int length = snprintf(path, sizeof path, "terrain.%s", entry->key);
        const mf_ExperimentKey *other = mf_experiment_find_key(path, (size_t)length);
        if (other != NULL && entry->override == NULL &&
            (other->flags & (image ? MF_KEY_SHAPE : MF_KEY_IMAGE)))
            mf_yaml_remove(terrain, entry);
    }
}

static void mark_override(mf_YamlNode *node, const char *text) {
    node->override = text;
    for (mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next)
        mark_override(entry, text);
}

// Lists and groups in an override are YAML; everything else is taken as typed.
static mf_Status set_value(const mf_Reader *reader, mf_YamlNode *node, const char *value,
                           bool structured) {
    if (!structured || (value[0] != '[' && value[0] != '{')) {
        node->text = mf_yaml_copy(reader->tree, value, strlen(value));
        return node->text == NULL ? fail_memory(reader) : MF_OK;
    }
    mf_YamlTree parsed;
    mf_Error cause = {0};
    mf_Status status =
        mf_yaml_parse(reader->tree->context, NULL, value, strlen(value), &parsed, &cause);
    if (status != MF_OK)
        return mf_fail(reader->error, status, "override %.100s: %s", node->override, cause.message);
    node->kind = parsed.root->kind;
    node->first = parsed.root->first;
    node->last = parsed.root->last;
    mark_override(node, node->override);
    mf_yaml_adopt(reader->tree, &parsed);
    return MF_OK;
}

// The row of a path; names of packages are free.
static const mf_ExperimentKey *find_row(const char *path) {
    static const char packages[] = "model.packages.";
    size_t length = sizeof packages - 1;
    if (strncmp(path, packages, length) == 0 && path[length] != '\0' &&
        strchr(path + length, '.') == NULL)
        return mf_experiment_find_key(packages, length - 1);
    return mf_experiment_find_key(path, strlen(path));
}

static mf_Status apply(const mf_Reader *reader, const mf_Override *override) {
    if (override->path == NULL || override->value == NULL)
        return mf_fail(reader->error, MF_BAD_ARGUMENT, "override: path or value is NULL");
    size_t path_length = strlen(override->path), value_length = strlen(override->value);
    if (path_length > MF_YAML_KEY || value_length > MF_YAML_BYTES)
        return mf_fail(reader->error, MF_LIMIT, "override: expected a path of at most 255 bytes");
    char *text = mf_yaml_reserve(reader->tree, path_length + value_length + 2);
    if (text == NULL)
        return fail_memory(reader);
    memcpy(text, override->path, path_length);
    text[path_length] = '=';
    memcpy(text + path_length + 1, override->value, value_length);
    mf_Status status = mf_yaml_check_text("override", text, strlen(text), reader->error);
    if (status != MF_OK)
        return status;
    const mf_ExperimentKey *key = find_row(override->path);
    if (key == NULL) {
        const mf_YamlNode place = {.override = text};
        char group[MF_YAML_KEY + 1] = "";
        memcpy(group, override->path, mf_experiment_group_length(override->path));
        return refuse_unknown(reader, &place, group, override->path);
    }
    drop_other_ground(reader, key);
    mf_YamlNode *parent = open_group(reader, override->path, text);
    if (parent == NULL)
        return fail_memory(reader);
    const char *name = override->path + mf_experiment_group_length(override->path);
    name += *name == '.';
    mf_YamlNode *old = mf_yaml_find(parent, name, strlen(name));
    if (old != NULL)
        mf_yaml_remove(parent, old);
    mf_YamlNode *node = mf_yaml_add(reader->tree, parent, name, strlen(name), text);
    if (node == NULL)
        return fail_memory(reader);
    bool structured = key->kind == MF_KEY_PLACE ||
                      (key->kind == MF_KEY_PACKAGES && strcmp(key->path, override->path) == 0);
    return set_value(reader, node, override->value, structured);
}

mf_Status mf_reader_override(mf_Reader *reader, const mf_Override *overrides, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        mf_Status status = apply(reader, &overrides[i]);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}
