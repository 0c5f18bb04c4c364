// PNG images: every kind of pixel against hand-computed grays and colors, interlacing, hostile
// files, and writing. The images that are read are written by bytes.h, not by libpng.
#include "bytes.h"

#include "image/image.h"

GROUP_FIXTURE(setup_context, teardown_context);

static Bytes file;

static mf_Image parsed(mf_Context *context) {
    mf_Image image = {0};
    MUST(mf_image_parse(context, "test.png", file.data, file.size, &image, &error));
    return image;
}

static void check_grays(mf_Context *context, uint32_t white, const uint16_t *grays) {
    mf_Image image = parsed(context);
    assert_int_equal(image.white, white);
    for (uint32_t i = 0; i < image.width * image.height; i++)
        assert_int_equal(mf_image_gray(&image, i), grays[i]);
    mf_release(context, image.pixels);
}

TEST(test_gray_8_and_16) {
    const uint8_t narrow[] = {0, 0, 1, 255, 0, 128, 127, 7}; // two rows of filter byte + 3 samples
    put_png(&file, (PngShape){3, 2, 8, GRAY, 0}, narrow, sizeof narrow);
    check_grays(*state, 255, (const uint16_t[]){0, 1, 255, 128, 127, 7});
    const uint8_t wide[] = {0, 0x00, 0x01, 0xff, 0xfe, 0, 0x12, 0x34, 0x80, 0x00};
    put_png(&file, (PngShape){2, 2, 16, GRAY, 0}, wide, sizeof wide);
    check_grays(*state, 65535, (const uint16_t[]){1, 0xfffe, 0x1234, 0x8000});
}

// Below 8 bits, v of 2^bits - 1 becomes 255 v / (2^bits - 1), which is whole.
TEST(test_few_bits) {
    const uint8_t one[] = {0, 0xa0};
    put_png(&file, (PngShape){3, 1, 1, GRAY, 0}, one, sizeof one);
    check_grays(*state, 255, (const uint16_t[]){255, 0, 255});
    const uint8_t two[] = {0, 0x1b};
    put_png(&file, (PngShape){4, 1, 2, GRAY, 0}, two, sizeof two);
    check_grays(*state, 255, (const uint16_t[]){0, 85, 170, 255});
    const uint8_t four[] = {0, 0x3f, 0x10};
    put_png(&file, (PngShape){3, 1, 4, GRAY, 0}, four, sizeof four);
    check_grays(*state, 255, (const uint16_t[]){51, 255, 17});
}

