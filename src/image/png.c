// PNG images in memory, read and written with libpng, which uses the context's allocator, so that
// its memory is counted and subject to failure injection.
//
// Samples of less than 8 bits are scaled to 0 .. 255, which is exact. Gamma and color profiles are
// ignored: stored values are heights or what a screen shows, not light.
//
// libpng reports errors by longjmp. The only setjmp is in `work_guarded`, which changes no local
// variable after it; all data that must survive a jump is in the Codec of the caller. A jump leaves
// only the functions below, and they own nothing.
#include "image/image.h"

#include "base/hash.h"

#include <png.h>
#include <string.h>

enum { MAGIC = 8, HEADER = 24 };     // [byte] header: up to the height
enum { WORD = 4, FRAME = 3 * WORD }; // [byte] of a chunk beside its data

typedef struct Codec {
    mf_Context *context;
    const char *name;
    mf_Error *error;
    mf_Status status; // of the failure that made a jump
    png_structp png;
    png_infop info;
    mf_Image image;      // pixels is NULL until it is allocated
    const uint8_t *from; // the file that is read
    uint8_t *to;         // the file that is written
    size_t size;         // [byte] of it
    size_t capacity;     // [byte] of `to`
    size_t offset;       // [byte] of `from`: next one that libpng reads
    int level;           // [1] of compression
} Codec;

static void *take_memory(png_structp png, png_alloc_size_t size) {
    Codec *codec = png_get_mem_ptr(png);
    void *memory = mf_allocate(codec->context, 1, size);
    if (memory == NULL)
        codec->status = MF_NO_MEMORY;
    return memory;
}

static void give_memory(png_structp png, void *memory) {
    Codec *codec = png_get_mem_ptr(png);
    mf_release(codec->context, memory);
}

static void on_error(png_structp png, const char *message) {
    Codec *codec = png_get_error_ptr(png);
    if (codec->status == MF_NO_MEMORY) {
        mf_fail_at(codec->error, MF_NO_MEMORY, codec->name, 0, 0, "PNG: no memory");
    } else {
        codec->status = MF_BAD_FILE;
        mf_fail_at(codec->error, MF_BAD_FILE, codec->name, 0, 0,
                   "PNG: expected a sound image, found near byte %zu: %s", codec->offset, message);
    }
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, const char *message) {
    (void)png;
    (void)message;
}

// Leaves libpng with a failure that has been described already.
static void jump_on(Codec *codec, mf_Status status) {
    codec->status = status;
    if (status != MF_OK)
        png_longjmp(codec->png, 1);
}

static bool work_guarded(Codec *codec, void (*work)(Codec *codec)) {
    if (setjmp(png_jmpbuf(codec->png)) != 0)
        return false;
    codec->info = png_create_info_struct(codec->png);
    if (codec->info == NULL)
        png_error(codec->png, "no space for its header");
    work(codec);
    return true;
}

// Does `work` after libpng has been set up in codec->png, and releases libpng's memory.
static mf_Status use_libpng(Codec *codec, void (*work)(Codec *codec)) {
    if (codec->png == NULL && codec->status == MF_NO_MEMORY)
        return mf_fail_at(codec->error, MF_NO_MEMORY, codec->name, 0, 0, "PNG: no memory");
    if (codec->png == NULL)
        return mf_fail_at(codec->error, MF_UNSUPPORTED, codec->name, 0, 0,
                          "PNG: expected libpng " PNG_LIBPNG_VER_STRING ", found %s",
                          png_get_libpng_ver(NULL));
    const bool done = work_guarded(codec, work);
    if (codec->from != NULL)
        png_destroy_read_struct(&codec->png, &codec->info, NULL);
    else
        png_destroy_write_struct(&codec->png, &codec->info);
    return done ? MF_OK : codec->status;
}

// ---- reading ------------------------------------------------------------------------------------

static void read_bytes(png_structp png, png_bytep target, size_t count) {
    Codec *codec = png_get_io_ptr(png);
    if (count > codec->size - codec->offset)
        png_error(png, "the end of the file (truncated?)");
    memcpy(target, codec->from + codec->offset, count);
    codec->offset += count;
}

