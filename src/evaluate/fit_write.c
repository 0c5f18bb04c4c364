// The result of a fit as a file: a report, or the robot's file with the new numbers.
//
// A URDF keeps its text: `dynamics` and `limit` of a joint are changed where they stand, and servos
// follow as the last elements, which count (import/urdf_servo.c). What was written is loaded and
// compared.
#include "evaluate/fit.h"

#include "base/file.h"
#include "base/text.h"
#include "io/decimal.h"
#include "math/scalar.h"
#include "model/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define MOST ((size_t)1 << 28) // [byte] of a robot's file

// ---- the report --------------------------------------------------------------------------------

static void put_number(mf_Text *text, const char *key, double value) {
    char number[MF_DECIMAL_TEXT];
    mf_text_format(text, ", %s: %s", key,
                   mf_is_finite(value) ? mf_decimal_write(value, number) : ".nan");
}

static void put_quoted(mf_Text *text, const char *value) {
    mf_text_put(text, "\"");
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            mf_text_put(text, "\\");
        mf_text_put_bytes(text, value, 1);
    }
    mf_text_put(text, "\"");
}

static mf_Status write_report(const mf_Fit *fit, const char *path, mf_Error *error) {
    mf_Text text = mf_text_begin(fit->context);
    mf_text_put(&text,
                "# Parameters fitted to a log; interval: half of the 95 % interval\nmodel: ");
    put_quoted(&text, fit->file);
    mf_text_put(&text, "\nlog: ");
    put_quoted(&text, fit->problem->log->path);
    mf_text_put(&text, "\nparameters:\n");
    for (uint32_t i = 0; i < fit->parameter_count; i++) {
        const mf_FitParameter *own = &fit->parameters[i];
        mf_text_put(&text, "  - {name: ");
        put_quoted(&text, own->name);
        put_number(&text, "value", own->value);
        put_number(&text, "interval", own->interval);
        put_number(&text, "model", own->start);
        mf_text_format(&text, ", unit: \"%s\", identified: %s}\n", own->unit,
                       own->identified ? "true" : "false");
    }
    mf_text_put(&text, "errors: # root mean squares\n");
    for (uint32_t i = 0; i < fit->channel_count; i++) {
        const mf_FitChannel *own = &fit->channels[i];
        mf_text_put(&text, "  - {name: ");
        put_quoted(&text, own->name);
        put_number(&text, "model", own->before);
        put_number(&text, "fitted", own->after);
        if (own->predicted > 0)
            put_number(&text, "predicted", own->predicted_after);
        put_number(&text, "noise", own->noise);
        mf_text_format(&text, ", unit: \"%s\"}\n", own->unit);
    }
    for (uint32_t i = 0; i < fit->note_count; i++) {
        mf_text_put(&text, i == 0 ? "notes:\n  - " : "  - ");
        put_quoted(&text, fit->notes[i]);
        mf_text_put(&text, "\n");
    }
    return mf_text_save(&text, path, "the report of a fit", error);
}

// ---- URDF --------------------------------------------------------------------------------------

// Behind the tag that begins at `at`.
static const char *tag_end(const char *at) {
    for (; at != NULL && *at != '\0'; at++) {
        if (*at == '>')
            return at + 1;
        if (*at == '"' || *at == '\'') // to the end of the value
            at = strchr(at + 1, *at);
        if (at == NULL)
            return NULL;
    }
    return NULL;
}

// The next tag of an element between `at` and `end`, outside of comments.
static const char *find_tag(const char *at, const char *end, const char *name) {
    const size_t length = strlen(name);
    for (; at < end && *at != '\0'; at++) {
        if (strncmp(at, "<!--", 4) == 0) {
            const char *close = strstr(at, "-->");
            if (close == NULL)
                return NULL;
            at = close + 2;
        } else if (*at == '<' && strncmp(at + 1, name, length) == 0 &&
                   strchr(" \t\r\n/>", at[1 + length]) != NULL) {
            return at;
        }
    }
    return NULL;
}

