// Set-up arithmetic against the C library in long double (64 bits), and geometry against closed
// forms.
#include <float.h>
#include "rig/rig.h"
#include "math/scalar.h"

enum { SAMPLES = 1000000 };

// Distance in units of the last place of the exact value.
static double ulps(double found, long double exact) {
    double rounded = fabs((double)exact);
    double unit = rounded < DBL_MIN ? DBL_TRUE_MIN : nextafter(rounded, INFINITY) - rounded;
    return (double)(fabsl((long double)found - exact) / unit);
}

static uint64_t random_bits(uint64_t index) {
    uint32_t word[4];
    mf_random(20, 0, 0, index, word);
    return (uint64_t)word[0] << 32 | word[1];
}

static double random_between(uint64_t index, double lower, double upper) {
    return lower + (upper - lower) * ((double)(random_bits(index) >> 11) * 0x1p-53);
}

static double any_finite(uint64_t index) {
    double x;
    uint64_t bits = random_bits(index);
    memcpy(&x, &bits, sizeof x);
    return isfinite(x) ? x : 1.0;
}

static double sin_cos_error(double angle) {
    double sine, cosine;
    mf_sin_cos(angle, &sine, &cosine);
    return fmax(ulps(sine, sinl((long double)angle)), ulps(cosine, cosl((long double)angle)));
}

TEST(sine_and_cosine_are_good_to_one_ulp) {
    double worst = 0.0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        worst = fmax(worst, sin_cos_error(random_between(i, -4.0, 4.0)));
        worst = fmax(worst, sin_cos_error(random_between(i, -1e5, 1e5)));
    }
    // the doubles nearest to multiples of pi/2, where most digits cancel
    for (int k = 1; k < 70000; k++) {
        double angle = (double)((long double)k * 1.57079632679489661923132169163975144L);
        double next = nextafter(angle, INFINITY), before = nextafter(angle, 0.0);
        worst = fmax(worst, fmax(sin_cos_error(angle), sin_cos_error(-angle)));
        worst = fmax(worst, fmax(sin_cos_error(next), sin_cos_error(before)));
    }
    print_message("worst error %.3f ulp\n", worst);
    assert_true(worst < 1.0);
}

TEST(large_angles_are_as_good) {
    // Exact values of sin and cos (multiple precision): 2^120 is the fdlibm-style hard case by
    // size, 6381956970095103 * 2^797 the double closest to a multiple of pi/2 of all (Muller et
    // al., Handbook of Floating-Point Arithmetic, section on range reduction).
    static const struct {
        double angle, sine, cosine;
    } cases[] = {
        {0x1p19, 0x1.57481ec90fde3p-3, 0x1.f8c1986ca67fap-1},
        {0x1p20 + 0.5, 0x1.7c2bb1d7c0924p-1, 0x1.56f3082d8f8a6p-1},
        {1e6, -0x1.6664b2568d867p-2, 0x1.df9df9906d32cp-1},
        {0x1p64, 0x1.82a353118793dp-6, -0x1.ffdb7fa3fe34dp-1},
        {0x1p120, 0x1.82e34655e6fcbp-2, -0x1.da0cd0b66d8cep-1},
        {1e22, -0x1.b453ab76bf397p-1, 0x1.0be2cef01c8f4p-1},
        {0x1.6ac5b262ca1ffp+849, 0x1.0000000000000p+0, -0x1.14ae72e6ba22fp-61},
        {0x1.fffffffffffffp+1023, 0x1.452fc98b34e97p-8, -0x1.fffe62ecfab75p-1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double sine, cosine;
        mf_sin_cos(cases[i].angle, &sine, &cosine);
        assert_true(ulps(sine, (long double)cases[i].sine) <= 1.0);
        assert_true(ulps(cosine, (long double)cases[i].cosine) <= 1.0);
        mf_sin_cos(-cases[i].angle, &sine, NULL);
        assert_true(ulps(sine, -(long double)cases[i].sine) <= 1.0);
    }
    // everywhere else against the identity and against the C library's double functions, which
    // reduce exactly as well
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double angle = any_finite(i), sine, cosine;
        mf_sin_cos(angle, &sine, &cosine);
        assert_true(fabs(sine * sine + cosine * cosine - 1.0) < 1e-15);
        assert_true(ulps(sine, (long double)sin(angle)) <= 1.5);
        assert_true(ulps(cosine, (long double)cos(angle)) <= 1.5);
    }
}

