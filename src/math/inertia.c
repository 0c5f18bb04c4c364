// 3x3 matrices and inertia tensors in double for set-up code (see math/scalar.h).
// Method: symmetric eigenproblem by cyclic Jacobi rotations (Golub and Van Loan 2013, 8.5) with a
// fixed number of sweeps, so that the work and the bits do not depend on a tolerance; it converges
// quadratically and five sweeps reach rounding for 3x3, eight are done.
#include "math/scalar.h"

#include <stddef.h>

enum { SWEEPS = 8 };

void mf_mat3_multiply(double out[9], const double a[9], const double b[9]) {
    double product[9];
    for (int row = 0; row < 3; row++) {
        for (int column = 0; column < 3; column++)
            product[3 * row + column] = a[3 * row] * b[column] + a[3 * row + 1] * b[3 + column] +
                                        a[3 * row + 2] * b[6 + column];
    }
    memcpy(out, product, sizeof product);
}

void mf_mat3_transpose(double out[9], const double a[9]) {
    const double transposed[9] = {a[0], a[3], a[6], a[1], a[4], a[7], a[2], a[5], a[8]};
    memcpy(out, transposed, sizeof transposed);
}

void mf_mat3_apply_transposed(double out[3], const double a[9], const double v[3]) {
    const double x = v[0], y = v[1], z = v[2];
    for (int c = 0; c < 3; c++)
        out[c] = a[c] * x + a[3 + c] * y + a[6 + c] * z;
}

void mf_mat3_apply(double out[3], const double a[9], const double v[3]) {
    mf_vec3_set(out, mf_vec3_dot(a, v), mf_vec3_dot(a + 3, v), mf_vec3_dot(a + 6, v));
}

double mf_mat3_determinant(const double a[9]) {
    double cross[3];
    mf_vec3_cross(cross, a + 3, a + 6);
    return mf_vec3_dot(a, cross);
}

// One Jacobi rotation of rows and columns p, q that makes m[p][q] zero; v collects the rotations.
static void annihilate(double m[9], double v[9], int p, int q) {
    double off = m[3 * p + q];
    if (off == 0.0)
        return;
    // Smaller root of t^2 + 2 theta t - 1 = 0, t = tan(turn). For a large theta its square may
    // overflow; t is then 0, which is right to the last bit.
    double theta = (m[4 * q] - m[4 * p]) / (2.0 * off);
    double t = 1.0 / (mf_abs(theta) + mf_sqrt(theta * theta + 1.0));
    if (theta < 0.0)
        t = -t;
    double c = 1.0 / mf_sqrt(t * t + 1.0), s = t * c;
    int r = 3 - p - q;
    double rp = m[3 * r + p], rq = m[3 * r + q];
    m[4 * p] -= t * off;
    m[4 * q] += t * off;
    m[3 * p + q] = m[3 * q + p] = 0.0;
    m[3 * r + p] = m[3 * p + r] = c * rp - s * rq;
    m[3 * r + q] = m[3 * q + r] = s * rp + c * rq;
    for (int i = 0; i < 3; i++) {
        double vp = v[3 * i + p], vq = v[3 * i + q];
        v[3 * i + p] = c * vp - s * vq;
        v[3 * i + q] = s * vp + c * vq;
    }
}

static void swap_columns(double values[3], double v[9], int p, int q) {
    double value = values[p];
    values[p] = values[q];
    values[q] = value;
    for (int i = 0; i < 3; i++) {
        double part = v[3 * i + p];
        v[3 * i + p] = v[3 * i + q];
        v[3 * i + q] = part;
    }
}

void mf_mat3_eigen(double values[3], double vectors[9], const double symmetric[6]) {
    const double *a = symmetric;
    double m[9] = {a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]};
    double v[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0};
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        annihilate(m, v, 0, 1);
        annihilate(m, v, 0, 2);
        annihilate(m, v, 1, 2);
    }
    mf_vec3_set(values, m[0], m[4], m[8]);
    if (values[1] < values[0])
        swap_columns(values, v, 0, 1);
    if (values[2] < values[1])
        swap_columns(values, v, 1, 2);
    if (values[1] < values[0])
        swap_columns(values, v, 0, 1);
    if (vectors == NULL)
        return;
    // Swaps mirror; turn the last axis so that the result is a rotation.
    double sign = mf_mat3_determinant(v) < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 3; i++)
        mf_vec3_set(vectors + 3 * i, v[3 * i], v[3 * i + 1], sign * v[3 * i + 2]);
}

void mf_inertia_rotate(double out[6], const double inertia[6], const double rotation[4]) {
    const double *a = inertia;
    const double full[9] = {a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]};
    double orientation[9], back[9], product[9];
    mf_quat_to_matrix(orientation, rotation);
    mf_mat3_transpose(back, orientation);
    mf_mat3_multiply(product, orientation, full);
    mf_mat3_multiply(product, product, back);
    mf_vec3_set(out, product[0], product[4], product[8]);
    mf_vec3_set(out + 3, product[1], product[2], product[5]);
}

void mf_inertia_translate(double out[6], const double inertia[6], double mass,
                          const double offset[3]) {
    double x = offset[0], y = offset[1], z = offset[2];
    out[0] = inertia[0] + mass * (y * y + z * z);
    out[1] = inertia[1] + mass * (x * x + z * z);
    out[2] = inertia[2] + mass * (x * x + y * y);
    out[3] = inertia[3] - mass * (x * y);
    out[4] = inertia[4] - mass * (x * z);
    out[5] = inertia[5] - mass * (y * z);
}
