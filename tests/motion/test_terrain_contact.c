// C7 and C8 for the motion: feet on a smooth map stand at the height of the map within its error;
// positions far outside, infinite or not a number give a fault or the border's height, never
// undefined behavior (run under the sanitizers, which trap a float that does not fit an integer).
#include "motion/rig.h"

static const double pi = 3.14159265358979323846;

// Height at which one massive point comes to rest on sin(x) cos(y) of cell h, at a position where
// the surface is level (x = pi/2, y = 0), by a map whose cells do not meet that place.
static double rest_height(double cell) {
    AUTO_RIG rig = rig_begin(1);
    mf_hand_point(rig.hand, 0, 0, 0, 0, 1.0, true);
    mf_Terrain *terrain;
    mf_TerrainConfig map = mf_terrain_config();
    map.columns = map.rows = (uint32_t)(6.0 / cell + 0.5);
    map.cell = cell;
    map.interpolation = MF_BILINEAR;
    map.origin[0] = pi / 2 - 3.0; // so that x = pi/2 lies on a corner between four cell centers
    map.origin[1] = -3.0;
    mf_TerrainGenerator wave = {
        .shape = MF_TERRAIN_SINE, .amplitude = 1.0, .wavelength = 2 * pi, .octaves = 1};
    MUST(mf_terrain_generate(rig.context, &map, &wave, &terrain, &error));
    points_open(&rig, WITH(points_config(true), .world.terrain = terrain));
    rig_set3(&rig, "base.position", pi / 2, 0.0, 1.0);
    mf_world_step(rig.world, 300);
    assert_near(rig_get(&rig, "point.load", 0), 9.81, 1e-6);
    // The contact gives way by load/stiffness = m g / (m / (0.1 h^2)) = 9.81e-5 m.
    double height = rig_get(&rig, "base.position", 2) + 9.81e-5;
    rig.terrain = terrain;
    return height;
}

// C7. The error is at most h^2/8 (max|f_xx| + max|f_yy|) = h^2/4, here nearly reached, and falls to
// a quarter when the cell is halved.
TEST(c7_standing_on_a_smooth_map) {
    double coarse = 1.0 - rest_height(0.1), fine = 1.0 - rest_height(0.05);
    assert_true(coarse > 0 && coarse <= 0.1 * 0.1 / 4);
    assert_true(fine > 0 && fine <= 0.05 * 0.05 / 4);
    assert_near(coarse / fine, 4.0, 0.05);
}

// C8. Positions from the border to 1e30, infinite and NaN, in every position, on maps of 1 cell, 1
// x N and N x N, nearest and bilinear, in both precisions.
TEST(c8_any_position_is_defined) {
    static const double positions[] = {6.39, 6.4,   6.41, -6.4,  1e3, 1e7,      -1e7,
                                       1e30, -1e30, 3e38, 1e300, NAN, INFINITY, -INFINITY};
    static const uint32_t sizes[][2] = {{1, 1}, {1, 128}, {128, 1}, {128, 128}};
    enum { PLACES = sizeof positions / sizeof *positions };
    for (int option = 0; option < 16; option++) {
        AUTO_RIG rig = rig_begin(1);
        make_hexapod(rig.hand);
        mf_Terrain *terrain;
        mf_TerrainConfig map =
            WITH(mf_terrain_config(), .columns = sizes[option / 4][0], .rows = sizes[option / 4][1],
                 .interpolation = option & 1 ? MF_BILINEAR : MF_NEAREST);
        mf_TerrainGenerator noise = {
            .shape = MF_TERRAIN_NOISE, .amplitude = 0.1, .wavelength = 1, .octaves = 3};
        MUST(mf_terrain_generate(rig.context, &map, &noise, &terrain, &error));
        points_open(&rig, WITH(points_config((option & 2) != 0), .world.terrain = terrain,
                               .group.count = 3 * PLACES));
        mf_Field *position = rig_field(&rig, "base.position");
        for (uint32_t i = 0; i < 3 * PLACES; i++)
            mf_field_set(position, i, i % 3, positions[i / 3]);
        mf_world_step(rig.world, 20);
        for (uint32_t i = 0; i < 3 * PLACES; i++) {
            double point = positions[i / 3];
            uint32_t fault = mf_group_fault(rig.group, i);
            // What float cannot hold is infinite there.
            bool finite = isfinite(option & 2 ? point : (double)(float)point);
            uint32_t expected = !finite              ? MF_FAULT_NONFINITE
                                : fabs(point) >= 1e6 ? MF_FAULT_RANGE
                                                     : 0u;
            if (expected == MF_FAULT_RANGE && fault == (MF_FAULT_RANGE | MF_FAULT_NONFINITE))
                continue; // so far out that its velocities overflow, too
            if (expected == MF_FAULT_RANGE && fault == MF_FAULT_NONFINITE)
                continue;
            if (fault != expected)
                fail_msg("option %d: %g in component %u: fault %u, expected %u", option, point,
                         i % 3, fault, expected);
            for (uint32_t c = 0; c < 3 && expected == 0; c++)
                assert_true(isfinite(mf_field_get(position, i, c)));
        }
        rig.terrain = terrain;
    }
}
