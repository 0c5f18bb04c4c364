// Numbers of a film in few bytes: whole numbers in columns, one per number of a sample. Each is
// predicted from the two samples before it in its column, as if it went on as it did; what is left
// is written byte by byte, the lowest ones of all columns first, and deflated (RFC 1950), which the
// page's browser undoes. Lossless; arithmetic is modulo 2^32.
#include "view/film.h"

#include <string.h>
#include <zlib.h>

enum { CHUNK = 48 * 1024 }; // [byte] a multiple of 3: Base64 goes on after it

typedef struct Packer {
    mf_Text *text;
    z_stream stream;
    uint8_t out[CHUNK];
} Packer;

static void *allocate(void *context, unsigned count, unsigned size) {
    return mf_allocate(context, count, size);
}

static void release(void *context, void *memory) {
    mf_release(context, memory);
}

static void pack(Packer *packer, const uint8_t *bytes, size_t size, int flush) {
    z_stream *stream = &packer->stream;
    stream->next_in = (z_const Bytef *)(uintptr_t)bytes;
    stream->avail_in = (unsigned)size;
    for (;;) {
        const int result = deflate(stream, flush);
        if (stream->avail_out > 0 && result != Z_STREAM_END)
            return;
        mf_text_base64(packer->text, packer->out, CHUNK - stream->avail_out);
        stream->next_out = packer->out;
        stream->avail_out = CHUNK;
        if (result == Z_STREAM_END)
            return;
    }
}

// Small numbers of either sign are small: 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
static uint32_t fold(uint32_t x) {
    return x << 1 ^ (0u - (x >> 31));
}

static void put_plane(Packer *packer, const int32_t *values, uint32_t frames, uint32_t plane,
                      uint8_t *bytes) {
    uint32_t before = 0, last = 0;
    for (uint32_t s = 0; s < frames; s++) {
        const uint32_t now = (uint32_t)values[s];
        bytes[s] = (uint8_t)(fold(now - 2 * last + before) >> (8 * plane));
        before = s > 0 ? last : now; // at rest before the first one
        last = now;
    }
    pack(packer, bytes, frames, Z_NO_FLUSH);
}

// NULL, and the text failed: out of memory. Ended by end_packer.
static Packer *begin_packer(mf_Text *text) {
    Packer *packer = mf_allocate(text->context, 1, sizeof *packer);
    if (packer != NULL) {
        *packer = (Packer){.text = text};
        packer->stream = (z_stream){.zalloc = allocate,
                                    .zfree = release,
                                    .opaque = text->context,
                                    .next_out = packer->out,
                                    .avail_out = CHUNK};
        if (deflateInit(&packer->stream, 6) == Z_OK)
            return packer;
        mf_release(text->context, packer);
    }
    text->failed = true;
    return NULL;
}

static void end_packer(Packer *packer) {
    deflateEnd(&packer->stream);
    mf_release(packer->text->context, packer);
}

void mf_film_put_deflated(mf_Text *text, const uint8_t *bytes, size_t size) {
    Packer *packer = begin_packer(text);
    if (packer == NULL)
        return;
    pack(packer, bytes, size, Z_FINISH);
    end_packer(packer);
}

void mf_film_put_columns(mf_Text *text, const char *id, const int32_t *values, size_t columns,
                         uint32_t frames) {
    mf_text_format(text, "<script id=\"%s\" type=\"text/plain\">", id);
    Packer *packer = begin_packer(text);
    uint8_t *bytes = mf_allocate(text->context, frames + 1, 1);
    text->failed = text->failed || values == NULL || bytes == NULL;
    if (!text->failed) {
        for (uint32_t plane = 0; plane < 4; plane++)
            for (size_t c = 0; c < columns; c++)
                put_plane(packer, values + c * frames, frames, plane, bytes);
        pack(packer, bytes, 0, Z_FINISH);
    }
    if (packer != NULL)
        end_packer(packer);
    mf_release(text->context, bytes);
    mf_text_put(text, "</script>\n");
}

void mf_film_put_rows(mf_Text *text, const char *id, const float *rows, size_t stride,
                      size_t columns, uint32_t frames) {
    int32_t *values = mf_allocate(text->context, columns * frames + 1, sizeof *values);
    for (size_t c = 0; values != NULL && c < columns; c++)
        for (uint32_t s = 0; s < frames; s++)
            memcpy(&values[c * frames + s], &rows[s * stride + c], sizeof *values);
    mf_film_put_columns(text, id, values, columns, frames);
    mf_release(text->context, values);
}
