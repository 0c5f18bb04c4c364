// What a camera does to pictures, against closed forms. python/tests/test_cameras.py compares with
// OpenCV.
#include "rig/rig.h"
#include "camera/picture.h"

enum { WIDE = 41, HIGH = 37 };

static float values[HIGH * WIDE * 3], scratch[HIGH * WIDE * 3], other[HIGH * WIDE * 3];

static mf_Photo picture_of(uint32_t channels) {
    memset(values, 0, sizeof values);
    return (mf_Photo){WIDE, HIGH, channels, values};
}

// A point becomes the product of two Gaussians whose sums over their pixels are 1.
TEST(blur_of_a_point) {
    const double sigma = 1.7;
    const int radius = 6; // 3 sigma, rounded up
    mf_Photo picture = picture_of(1);
    double sum = 0.0, total = 0.0;
    values[18 * WIDE + 20] = 1.0f;
    for (int i = -radius; i <= radius; i++)
        sum += exp(-i * i / (2.0 * sigma * sigma));
    assert_int_equal(mf_photo_blur(&picture, sigma, scratch, NULL), MF_OK);
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            const int i = x - 20, j = y - 18;
            const bool near = abs(i) <= radius && abs(j) <= radius;
            const double expected =
                near ? exp(-(i * i + j * j) / (2.0 * sigma * sigma)) / (sum * sum) : 0.0;
            assert_near(values[y * WIDE + x], expected, 1e-7);
            total += values[y * WIDE + x];
        }
    assert_near(total, 1.0, 1e-5);
}

// What is the same everywhere stays, at the border too, also if the filter is wider than the
// picture; channels do not mix.
TEST(blur_keeps_planes) {
    const double sigmas[] = {0.0, 0.3, 2.0, 20.0, 64.0};
    for (size_t s = 0; s < sizeof sigmas / sizeof *sigmas; s++) {
        mf_Photo picture = picture_of(3);
        for (int i = 0; i < WIDE * HIGH; i++)
            for (int c = 0; c < 3; c++)
                values[3 * i + c] = 0.25f * (float)(c + 1);
        assert_int_equal(mf_photo_blur(&picture, sigmas[s], scratch, NULL), MF_OK);
        for (int i = 0; i < WIDE * HIGH; i++)
            for (int c = 0; c < 3; c++)
                assert_near(values[3 * i + c], 0.25 * (c + 1), 1e-5);
    }
}

static mf_Lens lens_of(double focal, mf_LensType type) {
    mf_Camera camera =
        WITH(mf_camera(), .width = WIDE, .height = HIGH, .lens = type, .focal[0] = focal,
             .focal[1] = focal, .center[0] = (WIDE - 1) / 2.0, .center[1] = (HIGH - 1) / 2.0);
    return mf_lens_of(&camera);
}

// A lens of twice the focal length sees a ramp at half the slope about its center.
TEST(another_lens) {
    const mf_Lens wide = lens_of(30.0, MF_LENS_PINHOLE), narrow = lens_of(60.0, MF_LENS_PINHOLE);
    mf_Photo in = picture_of(2), out = {WIDE, HIGH, 2, other};
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            values[2 * (y * WIDE + x)] = (float)x;
            values[2 * (y * WIDE + x) + 1] = (float)y;
        }
    assert_int_equal(mf_photo_distort(&out, &narrow, &in, &wide, NULL), MF_OK);
    for (int y = 0; y < HIGH; y++)
        for (int x = 0; x < WIDE; x++) {
            assert_near(other[2 * (y * WIDE + x)], 20.0 + (x - 20.0) / 2.0, 1e-5);
            assert_near(other[2 * (y * WIDE + x) + 1], 18.0 + (y - 18.0) / 2.0, 1e-5);
        }
    // The other way round there is nothing outside of the picture.
    assert_int_equal(mf_photo_distort(&out, &wide, &in, &narrow, NULL), MF_OK);
    assert_near(other[2 * (18 * WIDE + 25)], 30.0, 1e-5);
    assert_near(other[2 * (18 * WIDE + 31)], 0.0, 0.0);
}

// tan(a) = 10 / 30 at ten pixels from the axis: cos^4 = (1 + 1/9)^-2.
TEST(vignetting) {
    const mf_Lens lens = lens_of(30.0, MF_LENS_PINHOLE), wide = lens_of(12.0, MF_LENS_FISHEYE);
    mf_Photo picture = picture_of(1);
    for (int i = 0; i < WIDE * HIGH; i++)
        values[i] = 2.0f;
    assert_int_equal(mf_photo_vignette(&picture, &lens, 0.5, NULL), MF_OK);
    assert_near(values[18 * WIDE + 20], 2.0, 0.0);
    assert_near(values[18 * WIDE + 30], 2.0 * (0.5 + 0.5 * 0.81), 1e-6);
    assert_near(values[8 * WIDE + 20], 2.0 * (0.5 + 0.5 * 0.81), 1e-6);
    // Behind a right angle no light is left: 20 / 12 rad.
    assert_int_equal(mf_photo_vignette(&picture, &wide, 1.0, NULL), MF_OK);
    assert_near(values[18 * WIDE + 40], 0.0, 0.0);
}

