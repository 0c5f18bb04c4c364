// Common code of the model tests: a context checked for leaks, a temporary folder for files, and
// models from text.
#pragma once

#include "rig/rig.h"

#include <sys/stat.h>

// Names a folder of this test program alone, since programs run side by side; makes it.
static inline void own_folder(char path[512]) {
    const char *program = strrchr(__BASE_FILE__, '/');
    snprintf(path, 512, "%s/model-tests", MAYFLY_BINARY_DIR);
    mkdir(path, 0777);
    snprintf(path, 512, "%s/model-tests/%s", MAYFLY_BINARY_DIR,
             program != NULL ? program + 1 : __BASE_FILE__);
    mkdir(path, 0777);
}

// Writes a file into the folder of this program; `name` may hold folders, which are made.
static inline void write_bytes(char path[512], const char *name, const void *data, size_t size) {
    own_folder(path);
    size_t start = strlen(path);
    snprintf(path + start, 512 - start, "/%s", name);
    for (char *slash = strchr(path + start + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    file_put(path, data, size);
}

static inline void write_text(char path[512], const char *name, const char *text) {
    write_bytes(path, name, text, strlen(text));
}

static inline mf_Model *load_file(mf_Context *context, const char *path,
                                  const mf_ImportConfig *config) {
    mf_Model *model = NULL;
    MUST(mf_model_load(context, path, config, &model, &error));
    return model;
}

// Loads a URDF given as text.
static inline mf_Model *load_text_with(mf_Context *context, const char *text,
                                       const mf_ImportConfig *config) {
    char path[512];
    write_text(path, "robot.urdf", text);
    mf_Model *model = load_file(context, path, config);
    remove(path);
    return model;
}

static inline mf_Model *load_urdf(mf_Context *context, const char *text) {
    return load_text_with(context, text, NULL);
}

// The model after it was written as MJCF and read again, which must be the same.
static inline mf_Model *written_and_read(mf_Context *context, const mf_Model *model) {
    char path[512];
    write_text(path, "written.xml", "");
    MUST(mf_model_export_mjcf(model, path, &error));
    mf_Model *again = load_file(context, path, NULL);
    assert_true(mf_model_hash(again) == mf_model_hash(model));
    remove(path);
    return again;
}

// Expects the text to be refused with this status at this line and with these words.
static inline void check_refused(mf_Context *context, const char *data, size_t size,
                                 mf_Status expected, int line, const char *text, int test_line) {
    char path[512], shown[1024];
    write_bytes(path, "refused.urdf", data, size);
    mf_Model *model = (mf_Model *)&model;
    mf_Error error = {0};
    mf_Status status = mf_model_load(context, path, NULL, &model, &error);
    remove(path);
    mf_error_format(&error, shown, sizeof shown);
    if (status != expected || model != NULL || error.line != line ||
        strstr(error.message, text) == NULL || strchr(shown, '\n') != NULL)
        fail_msg("line %d: expected %s, line %d, \"%s\"; found %s, line %d, \"%s\"", test_line,
                 mf_status_name(expected), line, text, mf_status_name(status), (int)error.line,
                 error.message);
    assert_string_equal(error.file, path);
}
#define assert_refused(context, text, status, line, names)                                         \
    check_refused(context, text, strlen(text), status, line, names, __LINE__)

// Texts that are refused, with their status, line and words.
typedef struct Refusal {
    const char *text;
    mf_Status status;
    int line;
    const char *names;
} Refusal;

static inline void check_refusals(mf_Context *context, const Refusal *rows, size_t count) {
    for (size_t i = 0; i < count; i++)
        check_refused(context, rows[i].text, strlen(rows[i].text), rows[i].status, rows[i].line,
                      rows[i].names, (int)i);
}

static inline const mf_Joint *joint_named(const mf_Model *model, const char *name) {
    const uint32_t joint = mf_model_find(model, MF_ITEM_JOINT, name);
    assert_true(joint != MF_NONE);
    return &model->joints[joint];
}

// The first note that holds these words, or NULL.
static inline const mf_Note *find_note(const mf_Model *model, const char *text) {
    for (uint32_t i = 0; i < model->note_count; i++) {
        if (strstr(model->notes[i].text, text) != NULL)
            return &model->notes[i];
    }
    return NULL;
}

#define assert_note(model, is_suspicious, at_line, names)                                          \
    do {                                                                                           \
        const mf_Note *found_note = find_note(model, names);                                       \
        if (found_note == NULL)                                                                    \
            fail_msg("no note with \"%s\"", names);                                                \
        assert_int_equal(found_note->suspicious, is_suspicious);                                   \
        assert_int_equal(found_note->line, at_line);                                               \
    } while (0)
