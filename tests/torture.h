// Torture: runs a scenario repeatedly and fails its first, second, third ... fallible call
// (allocation, file or thread call, database step) until a run has no failure. After each failure
// it checks that an error of one line was returned, and that neither memory nor a file descriptor
// leaked. This covers every error path of the library (as in curl and SQLite).
//
//     static mf_Status load_model(mf_Context *context, void *user, mf_Error *error) {
//         mf_Model *model = NULL;
//         mf_Status status = mf_model_load(context, user, NULL, &model, error);
//         if (status != MF_OK)
//             assert_null(model);      // the scenario checks its own guarantees
//         mf_model_destroy(model);
//         return status;
//     }
//
//     static void load_survives_every_failure(void **state) {
//         mf_Context *context = ...;
//         assert_true(torture(context, load_model, path, TORTURE_MUST_FAIL) > 0);
//     }
//
// A scenario releases everything that it created, also when it fails, and returns the first
// failure. It must make the same calls every time; create folders and input files outside of it.
// Include after <cmocka.h>.
#ifndef MAYFLY_TESTS_TORTURE_H
#define MAYFLY_TESTS_TORTURE_H

#include <mayfly/base.h>

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/inject.h"

typedef mf_Status (*TortureScenario)(mf_Context *context, void *user, mf_Error *error);

typedef enum TortureRule {
    TORTURE_MUST_FAIL,   // a call that fails must make the scenario fail
    TORTURE_MAY_RECOVER, // it may also be made good, for example by a second way
} TortureRule;

enum { TORTURE_LIMIT = 100000 }; // [1] fallible calls in one scenario

// Number of open file descriptors, -1 where the system does not tell.
static inline int torture_open_files(void) {
    DIR *entries = opendir("/proc/self/fd");
    if (entries == NULL)
        return -1;
    int count = -1; // without its own
    while (readdir(entries) != NULL)
        count++;
    closedir(entries);
    return count;
}

// Returns how many different calls were failed. Asserts (cmocka) when a promise is broken, and
// then says which call it was on stderr.
static inline uint64_t torture(mf_Context *context, TortureScenario scenario, void *user,
                               TortureRule rule) {
    size_t live = mf_context_live_bytes(context);
    int open_files = torture_open_files();
    for (uint64_t n = 1; n < TORTURE_LIMIT; n++) {
        mf_Error error;
        memset(&error, 0, sizeof error);
        uint64_t before = mf_context_call_count(context);
        mf_context_fail_after(context, n);
        mf_Status status = scenario(context, user, &error);
        mf_context_fail_after(context, 0);
        bool failed_one = mf_context_call_count(context) - before >= n;
        size_t now = mf_context_live_bytes(context);
        int open_now = torture_open_files();
        bool reported = status == MF_OK || (error.status == status && error.message[0] != '\0' &&
                                            strchr(error.message, '\n') == NULL);
        bool expected =
            failed_one ? status != MF_OK || rule == TORTURE_MAY_RECOVER : status == MF_OK;
        if (now != live || open_now != open_files || !reported || !expected) {
            fprintf(stderr,
                    "torture: failing call %" PRIu64 " gave \"%s\", message \"%s\"; live bytes %zu "
                    "before, %zu after; open files %d before, %d after\n",
                    n, mf_status_name(status), error.message, live, now, open_files, open_now);
            fail_msg("torture: a failing call was not handled");
        }
        if (!failed_one)
            return n - 1;
    }
    fail_msg("torture: the scenario does not come to an end");
    return 0;
}

#endif
