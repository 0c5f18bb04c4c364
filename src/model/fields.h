// Walkers over the table of model fields: defaults and hashes of any structure of a model.
#pragma once

#include <mayfly/model_fields.h>

#define MF_HASHED_BY_CODE 999u // hash of a field: hash.c decides when it is hashed

// Address of the field in an item.
static inline const void *mf_field_at(const mf_ModelField *field, const void *item) {
    return (const char *)item + field->offset;
}

// Number of elements of a list or an array of `model`.
static inline uint32_t mf_field_length(const mf_Model *model, const mf_ModelField *field) {
    return *(const uint32_t *)(const void *)((const char *)model + field->length);
}

// The attribute of a field in an embedded structure, from the outer pattern ("sol%slimit" of
// "ref").
void mf_spell(char *out, size_t size, const char *pattern, const char *attribute);

// Sets defaults of a structure; texts are "".
void mf_item_reset(mf_ItemType item, void *values);

// Adds every field of the item with a hash position in first .. first + 98, in order of position.
uint64_t mf_item_hash(uint64_t hash, mf_ItemType item, const void *values, uint32_t first);

// The name of an item of a kind that has names.
const char *mf_item_name(mf_ItemType item, const void *values);

// The name of an item of a model; NULL: there is none.
const char *mf_model_item_name(const mf_Model *model, mf_ItemType item, uint32_t index);

// The field of that name, or NULL.
const mf_ModelField *mf_item_field(mf_ItemType item, const char *name);

// Whether `other` differs from `model` in nothing but real numbers: the same names, kinds, topology
// and meshes. MF_UNSUPPORTED: it names the first item that is not the same.
mf_Status mf_model_same_tree(const mf_Model *model, const mf_Model *other, mf_Error *error);
