// Scene files: read by the tables of keys, then the bodies they name, then relations between keys
// (checks.c). The result is a complete scene or an error. A robot's own file is read as the scene
// with that one robot.
#include "base/file.h"
#include "import/foreign.h"
#include "scene/scene_file.h"
#include "base/floats.h"

#include "base/text.h"
#include "body/kind.h"
#include "io/document.h"
#include "base/root.h"
#include "scene/keys.h"
#include "scene/machines.h"
#include "scene/modules/modules.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define ALIAS "group." // path of the only group in overrides

typedef struct Given { // what a program supplies for the first group
    const mf_BodyKind *kind;
    const void *body;
} Given;

// ---- vehicles and motions -----------------------------------------------------------------------

// Robots' files are XML; the importer reports errors for all names that are not YAML.
static bool is_yaml_name(const char *path) {
    const char *dot = strrchr(path, '.');
    return dot != NULL && (strcasecmp(dot, ".yaml") == 0 || strcasecmp(dot, ".yml") == 0);
}

// A body, by the top key of its file; without one it is read as a vehicle, whose kinds are listed.
static mf_Status load_kind(mf_Context *context, mf_SceneGroup *group, mf_Error *error) {
    char *text = NULL;
    size_t size = 0;
    MF_TRY(mf_file_read_text(context, group->model_path, MF_YAML_BYTES, &text, &size, error));
    const mf_BodyKind *kind = mf_body_kind_of(text, size);
    const mf_DocumentSource source = {.context = context, .path = group->model_path};
    mf_release(context, text);
    group->kind = kind != NULL ? kind : &mf_vehicle_body;
    mf_Status status = mf_document_load(group->kind->document, &source, &group->own_body, error);
    group->body = group->own_body;
    return status;
}

// A missing file is an error of the scene; an error in the file is reported for that file.
static mf_Status load_body(const mf_Reader *reader, mf_SceneGroup *group) {
    mf_Error cause = {0};
    if (group->body != NULL || !is_yaml_name(group->model_path))
        return MF_OK;
    mf_Status status = load_kind(reader->memory->arena.context, group, &cause);
    if (status == MF_OK)
        return MF_OK;
    if (cause.line == 0 && status != MF_NO_MEMORY)
        return mf_reader_refuse(reader, "model", NULL, "%.200s: %.180s", group->model_path,
                                cause.message);
    if (reader->error != NULL)
        *reader->error = cause;
    bool outside;
    mf_root_is_outside(reader->memory->arena.context, reader->tree->file, group->model_path,
                       &outside, NULL);
    if (outside)
        return mf_reader_refuse(reader, "model", NULL,
                                "%.200s: no body of a known kind (mayfly info FILE says more)",
                                group->model_path);
    return status;
}

void mf_scene_note_location(const mf_Reader *reader, const char *path, int32_t *line,
                            int32_t *column) {
    const mf_YamlNode *node = mf_reader_find(reader, path);
    node = node != NULL ? node : reader->root;
    bool typed = node->override != NULL;
    *line = typed ? 0 : node->line;
    *column = typed ? 0 : node->column;
}

// Stores the positions of the entries of a list for errors, since their paths are resolved only
// with the robot. `line` and `column` are those of the first of `count` entries of `size` bytes.
static void note_entries(const mf_Reader *reader, const char *key, uint32_t count, size_t size,
                         int32_t *line, int32_t *column) {
    const mf_YamlNode *list = mf_reader_find(reader, key);
    const mf_YamlNode *node = list != NULL ? list->first : NULL;
    for (uint32_t i = 0; i < count && node != NULL; i++, node = node->next) {
        const bool typed = node->override != NULL;
        *(int32_t *)(void *)((char *)line + i * size) = typed ? 0 : node->line;
        *(int32_t *)(void *)((char *)column + i * size) = typed ? 0 : node->column;
    }
}

static mf_Status refuse_nothing(const mf_Reader *reader, const mf_SceneGroup *group) {
    if (group->body != NULL)
        return MF_OK;
    return mf_yaml_fail(reader->tree, reader->root, false, MF_BAD_FILE, reader->error,
                        "expected the key %smodel, which is missing", reader->prefix);
}

