// Values of fields by their type.
#pragma once

#include <mayfly/world.h>

// A value of an array of that type. Whole numbers must be within it.
static inline double mf_value_get(mf_FieldType type, const void *values, size_t index) {
    switch (type) {
    case MF_F64:
        return ((const double *)values)[index];
    case MF_I32:
        return ((const int32_t *)values)[index];
    case MF_U32:
        return ((const uint32_t *)values)[index];
    default:
        return (double)((const float *)values)[index];
    }
}

static inline void mf_value_set(mf_FieldType type, void *values, size_t index, double value) {
    if (type == MF_F64)
        ((double *)values)[index] = value;
    else if (type == MF_I32)
        ((int32_t *)values)[index] = (int32_t)value;
    else if (type == MF_U32)
        ((uint32_t *)values)[index] = (uint32_t)value;
    else
        ((float *)values)[index] = (float)value;
}
