// Generated ground: each shape against its formula, noise against its specification (range, seed,
// continuity, octaves), and the same bits for every number of threads.
#include "support.h"

GROUP_FIXTURE(setup_context, teardown_context);

static mf_TerrainConfig config_of(uint32_t columns, uint32_t rows) {
    return WITH(mf_terrain_config(), .columns = columns, .rows = rows);
}

static mf_Terrain *made(mf_Context *context, const mf_TerrainConfig *config,
                        mf_TerrainGenerator generator) {
    mf_Terrain *terrain = NULL;
    MUST(mf_terrain_generate(context, config, &generator, &terrain, &error));
    return terrain;
}

static double at(const mf_Terrain *terrain, uint32_t column, uint32_t row) {
    return terrain->height_f64[(size_t)row * terrain->columns + column];
}

TEST(test_flat) {
    mf_TerrainConfig config = config_of(9, 4);
    AUTO_TERRAIN *terrain =
        made(*state, &config, (mf_TerrainGenerator){.shape = MF_TERRAIN_FLAT, .amplitude = 0.3});
    for (int i = 0; i < 36; i++)
        assert_true(terrain->height_f64[i] == 0.3);
    assert_true(terrain->lowest == 0.3 && terrain->highest == 0.3);
}

// tan(pi/6) = 1/sqrt(3); the map is centered, so that cell (0, .) has x = -0.45.
TEST(test_slope) {
    mf_TerrainConfig config = WITH(config_of(10, 3), .interpolation = MF_BILINEAR);
    mf_TerrainGenerator slope = {.shape = MF_TERRAIN_SLOPE, .amplitude = 0.52359877559829887};
    AUTO_TERRAIN *terrain = made(*state, &config, slope);
    for (uint32_t row = 0; row < 3; row++)
        for (uint32_t column = 0; column < 10; column++)
            assert_near(at(terrain, column, row), (-0.45 + 0.1 * column) * 0.57735026918962576,
                        1e-15);
    double normal[3];
    mf_terrain_height(terrain, 0.123, 0, normal);
    assert_near(normal[0], -0.5, 1e-14); // leans back by 30 degrees
    assert_near(normal[2], 0.86602540378443865, 1e-14);
}

// Stairs of 4 cells whose edges fall on cell centers: rounding must not move any edge.
TEST(test_steps) {
    mf_TerrainConfig config = config_of(2001, 1); // odd: centers at whole multiples of 0.1 m
    mf_TerrainGenerator steps = {.shape = MF_TERRAIN_STEPS, .amplitude = 0.25, .wavelength = 0.4};
    AUTO_TERRAIN *terrain = made(*state, &config, steps);
    for (int column = 0; column < 2001; column++) {
        int index = column - 1000; // [0.1 m]
        int stair = index >= 0 ? index / 4 : -((-index + 3) / 4);
        assert_true(at(terrain, (uint32_t)column, 0) == 0.25 * stair);
    }
}

TEST(test_sine) {
    mf_TerrainConfig config = config_of(64, 48);
    mf_TerrainGenerator sine = {.shape = MF_TERRAIN_SINE, .amplitude = 0.2, .wavelength = 1.7};
    AUTO_TERRAIN *terrain = made(*state, &config, sine);
    const double angle = 6.283185307179586;
    for (uint32_t row = 0; row < 48; row++)
        for (uint32_t column = 0; column < 64; column++) {
            double x = -3.2 + (column + 0.5) * 0.1, y = -2.4 + (row + 0.5) * 0.1;
            double expected = 0.2 * sin(angle * x / 1.7) * cos(angle * y / 1.7);
            assert_near(at(terrain, column, row), expected, 1e-15);
        }
}

static mf_TerrainGenerator noise_of(uint64_t seed, uint32_t octaves) {
    return (mf_TerrainGenerator){.shape = MF_TERRAIN_NOISE,
                                 .amplitude = 0.5,
                                 .wavelength = 1.6,
                                 .octaves = octaves,
                                 .seed = seed};
}

