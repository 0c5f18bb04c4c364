// Lenses: published and closed-form values, the inverse, the limits. python/tests/test_cameras.py
// compares with OpenCV.
#include "rig/rig.h"

static mf_Lens lens_of(mf_LensType type, const double coefficients[6]) {
    mf_Camera camera =
        WITH(mf_camera(), .lens = type, .width = 640, .height = 480, .focal[0] = 500.0,
             .focal[1] = 500.0, .center[0] = 320.0, .center[1] = 240.0);
    for (int i = 0; i < 6; i++)
        camera.coefficients[i] = coefficients != NULL ? coefficients[i] : 0.0;
    return mf_lens_of(&camera);
}

// A point at (x, y, z) of the usual optical axes: right, down, forward.
static bool project(const mf_Lens *lens, double x, double y, double z, double pixel[2]) {
    const double point[3] = {z, -x, -y};
    return mf_lens_project(lens, point, pixel);
}

// J6: u = fx X / Z + cx.
TEST(pinhole) {
    const mf_Lens lens = lens_of(MF_LENS_PINHOLE, NULL);
    double pixel[2] = {7.0, 8.0};
    assert_true(project(&lens, 0.2, -0.1, 1.0, pixel));
    assert_near(pixel[0], 420.0, 1e-12);
    assert_near(pixel[1], 190.0, 1e-12);
    assert_false(project(&lens, 0.2, -0.1, -1.0, pixel));
    assert_false(project(&lens, 0.2, -0.1, 0.0, pixel));
    assert_false(project(&lens, NAN, 0.0, 1.0, pixel));
    assert_near(pixel[0], 420.0, 1e-12); // unchanged
}

// J7: Bouguet's kc = (-.28, .09, .0005, -.0003, 0).
TEST(bouguet) {
    const double kc[6] = {-0.28, 0.09, 0.0005, -0.0003, 0.0, 0.0};
    const mf_Lens lens = lens_of(MF_LENS_BROWN, kc);
    double pixel[2];
    assert_true(project(&lens, 0.2, -0.1, 1.0, pixel));
    assert_near(pixel[0], 418.593000, 1e-9);
    assert_near(pixel[1], 190.712250, 1e-9);
}

// An equidistant lens sees the angle a at f a, and more than the half space in front of it.
TEST(by_angle) {
    for (int i = 0; i < 2; i++) {
        const mf_Lens lens = lens_of(i ? MF_LENS_FISHEYE : MF_LENS_ANGLE, NULL);
        double pixel[2];
        assert_near(lens.limit, M_PI, 1e-12);
        for (double angle = 0.0; angle < 3.0; angle += 0.25) {
            assert_true(project(&lens, sin(angle), 0.0, cos(angle), pixel));
            assert_near(pixel[0], 320.0 + 500.0 * angle, 1e-9);
            assert_near(pixel[1], 240.0, 1e-12);
        }
    }
    // 1 + .1 a - .02 a^2 + ... at a = .5, by hand: .5 (1 + .05 - .005 + .00125 + 0 + 0 + .0003125)
    const double c[6] = {0.1, -0.02, 0.01, 0.0, 0.0, 0.02};
    const mf_Lens lens = lens_of(MF_LENS_ANGLE, c);
    double pixel[2];
    assert_true(project(&lens, 0.0, sin(0.5), cos(0.5), pixel));
    assert_near(pixel[1], 240.0 + 500.0 * 0.5 * 1.0465625, 1e-9);
}

static const struct {
    mf_LensType type;
    double coefficients[6];
    double limit; // [rad] < 0: of no interest
} lenses[] = {
    {MF_LENS_PINHOLE, {0}, M_PI / 2},
    {MF_LENS_BROWN, {-0.28, 0.09, 0.0005, -0.0003, 0.0}, -1},
    {MF_LENS_BROWN, {0.1, 0.02, -0.001, 0.002, 0.01}, M_PI / 2},
    // 1 - 3 (.3) r^2 = 0
    {MF_LENS_BROWN, {-0.3, 0.0, 0.0, 0.0, 0.0}, 0.81172611752823},
    {MF_LENS_ANGLE, {0.01, -0.05, 0.002, 0.001, -0.0005, 0.0001}, -1},
    // 1 - 3 (.1) a^2 = 0
    {MF_LENS_FISHEYE, {-0.1, 0.0, 0.0, 0.0}, 1.8257418583505538},
    {MF_LENS_FISHEYE, {-0.02, 0.003, -0.0005, 0.00002}, -1},
};

