// Docks as texts of MJCF's <custom> (src/import/mjcf_dock.c has the form).
#include "export/mjcf.h"

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

void mf_mjcf_put_list(mf_MjcfWriter *w, const char *key, const double *values, uint32_t count) {
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

void mf_mjcf_put_pair(mf_MjcfWriter *w, const mf_ModelField *field, const void *item) {
    const void *value = mf_field_at(field, item);
    switch (field->type) {
    case MF_VALUE_REAL:
        if (mf_is_finite(*(const double *)value)) // limits: infinite is their default
            mf_mjcf_put_list(w, field->name, value, field->count);
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

void mf_mjcf_put_docks(mf_MjcfWriter *w) {
    const mf_ItemTable *table = mf_item_table(MF_ITEM_DOCK);
    if (w->model->dock_count == 0)
        return;
    put(w, "  <custom>\n");
    for (uint32_t i = 0; i < w->model->dock_count; i++) {
        const mf_Dock *dock = &w->model->docks[i];
        double position[3], rotation[4];
        const uint32_t body = mf_mjcf_pose(w->model, &dock->frame, position, rotation);
        if (body == MF_NONE)
            continue;
        put(w, "    <text name=\"dock:");
        mf_text_escape(&w->text, dock->name);
        put(w, "\" data=\"body=");
        if (w->model->bodies[body].name[0] != '\0')
            put_letters(w, w->model->bodies[body].name);
        else
            mf_text_format(&w->text, "mayfly.body.%u", body);
        mf_mjcf_put_list(w, "xyz", position, 3);
        mf_mjcf_put_list(w, "quat", rotation, 4);
        for (uint32_t f = 0; f < table->count; f++)
            mf_mjcf_put_pair(w, &table->fields[f], dock);
        put(w, "\"/>\n");
    }
    put(w, "  </custom>\n");
}