// Resolves the words of a group and stores its position in the file.
static mf_Status complete_group(const mf_Reader *reader, mf_SceneGroup *group) {
    const bool evolves = group->controller == MF_CONTROLLER_MACHINE;
    MF_TRY(evolves || group->model_path != NULL ? MF_OK : refuse_nothing(reader, group));
    if (group->model_path != NULL)
        MF_TRY(load_body(reader, group));
    if (evolves)
        MF_TRY(mf_machine_prepare(reader, group));
    const mf_Motion automatic =
        group->kind != NULL ? mf_body_motion(group->kind, group->body) : MF_MOTION_ARTICULATED;
    if (group->kind != NULL && group->kind->double_precision &&
        mf_reader_find(reader, "precision") == NULL)
        group->double_precision = true;
    group->motion = mf_motion_of_name(group->motion_name, automatic);
    for (uint32_t i = 0; i < group->rule_count; i++)
        group->rules[i].to = mf_motion_of_switch(group->rules[i].to_name);
    const struct {
        const char *section;
        int32_t *line, *column;
    } noted[] = {{"model", &group->model_line, &group->model_column},
                 {"placement", &group->placement.line, &group->placement.column},
                 {"behavior", &group->behavior_line, &group->behavior_column}};
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++)
        mf_scene_note_location(reader, noted[i].section, noted[i].line, noted[i].column);
    mf_scene_locate_modules(reader, group);
    if (group->initial_count > 0)
        note_entries(reader, "initial", group->initial_count, sizeof *group->initial,
                     &group->initial->line, &group->initial->column);
    if (group->random_count > 0)
        note_entries(reader, "randomize", group->random_count, sizeof *group->random,
                     &group->random->line, &group->random->column);
    if (group->input_count > 0)
        note_entries(reader, "inputs", group->input_count, sizeof *group->inputs,
                     &group->inputs->line, &group->inputs->column);
    return MF_OK;
}

// `given` is the body of the first group if the program supplies one.
static mf_Status complete_groups(const mf_Reader *reader, mf_SceneFile *file, const Given *given) {
    if (file->group_count > MF_WORLD_GROUP_LIMIT)
        return mf_yaml_fail(reader->tree, mf_reader_find(reader, "groups"), true, MF_LIMIT,
                            reader->error, "groups: expected at most %u, found %u",
                            MF_WORLD_GROUP_LIMIT, file->group_count);
    for (uint32_t i = 0; i < file->group_count; i++) {
        const mf_Reader inner = mf_reader_item(reader, "groups", i);
        if (i == 0 && given != NULL) {
            file->groups[i].kind = given->kind;
            file->groups[i].body = given->body;
        }
        MF_TRY(complete_group(&inner, &file->groups[i]));
    }
    return MF_OK;
}

// The search has the descriptors of the file.
static void copy_descriptors(mf_SceneFile *file) {
    uint32_t count = file->descriptor_count;
    file->search.descriptor_count = count < MF_DESCRIPTOR_LIMIT ? count : MF_DESCRIPTOR_LIMIT;
    for (uint32_t i = 0; i < file->search.descriptor_count; i++) {
        const mf_SceneDescriptor *from = &file->descriptors[i];
        mf_Descriptor *to = &file->search.descriptors[i];
        *to = (mf_Descriptor){.lower = from->lower, .upper = from->upper, .cells = from->cells};
        snprintf(to->name, sizeof to->name, "%s", mf_measure_name(from->measure));
    }
}

// Defaults that depend on other keys.
static void complete(const mf_Reader *reader, mf_SceneFile *file) {
    const mf_YamlNode *proximity = mf_reader_find(reader, "proximity");
    file->evolves = mf_reader_find(reader, "search") != NULL;
    file->search.seed = file->seed;
    file->machine.ancestor = file->groups[0].ancestor;
    if (mf_scene_has_machines(file)) {
        file->search.vary = mf_machine_vary;
        file->search.vary_user = &file->machine;
    }
    copy_descriptors(file);
    mf_scene_note_location(reader, "ground.file", &file->ground_line, &file->ground_column);
    file->ground.given =
        file->ground.path != NULL || (int)file->ground.generator.shape != MF_GROUND_OF_MODELS;
    if ((int)file->ground.generator.shape == MF_GROUND_OF_MODELS)
        file->ground.generator.shape = MF_TERRAIN_FLAT;
    if (proximity != NULL && mf_reader_find(reader, "proximity.enabled") == NULL)
        file->proximity = true;
    if (mf_reader_find(reader, "messages") != NULL &&
        mf_reader_find(reader, "messages.enabled") == NULL)
        file->talks = true;
    if (file->proximity && file->interaction.collide &&
        mf_reader_find(reader, "contact.enabled") == NULL)
        file->contact = false;
    if (proximity != NULL && proximity->override == NULL) {
        file->interaction_line = proximity->key_line;
        file->interaction_column = proximity->key_column;
    }
}