// With the origin at half a cell below 0 and one octave, every 16th center is a lattice point and
// must hold its random value: stream 0, tick = column << 32 | row of the lattice.
TEST(test_noise_at_lattice_points) {
    mf_TerrainConfig config = WITH(config_of(49, 33), .cell = 0.125, .origin[0] = -0.0625 - 2.0,
                                   .origin[1] = -0.0625 - 2.0);
    AUTO_TERRAIN *terrain = made(*state, &config, WITH(noise_of(42, 1), .wavelength = 2.0));
    for (uint32_t j = 0; j < 3; j++)
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t words[4], column = i - 1, row = j - 1;
            mf_random(42, 0, 0, (uint64_t)column << 32 | row, words);
            double value = 2 * mf_random_unit_double(words[0], words[1]) - 1;
            assert_near(at(terrain, 16 * i, 16 * j), 0.5 * value, 1e-15);
        }
    // Half way between two lattice points the fade curve is 1/2.
    double half = 0.5 * (at(terrain, 0, 0) + at(terrain, 16, 0));
    assert_near(at(terrain, 8, 0), half, 1e-15);
}

TEST(test_noise_range_and_seed) {
    mf_TerrainConfig config = config_of(200, 150);
    for (uint32_t octaves = 1; octaves <= 12; octaves++) {
        AUTO_TERRAIN *first = made(*state, &config, noise_of(7, octaves));
        AUTO_TERRAIN *again = made(*state, &config, noise_of(7, octaves));
        AUTO_TERRAIN *other = made(*state, &config, noise_of(8, octaves));
        size_t size = 200 * 150 * sizeof(double);
        assert_memory_equal(first->height_f64, again->height_f64, size);
        assert_memory_not_equal(first->height_f64, other->height_f64, size);
        assert_true(first->lowest >= -0.5 && first->highest <= 0.5);
        assert_true(first->highest - first->lowest > 0.3); // not collapsed either
    }
}

// Two octaves differ from one by exactly the octave of half the wavelength: with weights 2/3, 1/3,
// h2 = 2/3 h(first) + 1/3 h(second), so 3 h2 - 2 h1 stays within the amplitude.
TEST(test_noise_octaves_halve) {
    mf_TerrainConfig config = config_of(120, 120);
    AUTO_TERRAIN *one = made(*state, &config, noise_of(3, 1));
    AUTO_TERRAIN *two = made(*state, &config, noise_of(3, 2));
    double largest = 0;
    for (uint32_t i = 0; i < 120 * 120; i++)
        largest = fmax(largest, fabs(3 * two->height_f64[i] - 2 * one->height_f64[i]));
    assert_true(largest <= 0.5 + 1e-12 && largest > 0.3);
}

// One octave: slope at most 2 * 15/8 * amplitude / wavelength (the fade curve's steepest slope is
// 15/8), so that neighboring cells differ by no more than that times the cell.
TEST(test_noise_is_continuous) {
    AUTO_TERRAIN *terrain = made(*state, &WITH(config_of(300, 300), .cell = 0.02), noise_of(11, 1));
    double limit = 2 * 15.0 / 8 * 0.5 / 1.6 * 0.02;
    for (uint32_t row = 0; row + 1 < 300; row++)
        for (uint32_t column = 0; column + 1 < 300; column++) {
            double here = at(terrain, column, row);
            assert_near(at(terrain, column + 1, row), here, limit);
            assert_near(at(terrain, column, row + 1), here, limit);
        }
}

