// Textures in pictures against the closed form of where they lie: on the ground, on cubes around
// shapes, by the coordinates of meshes; their mean far away; colors of groups; the same bits
// everywhere.
#include "support.h"
#include "world/group.h"

GROUP_FIXTURE(make_context, drop_context);

enum { WIDE = 80, HIGH = 60, PIXELS = WIDE * HIGH };

static float depth[PIXELS];
static int32_t owner[PIXELS][3];
static uint8_t color[PIXELS][3];
static const mf_CameraPixels pixels = {&color[0][0], depth, &owner[0][0]};

static Rig open_rig(mf_Context *context, const char *text, mf_Isa isa, const float *tint) {
    mf_Camera camera = WITH(mf_camera(), .width = WIDE, .height = HIGH, .depth = true,
                            .segmentation = true, .shadows = false);
    mf_camera_set_view(&camera, 1.0);
    Rig rig = open_world_of(context, text, &WITH(mf_world_config(), .isa = isa),
                            WITH(mf_group_config(), .isolated = false), NULL);
    rig.camera = camera;
    mf_group_set_tint(rig.group, tint); // before the camera looks at it
    MUST(mf_free_camera_create(rig.world, &camera, &rig.eye, &error));
    return rig;
}

static void take(const Rig *rig, double x, double y, double z, double yaw, double pitch) {
    const double position[3] = {x, y, z};
    const double a = 0.5 * yaw, b = 0.5 * pitch; // yaw about z, then pitch about y, downwards
    const double rotation[4] = {cos(a) * cos(b), -sin(a) * sin(b), cos(a) * sin(b),
                                sin(a) * cos(b)};
    MUST(mf_free_camera_take(rig->eye, position, rotation, MF_NONE, 0, &pixels, &error));
}

// What the pixel of a camera at (x, y, z) sees, in the world.
static void point_of(const Rig *rig, int pixel, const double eye[3], double yaw, double pitch,
                     double out[3]) {
    const double across = -(pixel % WIDE - rig->camera.center[0]) / rig->camera.focal[0];
    const double up = -(pixel / WIDE - rig->camera.center[1]) / rig->camera.focal[1];
    const double ahead = cos(pitch) + up * sin(pitch), rise = up * cos(pitch) - sin(pitch);
    const double d = (double)depth[pixel];
    out[0] = eye[0] + d * (ahead * cos(yaw) - across * sin(yaw));
    out[1] = eye[1] + d * (ahead * sin(yaw) + across * cos(yaw));
    out[2] = eye[2] + d * rise;
}

static bool is_near(const uint8_t found[3], double red, double green, double blue,
                    double tolerance) {
    return fabs(found[0] - red) <= tolerance && fabs(found[1] - green) <= tolerance &&
           fabs(found[2] - blue) <= tolerance;
}

// A checker of red and blue at the place (u, v): whether it is red, or near an edge (-1).
static int is_red(double u, double v, double margin) {
    const double part[2] = {u - floor(u), v - floor(v)};
    for (int k = 0; k < 2; k++)
        if (fabs(part[k] - 0.5) < margin || part[k] < margin || part[k] > 1.0 - margin)
            return -1;
    return (part[0] < 0.5) == (part[1] < 0.5);
}

#define CHECKER                                                                                    \
    "<texture name='t' type='2d' builtin='checker' rgb1='1 0 0' rgb2='0 0 1' width='64' "          \
    "height='64'/>"

// Two meters for each of the two repeats: fields of half a meter along x, of 1 m along y.
TEST(ground_has_the_look_of_its_plane) {
    AUTO_RIG rig =
        open_rig(*state,
                 "<mujoco><asset>" CHECKER
                 "<material name='m' texture='t' texrepeat='2 1' texuniform='true'/></asset>"
                 "<worldbody><geom type='plane' size='0 0 1' material='m'/><body pos='9 9 9'>"
                 "<freejoint/><geom size='.1'/></body></worldbody></mujoco>",
                 MF_ISA_AUTO, NULL);
    const double eye[3] = {0.3, -0.2, 2.0};
    int checked = 0;
    take(&rig, eye[0], eye[1], eye[2], 0.3, 1.2);
    for (int i = 0; i < PIXELS; i++) {
        double at[3];
        point_of(&rig, i, eye, 0.3, 1.2, at);
        if (owner[i][0] != -2)
            continue;
        assert_true(fabs(at[2]) < 1e-3);
        const int red = is_red(at[0] - 0.5, -0.5 * at[1] - 0.5, 0.1);
        if (red >= 0 && !is_near(color[i], red ? 255 : 0, 0, red ? 0 : 255, 2.0))
            fail_msg("pixel %d at %g %g: %d %d %d", i, at[0], at[1], color[i][0], color[i][1],
                     color[i][2]);
        checked += red >= 0;
    }
    assert_true(checked > PIXELS / 3);
    // Far away a pixel covers many fields.
    take(&rig, 0.0, 0.0, 0.5, 0.3, 0.0);
    const int row = HIGH / 2 + 1;
    assert_true(owner[row * WIDE][0] == -2);
    for (int x = 0; x < WIDE; x++)
        assert_true(is_near(color[row * WIDE + x], 127.5, 0.0, 127.5, 30.0));
}