// ---- reading -----------------------------------------------------------------------------------

// "group.count" means "groups.0.count" if there is one group.
static mf_Status aim_override(const mf_Reader *reader, const mf_Override *from, uint32_t groups,
                              mf_Override *to) {
    *to = *from;
    if (from->path == NULL || strncmp(from->path, ALIAS, strlen(ALIAS)) != 0)
        return MF_OK;
    const char *rest = from->path + strlen(ALIAS);
    MF_NEED(groups == 1, reader->error,
            "%.100s=%.100s: the scene has %u groups; name one: --set "
            "groups.NAME.%.100s=%.100s",
            from->path, from->value == NULL ? "" : from->value, groups, rest,
            from->value == NULL ? "" : from->value);
    size_t size = strlen(rest) + sizeof "groups.0.";
    char *path = mf_arena_take(&reader->tree->arena, size);
    if (path == NULL)
        return mf_fail_at(reader->error, MF_NO_MEMORY, reader->tree->file, 0, 0,
                          "no memory to apply an override");
    snprintf(path, size, "groups.0.%s", rest);
    to->path = path;
    return MF_OK;
}

static mf_Status apply_overrides(mf_Reader *reader, const mf_DocumentSource *source) {
    const mf_YamlNode *list = mf_yaml_find(reader->root, "groups", strlen("groups"));
    uint32_t groups = 0;
    for (const mf_YamlNode *entry = list == NULL ? NULL : list->first; entry != NULL;
         entry = entry->next)
        groups++;
    for (uint32_t i = 0; i < source->override_count; i++) {
        mf_Override aimed;
        MF_TRY(aim_override(reader, &source->overrides[i], groups, &aimed));
        MF_TRY(mf_reader_override_as(reader, &aimed, source->overrides[i].path));
    }
    return MF_OK;
}

// Reports the actual kind of the file and its use.
static mf_Status refuse_others(const mf_Reader *reader) {
    for (int i = 0; i <= MF_VEHICLE_CAR; i++) {
        const char *kind = mf_vehicle_kind_name((mf_VehicleKind)i);
        const mf_YamlNode *vehicle = mf_yaml_find(reader->root, kind, strlen(kind));
        if (vehicle != NULL)
            return mf_yaml_fail(reader->tree, vehicle, true, MF_UNSUPPORTED, reader->error,
                                "%s: this is a vehicle, not a scene; mayfly info describes it, and "
                                "a group of a scene uses it (model: %.200s)",
                                kind, reader->tree->file);
    }
    return MF_OK;
}

static mf_Status list_old_keys(mf_Reader *reader, const uint32_t counts[MF_KEY_RENAMES]) {
    char text[200];
    size_t used = 0;
    for (uint32_t r = 0; r < MF_KEY_RENAMES; r++)
        if (counts[r] > 0)
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "%s%s is called %s (%u key%s)",
                                 used == 0 ? "" : ", ", mf_key_renames[r].old,
                                 mf_key_renames[r].now, counts[r], counts[r] == 1 ? "" : "s");
    if (used == 0)
        return MF_OK;
    char *copy = mf_reader_allocate(reader, used + 1);
    if (copy == NULL)
        return MF_NO_MEMORY;
    memcpy(copy, text, used + 1);
    ((mf_SceneFile *)reader->base)->old_keys = copy;
    return MF_OK;
}