TEST(sine_and_cosine_of_special_values) {
    double sine, cosine;
    mf_sin_cos(0.0, &sine, &cosine);
    assert_true(sine == 0.0 && !signbit(sine) && cosine == 1.0);
    mf_sin_cos(-0.0, &sine, &cosine);
    assert_true(sine == 0.0 && signbit(sine) && cosine == 1.0);
    mf_sin_cos(DBL_TRUE_MIN, &sine, &cosine);
    assert_true(sine == DBL_TRUE_MIN && cosine == 1.0);
    const double bad[] = {INFINITY, -INFINITY, (double)NAN};
    for (int i = 0; i < 3; i++) {
        mf_sin_cos(bad[i], &sine, &cosine);
        assert_true(isnan(sine) && isnan(cosine));
    }
    mf_sin_cos(1.0, NULL, NULL);
}

TEST(arc_tangent_is_good_to_two_ulp) {
    double worst = 0.0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double y = random_between(2 * i, -1.0, 1.0), x = random_between(2 * i + 1, -1.0, 1.0);
        worst = fmax(worst, ulps(mf_atan2(y, x), atan2l((long double)y, (long double)x)));
        y = any_finite(2 * i);
        x = any_finite(2 * i + 1);
        worst = fmax(worst, ulps(mf_atan2(y, x), atan2l((long double)y, (long double)x)));
    }
    print_message("worst error %.3f ulp\n", worst);
    assert_true(worst < 2.0);
}

TEST(arc_tangent_of_special_values) {
    // C17 F.10.1.4, all combinations of signed zero, one, infinity and NaN
    const double values[] = {0.0, 1.0, INFINITY, -0.0, -1.0, -INFINITY, (double)NAN};
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 7; j++) {
            double found = mf_atan2(values[i], values[j]), expected = atan2(values[i], values[j]);
            if (isnan(expected)) {
                assert_true(isnan(found));
                continue;
            }
            assert_true(fabs(found - expected) <= 1e-15);
            assert_int_equal(!!signbit(found), !!signbit(expected));
        }
    }
}

TEST(arc_sine_and_cosine_are_safe_and_accurate) {
    double worst = 0.0;
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double x = random_between(i, -1.0, 1.0);
        worst = fmax(worst, ulps(mf_asin(x), asinl((long double)x)));
        x = nextafter(1.0, 0.0) - random_between(i, 0.0, 1e-9);
        worst = fmax(worst, ulps(mf_asin(-x), -asinl((long double)x)));
        double error = (double)fabsl((long double)mf_acos(x) - acosl((long double)x));
        assert_true(error < 2 * 2.3e-16);
    }
    print_message("worst error %.3f ulp\n", worst);
    assert_true(worst < 2.0);
    assert_true(mf_asin(1.0) == M_PI_2 && mf_asin(1.0 + 1e-9) == M_PI_2);
    assert_true(mf_asin(-1.0) == -M_PI_2 && mf_asin(-INFINITY) == -M_PI_2);
    assert_true(mf_acos(1.0) == 0.0 && mf_acos(2.0) == 0.0);
    assert_true(mf_acos(-1.0) == M_PI && mf_acos(-2.0) == M_PI);
    assert_true(isnan(mf_asin((double)NAN)) && isnan(mf_acos((double)NAN)));
    assert_true(mf_asin(0.0) == 0.0 && signbit(mf_asin(-0.0)));
}