// The lower face of a plain cube, the fourth, has the second color: that is the direction -y, which
// of a shape that is scaled to a cube or a ball is the longest part of a point's coordinates.
TEST(cubes_are_seen_by_direction) {
    static const double half[2][3] = {{0.3, 0.3, 0.3}, {0.4, 0.2, 0.3}};
    static const char *const shapes[2] = {"type='sphere' size='.3'", "type='box' size='.4 .2 .3'"};
    for (int s = 0; s < 2; s++) {
        AUTO_RIG rig = open_rig(
            *state,
            formatted(
                "<mujoco><asset><texture name='t' builtin='flat' rgb1='1 0 0' rgb2='0 0 1' "
                "width='8'/><material name='m' texture='t' emission='1'/></asset><worldbody>"
                "<geom %s pos='0 0 1' material='m' contype='0' conaffinity='0'/><body pos='9 9 9'>"
                "<freejoint/><geom size='.1'/></body></worldbody></mujoco>",
                shapes[s]),
            MF_ISA_AUTO, NULL);
        const double eye[3] = {-0.8, -0.9, 1.2}, yaw = 0.8;
        int seen[2] = {0, 0};
        take(&rig, eye[0], eye[1], eye[2], yaw, 0.15);
        for (int i = 0; i < PIXELS; i++) {
            double at[3], size[3];
            if (owner[i][0] != 0 || owner[i][2] != -1)
                continue;
            point_of(&rig, i, eye, yaw, 0.15, at);
            at[2] -= 1.0;
            for (int c = 0; c < 3; c++)
                size[c] = fabs(at[c] / half[s][c]);
            const double other = fmax(size[0], size[2]);
            if (fabs(size[1] - other) < 0.1)
                continue;
            const bool second = at[1] < 0.0 && size[1] > other;
            assert_true(is_near(color[i], second ? 0 : 255, 0, second ? 255 : 0, 1.0));
            seen[second]++;
        }
        assert_true(seen[0] > 100 && seen[1] > 100);
    }
}

// The place of a corner is its x and y, so that of a point is, too; on another mesh it is the same
// with a texture over the whole shape.
TEST(meshes_have_their_coordinates) {
    AUTO_RIG rig = open_rig(
        *state,
        "<mujoco><asset>" CHECKER "<material name='m' texture='t' emission='1'/>"
        "<mesh name='q' vertex='0 0 0 1 0 0 0 1 0 1 1 .3' face='0 1 3 0 3 2 0 3 1 0 2 3' "
        "texcoord='0 0 1 0 0 1 1 1' inertia='shell'/></asset><worldbody>"
        "<geom type='mesh' mesh='q' material='m' contype='0' conaffinity='0'/><body pos='9 9 9'>"
        "<freejoint/><geom size='.1'/></body></worldbody></mujoco>",
        MF_ISA_AUTO, NULL);
    const double eye[3] = {0.4, 0.5, 2.0};
    int checked = 0;
    take(&rig, eye[0], eye[1], eye[2], 0.0, 1.57079632679489662);
    for (int i = 0; i < PIXELS; i++) {
        double at[3];
        if (owner[i][0] != 0)
            continue;
        point_of(&rig, i, eye, 0.0, 1.57079632679489662, at);
        // MuJoCo moves a mesh to its own center: the body's frame does not.
        const int red = is_red(at[0], at[1], 0.05);
        if (red >= 0 && !is_near(color[i], red ? 255 : 0, 0, red ? 0 : 255, 1.0))
            fail_msg("pixel %d at %g %g: %d %d %d", i, at[0], at[1], color[i][0], color[i][1],
                     color[i][2]);
        checked += red >= 0;
    }
    assert_true(checked > 300);
}