static mf_Status read_scene(mf_Reader *reader, const mf_DocumentSource *source) {
    mf_SceneFile *file = reader->base;
    uint32_t old_keys[MF_KEY_RENAMES] = {0};
    char found[64];
    file->context = source->context;
    reader->table = mf_scene_table();
    if (reader->root->kind != MF_YAML_MAPPING)
        return mf_yaml_fail(reader->tree, reader->root, false, MF_BAD_FILE, reader->error,
                            "expected keys such as groups and world, found %s",
                            mf_yaml_describe(reader->root, found, sizeof found));
    mf_Status status = refuse_others(reader);
    MF_THEN(status, apply_overrides(reader, source));
    reader->memory->old_keys = old_keys;
    MF_THEN(status, mf_reader_read(reader));
    reader->memory->old_keys = NULL;
    file->context = source->context; // fills the table's start values
    MF_THEN(status, list_old_keys(reader, old_keys));
    MF_THEN(status, complete_groups(reader, file, source->given));
    if (status == MF_OK) {
        complete(reader, file);
        status = mf_scene_check(reader, file);
    }
    return status == MF_OK ? mf_document_take_name(reader, &file->file, &file->name) : status;
}

static void release_bodies(void *value) {
    const mf_SceneFile *file = value;
    for (uint32_t i = 0; i < file->group_count; i++)
        mf_body_destroy(file->groups[i].own_body);
}

static const mf_DocumentKind scene_kind = {"scene", sizeof(mf_SceneFile), read_scene,
                                           release_bodies};

static mf_Status parse(const mf_DocumentSource *source, mf_SceneFile **out, mf_Error *error) {
    void *value = NULL;
    mf_Status status = mf_document_parse(&scene_kind, source, out == NULL ? NULL : &value, error);
    if (out != NULL)
        *out = value;
    return status;
}

mf_Status mf_scene_file_parse(mf_Context *context, const char *path, const char *text, size_t size,
                              const mf_Override *overrides, uint32_t override_count,
                              mf_SceneFile **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    const mf_DocumentSource source = {context, path, text, size, overrides, override_count, NULL};
    return parse(&source, out, error);
}

// ---- robots' own files --------------------------------------------------------------------------

// YAML cannot begin with an angle bracket.
static bool is_markup(const char *text, size_t size) {
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && text[at] != '\0' && strchr(" \t\r\n", text[at]) != NULL)
        at++;
    return at < size && text[at] == '<';
}

bool mf_scene_is_robot(const char *path, const char *text, size_t size) {
    const char *dot = strrchr(path, '.');
    const mf_BodyKind *kind = mf_body_kind_of(text, size);
    return (dot != NULL && strcasecmp(dot, ".urdf") == 0) || is_markup(text, size) ||
           mf_foreign_mesh(path) || (kind != NULL && kind->alone);
}

// The scene of one robot: all keys have their defaults, except that several robots do not start as
// exact copies. `source` has no text; its `given` is a Given or NULL.
static mf_Status parse_robot(const mf_DocumentSource *source, mf_SceneFile **out, mf_Error *error) {
    const char *slash = strrchr(source->path, '/');
    mf_Text text = mf_text_begin(source->context);
    mf_text_put(&text, "groups:\n  - name: robot\n    isolated: true\n    joint_noise: 0.1\n"
                       "    model: \"");
    for (const char *at = slash == NULL ? source->path : slash + 1; *at != '\0'; at++) {
        if (*at == '"' || *at == '\\')
            mf_text_put(&text, "\\");
        mf_text_put_bytes(&text, at, 1);
    }
    mf_text_put(&text, "\"\n");
    mf_DocumentSource whole = *source;
    mf_Status status = MF_OK;
    if (text.failed)
        status = mf_fail(error, MF_NO_MEMORY, "scene: out of memory");
    if (status == MF_OK) {
        whole.text = text.data;
        whole.size = strlen(text.data);
        status = parse(&whole, out, error);
    }
    mf_text_free(&text);
    return status;
}

mf_Status mf_scene_file_of_robot(mf_Context *context, const char *path, mf_SceneFile **out,
                                 mf_Error *error) {
    const mf_DocumentSource source = {context, path, NULL, 0, NULL, 0, NULL};
    return parse_robot(&source, out, error);
}

mf_Status mf_scene_file_of_model(mf_Context *context, const mf_Model *model,
                                 const mf_Override *overrides, uint32_t override_count,
                                 mf_SceneFile **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (out == NULL || context == NULL || model == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "scene: context, model or out is NULL");
    const char *path = model->file != NULL && model->file[0] != '\0' ? model->file : "robot";
    const mf_DocumentSource source = {context, path, NULL, 0, overrides, override_count, NULL};
    MF_TRY(parse_robot(&source, out, error));
    (*out)->groups[0].model = model;
    return MF_OK;
}

