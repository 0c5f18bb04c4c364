// Whether two models differ in nothing but real numbers: the names, kinds and topology of their
// parts are the same, and so are meshes, whose vertices are a shape and not a number.
#include "model/fields.h"

#include <stdio.h>
#include <string.h>

// Lists of what moves, touches and measures; not of looks, cameras, poses and notes. Nor mass
// points, which are chosen by rounding: only the motion `points` and robots without shapes need the
// same.
static const mf_ItemType listed[] = {
    MF_ITEM_LINK,        MF_ITEM_JOINT,    MF_ITEM_BODY,      MF_ITEM_SHAPE,  MF_ITEM_MESH,
    MF_ITEM_SITE,        MF_ITEM_PAIR,     MF_ITEM_EXCLUSION, MF_ITEM_TENDON, MF_ITEM_TENDON_TERM,
    MF_ITEM_TENDON_WRAP, MF_ITEM_EQUALITY, MF_ITEM_ACTUATOR,  MF_ITEM_SENSOR, MF_ITEM_DOCK};

static bool same_text(const char *a, const char *b) {
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

// Most are of four bytes.
static inline bool same_bytes(const char *a, const char *b, size_t size) {
    uint32_t first, second;
    if (size != sizeof first)
        return memcmp(a, b, size) == 0;
    memcpy(&first, a, sizeof first);
    memcpy(&second, b, sizeof second);
    return first == second;
}

// Structures of real numbers alone.
static bool is_real(mf_ItemType item) {
    return item == MF_ITEM_SOFTNESS || item == MF_ITEM_SERVO;
}

// Groups of shapes and their materials are looks, paths are where a mesh comes from.
static bool counts(const mf_ModelField *field) {
    return field->item != MF_ITEM_MATERIAL && strcmp(field->name, "group") != 0 &&
           strcmp(field->name, "path") != 0;
}

// The name of the first field that differs; NULL: there is none.
static const char *other_field(mf_ItemType item, const char *a, const char *b) {
    const mf_ItemTable *table = mf_item_table(item);
    for (uint32_t f = 0; f < table->count; f++) {
        const mf_ModelField *field = &table->fields[f];
        const char *of_a = a + field->offset, *of_b = b + field->offset;
        const size_t size = field->size / field->count;
        switch (field->type) {
        case MF_VALUE_INTEGER:
        case MF_VALUE_NUMBER:
        case MF_VALUE_INDEX:
        case MF_VALUE_ENUM:
        case MF_VALUE_TIME:
        case MF_VALUE_FLAG:
            if (!same_bytes(of_a, of_b, field->size) && counts(field))
                return field->name;
            break;
        case MF_VALUE_TEXT:
            if (!same_text(*(const char *const *)(const void *)of_a,
                           *(const char *const *)(const void *)of_b) &&
                counts(field))
                return field->name;
            break;
        case MF_VALUE_ITEM:
            for (uint32_t i = 0; i < field->count && !is_real(field->item); i++)
                if (other_field(field->item, of_a + i * size, of_b + i * size) != NULL)
                    return field->name;
            break;
        default: // real numbers, and what is compared as a list
            break;
        }
    }
    return NULL;
}

// Of what touches: the vertices of the hull.
static bool same_hull(const mf_Mesh *a, const mf_Mesh *b) {
    bool same = true;
    for (uint32_t i = 0; same && i < a->hull_vertex_count; i++)
        same = a->hull_vertices[i] == b->hull_vertices[i] &&
               memcmp(a->vertices + 3 * (size_t)a->hull_vertices[i],
                      b->vertices + 3 * (size_t)a->hull_vertices[i], 3 * sizeof(float)) == 0;
    return same;
}

static mf_Status refuse(const mf_Model *model, const mf_Model *other, mf_ItemType item,
                        const void *value, uint32_t index, const char *field, mf_Error *error) {
    char name[80] = "";
    if (mf_item_field(item, "name") != NULL && mf_item_name(item, value) != NULL)
        snprintf(name, sizeof name, "%.79s", mf_item_name(item, value));
    if (name[0] == '\0')
        snprintf(name, sizeof name, "%u", index);
    return mf_fail(error, MF_UNSUPPORTED,
                   "model %.99s is not of the tree of %.99s: %s %s differs in '%s'", other->name,
                   model->name, mf_item_table(item)->name, name, field);
}

static mf_Status same_list(const mf_Model *model, const mf_Model *other, mf_ItemType item,
                           mf_Error *error) {
    const mf_ItemTable *table = mf_item_table(item);
    uint32_t count, others;
    const char *a = mf_model_items(model, item, &count), *b = mf_model_items(other, item, &others);
    if (count != others)
        return mf_fail(error, MF_UNSUPPORTED,
                       "model %.99s is not of the tree of %.99s: items of kind %s: %u, need %u",
                       other->name, model->name, table->name, others, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *of_a = a + i * table->size, *of_b = b + i * table->size;
        const char *field = other_field(item, of_a, of_b);
        if (field == NULL && item == MF_ITEM_MESH &&
            !same_hull((const mf_Mesh *)(const void *)of_a, (const mf_Mesh *)(const void *)of_b))
            field = "vertices";
        if (field != NULL)
            return refuse(model, other, item, of_a, i, field, error);
    }
    return MF_OK;
}

mf_Status mf_model_same_tree(const mf_Model *model, const mf_Model *other, mf_Error *error) {
    if (model == other)
        return MF_OK;
    if (model->base != other->base)
        return mf_fail(error, MF_UNSUPPORTED,
                       "model %.99s is not of the tree of %.99s: one base is fixed", other->name,
                       model->name);
    if (other_field(MF_ITEM_PHYSICS, (const char *)&model->physics,
                    (const char *)&other->physics) != NULL)
        return mf_fail(error, MF_UNSUPPORTED,
                       "model %.99s is not of the tree of %.99s: options of the file differ",
                       other->name, model->name);
    for (size_t i = 0; i < sizeof listed / sizeof *listed; i++)
        MF_TRY(same_list(model, other, listed[i], error));
    return MF_OK;
}