// The value of an attribute of the tag; false: it has none.
static bool find_attribute(const char *tag, const char *end, const char *name, const char **from,
                           const char **to) {
    const size_t length = strlen(name);
    for (const char *at = tag; at + length < end; at++) {
        if (strchr(" \t\r\n", *at) == NULL || strncmp(at + 1, name, length) != 0)
            continue;
        const char *quote = at + 1 + length;
        quote += strspn(quote, " \t\r\n");
        if (*quote != '=')
            continue;
        quote += 1 + strspn(quote + 1, " \t\r\n");
        if (*quote != '"' && *quote != '\'')
            continue;
        *from = quote + 1;
        *to = strchr(*from, *quote);
        return *to != NULL && *to < end;
    }
    return false;
}

// The tag with this attribute set.
static void put_with(mf_Text *out, const char *tag, const char *end, const char *name,
                     double value) {
    char number[MF_DECIMAL_TEXT];
    const char *from, *to;
    mf_decimal_write(value, number);
    if (find_attribute(tag, end, name, &from, &to)) {
        mf_text_put_bytes(out, tag, (size_t)(from - tag));
        mf_text_put(out, number);
        mf_text_put_bytes(out, to, (size_t)(end - to));
        return;
    }
    const size_t closed = end[-2] == '/' ? 2 : 1;
    mf_text_put_bytes(out, tag, (size_t)(end - tag) - closed);
    mf_text_format(out, " %s=\"%s\"", name, number);
    mf_text_put_bytes(out, end - closed, closed);
}

// Sets an attribute of the first element `name` within the joint's element, or adds one before its
// end.
static void set_inside(mf_Text *text, const char *joint, const char *element, const char *name,
                       double value) {
    const char *all = text->data, *end = all + text->size;
    mf_Text changed = mf_text_begin(text->context);
    for (const char *at = all, *from, *to; (at = find_tag(at, end, "joint")) != NULL; at++) {
        const char *open = tag_end(at), *close = open != NULL ? strstr(open, "</joint>") : NULL;
        if (close == NULL || !find_attribute(at, open, "name", &from, &to) ||
            strlen(joint) != (size_t)(to - from) || strncmp(from, joint, strlen(joint)) != 0)
            continue;
        const char *tag = find_tag(open, close, element);
        mf_text_put_bytes(&changed, all, (size_t)((tag != NULL ? tag : close) - all));
        if (tag != NULL) {
            const char *behind = tag_end(tag);
            put_with(&changed, tag, behind, name, value);
            mf_text_put(&changed, behind);
        } else {
            char number[MF_DECIMAL_TEXT];
            mf_text_format(&changed, "<%s %s=\"%s\"/>", element, name,
                           mf_decimal_write(value, number));
            mf_text_put(&changed, close);
        }
        mf_text_free(text);
        *text = changed;
        return;
    }
    mf_text_free(&changed);
}

static bool same_servo(const mf_Servo *a, const mf_Servo *b) {
    return mf_item_hash(MF_HASH_START, MF_ITEM_SERVO, a, 1) ==
           mf_item_hash(MF_HASH_START, MF_ITEM_SERVO, b, 1);
}

// The servos that the fit has changed, before the end of the robot.
static void add_servos(mf_Text *text, const mf_Model *before, const mf_Model *after) {
    const mf_ItemTable *table = mf_item_table(MF_ITEM_SERVO);
    const char *end = NULL;
    for (const char *at = text->data; (at = strstr(at, "</robot>")) != NULL; at++)
        end = at;
    if (end == NULL)
        return;
    mf_Text changed = mf_text_begin(text->context);
    mf_text_put_bytes(&changed, text->data, (size_t)(end - text->data));
    bool any = false;
    for (uint32_t j = 0; j < after->joint_count; j++) {
        const mf_Servo *servo = &after->joints[j].servo;
        if (same_servo(servo, &before->joints[j].servo))
            continue;
        mf_text_put(&changed, any ? "" : "  <mayfly>\n");
        mf_text_put(&changed, "    <servo joint=\"");
        mf_text_escape(&changed, after->joints[j].name);
        mf_text_put(&changed, "\"");
        for (uint32_t i = 0; i < table->count; i++) {
            const double value = *(const double *)mf_field_at(&table->fields[i], servo);
            char number[MF_DECIMAL_TEXT];
            if (mf_is_finite(value))
                mf_text_format(&changed, " %s=\"%s\"", table->fields[i].name,
                               mf_decimal_write(value, number));
        }
        mf_text_put(&changed, "/>\n");
        any = true;
    }
    mf_text_put(&changed, any ? "  </mayfly>\n" : "");
    mf_text_put(&changed, end);
    mf_text_free(text);
    *text = changed;
}