TEST(noise) {
    enum { SIDE = 512, COUNT = SIDE * SIDE };
    AUTO(end_memory) float *all = calloc(COUNT, sizeof *all), *again = calloc(COUNT, sizeof *again);
    mf_Photo picture = {SIDE, SIDE, 1, all}, same = {SIDE, SIDE, 1, again};
    double sum = 0.0, squares = 0.0, neighbors = 0.0;
    assert_int_equal(mf_photo_noise(&picture, 0.25, 7, 3, 11, NULL), MF_OK);
    for (int i = 0; i < COUNT; i++) {
        sum += all[i];
        squares += (double)all[i] * all[i];
        neighbors += i > 0 ? (double)all[i] * all[i - 1] : 0.0;
    }
    // 99.9 % of the mean, of the standard deviation and of the correlation, 2^18 values.
    assert_near(sum / COUNT, 0.0, 3.29 * 0.25 / SIDE);
    assert_near(sqrt(squares / COUNT), 0.25, 3.29 * 0.25 / SIDE / sqrt(2.0));
    assert_near(neighbors / COUNT, 0.0, 3.29 * 0.0625 / SIDE);
    assert_int_equal(mf_photo_noise(&same, 0.25, 7, 3, 11, NULL), MF_OK);
    assert_memory_equal(all, again, COUNT * sizeof *all);
    memset(again, 0, COUNT * sizeof *again);
    // A shorter picture has the same first numbers; another tick has others.
    same.height = 3;
    assert_int_equal(mf_photo_noise(&same, 0.25, 7, 3, 11, NULL), MF_OK);
    assert_memory_equal(all, again, 3 * SIDE * sizeof *all);
    same.height = 1;
    assert_int_equal(mf_photo_noise(&same, 0.25, 7, 3, 12, NULL), MF_OK);
    assert_true(fabsf(again[0] - 2.0f * all[0]) > 1e-6f);
}

TEST(noise_is_the_same_everywhere) {
    const mf_PhotoNoise settings = {0.1f, 5, 9, 1};
    memset(other, 0, sizeof other);
    mf_Photo reference = {WIDE, HIGH, 3, other};
    mf_photo_add_noise(&reference, &settings, MF_ISA_SCALAR);
    FOR_EACH_ISA (isa) {
        mf_Photo picture = picture_of(3);
        mf_photo_add_noise(&picture, &settings, isa);
        assert_memory_equal(values, other, sizeof values);
    }
}

TEST(conversion) {
    float some[] = {-1.0f, 0.0f, 0.49f / 255, 0.51f / 255, 0.5f, 1.0f, 7.0f, NAN};
    const uint8_t eight[] = {0, 0, 0, 1, 128, 255, 255, 0}, one[] = {0, 0, 0, 0, 255, 255, 255, 0};
    // Two bits: 0, 85, 170, 255.
    const float third[] = {0.16f, 0.17f, 0.49f, 0.51f, 0.83f, 0.84f};
    const uint8_t two[] = {0, 85, 85, 170, 170, 255};
    uint8_t got[8];
    mf_Photo picture = {8, 1, 1, some}, thirds = {6, 1, 1, (float *)third};
    assert_int_equal(mf_photo_quantize(&picture, 8, got, NULL), MF_OK);
    assert_memory_equal(got, eight, 8);
    assert_int_equal(mf_photo_quantize(&picture, 1, got, NULL), MF_OK);
    assert_memory_equal(got, one, 8);
    assert_int_equal(mf_photo_quantize(&thirds, 2, got, NULL), MF_OK);
    assert_memory_equal(got, two, 6);
}

// 5 rows within 40 ns up to 100: at 60, 70, 80, 90, 100.
TEST(rolling) {
    const struct {
        mf_Time from, to;
        uint32_t first, count;
    } cases[] = {{0, 59, 0, 0},   {0, 60, 0, 1},    {60, 69, 1, 0},
                 {60, 70, 1, 1},  {60, 100, 1, 4},  {59, 100, 0, 5},
                 {95, 100, 4, 1}, {100, 200, 5, 0}, {-500, 500, 0, 5}};
    uint32_t first, count;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mf_rolling_rows(5, 40, 100, cases[i].from, cases[i].to, &first, &count);
        assert_int_equal(count, cases[i].count);
        if (count > 0)
            assert_int_equal(first, cases[i].first);
    }
    // Consecutive steps of any length take each row once, in order.
    for (mf_Time step = 1; step < 60; step++) {
        uint32_t next = 0;
        for (mf_Time time = 0; time < 200; time += step) {
            mf_rolling_rows(48, 47, 120, time, time + step, &first, &count);
            assert_true(count == 0 || first == next);
            next += count;
        }
        assert_int_equal(next, 48);
    }
    mf_rolling_rows(5, 0, 100, 99, 100, &first, &count); // all at once
    assert_int_equal(first, 0);
    assert_int_equal(count, 5);
    mf_rolling_rows(5, 0, 100, 100, 200, &first, &count);
    assert_int_equal(count, 0);
}

TEST(refusals) {
    mf_Photo picture = picture_of(1), empty = {0, 4, 1, values}, five = {4, 4, 5, values};
    const mf_Lens lens = lens_of(30.0, MF_LENS_PINHOLE);
    uint8_t bytes[4];
    MUST_FAIL_AS(mf_photo_blur(&picture, -1.0, scratch, &error), MF_BAD_ARGUMENT,
                 "mf_photo_blur: sigma: expected 0 .. 64 pixels, found -1");
    assert_int_equal(mf_photo_blur(&picture, (double)NAN, scratch, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_blur(&picture, 1.0, NULL, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_blur(&empty, 1.0, scratch, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_blur(NULL, 1.0, scratch, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_vignette(&five, &lens, 0.5, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_vignette(&picture, &lens, 1.5, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_vignette(&picture, NULL, 0.5, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_noise(&picture, -0.5, 1, 1, 1, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_distort(&picture, &lens, &five, &lens, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_quantize(&picture, 0, bytes, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_quantize(&picture, 9, bytes, NULL), MF_BAD_ARGUMENT);
    assert_int_equal(mf_photo_quantize(&picture, 8, NULL, NULL), MF_BAD_ARGUMENT);
}
