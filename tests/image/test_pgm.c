// PGM images, ASCII and binary: valid files in all their spellings, and hostile ones.
#include "rig/rig.h"

#include "image/image.h"

GROUP_FIXTURE(setup_context, teardown_context);

typedef struct Good {
    const char *text;
    size_t size; // [byte]
    uint32_t columns, rows, largest;
    uint16_t grays[6];
} Good;

#define TEXT(literal) literal, sizeof(literal) - 1

static const Good good[] = {
    {TEXT("P2\n3 2\n9\n0 1 2\n3 4 9\n"), 3, 2, 9, {0, 1, 2, 3, 4, 9}},
    {TEXT("P2 3 2 9 0 1 2 3 4 9"), 3, 2, 9, {0, 1, 2, 3, 4, 9}},
    {TEXT("P2\r\n2 1\r\n255\r\n17 255\r\n"), 2, 1, 255, {17, 255}},
    {TEXT("P2# a\n#b\n2#c\n1 # d\n7# e\n# f\n6#g\n5# the end"), 2, 1, 7, {6, 5}},
    {TEXT("P2\t1\v3\f65535\n65535 0 00042"), 1, 3, 65535, {65535, 0, 42}},
    {TEXT("P2 1 1 1 1"), 1, 1, 1, {1}},
    {TEXT("P5\n3 2\n255\n\x00\x01\x02\x80\xfe\xff"), 3, 2, 255, {0, 1, 2, 128, 254, 255}},
    {TEXT("P5 # x\n2 1 200\n\x0a\x20"), 2, 1, 200, {10, 32}}, // blanks are samples here
    {TEXT("P5 2 1 200 \x23\x0a\n\n"), 2, 1, 200, {35, 10}},   // and so is '#'
    {TEXT("P5 2 1 255# made by hand\nAB"), 2, 1, 255, {65, 66}},
    {TEXT("P5 2 1 256\n\x01\x00\x00\xff"), 2, 1, 256, {256, 255}},
    {TEXT("P5 1 2 65535\n\x12\x34\xff\xff"), 1, 2, 65535, {0x1234, 65535}},
};

TEST(test_good_files) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        mf_Image image;
        mf_Error error = {0};
        if (mf_image_parse(*state, "g", good[i].text, good[i].size, &image, &error) != MF_OK)
            fail_msg("file %zu: %s", i, error.message);
        assert_int_equal(image.width, good[i].columns);
        assert_int_equal(image.height, good[i].rows);
        assert_int_equal(image.white, good[i].largest);
        for (uint32_t cell = 0; cell < image.width * image.height; cell++)
            assert_int_equal(mf_image_gray(&image, cell), good[i].grays[cell]);
        mf_release(*state, image.pixels);
    }
}

static mf_Status parse(mf_Context *context, const void *data, size_t size, mf_Error *error) {
    mf_Image image = {7, 7, 7, 7, 7, NULL}, before = image;
    size_t live = mf_context_live_bytes(context);
    memset(error, 0, sizeof *error);
    mf_Status status = mf_image_parse(context, "bad.pgm", data, size, &image, error);
    if (status == MF_OK)
        mf_release(context, image.pixels);
    else {
        assert_memory_equal(&image, &before, sizeof image);
        assert_string_equal(error->file, "bad.pgm");
        assert_true(strlen(error->message) > 10 && strchr(error->message, '\n') == NULL);
    }
    assert_int_equal(mf_context_live_bytes(context), live);
    return status;
}

typedef struct Bad {
    const char *text;
    size_t size; // [byte]
    mf_Status status;
    int line, column;
    const char *message; // a part of it
} Bad;