TEST(floor_and_finite_are_exact) {
    for (uint64_t i = 0; i < SAMPLES; i++) {
        double x = i & 1 ? any_finite(i) : random_between(i, -1e3, 1e3);
        assert_true(mf_floor(x) == floor(x));
        assert_true(mf_is_finite(x));
    }
    const double edges[] = {0.0,     -0.0,          0.5,      -0.5,         1.0,
                            -1.0,    0x1p52,        -0x1p52,  0x1p52 - 0.5, 0x1p63,
                            -0x1p63, -0x1p52 + 0.5, INFINITY, -INFINITY};
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        assert_true(mf_floor(edges[i]) == floor(edges[i]));
        assert_int_equal(!!signbit(mf_floor(edges[i])), !!signbit(floor(edges[i])));
    }
    assert_true(isnan(mf_floor((double)NAN)));
    assert_false(mf_is_finite(INFINITY) || mf_is_finite(-INFINITY) || mf_is_finite((double)NAN));
    assert_true(mf_is_finite(DBL_MAX) && mf_is_finite(-DBL_MAX) && mf_is_finite(DBL_TRUE_MIN));
    assert_true(mf_clamp((double)NAN, 1.0, 2.0) == 1.0 && mf_clamp(3.0, 1.0, 2.0) == 2.0 &&
                mf_clamp(1.5, 1.0, 2.0) == 1.5 && mf_clamp(INFINITY, 1.0, 2.0) == 2.0);
    assert_true(mf_sqrt(2.0) == sqrt(2.0) && isnan(mf_sqrt(-1.0)));
}

TEST(bits_are_the_same_everywhere) {
    // Golden hash over results that the tests above check against exact values: every compiler,
    // optimization level and processor must give these bits.
    uint64_t hash = MF_HASH_START;
    for (uint64_t i = 0; i < 100000; i++) {
        double x = random_between(4 * i, -1.0, 1.0), y = random_between(4 * i + 1, -1.0, 1.0);
        double found[15];
        mf_sin_cos(1e5 * x, &found[0], &found[1]);
        mf_sin_cos(any_finite(4 * i + 2), &found[2], &found[3]);
        found[4] = mf_atan2(y, x);
        found[5] = mf_asin(x);
        mf_quat_from_rpy(found + 6, (const double[3]){x, y, found[4]});
        mf_quat_to_rpy(found + 10, found + 6);
        hash = mf_hash_bytes(hash, found, 13 * sizeof found[0]);
        const double inertia[6] = {1.0 + x, 2.0 + y, 3.0, x * y, 0.5 * x, 0.25 * y};
        mf_mat3_eigen(found, found + 3, inertia);
        hash = mf_hash_bytes(hash, found, 12 * sizeof found[0]);
    }
    if (hash != UINT64_C(0xb56b961a4c717741))
        fail_msg("hash 0x%016jx", (uintmax_t)hash);
}

// ---- geometry ----------------------------------------------------------------------------------

static void assert_all_near(const double *found, const double *expected, int count,
                            double tolerance) {
    for (int i = 0; i < count; i++) {
        if (!(fabs(found[i] - expected[i]) <= tolerance))
            fail_msg("component %d: %.17g, expected %.17g", i, found[i], expected[i]);
    }
}

static void random_unit_quaternion(double q[4], uint64_t index) {
    for (uint64_t i = 0; i < 4; i++)
        q[i] = random_between(4 * index + i, -1.0, 1.0);
    assert_true(mf_quat_normalize(q));
}

TEST(lengths_do_not_overflow) {
    const double scales[] = {1.0, 0x1p1020, 0x1p-1000, 0x1p-1030, DBL_TRUE_MIN};
    for (int i = 0; i < 5; i++) {
        double v[3] = {2.0 * scales[i], -3.0 * scales[i], 6.0 * scales[i]};
        assert_true(fabs(mf_vec3_length(v) / scales[i] - 7.0) < 1e-14);
        assert_true(mf_vec3_normalize(v));
        assert_all_near(v, (const double[3]){2.0 / 7.0, -3.0 / 7.0, 6.0 / 7.0}, 3, 1e-15);
    }
    double zero[3] = {0.0, 0.0, 0.0}, broken[3] = {1.0, (double)NAN, 0.0}, q[4] = {0};
    assert_true(mf_vec3_length(zero) == 0.0);
    assert_false(mf_vec3_normalize(zero));
    assert_false(mf_vec3_normalize(broken));
    assert_true(broken[0] == 1.0 && isnan(mf_vec3_length(broken)));
    assert_true(isinf(mf_vec3_length((const double[3]){0.0, -INFINITY, 0.0})));
    assert_false(mf_quat_normalize(q));
    assert_all_near(q, (const double[4]){1.0, 0.0, 0.0, 0.0}, 4, 0.0);
}

