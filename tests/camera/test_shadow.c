// Shadows against the closed form of a ball over level ground and against ray queries, which have
// no code in common with them, for all shapes; and colors that are means of several rays.
#include "support.h"

GROUP_FIXTURE(make_context, drop_context);

enum { WIDE = 75, HIGH = 61, PIXELS = WIDE * HIGH, MOST = 4 };

static const double sun[3] = {0.36, 0.48, 0.8}; // towards it, of length 1

typedef struct Shot {
    float depth[PIXELS];
    int32_t owner[PIXELS][3];
    uint8_t color[PIXELS][3];
} Shot;

static Rig open_rig(mf_Context *context, const char *text) {
    return open_world_of(context, text, NULL,
                         WITH(mf_group_config(), .isolated = false, .double_precision = true),
                         NULL);
}

static mf_Camera camera_of(bool shadows, uint32_t samples) {
    mf_Camera camera = WITH(mf_camera(), .width = WIDE, .height = HIGH);
    mf_camera_set_view(&camera, 1.0);
    camera.depth = camera.segmentation = true;
    camera.shadows = shadows;
    camera.samples = samples;
    return camera;
}

static void take(const Rig *rig, const mf_Camera *camera, const double position[3],
                 const double rotation[4], const mf_CameraPixels *pixels) {
    mf_FreeCamera *eye;
    MUST(mf_free_camera_create(rig->world, camera, &eye, &error));
    MUST(mf_free_camera_take(eye, position, rotation, MF_NONE, 0, pixels, &error));
    mf_free_camera_destroy(eye);
}

static void shoot(const Rig *rig, const mf_Camera *camera, const double position[3],
                  const double rotation[4], Shot *out) {
    const mf_CameraPixels pixels = {&out->color[0][0], out->depth, &out->owner[0][0]};
    take(rig, camera, position, rotation, &pixels);
}

// What a pixel of a pinhole sees, in the world.
static void point_of(const mf_Camera *camera, int pixel, double depth, const double position[3],
                     const double rotation[4], double out[3]) {
    const double ray[3] = {1.0, -(pixel % WIDE - camera->center[0]) / camera->focal[0],
                           -(pixel / WIDE - camera->center[1]) / camera->focal[1]};
    rotate3(rotation, ray, out);
    for (int c = 0; c < 3; c++)
        out[c] = position[c] + depth * out[c];
}

static bool is_darker(const Shot *shadows, const Shot *none, int pixel) {
    int sum[2] = {0, 0};
    for (int c = 0; c < 3; c++) {
        sum[0] += shadows->color[pixel][c];
        sum[1] += none->color[pixel][c];
    }
    assert_true(sum[0] <= sum[1]);
    return sum[0] + 3 < sum[1];
}

// A point of the ground is in the shadow where the line towards the light passes the ball's center
// within its radius.
TEST(a_ball_over_level_ground) {
    const mf_Camera with = camera_of(true, 1), without = camera_of(false, 1);
    const double position[3] = {0.0, 0.0, 2.0}, rotation[4] = {0.97, 0.0, 0.24310491562286437, 0.0};
    const double center[3] = {3.0, 0.2, 1.1};
    AUTO(end_memory) Shot *lit = malloc(sizeof *lit), *dark = malloc(sizeof *dark);
    AUTO_RIG rig = open_rig(
        *state, "<mujoco><worldbody><geom type='plane' size='0 0 1'/><body pos='3 0.2 1.1'>"
                "<freejoint/><geom size='0.5'/></body></worldbody></mujoco>");
    uint32_t seen[2] = {0, 0};
    assert_true(lit != NULL && dark != NULL);
    shoot(&rig, &with, position, rotation, dark);
    shoot(&rig, &without, position, rotation, lit);
    assert_memory_equal(dark->depth, lit->depth, sizeof dark->depth);
    for (int i = 0; i < PIXELS; i++) {
        double point[3], along = 0.0, square = 0.0;
        if (dark->owner[i][0] != -2)
            continue;
        point_of(&with, i, (double)dark->depth[i], position, rotation, point);
        assert_true(fabs(point[2]) < 1e-4);
        for (int c = 0; c < 3; c++)
            along += (center[c] - point[c]) * sun[c];
        for (int c = 0; c < 3; c++) {
            const double arm = center[c] - point[c] - along * sun[c];
            square += arm * arm;
        }
        if (fabs(sqrt(square) - 0.5) < 1e-4)
            continue; // the rim
        const bool expected = square < 0.25;
        if (is_darker(dark, lit, i) != expected)
            fail_msg("pixel %d, %d: %g m from the ball's center", i % WIDE, i / WIDE, sqrt(square));
        seen[expected]++;
    }
    assert_true(seen[0] > 1000 && seen[1] > 50);
}

