// Overrides and the check for unknown keys: both work on the node tree, before any value is read,
// so that an override is checked exactly like a line of the file.
#include "io/reader.h"
#include "io/yaml_text.h"

#include <stdio.h>
#include <string.h>

mf_YamlNode *mf_reader_find(const mf_Reader *reader, const char *path) {
    mf_YamlNode *node = reader->root;
    while (node != NULL && *path != '\0') {
        size_t length = strcspn(path, ".");
        node = mf_yaml_find(node, path, length);
        path += length + (path[length] == '.');
    }
    return node;
}

const mf_YamlNode *mf_reader_blame(const mf_Reader *reader, const char *path, const char *other) {
    const mf_YamlNode *node = mf_reader_find(reader, path);
    if (other != NULL && (node == NULL || node->kind == MF_YAML_MAPPING))
        node = mf_reader_find(reader, other);
    return node != NULL ? node : reader->root;
}

mf_Reader mf_reader_entry(const mf_Reader *reader, const mf_Key *list, const mf_YamlNode *entry,
                          uint32_t index) {
    mf_Reader inner = *reader;
    const mf_YamlNode *name = mf_yaml_find(entry, "name", 4);
    inner.table = list->items;
    inner.root = (mf_YamlNode *)(uintptr_t)entry; // the tree itself may be changed
    inner.what = list->path;
    inner.base = NULL;
    if (name != NULL && name->kind == MF_YAML_SCALAR && name->text[0] != '\0')
        snprintf(inner.prefix, sizeof inner.prefix, "%.130s%.40s.%.80s.", reader->prefix,
                 list->path, name->text);
    else
        snprintf(inner.prefix, sizeof inner.prefix, "%.130s%.40s.%u.", reader->prefix, list->path,
                 index);
    return inner;
}

mf_Reader mf_reader_item(const mf_Reader *reader, const char *path, uint32_t index) {
    const mf_Key *key = mf_keys_find(reader->table, path, strlen(path));
    const mf_YamlNode *entry = mf_reader_find(reader, path)->first;
    mf_KeyList list;
    memcpy(&list, (const char *)reader->base + key->offset, sizeof list);
    for (uint32_t i = 0; i < index; i++)
        entry = entry->next;
    mf_Reader inner = mf_reader_entry(reader, key, entry, index);
    inner.base = (char *)list.entries + index * key->items->size;
    return inner;
}

// ---- unknown keys ------------------------------------------------------------------------------

static void list_known(const mf_KeyTable *table, const char *group, char *out, size_t size) {
    size_t length = strlen(group), used = 0;
    out[0] = '\0';
    for (uint32_t i = 0; i < mf_keys_count(table) && used < size; i++) {
        const char *path = mf_keys_at(table, i)->path;
        if (mf_key_group_length(path) != length || strncmp(path, group, length) != 0)
            continue;
        used += (size_t)snprintf(out + used, size - used, "%s%s", used == 0 ? "" : ", ",
                                 path + length + (length != 0));
    }
}

// Keys without a successor, and what does their work now.
static const struct {
    const char *path, *instead;
} gone[] = {{"behavior.soccer", "a script plays, such as that of scenes/soccer.yaml"}};

static mf_Status refuse_unknown(const mf_Reader *reader, const mf_YamlNode *node, const char *group,
                                const char *path) {
    const char *near = mf_keys_near(reader->table, path);
    if (near != NULL)
        return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                            "%s%.80s: unknown key, did you mean %s%s?", reader->prefix, path,
                            reader->prefix, near);
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        if (strcmp(gone[i].path, path) == 0)
            return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                                "%s%.80s: this key is gone: %s", reader->prefix, path,
                                gone[i].instead);
    char known[320];
    list_known(reader->table, group, known, sizeof known);
    return mf_yaml_fail(reader->tree, node, true, MF_BAD_FILE, reader->error,
                        "%s%.80s: unknown key, expected one of %s", reader->prefix, path, known);
}

// The row of an entry with an old name, which gets the new one; NULL: it is not one.
static const mf_Key *rename_key(const mf_Reader *reader, const mf_YamlNode *group,
                                mf_YamlNode *entry, char *path) {
    uint32_t rename;
    const mf_Key *key =
        reader->memory->old_keys == NULL ? NULL : mf_keys_renamed(reader->table, path, &rename);
    if (key == NULL)
        return NULL;
    const char *now = mf_key_renames[rename].now;
    if (mf_yaml_find(group, now, strlen(now)) != NULL)
        return NULL; // it is there by both names
    reader->memory->old_keys[rename]++;
    entry->key = now;
    strcpy(path, key->path);
    return key;
}

