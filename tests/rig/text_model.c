#include "rig/rig.h"

typedef struct Formatted {
    struct Formatted *next;
    char text[];
} Formatted;

static Formatted *all_formatted; // so that no memory is lost

const char *formatted(const char *format, ...) {
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    const int length = vsnprintf(NULL, 0, format, arguments);
    assert_true(length >= 0);
    Formatted *one = malloc(sizeof *one + (size_t)length + 1);
    assert_non_null(one);
    vsnprintf(one->text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(arguments);
    one->next = all_formatted;
    all_formatted = one;
    return one->text;
}

void write_temporary(char path[64], const char *suffix, const char *text) {
    snprintf(path, 64, "/tmp/mayfly-test-XXXXXX%s", suffix);
    int file = mkstemps(path, (int)strlen(suffix));
    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
}

mf_Status try_text(mf_Context *context, const char *text, mf_Model **model, mf_Error *error) {
    char path[64];
    write_temporary(path, "", text);
    mf_Status status = mf_model_load(context, path, NULL, model, error);
    unlink(path);
    return status;
}

mf_Model *load_text(mf_Context *context, const char *text) {
    mf_Model *model = NULL;
    mf_Error error = {0};
    must(try_text(context, text, &model, &error), &error);
    return model;
}