static mf_Status write_urdf(const mf_Fit *fit, const char *path, mf_Error *error) {
    const mf_Model *before = fit->original, *after = fit->model;
    char *data = NULL;
    size_t size = 0;
    MF_TRY(mf_file_read_text(fit->context, before->file, MOST, &data, &size, error));
    mf_Text text = mf_text_begin(fit->context);
    mf_text_put_bytes(&text, data, size);
    mf_release(fit->context, data);
    for (uint32_t j = 0; j < after->joint_count && !text.failed; j++) {
        const mf_Joint *old = &before->joints[j], *own = &after->joints[j];
        if (own->damping != old->damping)
            set_inside(&text, own->name, "dynamics", "damping", own->damping);
        if (own->friction != old->friction)
            set_inside(&text, own->name, "dynamics", "friction", own->friction);
        if (mf_is_finite(own->effort) && own->effort != old->effort)
            set_inside(&text, own->name, "limit", "effort", own->effort);
    }
    if (!text.failed)
        add_servos(&text, before, after);
    return mf_text_save(&text, path, "the fitted robot", error);
}

// Whether the file that was written has the numbers of the fit.
static mf_Status check_written(const mf_Fit *fit, const char *path, mf_Error *error) {
    mf_Model *model = NULL;
    mf_Status status =
        mf_model_load(fit->context, path, &fit->problem->group.import, &model, error);
    for (uint32_t i = 0; i < fit->parameter_count && status == MF_OK; i++) {
        const double written = mf_fit_value(model, &fit->problem->unknowns[i]),
                     value = fit->parameters[i].value;
        if (fit->problem->unknowns[i].kind == MF_FIT_DELAY ||
            mf_abs(written - value) <= 1e-9 * mf_larger(mf_abs(value), 1e-9))
            continue;
        status = mf_fail_at(error, MF_UNSUPPORTED, path, 0, 0,
                            "%s = %.6g %s could not be written into this file: it reads as %.6g",
                            fit->parameters[i].name, value, fit->parameters[i].unit, written);
    }
    mf_model_destroy(model);
    return status;
}

mf_Status mf_fit_write(const mf_Fit *fit, const char *path, mf_Error *error) {
    MF_NEED(fit != NULL && path != NULL, error, "fit: fit or path is NULL");
    const char *dot = strrchr(path, '.');
    const bool urdf = dot != NULL && strcasecmp(dot, ".urdf") == 0;
    const bool mjcf =
        dot != NULL && (strcasecmp(dot, ".xml") == 0 || strcasecmp(dot, ".mjcf") == 0);
    if (!urdf && !mjcf)
        return write_report(fit, path, error);
    const bool from_mjcf = fit->original->body_count > 0;
    if (urdf == from_mjcf || fit->original->file == NULL || fit->original->file[0] == '\0')
        return mf_fail_at(error, MF_UNSUPPORTED, path, 0, 0, "the robot is %s: write %s or .yaml",
                          from_mjcf ? "MJCF" : "URDF", from_mjcf ? ".xml" : ".urdf");
    MF_TRY(urdf ? write_urdf(fit, path, error) : mf_model_export_mjcf(fit->model, path, error));
    return check_written(fit, path, error);
}
