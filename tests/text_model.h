// Temporary files with given text, and models from them. Include cmocka first.
#ifndef MAYFLY_TESTS_TEXT_MODEL_H
#define MAYFLY_TESTS_TEXT_MODEL_H

#include <mayfly/model.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// Writes `text` to a new file in /tmp, whose name ends with `suffix`; the caller unlinks it.
static inline void write_temporary(char path[64], const char *suffix, const char *text) {
    snprintf(path, 64, "/tmp/mayfly-test-XXXXXX%s", suffix);
    int file = mkstemps(path, (int)strlen(suffix));
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

static inline mf_Status try_text(mf_Context *context, const char *text, mf_Model **model,
                                 mf_Error *error) {
    char path[64];
    write_temporary(path, "", text);
    mf_Status status = mf_model_load(context, path, NULL, model, error);
    unlink(path);
    return status;
}

static inline mf_Model *load_text(mf_Context *context, const char *text) {
    mf_Model *model = NULL;
    mf_Error error = {0};
    if (try_text(context, text, &model, &error) != MF_OK)
        fail_msg("%s", error.message);
    return model;
}

#endif
