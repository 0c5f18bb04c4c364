// Compression by libzstd, through the stable part of its interface.
//
// The level is fixed. Levels from 5 on choose another search on machines without vector
// instructions of 16 bytes, so their output depends on the machine; level 3 has one search.
#include "record/compress.h"

#include "base/inject.h"

#include <zstd.h>

enum { LEVEL = 3 };

const char *mf_compress_name(void) {
    return "zstd";
}

void mf_compress(mf_Text *out, const char *data, size_t size) {
    const size_t capacity = ZSTD_compressBound(size);
    char *frame = mf_allocate(out->context, capacity, 1);
    size_t written = 0;
    out->size = 0;
    if (frame != NULL && mf_allow(out->context, "compress"))
        written = ZSTD_compress(frame, capacity, data, size, LEVEL);
    // With that much space it fails only where the library gets no memory.
    if (written == 0 || ZSTD_isError(written))
        out->failed = true;
    else
        mf_text_put_bytes(out, frame, written);
    mf_release(out->context, frame);
}

uint64_t mf_expanded_size(const uint8_t *frame, size_t size) {
    const unsigned long long content = ZSTD_getFrameContentSize(frame, size);
    return content == ZSTD_CONTENTSIZE_UNKNOWN || content == ZSTD_CONTENTSIZE_ERROR ? UINT64_MAX
                                                                                    : content;
}

bool mf_expand(uint8_t *out, size_t out_size, const uint8_t *frame, size_t size) {
    return ZSTD_decompress(out, out_size, frame, size) == out_size;
}