mf_Status mf_reader_check_keys(const mf_Reader *reader, mf_YamlNode *group, const char *path) {
    for (mf_YamlNode *entry = group->first; entry != NULL; entry = entry->next) {
        char inner[2 * MF_YAML_KEY];
        int length =
            snprintf(inner, sizeof inner, "%s%s%s", path, path[0] == '\0' ? "" : ".", entry->key);
        // A key that contains a dot would look like a path.
        const mf_Key *key = strchr(entry->key, '.') != NULL
                                ? NULL
                                : mf_keys_find(reader->table, inner, (size_t)length);
        if (key == NULL && strchr(entry->key, '.') == NULL)
            key = rename_key(reader, group, entry, inner);
        if (key == NULL)
            return refuse_unknown(reader, entry, path, inner);
        if (entry->kind != MF_YAML_MAPPING ||
            (key->kind != MF_KEY_SECTION && key->kind != MF_KEY_VARIANT))
            continue;
        MF_TRY(mf_reader_check_keys(reader, entry, inner));
    }
    return MF_OK;
}

// ---- overrides ---------------------------------------------------------------------------------

static mf_Status fail_memory(const mf_Reader *reader) {
    return mf_fail_at(reader->error, MF_NO_MEMORY, reader->tree->file, 0, 0,
                      "no memory to apply an override");
}

