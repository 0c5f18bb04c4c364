// From options to a loaded experiment: every shorthand is an override, so that it is checked and
// reported exactly like a line of the file.
#include "inputs.h"

#include <mayfly/plugin.h>

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define OVERRIDES_MOST (2 * MF_OPTION_ITEMS + 8)

// Overrides and the memory of their texts.
typedef struct Builder {
    mf_Override overrides[OVERRIDES_MOST];
    char text[OVERRIDES_MOST][2][MF_APP_PATH];
    uint32_t count;
} Builder;

static void add(Builder *builder, const char *path, const char *value) {
    if (value == NULL)
        return;
    uint32_t i = builder->count++;
    snprintf(builder->text[i][0], MF_APP_PATH, "%s", path);
    snprintf(builder->text[i][1], MF_APP_PATH, "%s", value);
    builder->overrides[i] = (mf_Override){builder->text[i][0], builder->text[i][1]};
}

// A file or folder, seen from the current folder but found where mf_app_find looks.
static void add_file(Builder *builder, const char *path, const char *value) {
    char found[MF_APP_PATH], absolute[MF_APP_PATH];
    if (value != NULL)
        add(builder, path, mf_app_absolute(mf_app_find(value, found), absolute));
}

static bool names_file(const char *path) {
    const char *last = strrchr(path, '.');
    if (strncmp(path, "groups.", 7) == 0 && strcmp(last, ".vehicle") == 0)
        return true;
    if (strncmp(path, "robots.", 7) == 0 && strcmp(last, ".model") == 0)
        return true;
    return strcmp(path, "model.file") == 0 || strcmp(path, "terrain.file") == 0 ||
           strncmp(path, "model.packages.", 15) == 0;
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

// The option that is short for a path, so that a contradiction names what was typed.
static const char *name_of(const char *path) {
    static const char *const names[][2] = {{"search.generations", "--generations"},
                                           {"search.population", "--population"},
                                           {"search.survivors", "--survivors"},
                                           {"search.seed", "--seed"},
                                           {"world.seed", "--seed"},
                                           {"run.duration", "--duration"},
                                           {"run.robots", "--robots"},
                                           {"model.file", "--model"},
                                           {"terrain.file", "--terrain"}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], path) == 0)
            return names[i][1];
    return path;
}

// A --set that wants something else than the option that is short for its path. Two --set or
// --package of one name have been compared when they were read.
static bool contradicts(const Builder *builder, uint32_t last, const char *command) {
    const mf_Override *other = &builder->overrides[last];
    for (uint32_t i = 0; i < last; i++) {
        const mf_Override *one = &builder->overrides[i];
        if (strcmp(one->path, other->path) != 0 || mf_option_same(one->value, other->value))
            continue;
        mf_app_usage(command, "--set %.200s=%.200s contradicts %s %.200s", other->path,
                     other->value, name_of(one->path), one->value);
        return true;
    }
    return false;
}

