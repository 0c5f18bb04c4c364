// From options to a loaded scene: every short option is an override, so that it is checked and
// reported exactly like a line of the file.
#include "inputs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/suggest.h"
#include "scene/scene_file.h"
#include "notes.h"
#include "stored.h"
#include "run_scripts.h"

#define OVERRIDES_MOST (2 * MF_OPTION_ITEMS + 24)
#define GAIT_SETTLE "0.5" // [s] that a robot of its own file stands before its gait begins

// Overrides and the memory of their texts.
typedef struct Builder {
    mf_Override overrides[OVERRIDES_MOST];
    char path[OVERRIDES_MOST][MF_APP_PATH];
    char value[OVERRIDES_MOST][MF_PLUGIN_LIST];
    uint32_t count;
} Builder;

static void add(Builder *builder, const char *path, const char *value) {
    if (value == NULL)
        return;
    uint32_t i = builder->count++;
    snprintf(builder->path[i], sizeof builder->path[i], "%s", path);
    snprintf(builder->value[i], sizeof builder->value[i], "%s", value);
    builder->overrides[i] = (mf_Override){builder->path[i], builder->value[i]};
}

// A file or folder relative to the current folder, found by mf_app_find.
static void add_file(Builder *builder, const char *path, const char *value) {
    char found[MF_APP_PATH], absolute[MF_APP_PATH];
    if (value != NULL)
        add(builder, path, mf_app_absolute(mf_app_find(value, found), absolute));
}

static bool names_file(const char *path) {
    const char *last = strrchr(path, '.');
    if (strncmp(path, "group", 5) == 0 && last != NULL && strcmp(last, ".model") == 0)
        return true;
    return strcmp(path, "ground.file") == 0 || strstr(path, ".import.packages.") != NULL;
}

// Splits "left=right" into an override whose path is `prefix` and left.
static bool add_pair(Builder *builder, const char *prefix, const char *pair) {
    char path[MF_APP_PATH];
    const char *equals = strchr(pair, '=');
    size_t length = equals == NULL ? 0 : (size_t)(equals - pair);
    if (length == 0 || strlen(prefix) + length >= sizeof path || strlen(equals + 1) >= MF_APP_PATH)
        return false;
    snprintf(path, sizeof path, "%s%.*s", prefix, (int)length, pair);
    if (names_file(path))
        add_file(builder, path, equals + 1);
    else
        add(builder, path, equals + 1);
    return true;
}

// ---- shorthands --------------------------------------------------------------------------------

// The short option of a path, so that a contradiction names what was typed.
static const char *name_of(const char *path) {
    static const char *const names[][2] = {{"search.generations", "--generations"},
                                           {"search.population", "--population"},
                                           {"search.survivors", "--survivors"},
                                           {"world.seed", "--seed"},
                                           {"world.step", "--step"},
                                           {"run.duration", "--duration"},
                                           {"group.count", "--robots"},
                                           {"group.motion", "--motion"},
                                           {"group.keyframe", "--key"},
                                           {"group.model", "--model"},
                                           {"ground.shape", "--ground"},
                                           {"ground.file", "--ground"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], path) == 0)
            return names[i][1];
    return path;
}

// A --set that contradicts the short option of its path. Two --set or --package with one name have
// been compared on reading.
static bool contradicts(const Builder *builder, uint32_t last, const char *command) {
    const mf_Override *other = &builder->overrides[last];
    for (uint32_t i = 0; i < last; i++) {
        const mf_Override *one = &builder->overrides[i];
        if (strcmp(one->path, other->path) != 0 || mf_option_same(one->value, other->value) ||
            name_of(one->path) == one->path)
            continue;
        mf_app_usage(command, "--set %.200s=%.200s contradicts %s %.200s", other->path,
                     other->value, name_of(one->path), one->value);
        return true;
    }
    return false;
}

static const char *ground_shape(const void *list, uint32_t index) {
    static const char *const shapes[] = {"flat", "slope", "steps", "sine", "noise", "model"};
    (void)list;
    return index < sizeof shapes / sizeof *shapes ? shapes[index] : NULL;
}

static bool is_ground_shape(const char *ground) {
    const char *shape;
    for (uint32_t i = 0; (shape = ground_shape(NULL, i)) != NULL; i++)
        if (strcmp(shape, ground) == 0)
            return true;
    return false;
}

// A word that is no shape and does not look like a file is a mistyped shape.
static bool is_ground(const char *ground, const char *command) {
    char near[MF_SUGGESTION];
    if (strpbrk(ground, "./") != NULL || is_ground_shape(ground) || access(ground, F_OK) == 0)
        return true;
    mf_app_usage(command,
                 "--ground: expected flat, slope, steps, sine, noise, model or an image (.png, "
                 ".pgm), found '%.200s'%s",
                 ground, mf_suggest(ground, ground_shape, NULL, near));
    return false;
}

