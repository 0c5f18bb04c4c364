// Pictures of worlds: depth against the roots of planes and spheres (J9) and against ray queries,
// which have no code in common with it, for all shapes and lenses; owners; the same bits
// everywhere.
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

enum { WIDE = 75, HIGH = 61, PIXELS = WIDE * HIGH };

static float depth[PIXELS];
static int32_t owner[PIXELS][3];
static uint8_t color[PIXELS][3];
static const mf_CameraPixels pixels = {&color[0][0], depth, &owner[0][0]};

static Rig open_rig(mf_Context *context, const char *text, const mf_WorldConfig *config,
                    const mf_Camera *camera) {
    return open_world_of(context, text, config,
                         WITH(mf_group_config(), .isolated = false, .double_precision = true),
                         camera);
}

static mf_Camera camera_of(mf_LensType lens, double view) {
    mf_Camera camera = WITH(mf_camera(), .lens = lens, .width = WIDE, .height = HIGH);
    mf_camera_set_view(&camera, view);
    camera.depth = camera.segmentation = true;
    return camera;
}

static void take(const Rig *rig, const double position[3], const double rotation[4]) {
    MUST(mf_free_camera_take(rig->eye, position, rotation, MF_NONE, 0, &pixels, &error));
}

// ---- closed forms -------------------------------------------------------------------------------

#define BALL                                                                                       \
    "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body pos='3 0.2 1.1'><freejoint/>"       \
    "<geom size='0.5'/></body></worldbody></mujoco>"

// J9: the camera is 1 m above the ground and looks along x.
TEST(planes_and_spheres) {
    const mf_Camera camera = camera_of(MF_LENS_PINHOLE, M_PI / 3);
    const mf_Lens lens = mf_lens_of(&camera);
    const double position[3] = {0.0, 0.0, 1.0}, rotation[4] = {1.0, 0.0, 0.0, 0.0};
    AUTO_RIG rig = open_rig(*state, BALL, NULL, &camera);
    uint32_t seen[3] = {0, 0, 0};
    take(&rig, position, rotation);
    for (int i = 0; i < PIXELS; i++) {
        const double pixel[2] = {i % WIDE, i / WIDE}, c[3] = {3.0, 0.2, 0.1};
        double ray[3], expected = 100.0;
        assert_true(mf_lens_ray(&lens, pixel, ray));
        int kind = 0;
        if (ray[2] < 0.0 && -ray[0] / ray[2] < expected) {
            expected = -ray[0] / ray[2];
            kind = 1;
        }
        const double b = ray[0] * c[0] + ray[1] * c[1] + ray[2] * c[2];
        const double square = b * b - (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) + 0.25;
        if (fabs(square) < 1e-4)
            continue; // on the rim
        if (square > 0.0 && (b - sqrt(square)) * ray[0] < expected) {
            expected = (b - sqrt(square)) * ray[0];
            kind = 2;
        }
        if (!(fabs((double)depth[i] - expected) <= 1e-6 * fmax(1.0, expected)))
            fail_msg("pixel %d, %d: expected %.9g m, got %.9g", i % WIDE, i / WIDE, expected,
                     (double)depth[i]);
        const int32_t groups[3] = {-1, -2, 0}, links[3] = {-1, -1, 0};
        assert_int_equal(owner[i][0], groups[kind]);
        assert_int_equal(owner[i][2], links[kind]);
        seen[kind]++;
    }
    assert_true(seen[0] > 1000 && seen[1] > 1000 && seen[2] > 200);
}

// ---- against ray queries ------------------------------------------------------------------------

// The depth by a query along a ray that is turned a little about the camera; `farthest`: nothing.
static double query(const Rig *rig, const mf_Camera *camera, const double position[3],
                    const double rotation[4], const double ray[3], const double turn[2]) {
    mf_RayConfig config = mf_ray_config();
    mf_RayHit hit;
    const bool straight = camera->lens <= MF_LENS_BROWN;
    double own[3] = {ray[0], ray[1] + turn[0], ray[2] + turn[1]};
    rotate3(rotation, own, config.direction);
    memcpy(config.start, position, sizeof config.start);
    MUST(mf_world_ray(rig->world, &config, &hit, &error));
    const double distance = straight ? hit.distance * ray[0] : hit.distance;
    return hit.hit && distance < camera->farthest ? distance : camera->farthest;
}