static const Bad bad[] = {
    {TEXT("P"), MF_BAD_FILE, 0, 0, "something else"},
    {TEXT("P2"), MF_BAD_FILE, 1, 3, "the width"},
    {TEXT("P23 2 9 1 2 3 4 5 6"), MF_BAD_FILE, 1, 3, "white space after the magic"},
    {TEXT("P2\n3"), MF_BAD_FILE, 2, 2, "the height"},
    {TEXT("P2\n3 x"), MF_BAD_FILE, 2, 3, "byte 0x78"},
    {TEXT("P2\n3 -2 9\n"), MF_BAD_FILE, 2, 3, "byte 0x2d"},
    {TEXT("P2\n3 2\n"), MF_BAD_FILE, 3, 1, "the largest gray value"},
    {TEXT("P2\n3 2\n0\n"), MF_BAD_FILE, 3, 1, "found 0"},
    {TEXT("P2\n3 2\n65536\n"), MF_BAD_FILE, 3, 1, "found 65536"},
    {TEXT("P2\n1 1\n9x"), MF_BAD_FILE, 3, 2, "white space after the largest"},
    {TEXT("P2\n3 2\n9\n0 1 2\n3 4\n"), MF_BAD_FILE, 0, 0, "at least 11 bytes"},
    {TEXT("P2\n3 2\n9\n0 1 2\n3  4  \n"), MF_BAD_FILE, 6, 1, "the end of the file"},
    {TEXT("P2\n3 2\n9\n0 1 2\n3 4 10\n"), MF_BAD_FILE, 5, 5, "0 .. 9, found 10"},
    {TEXT("P2\n3 2\n9\n0 1 2\n3 4 18446744073709551617\n"), MF_BAD_FILE, 5, 5, "larger"},
    {TEXT("P2\n3 2\n9\n0 1 2\n3 4.5 6\n"), MF_BAD_FILE, 5, 4, "byte 0x2e"},
    {TEXT("P2\n3 2\n9\n0 1 2\n3 4 5 6\n"), MF_BAD_FILE, 0, 0, "expected the end"},
    {TEXT("P2\n0 0\n9\n"), MF_BAD_FILE, 0, 0, "found 0 x 0"},
    {TEXT("P2\n0 5\n9\n"), MF_BAD_FILE, 0, 0, "found 0 x 5"},
    {TEXT("P5\n5 0\n9\n"), MF_BAD_FILE, 0, 0, "found 5 x 0"},
    {TEXT("P5\n8193 8192\n255\n"), MF_LIMIT, 0, 0, "found 8193 x 8192"},
    {TEXT("P5\n16777217 1\n255\n"), MF_LIMIT, 0, 0, "at most 2^24"},
    {TEXT("P5\n2147483647 2147483647\n255\n"), MF_LIMIT, 0, 0, "at most"},
    {TEXT("P5\n4294967297 1\n255\n0"), MF_BAD_FILE, 2, 1, "a larger one"},
    {TEXT("P5\n2147483648 1\n255\n0"), MF_BAD_FILE, 2, 1, "found 2147483648"},
    {TEXT("P5 2 2 255"), MF_BAD_FILE, 0, 0, "4 bytes of raster"},
    {TEXT("P5 2 2 255\n"), MF_BAD_FILE, 0, 0, "from byte 11, found 0"},
    {TEXT("P5 2 2 255\n123"), MF_BAD_FILE, 0, 0, "found 3"},
    {TEXT("P5 2 2 256\n1234567"), MF_BAD_FILE, 0, 0, "8 bytes of raster"},
    {TEXT("P5 2 2 255\n12345"), MF_BAD_FILE, 0, 0, "1 more bytes from byte 15"},
    {TEXT("P5 2 2 99\n\x01\x02\x64\x03"), MF_BAD_FILE, 0, 0, "found 100 at byte 12"},
    {TEXT("P5 1 1 999\n\xff\xff"), MF_BAD_FILE, 0, 0, "found 65535 at byte 11"},
    {TEXT("P2 # a comment that never ends"), MF_BAD_FILE, 1, 31, "the end of the file"},
};

TEST(test_bad_files) {
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        mf_Error error;
        mf_Status status = parse(*state, bad[i].text, bad[i].size, &error);
        if (status != bad[i].status || error.line != bad[i].line || error.column != bad[i].column ||
            strstr(error.message, bad[i].message) == NULL)
            fail_msg("file %zu: status %d at %d:%d: %s", i, (int)status, (int)error.line,
                     (int)error.column, error.message);
    }
}

// Too large or too short is known from the header: no memory is asked for.
TEST(test_refused_before_allocation) {
    static const Bad cases[] = {
        {TEXT("P5\n8193 8192\n255\n"), MF_LIMIT, 0, 0, ""},
        {TEXT("P5\n8192 8192\n255\n"), MF_BAD_FILE, 0, 0, ""},
        {TEXT("P2\n8192 8192\n255\n1 2 3"), MF_BAD_FILE, 0, 0, ""},
        {TEXT("P2\n0 0\n255\n"), MF_BAD_FILE, 0, 0, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t calls = mf_context_call_count(*state);
        mf_Error error;
        assert_int_equal(parse(*state, cases[i].text, cases[i].size, &error), cases[i].status);
        assert_int_equal(mf_context_call_count(*state), calls);
    }
}

TEST(test_truncations_and_flips) {
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        char copy[64];
        mf_Error error;
        assert_true(good[i].size <= sizeof copy);
        for (size_t size = 0; size < good[i].size; size++) {
            // A copy of exactly that size, so that sanitizers see a read past its end.
            AUTO(end_memory) char *exact = malloc(size + (size == 0));
            memcpy(exact, good[i].text, size);
            parse(*state, exact, size, &error);
        }
        memcpy(copy, good[i].text, good[i].size);
        for (size_t index = 0; index < good[i].size; index++)
            for (int value = 0; value < 256; value++) {
                copy[index] = (char)value;
                parse(*state, copy, good[i].size, &error);
                copy[index] = good[i].text[index];
            }
    }
}