// A gait's file is relative to the current folder; a name is relative to the robot's file.
static void add_gait(Builder *builder, const mf_Inputs *inputs, bool robot) {
    char found[MF_APP_PATH], absolute[MF_APP_PATH], list[MF_APP_PATH + 8];
    const char *gait = inputs->gait;
    if (gait == NULL)
        return;
    if (strchr(gait, '/') != NULL || mf_app_ends_with(gait, ".yaml"))
        gait = mf_app_absolute(mf_app_find(gait, found), absolute);
    snprintf(list, sizeof list, "[\"%s\"]", gait);
    add(builder, "group.gaits", list);
    if (robot)
        add(builder, "group.settle", GAIT_SETTLE);
    add(builder, "group.behavior.gait.name", gait);
    snprintf(list, sizeof list, "[%s]", inputs->command);
    if (inputs->command != NULL)
        add(builder, "group.behavior.gait.command", list);
}

static mf_Status add_plugins(mf_Context *context, Builder *builder, const mf_Inputs *inputs,
                             mf_Error *error) {
    bool has_motion = false;
    if (inputs->plugins.files.count == 0)
        return MF_OK;
    char *list = mf_allocate(context, MF_PLUGIN_LIST, 1);
    mf_Status status = list == NULL
                           ? mf_fail(error, MF_NO_MEMORY, "options: out of memory")
                           : mf_plugin_list(context, &inputs->plugins, list, &has_motion, error);
    if (status == MF_OK && has_motion && inputs->motion != NULL)
        status = mf_fail(error, MF_BAD_ARGUMENT,
                         "--motion: expected none with a --plugin that is a motion");
    if (status == MF_OK) {
        add(builder, "group.plugins", list);
        add(builder, "group.motion", has_motion ? "own" : NULL);
        mf_plugins_allow(context, true); // typed by the user
    }
    mf_release(context, list);
    return status;
}

// ---- all of them -------------------------------------------------------------------------------

static bool is_command(const char *text) {
    double value[3];
    char rest;
    return sscanf(text, "%lf,%lf,%lf%c", &value[0], &value[1], &value[2], &rest) == 3 &&
           isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2]);
}

static bool check(const mf_Inputs *inputs, const char *command) {
    if (inputs->command != NULL && inputs->gait == NULL)
        mf_app_usage(command, "--command requires --gait");
    else if (inputs->command != NULL && !is_command(inputs->command))
        mf_app_usage(command, "--command: expected three numbers such as 0.1,0,0");
    else if (inputs->plugins.files.count == 0 &&
             (inputs->plugins.settings.count > 0 || inputs->plugins.tick != NULL))
        mf_app_usage(command, "--plugin-set and --plugin-tick require --plugin FILE");
    else
        return inputs->ground == NULL || is_ground(inputs->ground, command);
    return false;
}

static void add_shorthands(Builder *builder, const mf_Inputs *inputs, bool robot) {
    add(builder, "search.generations", inputs->generations);
    add(builder, "search.population", inputs->population);
    add(builder, "search.survivors", inputs->survivors);
    add(builder, "world.seed", inputs->seed);
    add(builder, "world.step", inputs->step);
    add(builder, "run.duration", inputs->duration);
    add_file(builder, "group.model", inputs->model);
    add(builder, "group.count", inputs->robots);
    add(builder, "group.motion", inputs->motion);
    add(builder, "group.keyframe", inputs->key);
    add(builder, "group.import.lenient", inputs->strict ? "false" : NULL);
    add_file(builder, "group.import.root", inputs->root);
    add(builder, "group.base", inputs->base);
    if (inputs->ground != NULL && is_ground_shape(inputs->ground))
        add(builder, "ground.shape", inputs->ground);
    else
        add_file(builder, "ground.file", inputs->ground);
    add_gait(builder, inputs, robot);
}

static bool add_pairs(Builder *builder, const mf_Inputs *inputs, const char *command) {
    for (uint32_t i = 0; i < inputs->packages.count; i++) {
        if (!add_pair(builder, "group.import.packages.", inputs->packages.items[i])) {
            mf_app_usage(command, "--package: expected NAME=PATH, found '%.200s'",
                         inputs->packages.items[i]);
            return false;
        }
    }
    for (uint32_t i = 0; i < inputs->settings.count; i++) {
        if (!add_pair(builder, "", inputs->settings.items[i])) {
            mf_app_usage(command, "--set: expected path=value, found '%.200s'",
                         inputs->settings.items[i]);
            return false;
        }
        if (contradicts(builder, builder->count - 1, command))
            return false;
    }
    return true;
}

