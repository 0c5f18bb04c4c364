// Every allocation and file call of arrays, generators and image files fails once: an error is
// returned, nothing leaks, no map is returned.
#include "support.h"

#include "image/bytes.h"

GROUP_FIXTURE(setup_context, teardown_context);

static mf_TerrainConfig small_config(void) {
    return WITH(mf_terrain_config(), .columns = 5, .rows = 4);
}

static mf_Status finished(mf_Status status, mf_Terrain *terrain) {
    assert_int_equal(status == MF_OK, terrain != NULL);
    mf_terrain_destroy(terrain);
    return status;
}

static mf_Status make_array(mf_Context *context, void *user, mf_Error *error) {
    mf_TerrainConfig config = small_config();
    mf_Terrain *terrain = (mf_Terrain *)&terrain;
    mf_Status status = mf_terrain_from_array(context, &config, user, &terrain, error);
    return finished(status, terrain);
}

static mf_Status make_noise(mf_Context *context, void *user, mf_Error *error) {
    mf_TerrainConfig config = small_config();
    mf_Terrain *terrain = (mf_Terrain *)&terrain;
    mf_Status status = mf_terrain_generate(context, &config, user, &terrain, error);
    return finished(status, terrain);
}

static mf_Status load_image(mf_Context *context, void *user, mf_Error *error) {
    mf_TerrainConfig config = mf_terrain_config();
    mf_Terrain *terrain = (mf_Terrain *)&terrain;
    mf_Status status = mf_terrain_load(context, user, &config, 1, 0, &terrain, error);
    if (status != MF_OK && status != MF_NO_MEMORY && status != MF_IO)
        fail_msg("expected no memory or I/O, found %s", error->message);
    return finished(status, terrain);
}

TEST(test_array) {
    double heights[20] = {0};
    assert_true(torture(*state, make_array, heights, TORTURE_MUST_FAIL) >= 1);
}

TEST(test_noise) {
    mf_TerrainGenerator noise = {
        .shape = MF_TERRAIN_NOISE, .amplitude = 1, .wavelength = 1, .octaves = 3};
    assert_true(torture(*state, make_noise, &noise, TORTURE_MUST_FAIL) >= 1);
}

TEST(test_pgm) {
    static const char texts[2][24] = {"P2 2 2 9 1 2 3 4", "P5 2 2 255\nabcd"};
    for (int i = 0; i < 2; i++) {
        char path[512];
        write_file(path, "terrain_torture.pgm", texts[i], strlen(texts[i]));
        // At least: open, read, its memory, the gray image, the map.
        assert_true(torture(*state, load_image, path, TORTURE_MUST_FAIL) >= 5);
        remove(path);
    }
}

TEST(test_png) {
    static Bytes file;
    for (uint8_t interlace = 0; interlace < 2; interlace++) {
        char path[512];
        const uint8_t raw[64] = {0};
        put_png_head(&file, (PngShape){3, 1, 8, 3, interlace});
        put_chunk(&file, "PLTE", "abcdefghi", 9);
        put_chunk(&file, "tRNS", "\x80", 1);
        put_image_data(&file, raw, interlace ? 6 : 4);
        put_chunk(&file, "IEND", NULL, 0);
        write_file(path, "terrain_torture.png", file.data, file.size);
        // libpng and zlib add the reader, the header, the window and the rows.
        assert_true(torture(*state, load_image, path, TORTURE_MUST_FAIL) >= 10);
        remove(path);
    }
}