TEST(quarter_rotations_have_the_right_sense) {
    // right-handed: x to y about z, y to z about x, z to x about y
    const double axes[3][3] = {{2.0, 0.0, 0.0}, {0.0, 0.5, 0.0}, {0.0, 0.0, 1.0}};
    for (int axis = 0; axis < 3; axis++) {
        double q[4], v[3] = {0.0, 0.0, 0.0}, expected[3] = {0.0, 0.0, 0.0};
        mf_quat_from_axis_angle(q, axes[axis], M_PI_2);
        v[(axis + 1) % 3] = 1.0;
        expected[(axis + 2) % 3] = 1.0;
        mf_quat_rotate(v, q, v);
        assert_all_near(v, expected, 3, 1e-15);
        mf_quat_rotate_inverse(v, q, v);
        assert_true(fabs(v[(axis + 1) % 3] - 1.0) < 1e-15);
    }
    double q[4];
    mf_quat_from_axis_angle(q, (const double[3]){0.0, 0.0, 0.0}, 1.0);
    assert_all_near(q, (const double[4]){1.0, 0.0, 0.0, 0.0}, 4, 0.0);
}

TEST(products_of_rotations_follow_in_order) {
    for (uint64_t i = 0; i < 1000; i++) {
        double a[4], b[4], ab[4], v[3] = {0.3, -1.7, 2.2}, once[3], twice[3];
        random_unit_quaternion(a, 2 * i);
        random_unit_quaternion(b, 2 * i + 1);
        mf_quat_multiply(ab, a, b);
        mf_quat_rotate(once, ab, v);
        mf_quat_rotate(twice, b, v);
        mf_quat_rotate(twice, a, twice);
        assert_all_near(once, twice, 3, 1e-14);
        double matrix[9], rotated[3], back[4], inverse[9], identity[9];
        mf_quat_to_matrix(matrix, ab);
        mf_mat3_apply(rotated, matrix, v);
        assert_all_near(rotated, once, 3, 1e-14);
        assert_true(fabs(mf_mat3_determinant(matrix) - 1.0) < 1e-14);
        mf_mat3_transpose(inverse, matrix);
        double again[3];
        mf_mat3_apply_transposed(again, matrix, rotated);
        assert_all_near(again, v, 3, 1e-14);
        double first[3] = {1.0, 0.0, 0.0}, direction[3], turned[4];
        mf_quat_to_rotation_vector(direction, ab);
        mf_quat_from_axis_angle(turned, direction, mf_vec3_length(direction));
        mf_quat_rotate(again, turned, first);
        assert_all_near(again, (const double[3]){matrix[0], matrix[3], matrix[6]}, 3, 1e-14);
        mf_mat3_multiply(identity, matrix, inverse);
        assert_all_near(identity, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9, 1e-14);
        mf_quat_from_matrix(back, matrix);
        double sign = ab[0] < 0.0 ? -1.0 : 1.0;
        for (int k = 0; k < 4; k++)
            ab[k] *= sign;
        assert_true(back[0] >= 0.0);
        assert_all_near(back, ab, 4, 1e-14);
        mf_quat_multiply(a, a, b); // in place
        assert_all_near(a,
                        ab[0] * a[0] < 0.0 ? (const double[4]){-ab[0], -ab[1], -ab[2], -ab[3]} : ab,
                        4, 1e-14);
    }
}

