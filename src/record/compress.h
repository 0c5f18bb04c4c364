// Compression of the chunks of MCAP recordings by zstd (RFC 8878). A build without libzstd has
// compress_missing.c in the place of compress_zstd.c: it writes chunks as they are and reads no
// others.
#pragma once

#include "base/text.h"

// The name that MCAP has for it, "zstd"; "": this build compresses nothing.
const char *mf_compress_name(void);
// Replaces `out` by one frame that holds `data`. Equal data give equal bytes on every machine with
// the same version of libzstd. Without memory out->failed is set.
void mf_compress(mf_Text *out, const char *data, size_t size);

// [byte] that one frame holds, by its own head; UINT64_MAX: it does not say, or is none.
uint64_t mf_expanded_size(const uint8_t *frame, size_t size);
// Writes what a frame holds, exactly out_size bytes. False: it is damaged, or holds another number
// of bytes.
bool mf_expand(uint8_t *out, size_t out_size, const uint8_t *frame, size_t size);
