// Compression of a build without libzstd: there is none.
#include "record/compress.h"

const char *mf_compress_name(void) {
    return "";
}

void mf_compress(mf_Text *out, const char *data, size_t size) {
    (void)data;
    (void)size;
    out->failed = true;
}

uint64_t mf_expanded_size(const uint8_t *frame, size_t size) {
    (void)frame;
    (void)size;
    return UINT64_MAX;
}

bool mf_expand(uint8_t *out, size_t out_size, const uint8_t *frame, size_t size) {
    (void)out;
    (void)out_size;
    (void)frame;
    (void)size;
    return false;
}
