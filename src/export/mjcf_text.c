// What MJCF has no elements or attributes for, as texts of <custom>: items on links, and properties
// of those that have an element (src/import/mjcf_camera.c).
#include "export/mjcf.h"

#include <mayfly/camera.h>

#include <string.h>

uint32_t mf_mjcf_pose(const mf_Model *model, const mf_Frame *frame, double position[3],
                      double rotation[4]) {
    for (uint32_t b = 0; b < model->body_count; b++) {
        const mf_Body *body = &model->bodies[b];
        double back[4], arm[3];
        if (body->link != frame->link)
            continue;
        mf_quat_conjugate(back, body->rotation);
        mf_vec3_sub(arm, frame->position, body->position);
        mf_quat_rotate(position, back, arm);
        mf_quat_multiply(rotation, back, frame->rotation);
        return b;
    }
    return MF_NONE;
}

static void put_list(mf_MjcfWriter *w, const char *key, const double *values, uint32_t count) {
    mf_text_format(&w->text, " %s=", key);
    for (uint32_t i = 0; i < count; i++)
        mf_text_format(&w->text, "%s%.17g", i > 0 ? "," : "", values[i]);
}

static void put_letters(mf_MjcfWriter *w, const char *value) {
    for (const char *c = value; *c != '\0'; c++) {
        const char letter[2] = {*c == ' ' ? ',' : *c, '\0'};
        mf_text_escape(&w->text, letter);
    }
}

static void put_text(mf_MjcfWriter *w, const char *key, const char *value) {
    if (*value == '\0')
        return;
    mf_text_format(&w->text, " %s=", key);
    put_letters(w, value);
}

// Nothing of empty texts, infinite numbers and structures.
static void put_pair(mf_MjcfWriter *w, const mf_ModelField *field, const void *item) {
    const void *value = mf_field_at(field, item);
    switch (field->type) {
    case MF_VALUE_REAL:
        if (mf_is_finite(*(const double *)value)) // limits: infinite is their default
            put_list(w, field->name, value, field->count);
        break;
    case MF_VALUE_NUMBER:
        mf_text_format(&w->text, " %s=%u", field->name, *(const uint32_t *)value);
        break;
    case MF_VALUE_FLAG:
        mf_text_format(&w->text, " %s=%s", field->name, *(const bool *)value ? "true" : "false");
        break;
    case MF_VALUE_ENUM:
        put_text(w, field->name, mf_item_enum_name(field, value));
        break;
    case MF_VALUE_TEXT:
        if (strcmp(field->name, "name") != 0)
            put_text(w, field->name, *(const char *const *)value);
        break;
    default:
        break;
    }
}

// Begins the text of an item; its pairs follow.
static void begin(mf_MjcfWriter *w, mf_ItemType item, const char *name) {
    mf_text_format(&w->text, "    <text name=\"%s:", mf_item_table(item)->name);
    mf_text_escape(&w->text, name);
    put(w, "\" data=\"");
}

static void put_location(mf_MjcfWriter *w, uint32_t body, const double position[3],
                         const double rotation[4]) {
    put(w, "body=");
    if (w->model->bodies[body].name[0] != '\0')
        put_letters(w, w->model->bodies[body].name);
    else
        mf_text_format(&w->text, "mayfly.body.%u", body);
    put_list(w, "xyz", position, 3);
    put_list(w, "quat", rotation, 4);
}

// What is more exact than in the element of a camera.
static void put_camera(mf_MjcfWriter *w, const mf_Camera *camera) {
    const double *at = camera->frame.position, *rotation = camera->frame.rotation;
    const double frame[7] = {at[0],       at[1],       at[2],      rotation[0],
                             rotation[1], rotation[2], rotation[3]};
    mf_text_format(&w->text, "rate=%lld,%lld delay=%.17g", (long long)camera->rate.numerator,
                   (long long)camera->rate.denominator, mf_time_to_seconds(camera->delay));
    put_list(w, "frame", frame, 7);
}

// Rows that the element of a camera has.
static bool is_attribute(const char *name) {
    static const char *const names[] = {"name",  "width", "height",       "focal",
                                        "color", "depth", "segmentation", NULL};
    return mf_name_listed(names, name);
}

static void put_mounted(mf_MjcfWriter *w, const mf_MountedKind *kind, const void *item) {
    const mf_ItemTable *table = mf_item_table(kind->type);
    double position[3], rotation[4];
    const uint32_t body = mf_mjcf_pose(
        w->model, mf_field_at(mf_item_field(kind->type, "frame"), item), position, rotation);
    if (!kind->mjcf_element && body == MF_NONE)
        return;
    begin(w, kind->type, mf_item_name(kind->type, item));
    if (kind->mjcf_element)
        put_camera(w, item);
    else
        put_location(w, body, position, rotation);
    for (uint32_t f = 0; f < table->count; f++)
        if (!kind->mjcf_element || !is_attribute(table->fields[f].name))
            put_pair(w, &table->fields[f], item);
    put(w, "\"/>\n");
}

void mf_mjcf_put_texts(mf_MjcfWriter *w) {
    for (int k = 0; k < MF_MOUNTED_COUNT; k++) {
        const mf_MountedKind *kind = mf_mounted_kinds[k];
        uint32_t count = 0;
        const char *items = mf_model_items(w->model, kind->type, &count);
        if (count == 0)
            continue;
        put(w, "  <custom>\n");
        for (uint32_t i = 0; i < count; i++)
            put_mounted(w, kind, items + i * mf_item_table(kind->type)->size);
        put(w, "  </custom>\n");
    }
}