// ---- against ray queries ------------------------------------------------------------------------

static mf_RayHit query(const Rig *rig, const double from[3], const double direction[3]) {
    mf_RayConfig config = mf_ray_config();
    mf_RayHit hit;
    memcpy(config.start, from, sizeof config.start);
    memcpy(config.direction, direction, sizeof config.direction);
    MUST(mf_world_ray(rig->world, &config, &hit, &error));
    return hit;
}

// 1: the light is hidden, 0: it is not, -1: at an edge, where turned rays disagree.
static int hidden(const Rig *rig, const double point[3], const double normal[3]) {
    static const double rotation[5][3] = {
        {0, 0, 0}, {0.004, 0, 0}, {-0.004, 0, 0}, {0, 0.004, 0}, {0, -0.004, 0}};
    int first = -1;
    for (int k = 0; k < 5; k++) {
        double from[3], direction[3];
        for (int c = 0; c < 3; c++) {
            direction[c] = sun[c] + rotation[k][c];
            from[c] = point[c] + 1e-3 * (direction[c] + normal[c]);
        }
        const int hit = query(rig, from, direction).hit;
        if (k > 0 && hit != first)
            return -1;
        first = hit;
    }
    return first;
}

TEST(all_shapes) {
    static const double poses[][7] = {{-0.5, -1.0, 1.6, 0.94, -0.03, 0.17, 0.25},
                                      {4.5, -0.5, 2.0, 0.15, -0.2, 0.0, 0.95},
                                      {2.0, -0.1, 3.5, 0.7, 0.1, 0.7, 0.05}};
    const mf_Camera with = camera_of(true, 1), without = camera_of(false, 1);
    AUTO(end_memory) Shot *lit = malloc(sizeof *lit), *dark = malloc(sizeof *dark);
    AUTO_RIG rig = open_rig(*state, ALL);
    uint32_t seen[2][2] = {{0, 0}, {0, 0}}; // [on a robot][hidden]
    assert_true(lit != NULL && dark != NULL);
    for (size_t p = 0; p < sizeof poses / sizeof *poses; p++) {
        double rotation[4];
        rotation_of(poses[p], rotation);
        shoot(&rig, &with, poses[p], rotation, dark);
        shoot(&rig, &without, poses[p], rotation, lit);
        for (int i = 0; i < PIXELS; i++) {
            double point[3], direction[3];
            if (dark->owner[i][0] == -1 || dark->depth[i] > 20.0f)
                continue;
            point_of(&with, i, (double)dark->depth[i], poses[p], rotation, point);
            for (int c = 0; c < 3; c++)
                direction[c] = point[c] - poses[p][c];
            const mf_RayHit hit = query(&rig, poses[p], direction);
            double cosine = 0.0, apart = 0.0;
            for (int c = 0; c < 3; c++) {
                cosine += hit.normal[c] * sun[c];
                apart += fabs(hit.point[c] - point[c]);
            }
            if (!hit.hit || apart > 1e-3 || cosine < 0.1)
                continue; // an edge, or away from the light
            const int expected = hidden(&rig, point, hit.normal);
            if (expected < 0)
                continue;
            if (is_darker(dark, lit, i) != (expected == 1))
                fail_msg("place %zu, pixel %d, %d: expected %s", p, i % WIDE, i / WIDE,
                         expected ? "shadow" : "light");
            seen[dark->owner[i][0] == 0][expected]++;
        }
    }
    for (int k = 0; k < 4; k++)
        assert_true(seen[k / 2][k % 2] > 100);
}

// ---- several rays per pixel ---------------------------------------------------------------------

