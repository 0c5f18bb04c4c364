// PNG pictures of textures (png.h). Gray and palettes become red, green and blue of 8 bits; alpha,
// gamma and color profiles are ignored, as in MuJoCo.
//
// libpng reports errors by longjmp. The only setjmp is in `read_guarded`, which changes no local
// variable after it; what must survive a jump is in the Reader of the caller.
#include "import/png.h"

#include "base/context.h"
#include "base/file.h"
#include "import/xml.h"

#include <png.h>
#include <string.h>
#include <zlib.h>

enum { MAGIC = 8, HEADER = 24, CHANNELS = 3 }; // [byte] header: up to the height
enum { WORD = 4, FRAME = 3 * WORD };           // [byte] of a chunk beside its data

typedef struct Reader {
    mf_Context *context;
    const mf_Texture *texture;
    size_t offset; // [byte] next byte that libpng reads
    mf_Error *error;
    mf_Status status; // of the failure that made a jump
    png_structp png;
    png_infop info;
    uint8_t *pixels;
    uint32_t width, height; // [pixel]
} Reader;

static void *take_memory(png_structp png, png_alloc_size_t size) {
    Reader *reader = png_get_mem_ptr(png);
    void *memory = mf_allocate(reader->context, 1, size);
    if (memory == NULL)
        reader->status = MF_NO_MEMORY;
    return memory;
}

static void give_memory(png_structp png, void *memory) {
    Reader *reader = png_get_mem_ptr(png);
    mf_release(reader->context, memory);
}

static void on_error(png_structp png, const char *message) {
    Reader *reader = png_get_error_ptr(png);
    if (reader->status == MF_NO_MEMORY) {
        mf_fail_at(reader->error, MF_NO_MEMORY, reader->texture->path, 0, 0, "PNG: no memory");
    } else {
        reader->status = MF_BAD_FILE;
        mf_fail_at(reader->error, MF_BAD_FILE, reader->texture->path, 0, 0,
                   "PNG: expected a sound image, found near byte %zu: %s", reader->offset, message);
    }
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, const char *message) {
    (void)png;
    (void)message;
}

static void read_bytes(png_structp png, png_bytep target, size_t count) {
    Reader *reader = png_get_io_ptr(png);
    if (count > reader->texture->file_size - reader->offset)
        png_error(png, "the end of the file (truncated?)");
    memcpy(target, reader->texture->file + reader->offset, count);
    reader->offset += count;
}

static void read_picture(Reader *reader) {
    png_structp png = reader->png;
    png_set_read_fn(png, reader, read_bytes);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, reader->info);
    reader->width = png_get_image_width(png, reader->info);
    reader->height = png_get_image_height(png, reader->info);
    if ((uint64_t)reader->width * reader->height > MF_TEXTURE_PIXELS)
        png_error(png, "more than 2^26 pixels");
    png_set_expand(png);
    png_set_strip_16(png);
    png_set_strip_alpha(png);
    png_set_gray_to_rgb(png);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, reader->info);
    const size_t row = CHANNELS * (size_t)reader->width;
    if (png_get_rowbytes(png, reader->info) != row)
        png_error(png, "an unknown kind of pixels");
    reader->pixels = png_malloc(png, row * reader->height);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t i = 0; i < reader->height; i++)
            png_read_row(png, reader->pixels + i * row, NULL);
    png_read_end(png, NULL);
}

static bool read_guarded(Reader *reader) {
    if (setjmp(png_jmpbuf(reader->png)) != 0)
        return false;
    reader->info = png_create_info_struct(reader->png);
    if (reader->info == NULL)
        png_error(reader->png, "no space for its header");
    read_picture(reader);
    return true;
}

static mf_Status decode(mf_Context *context, const mf_Texture *texture, uint8_t **out,
                        uint32_t *width, uint32_t *height, mf_Error *error) {
    Reader reader = {.context = context, .texture = texture, .error = error};
    reader.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning,
                                          &reader, take_memory, give_memory);
    if (reader.png == NULL && reader.status == MF_NO_MEMORY)
        return mf_fail_at(error, MF_NO_MEMORY, texture->path, 0, 0, "PNG: no memory");
    if (reader.png == NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, texture->path, 0, 0,
                          "PNG: expected libpng " PNG_LIBPNG_VER_STRING ", found %s",
                          png_get_libpng_ver(NULL));
    const bool done = read_guarded(&reader);
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    if (!done) {
        mf_release(context, reader.pixels);
        return reader.status;
    }
    *out = reader.pixels;
    *width = reader.width;
    *height = reader.height;
    return MF_OK;
}

static uint32_t word_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

mf_Status mf_texture_png_size(const char *path, const uint8_t *file, size_t size, uint32_t *width,
                              uint32_t *height, mf_Error *error) {
    if (size < HEADER || png_sig_cmp(file, 0, MAGIC) != 0 ||
        memcmp(file + MAGIC + 4, "IHDR", 4) != 0)
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                          "expected a PNG file, the kind of texture that can be read");
    *width = word_at(file + HEADER - 8);
    *height = word_at(file + HEADER - 4);
    if (*width == 0 || *height == 0)
        return mf_fail_at(error, MF_BAD_FILE, path, 0, 0, "PNG: expected pixels, found %u x %u",
                          *width, *height);
    if ((uint64_t)*width * *height > MF_TEXTURE_PIXELS)
        return mf_fail_at(error, MF_LIMIT, path, 0, 0,
                          "PNG: expected at most 2^26 pixels of a texture, found %u x %u", *width,
                          *height);
    return MF_OK;
}

// Pixels are decoded when a picture or a film needs them; that they can be is known now, from the
// checksum of each chunk up to the last one.
static mf_Status check_chunks(const char *path, const uint8_t *file, size_t size, mf_Error *error) {
    size_t at = MAGIC;
    while (size - at >= FRAME) {
        const uint8_t *chunk = file + at;
        const size_t length = word_at(chunk);
        if (length > size - at - FRAME)
            break;
        if (crc32(0, chunk + WORD, (uInt)(WORD + length)) != word_at(chunk + 2 * WORD + length))
            return mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                              "PNG: expected a sound image, found a damaged chunk at byte %zu", at);
        if (memcmp(chunk + WORD, "IEND", WORD) == 0)
            return MF_OK;
        at += FRAME + length;
    }
    return mf_fail_at(error, MF_BAD_FILE, path, 0, 0,
                      "PNG: expected a sound image, found its end at byte %zu (truncated?)", at);
}

mf_Status mf_texture_png_load(mf_Context *context, const char *path, mf_Texture *texture,
                              mf_Error *error) {
    char *data;
    size_t size;
    mf_Status status = mf_file_read(context, path, MF_FILE_LIMIT, &data, &size, error);
    if (status != MF_OK)
        return status;
    status = size <= UINT32_MAX
                 ? mf_texture_png_size(path, (const uint8_t *)data, size, &texture->width,
                                       &texture->height, error)
                 : mf_fail_at(error, MF_LIMIT, path, 0, 0, "PNG: the file is too large");
    if (status == MF_OK)
        status = check_chunks(path, (const uint8_t *)data, size, error);
    if (status != MF_OK) {
        mf_release(context, data);
        return status;
    }
    texture->file = (const uint8_t *)data;
    texture->file_size = (uint32_t)size;
    texture->decode = decode;
    return MF_OK;
}