TEST(half_rotations_survive_the_matrix) {
    // w = 0: each of the three other branches of matrix to quaternion
    for (int axis = 1; axis < 4; axis++) {
        double q[4] = {0.0, 0.0, 0.0, 0.0}, matrix[9], back[4];
        q[axis] = 1.0;
        mf_quat_to_matrix(matrix, q);
        mf_quat_from_matrix(back, matrix);
        assert_all_near(back, q, 4, 0.0);
    }
}

TEST(roll_pitch_yaw_follow_urdf) {
    // R = Rz(yaw) Ry(pitch) Rx(roll), by elementary matrices
    for (uint64_t i = 0; i < 10000; i++) {
        double rpy[3] = {random_between(3 * i, -M_PI, M_PI),
                         random_between(3 * i + 1, -M_PI_2, M_PI_2),
                         random_between(3 * i + 2, -M_PI, M_PI)};
        double cr = cos(rpy[0]), sr = sin(rpy[0]), cp = cos(rpy[1]), sp = sin(rpy[1]),
               cy = cos(rpy[2]), sy = sin(rpy[2]);
        const double x[9] = {1, 0, 0, 0, cr, -sr, 0, sr, cr},
                     y[9] = {cp, 0, sp, 0, 1, 0, -sp, 0, cp},
                     z[9] = {cy, -sy, 0, sy, cy, 0, 0, 0, 1};
        double expected[9], found[9], q[4], back[3];
        mf_mat3_multiply(expected, z, y);
        mf_mat3_multiply(expected, expected, x);
        mf_quat_from_rpy(q, rpy);
        mf_quat_to_matrix(found, q);
        assert_all_near(found, expected, 9, 4e-15);
        mf_quat_to_rpy(back, q);
        // roll and yaw lose digits as 1 / cos(pitch)
        assert_all_near(back, rpy, 3, 4e-15 * (1.0 + 1.0 / cp));
    }
}

TEST(straight_up_and_down_keep_the_rotation) {
    for (int sign = -1; sign <= 1; sign += 2) {
        for (uint64_t i = 0; i < 1000; i++) {
            double rpy[3] = {random_between(2 * i, -3.0, 3.0), sign * M_PI_2,
                             random_between(2 * i + 1, -3.0, 3.0)};
            double q[4], again[4], first[9], second[9], back[3];
            mf_quat_from_rpy(q, rpy);
            mf_quat_to_rpy(back, q);
            assert_true(fabs(back[1] - sign * M_PI_2) < 1e-7);
            mf_quat_from_rpy(again, back);
            mf_quat_to_matrix(first, q);
            mf_quat_to_matrix(second, again);
            assert_all_near(second, first, 9, 1e-7);
        }
    }
    double q[4], back[3];
    mf_quat_from_rpy(q, (const double[3]){0.0, M_PI_2, 0.5});
    mf_quat_to_rpy(back, q);
    assert_all_near(back, (const double[3]){0.0, M_PI_2, 0.5}, 3, 1e-7);
}

// ---- inertia -----------------------------------------------------------------------------------

TEST(eigen_solves_known_matrices) {
    double values[3], vectors[9];
    // [[2,1,0],[1,2,0],[0,0,5]]: 1, 3, 5
    mf_mat3_eigen(values, vectors, (const double[6]){2, 2, 5, 1, 0, 0});
    assert_all_near(values, (const double[3]){1, 3, 5}, 3, 1e-15);
    assert_true(fabs(fabs(vectors[0]) - M_SQRT1_2) < 1e-15);
    assert_true(fabs(vectors[0] + vectors[3]) < 1e-15);
    // [[2,-1,0],[-1,2,-1],[0,-1,2]]: 2 - sqrt 2, 2, 2 + sqrt 2
    mf_mat3_eigen(values, NULL, (const double[6]){2, 2, 2, -1, 0, -1});
    assert_all_near(values, (const double[3]){2.0 - M_SQRT2, 2.0, 2.0 + M_SQRT2}, 3, 1e-15);
    // all ones: 0, 0, 3
    mf_mat3_eigen(values, vectors, (const double[6]){1, 1, 1, 1, 1, 1});
    assert_all_near(values, (const double[3]){0, 0, 3}, 3, 1e-15);
    // falling diagonal: sorted, and still a rotation
    mf_mat3_eigen(values, vectors, (const double[6]){3, 2, 1, 0, 0, 0});
    assert_all_near(values, (const double[3]){1, 2, 3}, 3, 0.0);
    assert_true(fabs(mf_mat3_determinant(vectors) - 1.0) < 1e-15);
    mf_mat3_eigen(values, vectors, (const double[6]){0, 0, 0, 0, 0, 0});
    assert_all_near(vectors, (const double[9]){1, 0, 0, 0, 1, 0, 0, 0, 1}, 9, 0.0);
}

