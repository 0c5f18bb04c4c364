// Assertions on numbers, and on what a call returned. Those that fail say where they stand.
#pragma once

#include <mayfly/base.h>

// |found - expected| <= tolerance; NaN fails. cmocka's own assert_float_equal rounds to float.
#define assert_near(found, expected, tolerance)                                                    \
    check_near(found, expected, tolerance, __FILE__, __LINE__)
void check_near(double found, double expected, double tolerance, const char *file, int line);

// The same, saying what the number is.
#define assert_named_near(found, expected, tolerance, name)                                        \
    check_near(found, expected, tolerance, name, __LINE__)

// The same for the three components of a vector.
#define assert_near3(found, x, y, z, tolerance)                                                    \
    check_near3(found, x, y, z, tolerance, __FILE__, __LINE__)
void check_near3(const double found[3], double x, double y, double z, double tolerance,
                 const char *file, int line);

// The text has this part; if not, both are shown.
#define assert_contains(text, part) check_contains(text, part, __FILE__, __LINE__)
void check_contains(const char *text, const char *part, const char *file, int line);

// The call succeeded; if not, the test fails with the message of its error.
#define must(status, error) check_must(status, error, __FILE__, __LINE__)
void check_must(mf_Status status, const mf_Error *error, const char *file, int line);

// The same with an `error` of its own: MUST(mf_cameras_add(world, &error)).
#define MUST(call)                                                                                 \
    do {                                                                                           \
        mf_Error error = {0};                                                                      \
        check_must(call, &error, __FILE__, __LINE__);                                              \
    } while (0)
