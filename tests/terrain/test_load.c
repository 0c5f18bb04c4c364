// Height maps from image files: orientation and scale, and the message for each kind of invalid
// file.
#include "support.h"

#include "image/bytes.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define TEXT(literal) literal, sizeof(literal) - 1

typedef struct Bad {
    const char *text;
    size_t size; // [byte]
    mf_Status status;
    int line, column;
    const char *message; // a part of it
} Bad;

TEST(test_load_turns_and_scales) {
    char path[512];
    const uint8_t raw[] = {0, 0, 51, 255, 0, 102, 153, 204}; // top row first
    static Bytes file;
    put_png(&file, (PngShape){3, 2, 8, GRAY, 0}, raw, sizeof raw);
    write_file(path, "turns.png", file.data, file.size);
    mf_TerrainConfig config = WITH(mf_terrain_config(), .cell = 2);
    config.columns = 99; // ignored, as documented
    mf_Terrain *terrain;
    MUST(mf_terrain_load(*state, path, &config, 10, -5, &terrain, &error));
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

static mf_Status load(mf_Context *context, const char *path, double scale, double offset,
                      mf_Error *error) {
    mf_TerrainConfig config = mf_terrain_config();
    AUTO_TERRAIN *terrain = (mf_Terrain *)&terrain;
    memset(error, 0, sizeof *error);
    mf_Status status = mf_terrain_load(context, path, &config, scale, offset, &terrain, error);
    assert_int_equal(status == MF_OK, terrain != NULL);
    return status;
}

TEST(test_load) {
    char path[512];
    static const char text[] = "P2\n# top row first\n2 2\n4\n0 1\n2 4\n";
    write_file(path, "terrain_pgm.pgm", text, sizeof text - 1);
    mf_TerrainConfig config = WITH(mf_terrain_config(), .cell = 0.5, .origin[0] = 10);
    mf_Terrain *terrain;
    mf_Error error;
    assert_int_equal(mf_terrain_load(*state, path, &config, 2, 1, &terrain, &error), MF_OK);
    const double expected[] = {2, 3, 1, 1.5};
    for (int i = 0; i < 4; i++)
        assert_true(terrain->height_f64[i] == expected[i]);
    assert_true(terrain->origin[0] == 10 && terrain->origin[1] == -0.5);
    mf_terrain_destroy(terrain);

    // A negative scale turns hills into valleys; too large a height is an error.
    assert_int_equal(load(*state, path, -2, 1, &error), MF_OK);
    static const double wrong[][2] = {{NAN, 0}, {0, NAN}, {INFINITY, 0}, {1e6, 1}, {0, -2e6}};
    for (int i = 0; i < 5; i++)
        assert_int_equal(load(*state, path, wrong[i][0], wrong[i][1], &error), MF_BAD_ARGUMENT);
    remove(path);
}

// The elevation image that comes along is what its example makes, to half a gray step.
TEST(test_hills) {
    mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 128, .rows = 128);
    mf_TerrainGenerator hills = {
        .shape = MF_TERRAIN_NOISE, .amplitude = 1.0, .wavelength = 4.0, .octaves = 5, .seed = 2};
    AUTO_TERRAIN *loaded, *made;
    mf_Error error;
    const char *path = MAYFLY_SOURCE_DIR "/scenes/hills.pgm";
    must(mf_terrain_load(*state, path, &config, 2, -1, &loaded, &error), &error);
    assert_int_equal(mf_terrain_generate(*state, &config, &hills, &made, &error), MF_OK);
    assert_true(loaded->columns == 128 && loaded->rows == 128);
    for (int i = 0; i < 128 * 128; i++)
        assert_near(loaded->height_f64[i], made->height_f64[i], 1.0 / 65535 + 1e-12);
}

TEST(test_load_names_what_it_found) {
    static const Bad files[] = {
        {TEXT(""), MF_BAD_FILE, 0, 0, "an empty file"},
        {TEXT("P"), MF_BAD_FILE, 0, 0, "something else"},
        {TEXT("P6 1 1 255\n123"), MF_BAD_FILE, 0, 0, "a binary PPM color image"},
        {TEXT("II*\0........"), MF_BAD_FILE, 0, 0, "a TIFF image"},
        {TEXT("\xff\xd8\xff\xe0...."), MF_BAD_FILE, 0, 0, "a JPEG image"},
        {TEXT("\x89PNG\n\x1a\n...."), MF_BAD_FILE, 0, 0, "damaged line ends"},
        {TEXT("\x89PNG\r\n\x1a\n...."), MF_BAD_FILE, 0, 0, "PNG: expected a sound image"},
        {TEXT("P2\n1 1\n9\n10\n"), MF_BAD_FILE, 4, 1, "found 10"},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char path[512];
        mf_Error error;
        write_file(path, "terrain_kind.pgm", files[i].text, files[i].size);
        assert_int_equal(load(*state, path, 1, 0, &error), files[i].status);
        assert_non_null(strstr(error.message, files[i].message));
        assert_string_equal(error.file, path);
        assert_int_equal(error.line, files[i].line);
        assert_int_equal(error.column, files[i].column);
        remove(path);
    }
    mf_Error error;
    mf_Status missing = load(*state, "/no/such/folder/map.pgm", 1, 0, &error);
    assert_true(missing == MF_IO || missing == MF_NOT_FOUND);
    assert_int_not_equal(load(*state, "/tmp", 1, 0, &error), MF_OK);
}

TEST(test_load_arguments) {
    mf_TerrainConfig config = mf_terrain_config();
    mf_Terrain *terrain;
    assert_int_equal(mf_terrain_load(*state, NULL, &config, 1, 0, &terrain, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_terrain_load(*state, "x", NULL, 1, 0, &terrain, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_terrain_load(NULL, "x", &config, 1, 0, &terrain, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_terrain_load(*state, "x", &config, 1, 0, NULL, NULL), MF_BAD_ARGUMENT);
}