// 0.2126, 0.7152, 0.0722 of 255: 54.2, 182.4, 18.4; of 65535: 13933, 46871, 4732 (rounded).
TEST(test_color_becomes_luma) {
    const uint8_t colors[] = {0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    put_png(&file, (PngShape){4, 1, 8, RGB, 0}, colors, sizeof colors);
    check_grays(*state, 255, (const uint16_t[]){54, 182, 18, 255});
    const uint8_t wide[] = {0, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255};
    put_png(&file, (PngShape){3, 1, 16, RGB, 0}, wide, sizeof wide);
    check_grays(*state, 65535, (const uint16_t[]){13933, 46870, 4732});
}

TEST(test_gray_saved_as_color_is_exact) {
    uint8_t raw[1 + 256 * 3];
    uint16_t grays[256];
    raw[0] = 0;
    for (int i = 0; i < 256; i++) {
        raw[1 + 3 * i] = raw[2 + 3 * i] = raw[3 + 3 * i] = (uint8_t)i;
        grays[i] = (uint16_t)i;
    }
    put_png(&file, (PngShape){256, 1, 8, RGB, 0}, raw, sizeof raw);
    check_grays(*state, 255, grays);

    static uint8_t wide[1 + 4096 * 6];
    static uint16_t wide_grays[4096];
    for (int i = 0; i < 4096; i++) {
        wide_grays[i] = (uint16_t)(i * 16 + i / 256);
        for (int c = 0; c < 3; c++) {
            wide[1 + 6 * i + 2 * c] = (uint8_t)(wide_grays[i] >> 8);
            wide[2 + 6 * i + 2 * c] = (uint8_t)wide_grays[i];
        }
    }
    put_png(&file, (PngShape){4096, 1, 16, RGB, 0}, wide, sizeof wide);
    check_grays(*state, 65535, wide_grays);
}

TEST(test_alpha_is_ignored) {
    const uint8_t gray[] = {0, 10, 0, 20, 255, 30, 77};
    put_png(&file, (PngShape){3, 1, 8, GRAY_ALPHA, 0}, gray, sizeof gray);
    check_grays(*state, 255, (const uint16_t[]){10, 20, 30});
    const uint8_t wide[] = {0, 1, 2, 0, 0, 3, 4, 9, 9};
    put_png(&file, (PngShape){2, 1, 16, GRAY_ALPHA, 0}, wide, sizeof wide);
    check_grays(*state, 65535, (const uint16_t[]){0x102, 0x304});
    const uint8_t color[] = {0, 5, 5, 5, 0, 6, 6, 6, 255};
    put_png(&file, (PngShape){2, 1, 8, RGB_ALPHA, 0}, color, sizeof color);
    check_grays(*state, 255, (const uint16_t[]){5, 6});
}

static void put_palette(const uint8_t *transparency, size_t size) {
    const uint8_t colors[] = {9, 9, 9, 200, 200, 200, 255, 0, 0};
    const uint8_t raw[] = {0, 2, 1, 0, 1};
    put_png_head(&file, (PngShape){4, 1, 8, PALETTE, 0});
    put_chunk(&file, "PLTE", colors, sizeof colors);
    if (size > 0)
        put_chunk(&file, "tRNS", transparency, size);
    put_image_data(&file, raw, sizeof raw);
    put_chunk(&file, "IEND", NULL, 0);
}

TEST(test_palette) {
    const uint16_t grays[] = {54, 200, 9, 200};
    put_palette(NULL, 0);
    check_grays(*state, 255, grays);
    put_palette((const uint8_t[]){0, 128}, 2);
    check_grays(*state, 255, grays);
}

// Adam7 (PNG 3rd edition, section 8.1): first column, column step, first row, row step.
static const int adam7[7][4] = {{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4},
                                {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2}};

TEST(test_interlaced) {
    static uint8_t raw[4096];
    uint16_t grays[17 * 17];
    for (int columns = 1; columns <= 17; columns++)
        for (int rows = 1; rows <= 17; rows++) {
            size_t size = 0;
            for (int p = 0; p < 7; p++)
                for (int row = adam7[p][2]; row < rows && adam7[p][0] < columns;
                     row += adam7[p][3]) {
                    raw[size++] = 0;
                    for (int column = adam7[p][0]; column < columns; column += adam7[p][1])
                        raw[size++] = (uint8_t)(row * 29 + column * 7);
                }
            for (int i = 0; i < rows * columns; i++)
                grays[i] = (uint8_t)(i / columns * 29 + i % columns * 7);
            put_png(&file, (PngShape){(uint32_t)columns, (uint32_t)rows, 8, GRAY, 1}, raw, size);
            check_grays(*state, 255, grays);
        }
}

static mf_Status refused(mf_Context *context, const void *data, size_t size, mf_Error *error) {
    mf_Image image = {7, 7, 7, 7, 7, NULL}, before = image;
    size_t live = mf_context_live_bytes(context);
    mf_Status status = mf_image_parse(context, "test.png", data, size, &image, error);
    if (status == MF_OK)
        mf_release(context, image.pixels);
    else {
        assert_memory_equal(&image, &before, sizeof image);
        assert_int_equal(error->status, status);
        assert_string_equal(error->file, "test.png");
        assert_true(strlen(error->message) > 10 && strchr(error->message, '\n') == NULL);
    }
    assert_int_equal(mf_context_live_bytes(context), live);
    return status;
}

static void put_sample(uint8_t interlace) {
    uint8_t raw[200] = {0};
    PngShape shape = {6, 5, 16, RGB, interlace};
    put_png(&file, shape, raw, interlace ? 5 * 36 + 11 : 5 * 37);
}

TEST(test_every_truncation) {
    for (uint8_t interlace = 0; interlace < 2; interlace++) {
        put_sample(interlace);
        MUST(refused(*state, file.data, file.size, &error));
        for (size_t size = 0; size < file.size; size++)
            MUST_FAIL(refused(*state, file.data, size, &error), MF_BAD_FILE,
                      size + 1 < file.size ? "" : "end of the file");
    }
}

TEST(test_every_flipped_byte) {
    mf_Error error;
    for (uint8_t interlace = 0; interlace < 2; interlace++) {
        put_sample(interlace);
        int sound = 0;
        for (size_t i = 0; i < file.size; i++) {
            file.data[i] ^= 0xff;
            sound += refused(*state, file.data, file.size, &error) == MF_OK;
            file.data[i] ^= 0xff;
        }
        assert_int_equal(sound, 0); // checksums cover every byte
    }
}

TEST(test_sizes) {
    static const uint32_t sizes[][3] = {
        {0, 0, MF_BAD_FILE},           {0, 4, MF_BAD_FILE},
        {4, 0, MF_BAD_FILE},           {0x7fffffff, 0x7fffffff, MF_LIMIT},
        {8193, 8192, MF_LIMIT},        {1, (1u << 24) + 1, MF_LIMIT},
        {(1u << 24) + 1, 1, MF_LIMIT}, {0xffffffff, 1, MF_BAD_FILE},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const uint8_t raw[] = {0, 0};
        put_png(&file, (PngShape){sizes[i][0], sizes[i][1], 8, GRAY, 0}, raw, sizeof raw);
        mf_Error error;
        assert_int_equal(refused(*state, file.data, file.size, &error), sizes[i][2]);
    }
    uint8_t raw[32] = {0};
    for (int i = 0; i < 9; i++)
        raw[1 + i] = (uint8_t)(2 * i);
    put_png(&file, (PngShape){9, 1, 8, GRAY, 0}, raw, 10);
    check_grays(*state, 255, (const uint16_t[]){0, 2, 4, 6, 8, 10, 12, 14, 16});
    for (int i = 0; i < 9; i++) {
        raw[2 * i] = 0;
        raw[2 * i + 1] = (uint8_t)(2 * i);
    }
    put_png(&file, (PngShape){1, 9, 8, GRAY, 0}, raw, 18);
    check_grays(*state, 255, (const uint16_t[]){0, 2, 4, 6, 8, 10, 12, 14, 16});
}

TEST(test_wrong_structure) {
    const uint8_t raw[] = {0, 1, 2, 3};
    put_png(&file, (PngShape){3, 2, 8, GRAY, 0}, raw, sizeof raw); // one row of two
    MUST_FAIL(refused(*state, file.data, file.size, &error), MF_BAD_FILE, "");
    put_png_head(&file, (PngShape){3, 1, 8, GRAY, 0});
    put_chunk(&file, "IEND", NULL, 0); // no image data
    MUST_FAIL(refused(*state, file.data, file.size, &error), MF_BAD_FILE, "");
    put_png_head(&file, (PngShape){3, 1, 8, PALETTE, 0});
    put_image_data(&file, raw, sizeof raw); // no palette
    put_chunk(&file, "IEND", NULL, 0);
    MUST_FAIL(refused(*state, file.data, file.size, &error), MF_BAD_FILE, "");
    put_png(&file, (PngShape){3, 1, 7, GRAY, 0}, raw, sizeof raw); // no such depth
    MUST_FAIL(refused(*state, file.data, file.size, &error), MF_BAD_FILE, "");
    put_png(&file, (PngShape){3, 1, 8, 5, 0}, raw, sizeof raw); // no such color type
    MUST_FAIL(refused(*state, file.data, file.size, &error), MF_BAD_FILE, "");
    put_png(&file, (PngShape){3, 1, 8, GRAY, 2}, raw, sizeof raw); // no such interlacing
    MUST_FAIL(refused(*state, file.data, file.size, &error), MF_BAD_FILE, "");
    // A text chunk may be anything.
    put_png_head(&file, (PngShape){3, 1, 8, GRAY, 0});
    put_chunk(&file, "tEXt", "Title\0x", 7);
    put_chunk(&file, "iCCP", "broken", 6);
    put_image_data(&file, raw, sizeof raw);
    put_chunk(&file, "IEND", NULL, 0);
    check_grays(*state, 255, (const uint16_t[]){1, 2, 3});
}

// Gray, gray and alpha, color, color and alpha as they are in the file, and as colors of 8 bits.
TEST(test_channels_and_colors) {
    static const struct {
        uint8_t depth, color;
        uint32_t channels, bits;
        uint8_t raw[9], size;
        uint16_t samples[4];
        uint8_t as_color[3];
    } kinds[] = {
        {8, GRAY, 1, 8, {0, 9}, 2, {9}, {9, 9, 9}},
        {16, GRAY, 1, 16, {0, 9, 200}, 3, {9 << 8 | 200}, {9, 9, 9}},
        {8, GRAY_ALPHA, 2, 8, {0, 9, 5}, 3, {9, 5}, {9, 9, 9}},
        {16, GRAY_ALPHA, 2, 16, {0, 9, 1, 5, 2}, 5, {9 << 8 | 1, 5 << 8 | 2}, {9, 9, 9}},
        {8, RGB, 3, 8, {0, 1, 2, 3}, 4, {1, 2, 3}, {1, 2, 3}},
        {8, RGB_ALPHA, 4, 8, {0, 1, 2, 3, 4}, 5, {1, 2, 3, 4}, {1, 2, 3}},
        {16,
         RGB_ALPHA,
         4,
         16,
         {0, 1, 255, 2, 255, 3, 255, 4, 255},
         9,
         {0x1ff, 0x2ff, 0x3ff, 0x4ff},
         {1, 2, 3}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        put_png(&file, (PngShape){1, 1, kinds[i].depth, kinds[i].color, 0}, kinds[i].raw,
                kinds[i].size);
        mf_Image image = parsed(*state);
        assert_int_equal(image.channels, kinds[i].channels);
        assert_int_equal(image.bits, kinds[i].bits);
        for (uint32_t c = 0; c < image.channels; c++)
            assert_int_equal(image.bits == 16 ? ((uint16_t *)image.pixels)[c]
                                              : ((uint8_t *)image.pixels)[c],
                             kinds[i].samples[c]);
        assert_int_equal(mf_image_to_color(*state, &image, NULL), MF_OK);
        assert_true(image.channels == 3 && image.bits == 8 && image.white == 255);
        assert_memory_equal(image.pixels, kinds[i].as_color, 3);
        mf_release(*state, image.pixels);
    }
}

// ---- writing ------------------------------------------------------------------------------------

// What is written is read again; signature and header (PNG specification, 5.2 and 11.2.2), and the
// last chunk with its checksum.
TEST(test_written_is_read) {
    static const uint8_t head[24] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n', 0, 0, 0, 13,
                                     'I',  'H', 'D', 'R', 0,    0,    0,    3,    0, 0, 0, 2};
    uint16_t samples[18];
    for (size_t i = 0; i < 18; i++)
        samples[i] = (uint16_t)(i * i * 211);
    for (uint32_t bits = 8; bits <= 16; bits += 8)
        for (uint32_t channels = 1; channels <= 3; channels += 2) {
            const mf_Image image = {3, 2, channels, bits, bits == 8 ? 255 : 65535, samples};
            uint8_t *png;
            size_t size;
            mf_Image again;
            assert_int_equal(mf_image_encode(*state, &image, 6, &png, &size, NULL), MF_OK);
            assert_memory_equal(png, head, sizeof head);
            assert_true(png[24] == bits && png[25] == (channels == 1 ? GRAY : RGB));
            assert_memory_equal(png + size - 8, "IEND\xae\x42\x60\x82", 8);
            assert_int_equal(mf_image_parse(*state, "again", png, size, &again, NULL), MF_OK);
            assert_memory_equal(&again, &image, offsetof(mf_Image, white) + sizeof image.white);
            assert_memory_equal(again.pixels, samples, (size_t)6 * channels * bits / 8);
            mf_release(*state, again.pixels);
            mf_release(*state, png);
        }
}

static mf_Status encode(mf_Context *context, void *user, mf_Error *error) {
    uint8_t *png;
    size_t size;
    mf_Status status = mf_image_encode(context, user, 9, &png, &size, error);
    mf_release(context, png);
    return status;
}

TEST(test_writing_without_memory) {
    static uint8_t pixels[64 * 64 * 3];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i >> 3);
    mf_Image image = {64, 64, 3, 8, 255, pixels};
    assert_in_range(torture(*state, encode, &image, TORTURE_MUST_FAIL), 3, 1000);
}