mf_Status mf_scene_file_of_body(mf_Context *context, const mf_BodyKind *kind, const void *body,
                                const mf_Override *overrides, uint32_t override_count,
                                mf_SceneFile **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    if (out == NULL || context == NULL || kind == NULL || body == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "scene: context, kind, body or out is NULL");
    char fallback[40];
    snprintf(fallback, sizeof fallback, "%s.yaml", kind->name);
    const char *path = mf_body_file(body);
    const Given given = {kind, body};
    const mf_DocumentSource source = {.context = context,
                                      .path = path != NULL && path[0] != '\0' ? path : fallback,
                                      .overrides = overrides,
                                      .override_count = override_count,
                                      .given = &given};
    return parse_robot(&source, out, error);
}

mf_Status mf_scene_file_load(mf_Context *context, const char *path, const mf_Override *overrides,
                             uint32_t override_count, mf_SceneFile **out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    char *text = NULL;
    size_t size = 0;
    if (out != NULL)
        *out = NULL;
    MF_NEED(context != NULL && path != NULL && out != NULL, error, "scene: %s",
            out == NULL ? "out is NULL" : "context or path is NULL");
    mf_Status status = mf_file_read_text(context, path, MF_YAML_BYTES, &text, &size, error);
    if (status == MF_OK && (status = mf_foreign_check(path, text, size, error)) != MF_OK)
        mf_release(context, text);
    if (status != MF_OK)
        return status;
    const mf_DocumentSource source = {context, path, NULL, 0, overrides, override_count, NULL};
    status =
        mf_scene_is_robot(path, text, size)
            ? parse_robot(&source, out, error)
            : mf_scene_file_parse(context, path, text, size, overrides, override_count, out, error);
    mf_release(context, text);
    return status;
}

void mf_scene_file_destroy(mf_SceneFile *file) {
    mf_document_destroy(&scene_kind, file);
}

// ---- writing -----------------------------------------------------------------------------------

// Updates the words for motions and the ground after a program may have changed the values.
static void put_names(mf_SceneFile *file, mf_SceneGroup *groups) {
    for (uint32_t i = 0; i < file->group_count; i++) {
        groups[i] = file->groups[i];
        groups[i].motion_name = mf_name_of_motion(groups[i].motion);
    }
    file->groups = groups;
    if (!file->ground.given)
        file->ground.generator.shape = (mf_TerrainShape)MF_GROUND_OF_MODELS;
}

// A recording's name is written relative to the scene's folder, as it must be read; one of
// elsewhere (given on the command line) goes beside the written file.
static const char *record_name(const mf_SceneFile *file) {
    const char *path = file->record_path, *last = path == NULL ? NULL : strrchr(path, '/');
    const char *slash = file->file == NULL ? NULL : strrchr(file->file, '/');
    const size_t folder = slash == NULL ? 0 : (size_t)(slash - file->file) + 1;
    if (last == NULL)
        return path;
    const char *rest = folder > 0 && strncmp(path, file->file, folder) == 0 ? path + folder : path;
    return rest[0] == '/' || strstr(rest, "..") != NULL ? last + 1 : rest;
}

mf_Status mf_scene_file_write(const mf_SceneFile *file, char **text, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(text != NULL, error, "scene: text is NULL");
    *text = NULL;
    MF_NEED(file != NULL, error, "scene: file is NULL");
    mf_SceneFile copy = *file;
    mf_SceneGroup *groups = mf_allocate(file->context, file->group_count, sizeof *groups);
    if (groups == NULL)
        return mf_fail(error, MF_NO_MEMORY, "scene: no memory to write it");
    put_names(&copy, groups);
    copy.record_path = record_name(file);
    mf_Status status = mf_keys_write(file->context, mf_scene_table(), &copy, text, error);
    mf_release(file->context, groups);
    return status;
}

uint32_t mf_scene_file_group(const mf_SceneFile *file, const char *name) {
    for (uint32_t g = 0; name != NULL && g < file->group_count; g++)
        if (strcmp(file->groups[g].name, name) == 0)
            return g;
    return MF_NONE;
}

uint64_t mf_scene_file_count(const mf_SceneFile *file) {
    uint64_t count = 0;
    for (uint32_t i = 0; file != NULL && i < file->group_count; i++)
        count += file->groups[i].count;
    return count;
}
