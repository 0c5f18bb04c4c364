// Whether a test is built with a sanitizer, under which a step takes up to twenty times as long:
// SANITIZED is 1 or 0. Long sweeps then use fewer robots with the same requirements.
#pragma once

#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(what) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define THREAD_SANITIZED 1
#else
#define THREAD_SANITIZED 0
#endif

// Before cmocka's tests of a group run: under ThreadSanitizer only those that are named after
// threads, as the others have nothing that several of them share.
#define KEEP_SHARED() cmocka_set_test_filter(THREAD_SANITIZED ? "*thread*" : NULL)

// Whether the long sweeps run whole: MAYFLY_FULL=1, which ./dev check --full sets.
#define FULL (getenv("MAYFLY_FULL") != NULL)

// Steps of a run whose claim holds at any length.
#define STEPS_OF(count) (SANITIZED ? (count) / 20 : (count))
