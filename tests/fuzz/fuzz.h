// What fuzz targets share: their entry, what must hold, and a context that is checked for leaks.
#ifndef MAYFLY_TESTS_FUZZ_H
#define MAYFLY_TESTS_FUZZ_H

#include <mayfly/mayfly.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(bool condition) {
    if (!condition)
        abort();
}

// A context with one thread.
static inline mf_Context *fuzz_context(void) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    mf_Context *context = NULL;
    require(mf_context_create(&config, &context, NULL) == MF_OK);
    return context;
}

static inline void fuzz_end(mf_Context *context) {
    require(mf_context_live_bytes(context) == 0);
    mf_context_destroy(context);
}

#endif