static void read_pixels(Codec *codec) {
    png_structp png = codec->png;
    mf_Image *image = &codec->image;
    png_set_read_fn(png, codec, read_bytes);
    // The size is checked by mf_image_check; all chunks except the image are ignored.
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, codec->info);
    image->width = png_get_image_width(png, codec->info);
    image->height = png_get_image_height(png, codec->info);
    jump_on(codec, mf_image_check(image, codec->name, codec->error));
    png_set_expand(png); // to at least 8 bits of gray or color
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
    const int passes = png_set_interlace_handling(png);
    png_read_update_info(png, codec->info);
    image->channels = png_get_channels(png, codec->info);
    image->bits = png_get_bit_depth(png, codec->info);
    image->white = image->bits == 16 ? 65535 : 255;
    jump_on(codec, mf_image_allocate(codec->context, image, codec->name, codec->error));
    const size_t row = png_get_rowbytes(png, codec->info);
    for (int pass = 0; pass < passes; pass++)
        for (uint32_t i = 0; i < image->height; i++)
            png_read_row(png, (uint8_t *)image->pixels + i * row, NULL);
    png_read_end(png, NULL);
}

mf_Status mf_png_parse(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_Image *image, mf_Error *error) {
    Codec codec = {.context = context, .name = name, .error = error, .from = data, .size = size};
    codec.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &codec, on_error, on_warning,
                                         &codec, take_memory, give_memory);
    mf_Status status = use_libpng(&codec, read_pixels);
    if (status != MF_OK)
        mf_release(context, codec.image.pixels);
    else
        *image = codec.image;
    return status;
}

// ---- checking -----------------------------------------------------------------------------------

static uint32_t word_at(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

mf_Status mf_image_check_png(const char *name, const void *data, size_t size, uint32_t *width,
                             uint32_t *height, mf_Error *error) {
    const uint8_t *file = data;
    if (size < HEADER || png_sig_cmp(file, 0, MAGIC) != 0 ||
        memcmp(file + MAGIC + WORD, "IHDR", WORD) != 0)
        return mf_fail_at(error, MF_BAD_FILE, name, 0, 0, "expected a PNG file");
    const mf_Image image = {.width = word_at(file + HEADER - 2 * WORD),
                            .height = word_at(file + HEADER - WORD)};
    MF_TRY(mf_image_check(&image, name, error));
    *width = image.width;
    *height = image.height;
    size_t at = MAGIC;
    while (size - at >= FRAME) {
        const uint8_t *chunk = file + at;
        const size_t length = word_at(chunk);
        if (length > size - at - FRAME)
            break;
        if (mf_crc32(0, chunk + WORD, WORD + length) != word_at(chunk + 2 * WORD + length))
            return mf_fail_at(error, MF_BAD_FILE, name, 0, 0,
                              "PNG: expected a sound image, found a damaged chunk at byte %zu", at);
        if (memcmp(chunk + WORD, "IEND", WORD) == 0)
            return MF_OK;
        at += FRAME + length;
    }
    return mf_fail_at(error, MF_BAD_FILE, name, 0, 0,
                      "PNG: expected a sound image, found its end at byte %zu (truncated?)", at);
}

// ---- writing ------------------------------------------------------------------------------------

static void write_bytes(png_structp png, png_bytep data, size_t size) {
    Codec *codec = png_get_io_ptr(png);
    if (codec->capacity - codec->size < size) {
        const size_t capacity = 2 * codec->capacity + size + 4096;
        uint8_t *grown = png_malloc(png, capacity);
        if (codec->size != 0)
            memcpy(grown, codec->to, codec->size);
        mf_release(codec->context, codec->to);
        codec->to = grown;
        codec->capacity = capacity;
    }
    memcpy(codec->to + codec->size, data, size);
    codec->size += size;
}

static void flush_nothing(png_structp png) {
    (void)png;
}

static void write_pixels(Codec *codec) {
    png_structp png = codec->png;
    const mf_Image *image = &codec->image;
    const size_t row = (size_t)image->width * image->channels * (image->bits / 8);
    png_set_write_fn(png, codec, write_bytes, flush_nothing);
    png_set_compression_level(png, codec->level);
    png_set_IHDR(png, codec->info, image->width, image->height, (int)image->bits,
                 image->channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, codec->info);
    if (image->bits == 16 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        png_set_swap(png);
    for (uint32_t i = 0; i < image->height; i++)
        png_write_row(png, (const uint8_t *)image->pixels + i * row);
    png_write_end(png, NULL);
}

mf_Status mf_image_encode(mf_Context *context, const mf_Image *image, int level, uint8_t **out,
                          size_t *size, mf_Error *error) {
    Codec codec = {.context = context, .error = error, .image = *image, .level = level};
    codec.png = png_create_write_struct_2(PNG_LIBPNG_VER_STRING, &codec, on_error, on_warning,
                                          &codec, take_memory, give_memory);
    mf_Status status = use_libpng(&codec, write_pixels);
    if (status != MF_OK) {
        mf_release(context, codec.to);
        codec.to = NULL;
        codec.size = 0;
    }
    *out = codec.to;
    *size = codec.size;
    return status;
}
