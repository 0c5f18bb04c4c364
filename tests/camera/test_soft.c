// What is seen of robots without links, and of planes, points and vehicles: depth against closed
// forms of the state that the world has.
#include "rig/rig.h"
#include "../scene/support.h"
#include "motion/vehicle/keys.h"

GROUP_FIXTURE(make_context, drop_context);

enum { WIDE = 61, HIGH = 47, PIXELS = WIDE * HIGH };

static float depth[PIXELS];
static int32_t owner[PIXELS][3];
static uint8_t color[PIXELS][3];
static const mf_CameraPixels pixels = {&color[0][0], depth, &owner[0][0]};

// Looking down, x of the world is upwards in the picture.
static const double down[4] = {0.70710678118654757, 0.0, 0.70710678118654757, 0.0};
static const double ahead[4] = {1.0, 0.0, 0.0, 0.0};

static mf_Camera camera_of(double fovy) {
    mf_Camera camera = WITH(mf_camera(), .width = WIDE, .height = HIGH);
    mf_camera_set_view(&camera, fovy);
    camera.depth = camera.segmentation = true;
    return camera;
}

static void look(mf_World *world, double fovy, const double position[3], const double rotation[4]) {
    const mf_Camera camera = camera_of(fovy);
    mf_FreeCamera *eye;
    MUST(mf_free_camera_create(world, &camera, &eye, &error));
    MUST(mf_free_camera_take(eye, position, rotation, MF_NONE, 0, &pixels, &error));
    mf_free_camera_destroy(eye);
}

// The direction of depth 1 of a pixel, world axes.
static void ray_of(const mf_Camera *camera, int pixel, const double q[4], double out[3]) {
    const mf_Lens lens = mf_lens_of(camera);
    const double at[2] = {pixel % WIDE, pixel / WIDE};
    double ray[3];
    assert_true(mf_lens_ray(&lens, at, ray));
    const double v[3] = {1.0, ray[1] / ray[0], ray[2] / ray[0]};
    rotate3(q, v, out);
}

// The depth at which a ray meets a ball; negative: it does not.
static double intersect_ball(const double from[3], const double ray[3], const double center[3],
                             double radius) {
    double a = 0.0, b = 0.0, c = -radius * radius;
    for (int i = 0; i < 3; i++) {
        const double arm = center[i] - from[i];
        a += ray[i] * ray[i];
        b += ray[i] * arm;
        c += arm * arm;
    }
    const double rest = b * b - a * c;
    return rest > 0.0 ? (b - sqrt(rest)) / a : -1.0;
}

// ---- particles ----------------------------------------------------------------------------------

TEST(particles_are_balls) {
    AUTO_SCENE_FILE *file = parse_scene(
        *state, "world: {step: 0.001}\ngroups:\n  - name: sand\n    model: ../models/grain.xml\n"
                "    motion: {grains: {}}\n    count: 3\n    placement: {poses: [[0, 0, 0], [0.05, "
                "0, 0], [0, 0.08, 0]]}\n    height: 0.4\n");
    AUTO_SCENE scene = make_with(*state, file, NULL);
    const double position[3] = {-0.4, 0.03, 0.41};
    const mf_Camera camera = camera_of(0.5);
    const double radius = scene.model->shapes[0].size[0];
    uint32_t seen = 0;
    look(scene.world, 0.5, position, ahead);
    for (int i = 0; i < PIXELS; i++) {
        double ray[3], nearest = 1e9;
        int32_t which = -1;
        ray_of(&camera, i, ahead, ray);
        for (uint32_t k = 0; k < 3; k++) {
            double center[3];
            get_fields(scene.group, "base.position", k, 3, center);
            const double found = intersect_ball(position, ray, center, radius);
            if (found > 0.0 && found < nearest) {
                nearest = found;
                which = (int32_t)k;
            }
        }
        if (which < 0 && owner[i][0] != 0)
            continue;
        seen++;
        assert_int_equal(owner[i][0], 0);
        assert_int_equal(owner[i][1], which);
        assert_near(depth[i], nearest, 1e-4 * nearest);
    }
    assert_true(seen > 30);
}

