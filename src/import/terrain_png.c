// PNG images from memory, read with libpng.
//
// Gray images of 1 to 16 bits are used unchanged (below 8 bits scaled to 0 .. 255, which is exact).
// Color and palette images are converted to their luma
//
//     Y = 0.2126 R + 0.7152 G + 0.0722 B        (ITU-R BT.709-6, item 3.2)
//
// in integer weights that sum to 1, so that an elevation image saved as RGB gray keeps its exact
// values. Alpha, gamma and color profiles are ignored: stored values are heights, not light.
//
// libpng reports errors by longjmp. The only setjmp is in `parse_guarded`, which changes no local
// variable after it; all data that must survive a jump is in the Reader of the caller. A jump
// leaves only the callbacks below, and they own nothing.

#include "import/terrain_image.h"

#include <png.h>
#include <stdio.h>
#include <string.h>

#define PNG_MAGIC_SIZE 8 // [byte]
// Weights of 16 bits; their sum is exactly 65536.
#define RED_WEIGHT 13933u
#define GREEN_WEIGHT 46871u
#define BLUE_WEIGHT 4732u

typedef struct Reader {
    mf_Context *context;
    const char *name;
    const uint8_t *data;
    size_t size;   // [byte]
    size_t offset; // [byte] next byte that libpng reads
    mf_Error *error;
    mf_Status status; // of the failure that made a jump, MF_OK: libpng's own failure
    png_structp png;
    png_infop info;
    uint8_t *line;      // one row of samples as libpng delivers it
    mf_GrayImage image; // [1] gray is NULL until allocated
    uint32_t channels;  // [1] samples a pixel
    uint32_t bytes;     // [byte] of a sample, 1 or 2
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
    if (reader->status == MF_NO_MEMORY)
        mf_fail_at(reader->error, MF_NO_MEMORY, reader->name, 0, 0, "PNG: no memory");
    else {
        reader->status = MF_BAD_FILE;
        mf_fail_at(reader->error, MF_BAD_FILE, reader->name, 0, 0,
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
    if (count > reader->size - reader->offset)
        png_error(png, "the end of the file (truncated?)");
    memcpy(target, reader->data + reader->offset, count);
    reader->offset += count;
}

// Leaves libpng with a failure that has been described already.
static void jump_with(Reader *reader, mf_Status status) {
    reader->status = status;
    png_longjmp(reader->png, 1);
}

static void read_header(Reader *reader) {
    png_structp png = reader->png;
    png_set_read_fn(png, reader, read_bytes);
    // The size is checked by mf_gray_image_check; all chunks except the image are ignored.
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(png, reader->info);
    reader->image.columns = png_get_image_width(png, reader->info);
    reader->image.rows = png_get_image_height(png, reader->info);
    mf_Status status = mf_gray_image_check(&reader->image, reader->name, reader->error);
    if (status != MF_OK)
        jump_with(reader, status);
}

static void choose_samples(Reader *reader) {
    png_structp png = reader->png;
    int color = png_get_color_type(png, reader->info);
    if (color == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (color == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, reader->info) < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    png_read_update_info(png, reader->info);
    reader->channels = png_get_channels(png, reader->info);
    reader->bytes = png_get_bit_depth(png, reader->info) == 16 ? 2 : 1;
    reader->image.largest = reader->bytes == 2 ? 65535 : 255;
}

static uint32_t sample(const Reader *reader, const uint8_t *at) {
    return reader->bytes == 2 ? (uint32_t)at[0] << 8 | at[1] : at[0];
}

static uint16_t pixel_gray(const Reader *reader, const uint8_t *pixel) {
    uint32_t first = sample(reader, pixel);
    if (reader->channels < 3)
        return (uint16_t)first;
    uint32_t green = sample(reader, pixel + reader->bytes);
    uint32_t blue = sample(reader, pixel + 2 * reader->bytes);
    uint32_t sum = RED_WEIGHT * first + GREEN_WEIGHT * green + BLUE_WEIGHT * blue;
    return (uint16_t)((sum + 32768u) >> 16);
}

// Which pixels one pass over the image delivers.
typedef struct Pass {
    uint32_t column, column_step; // [1] first and distance
    uint32_t row, row_step;       // [1]
} Pass;

static void read_pass(Reader *reader, Pass pass) {
    const mf_GrayImage *image = &reader->image;
    size_t stride = (size_t)reader->channels * reader->bytes;
    for (uint32_t row = pass.row; row < image->rows; row += pass.row_step) {
        png_read_row(reader->png, reader->line, NULL);
        const uint8_t *pixel = reader->line;
        uint16_t *target = image->gray + (uint64_t)row * image->columns;
        for (uint32_t column = pass.column; column < image->columns; column += pass.column_step) {
            target[column] = pixel_gray(reader, pixel);
            pixel += stride;
        }
    }
}

// Interlaced rows are assembled here rather than by libpng, so that only one row is buffered.
static void read_passes(Reader *reader) {
    if (png_get_interlace_type(reader->png, reader->info) != PNG_INTERLACE_ADAM7) {
        read_pass(reader, (Pass){0, 1, 0, 1});
        return;
    }
    for (int i = 0; i < PNG_INTERLACE_ADAM7_PASSES; i++) {
        Pass pass = {(uint32_t)PNG_PASS_START_COL(i), (uint32_t)PNG_PASS_COL_OFFSET(i),
                     (uint32_t)PNG_PASS_START_ROW(i), (uint32_t)PNG_PASS_ROW_OFFSET(i)};
        // Passes without pixels are not in the file.
        if (pass.column < reader->image.columns)
            read_pass(reader, pass);
    }
}

static void read_image(Reader *reader) {
    read_header(reader);
    choose_samples(reader);
    size_t line_size = png_get_rowbytes(reader->png, reader->info);
    reader->line = png_malloc(reader->png, line_size);
    mf_Status status =
        mf_gray_image_allocate(reader->context, &reader->image, reader->name, reader->error);
    if (status != MF_OK)
        jump_with(reader, status);
    read_passes(reader);
    png_read_end(reader->png, NULL);
}

static bool parse_guarded(Reader *reader) {
    if (setjmp(png_jmpbuf(reader->png)) != 0)
        return false;
    reader->info = png_create_info_struct(reader->png);
    if (reader->info == NULL)
        png_error(reader->png, "no space for its header");
    read_image(reader);
    return true;
}

mf_Status mf_png_parse(mf_Context *context, const char *name, const void *data, size_t size,
                       mf_GrayImage *image, mf_Error *error) {
    // libpng only checks the part of the signature that is there.
    if (size < PNG_MAGIC_SIZE || png_sig_cmp(data, 0, PNG_MAGIC_SIZE) != 0)
        return mf_fail_at(error, MF_BAD_FILE, name, 0, 0,
                          "PNG: expected the PNG signature at byte 0");
    Reader reader = {.context = context, .name = name, .data = data, .size = size, .error = error};
    reader.png = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &reader, on_error, on_warning,
                                          &reader, take_memory, give_memory);
    if (reader.png == NULL && reader.status == MF_NO_MEMORY)
        return mf_fail_at(error, MF_NO_MEMORY, name, 0, 0, "PNG: no memory");
    if (reader.png == NULL)
        return mf_fail_at(error, MF_UNSUPPORTED, name, 0, 0,
                          "PNG: expected libpng " PNG_LIBPNG_VER_STRING ", found %s",
                          png_get_libpng_ver(NULL));
    bool done = parse_guarded(&reader);
    mf_release(context, reader.line);
    png_destroy_read_struct(&reader.png, &reader.info, NULL);
    if (!done) {
        mf_release(context, reader.image.gray);
        return reader.status;
    }
    *image = reader.image;
    return MF_OK;
}
