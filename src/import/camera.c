// The attributes of a camera: the rows of its table of fields.
#include "import/camera.h"
#include "model/fields.h"

#include "math/scalar.h"

#include <string.h>

static mf_Status refuse(const mf_Xml *xml, const mf_XmlNode *node, mf_Error *error,
                        const char *name, const char *expected) {
    return mf_xml_fail(xml, node, error, MF_BAD_FILE, "<camera> %s: expected %s, found \"%.60s\"",
                       name, expected, mf_xml_attribute(node, name));
}

mf_Status mf_import_camera_names(const mf_Xml *xml, const mf_XmlNode *node,
                                 const char *const *elsewhere, mf_Error *error) {
    for (uint32_t a = 0; a < node->attribute_count; a++) {
        const char *name = node->attributes[a].name;
        const mf_ModelField *field = mf_item_field(MF_ITEM_CAMERA, name);
        uint32_t i = 0;
        while (elsewhere[i] != NULL && strcmp(elsewhere[i], name) != 0)
            i++;
        if (elsewhere[i] == NULL && (field == NULL || field->type == MF_VALUE_ITEM))
            return mf_xml_fail(xml, node, error, MF_BAD_FILE,
                               "<camera>: unknown attribute '%.60s' "
                               "(docs/reference/model_fields.md lists them)",
                               name);
    }
    return MF_OK;
}

// Up to field->count numbers; the others keep their defaults.
static mf_Status read_numbers(const mf_Xml *xml, const mf_XmlNode *node, const mf_ModelField *field,
                              const char *text, double *to, mf_Error *error) {
    const bool some = strcmp(field->name, "coefficients") == 0;
    const char *rest = "";
    double values[6];
    const uint32_t count = mf_xml_scan(text, field->count, values, &rest);
    if (*rest != '\0' || count < 1 || count > field->count || (count < field->count && !some))
        return refuse(xml, node, error, field->name,
                      some ? "1 .. 6 numbers" : "as many numbers as it has");
    memcpy(to, values, count * sizeof *to);
    return MF_OK;
}

static mf_Status read_field(const mf_Xml *xml, const mf_XmlNode *node, const mf_ModelField *field,
                            mf_Camera *out, mf_Error *error) {
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
    case MF_VALUE_ENUM:
        while (field->names[word] != NULL && strcmp(field->names[word], text) != 0)
            word++;
        if (field->names[word] == NULL)
            return refuse(xml, node, error, field->name, "pinhole, brown, angle or fisheye");
        memcpy(to, &word, sizeof word);
        return MF_OK;
    case MF_VALUE_NUMBER:
        status = mf_xml_numbers(xml, node, field->name, 1, &value, error);
        if (status == MF_OK && !(value >= 0.0 && value < 1e6 && value == mf_floor(value)))
            return refuse(xml, node, error, field->name, "a whole number");
        *(uint32_t *)(void *)to = (uint32_t)value;
        return status;
    case MF_VALUE_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return refuse(xml, node, error, field->name, "true or false");
        *(bool *)(void *)to = text[0] == 't';
        return MF_OK;
    default:
        return read_numbers(xml, node, field, text, (double *)(void *)to, error);
    }
}

mf_Status mf_import_camera(const mf_Xml *xml, const mf_XmlNode *node, mf_Camera *out,
                           mf_Error *error) {
    const mf_ItemTable *table = mf_item_table(MF_ITEM_CAMERA);
    double delay = mf_time_to_seconds(out->delay);
    mf_Status status = MF_OK;
    for (uint32_t i = 0; i < table->count && status == MF_OK; i++)
        if (table->fields[i].type != MF_VALUE_ITEM && table->fields[i].type != MF_VALUE_TIME)
            status = read_field(xml, node, &table->fields[i], out, error);
    if (status == MF_OK)
        status = mf_xml_numbers(xml, node, "delay", 1, &delay, error);
    if (status == MF_OK)
        out->delay = mf_time_from_seconds(delay);
    return status;
}
