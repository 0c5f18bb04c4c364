// Common code of the fuzz targets for images: parse once, check the guarantees of image.h, leak
// nothing.
#ifndef MAYFLY_TESTS_FUZZ_IMAGE_H
#define MAYFLY_TESTS_FUZZ_IMAGE_H

#include "image/image.h"

#include <stdlib.h>

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

static int fuzz_image(const uint8_t *data, size_t size) {
    mf_ContextConfig config = mf_context_config();
    config.threads = 1;
    config.allocate = fuzz_allocate;
    config.release = fuzz_release;
    mf_Context *context;
    if (mf_context_create(&config, &context, NULL) != MF_OK)
        abort();
    size_t live = mf_context_live_bytes(context);
    mf_Image image = {0};
    mf_Error error = {0};
    mf_Status status = mf_image_parse(context, "fuzz", data, size, &image, &error);
    if (status == MF_OK) {
        const size_t pixels = (size_t)image.width * image.height;
        if (pixels == 0 || image.white == 0 || image.white > 65535)
            abort();
        for (size_t i = 0; i < pixels; i++)
            if (mf_image_gray(&image, i) > image.white)
                abort();
        if (mf_image_to_color(context, &image, &error) == MF_OK)
            mf_release(context, image.pixels);
    } else if (image.pixels != NULL || error.status != status || error.message[0] == '\0') {
        abort();
    }
    if (mf_context_live_bytes(context) != live)
        abort();
    mf_context_destroy(context);
    return 0;
}

#endif
