// The file of a sweep: keys `scene`, `seeds`, `set`, `settings` and `grid`. Every entry of
// `settings` is combined with every combination of `grid`; `set` is common to all. Keys of a scene
// may be nested: {search: {islands: 4}} is search.islands.
#include "sweep_plan.h"

#include "base/file.h"
#include "base/text.h"
#include "io/suggest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AXES = 16, NAME_LIMIT = 200, PATH_LIMIT = 200 };

// One key of `grid`.
typedef struct Axis {
    const char *path;
    const mf_YamlNode *list;
    uint32_t count; // [1] values
} Axis;

typedef struct Builder {
    mf_SweepPlan *plan;
    mf_SweepValue common[MF_SWEEP_VALUES];
    uint32_t common_count;
    Axis axes[AXES];
    uint32_t axis_count;
    mf_Error *error;
} Builder;

static mf_Status no_memory(const Builder *builder) {
    return mf_fail(builder->error, MF_NO_MEMORY, "sweep: out of memory");
}

#define FAIL(builder, node, ...)                                                                   \
    mf_yaml_fail(&(builder)->plan->tree, node, false, MF_BAD_FILE, (builder)->error, __VA_ARGS__)

// ---- values ------------------------------------------------------------------------------------

// A value as YAML on one line: words as they are, texts in quotes, lists in brackets.
static void put_value(mf_Text *text, const mf_YamlNode *node) {
    if (node->kind == MF_YAML_SEQUENCE) {
        mf_text_put(text, "[");
        for (const mf_YamlNode *entry = node->first; entry != NULL; entry = entry->next) {
            put_value(text, entry);
            mf_text_put(text, entry->next != NULL ? ", " : "");
        }
        mf_text_put(text, "]");
        return;
    }
    if (!node->quoted) {
        mf_text_put(text, node->text);
        return;
    }
    mf_text_put(text, "\"");
    for (const char *c = node->text; *c != '\0'; c++)
        if (*c == '\n')
            mf_text_put(text, "\\n");
        else
            mf_text_format(text, "%s%c", *c == '"' || *c == '\\' ? "\\" : "", *c);
    mf_text_put(text, "\"");
}

static bool has_mapping(const mf_YamlNode *node) {
    bool found = node->kind == MF_YAML_MAPPING;
    for (const mf_YamlNode *entry = node->first; entry != NULL && !found; entry = entry->next)
        found = has_mapping(entry);
    return found;
}

static mf_Status make_value(Builder *builder, const char *path, const mf_YamlNode *node,
                            mf_SweepValue *out) {
    mf_Arena *arena = &builder->plan->tree.arena;
    if (strcmp(path, "world.seed") == 0)
        return FAIL(builder, node, "%s: the seeds of a sweep are those of `seeds`", path);
    if (has_mapping(node))
        return FAIL(builder, node, "%s: expected a value or a list of values", path);
    if (mf_yaml_is_null(node))
        return FAIL(builder, node, "%s: expected a value, found nothing", path);
    mf_Text text = mf_text_begin(builder->plan->context);
    mf_text_format(&text, "%s=", path);
    put_value(&text, node);
    const size_t length = strlen(path);
    const char *word = text.failed ? NULL : mf_arena_text(arena, text.data, text.size);
    mf_text_free(&text);
    *out = (mf_SweepValue){.path = mf_arena_text(arena, path, length), .word = word, .node = node};
    if (word == NULL || out->path == NULL)
        return no_memory(builder);
    out->value = word + length + 1;
    return MF_OK;
}

// Adds a value to a setting: it replaces a common one of its path.
static mf_Status add_value(Builder *builder, mf_SweepSetting *setting, mf_SweepValue value) {
    for (uint32_t i = 0; i < setting->count; i++) {
        if (strcmp(setting->values[i].path, value.path) != 0)
            continue;
        if (i >= setting->common)
            return FAIL(builder, value.node, "%s: the setting has it twice, also in line %d",
                        value.path, (int)setting->values[i].node->line);
        memmove(&setting->values[i], &setting->values[i + 1],
                (setting->count - i - 1) * sizeof value);
        setting->common--;
        setting->count--;
    }
    if (setting->count == MF_SWEEP_VALUES)
        return FAIL(builder, value.node, "%s: expected at most %d keys", value.path,
                    MF_SWEEP_VALUES);
    setting->values[setting->count++] = value;
    return MF_OK;
}

typedef mf_Status (*LeafFn)(Builder *builder, const char *path, const mf_YamlNode *node,
                            void *target);

