// Cameras of a URDF file:
//
//   <mayfly><camera name="eye" link="head" xyz="0.05 0 0" rpy="0 0 0" width="320" height="240"
//       fovy="0.8" lens="brown" coefficients="-0.28 0.09 0.0005 -0.0003" depth="true" rate="20"
//       delay="0.05" blur="0.8" noise="0.01"/></mayfly>
//
// Attributes are the rows of the table of fields; only name and link are required. It looks along x
// of its pose, z up. `fovy` [rad] is the angle of view from top to bottom, instead of focal and
// center, which is in the middle where it is not given.
#include "model/import/urdf.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

static const char *const elsewhere[] = {"link", "xyz", "rpy", "fovy", "rate", "delay", NULL};

static mf_Status refuse(mf_Urdf *urdf, const mf_XmlNode *node, const char *name,
                        const char *expected) {
    return mf_xml_fail(&urdf->xml, node, urdf->error, MF_BAD_FILE,
                       "<camera> %s: expected %s, found \"%.60s\"", name, expected,
                       mf_xml_attribute(node, name));
}

static mf_Status check_names(mf_Urdf *urdf, const mf_XmlNode *node) {
    for (uint32_t a = 0; a < node->attribute_count; a++) {
        const char *name = node->attributes[a].name;
        const mf_ModelField *field = mf_item_field(MF_ITEM_CAMERA, name);
        uint32_t i = 0;
        while (elsewhere[i] != NULL && strcmp(elsewhere[i], name) != 0)
            i++;
        if (elsewhere[i] == NULL && (field == NULL || field->type == MF_VALUE_ITEM))
            return mf_xml_fail(&urdf->xml, node, urdf->error, MF_BAD_FILE,
                               "<camera>: unknown attribute '%.60s' "
                               "(docs/reference/model_fields.md lists them)",
                               name);
    }
    return MF_OK;
}

// Up to field->count numbers; the others keep their defaults.
static mf_Status read_numbers(mf_Urdf *urdf, const mf_XmlNode *node, const mf_ModelField *field,
                              const char *text, double *to) {
    const bool some = strcmp(field->name, "coefficients") == 0;
    const char *rest = "";
    double values[6];
    const uint32_t count = mf_xml_scan(text, field->count, values, &rest);
    if (*rest != '\0' || count < 1 || count > field->count || (count < field->count && !some))
        return refuse(urdf, node, field->name,
                      some ? "1 .. 6 numbers" : "as many numbers as it has");
    memcpy(to, values, count * sizeof *to);
    return MF_OK;
}

static mf_Status read_field(mf_Urdf *urdf, const mf_XmlNode *node, const mf_ModelField *field,
                            mf_Camera *out) {
    const char *text = mf_xml_attribute(node, field->name);
    char *to = (char *)out + field->offset;
    double value = 0.0;
    int32_t word = 0;
    if (text == NULL)
        return MF_OK;
    mf_Status status = MF_OK;
    switch (field->type) {
    case MF_VALUE_TEXT:
        memcpy(to, &text, sizeof text);
        return MF_OK;
    case MF_VALUE_WORD:
        while (field->words[word] != NULL && strcmp(field->words[word], text) != 0)
            word++;
        if (field->words[word] == NULL)
            return refuse(urdf, node, field->name, "pinhole, brown, angle or fisheye");
        memcpy(to, &word, sizeof word);
        return MF_OK;
    case MF_VALUE_NUMBER:
        status = mf_xml_numbers(&urdf->xml, node, field->name, 1, &value, urdf->error);
        if (status == MF_OK && !(value >= 0.0 && value < 1e6 && value == mf_floor(value)))
            return refuse(urdf, node, field->name, "a whole number");
        *(uint32_t *)(void *)to = (uint32_t)value;
        return status;
    case MF_VALUE_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return refuse(urdf, node, field->name, "true or false");
        *(bool *)(void *)to = text[0] == 't';
        return MF_OK;
    default:
        return read_numbers(urdf, node, field, text, (double *)(void *)to);
    }
}

// The angle of view needs the size; a focal length alone has the center in the middle.
static mf_Status read_view(mf_Urdf *urdf, const mf_XmlNode *node, mf_Camera *out) {
    const bool focal = mf_xml_attribute(node, "focal") != NULL,
               centered = mf_xml_attribute(node, "center") == NULL;
    const double given[4] = {out->focal[0], out->focal[1], out->center[0], out->center[1]};
    const bool wide = out->lens == MF_LENS_ANGLE || out->lens == MF_LENS_FISHEYE;
    double fovy = MF_PI / 4;
    mf_Status status = mf_xml_numbers(&urdf->xml, node, "fovy", 1, &fovy, urdf->error);
    if (status != MF_OK)
        return status;
    if (focal && mf_xml_attribute(node, "fovy") != NULL)
        return refuse(urdf, node, "fovy", "either fovy or focal");
    if (!(fovy > 0.0 && fovy < (wide ? 2.0 * MF_PI : MF_PI)))
        return refuse(urdf, node, "fovy", wide ? "0 .. 6.28 rad" : "0 .. 3.14 rad");
    mf_camera_set_view(out, fovy);
    for (int i = 0; i < 2; i++) {
        out->focal[i] = focal ? given[i] : out->focal[i];
        out->center[i] = centered ? out->center[i] : given[2 + i];
    }
    return MF_OK;
}

static mf_Status read_time(mf_Urdf *urdf, const mf_XmlNode *node, mf_Camera *out) {
    double delay = 0.0;
    mf_Status status = mf_urdf_read_rate(urdf, node, &out->rate);
    if (status == MF_OK)
        status = mf_xml_numbers(&urdf->xml, node, "delay", 1, &delay, urdf->error);
    if (status == MF_OK)
        out->delay = mf_time_from_seconds(delay);
    return status;
}

mf_Status mf_urdf_read_camera(mf_Urdf *urdf, const mf_XmlNode *node) {
    const mf_ItemTable *table = mf_item_table(MF_ITEM_CAMERA);
    mf_Camera camera = mf_camera();
    mf_Error cause = {0};
    char what[300];
    mf_Status status = check_names(urdf, node);
    if (status == MF_OK)
        status = mf_xml_name(&urdf->xml, node, "name", &camera.name, urdf->error);
    for (uint32_t i = 0; i < table->count && status == MF_OK; i++)
        if (table->fields[i].type != MF_VALUE_ITEM && table->fields[i].type != MF_VALUE_TIME)
            status = read_field(urdf, node, &table->fields[i], &camera);
    if (status == MF_OK)
        status = read_view(urdf, node, &camera);
    if (status == MF_OK)
        status = read_time(urdf, node, &camera);
    if (status == MF_OK)
        status = mf_urdf_read_frame(urdf, node, &camera.frame);
    if (status != MF_OK)
        return status;
    snprintf(what, sizeof what, "<camera> %.255s", camera.name);
    status = mf_draft_add_camera(&urdf->draft, &camera, what, &cause);
    if (status == MF_OK)
        return MF_OK;
    return mf_xml_fail(&urdf->xml, node, urdf->error,
                       status == MF_BAD_ARGUMENT ? MF_BAD_FILE : status, "%s", cause.message);
}
