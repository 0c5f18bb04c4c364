// The attributes of a dock: every row of its table of fields but the frame.
#include "import/dock.h"
#include "model/fields.h"

#include <stdio.h>
#include <string.h>

static bool is_listed(const char *const *names, const char *name) {
    while (*names != NULL && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static mf_Status refuse(const mf_Xml *xml, const mf_XmlNode *node, const char *name,
                        const char *expected, mf_Error *error) {
    return mf_xml_fail(xml, node, error, MF_BAD_FILE, "<dock> %s: expected %s, found \"%.60s\"",
                       name, expected, mf_xml_attribute(node, name));
}

static mf_Status read_name(const mf_Xml *xml, const mf_XmlNode *node, const mf_ModelField *field,
                           const char *text, void *to, mf_Error *error) {
    int32_t index = 0;
    while (field->names[index] != NULL && strcmp(field->names[index], text) != 0)
        index++;
    if (field->names[index] == NULL)
        return refuse(xml, node, field->name, "both, male or female", error);
    memcpy(to, &index, sizeof index);
    return MF_OK;
}

static mf_Status read_whole(const mf_Xml *xml, const mf_XmlNode *node, const char *name, void *to,
                            mf_Error *error) {
    double value = 0.0;
    mf_Status status = mf_xml_numbers(xml, node, name, 1, &value, error);
    if (status == MF_OK && !(value == 1.0 || value == 2.0 || value == 4.0))
        status = refuse(xml, node, name, "1, 2 or 4", error);
    const uint32_t number = (uint32_t)value;
    if (status == MF_OK)
        memcpy(to, &number, sizeof number);
    return status;
}

// `orientations` by its earlier name.
static const char old_orientations[] = "turns";

static mf_Status read_field(const mf_Xml *xml, const mf_XmlNode *node, const mf_ModelField *field,
                            mf_Dock *out, mf_Error *error) {
    const char *name = field->name, *text = mf_xml_attribute(node, name);
    char *to = (char *)out + field->offset;
    if (text == NULL && strcmp(name, "orientations") == 0)
        text = mf_xml_attribute(node, name = old_orientations);
    if (text == NULL || field->type == MF_VALUE_ITEM)
        return MF_OK;
    switch (field->type) {
    case MF_VALUE_TEXT:
        memcpy(to, &text, sizeof text);
        return MF_OK;
    case MF_VALUE_ENUM:
        return read_name(xml, node, field, text, to, error);
    case MF_VALUE_NUMBER:
        return read_whole(xml, node, name, to, error);
    case MF_VALUE_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return refuse(xml, node, field->name, "true or false", error);
        *(bool *)(void *)to = text[0] == 't';
        return MF_OK;
    default:
        return mf_xml_numbers(xml, node, field->name, 1, (double *)(void *)to, error);
    }
}

static mf_Status check_names(const mf_Xml *xml, const mf_XmlNode *node, const char *const *place,
                             mf_Error *error) {
    for (uint32_t a = 0; a < node->attribute_count; a++) {
        const char *name = node->attributes[a].name;
        const mf_ModelField *field = mf_item_field(MF_ITEM_DOCK, name);
        if (is_listed(place, name) || strcmp(name, old_orientations) == 0 ||
            (field != NULL && field->type != MF_VALUE_ITEM))
            continue;
        return mf_xml_fail(xml, node, error, MF_BAD_FILE,
                           "<dock>: unknown attribute '%.60s' (docs/reference/model_fields.md "
                           "lists them)",
                           name);
    }
    return MF_OK;
}

mf_Status mf_import_dock(const mf_Xml *xml, const mf_XmlNode *node, const char *const *place,
                         mf_Dock *out, mf_Error *error) {
    const mf_ItemTable *table = mf_item_table(MF_ITEM_DOCK);
    *out = mf_dock();
    mf_Status status = check_names(xml, node, place, error);
    if (status == MF_OK)
        status = mf_xml_name(xml, node, "name", &out->name, error);
    for (uint32_t i = 0; i < table->count && status == MF_OK; i++)
        status = read_field(xml, node, &table->fields[i], out, error);
    return status;
}

mf_Status mf_import_add_dock(const mf_Xml *xml, const mf_XmlNode *node, mf_Draft *draft,
                             const mf_Dock *dock, mf_Error *error) {
    if (mf_xml_attribute(node, old_orientations) != NULL &&
        !mf_draft_note(draft, false, node->line, "<dock> %s is called orientations",
                       old_orientations))
        return mf_fail(error, MF_NO_MEMORY, "out of memory");
    mf_Error cause = {0};
    char what[300];
    snprintf(what, sizeof what, "<dock> %.255s", dock->name);
    mf_Status status = mf_draft_add_dock(draft, dock, what, &cause);
    if (status == MF_OK)
        return MF_OK;
    return mf_xml_fail(xml, node, error, status == MF_BAD_ARGUMENT ? MF_BAD_FILE : status, "%s",
                       cause.message);
}