// Returns how many pixels were decided by turned rays, because they are at an edge.
static uint32_t compare(const Rig *rig, const mf_Camera *camera, const double position[3],
                        const double rotation[4]) {
    static const double rotations[5][2] = {{0, 0}, {2e-6, 0}, {-2e-6, 0}, {0, 2e-6}, {0, -2e-6}};
    const mf_Lens lens = mf_lens_of(camera);
    uint32_t edges = 0;
    take(rig, position, rotation);
    for (int i = 0; i < PIXELS; i++) {
        const double pixel[2] = {i % WIDE, i / WIDE};
        double ray[3], expected[5];
        if (!mf_lens_ray(&lens, pixel, ray)) {
            assert_int_equal(owner[i][0], -1);
            assert_true(color[i][0] == 0 && color[i][1] == 0 && color[i][2] == 0);
            continue;
        }
        int k = 0;
        for (; k < 5; k++) {
            expected[k] = query(rig, camera, position, rotation, ray, rotations[k]);
            const double tolerance = k == 0 ? 2e-6 * fmax(1.0, expected[k]) : 1e-3 * expected[k];
            // Where the ray grazes a surface, turned ones say how much its angle counts.
            if (fabs((double)depth[i] - expected[k]) <= tolerance)
                break;
        }
        if (k == 5)
            fail_msg("lens %d, pixel %d, %d: depth %.9g, by queries %.9g %.9g %.9g %.9g %.9g",
                     (int)camera->lens, i % WIDE, i / WIDE, (double)depth[i], expected[0],
                     expected[1], expected[2], expected[3], expected[4]);
        edges += k > 0;
    }
    return edges;
}

TEST(all_shapes_and_lenses) {
    static const struct {
        mf_LensType lens;
        double view;
        double coefficients[6];
    } lenses[] = {{MF_LENS_PINHOLE, 1.2, {0}},
                  {MF_LENS_PINHOLE, 2.6, {0}},
                  {MF_LENS_BROWN, 1.2, {-0.2, 0.03, 0.002, -0.003, 0.0}},
                  {MF_LENS_BROWN, 1.6, {-0.3, 0.0, 0.0, 0.0, 0.0}}, // ends within the picture
                  {MF_LENS_ANGLE, 2.0, {0.02, -0.03, 0.001}},
                  {MF_LENS_FISHEYE, 3.4, {-0.01, 0.001}},
                  {MF_LENS_FISHEYE, 6.0, {0}}};
    static const double poses[][7] = {{0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0},
                                      {1.5, 0.3, 1.3, 0.9, 0.1, 0.2, 0.3},
                                      {2.0, -0.1, 2.5, 0.7, 0.1, 0.7, 0.05}};
    for (size_t i = 0; i < sizeof lenses / sizeof *lenses; i++) {
        mf_Camera camera = camera_of(lenses[i].lens, lenses[i].view);
        memcpy(camera.coefficients, lenses[i].coefficients, sizeof camera.coefficients);
        AUTO_RIG rig = open_rig(*state, ALL, NULL, &camera);
        for (size_t p = 0; p < sizeof poses / sizeof *poses; p++) {
            double rotation[4];
            rotation_of(poses[p], rotation);
            const uint32_t edges = compare(&rig, &camera, poses[p], rotation);
            assert_true(edges < PIXELS / 100);
        }
    }
}

