// The context of a group of tests, checked for leaks at the end.
#ifndef MAYFLY_TESTS_CONTEXT_H
#define MAYFLY_TESTS_CONTEXT_H

#include <mayfly/base.h>

#include <stdio.h>

// A context with one thread.
static inline int make_context(void **state) {
    mf_Context *context = NULL;
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    if (mf_context_create(&config, &context, NULL) != MF_OK)
        return -1;
    *state = context;
    return 0;
}

static inline int drop_context(void **state) {
    size_t live = mf_context_live_bytes(*state);
    mf_context_destroy(*state);
    return live == 0 ? 0 : -1; // a leak fails the group
}

// A context with the default threads.
static inline int setup_context(void **state) {
    mf_Context *context;
    if (mf_context_create(NULL, &context, NULL) != MF_OK)
        return 1;
    *state = context;
    return 0;
}

static inline int teardown_context(void **state) {
    size_t live = mf_context_live_bytes(*state);
    mf_context_destroy(*state);
    if (live != 0)
        fprintf(stderr, "%zu bytes leaked\n", live);
    return live != 0;
}

#endif
