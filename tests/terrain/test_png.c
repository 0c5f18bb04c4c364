// PNG elevation images: every kind of pixel against hand-computed grays, interlacing, orientation
// and scale, and hostile files. The images are written by support.h, not by libpng.
#include "support.h"

#include "import/terrain_image.h"

enum { GRAY = 0, RGB = 2, PALETTE = 3, GRAY_ALPHA = 4, RGB_ALPHA = 6 };

static Bytes file;

static mf_GrayImage parsed(mf_Context *context) {
    mf_GrayImage image = {0};
    MUST(mf_png_parse(context, "test.png", file.data, file.size, &image, &error));
    return image;
}

static void check_grays(mf_Context *context, uint32_t largest, const uint16_t *grays) {
    mf_GrayImage image = parsed(context);
    assert_int_equal(image.largest, largest);
    for (uint32_t i = 0; i < image.columns * image.rows; i++)
        assert_int_equal(image.gray[i], grays[i]);
    mf_release(context, image.gray);
}

static void test_gray_8_and_16(void **state) {
    const uint8_t narrow[] = {0, 0, 1, 255, 0, 128, 127, 7}; // two rows of filter byte + 3 samples
    put_png(&file, (PngShape){3, 2, 8, GRAY, 0}, narrow, sizeof narrow);
    check_grays(*state, 255, (const uint16_t[]){0, 1, 255, 128, 127, 7});
    const uint8_t wide[] = {0, 0x00, 0x01, 0xff, 0xfe, 0, 0x12, 0x34, 0x80, 0x00};
    put_png(&file, (PngShape){2, 2, 16, GRAY, 0}, wide, sizeof wide);
    check_grays(*state, 65535, (const uint16_t[]){1, 0xfffe, 0x1234, 0x8000});
}