// The picture is the mean of a picture of so many times the columns and rows; depth and owners are
// those of the pixels' centers.
TEST(colors_are_means) {
    static uint8_t fine[PIXELS * MOST * MOST][3];
    const double position[3] = {-0.5, 0.1, 1.6}, rotation[4] = {0.98, 0.0, 0.199, 0.0};
    const mf_Camera single = camera_of(true, 1);
    AUTO(end_memory) Shot *one = malloc(sizeof *one), *many = malloc(sizeof *many);
    AUTO_RIG rig = open_rig(*state, ALL);
    assert_true(one != NULL && many != NULL);
    shoot(&rig, &single, position, rotation, one);
    for (uint32_t n = 2; n <= MOST; n++) {
        const mf_Camera camera = camera_of(true, n);
        const mf_CameraPixels pixels = {&fine[0][0], NULL, NULL};
        mf_Camera larger = camera_of(true, 1);
        larger.width *= n;
        larger.height *= n;
        for (int i = 0; i < 2; i++) {
            larger.focal[i] *= n;
            larger.center[i] = n * (larger.center[i] + 0.5) - 0.5;
        }
        shoot(&rig, &camera, position, rotation, many);
        take(&rig, &larger, position, rotation, &pixels);
        assert_memory_equal(many->depth, one->depth, sizeof one->depth);
        assert_memory_equal(many->owner, one->owner, sizeof one->owner);
        for (uint32_t i = 0; i < PIXELS; i++)
            for (int c = 0; c < 3; c++) {
                double sum = 0.0;
                for (uint32_t k = 0; k < n * n; k++)
                    sum += fine[(i / WIDE * n + k / n) * WIDE * n + i % WIDE * n + k % n][c];
                assert_true(fabs(many->color[i][c] - sum / (n * n)) <= 1.01);
            }
    }
    assert_memory_not_equal(many->color, one->color, sizeof one->color);
}

// A wall along x of height 1 at y = 3: its shadow on the level behind it is as long as the light's
// way over its top, 0.48 / 0.8. And a ball in that shadow is dark, one above it is not.
TEST(hills_shade) {
    enum { SIDE = 81 };
    static double heights[SIDE * SIDE];
    const double cell = 0.1, eye[3] = {4.0, 2.0, 6.0},
                 down[4] = {0.70710678118654752, 0.0, 0.70710678118654752, 0.0};
    mf_Camera camera = camera_of(true, 1);
    AUTO_TERRAIN *terrain;
    static Shot shot, none;
    mf_TerrainConfig shape =
        WITH(mf_terrain_config(), .columns = SIDE, .rows = SIDE, .cell = cell,
             .origin[0] = -0.5 * cell, .origin[1] = -0.5 * cell, .interpolation = MF_BILINEAR);
    for (int i = 0; i < SIDE * SIDE; i++)
        heights[i] = i / SIDE == 30 ? 1.0 : 0.0;
    MUST(mf_terrain_from_array(*state, &shape, heights, &terrain, &error));
    AUTO_RIG rig = open_world_of(*state,
                                 "<mujoco><worldbody><body pos='4 2.8 .2'><freejoint/>"
                                 "<geom size='.15'/></body></worldbody></mujoco>",
                                 &WITH(mf_world_config(), .terrain = terrain),
                                 WITH(mf_group_config(), .isolated = false), NULL);
    shoot(&rig, &camera, eye, down, &shot);
    camera.shadows = false;
    shoot(&rig, &camera, eye, down, &none);
    int dark = 0, lit = 0;
    for (int i = 0; i < PIXELS; i++) {
        double at[3];
        point_of(&camera, i, (double)shot.depth[i], eye, down, at);
        const double behind = 3.0 - at[1];
        if (shot.owner[i][0] == 0) { // the ball is below the light's way
            assert_true(is_darker(&shot, &none, i) ||
                        shot.color[i][0] == none.color[i][0]); // its own dark side
            dark += is_darker(&shot, &none, i);
            continue;
        }
        if (fabs(at[2]) > 1e-3 || behind < 0.15 || fabs(behind - 0.6) < 0.05)
            continue;
        // The ball's own shadow is within that of the wall.
        assert_int_equal(is_darker(&shot, &none, i), behind < 0.6);
        dark += behind < 0.6;
        lit += behind > 0.6;
    }
    if (dark < 150 || lit < 1000)
        fail_msg("%d dark and %d lit pixels", dark, lit);
}