// Calls `leaf` for every key of a mapping that is no mapping itself; `skip` at the top is left out.
static mf_Status walk(Builder *builder, const char *before, const mf_YamlNode *mapping,
                      const char *skip, LeafFn leaf, void *target) {
    for (const mf_YamlNode *entry = mapping->first; entry != NULL; entry = entry->next) {
        char path[PATH_LIMIT];
        if (skip != NULL && strcmp(entry->key, skip) == 0)
            continue;
        const int size =
            snprintf(path, sizeof path, "%s%s%s", before, *before != '\0' ? "." : "", entry->key);
        if (size < 0 || size >= (int)sizeof path)
            return FAIL(builder, entry, "expected keys below %d bytes", PATH_LIMIT);
        MF_TRY(entry->kind == MF_YAML_MAPPING ? walk(builder, path, entry, NULL, leaf, target)
                                              : leaf(builder, path, entry, target));
    }
    return MF_OK;
}

static mf_Status take_value(Builder *builder, const char *path, const mf_YamlNode *node,
                            void *target) {
    mf_SweepValue value;
    MF_TRY(make_value(builder, path, node, &value));
    return add_value(builder, target, value);
}

static mf_Status take_axis(Builder *builder, const char *path, const mf_YamlNode *node,
                           void *target) {
    (void)target;
    if (node->kind != MF_YAML_SEQUENCE || node->first == NULL)
        return FAIL(builder, node, "grid: %s: expected a list of values", path);
    if (builder->axis_count == AXES)
        return FAIL(builder, node, "grid: expected at most %d keys", AXES);
    const char *kept = mf_arena_text(&builder->plan->tree.arena, path, strlen(path));
    if (kept == NULL)
        return no_memory(builder);
    builder->axes[builder->axis_count++] = (Axis){kept, node, mf_yaml_count(node)};
    return MF_OK;
}

// ---- names -------------------------------------------------------------------------------------

// A key without the group that most keys have.
static const char *short_path(const char *path) {
    return strncmp(path, "search.", 7) == 0 ? path + 7 : path;
}

// The name of a setting is that of a folder: letters, digits and some marks.
static mf_Status set_name(Builder *builder, mf_SweepSetting *setting, const char *given) {
    char name[4 * NAME_LIMIT] = "";
    size_t size = (size_t)snprintf(name, sizeof name, "%s", given);
    const uint32_t first = *given != '\0' ? setting->count - builder->axis_count : setting->common;
    for (uint32_t i = first; i < setting->count && size < sizeof name; i++)
        size += (size_t)snprintf(name + size, sizeof name - size, "%s%s=%s", size > 0 ? "+" : "",
                                 short_path(setting->values[i].path), setting->values[i].value);
    if (size == 0)
        size = (size_t)snprintf(name, sizeof name, "scene");
    if (size > NAME_LIMIT)
        return FAIL(builder, setting->node,
                    "the name of the setting has more than %d bytes: give it a `name`", NAME_LIMIT);
    for (char *c = name; *c != '\0'; c++)
        if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=,+-", *c) ==
                NULL ||
            (c == name && *c == '.'))
            *c = '_';
    setting->name = mf_arena_text(&builder->plan->tree.arena, name, size);
    return setting->name != NULL ? MF_OK : no_memory(builder);
}

static mf_Status check_names(Builder *builder) {
    const mf_SweepPlan *plan = builder->plan;
    for (uint32_t i = 0; i < plan->setting_count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(plan->settings[i].name, plan->settings[k].name) == 0)
                return FAIL(builder, plan->settings[i].node,
                            "two settings have the name %s: give them different ones by `name`",
                            plan->settings[i].name);
    return MF_OK;
}

// ---- settings ----------------------------------------------------------------------------------

// Setting `number` of the grid with the entry of `settings`, which may be NULL.
static mf_Status make_setting(Builder *builder, const mf_YamlNode *entry, uint32_t number,
                              mf_SweepSetting *setting) {
    const mf_YamlNode *name = entry == NULL ? NULL : mf_yaml_find(entry, "name", 4);
    setting->node = entry != NULL ? entry : builder->plan->tree.root;
    memcpy(setting->values, builder->common, sizeof builder->common);
    setting->common = setting->count = builder->common_count;
    if (name != NULL && (name->kind != MF_YAML_SCALAR || name->text[0] == '\0'))
        return FAIL(builder, name, "name: expected a text");
    if (entry != NULL)
        MF_TRY(walk(builder, "", entry, "name", take_value, setting));
    for (uint32_t a = builder->axis_count; a-- > 0;) {
        const Axis *axis = &builder->axes[a];
        const mf_YamlNode *node = axis->list->first;
        for (uint32_t k = number % axis->count; k > 0; k--)
            node = node->next;
        number /= axis->count;
        MF_TRY(take_value(builder, axis->path, node, setting));
    }
    // The keys of the grid have been added from the last to the first.
    for (uint32_t a = 0; a < builder->axis_count / 2; a++) {
        mf_SweepValue *first = &setting->values[setting->count - builder->axis_count + a];
        mf_SweepValue *last = &setting->values[setting->count - 1 - a];
        const mf_SweepValue swap = *first;
        *first = *last;
        *last = swap;
    }
    return set_name(builder, setting, name != NULL ? name->text : "");
}

