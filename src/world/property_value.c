// Properties after resolution: their canonical path, reading, and checked writing.
#include "math/scalar.h"
#include "base/floats.h"
#include "world/group.h"
#include "world/property.h"

#include <stdio.h>
#include <string.h>

// ---- paths of values ----------------------------------------------------------------------------

// The values of that name of a part, of which the property is some or all; false: it has none.
static bool find_whole(const mf_Property *property, mf_Part part, uint32_t index,
                       mf_Property *out) {
    const mf_Model *model = property->group->config.model;
    if (property->field != NULL)
        return mf_part_field(model, part, index, property->field, out);
    for (uint32_t n = 0; mf_part_constant(model, part, index, n, out); n++)
        if (strcmp(out->name, property->name) == 0)
            return true;
    return false;
}

// No other part of the same name has such a property, as where a sensor is named like its link.
static bool is_alone(const mf_Property *property) {
    const mf_Model *model = property->group->config.model;
    const char *name = mf_part_own_name(model, property->part, property->index);
    mf_Property other;
    for (mf_Part kind = MF_PART_LINK; kind < MF_PART_COUNT; kind++)
        for (uint32_t i = 0; i < mf_part_count(model, kind); i++)
            if ((kind != property->part || i != property->index) &&
                strcmp(mf_part_own_name(model, kind, i), name) == 0 &&
                find_whole(property, kind, i, &other))
                return false;
    return true;
}

static void add_text(char *out, size_t size, const char *text) {
    size_t used = strlen(out);
    if (used + 1 < size)
        snprintf(out + used, size - used, "%s", text);
}

// The part's name, after that of its parent where the name alone would be of two properties.
static void add_part(char *out, size_t size, const mf_Property *property) {
    const mf_Model *model = property->group->config.model;
    mf_Part above = property->part;
    uint32_t at = property->index;
    if (!is_alone(property) && mf_part_parent(model, &above, &at) &&
        mf_part_own_name(model, above, at)[0] != '\0') {
        add_text(out, size, mf_part_own_name(model, above, at));
        add_text(out, size, "/");
    }
    add_text(out, size, mf_part_own_name(model, property->part, property->index));
    add_text(out, size, "/");
}

const char *mf_property_path(const mf_Property *property, char *out, size_t size) {
    if (property == NULL)
        return NULL;
    char number[24];
    mf_Property whole;
    if (size == 0)
        return out;
    out[0] = '\0';
    add_text(out, size, property->group->config.name);
    snprintf(number, sizeof number, "[%u]/", property->instance);
    add_text(out, size, number);
    if (property->part != MF_PART_ROBOT)
        add_part(out, size, property);
    add_text(out, size, property->name);
    if (find_whole(property, property->part, property->index, &whole) &&
        whole.count != property->count) {
        uint32_t first = property->field != NULL ? property->first - whole.first
                                                 : (uint32_t)(property->constant - whole.constant);
        snprintf(number, sizeof number, "[%u]", first);
        add_text(out, size, number);
    }
    if (property->scale != 1.0) {
        add_text(out, size, ":");
        add_text(out, size, property->unit);
    }
    return out;
}

// ---- values -------------------------------------------------------------------------------------

void mf_property_read(const mf_Property *property, double *values) {
    if (property == NULL)
        return;
    for (uint32_t i = 0; i < property->count; i++)
        values[i] = (property->field == NULL
                         ? property->constant[i]
                         : mf_field_get(property->field, property->instance, property->first + i)) /
                    property->scale;
}

const char *mf_property_locked(const mf_Property *property) {
    if (property == NULL)
        return NULL;
    if (property->field == NULL)
        return "a constant of the model";
    if (property->flags & MF_FIELD_OUTPUT)
        return "computed, writing has no effect";
    if (!(property->flags & (MF_FIELD_STATE | MF_FIELD_INPUT)))
        return "neither state nor input";
    return NULL;
}

static bool is_rotational(const mf_Property *property) {
    const char *end = strrchr(property->name, '.');
    return property->field->info.width == 4 && end != NULL && strcmp(end, ".orientation") == 0;
}

static mf_Status check_values(const mf_Property *property, const double *values, mf_Error *error) {
    mf_FieldType type = property->field->info.type;
    double lowest = type == MF_U32 ? 0.0 : -2147483648.0;
    double highest = type == MF_U32 ? 4294967295.0 : 2147483647.0;
    for (uint32_t i = 0; i < property->count; i++) {
        if (!mf_is_finite(values[i]) || (type == MF_F32 && !mf_is_finite((double)(float)values[i])))
            return mf_fail(error, MF_BAD_ARGUMENT, "property %s: expected finite numbers, found %g",
                           property->name, values[i]);
        if ((type == MF_U32 || type == MF_I32) &&
            !(values[i] >= lowest && values[i] <= highest && mf_floor(values[i]) == values[i]))
            return mf_fail(error, MF_BAD_ARGUMENT,
                           "property %s: expected whole numbers %g .. %g, found %g", property->name,
                           lowest, highest, values[i]);
    }
    if (!is_rotational(property))
        return MF_OK;
    MF_NEED(property->count % 4 == 0, error,
            "property %s: expected the four numbers of the quaternion together", property->name);
    for (uint32_t i = 0; i < property->count; i += 4) {
        double square = 0.0;
        for (uint32_t c = 0; c < 4; c++)
            square += values[i + c] * values[i + c];
        MF_NEED(square > 0.98 && square < 1.02, error,
                "property %s: expected a quaternion of length 1 (w, x, y, z), found one "
                "of %g",
                property->name, __builtin_sqrt(square));
    }
    return MF_OK;
}

mf_Status mf_property_write(const mf_Property *property, const double *values, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(property != NULL, error, "mf_property_write: property is NULL");
    const char *locked = mf_property_locked(property);
    mf_Group *group = property->group;
    MF_NEED(locked == NULL, error, "property %s: cannot be written, it is %s", property->name,
            locked);
    MF_TRY(check_values(property, values, error));
    for (uint32_t i = 0; i < property->count; i++) {
        double value = values[i], rotation[4];
        if (is_rotational(property)) {
            memcpy(rotation, values + i / 4 * 4, sizeof rotation);
            mf_quat_normalize(rotation);
            value = rotation[i % 4];
        }
        mf_field_set(property->field, property->instance, property->first + i,
                     value * property->scale);
    }
    mf_group_refresh(group, property->instance);
    return MF_OK;
}
