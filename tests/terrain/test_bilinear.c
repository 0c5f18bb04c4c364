// Bilinear look-up, check case C7: against a smooth surface the error is at most
// h^2/8 (max |f_xx| + max |f_yy|) (the one-dimensional bound of linear interpolation, e.g. Suli and
// Mayers, An Introduction to Numerical Analysis, 2003, theorem 6.2, applied to each axis), and a
// quarter when h halves; normals against the analytic derivative.
#include "support.h"

GROUP_FIXTURE(setup_context, teardown_context);

#define SIDE 4.0 // [m] of the square map

typedef struct Surface {
    double (*height)(double x, double y);
    void (*gradient)(double x, double y, double out[2]);
    double bend_xx, bend_yy; // [1/m] bounds of |f_xx|, |f_yy|
} Surface;

static double wave_height(double x, double y) {
    return sin(2 * x) * cos(3 * y);
}

static void wave_gradient(double x, double y, double out[2]) {
    out[0] = 2 * cos(2 * x) * cos(3 * y);
    out[1] = -3 * sin(2 * x) * sin(3 * y);
}

static double bowl_height(double x, double y) {
    return 0.5 * x * x - 0.25 * y * y;
}

static void bowl_gradient(double x, double y, double out[2]) {
    out[0] = x;
    out[1] = -0.5 * y;
}

static const Surface wave = {wave_height, wave_gradient, 4, 9};
static const Surface bowl = {bowl_height, bowl_gradient, 1, 0.5};

static mf_Terrain *sampled(mf_Context *context, const Surface *surface, uint32_t count) {
    mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = count, .rows = count,
                                   .cell = SIDE / count, .interpolation = MF_BILINEAR);
    AUTO(end_memory) double *heights = malloc(sizeof *heights * count * count);
    for (uint32_t row = 0; row < count; row++)
        for (uint32_t column = 0; column < count; column++)
            heights[row * count + column] = surface->height(
                -SIDE / 2 + (column + 0.5) * config.cell, -SIDE / 2 + (row + 0.5) * config.cell);
    return terrain_of(context, &config, heights);
}

typedef struct Worst {
    double height; // [m]
    double slope;  // [1]
} Worst;

// Largest errors over points that hit cell corners, centers and places between, inside the
// outermost centers.
static Worst worst_error(mf_Context *context, const Surface *surface, uint32_t count) {
    AUTO_TERRAIN *terrain = sampled(context, surface, count);
    // A hair less, so that rounding puts no point outside, where the slope is 0.
    double inside = (SIDE / 2 - 0.5 * terrain->cell) * (1 - 1e-12);
    Worst worst = {0, 0};
    const int points = 611;
    for (int i = 0; i <= points; i++)
        for (int j = 0; j <= points; j++) {
            double x = -inside + 2 * inside * i / points, y = -inside + 2 * inside * j / points;
            double normal[3], gradient[2];
            double error = fabs(mf_terrain_height(terrain, x, y, normal) - surface->height(x, y));
            assert_near(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2], 1,
                        1e-14);
            surface->gradient(x, y, gradient);
            double slope = fmax(fabs(-normal[0] / normal[2] - gradient[0]),
                                fabs(-normal[1] / normal[2] - gradient[1]));
            worst.height = fmax(worst.height, error);
            worst.slope = fmax(worst.slope, slope);
        }
    return worst;
}

static void check_bound(mf_Context *context, const Surface *surface, double least_share) {
    double previous_height = 0, previous_slope = 0;
    for (uint32_t count = 20; count <= 160; count *= 2) {
        double h = SIDE / count;
        double bound = h * h / 8 * (surface->bend_xx + surface->bend_yy);
        Worst worst = worst_error(context, surface, count);
        assert_true(worst.height <= bound * (1 + 1e-9));
        assert_true(worst.height >= least_share * bound); // the bound is the right size, too
        if (count > 20) {
            // Both are reached at sampled points only, hence the margins.
            assert_near(previous_height / worst.height, 4, 0.25);
            assert_near(previous_slope / worst.slope, 2, 0.2);
        }
        previous_height = worst.height;
        previous_slope = worst.slope;
    }
}

TEST(test_error_bound_and_order_of_waves) {
    check_bound(*state, &wave, 0.7);
}

// On x^2/2 - y^2/4 the bends have opposite sign: the worst error is h^2/8 * 1, of h^2/8 * 1.5.
TEST(test_error_bound_and_order_of_a_saddle) {
    check_bound(*state, &bowl, 0.6);
}

// A bilinear function a + bx + cy + dxy is its own interpolant, with the exact derivative.
TEST(test_bilinear_functions_are_exact) {
    mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 7, .rows = 5, .cell = 0.5,
                                   .origin[0] = -1, .origin[1] = 2, .interpolation = MF_BILINEAR);
    double heights[35];
    for (int row = 0; row < 5; row++)
        for (int column = 0; column < 7; column++) {
            double x = -1 + (column + 0.5) * 0.5, y = 2 + (row + 0.5) * 0.5;
            heights[row * 7 + column] = 1 + 2 * x - 3 * y + 0.5 * x * y;
        }
    AUTO_TERRAIN *terrain = terrain_of(*state, &config, heights);
    for (int i = 0; i <= 100; i++)
        for (int j = 0; j <= 100; j++) {
            double x = -0.75 + 3.0 * i / 100, y = 2.25 + 2.0 * j / 100, normal[3];
            double height = mf_terrain_height(terrain, x, y, normal);
            assert_near(height, 1 + 2 * x - 3 * y + 0.5 * x * y, 1e-13);
            assert_near(-normal[0] / normal[2], 2 + 0.5 * y, 1e-12);
            assert_near(-normal[1] / normal[2], -3 + 0.5 * x, 1e-12);
        }
}

// No step at cell borders, and outside the map the border value goes on.
TEST(test_surface_is_continuous) {
    AUTO_TERRAIN *terrain = sampled(*state, &wave, 16);
    double steepest = 3.7, tiny = 1e-9; // [1], [m]; |grad| <= sqrt(4 + 9)
    for (int i = -5; i <= 21; i++)
        for (int j = -50; j <= 210; j++) {
            double border = -SIDE / 2 + (i + 0.5) * terrain->cell;
            double other = -SIDE / 2 + 0.1 * j * terrain->cell;
            double step = mf_terrain_height(terrain, border + tiny, other, NULL) -
                          mf_terrain_height(terrain, border - tiny, other, NULL);
            assert_true(fabs(step) <= 2 * tiny * steepest);
            step = mf_terrain_height(terrain, other, border + tiny, NULL) -
                   mf_terrain_height(terrain, other, border - tiny, NULL);
            assert_true(fabs(step) <= 2 * tiny * steepest);
        }
    double edge = mf_terrain_height(terrain, SIDE / 2, 0.3, NULL);
    assert_true(mf_terrain_height(terrain, 1e30, 0.3, NULL) == edge);
}

// Flat ground of any height is exactly flat.
TEST(test_flat_stays_exact) {
    mf_TerrainConfig config =
        WITH(mf_terrain_config(), .columns = 4, .rows = 4, .interpolation = MF_BILINEAR);
    double heights[16];
    for (int i = 0; i < 16; i++)
        heights[i] = 0.1;
    AUTO_TERRAIN *terrain = terrain_of(*state, &config, heights);
    for (int i = -60; i <= 60; i++) {
        double normal[3];
        assert_true(mf_terrain_height(terrain, i / 77.0, i / 91.0, normal) == 0.1);
        assert_true(normal[0] == 0 && normal[1] == 0 && normal[2] == 1);
    }
}
