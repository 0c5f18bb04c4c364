// Check cases of height maps: planes, interpolation error, borders.
#include <math.h>

#include "check.h"

// C6. A plane is reproduced: heights and normals of a bilinear slope of 30 degrees against z = x
// tan(30 deg), normal (-sin, 0, cos) = (-1/2, 0, sqrt(3)/2).
static void check_plane(mf_CheckRun *run) {
    mf_TerrainConfig config = mf_terrain_config();
    config.columns = config.rows = 101;
    config.interpolation = MF_BILINEAR;
    mf_TerrainGenerator slope = {
        .shape = MF_TERRAIN_SLOPE, .amplitude = 0.52359877559829887, .wavelength = 1.0};
    mf_Terrain *terrain;
    mf_check_must(run, mf_terrain_generate(run->context, &config, &slope, &terrain, &run->error));
    double height_error = 0.0, normal_error = 0.0, normal[3];
    for (int i = 0; i <= 400; i++) {
        double x = -4.0 + 0.02 * i, y = 3.0 - 0.013 * i;
        double height = mf_terrain_height(terrain, x, y, normal);
        height_error = fmax(height_error, fabs(height - 0.57735026918962576 * x));
        normal_error = fmax(normal_error, fabs(normal[0] + 0.5));
        normal_error = fmax(normal_error, fabs(normal[1]));
        normal_error = fmax(normal_error, fabs(normal[2] - 0.86602540378443865));
    }
    mf_check_below(run, "largest height error, 401 positions [m]", 1e-12, height_error);
    mf_check_below(run, "largest error of the normal [1]", 1e-12, normal_error);
    mf_terrain_destroy(terrain);
}

// Largest error of a bilinear map of sin(x) cos(y) with that cell [m].
static double wave_error(mf_CheckRun *run, double cell) {
    mf_TerrainConfig config = mf_terrain_config();
    config.columns = config.rows = (uint32_t)(8.0 / cell + 0.5);
    config.cell = cell;
    config.interpolation = MF_BILINEAR;
    mf_TerrainGenerator wave = {
        .shape = MF_TERRAIN_SINE, .amplitude = 1.0, .wavelength = 6.2831853071795865};
    mf_Terrain *terrain;
    mf_check_must(run, mf_terrain_generate(run->context, &config, &wave, &terrain, &run->error));
    double worst = 0.0;
    for (int i = 0; i <= 600; i++) {
        for (int j = 0; j <= 600; j++) {
            double x = -3.0 + 0.01 * i, y = -3.0 + 0.01 * j;
            double height = mf_terrain_height(terrain, x, y, NULL);
            worst = fmax(worst, fabs(height - sin(x) * cos(y)));
        }
    }
    mf_terrain_destroy(terrain);
    return worst;
}

// C7. The classical bound h^2/8 (max|f_xx| + max|f_yy|) of bilinear interpolation; for
// sin(x) cos(y) both maxima are 1, so the bound is h^2/4. Halving h quarters the error.
static void check_smooth(mf_CheckRun *run) {
    const double coarse = wave_error(run, 0.1), fine = wave_error(run, 0.05);
    mf_check_below(run, "largest error, cell 0.1 m [m]", 0.0025, coarse);
    mf_check_below(run, "largest error, cell 0.05 m [m]", 0.000625, fine);
    mf_check_near(run, "ratio when the cell is halved [1]", 4.0, coarse / fine, 0.2);
}

// C8. Outside the map the border value applies, for any number; NaN counts as 0; maps of one row
// are valid and empty maps are rejected.
static void check_borders(mf_CheckRun *run) {
    static const double heights[3] = {1.0, 2.0, 4.0};
    mf_TerrainConfig config = mf_terrain_config();
    config.columns = 3;
    config.rows = 1;
    config.interpolation = MF_NEAREST;
    config.cell = 1.0;
    config.origin[0] = config.origin[1] = 0.0;
    mf_Terrain *terrain;
    mf_check_must(run,
                  mf_terrain_from_array(run->context, &config, heights, &terrain, &run->error));
    mf_check_near(run, "3 x 1 map at x = 1.5 [m]", 2.0, mf_terrain_height(terrain, 1.5, 9.0, NULL),
                  0.0);
    mf_check_near(run, "at x = 1e30 [m]", 4.0, mf_terrain_height(terrain, 1e30, -1e30, NULL), 0.0);
    mf_check_near(run, "at x = -infinity [m]", 1.0,
                  mf_terrain_height(terrain, -INFINITY, INFINITY, NULL), 0.0);
    mf_check_near(run, "at x = NaN, read as 0 [m]", 1.0, mf_terrain_height(terrain, NAN, NAN, NULL),
                  0.0);
    mf_terrain_destroy(terrain);
    static const double bad[1] = {NAN};
    config.columns = 1;
    mf_check_near(run, "a NaN height is rejected: status", MF_BAD_ARGUMENT,
                  mf_terrain_from_array(run->context, &config, bad, &terrain, NULL), 0.0);
    config.columns = 0;
    mf_check_near(run, "a 0 x 1 map is rejected: status", MF_BAD_ARGUMENT,
                  mf_terrain_from_array(run->context, &config, heights, &terrain, NULL), 0.0);
}

const mf_CheckCase mf_check_terrain_cases[] = {
    {"C6", "a plane as height map: heights and normals", check_plane},
    {"C7", "bilinear error on smooth ground, order 2", check_smooth},
    {"C8", "borders, one row, no row, NaN and infinity", check_borders},
    {NULL, NULL, NULL}};
