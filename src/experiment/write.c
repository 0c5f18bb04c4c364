// An experiment as YAML text, by the table of keys: every key with its value, groups indented, what
// does not apply (the settings of other controllers, of the other kind of ground) left out.
// Relative paths are made absolute, because the text is kept in archives and read again from
// elsewhere.
#include "experiment/keys.h"
#include "experiment/decimal.h"
#include "base/text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { FOLDER_LIMIT = 4096 }; // [byte] longest name of the current folder

typedef struct Writer {
    const mf_Experiment *experiment;
    mf_Text text;
    char folder[FOLDER_LIMIT]; // the current one, "" until it is needed
    mf_Error *error;
} Writer;

mf_Time mf_experiment_period(mf_Rate rate) {
    return (mf_Time)((__int128)rate.denominator * MF_SECOND / rate.numerator);
}

static const void *member(const Writer *writer, const mf_ExperimentKey *key) {
    return (const char *)writer->experiment + key->offset;
}

// Text for inside double quotes, with escapes where YAML needs them.
static void put_escaped(Writer *writer, const char *string, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (string[i] == '"' || string[i] == '\\')
            mf_text_put(&writer->text, "\\");
        mf_text_put_bytes(&writer->text, string + i, 1);
    }
}

static mf_Status put_path(Writer *writer, const char *path) {
    if (path[0] != '/' && writer->folder[0] == '\0' &&
        (!mf_allow(writer->experiment->context, "getcwd") ||
         getcwd(writer->folder, sizeof writer->folder) == NULL))
        return mf_fail(writer->error, MF_IO, "experiment: cannot tell the current folder: %s",
                       strerror(errno));
    mf_text_put(&writer->text, "\"");
    if (path[0] != '/') {
        put_escaped(writer, writer->folder, strlen(writer->folder));
        mf_text_put(&writer->text, "/");
    }
    put_escaped(writer, path, strlen(path));
    mf_text_put(&writer->text, "\"");
    return MF_OK;
}

// One line `name: "folder"` for each pair "name=folder".
static mf_Status put_packages(Writer *writer) {
    const mf_ImportConfig *import = &writer->experiment->import;
    for (uint32_t i = 0; i < import->package_count; i++) {
        const char *pair = import->packages[i], *equals = strchr(pair, '=');
        mf_text_put(&writer->text, "\n    \"");
        put_escaped(writer, pair, (size_t)(equals - pair));
        mf_text_put(&writer->text, "\": ");
        mf_Status status = put_path(writer, equals + 1);
        if (status != MF_OK)
            return status;
    }
    return MF_OK;
}

static void put_place(Writer *writer, const double place[2]) {
    char x[MF_DECIMAL_TEXT], y[MF_DECIMAL_TEXT];
    if (isnan(place[0]) || isnan(place[1]))
        mf_text_put(&writer->text, "centered");
    else
        mf_text_format(&writer->text, "[%s, %s]", mf_decimal_write(place[0], x),
                       mf_decimal_write(place[1], y));
}

static mf_Status put_value(Writer *writer, const mf_ExperimentKey *key) {
    const void *value = member(writer, key);
    mf_Text *text = &writer->text;
    char number[MF_DECIMAL_TEXT];
    switch (key->kind) {
    case MF_KEY_TEXT:
        mf_text_put(text, "\"");
        put_escaped(writer, *(const char *const *)value, strlen(*(const char *const *)value));
        mf_text_put(text, "\"");
        break;
    case MF_KEY_FILE:
        return put_path(writer, *(const char *const *)value);
    case MF_KEY_REAL:
        mf_text_put(text, mf_decimal_write(*(const double *)value, number));
        break;
    case MF_KEY_TIME:
        mf_text_put(text, mf_decimal_write_time(*(const mf_Time *)value, number));
        break;
    case MF_KEY_RATE:
        mf_text_put(text,
                    mf_decimal_write_time(mf_experiment_period(*(const mf_Rate *)value), number));
        break;
    case MF_KEY_COUNT:
        mf_text_format(text, "%" PRIu32, *(const uint32_t *)value);
        break;
    case MF_KEY_SEED:
        mf_text_format(text, "%" PRIu64, *(const uint64_t *)value);
        break;
    case MF_KEY_FLAG:
        mf_text_put(text, *(const bool *)value ? "true" : "false");
        break;
    case MF_KEY_DOUBLE:
        mf_text_put(text, key->choices[*(const bool *)value]);
        break;
    case MF_KEY_CHOICE:
        mf_text_put(text, key->choices[*(const int *)value]);
        break;
    case MF_KEY_WORD:
        mf_text_put(text, *(const char *const *)value);
        break;
    case MF_KEY_PLACE:
        put_place(writer, value);
        break;
    case MF_KEY_PACKAGES:
        return put_packages(writer);
    case MF_KEY_SECTION:
    case MF_KEY_VARIANT:
        break;
    }
    return MF_OK;
}

// Groups of controllers that are not chosen, the other kind of ground, and what is not given.
static bool applies(const Writer *writer, const mf_ExperimentKey *key) {
    static const char *const groups[] = {"controller.gp", "controller.oscillator"};
    const mf_Experiment *experiment = writer->experiment;
    for (int kind = 0; kind < 2; kind++) {
        if (strncmp(key->path, groups[kind], strlen(groups[kind])) == 0)
            return (int)experiment->controller == kind;
    }
    if (key->flags & (experiment->terrain_path != NULL ? MF_KEY_SHAPE : MF_KEY_IMAGE))
        return false;
    return key->kind != MF_KEY_PACKAGES || experiment->import.package_count != 0;
}

static mf_Status put_key(Writer *writer, const mf_ExperimentKey *key) {
    mf_Text *text = &writer->text;
    for (const char *dot = key->path; (dot = strchr(dot, '.')) != NULL; dot++)
        mf_text_put(text, "  ");
    size_t group = mf_experiment_group_length(key->path);
    mf_text_format(text, "%s:", key->path + group + (group != 0));
    bool none = key->kind == MF_KEY_VARIANT && key->offset != MF_KEY_NOWHERE &&
                writer->experiment->controller == MF_CONTROLLER_NONE;
    if (none)
        mf_text_put(text, " none");
    mf_Status status = MF_OK;
    if (key->kind != MF_KEY_SECTION && key->kind != MF_KEY_VARIANT) {
        mf_text_put(text, key->kind == MF_KEY_PACKAGES ? "" : " ");
        status = put_value(writer, key);
    }
    bool unit = key->unit[0] != '\0' && strcmp(key->unit, "1") != 0;
    if (unit)
        mf_text_format(text, " # [%s]", key->unit);
    mf_text_put(text, "\n");
    return status;
}

mf_Status mf_experiment_write(const mf_Experiment *experiment, char **text, mf_Error *error) {
    if (text == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "experiment: text is NULL");
    *text = NULL;
    if (experiment == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "experiment: experiment is NULL");
    uint32_t count;
    const mf_ExperimentKey *keys = mf_experiment_keys(&count);
    Writer writer = {
        .experiment = experiment, .text = mf_text_begin(experiment->context), .error = error};
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < count && status == MF_OK; i++) {
        if (applies(&writer, &keys[i]))
            status = put_key(&writer, &keys[i]);
    }
    if (status == MF_OK && writer.text.failed)
        status = mf_fail(error, MF_NO_MEMORY, "experiment: no memory to write it");
    if (status != MF_OK) {
        mf_text_free(&writer.text);
        return status;
    }
    *text = writer.text.data;
    return MF_OK;
}
