// Height maps from arrays: check case C8 (borders, NaN, 1 x N, 0 x 0, positions up to 1e308), for
// the double look-up and the float reference that kernels follow.
#include "support.h"

#include "terrain/lookup.h"

#include <float.h>

GROUP_FIXTURE(setup_context, teardown_context);

static mf_TerrainConfig config_of(uint32_t columns, uint32_t rows) {
    mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = columns, .rows = rows,
                                   .cell = 1.0, .origin[0] = 0.0, .origin[1] = 0.0);
    config.interpolation = MF_NEAREST; // arrays are bilinear by default
    return config;
}

// 3 columns x 2 rows; the value tells its place: 10 * row + column.
static const double small_map[6] = {0, 1, 2, 10, 11, 12};

TEST(test_fields_and_defaults) {
    mf_TerrainConfig config = WITH(config_of(3, 2), .cell = 0.5, .origin[0] = NAN);
    mf_Terrain *terrain = terrain_of(*state, &config, small_map);
    assert_int_equal(terrain->columns, 3);
    assert_int_equal(terrain->rows, 2);
    assert_true(terrain->origin[0] == -0.75); // 3 cells of 0.5 m, centered
    assert_true(terrain->origin[1] == 0.0);
    assert_true(terrain->lowest == 0.0 && terrain->highest == 12.0);
    for (int i = 0; i < 6; i++) {
        assert_true(terrain->height_f64[i] == small_map[i]);
        assert_true(terrain->height_f32[i] == (float)small_map[i]);
    }
    assert_ptr_not_equal(terrain->height_f64, small_map);
    mf_terrain_destroy(terrain);
    mf_terrain_destroy(NULL);
    assert_true(mf_terrain_config().cell == 0.1);
    assert_true(isnan(mf_terrain_config().origin[0]) && isnan(mf_terrain_config().origin[1]));
}

TEST(test_nearest_cells_are_half_open) {
    mf_TerrainConfig config = config_of(3, 2);
    AUTO_TERRAIN *terrain = terrain_of(*state, &config, small_map);
    for (int row = 0; row < 2; row++)
        for (int column = 0; column < 3; column++) {
            double expected = 10 * row + column, normal[3];
            assert_true(mf_terrain_height(terrain, column, row, normal) == expected);
            assert_true(mf_terrain_height(terrain, nextafter(column + 1, 0), nextafter(row + 1, 0),
                                          NULL) == expected);
            assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 1);
            assert_false(signbit(normal[0]) || signbit(normal[1]));
        }
}

// One value of every class of double, with the cell of a 3-wide map that it must fall into.
typedef struct Sample {
    double position; // [m]
    int cell;        // [1]
} Sample;

static const Sample samples[] = {
    {NAN, 0},         {-NAN, 0},    {INFINITY, 2},     {-INFINITY, 0},     {DBL_MAX, 2},
    {-DBL_MAX, 0},    {1e30, 2},    {-1e30, 0},        {4294967296., 2},   {-4294967296., 0},
    {2147483648., 2}, {9.3e18, 2},  {-9.3e18, 0},      {3.0, 2},           {2.5, 2},
    {-1e-300, 0},     {DBL_MIN, 0}, {DBL_TRUE_MIN, 0}, {-DBL_TRUE_MIN, 0}, {-0.0, 0},
    {0.0, 0},         {1.0, 1},     {-0.5, 0},         {3.402824e38, 2},
};
enum { PLACES = sizeof samples / sizeof samples[0] };

TEST(test_every_double_has_a_height) {
    mf_TerrainConfig config = config_of(3, 3);
    const double map[9] = {0, 1, 2, 10, 11, 12, 20, 21, 22};
    AUTO_TERRAIN *terrain = terrain_of(*state, &config, map);
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < PLACES; j++) {
            double height =
                mf_terrain_height(terrain, samples[i].position, samples[j].position, NULL);
            assert_true(height == 10 * samples[j].cell + samples[i].cell);
        }
}

