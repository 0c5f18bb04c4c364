// Vectors of three, and fields of several components.
#pragma once

#include <math.h>

#include "rig/check.h"
#include "rig/world.h"

static inline double dot3(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline double norm3(const double a[3]) {
    return sqrt(dot3(a, a));
}

static inline double distance3(const double a[3], const double b[3]) {
    const double apart[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return norm3(apart);
}

static inline void cross3(const double a[3], const double b[3], double out[3]) {
    const double product[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                               a[0] * b[1] - a[1] * b[0]};
    memcpy(out, product, sizeof product);
}

// `v` rotated by a quaternion (w, x, y, z).
static inline void rotate3(const double q[4], const double v[3], double out[3]) {
    double across[3], twice[3];
    cross3(q + 1, v, across);
    cross3(q + 1, across, twice);
    for (int c = 0; c < 3; c++)
        out[c] = v[c] + 2.0 * (q[0] * across[c] + twice[c]);
}

// The first components of a field.
static inline void get_fields(mf_Group *group, const char *name, uint32_t instance, uint32_t count,
                              double *out) {
    for (uint32_t c = 0; c < count; c++)
        out[c] = get_field(group, name, instance, c);
}

static inline void set_fields(mf_Group *group, const char *name, uint32_t instance, uint32_t count,
                              const double *values) {
    for (uint32_t c = 0; c < count; c++)
        set_field(group, name, instance, c, values[c]);
}

static inline void set_field3(mf_Group *group, const char *name, uint32_t instance, double x,
                              double y, double z) {
    set_fields(group, name, instance, 3, (const double[]){x, y, z});
}

// The first three components of a field, or those from one on, are near to these.
#define assert_field3(group, name, instance, x, y, z, tolerance)                                   \
    assert_fields3(group, name, instance, 0, x, y, z, tolerance)
#define assert_fields3(group, name, instance, first, x, y, z, tolerance)                           \
    check_fields3(group, name, instance, first, (const double[]){x, y, z}, tolerance, __FILE__,    \
                  __LINE__)
static inline void check_fields3(mf_Group *group, const char *name, uint32_t instance,
                                 uint32_t first, const double expected[3], double tolerance,
                                 const char *file, int line) {
    for (uint32_t c = 0; c < 3; c++)
        check_near(get_field(group, name, instance, first + c), expected[c], tolerance, file, line);
}
