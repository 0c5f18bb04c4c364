// Fields: values by index and the sizes of their types.
#include "world/attach.h"
#include "world/group.h"
#include "world/value.h"

#include <string.h>

size_t mf_field_value_size(mf_FieldType type) {
    return type == MF_F64 ? 8 : 4;
}

const char *mf_field_type_name(mf_FieldType type) {
    static const char *const names[] = {"float", "double", "int32", "uint32", "real"};
    return names[type];
}

static bool has_value(const mf_Field *field, uint32_t instance, uint32_t component) {
    return instance / MF_BLOCK < field->blocks && component < field->components;
}

double mf_field_get(const mf_Field *field, uint32_t instance, uint32_t component) {
    if (field == NULL || !has_value(field, instance, component))
        return 0;
    return mf_value_get(field->info.type, field->data, mf_field_index(field, instance, component));
}

// Whole numbers are clamped into their type; NaN becomes 0.
static double clamp_whole(double value, double low, double high) {
    if (!(value > low))
        return value <= low ? low : 0.0;
    return value < high ? value : high;
}

void mf_field_set(mf_Field *field, uint32_t instance, uint32_t component, double value) {
    if (field == NULL || !has_value(field, instance, component))
        return;
    size_t index = mf_field_index(field, instance, component);
    if (field->remainder != NULL)
        ((float *)field->remainder)[index] = 0.0f;
    if (field->info.type == MF_I32)
        value = clamp_whole(value, INT32_MIN, INT32_MAX);
    else if (field->info.type == MF_U32)
        value = clamp_whole(value, 0, UINT32_MAX);
    mf_value_set(field->info.type, field->data, index, value);
}

// ---- sums ---------------------------------------------------------------------------------------

size_t mf_field_bytes(const mf_Field *field) {
    const size_t values = (size_t)field->blocks * field->components * MF_BLOCK;
    return values * mf_field_value_size(field->info.type) * (field->remainder != NULL ? 2 : 1);
}

double mf_field_sum(const mf_Field *field, uint32_t instance, uint32_t component) {
    const double value = mf_field_get(field, instance, component);
    if (field == NULL || field->remainder == NULL || !has_value(field, instance, component))
        return value;
    return value +
           (double)((const float *)field->remainder)[mf_field_index(field, instance, component)];
}

void mf_field_set_sum(mf_Field *field, uint32_t instance, uint32_t component, double value) {
    mf_field_set(field, instance, component, value);
    if (field == NULL || field->remainder == NULL || !has_value(field, instance, component))
        return;
    const double left = value - mf_field_get(field, instance, component);
    // Not of what is no finite number.
    if (left - left == 0.0)
        ((float *)field->remainder)[mf_field_index(field, instance, component)] = (float)left;
}

void mf_field_read(const mf_Field *field, uint32_t instance, uint32_t first, uint32_t count,
                   double *out) {
    for (uint32_t c = 0; c < count; c++)
        out[c] = mf_field_get(field, instance, first + c);
}

void mf_field_write(mf_Field *field, uint32_t instance, uint32_t first, uint32_t count,
                    const double *values) {
    for (uint32_t c = 0; c < count; c++)
        mf_field_set(field, instance, first + c, values[c]);
}

void mf_field_clear(mf_Field *field, uint32_t instance) {
    const size_t size = field != NULL ? mf_field_value_size(field->info.type) : 0;
    for (uint32_t c = 0; field != NULL && c < field->components; c++) {
        const size_t at = mf_field_index(field, instance, c);
        memset((char *)field->data + at * size, 0, size);
        if (field->remainder != NULL)
            ((float *)field->remainder)[at] = 0.0f;
    }
}

void mf_field_settle(mf_Field *field, uint32_t instance) {
    for (uint32_t c = 0; field->remainder != NULL && c < field->components; c++) {
        const size_t at = mf_field_index(field, instance, c);
        const float value = ((const float *)field->data)[at];
        float *remainder = (float *)field->remainder + at;
        if (!((float)((double)value + (double)*remainder) == value))
            *remainder = 0.0f;
    }
}