TEST(test_every_double_has_a_smooth_height) {
    mf_TerrainConfig config = WITH(config_of(3, 3), .interpolation = MF_BILINEAR);
    const double map[9] = {0, 1, 2, 10, 11, 12, 20, 21, 22}; // the plane 10 (y-1/2) + (x-1/2)
    AUTO_TERRAIN *terrain = terrain_of(*state, &config, map);
    for (int i = 0; i < PLACES; i++)
        for (int j = 0; j < PLACES; j++) {
            double x = samples[i].position, y = samples[j].position, normal[3];
            double across = fmin(fmax(isnan(x) ? -1 : x, 0.5), 2.5) - 0.5;
            double along = fmin(fmax(isnan(y) ? -1 : y, 0.5), 2.5) - 0.5;
            assert_near(mf_terrain_height(terrain, x, y, normal), 10 * along + across, 1e-14);
            double slope_x = x >= 0.5 && x <= 2.5 ? 1 : 0, slope_y = y >= 0.5 && y <= 2.5 ? 10 : 0;
            double length = sqrt(1 + slope_x * slope_x + slope_y * slope_y);
            assert_near(normal[0], -slope_x / length, 1e-15);
            assert_near(normal[1], -slope_y / length, 1e-15);
            assert_near(normal[2], 1 / length, 1e-15);
        }
}

// Every float exponent with both signs and some mantissas, infinities, NaNs and subnormals: the
// index is the one that exact arithmetic gives.
TEST(test_every_float_class_has_a_cell) {
    static const uint32_t mantissas[] = {0, 1, 0x400000, 0x7fffff, 0x2aaaaa};
    const uint32_t counts[] = {1, 2, 3, 1000, 1u << 24};
    for (uint32_t exponent = 0; exponent < 512; exponent++)
        for (int m = 0; m < 5; m++)
            for (int c = 0; c < 5; c++) {
                uint32_t bits = exponent << 23 | mantissas[m];
                float position;
                memcpy(&position, &bits, sizeof position);
                double exact = floor((double)position), last = counts[c] - 1.0;
                double expected = !(exact > 0) ? 0 : exact < last ? exact : last;
                assert_true(mf_height_index((double)position, 0, 1, counts[c]) == expected);
                mf_HeightSpan span = mf_height_span((double)position, 0.5, 1, counts[c]);
                assert_true(span.index + span.next < counts[c]);
                assert_true(span.fraction >= 0 && span.fraction <= 1);
            }
}

TEST(test_thin_maps) {
    const double heights[4] = {3, 5, 9, 17};
    for (int mode = 0; mode < 2; mode++) {
        mf_TerrainConfig config = config_of(4, 1);
        config.interpolation = mode == 0 ? MF_NEAREST : MF_BILINEAR;
        AUTO_TERRAIN *wide = terrain_of(*state, &config, heights);
        config.columns = 1;
        config.rows = 4;
        AUTO_TERRAIN *tall = terrain_of(*state, &config, heights);
        config.rows = 1;
        AUTO_TERRAIN *single = terrain_of(*state, &config, heights);
        double normal[3];
        assert_true(mf_terrain_height(wide, 1.5, 77, NULL) == 5);
        assert_true(mf_terrain_height(tall, -77, 1.5, NULL) == 5);
        assert_true(mf_terrain_height(wide, 2.0, 0, NULL) == (mode == 0 ? 9 : 7));
        assert_true(mf_terrain_height(tall, 0, 2.0, NULL) == (mode == 0 ? 9 : 7));
        for (int i = 0; i < PLACES; i++) {
            double height = mf_terrain_height(single, samples[i].position, 0.5, normal);
            assert_true(height == 3 && normal[0] == 0 && normal[1] == 0 && normal[2] == 1);
        }
    }
}