TEST(test_threads_change_no_bit) {
    uint64_t hashes[3];
    for (uint32_t i = 0; i < 3; i++) {
        mf_ContextConfig threads = WITH(mf_context_config(), .threads = 1u << i);
        AUTO_CONTEXT *context;
        MUST(mf_context_create(&threads, &context, &error));
        size_t live = mf_context_live_bytes(context);
        mf_TerrainConfig config = config_of(97, 131);
        mf_Terrain *terrain = made(context, &config, noise_of(5, 6));
        hashes[i] = mf_hash_bytes(MF_HASH_START, terrain->height_f64, 97 * 131 * sizeof(double));
        mf_terrain_destroy(terrain);
        assert_int_equal(mf_context_live_bytes(context), live);
    }
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

// The bits of noise and waves on every machine and compiler.
TEST(test_known_bits) {
    mf_TerrainConfig config = config_of(64, 64);
    mf_Terrain *noise = made(*state, &config, noise_of(1, 5));
    mf_Terrain *sine =
        made(*state, &config,
             (mf_TerrainGenerator){.shape = MF_TERRAIN_SINE, .amplitude = 0.2, .wavelength = 1.7});
    uint64_t hash = mf_hash_bytes(MF_HASH_START, noise->height_f64, 64 * 64 * sizeof(double));
    hash = mf_hash_bytes(hash, sine->height_f64, 64 * 64 * sizeof(double));
    mf_terrain_destroy(noise);
    mf_terrain_destroy(sine);
    assert_int_equal(hash, UINT64_C(0x5f52acd59ea9d830));
}

TEST(test_bad_generators) {
    mf_TerrainConfig config = config_of(8, 8);
    mf_TerrainGenerator good = noise_of(1, 4), bad;
    static const double wavelengths[] = {0, -1, NAN, INFINITY, 1e-7, 1e10};
    for (int shape = MF_TERRAIN_STEPS; shape <= MF_TERRAIN_NOISE; shape++)
        for (int i = 0; i < 6; i++) {
            bad = WITH(good, .shape = (mf_TerrainShape)shape, .wavelength = wavelengths[i]);
            check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
        }
    static const double amplitudes[] = {NAN, INFINITY, -INFINITY, 1e7, -1e7};
    for (int shape = MF_TERRAIN_FLAT; shape <= MF_TERRAIN_NOISE; shape++)
        for (int i = 0; i < 5; i++) {
            bad = WITH(good, .shape = (mf_TerrainShape)shape, .amplitude = amplitudes[i]);
            check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
        }
    bad = WITH(good, .octaves = 0);
    check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
    bad.octaves = 13;
    check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
    bad = WITH(good, .shape = (mf_TerrainShape)5);
    check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
    bad.shape = MF_TERRAIN_SLOPE;
    bad.amplitude = 1.5707963267948966;
    check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
    // Heights that the formula drives out of range.
    bad.amplitude = 1.57079632679;
    config.cell = 1000;
    check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
    // A lattice too fine to count.
    bad = WITH(good, .wavelength = 1e-6);
    config.origin[0] = 1e9;
    check_refused(*state, &config, NULL, &bad, MF_BAD_ARGUMENT);
}

TEST(test_bad_arguments) {
    mf_TerrainGenerator noise = noise_of(1, 4);
    static const uint32_t sizes[][2] = {{0, 0}, {0, 1}, {1, 0}};
    for (int i = 0; i < 3; i++) {
        mf_TerrainConfig config = config_of(sizes[i][0], sizes[i][1]);
        check_refused(*state, &config, NULL, &noise, MF_BAD_ARGUMENT);
    }
    mf_TerrainConfig config = config_of(8193, 1);
    check_refused(*state, &config, NULL, &noise, MF_LIMIT);
    config = config_of(8, 8);
    AUTO_TERRAIN *terrain;
    assert_int_equal(mf_terrain_generate(*state, &config, NULL, &terrain, NULL), MF_BAD_ARGUMENT);
    assert_null(terrain);
    assert_int_equal(mf_terrain_generate(*state, &config, &noise, NULL, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_terrain_generate(NULL, &config, &noise, &terrain, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_terrain_generate(*state, NULL, &noise, &terrain, NULL), MF_BAD_ARGUMENT);
    config = config_of(1, 1);
    terrain = made(*state, &config, noise);
    assert_true(fabs(mf_terrain_height(terrain, 1e30, NAN, NULL)) <= 0.5);
}