// ---- trusses ------------------------------------------------------------------------------------

// The bar of an instance that a ray from above meets in its middle is as deep as its radius says.
TEST(bars_of_trusses) {
    AUTO_SCENE_FILE *file = load_scene(*state, "models/tetrahedron.truss.yaml", NULL, 0);
    file->groups[0].isolated = false;
    AUTO_SCENE scene = make_with(*state, file, NULL);
    const mf_Field *vertex = mf_group_find_field(scene.group, "vertex.position");
    const mf_Field *ends = mf_group_find_field(scene.group, "bar.ends");
    const mf_Field *diameter = mf_group_find_field(scene.group, "bar.diameter");
    const uint32_t bars = (uint32_t)get_field(scene.group, "truss.counts", 0, 1);
    uint32_t seen = 0;
    for (uint32_t b = 0; b < bars; b++) {
        double end[2][3], position[3];
        for (uint32_t e = 0; e < 2; e++)
            for (uint32_t c = 0; c < 3; c++)
                end[e][c] =
                    mf_field_get(vertex, 0, 3 * (uint32_t)mf_field_get(ends, 0, 2 * b + e) + c);
        const double radius = 0.5 * mf_field_get(diameter, 0, b);
        const double run = hypot(end[1][0] - end[0][0], end[1][1] - end[0][1]);
        const double rise = end[1][2] - end[0][2], length = hypot(run, rise);
        for (int c = 0; c < 3; c++)
            position[c] = 0.5 * (end[0][c] + end[1][c]);
        const double middle = position[2];
        position[2] += 1.0;
        look(scene.world, 0.02, position, down);
        const int pixel = HIGH / 2 * WIDE + WIDE / 2;
        if (owner[pixel][2] != (int32_t)b)
            continue; // another one is above it
        seen++;
        assert_int_equal(owner[pixel][0], 0);
        // A ray along z meets a cylinder with this slope at its radius over the cosine of it.
        assert_near(depth[pixel], position[2] - middle - radius * length / run, 2e-6);
    }
    assert_true(seen >= 3);
}

// ---- cloths -------------------------------------------------------------------------------------

TEST(cloths_are_level_at_the_start) {
    AUTO_SCENE_FILE *file = load_scene(*state, "models/sheet.cloth.yaml", NULL, 0);
    file->groups[0].isolated = false;
    AUTO_SCENE scene = make_with(*state, file, NULL);
    const mf_Field *vertex = mf_group_find_field(scene.group, "vertex.position");
    double low[3] = {1e9, 1e9, 1e9}, high[3] = {-1e9, -1e9, -1e9};
    for (uint32_t v = 0; v < vertex->components / 3; v++)
        for (uint32_t c = 0; c < 3; c++) {
            low[c] = fmin(low[c], mf_field_get(vertex, 0, 3 * v + c));
            high[c] = fmax(high[c], mf_field_get(vertex, 0, 3 * v + c));
        }
    assert_near(low[2], high[2], 1e-6);
    const double position[3] = {0.5 * (low[0] + high[0]), 0.5 * (low[1] + high[1]), low[2] + 3.0};
    const mf_Camera camera = camera_of(0.8);
    uint32_t seen = 0, ground = 0;
    look(scene.world, 0.8, position, down);
    for (int i = 0; i < PIXELS; i++) {
        double ray[3], inside = 1e9;
        ray_of(&camera, i, down, ray);
        const double at = 3.0 / -ray[2];
        for (int c = 0; c < 2; c++) {
            const double x = position[c] + at * ray[c];
            inside = fmin(inside, fmin(x - low[c], high[c] - x));
        }
        if (fabs(inside) < 1e-4)
            continue; // the rim
        assert_int_equal(owner[i][0], inside > 0.0 ? 0 : -2);
        assert_near(depth[i], inside > 0.0 ? at : position[2] / -ray[2], 1e-5);
        seen += inside > 0.0;
        ground += inside < 0.0;
    }
    assert_true(seen > 100 && ground > 100);
}