// Steps are met where queries meet them; bilinear patches between their two triangles and the
// surface, a quarter of the twist away at most.
TEST(height_maps) {
    mf_Context *context = *state;
    const mf_Camera camera = camera_of(MF_LENS_PINHOLE, 1.2);
    const mf_TerrainGenerator hills = {MF_TERRAIN_NOISE, 0.4, 3.0, 3, 5};
    const double position[3] = {0.1, 0.21, 2.0}, rotation[4] = {0.98, 0.0, 0.199, 0.0};
    const char *ball = "<mujoco><worldbody><body pos='3 0.2 1.1'><freejoint/><geom size='0.1'/>"
                       "</body></worldbody></mujoco>"; // a plane of its own would be met, too
    for (int smooth = 0; smooth < 2; smooth++) {
        AUTO_TERRAIN *terrain = NULL;
        mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 60, .rows = 60, .cell = 0.2,
                                       .interpolation = smooth ? MF_BILINEAR : MF_NEAREST);
        MUST(mf_terrain_generate(context, &config, &hills, &terrain, &error));
        AUTO_RIG rig =
            open_rig(context, ball, &WITH(mf_world_config(), .terrain = terrain), &camera);
        const mf_Lens lens = mf_lens_of(&camera);
        uint32_t compared = 0, far = 0;
        take(&rig, position, rotation);
        for (int i = 0; i < PIXELS; i++) {
            const double pixel[2] = {i % WIDE, i / WIDE}, still[2] = {0.0, 0.0};
            double ray[3];
            assert_true(mf_lens_ray(&lens, pixel, ray));
            const double expected = query(&rig, &camera, position, rotation, ray, still);
            if (owner[i][0] != -2 || expected > 4.0)
                continue;
            compared++;
            far += !(fabs((double)depth[i] - expected) < (smooth ? 0.03 : 1e-5));
        }
        assert_true(compared > 1000);
        assert_true(far <= compared / (smooth ? 50 : 200)); // edges and ridges
    }
}

// No sky shows between a map and the level around it, whatever the heights of its border.
TEST(maps_have_no_gap_around_them) {
    const mf_Camera camera = camera_of(MF_LENS_PINHOLE, 1.2);
    const mf_TerrainGenerator hills = {MF_TERRAIN_NOISE, 1.0, 3.0, 3, 5};
    const char *ball = "<mujoco><worldbody><body pos='3 0.2 9'><freejoint/><geom size='0.1'/>"
                       "</body></worldbody></mujoco>";
    for (int smooth = 0; smooth < 2; smooth++) {
        AUTO_TERRAIN *terrain = NULL;
        mf_TerrainConfig config = WITH(mf_terrain_config(), .columns = 40, .rows = 40, .cell = 0.2,
                                       .interpolation = smooth ? MF_BILINEAR : MF_NEAREST);
        MUST(mf_terrain_generate(*state, &config, &hills, &terrain, &error));
        AUTO_RIG rig =
            open_rig(*state, ball, &WITH(mf_world_config(), .terrain = terrain), &camera);
        const mf_Lens lens = mf_lens_of(&camera);
        for (int k = 0; k < 8; k++) { // all around, 10 degrees downwards
            const double half = k * M_PI / 8, c = cos(0.087), s = sin(0.087);
            const double rotation[4] = {c * cos(half), -s * sin(half), s * cos(half),
                                        c * sin(half)};
            const double position[3] = {0.0, 0.0, 2.5};
            take(&rig, position, rotation);
            for (int i = 0; i < PIXELS; i++) {
                const double pixel[2] = {i % WIDE, i / WIDE};
                double ray[3], direction[3];
                assert_true(mf_lens_ray(&lens, pixel, ray));
                rotate3(rotation, ray, direction);
                if (direction[2] < -0.06)
                    assert_int_equal(owner[i][0], -2);
            }
        }
    }
}

// ---- what is there ------------------------------------------------------------------------------

// Robots of shared groups see each other; one of an isolated group is alone with its group's
// scenery.
TEST(who_is_seen) {
    const mf_Camera camera = camera_of(MF_LENS_PINHOLE, 1.2);
    for (int isolated = 0; isolated < 2; isolated++) {
        AUTO_RIG rig = open_world_of(
            *state, BALL, NULL, WITH(mf_group_config(), .count = 3, .isolated = isolated), &camera);
        for (uint32_t i = 0; i < 3; i++) {
            const double at[3] = {3.0, 1.0 - i, 1.0};
            MUST(mf_group_set_start(rig.group, i, at, NULL, NULL, &error));
        }
        const double position[3] = {0.0, 0.0, 1.0}, rotation[4] = {1.0, 0.0, 0.0, 0.0};
        MUST(mf_free_camera_take(rig.eye, position, rotation, 0, 1, &pixels, &error));
        bool seen[3] = {false, false, false};
        for (int i = 0; i < PIXELS; i++)
            if (owner[i][0] == 0)
                seen[owner[i][1]] = true;
        assert_true(seen[1]);
        assert_true(seen[0] == !isolated && seen[2] == !isolated);
    }
}