static double sine_limit(const mf_Lens *lens) {
    return lens->limit < M_PI ? lens->limit : M_PI;
}

// J8: the ray of the pixel of a ray is that ray, up to the limit.
TEST(rays_come_back) {
    for (size_t i = 0; i < sizeof lenses / sizeof *lenses; i++) {
        const mf_Lens lens = lens_of(lenses[i].type, lenses[i].coefficients);
        if (lenses[i].limit > 0)
            assert_near(lens.limit, lenses[i].limit, 1e-9);
        const double most = fmin(0.97 * sine_limit(&lens), 1.4);
        for (double angle = 0.0; angle < most; angle += 0.03)
            for (double rotation = 0.0; rotation < 6.2; rotation += 0.7) {
                const double point[3] = {cos(angle), sin(angle) * cos(rotation),
                                         sin(angle) * sin(rotation)};
                double pixel[2], ray[3];
                assert_true(mf_lens_project(&lens, point, pixel));
                assert_true(mf_lens_ray(&lens, pixel, ray));
                for (int k = 0; k < 3; k++)
                    assert_near(ray[k], point[k], 1e-9);
            }
    }
}

TEST(nothing_beyond_the_limit) {
    const mf_Lens brown = lens_of(MF_LENS_BROWN, lenses[3].coefficients);
    const mf_Lens fisheye = lens_of(MF_LENS_FISHEYE, lenses[5].coefficients);
    const double r = sqrt(1.0 / 0.9), a = sqrt(1.0 / 0.3);
    // Just inside and just outside of the largest image radius.
    const double widest[2] = {500.0 * r * (1.0 - 0.3 * r * r), 500.0 * a * (1.0 - 0.1 * a * a)};
    const mf_Lens *both[2] = {&brown, &fisheye};
    for (int i = 0; i < 2; i++) {
        const double in[2] = {320.0 + widest[i] - 1e-6, 240.0};
        const double out[2] = {320.0 + widest[i] + 1e-6, 240.0};
        double ray[3] = {7.0, 7.0, 7.0}, pixel[2];
        assert_false(mf_lens_ray(both[i], out, ray));
        assert_near(ray[0], 7.0, 0.0);
        assert_true(mf_lens_ray(both[i], in, ray));
        assert_near(atan2(hypot(ray[1], ray[2]), ray[0]), both[i]->limit, 1e-3);
        const double angle = both[i]->limit + 1e-6;
        assert_false(project(both[i], sin(angle), 0.0, cos(angle), pixel));
        assert_true(project(both[i], sin(angle - 2e-6), 0.0, cos(angle - 2e-6), pixel));
    }
}

TEST(views_have_their_angle) {
    mf_Camera camera = WITH(mf_camera(), .width = 84, .height = 84);
    mf_camera_set_view(&camera, M_PI / 2);
    mf_Lens lens = mf_lens_of(&camera);
    const double upper[2] = {41.5, -0.5};
    double ray[3];
    assert_true(mf_lens_ray(&lens, upper, ray));
    assert_near(ray[0], sqrt(0.5), 1e-12);
    assert_near(ray[1], 0.0, 1e-12);
    assert_near(ray[2], sqrt(0.5), 1e-12);
    camera.lens = MF_LENS_FISHEYE;
    mf_camera_set_view(&camera, M_PI);
    lens = mf_lens_of(&camera);
    assert_true(mf_lens_ray(&lens, upper, ray));
    assert_near(ray[0], 0.0, 1e-12);
    assert_near(ray[2], 1.0, 1e-12);
}