// The group that contains the last name of `path`, created where the file does not have it.
static mf_YamlNode *open_group(const mf_Reader *reader, const char *path, const char *text) {
    mf_YamlNode *node = reader->root;
    size_t end = mf_key_group_length(path);
    for (size_t start = 0; node != NULL && start < end;) {
        size_t length = strcspn(path + start, ".");
        const mf_Key *outer = start == 0 ? NULL : mf_keys_find(reader->table, path, start - 1);
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

// An override of the source of the ground removes the file's other source; values of other
// overrides remain, so that contradictions among them are detected.
static void drop_other_ground(const mf_Reader *reader, const mf_Key *key) {
    mf_YamlNode *terrain = mf_reader_find(reader, "ground");
    bool image = strcmp(key->path, "ground.file") == 0;
    if (terrain == NULL || terrain->kind != MF_YAML_MAPPING ||
        (!image && strcmp(key->path, "ground.shape") != 0))
        return;
    for (mf_YamlNode *entry = terrain->first, *next; entry != NULL; entry = next) {
        char path[2 * MF_YAML_KEY];
        next = entry->next;
        int length = snprintf(path, sizeof path, "ground.%s", entry->key);
        const mf_Key *other = mf_keys_find(reader->table, path, (size_t)length);
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

// Lists and groups in an override are YAML; everything else is a plain text.
static mf_Status set_value(const mf_Reader *reader, mf_YamlNode *node, const char *value,
                           bool structured) {
    if (!structured || (value[0] != '[' && value[0] != '{')) {
        node->text = mf_arena_text(&reader->tree->arena, value, strlen(value));
        return node->text == NULL ? fail_memory(reader) : MF_OK;
    }
    mf_YamlTree parsed;
    mf_Error cause = {0};
    mf_Status status =
        mf_yaml_parse(reader->tree->arena.context, NULL, value, strlen(value), &parsed, &cause);
    if (status != MF_OK)
        return mf_fail(reader->error, status, "override %.100s: %s", node->override, cause.message);
    node->kind = parsed.root->kind;
    node->first = parsed.root->first;
    node->last = parsed.root->last;
    mark_override(node, node->override);
    mf_arena_adopt(&reader->tree->arena, &parsed.arena);
    return MF_OK;
}

static bool has_free_names(const mf_Key *key) {
    return key->kind == MF_KEY_PACKAGES || key->kind == MF_KEY_NAMED;
}

// The row of a path, or of the group with free names that contains it.
static const mf_Key *find_row(const mf_KeyTable *table, const char *path) {
    size_t group = mf_key_group_length(path);
    const mf_Key *outer = group == 0 ? NULL : mf_keys_find(table, path, group);
    if (outer != NULL && has_free_names(outer) && path[group + 1] != '\0')
        return outer;
    return mf_keys_find(table, path, strlen(path));
}

static bool is_structured(const mf_Key *key, const char *path) {
    return key->kind == MF_KEY_POSITION || key->kind == MF_KEY_VECTOR ||
           key->kind == MF_KEY_NUMBERS || key->kind == MF_KEY_POINTS || key->kind == MF_KEY_NAMES ||
           key->kind == MF_KEY_LIST || (has_free_names(key) && strcmp(key->path, path) == 0);
}

// `text` is the whole override, for messages; `path` is the remaining path within this table.
static mf_Status apply_here(const mf_Reader *reader, const char *path, const char *value,
                            const char *text) {
    const mf_Key *key = find_row(reader->table, path);
    if (key == NULL || (key->kind == MF_KEY_LIST && value[0] != '[')) {
        const mf_YamlNode location = {.override = text};
        char group[MF_YAML_KEY + 1] = "";
        memcpy(group, path, mf_key_group_length(path));
        if (key == NULL)
            return refuse_unknown(reader, &location, group, path);
        return mf_yaml_fail(reader->tree, &location, false, MF_BAD_ARGUMENT, reader->error,
                            "%s is a list; name an entry and a key in it: %s.NAME.%s", path, path,
                            key->items->keys[0].path);
    }
    drop_other_ground(reader, key);
    mf_YamlNode *parent = open_group(reader, path, text);
    if (parent == NULL)
        return fail_memory(reader);
    const char *name = path + mf_key_group_length(path);
    name += *name == '.';
    mf_YamlNode *old = mf_yaml_find(parent, name, strlen(name));
    if (old != NULL)
        mf_yaml_remove(parent, old);
    const mf_Key *outer = mf_keys_find(reader->table, path, mf_key_group_length(path));
    if (outer != NULL && outer->kind == MF_KEY_VARIANT)
        parent->first = parent->last = NULL; // choosing one variant drops the other
    mf_YamlNode *node = mf_yaml_add(reader->tree, parent, name, strlen(name), text);
    if (node == NULL)
        return fail_memory(reader);
    return set_value(reader, node, value, is_structured(key, path));
}

// The entry of a list that the first part of `path` selects by name or number.
static mf_YamlNode *find_entry(mf_YamlNode *list, const char *path, uint32_t *index) {
    size_t length = strcspn(path, ".");
    uint32_t number = 0;
    for (mf_YamlNode *entry = list->first; entry != NULL; entry = entry->next, number++) {
        char digits[16];
        const mf_YamlNode *name = mf_yaml_find(entry, "name", 4);
        snprintf(digits, sizeof digits, "%u", number);
        const char *names[] = {name == NULL ? "" : name->text, digits};
        for (uint32_t i = 0; i < 2; i++) {
            if (strlen(names[i]) == length && strncmp(names[i], path, length) == 0) {
                *index = number;
                return entry;
            }
        }
    }
    return NULL;
}

static mf_Status refuse_entry(const mf_Reader *reader, const mf_YamlNode *list, const char *path,
                              const char *text) {
    const mf_YamlNode location = {.override = text};
    char known[256] = "";
    size_t used = 0;
    for (const mf_YamlNode *entry = list->first; entry != NULL && used < sizeof known;
         entry = entry->next) {
        const mf_YamlNode *name = mf_yaml_find(entry, "name", 4);
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%.60s",
                                 used == 0 ? "" : ", ", name == NULL ? "?" : name->text);
    }
    return mf_yaml_fail(reader->tree, &location, false, MF_BAD_ARGUMENT, reader->error,
                        "no entry is named %.*s, expected one of %s", (int)strcspn(path, "."), path,
                        known);
}

// Applies the override to the entry of a list if the path begins with one.
static mf_Status apply_at(const mf_Reader *reader, const char *path, const char *value,
                          const char *text) {
    for (uint32_t i = 0; i < mf_keys_count(reader->table); i++) {
        const mf_Key *key = mf_keys_at(reader->table, i);
        size_t length = strlen(key->path);
        if (key->kind != MF_KEY_LIST || strncmp(path, key->path, length) != 0 ||
            path[length] != '.')
            continue;
        mf_YamlNode *list = mf_reader_find(reader, key->path);
        const char *rest = path + length + 1, *inner_path = rest + strcspn(rest, ".");
        uint32_t index;
        if (list == NULL || *inner_path == '\0')
            break;
        mf_YamlNode *entry = find_entry(list, rest, &index);
        if (entry == NULL)
            return refuse_entry(reader, list, rest, text);
        mf_Reader inner = mf_reader_entry(reader, key, entry, index);
        return apply_at(&inner, inner_path + 1, value, text);
    }
    return apply_here(reader, path, value, text);
}

// `typed` is the path for messages.
static mf_Status apply(const mf_Reader *reader, const mf_Override *override, const char *typed) {
    if (override->path == NULL || override->value == NULL)
        return mf_fail(reader->error, MF_BAD_ARGUMENT, "override: path or value is NULL");
    size_t path_length = strlen(typed), value_length = strlen(override->value);
    if (strlen(override->path) > MF_YAML_KEY || path_length > MF_YAML_KEY ||
        value_length > MF_YAML_BYTES)
        return mf_fail(reader->error, MF_LIMIT, "override: expected a path of at most 255 bytes");
    char *text = mf_arena_take(&reader->tree->arena, path_length + value_length + 2);
    if (text == NULL)
        return fail_memory(reader);
    memcpy(text, typed, path_length);
    text[path_length] = '=';
    memcpy(text + path_length + 1, override->value, value_length);
    mf_Status status = mf_yaml_check_text("override", text, strlen(text), reader->error);
    return status != MF_OK ? status : apply_at(reader, override->path, override->value, text);
}

mf_Status mf_reader_override_as(mf_Reader *reader, const mf_Override *override, const char *typed) {
    return apply(reader, override, typed);
}

mf_Status mf_reader_override(mf_Reader *reader, const mf_Override *overrides, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        MF_TRY(apply(reader, &overrides[i], overrides[i].path));
    }
    return MF_OK;
}
