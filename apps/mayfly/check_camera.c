// Check cases of cameras: J6 to J8, lenses, and J9, depth.
#include "check.h"

#include <mayfly/camera.h>

#include <math.h>

static mf_Lens lens_of(mf_LensType type, const double coefficients[6]) {
    mf_Camera camera = mf_camera();
    camera.lens = type;
    camera.focal[0] = camera.focal[1] = 500.0;
    camera.center[0] = 320.0;
    camera.center[1] = 240.0;
    for (int i = 0; i < 6; i++)
        camera.coefficients[i] = coefficients[i];
    return mf_lens_of(&camera);
}

static const double none[6] = {0};

// u = fx X / Z + cx, v = fy Y / Z + cy, X to the right, Y down, Z forward.
static void check_pinhole(mf_CheckRun *run) {
    const mf_Lens lens = lens_of(MF_LENS_PINHOLE, none);
    const double point[3] = {2.0, -0.4, 0.2}, behind[3] = {-2.0, -0.4, 0.2};
    double pixel[2] = {NAN, NAN}, other[2];
    mf_lens_project(&lens, point, pixel);
    mf_check_near(run, "column of (X, Y, Z) = (0.4, -0.2, 2) m [pixel]", 420.0, pixel[0], 1e-12);
    mf_check_near(run, "row [pixel]", 190.0, pixel[1], 1e-12);
    mf_check_near(run, "the same behind the camera is seen", 0.0,
                  mf_lens_project(&lens, behind, other), 0.0);
}

// The distortion of Bouguet's toolbox; the numbers were computed by hand from its equations.
static void check_bouguet(mf_CheckRun *run) {
    const double kc[6] = {-0.28, 0.09, 0.0005, -0.0003, 0.0, 0.0};
    const mf_Lens lens = lens_of(MF_LENS_BROWN, kc);
    const double point[3] = {1.0, -0.2, 0.1};
    double pixel[2] = {NAN, NAN};
    mf_lens_project(&lens, point, pixel);
    mf_check_near(run, "column of (420, 190) distorted [pixel]", 418.593000, pixel[0], 1e-9);
    mf_check_near(run, "row [pixel]", 190.712250, pixel[1], 1e-9);
}

// The largest distance between a ray and the ray of its pixel, within the limit or 80 degrees.
static double worst_return(const mf_Lens *lens) {
    const double most = fmin(0.98 * lens->limit, 1.4);
    double worst = 0.0;
    for (double angle = 0.0; angle < most; angle += 0.01)
        for (double rotation = 0.0; rotation < 6.2; rotation += 0.3) {
            const double ray[3] = {cos(angle), sin(angle) * cos(rotation),
                                   sin(angle) * sin(rotation)};
            double pixel[2], back[3] = {NAN, NAN, NAN};
            if (mf_lens_project(lens, ray, pixel))
                mf_lens_ray(lens, pixel, back);
            for (int i = 0; i < 3; i++)
                worst = mf_check_worse(worst, fabs(back[i] - ray[i]));
        }
    return worst;
}

static void check_return(mf_CheckRun *run) {
    static const struct {
        const char *what;
        mf_LensType type;
        double coefficients[6];
    } rows[] = {
        {"Bouguet's lens, ray of the pixel of a ray", MF_LENS_BROWN, {-0.28, 0.09, 5e-4, -3e-4}},
        {"sixth-order polynomial of the angle", MF_LENS_ANGLE, {0.01, -0.05, 2e-3, 1e-3, -5e-4}},
        {"Kannala and Brandt", MF_LENS_FISHEYE, {-0.02, 3e-3, -5e-4, 2e-5}},
    };
    const double barrel[6] = {-0.3};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const mf_Lens lens = lens_of(rows[i].type, rows[i].coefficients);
        mf_check_below(run, rows[i].what, 1e-9, worst_return(&lens));
    }
    // With k1 = -0.3 the picture ends where 1 - 0.9 r^2 = 0, 2 r / 3 focal lengths from the center.
    const mf_Lens lens = lens_of(MF_LENS_BROWN, barrel);
    const double edge = 500.0 * 2.0 / 3.0 / sqrt(0.9);
    const double inside[2] = {320.0 + edge - 1e-3, 240.0},
                 outside[2] = {320.0 + edge + 1e-3, 240.0};
    double ray[3];
    mf_check_near(run, "k1 = -0.3: limit of the angle [rad]", atan(1.0 / sqrt(0.9)), lens.limit,
                  1e-9);
    mf_check_near(run, "a pixel inside of it has a ray", 1.0, mf_lens_ray(&lens, inside, ray), 0.0);
    mf_check_near(run, "one outside has one", 0.0, mf_lens_ray(&lens, outside, ray), 0.0);
}