static mf_Status collect(mf_Context *context, Builder *builder, const mf_Inputs *inputs, bool robot,
                         const char *command, mf_Error *error) {
    if (!check(inputs, command))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s", "");
    add_shorthands(builder, inputs, robot);
    MF_TRY(add_plugins(context, builder, inputs, error));
    if (!add_pairs(builder, inputs, command))
        return mf_fail(error, MF_BAD_ARGUMENT, "%s", "");
    return MF_OK;
}

mf_Status mf_inputs_context(const mf_Inputs *inputs, mf_Context **out, mf_Error *error) {
    mf_ContextConfig config = mf_context_config();
    config.threads = (uint32_t)mf_option_count(inputs->threads, 0);
    MF_TRY(mf_context_create(&config, out, error));
    mf_plugins_allow(*out, inputs->allow_plugins);
    return MF_OK;
}

mf_Status mf_inputs_is_robot(mf_Context *context, const char *name, bool *out, mf_Error *error) {
    char path[MF_APP_PATH], *text;
    size_t size;
    *out = false;
    if (strlen(name) >= MF_APP_PATH)
        return mf_fail(error, MF_LIMIT, "expected a path below %d bytes", MF_APP_PATH);
    if (mf_stored_is(name))
        return mf_fail_at(
            error, MF_BAD_FILE, name, 0, 0,
            "is the folder of an evolution run: `mayfly view` and `mayfly replay` show "
            "its best robot");
    // Without the note of mf_app_find: who loads the file gives it.
    const char *found = access(name, F_OK) == 0 ? name : mf_app_own(name, path);
    MF_TRY(mf_file_read(context, found, (size_t)64 << 20, &text, &size, error));
    *out = mf_scene_is_robot(found, text, size);
    mf_release(context, text);
    return MF_OK;
}

mf_Status mf_inputs_load(mf_Context *context, const mf_Inputs *inputs, const char *command,
                         const char *name, mf_SceneFile **out, mf_Error *error) {
    char path[MF_APP_PATH];
    bool robot;
    MF_TRY(mf_inputs_is_robot(context, name, &robot, error));
    Builder *builder = mf_allocate(context, 1, sizeof *builder);
    MF_NEED_MEMORY(builder != NULL, error, "options");
    mf_Status status = collect(context, builder, inputs, robot, command, error);
    MF_THEN(status, mf_scene_file_load(context, mf_app_find(name, path), builder->overrides,
                                       builder->count, out, error));
    mf_release(context, builder);
    return status;
}

mf_Status mf_inputs_scene(mf_Context *context, const mf_Inputs *inputs, const char *command,
                          const char *name, bool levels, mf_SceneFile **file, mf_Scene *scene,
                          mf_Error *error) {
    mf_SceneConfig config = mf_scene_config();
    config.levels = levels;
    MF_TRY(mf_inputs_load(context, inputs, command, name, file, error));
    MF_TRY(mf_genomes_check(*file, error));
    mf_Status status = mf_scene_create(context, *file, &config, scene, error);
    if (status != MF_OK && levels) {
        config.levels = false;
        status = mf_scene_create(context, *file, &config, scene, error);
    }
    if (status == MF_OK)
        mf_scene_on_print(scene, mf_run_script_line, NULL);
    if (status == MF_OK && inputs->strict)
        status = mf_start_report_refuse(scene, error);
    return status == MF_OK ? mf_genomes_give(context, scene, error) : status;
}

mf_Status mf_inputs_parse(mf_Context *context, const mf_Inputs *inputs, const char *command,
                          const char *path, const char *text, mf_SceneFile **out, mf_Error *error) {
    Builder *builder = mf_allocate(context, 1, sizeof *builder);
    MF_NEED_MEMORY(builder != NULL, error, "options");
    mf_Status status = collect(context, builder, inputs, false, command, error);
    MF_THEN(status, mf_scene_file_parse(context, path, text, strlen(text), builder->overrides,
                                        builder->count, out, error));
    mf_release(context, builder);
    return status;
}

int mf_inputs_run(const mf_Inputs *inputs, mf_InputsRunFn run, const void *options,
                  const char *name) {
    mf_Context *context = NULL;
    mf_Error error = {0};
    mf_app_catch_stop();
    if (mf_inputs_context(inputs, &context, &error) != MF_OK)
        return mf_inputs_fail(&error);
    const int result = run(context, options, name);
    mf_context_destroy(context);
    return result;
}

int mf_inputs_fail(const mf_Error *error) {
    return error->message[0] == '\0' ? MF_EXIT_USAGE : mf_app_fail(error);
}
