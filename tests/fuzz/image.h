// Common code of the fuzz targets for images: parse once, check the guarantees of image.h, leak
// nothing.
#ifndef MAYFLY_TESTS_FUZZ_IMAGE_H
#define MAYFLY_TESTS_FUZZ_IMAGE_H

#include "import/terrain_image.h"

#include <stdlib.h>

typedef mf_Status (*ImageParser)(mf_Context *context, const char *name, const void *data,
                                 size_t size, mf_GrayImage *image, mf_Error *error);

// Refuses large blocks: keeps runs fast and walks the out-of-memory paths as well.
static void *fuzz_allocate(void *user, size_t size) {
    (void)user;
    size_t padded = (size + 63) / 64 * 64;
    return size > (size_t)4 << 20 ? NULL : aligned_alloc(64, padded == 0 ? 64 : padded);
}

static void fuzz_release(void *user, void *memory) {
    (void)user;
    free(memory);
}

static int fuzz_image(ImageParser parse, const uint8_t *data, size_t size) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    config.allocate = fuzz_allocate;
    config.release = fuzz_release;
    mf_Context *context;
    if (mf_context_create(&config, &context, NULL) != MF_OK)
        abort();
    size_t live = mf_context_live_bytes(context);
    mf_GrayImage image = {0};
    mf_Error error = {0};
    mf_Status status = parse(context, "fuzz", data, size, &image, &error);
    if (status == MF_OK) {
        uint64_t cells = (uint64_t)image.columns * image.rows;
        if (cells == 0 || image.largest == 0 || image.largest > 65535)
            abort();
        for (uint64_t cell = 0; cell < cells; cell++)
            if (image.gray[cell] > image.largest)
                abort();
        mf_release(context, image.gray);
    } else if (image.gray != NULL || error.status != status || error.message[0] == '\0') {
        abort();
    }
    if (mf_context_live_bytes(context) != live)
        abort();
    mf_context_destroy(context);
    return 0;
}

#endif
