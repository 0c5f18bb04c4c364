// Calls that must fail, and what their error must say.
#pragma once

#include <mayfly/base.h>

// The call returned this status, and the message of its error contains `part`, or is `message`.
#define assert_fails(call, status, error, part)                                                    \
    check_fails(call, status, error, part, false, __FILE__, __LINE__)
#define assert_fails_as(call, status, error, message)                                              \
    check_fails(call, status, error, message, true, __FILE__, __LINE__)
void check_fails(mf_Status found, mf_Status expected, const mf_Error *error, const char *text,
                 bool whole, const char *file, int line);

// The same with an `error` of its own: MUST_FAIL(mf_rays_add(group, &error), MF_BAD_ARGUMENT,
// "rays").
#define MUST_FAIL(call, status, part)                                                              \
    do {                                                                                           \
        mf_Error error = {0};                                                                      \
        assert_fails(call, status, &error, part);                                                  \
    } while (0)
#define MUST_FAIL_AS(call, status, message)                                                        \
    do {                                                                                           \
        mf_Error error = {0};                                                                      \
        assert_fails_as(call, status, &error, message);                                            \
    } while (0)
