// Common code of the tests of scenes: a context checked for leaks, text that is read as a file in
// scenes/, and worlds created from it. Include after <cmocka.h>.
#pragma once

#include "rig/rig.h"

#include <dirent.h>

// A file that would lie in scenes/, so that ../models/ is found.
#define SCENE_PATH MAYFLY_SOURCE_DIR "/scenes/t.yaml"

static inline void fail_with(const mf_Error *error) {
    char line[900];
    fail_msg("%s", mf_error_format(error, line, sizeof line));
}

static inline mf_Status try_scene(mf_Context *context, const char *text, mf_SceneFile **out,
                                  mf_Error *error) {
    return mf_scene_file_parse(context, SCENE_PATH, text, strlen(text), NULL, 0, out, error);
}

static inline mf_SceneFile *parse_with(mf_Context *context, const char *text,
                                       const mf_Override *overrides, uint32_t count) {
    mf_SceneFile *file = NULL;
    MUST(mf_scene_file_parse(context, SCENE_PATH, text, strlen(text), overrides, count, &file,
                             &error));
    return file;
}

static inline mf_SceneFile *parse_scene(mf_Context *context, const char *text) {
    return parse_with(context, text, NULL, 0);
}

// One of the project's own, or a robot's file: "scenes/soccer.yaml", "models/humanoid.urdf".
static inline mf_SceneFile *load_scene(mf_Context *context, const char *name,
                                       const mf_Override *overrides, uint32_t count) {
    mf_SceneFile *file = NULL;
    MUST(mf_scene_file_load(context, formatted("%s/%s", MAYFLY_SOURCE_DIR, name), overrides, count,
                            &file, &error));
    return file;
}

static inline mf_Scene make_with(mf_Context *context, mf_SceneFile *file,
                                 const mf_SceneConfig *config) {
    mf_Scene scene;
    MUST(mf_scene_create(context, file, config, &scene, &error));
    return scene;
}

static inline mf_Scene make_scene(mf_Context *context, mf_SceneFile *file) {
    return make_with(context, file, NULL);
}

// With space for evaluations of `count` robots.
static inline mf_Scene make_evaluation(mf_Context *context, mf_SceneFile *file, uint32_t count) {
    mf_SceneConfig config = WITH(mf_scene_config(), .evaluates = true, .count = count);
    return make_with(context, file, &config);
}

static inline void drop_scene(mf_Scene *scene, mf_SceneFile *file) {
    mf_scene_destroy(scene);
    mf_scene_file_destroy(file);
}

// A scene with the file that it was made from, which ends with it:
// AUTO_WHOLE_SCENE scene = scene_of(context, text);
static inline void drop_whole_scene(mf_Scene *scene) {
    drop_scene(scene, scene->file);
}
#define AUTO_WHOLE_SCENE AUTO(drop_whole_scene) mf_Scene

// Worlds of a text, and of one of the project's files.
static inline mf_Scene scene_of(mf_Context *context, const char *text) {
    return make_scene(context, parse_scene(context, text));
}

static inline mf_Scene scene_at(mf_Context *context, const char *name, const mf_Override *overrides,
                                uint32_t count) {
    return make_scene(context, load_scene(context, name, overrides, count));
}

// Calls `check` with the name of each of the project's own scenes ("soccer.yaml"), or of
// MAYFLY_SCENE alone.
static inline void each_scene(mf_Context *context,
                              void (*check)(mf_Context *context, const char *name)) {
    DIR *folder = opendir(MAYFLY_SOURCE_DIR "/scenes");
    const char *only = getenv("MAYFLY_SCENE");
    uint32_t checked = 0;
    assert_non_null(folder);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        const char *ending = strrchr(entry->d_name, '.');
        if (ending == NULL || strcmp(ending, ".yaml") != 0 ||
            (only != NULL && strcmp(only, entry->d_name) != 0))
            continue;
        check(context, entry->d_name);
        checked++;
    }
    closedir(folder);
    assert_true(only != NULL || checked >= 30);
}

static inline double get(const mf_Scene *scene, uint32_t group, const char *field, uint32_t robot,
                         uint32_t component) {
    return get_field(mf_world_group(scene->world, group), field, robot, component);
}

// The text of a scene that is written, read and written again: the same. It is kept until the
// program ends.
static inline const char *write_twice(mf_Context *context, const mf_SceneFile *file,
                                      mf_SceneFile **again) {
    char *once = NULL, *twice = NULL;
    MUST(mf_scene_file_write(file, &once, &error));
    *again = parse_scene(context, once);
    MUST(mf_scene_file_write(*again, &twice, &error));
    assert_string_equal(once, twice);
    const char *kept = formatted("%s", once);
    mf_release(context, once);
    mf_release(context, twice);
    return kept;
}

// Reads a scene and makes its world, once: for failing calls.
static inline mf_Status make_once(mf_Context *context, void *user, mf_Error *error) {
    AUTO_SCENE_FILE *file = NULL;
    AUTO_SCENE scene = {0};
    mf_Status status = try_scene(context, user, &file, error);
    if (status == MF_OK)
        status = mf_scene_create(context, file, NULL, &scene, error);
    if (status != MF_OK)
        assert_null(scene.world);
    return status;
}

// The error, of one line, with which a scene is refused: when it is read, or where its world is
// made at the latest. Nothing leaks.
static inline mf_Error refused_scene(mf_Context *context, const char *text, bool when_read) {
    const size_t live = mf_context_live_bytes(context);
    mf_Error error = {0};
    if (when_read) {
        mf_SceneFile *file = (mf_SceneFile *)context; // must become NULL
        assert_int_not_equal(try_scene(context, text, &file, &error), MF_OK);
        assert_null(file);
    } else {
        assert_int_not_equal(make_once(context, (void *)(uintptr_t)text, &error), MF_OK);
    }
    assert_null(strchr(error.message, '\n'));
    assert_int_equal(mf_context_live_bytes(context), live);
    return error;
}

// Texts that are refused, with a part of the message, and their line (0: not looked at).
typedef struct SceneMistake {
    const char *text, *part;
    int line;
} SceneMistake;

static inline void check_mistakes(mf_Context *context, const SceneMistake *rows, size_t count,
                                  bool when_read) {
    for (size_t i = 0; i < count; i++) {
        const mf_Error error = refused_scene(context, rows[i].text, when_read);
        if (strstr(error.message, rows[i].part) == NULL ||
            (rows[i].line != 0 && error.line != rows[i].line))
            fail_msg("mistake %zu: line %d: %s", i, (int)error.line, error.message);
    }
}

// The same as text, from the position in the file on: ":4:15: groups.a: ...".
static inline const char *scene_error(mf_Context *context, const char *text, bool when_read) {
    static char line[900];
    const mf_Error error = refused_scene(context, text, when_read);
    mf_error_format(&error, line, sizeof line);
    assert_int_equal(strncmp(line, SCENE_PATH, strlen(SCENE_PATH)), 0);
    return line + strlen(SCENE_PATH);
}
