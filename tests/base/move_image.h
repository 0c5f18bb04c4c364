// Moves a flat image (base/flat.h) to other memory and overwrites the original, so that a read
// through an old pointer fails the test.
#pragma once

#include "rig/rig.h"
#include "base/flat.h"

enum { SPOILED = 0xee };

// The copy, from mf_allocate; the image is still the caller's.
static inline void *move_image(mf_Context *context, const void *image) {
    uint32_t bytes;
    memcpy(&bytes, image, sizeof bytes);
    void *copy = mf_allocate(context, 1, bytes);
    assert_non_null(copy);
    memcpy(copy, image, bytes);
    memset((void *)(uintptr_t)image, SPOILED, bytes);
    return copy;
}