// Below 8 bits, v of 2^bits - 1 becomes 255 v / (2^bits - 1), which is whole.
static void test_few_bits(void **state) {
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
static void test_color_becomes_luma(void **state) {
    const uint8_t colors[] = {0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255};
    put_png(&file, (PngShape){4, 1, 8, RGB, 0}, colors, sizeof colors);
    check_grays(*state, 255, (const uint16_t[]){54, 182, 18, 255});
    const uint8_t wide[] = {0, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255, 0, 0, 0, 0, 0, 0, 255, 255};
    put_png(&file, (PngShape){3, 1, 16, RGB, 0}, wide, sizeof wide);
    check_grays(*state, 65535, (const uint16_t[]){13933, 46870, 4732});
}

static void test_gray_saved_as_color_is_exact(void **state) {
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

static void test_alpha_is_ignored(void **state) {
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

static void test_palette(void **state) {
    const uint16_t grays[] = {54, 200, 9, 200};
    put_palette(NULL, 0);
    check_grays(*state, 255, grays);
    put_palette((const uint8_t[]){0, 128}, 2);
    check_grays(*state, 255, grays);
}

// Adam7 (PNG 3rd edition, section 8.1): first column, column step, first row, row step.
static const int adam7[7][4] = {{0, 8, 0, 8}, {4, 8, 0, 8}, {0, 4, 4, 8}, {2, 4, 0, 4},
                                {0, 2, 2, 4}, {1, 2, 0, 2}, {0, 1, 1, 2}};

static void test_interlaced(void **state) {
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

static void test_load_turns_and_scales(void **state) {
    char path[512];
    const uint8_t raw[] = {0, 0, 51, 255, 0, 102, 153, 204}; // top row first
    put_png(&file, (PngShape){3, 2, 8, GRAY, 0}, raw, sizeof raw);
    write_file(path, "terrain_png.png", file.data, file.size);
    mf_TerrainConfig config = mf_terrain_config();
    config.cell = 2;
    config.columns = 99; // ignored, as documented
    mf_Terrain *terrain;
    mf_Error error;
    assert_int_equal(mf_terrain_load(*state, path, &config, 10, -5, &terrain, &error), MF_OK);
    assert_int_equal(terrain->columns, 3);
    assert_int_equal(terrain->rows, 2);
    const double expected[] = {-1, 1, 3, -5, -3, 5}; // row 0 has the lowest y
    for (int i = 0; i < 6; i++)
        assert_near(terrain->height_f64[i], expected[i], 1e-15);
    assert_near(mf_terrain_height(terrain, -2.5, 1.9, NULL), -5, 0);
    assert_true(terrain->origin[0] == -3 && terrain->origin[1] == -2);
    mf_terrain_destroy(terrain);
    remove(path);
}

static mf_Status refused(mf_Context *context, const void *data, size_t size, mf_Error *error) {
    mf_GrayImage image = {7, 7, 7, NULL}, before = image;
    size_t live = mf_context_live_bytes(context);
    mf_Status status = mf_png_parse(context, "test.png", data, size, &image, error);
    if (status == MF_OK)
        mf_release(context, image.gray);
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

static void test_every_truncation(void **state) {
    for (uint8_t interlace = 0; interlace < 2; interlace++) {
        put_sample(interlace);
        mf_Error error;
        assert_int_equal(refused(*state, file.data, file.size, &error), MF_OK);
        for (size_t size = 0; size < file.size; size++)
            assert_int_equal(refused(*state, file.data, size, &error), MF_BAD_FILE);
        assert_non_null(strstr(error.message, "end of the file"));
    }
}

static void test_every_flipped_byte(void **state) {
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

static void test_sizes(void **state) {
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

static void test_wrong_structure(void **state) {
    const uint8_t raw[] = {0, 1, 2, 3};
    mf_Error error;
    put_png(&file, (PngShape){3, 2, 8, GRAY, 0}, raw, sizeof raw); // one row of two
    assert_int_equal(refused(*state, file.data, file.size, &error), MF_BAD_FILE);
    put_png_head(&file, (PngShape){3, 1, 8, GRAY, 0});
    put_chunk(&file, "IEND", NULL, 0); // no image data
    assert_int_equal(refused(*state, file.data, file.size, &error), MF_BAD_FILE);
    put_png_head(&file, (PngShape){3, 1, 8, PALETTE, 0});
    put_image_data(&file, raw, sizeof raw); // no palette
    put_chunk(&file, "IEND", NULL, 0);
    assert_int_equal(refused(*state, file.data, file.size, &error), MF_BAD_FILE);
    put_png(&file, (PngShape){3, 1, 7, GRAY, 0}, raw, sizeof raw); // no such depth
    assert_int_equal(refused(*state, file.data, file.size, &error), MF_BAD_FILE);
    put_png(&file, (PngShape){3, 1, 8, 5, 0}, raw, sizeof raw); // no such color type
    assert_int_equal(refused(*state, file.data, file.size, &error), MF_BAD_FILE);
    put_png(&file, (PngShape){3, 1, 8, GRAY, 2}, raw, sizeof raw); // no such interlacing
    assert_int_equal(refused(*state, file.data, file.size, &error), MF_BAD_FILE);
    // A text chunk may be anything.
    put_png_head(&file, (PngShape){3, 1, 8, GRAY, 0});
    put_chunk(&file, "tEXt", "Title\0x", 7);
    put_chunk(&file, "iCCP", "broken", 6);
    put_image_data(&file, raw, sizeof raw);
    put_chunk(&file, "IEND", NULL, 0);
    check_grays(*state, 255, (const uint16_t[]){1, 2, 3});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gray_8_and_16),
        cmocka_unit_test(test_few_bits),
        cmocka_unit_test(test_color_becomes_luma),
        cmocka_unit_test(test_gray_saved_as_color_is_exact),
        cmocka_unit_test(test_alpha_is_ignored),
        cmocka_unit_test(test_palette),
        cmocka_unit_test(test_interlaced),
        cmocka_unit_test(test_load_turns_and_scales),
        cmocka_unit_test(test_every_truncation),
        cmocka_unit_test(test_every_flipped_byte),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_wrong_structure),
    };
    return cmocka_run_group_tests(tests, setup_context, teardown_context);
}
