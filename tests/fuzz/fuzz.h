// What fuzz targets share: their entry, what must hold, a context that is checked for leaks, and
// files with the input.
#pragma once

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

// What every reader promises: a result and MF_OK, or neither and an error of one line.
static inline void require_result(mf_Status status, const void *result, const mf_Error *error) {
    require((status == MF_OK) == (result != NULL));
    require(status == MF_OK || error->message[0] != '\0');
    require(strchr(error->message, '\n') == NULL);
}

// `user` points to the largest block [byte] that is given out.
static inline void *fuzz_allocate(void *user, size_t size) {
    const size_t padded = (size + 63) / 64 * 64;
    return size > *(const size_t *)user ? NULL : aligned_alloc(64, padded == 0 ? 64 : padded);
}

static inline void fuzz_release(void *user, void *memory) {
    free(memory);
}

// A context with one thread. Larger blocks than `*largest` [byte] are refused, which keeps runs
// fast and walks the paths without memory as well; NULL: none are.
static inline mf_Context *fuzz_context(size_t *largest) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    if (largest != NULL) {
        config.user = largest;
        config.allocate = fuzz_allocate;
        config.release = fuzz_release;
    }
    mf_Context *context = NULL;
    require(mf_context_create(&config, &context, NULL) == MF_OK);
    return context;
}

static inline void fuzz_end(mf_Context *context) {
    require(mf_context_live_bytes(context) == 0);
    mf_context_destroy(context);
}

// Writes the input to a file of this process, in memory where that is possible.
static inline void fuzz_file(char path[64], const uint8_t *data, size_t size) {
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, 64, "%s/mayfly-fuzz-%ld", folder, (long)getpid());
    FILE *file = fopen(path, "wb");
    require(file != NULL);
    require(fwrite(data, 1, size, file) == size);
    fclose(file);
}