static mf_Status make_settings(Builder *builder, const mf_YamlNode *list) {
    mf_SweepPlan *plan = builder->plan;
    uint64_t combinations = 1;
    const uint32_t entries = list != NULL ? mf_yaml_count(list) : 1;
    for (uint32_t a = 0; a < builder->axis_count && combinations <= MF_SWEEP_SETTINGS; a++)
        combinations *= builder->axes[a].count;
    if (entries * combinations > MF_SWEEP_SETTINGS)
        return FAIL(builder, plan->tree.root, "expected at most %d settings", MF_SWEEP_SETTINGS);
    plan->settings =
        mf_allocate(plan->context, (size_t)(entries * combinations), sizeof *plan->settings);
    if (plan->settings == NULL)
        return no_memory(builder);
    const mf_YamlNode *entry = list != NULL ? list->first : NULL;
    for (uint32_t e = 0; e < entries; e++, entry = entry != NULL ? entry->next : NULL) {
        if (entry != NULL && entry->kind != MF_YAML_MAPPING)
            return FAIL(builder, entry, "settings: expected keys of the scene with their values");
        for (uint32_t number = 0; number < combinations; number++)
            MF_TRY(make_setting(builder, entry, number, &plan->settings[plan->setting_count++]));
    }
    return check_names(builder);
}

// ---- seeds and scene ---------------------------------------------------------------------------

static bool whole(const mf_YamlNode *node, uint64_t *out) {
    char *end;
    errno = 0;
    *out = strtoull(node->text, &end, 10);
    return node->kind == MF_YAML_SCALAR && !node->quoted && node->text[0] >= '0' &&
           node->text[0] <= '9' && *end == '\0' && errno == 0;
}

static mf_Status take_seeds(Builder *builder, const mf_YamlNode *node) {
    mf_SweepPlan *plan = builder->plan;
    uint64_t count;
    char found[80];
    if (node == NULL)
        return FAIL(builder, plan->tree.root, "seeds: missing, expected their number or a list");
    const bool list = node->kind == MF_YAML_SEQUENCE;
    const bool good = list || whole(node, &count);
    if (list)
        count = mf_yaml_count(node);
    if (!good || count < 1 || count > MF_SWEEP_SEEDS)
        return FAIL(builder, node,
                    "seeds: expected their number from 1 to %d, or a list of them, found %s",
                    MF_SWEEP_SEEDS, mf_yaml_describe(node, found, sizeof found));
    plan->seeds = mf_arena_take(&plan->tree.arena, (size_t)count * sizeof *plan->seeds);
    if (plan->seeds == NULL)
        return no_memory(builder);
    const mf_YamlNode *entry = list ? node->first : NULL;
    for (; plan->seed_count < count; plan->seed_count++) {
        uint64_t *seed = &plan->seeds[plan->seed_count];
        *seed = plan->seed_count + 1;
        if (entry == NULL)
            continue;
        if (!whole(entry, seed))
            return FAIL(builder, entry, "seeds: expected whole numbers from 0, found %s",
                        mf_yaml_describe(entry, found, sizeof found));
        for (uint32_t i = 0; i < plan->seed_count; i++)
            if (plan->seeds[i] == *seed)
                return FAIL(builder, entry, "seeds: %" PRIu64 " is there twice", *seed);
        entry = entry->next;
    }
    return MF_OK;
}

// The scene is found from the folder of the file, else as a command finds it.
static mf_Status take_scene(Builder *builder, const mf_YamlNode *node) {
    mf_SweepPlan *plan = builder->plan;
    char path[2 * MF_APP_PATH];
    if (node == NULL)
        return FAIL(builder, plan->tree.root, "scene: missing, expected the file of a scene");
    if (node->kind != MF_YAML_SCALAR || node->text[0] == '\0' ||
        strlen(node->text) >= MF_APP_PATH - 1)
        return FAIL(builder, node, "scene: expected the file of a scene");
    const char *slash = strrchr(plan->file, '/');
    const int folder = slash == NULL ? 0 : (int)(slash - plan->file) + 1;
    snprintf(path, sizeof path, "%.*s%s", node->text[0] == '/' ? 0 : folder, plan->file,
             node->text);
    if (access(path, F_OK) != 0)
        mf_app_find(node->text, path);
    if (access(path, F_OK) != 0)
        return FAIL(builder, node, "scene: there is no file %s", node->text);
    plan->scene = mf_arena_text(&plan->tree.arena, path, strlen(path));
    return plan->scene != NULL ? MF_OK : no_memory(builder);
}