static bool collect(Builder *builder, const mf_Inputs *inputs, mf_InputKind kind,
                    const char *command) {
    bool swarm = kind == MF_INPUT_SWARM, groups = swarm || kind == MF_INPUT_ROBOTS;
    if (groups &&
        (inputs->robots != NULL || inputs->model != NULL || inputs->packages.count != 0)) {
        mf_app_usage(command, "a file of %s has no %s; use --set %s.NAME.%s",
                     swarm ? "a swarm" : "robots",
                     inputs->robots != NULL ? "--robots" : "--model and --package",
                     swarm ? "groups" : "robots",
                     inputs->robots != NULL ? "count=N"
                     : swarm                ? "vehicle=FILE"
                                            : "model=FILE");
        return false;
    }
    add(builder, "search.generations", inputs->generations);
    add(builder, "search.population", inputs->population);
    add(builder, "search.survivors", inputs->survivors);
    add(builder, groups ? "world.seed" : "search.seed", inputs->seed);
    add(builder, "run.duration", inputs->duration);
    add(builder, "run.robots", inputs->robots);
    add_file(builder, "model.file", inputs->model);
    add_file(builder, "terrain.file", inputs->terrain);
    for (uint32_t i = 0; i < inputs->packages.count; i++) {
        if (!add_pair(builder, "model.packages.", inputs->packages.items[i])) {
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

mf_Status mf_inputs_context(const mf_Inputs *inputs, mf_Context **out, mf_Error *error) {
    mf_ContextConfig config = mf_context_config();
    config.threads = (uint32_t)mf_option_count(inputs->threads, 0);
    mf_Status status = mf_context_create(&config, out, error);
    if (status == MF_OK)
        mf_plugins_allow(*out, inputs->allow_plugins);
    return status;
}

// Told by its name, as what is in it would only be called bad YAML.
static bool is_robot(const char *name) {
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcasecmp(dot, ".urdf") == 0;
}

// No YAML begins with an angle bracket.
static bool is_markup(const char *text, size_t size) {
    size_t at = size >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    while (at < size && text[at] != '\0' && strchr(" \t\r\n", text[at]) != NULL)
        at++;
    return at < size && text[at] == '<';
}

mf_Status mf_inputs_load(mf_Context *context, const mf_Inputs *inputs, const char *command,
                         const char *name, mf_Experiment **out, mf_Error *error) {
    char path[MF_APP_PATH];
    Builder *builder = mf_allocate(context, 1, sizeof *builder);
    if (builder == NULL)
        return mf_fail(error, MF_NO_MEMORY, "options: out of memory");
    mf_Status status = MF_OK;
    if (strlen(name) >= MF_APP_PATH)
        status = mf_fail(error, MF_LIMIT, "expected a path below %d bytes", MF_APP_PATH);
    else if (is_robot(name))
        status = mf_fail_at(error, MF_BAD_ARGUMENT, name, 0, 0,
                            "expected an experiment (YAML), found a robot; give one such as "
                            "scenes/hexapod.yaml, and the robot with --model");
    else if (!collect(builder, inputs, MF_INPUT_EXPERIMENT, command))
        status = mf_fail(error, MF_BAD_ARGUMENT, "%s", "");
    else
        status = mf_experiment_load(context, mf_app_find(name, path), builder->overrides,
                                    builder->count, out, error);
    mf_release(context, builder);
    return status;
}

mf_Status mf_inputs_parse(mf_Context *context, const mf_Inputs *inputs, const char *command,
                          const char *path, const char *text, mf_Experiment **out,
                          mf_Error *error) {
    Builder *builder = mf_allocate(context, 1, sizeof *builder);
    if (builder == NULL)
        return mf_fail(error, MF_NO_MEMORY, "options: out of memory");
    mf_Status status = MF_OK;
    if (!collect(builder, inputs, MF_INPUT_EXPERIMENT, command))
        status = mf_fail(error, MF_BAD_ARGUMENT, "%s", "");
    else
        status = mf_experiment_parse(context, path, text, strlen(text), builder->overrides,
                                     builder->count, out, error);
    mf_release(context, builder);
    return status;
}

mf_Status mf_inputs_kind(mf_Context *context, const char *name, mf_InputKind *out,
                         mf_Error *error) {
    char path[MF_APP_PATH], *text;
    size_t size;
    *out = is_robot(name) ? MF_INPUT_ROBOT : MF_INPUT_EXPERIMENT;
    if (strlen(name) >= MF_APP_PATH || is_robot(name))
        return MF_OK; // loading says what is wrong
    mf_Status status =
        mf_file_read(context, mf_app_find(name, path), (size_t)64 << 20, &text, &size, error);
    if (status != MF_OK)
        return status;
    if (is_markup(text, size))
        *out = MF_INPUT_ROBOT;
    else if (mf_robots_is(text, size))
        *out = MF_INPUT_ROBOTS;
    else if (mf_swarm_is(text, size))
        *out = MF_INPUT_SWARM;
    else if (mf_vehicle_is(text, size))
        *out = MF_INPUT_VEHICLE;
    mf_release(context, text);
    return MF_OK;
}

mf_Status mf_inputs_load_swarm(mf_Context *context, const mf_Inputs *inputs, const char *command,
                               const char *name, mf_Swarm **out, mf_Error *error) {
    char path[MF_APP_PATH];
    Builder *builder = mf_allocate(context, 1, sizeof *builder);
    if (builder == NULL)
        return mf_fail(error, MF_NO_MEMORY, "options: out of memory");
    mf_Status status = MF_OK;
    if (!collect(builder, inputs, MF_INPUT_SWARM, command))
        status = mf_fail(error, MF_BAD_ARGUMENT, "%s", "");
    else
        status = mf_swarm_load(context, mf_app_find(name, path), builder->overrides, builder->count,
                               out, error);
    mf_release(context, builder);
    return status;
}

mf_Status mf_inputs_load_robots(mf_Context *context, const mf_Inputs *inputs, const char *command,
                                const char *name, mf_Robots **out, mf_Error *error) {
    char path[MF_APP_PATH];
    Builder *builder = mf_allocate(context, 1, sizeof *builder);
    if (builder == NULL)
        return mf_fail(error, MF_NO_MEMORY, "options: out of memory");
    mf_Status status = MF_OK;
    if (!collect(builder, inputs, MF_INPUT_ROBOTS, command))
        status = mf_fail(error, MF_BAD_ARGUMENT, "%s", "");
    else
        status = mf_robots_load(context, mf_app_find(name, path), builder->overrides,
                                builder->count, out, error);
    mf_release(context, builder);
    return status;
}

int mf_inputs_fail(const mf_Error *error) {
    return error->message[0] == '\0' ? MF_EXIT_USAGE : mf_app_fail(error);
}
