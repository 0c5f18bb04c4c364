// What importers have in common (item.h).
#include "import/item.h"
#include "import/mesh.h"
#include "model/points.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

#define POINT_RADIUS 0.005 // [m] a sphere of at most this radius has one contact point

// ---- attributes --------------------------------------------------------------------------------

mf_Status mf_import_names(const mf_Xml *xml, const mf_XmlNode *node, mf_ItemType item,
                          const char *const *elsewhere) {
    for (uint32_t a = 0; a < node->attribute_count; a++) {
        const char *name = node->attributes[a].name;
        const mf_ModelField *field = mf_item_field(item, name);
        if (!mf_name_listed(elsewhere, name) && (field == NULL || field->type == MF_VALUE_ITEM))
            return mf_xml_refuse(xml, node,
                                 "<%.80s>: unknown attribute '%.60s' "
                                 "(docs/reference/model_fields.md lists them)",
                                 node->name, name);
    }
    return MF_OK;
}

mf_Status mf_import_refuse(const mf_Xml *xml, const mf_XmlNode *node, const char *name,
                           const char *expected) {
    return mf_xml_refuse(xml, node, "<%.80s> %s: expected %s, found \"%.60s\"", node->name, name,
                         expected, mf_xml_attribute(node, name));
}

static mf_Status read_choice(const mf_Xml *xml, const mf_XmlNode *node, const char *name,
                             const char *const *names, int32_t *out) {
    const char *text = mf_xml_attribute(node, name);
    char list[200] = "";
    for (int32_t i = 0; names[i] != NULL; i++) {
        if (strcmp(names[i], text) == 0) {
            *out = i;
            return MF_OK;
        }
        const size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s",
                 i == 0                 ? ""
                 : names[i + 1] == NULL ? " or "
                                        : ", ",
                 names[i]);
    }
    return mf_import_refuse(xml, node, name, list);
}

// All numbers of the field, or some: the others keep their defaults.
static mf_Status read_reals(const mf_Xml *xml, const mf_XmlNode *node, const char *name,
                            const mf_ModelField *field, double *out) {
    double values[16];
    char expected[40];
    const char *rest = "";
    if (!(field->spelled & MF_SPELLED_SHORT))
        return mf_xml_numbers(xml, node, name, field->count, out);
    const uint32_t count = mf_xml_scan(mf_xml_attribute(node, name), field->count, values, &rest);
    snprintf(expected, sizeof expected, "1 .. %u numbers", field->count);
    if (*rest != '\0' || count < 1 || count > field->count)
        return mf_import_refuse(xml, node, name, expected);
    memcpy(out, values, count * sizeof *out);
    return MF_OK;
}

mf_Status mf_import_member(const mf_Xml *xml, const mf_XmlNode *node, const char *name,
                           const mf_ModelField *field, void *out) {
    const char *text = mf_xml_attribute(node, name);
    void *to = (char *)out + field->offset;
    double value = 0.0;
    mf_Status status = MF_OK;
    if (text == NULL)
        return MF_OK;
    switch (field->type) {
    case MF_VALUE_TEXT:
        *(const char **)to = text;
        return MF_OK;
    case MF_VALUE_ENUM:
        return read_choice(xml, node, name, field->names, to);
    case MF_VALUE_NUMBER:
        status = mf_xml_numbers(xml, node, name, 1, &value);
        if (status == MF_OK && !(value >= 0.0 && value < 1e6 && value == mf_floor(value)))
            return mf_import_refuse(xml, node, name, "a whole number");
        *(uint32_t *)to = (uint32_t)value;
        return status;
    case MF_VALUE_FLAG:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
            return mf_import_refuse(xml, node, name, "true or false");
        *(bool *)to = text[0] == 't';
        return MF_OK;
    case MF_VALUE_TIME:
        status = mf_xml_numbers(xml, node, name, 1, &value);
        *(mf_Time *)to = mf_time_from_seconds(value);
        return status;
    case MF_VALUE_REAL:
        return read_reals(xml, node, name, field, to);
    default: // structures
        return MF_OK;
    }
}

mf_Status mf_import_members(const mf_Xml *xml, const mf_XmlNode *node, mf_ItemType item,
                            void *out) {
    const mf_ItemTable *table = mf_item_table(item);
    for (uint32_t i = 0; i < table->count; i++)
        MF_TRY(mf_import_member(xml, node, table->fields[i].name, &table->fields[i], out));
    return MF_OK;
}

mf_Status mf_import_blame(const mf_Xml *xml, const mf_XmlNode *node, mf_Status status,
                          const mf_Error *cause) {
    return status == MF_OK
               ? MF_OK
               : mf_xml_fail(xml, node, status == MF_BAD_ARGUMENT ? MF_BAD_FILE : status, "%s",
                             cause->message);
}

mf_Status mf_import_mount(const mf_Xml *xml, const mf_XmlNode *node, mf_Draft *draft,
                          const mf_MountedKind *kind, const void *item, const char *what) {
    mf_Error cause = {0};
    return mf_import_blame(xml, node, mf_draft_mount(draft, kind, item, what, &cause), &cause);
}

// ---- contact points -----------------------------------------------------------------------------

mf_Status mf_import_touch(mf_Draft *draft, uint32_t shape, uint32_t mesh_points, uint32_t ring) {
    const mf_Shape *own = &mf_draft_shapes(draft)[shape];
    double points[MF_MESH_POINTS_LIMIT][3];
    uint32_t count;
    if (own->type == MF_SHAPE_MESH) {
        const mf_Mesh *mesh = &mf_draft_meshes(draft)[own->mesh];
        const mf_MeshData data = {.vertices = (float *)mesh->vertices,
                                  .vertex_count = mesh->vertex_count};
        count = mf_mesh_points(&data, mesh_points, points);
    } else {
        const bool tiny = own->type == MF_SHAPE_SPHERE && own->size[0] <= POINT_RADIUS;
        count = mf_shape_points(points, tiny ? MF_SHAPE_POINT : own->type, own->size, ring);
    }
    for (uint32_t i = 0; i < count; i++) {
        mf_quat_rotate(points[i], own->rotation, points[i]);
        mf_vec3_add(points[i], points[i], own->position);
        mf_Point *point = mf_draft_add_point(draft, own->link, points[i], 0.0, true, own->color);
        if (point == NULL)
            return mf_draft_no_memory(draft);
        point->shape = shape;
    }
    return MF_OK;
}