TEST(colors_are_of_the_shapes) {
    const mf_Camera camera = camera_of(MF_LENS_PINHOLE, 1.2);
    const double position[3] = {0.0, 0.0, 1.0}, rotation[4] = {1.0, 0.0, 0.0, 0.0};
    AUTO_RIG rig = open_rig(*state,
                            "<mujoco><worldbody><body pos='3 0 1'><freejoint/>"
                            "<geom size='0.5' rgba='1 0 0 1'/></body></worldbody></mujoco>",
                            NULL, &camera);
    take(&rig, position, rotation);
    const uint8_t *middle = color[(HIGH / 2) * WIDE + WIDE / 2], *sky = color[2];
    assert_true(middle[0] > 100 && middle[1] == 0 && middle[2] == 0);
    assert_true(sky[2] > sky[0]);
    // Light comes from above: the upper side of the ball is brighter than its lower one.
    assert_true(color[(HIGH / 2 - 5) * WIDE + WIDE / 2][0] >
                color[(HIGH / 2 + 5) * WIDE + WIDE / 2][0]);
}

static uint64_t hash_of(mf_Context *context, mf_Isa isa) {
    const mf_Camera camera = WITH(camera_of(MF_LENS_BROWN, 1.2), .coefficients[0] = -0.1,
                                  .blur = 0.8, .noise = 0.02, .vignetting = 0.5);
    const double position[3] = {0.1, 0.2, 1.3}, rotation[4] = {1.0, 0.02, 0.1, 0.04};
    AUTO_RIG rig = open_rig(context, ALL, &WITH(mf_world_config(), .isa = isa), &camera);
    take(&rig, position, rotation);
    uint64_t hash = mf_hash_bytes(MF_HASH_START, color, sizeof color);
    hash = mf_hash_bytes(hash, depth, sizeof depth);
    return mf_hash_bytes(hash, owner, sizeof owner);
}

TEST(same_bits_everywhere) {
    const uint64_t expected = hash_of(*state, MF_ISA_AUTO);
    FOR_EACH_ISA (isa)
        assert_true(hash_of(*state, isa) == expected);
}

TEST(refusals) {
    mf_Camera camera = camera_of(MF_LENS_PINHOLE, 1.2);
    const double position[3] = {0.0, 0.0, 1.0}, rotation[4] = {1.0, 0.0, 0.0, 0.0},
                 nowhere[3] = {(double)NAN, 0.0, 0.0}, zeros[4] = {0.0};
    AUTO_RIG rig = open_rig(*state, BALL, NULL, &camera);
    mf_FreeCamera *none = NULL;
    MUST_FAIL(mf_free_camera_take(rig.eye, nowhere, rotation, MF_NONE, 0, &pixels, &error),
              MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_free_camera_take(rig.eye, position, zeros, MF_NONE, 0, &pixels, &error),
              MF_BAD_ARGUMENT, "");
    MUST_FAIL_AS(mf_free_camera_take(rig.eye, position, rotation, 0, 1, &pixels, &error),
                 MF_BAD_ARGUMENT, "mf_free_camera_take: there is no robot 1 in a group 0");
    MUST_FAIL(mf_free_camera_take(rig.eye, position, rotation, 1, 0, &pixels, &error),
              MF_BAD_ARGUMENT, "");
    MUST_FAIL(mf_free_camera_take(NULL, position, rotation, 0, 0, &pixels, &error), MF_BAD_ARGUMENT,
              "");
    camera.bits = 0;
    MUST_FAIL(mf_free_camera_create(rig.world, &camera, &none, &error), MF_BAD_ARGUMENT, "");
    assert_null(none);
}