// ---- the file ----------------------------------------------------------------------------------

static const char *key_at(const void *list, uint32_t index) {
    static const char *const keys[] = {"scene", "seeds", "set", "settings", "grid", NULL};
    (void)list;
    return keys[index];
}

static mf_Status check_keys(Builder *builder) {
    const mf_YamlNode *root = builder->plan->tree.root;
    char found[80], near[MF_SUGGESTION];
    if (root->kind != MF_YAML_MAPPING)
        return FAIL(builder, root, "expected keys of a sweep: scene, seeds, set, settings, grid");
    for (const mf_YamlNode *entry = root->first; entry != NULL; entry = entry->next) {
        const char *known = NULL;
        for (uint32_t i = 0; known == NULL && key_at(NULL, i) != NULL; i++)
            known = strcmp(key_at(NULL, i), entry->key) == 0 ? key_at(NULL, i) : NULL;
        if (known == NULL)
            return mf_yaml_fail(&builder->plan->tree, entry, true, MF_BAD_FILE, builder->error,
                                "%s: unknown key, expected one of scene, seeds, set, settings, "
                                "grid%s",
                                entry->key, mf_suggest(entry->key, key_at, NULL, near));
        const bool mapping = strcmp(known, "set") == 0 || strcmp(known, "grid") == 0;
        const bool list = strcmp(known, "settings") == 0;
        if ((mapping && entry->kind != MF_YAML_MAPPING) ||
            (list && (entry->kind != MF_YAML_SEQUENCE || entry->first == NULL)))
            return FAIL(builder, entry, "%s: expected %s, found %s", known,
                        list ? "a list of settings" : "keys of the scene",
                        mf_yaml_describe(entry, found, sizeof found));
    }
    return MF_OK;
}

// The common values: those of `set`, then those of the command line.
static mf_Status take_common(Builder *builder, const mf_YamlNode *set, const char *const *extra,
                             uint32_t extra_count) {
    mf_SweepSetting *common =
        mf_allocate(builder->plan->context, 1, sizeof *common); // too large for the stack
    if (common == NULL)
        return no_memory(builder);
    mf_Status status = set != NULL ? walk(builder, "", set, NULL, take_value, common) : MF_OK;
    common->common = common->count;
    for (uint32_t i = 0; i < extra_count && status == MF_OK; i++) {
        const size_t length = strcspn(extra[i], "=");
        mf_Arena *arena = &builder->plan->tree.arena;
        mf_SweepValue value = {.path = mf_arena_text(arena, extra[i], length),
                               .word = extra[i],
                               .value = extra[i] + length + 1,
                               .node = builder->plan->tree.root};
        status = value.path == NULL ? no_memory(builder) : add_value(builder, common, value);
    }
    memcpy(builder->common, common->values, sizeof builder->common);
    builder->common_count = common->count;
    mf_release(builder->plan->context, common);
    return status;
}

mf_Status mf_sweep_plan_load(mf_Context *context, const char *file, const char *const *extra,
                             uint32_t extra_count, mf_SweepPlan *out, mf_Error *error) {
    char *text;
    size_t size;
    *out = (mf_SweepPlan){.context = context, .file = file};
    MF_TRY(mf_file_read_text(context, file, (size_t)1 << 20, &text, &size, error));
    mf_Status status = mf_yaml_parse(context, file, text, size, &out->tree, error);
    mf_release(context, text);
    Builder *builder = status == MF_OK ? mf_allocate(context, 1, sizeof *builder) : NULL;
    if (status == MF_OK && builder == NULL)
        status = mf_fail(error, MF_NO_MEMORY, "sweep: out of memory");
    if (status != MF_OK)
        return status;
    builder->plan = out;
    builder->error = error;
    const mf_YamlNode *root = out->tree.root;
    status = check_keys(builder);
    MF_THEN(status, take_scene(builder, mf_yaml_find(root, "scene", 5)));
    MF_THEN(status, take_seeds(builder, mf_yaml_find(root, "seeds", 5)));
    MF_THEN(status, take_common(builder, mf_yaml_find(root, "set", 3), extra, extra_count));
    if (status == MF_OK && mf_yaml_find(root, "grid", 4) != NULL)
        status = walk(builder, "", mf_yaml_find(root, "grid", 4), NULL, take_axis, NULL);
    MF_THEN(status, make_settings(builder, mf_yaml_find(root, "settings", 8)));
    mf_release(context, builder);
    return status;
}

void mf_sweep_plan_free(mf_SweepPlan *plan) {
    if (plan->context == NULL)
        return;
    mf_release(plan->context, plan->settings);
    mf_yaml_free(&plan->tree);
}