TEST(eigen_rebuilds_random_matrices) {
    for (uint64_t i = 0; i < 100000; i++) {
        // entries over twelve decades, as real inertias have
        double a[6], values[3], v[9], largest = 0.0;
        for (uint64_t k = 0; k < 6; k++) {
            a[k] = random_between(12 * i + k, -1.0, 1.0) *
                   pow(10.0, random_between(12 * i + 6 + k, -12.0, 0.0));
            largest = fmax(largest, fabs(a[k]));
        }
        mf_mat3_eigen(values, v, a);
        assert_true(values[0] <= values[1] && values[1] <= values[2]);
        assert_true(fabs(mf_mat3_determinant(v) - 1.0) < 1e-14);
        const double full[9] = {a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]};
        for (int column = 0; column < 3; column++) {
            const double axis[3] = {v[column], v[3 + column], v[6 + column]};
            double image[3], expected[3];
            mf_mat3_apply(image, full, axis);
            mf_vec3_scale(expected, axis, values[column]);
            assert_all_near(image, expected, 3, 2e-15 * largest);
        }
    }
}

TEST(inertia_turns_with_its_body) {
    // a quarter rotation about z swaps xx and yy; xy changes sign; (xz, yz) turns like (x, y)
    double q[4], found[6];
    mf_quat_from_axis_angle(q, (const double[3]){0, 0, 1}, M_PI_2);
    mf_inertia_rotate(found, (const double[6]){1, 2, 3, 0.1, 0.2, 0.3}, q);
    assert_all_near(found, (const double[6]){2, 1, 3, -0.1, -0.3, 0.2}, 6, 1e-15);
    // energy w I w / 2 does not depend on the axes
    for (uint64_t i = 0; i < 1000; i++) {
        const double inertia[6] = {1.5, 2.5, 3.0, 0.1, -0.2, 0.3}, rate[3] = {0.7, -1.1, 0.4};
        double rotated[6], rotated_rate[3];
        random_unit_quaternion(q, i);
        mf_inertia_rotate(rotated, inertia, q);
        mf_quat_rotate(rotated_rate, q, rate);
        double energy[2];
        for (int k = 0; k < 2; k++) {
            const double *a = k ? rotated : inertia, *w = k ? rotated_rate : rate;
            energy[k] = a[0] * w[0] * w[0] + a[1] * w[1] * w[1] + a[2] * w[2] * w[2] +
                        2 * (a[3] * w[0] * w[1] + a[4] * w[0] * w[2] + a[5] * w[1] * w[2]);
        }
        assert_true(fabs(energy[0] - energy[1]) < 1e-14);
    }
}

TEST(inertia_moves_by_the_parallel_axis_theorem) {
    // two points of 1 kg at +-(1, 2, 3): about the center, then about one of them, which leaves
    // one point at distance (2, 4, 6)
    const double own[6] = {2 * 13, 2 * 10, 2 * 5, -2 * 2, -2 * 3, -2 * 6};
    double found[6];
    mf_inertia_translate(found, own, 2.0, (const double[3]){1, 2, 3});
    assert_all_near(found, (const double[6]){52, 40, 20, -8, -12, -24}, 6, 0.0);
    mf_inertia_translate(found, found, -2.0, (const double[3]){1, 2, 3});
    assert_all_near(found, own, 6, 0.0);
}
