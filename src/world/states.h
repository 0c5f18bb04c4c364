// Fields of state of a group's parts, from a table of them.
#pragma once

#include <mayfly/world.h>

// A field of state with `count` elements of `width` values, added as by mf_attach_field.
typedef struct mf_StateField {
    const char *name, *unit;
    mf_FieldType type;
    uint32_t count, width, flags; // [1] flags besides MF_FIELD_STATE
    mf_Field **field;             // outputs, each of which may be NULL
    uint32_t **data;              // of MF_U32
    const char *description;
} mf_StateField;
mf_Status mf_attach_states(mf_Group *group, const mf_StateField *rows, size_t count,
                           mf_Error *error);