// ---- depth --------------------------------------------------------------------------------------

enum { WIDE = 160, HIGH = 120 };

static const char scene[] =
    "<mujoco><worldbody><geom size='0.5' pos='3 0.2 1.1'/><body pos='0 0 90'><freejoint/>"
    "<geom size='0.1'/></body></worldbody></mujoco>";

// The camera is 1 m above the ground and looks along x. Pixels at the rim of the ball are left out.
static double worst_depth(const float *depth, const mf_Lens *lens, uint32_t *balls) {
    const double c[3] = {3.0, 0.2, 0.1};
    double worst = 0.0;
    for (int i = 0; i < WIDE * HIGH; i++) {
        const double pixel[2] = {i % WIDE, i / WIDE};
        double ray[3] = {NAN, NAN, NAN}, expected = 100.0;
        mf_lens_ray(lens, pixel, ray);
        if (ray[2] < 0.0 && -ray[0] / ray[2] < expected)
            expected = -ray[0] / ray[2];
        const double b = ray[0] * c[0] + ray[1] * c[1] + ray[2] * c[2];
        const double square = b * b - (c[0] * c[0] + c[1] * c[1] + c[2] * c[2]) + 0.25;
        if (fabs(square) < 1e-4)
            continue;
        if (square > 0.0 && (b - sqrt(square)) * ray[0] < expected) {
            expected = (b - sqrt(square)) * ray[0];
            (*balls)++;
        }
        worst = mf_check_worse(worst, fabs((double)depth[i] - expected) / fmax(1.0, expected));
    }
    return worst;
}

static void look(mf_World *world, mf_CheckRun *run) {
    static float depth[WIDE * HIGH];
    const double position[3] = {0.0, 0.0, 1.0}, rotation[4] = {1.0, 0.0, 0.0, 0.0};
    const mf_CameraPixels pixels = {.depth = depth};
    mf_Camera camera = mf_camera();
    mf_FreeCamera *eye = NULL;
    uint32_t balls = 0;
    camera.width = WIDE;
    camera.height = HIGH;
    mf_camera_set_view(&camera, 1.0);
    mf_check_must(run, mf_free_camera_create(world, &camera, &eye, &run->error));
    mf_check_must(run, mf_free_camera_take(eye, position, rotation, 0, 0, &pixels, &run->error));
    const mf_Lens lens = mf_lens_of(&camera);
    mf_check_below(run, "error of the depth in m, beyond 1 m relative", 1e-6,
                   worst_depth(depth, &lens, &balls));
    mf_check_above(run, "pixels that see the sphere", 500.0, balls);
    mf_free_camera_destroy(eye);
}

static void check_depth(mf_CheckRun *run) {
    const mf_RigConfig config = mf_rig_config(MF_ARTICULATED_IMPLICIT, 2 * MF_MILLISECOND);
    mf_rig_open_text(run, scene, &config);
    look(run->rig.world, run);
}

const mf_CheckCase mf_check_camera_cases[] = {
    {"J6", "pinhole camera", check_pinhole},
    {"J7", "Bouguet's distortion", check_bouguet},
    {"J8", "undistort(distort(ray)), and the limit of a lens", check_return},
    {"J9", "depth of a plane and a sphere", check_depth},
    {NULL, NULL, NULL}};
