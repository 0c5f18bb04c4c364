// Torture: runs a scenario repeatedly and fails its first, second, third ... fallible call
// (allocation, file or thread call, database step) until a run has no failure. After each failure
// it checks that an error of one line was returned, and that neither memory nor a file descriptor
// leaked. This covers every error path of the library (as in curl and SQLite). Beyond the 500th
// call, which scenarios with many reach that do the same again and again, the next is 1 % further.
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
#pragma once

#include <mayfly/base.h>

typedef mf_Status (*TortureScenario)(mf_Context *context, void *user, mf_Error *error);

typedef enum TortureRule {
    TORTURE_MUST_FAIL,   // a call that fails must make the scenario fail
    TORTURE_MAY_RECOVER, // it may also be made good, for example by a second way
} TortureRule;

// Returns how many fallible calls a run without a failure makes. Asserts (cmocka) when a promise is
// broken, and then says which call it was on stderr.
uint64_t torture(mf_Context *context, TortureScenario scenario, void *user, TortureRule rule);

// Number of open file descriptors, -1 where the system does not tell.
int torture_open_files(void);