// ---- planes, points, vehicles -------------------------------------------------------------------

static mf_Scene scene_of_text(mf_Context *context, const char *name, const char *text,
                              mf_SceneFile **file) {
    const char *path = formatted(MAYFLY_BINARY_DIR "/%s", name);
    file_put_text(path, text);
    *file = parse_scene(context, formatted("ground: {shape: flat}\ngroups: [{name: all, "
                                           "model: \"%s\", motion: rigid}]\n",
                                           path));
    const mf_Scene made = make_with(context, *file, NULL);
    remove(path);
    return made;
}

// A ramp of 30 degrees, z = (x - 2) tan 30 above the ground.
TEST(planes_of_a_robots_file) {
    AUTO_SCENE_FILE *file;
    AUTO_SCENE scene = scene_of_text(
        *state, "camera_ramp.xml",
        "<mujoco><worldbody><geom type='plane' size='0 0 1' pos='2 0 0' euler='0 -30 0'/>"
        "<body pos='0 0 3'><freejoint/><geom size='0.1'/></body></worldbody></mujoco>",
        &file);
    const double position[3] = {0.0, 0.0, 1.0}, slope = tan(M_PI / 6);
    const mf_Camera camera = camera_of(1.0);
    uint32_t ramp = 0, ground = 0;
    look(scene.world, 1.0, position, ahead);
    for (int i = 0; i < PIXELS; i++) {
        double ray[3];
        ray_of(&camera, i, ahead, ray);
        // 1 + t ray_z = (t ray_x - 2) slope
        const double at = (1.0 + 2.0 * slope) / (ray[0] * slope - ray[2]);
        const double level = ray[2] < 0.0 ? -1.0 / ray[2] : 1e9;
        const bool first = at > 0.0 && at < level;
        if (fmin(fabs(at), level) > 99.0 || fabs(at - level) < 1e-3)
            continue;
        assert_int_equal(owner[i][0], first ? 0 : -2);
        assert_int_equal(owner[i][2], -1);
        assert_near(depth[i], first ? at : level, 1e-5 * (first ? at : level));
        ramp += first;
        ground += !first;
    }
    assert_true(ramp > 1000 && ground > 60);
    // From below there is none.
    look(scene.world, 1.0, (const double[3]){4.0, 0.0, 0.5}, ahead);
    for (int i = 0; i < PIXELS; i++)
        assert_int_not_equal(owner[i][0], 0);
}

TEST(vehicles_have_their_parts) {
    AUTO_SCENE_FILE *file = parse_scene(
        *state,
        "world: {step: 0.002}\ngroups:\n  - name: quads\n    model: ../models/crazyflie.yaml\n    "
        "count: 2\n    placement: {poses: [[0, 0, 0], [0.5, 0, 0]]}\n    height: 1\n");
    AUTO_SCENE scene = make_with(*state, file, NULL);
    double position[3];
    get_fields(scene.group, "base.position", 1, 3, position);
    position[2] += 0.5;
    look(scene.world, 0.4, position, down);
    const mf_Quadrotor *quadrotor = mf_vehicle_parameters(scene.group, MF_VEHICLE_QUADROTOR);
    double arm = 0.0;
    for (int i = 0; i < 4; i++)
        arm += 0.25 * hypot(quadrotor->rotor_x[i], quadrotor->rotor_y[i]);
    const int middle = HIGH / 2 * WIDE + WIDE / 2;
    uint32_t seen = 0, red = 0;
    for (int i = 0; i < PIXELS; i++) {
        seen += owner[i][0] == 0 && owner[i][1] == 1;
        red += color[i][0] > color[i][2] + 60;
    }
    assert_near(depth[middle], 0.5 - 0.11 * arm, 1e-5); // the body's upper side
    assert_true(seen > 100 && red > 20 && red < seen);
}