// A group's color takes the place of red; gray stays gray.
TEST(groups_have_colors) {
    const float blue[3] = {0.0f, 0.0f, 1.0f};
    const char *text = "<mujoco><worldbody><body pos='0 0 1'><freejoint/>"
                       "<geom size='.3' rgba='.8 0 0 1'/><geom size='.3' pos='0 .7 0' "
                       "rgba='.5 .5 .5 1'/></body></worldbody></mujoco>";
    uint8_t before[2][3];
    for (int tinted = 0; tinted < 2; tinted++) {
        AUTO_RIG rig = open_rig(*state, text, MF_ISA_AUTO, tinted ? blue : NULL);
        float found[3];
        assert_int_equal(mf_group_tint(rig.group, found), tinted);
        take(&rig, -2.0, 0.0, 1.0, 0.0, 0.0);
        const uint8_t *red = color[HIGH / 2 * WIDE + WIDE / 2];
        const uint8_t *gray = color[HIGH / 2 * WIDE + WIDE / 2 - 19];
        assert_int_equal(owner[HIGH / 2 * WIDE + WIDE / 2 - 19][0], 0);
        if (tinted) {
            assert_true(fabs(red[2] - 1.0 * before[0][0]) <= 1.0);
            assert_true(fabs(red[0] - 0.12 * before[0][0]) <= 1.0);
            assert_memory_equal(gray, before[1], 3);
        }
        memcpy(before[0], red, 3);
        memcpy(before[1], gray, 3);
    }
}

// Planes cast no shadow and take no memory of faces: all shapes with textures over a plane with
// one.
TEST(every_shape_is_drawn_over_a_plane) {
    static const char *const shapes[] = {"sphere",   "box",       "capsule",
                                         "cylinder", "ellipsoid", "mesh' mesh='k"};
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        AUTO_RIG rig = open_rig(
            *state,
            formatted(
                "<mujoco><asset>" CHECKER "<texture name='c' type='cube' builtin='flat' "
                "rgb1='.8 .6 .4' width='8'/><mesh name='k' vertex='-.1 -.1 -.1 .3 -.1 -.1 -.1 .3 "
                "-.1 -.1 -.1 .3'/>"
                "<material name='m' texture='t'/><material name='n' texture='c'/></asset>"
                "<worldbody><geom type='plane' size='40 40 1' pos='0 0 -.1'%s/><body><freejoint/>"
                "<geom type='%s' size='.1 .2 .1' material='n'/></body></worldbody></mujoco>",
                i % 2 ? "" : " material='m'", shapes[i / 2]),
            MF_ISA_AUTO, NULL);
        mf_free_camera_destroy(rig.eye);
        rig.camera.shadows = true;
        MUST(mf_free_camera_create(rig.world, &rig.camera, &rig.eye, &error));
        take(&rig, -1.0, 0.0, 0.1, 0.0, 0.05);
        const int middle = HIGH / 2 * WIDE + WIDE / 2;
        assert_int_equal(owner[middle][2], 0);
        assert_true(color[middle][0] > color[middle][2]); // the texture's: more red than blue
    }
}

static uint64_t hash_of(mf_Context *context, mf_Isa isa) {
    AUTO_RIG rig = open_rig(
        context,
        "<mujoco><asset>" CHECKER "<texture name='c' builtin='gradient' mark='random' width='16'/>"
        "<texture type='skybox' builtin='gradient' width='8'/>"
        "<material name='m' texture='t'/><material name='n' texture='c' emission='.2'/></asset>"
        "<worldbody><geom type='plane' size='3 2 1' material='m'/><body pos='0 0 .5'><freejoint/>"
        "<geom type='capsule' size='.2 .3' material='n'/><geom type='cylinder' size='.2 .3' "
        "pos='0 .6 0' material='m'/></body></worldbody></mujoco>",
        isa, NULL);
    take(&rig, -1.5, -0.2, 1.0, 0.1, 0.3);
    return mf_hash_bytes(MF_HASH_START, color, sizeof color);
}

TEST(same_bits_everywhere) {
    const uint64_t expected = hash_of(*state, MF_ISA_AUTO);
    FOR_EACH_ISA (isa)
        assert_true(hash_of(*state, isa) == expected);
}

TEST(without_memory) {
    AUTO_RIG rig = open_rig(*state,
                            "<mujoco><asset>" CHECKER "<material name='m' texture='t'/></asset>"
                            "<worldbody><body><freejoint/><geom size='1' material='m'/></body>"
                            "</worldbody></mujoco>",
                            MF_ISA_AUTO, NULL);
    mf_Status status = MF_NO_MEMORY;
    mf_FreeCamera *eye = NULL;
    uint64_t i = 1;
    for (; status != MF_OK; i++) {
        mf_context_fail_after(*state, i);
        status = mf_free_camera_create(rig.world, &rig.camera, &eye, NULL);
        mf_context_fail_after(*state, 0);
        assert_true(status == MF_OK || status == MF_NO_MEMORY);
    }
    assert_true(i > 5);
    mf_free_camera_destroy(eye);
}