TEST(test_bad_settings) {
    const struct {
        mf_TerrainConfig config;
        mf_Status status;
    } rows[] = {
        {config_of(0, 0), MF_BAD_ARGUMENT},
        {config_of(0, 5), MF_BAD_ARGUMENT},
        {config_of(5, 0), MF_BAD_ARGUMENT},
        {mf_terrain_config(), MF_BAD_ARGUMENT}, // has no size: it must be set
        {config_of(8193, 1), MF_LIMIT},
        {config_of(1, 8193), MF_LIMIT},
        {config_of(UINT32_MAX, UINT32_MAX), MF_LIMIT},
        {WITH(config_of(3, 2), .cell = 0.0), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .cell = -1.0), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .cell = NAN), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .cell = INFINITY), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .cell = 1e-7), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .cell = 1e7), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .origin[0] = INFINITY), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .origin[1] = -INFINITY), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .origin[0] = 1e10), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .origin[1] = -1e10), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .struct_size = sizeof(mf_TerrainConfig) - 1), MF_BAD_ARGUMENT},
        {WITH(config_of(3, 2), .interpolation = (mf_Interpolation)7), MF_BAD_ARGUMENT},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_refused(*state, &rows[i].config, small_map, NULL, rows[i].status);
    const mf_TerrainConfig config = config_of(3, 2);
    check_refused(*state, &config, NULL, NULL, MF_BAD_ARGUMENT);
    check_refused(*state, NULL, small_map, NULL, MF_BAD_ARGUMENT);
    assert_int_equal(mf_terrain_from_array(*state, &config, small_map, NULL, NULL),
                     MF_BAD_ARGUMENT);
}

TEST(test_bad_heights) {
    static const double values[] = {NAN, INFINITY, -INFINITY, 1.0000001e6, -1.0000001e6};
    mf_TerrainConfig config = config_of(3, 2);
    for (int i = 0; i < 5; i++)
        for (int index = 0; index < 6; index++) {
            double heights[6] = {0};
            heights[index] = values[i];
            check_refused(*state, &config, heights, NULL, MF_BAD_ARGUMENT);
        }
    double heights[6] = {1e6, -1e6};
    AUTO_TERRAIN *terrain = terrain_of(*state, &config, heights);
    assert_true(terrain->lowest == -1e6 && terrain->highest == 1e6);

    heights[4] = NAN;
    mf_Terrain *none;
    mf_Error error;
    mf_terrain_from_array(*state, &config, heights, &none, &error);
    assert_non_null(strstr(error.message, "column 1, row 1"));
}

// The hash of a map made from `config` and `heights`.
static uint64_t hash_of(mf_Context *context, const mf_TerrainConfig *config,
                        const double *heights) {
    AUTO_TERRAIN *terrain = terrain_of(context, config, heights);
    return mf_terrain_hash(terrain);
}

TEST(test_hash_covers_all_that_robots_meet) {
    mf_TerrainConfig config = config_of(3, 2), changed[5];
    uint64_t hash = hash_of(*state, &config, small_map);
    assert_true(hash_of(*state, &config, small_map) == hash);
    for (int i = 0; i < 5; i++)
        changed[i] = config;
    changed[0].columns = 2, changed[0].rows = 3; // the same heights in another shape
    changed[1].cell = 2.0;
    changed[2].origin[0] = 1.0;
    changed[3].origin[1] = 1.0;
    changed[4].interpolation = MF_BILINEAR;
    for (int i = 0; i < 5; i++)
        assert_true(hash_of(*state, &changed[i], small_map) != hash);
    double heights[6];
    for (int cell = 0; cell < 6; cell++) {
        memcpy(heights, small_map, sizeof heights);
        heights[cell] = nextafter(heights[cell], 100.0); // too little for a float to notice
        assert_true(hash_of(*state, &config, heights) != hash);
    }
    memcpy(heights, small_map, sizeof heights);
    heights[0] = -0.0; // as high as 0
    assert_true(hash_of(*state, &config, heights) == hash);
}
