// Vectors, quaternions and rotation matrices in double for set-up code (see math/scalar.h).
// Method: Hamilton quaternions (w, x, y, z); Euler angles in the fixed-axis x, y, z order of URDF;
// matrix to quaternion by the largest of the four components (Shepperd 1978).
#include "math/scalar.h"

// Power of two that brings the largest of `count` finite values, not all 0, near 1. Scaling by it
// is exact except for negligibly small values.
static double scale_to_one(const double *values, uint32_t count) {
    double largest = 0.0;
    for (uint32_t i = 0; i < count; i++) {
        if (mf_abs(values[i]) > largest)
            largest = mf_abs(values[i]);
    }
    double scale = 1.0;
    while (largest * scale >= 0x1p64)
        scale *= 0x1p-64;
    while (largest * scale < 0x1p-128) // 2^-64 would need 2^1024 for the smallest double
        scale *= 0x1p64;
    return scale;
}

static bool all_zero(const double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (values[i] != 0.0)
            return false;
    }
    return true;
}

static bool normalize(double *values, uint32_t count) {
    if (!mf_all_finite(values, count) || all_zero(values, count))
        return false;
    double scale = scale_to_one(values, count);
    double sum = 0.0;
    for (uint32_t i = 0; i < count; i++)
        sum += (values[i] * scale) * (values[i] * scale);
    double length = mf_sqrt(sum);
    for (uint32_t i = 0; i < count; i++)
        values[i] = values[i] * scale / length;
    return true;
}

double mf_vec3_length(const double a[3]) {
    if (!mf_all_finite(a, 3))
        return mf_abs(a[0]) + mf_abs(a[1]) + mf_abs(a[2]);
    if (all_zero(a, 3))
        return 0.0;
    double scale = scale_to_one(a, 3);
    double b[3];
    mf_vec3_scale(b, a, scale);
    return mf_sqrt(mf_vec3_dot(b, b)) / scale;
}

bool mf_vec3_normalize(double a[3]) {
    return normalize(a, 3);
}

bool mf_quat_normalize(double q[4]) {
    if (normalize(q, 4))
        return true;
    mf_quat_identity(q);
    return false;
}

void mf_quat_multiply(double out[4], const double a[4], const double b[4]) {
    double w = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    double x = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    double y = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    double z = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
    out[0] = w;
    mf_vec3_set(out + 1, x, y, z);
}

void mf_quat_rotate(double out[3], const double q[4], const double v[3]) {
    // v + 2 u x (u x v + w v), with q = (w, u)
    double inner[3], twice[3];
    mf_vec3_cross(inner, q + 1, v);
    mf_vec3_add_scaled(inner, inner, q[0], v);
    mf_vec3_cross(twice, q + 1, inner);
    mf_vec3_add_scaled(out, v, 2.0, twice);
}

void mf_quat_rotate_inverse(double out[3], const double q[4], const double v[3]) {
    double inverse[4];
    mf_quat_conjugate(inverse, q);
    mf_quat_rotate(out, inverse, v);
}

void mf_pose_point(double out[3], const double position[3], const double q[4], const double v[3]) {
    double rotated[3];
    mf_quat_rotate(rotated, q, v);
    mf_vec3_add(out, rotated, position);
}

void mf_pose_multiply(double out_position[3], double out_rotation[4], const double position[3],
                      const double q[4], const double inner_position[3],
                      const double inner_rotation[4]) {
    mf_pose_point(out_position, position, q, inner_position);
    mf_quat_multiply(out_rotation, q, inner_rotation);
}

void mf_quat_from_axis_angle(double out[4], const double axis[3], double angle) {
    double unit[3];
    mf_vec3_copy(unit, axis);
    if (!mf_vec3_normalize(unit)) {
        mf_quat_identity(out);
        return;
    }
    double sine, cosine;
    mf_sin_cos(0.5 * angle, &sine, &cosine);
    out[0] = cosine;
    mf_vec3_scale(out + 1, unit, sine);
}

void mf_quat_from_rpy(double out[4], const double rpy[3]) {
    double roll[4] = {1.0, 0.0, 0.0, 0.0}, pitch[4] = {1.0, 0.0, 0.0, 0.0},
           yaw[4] = {1.0, 0.0, 0.0, 0.0};
    mf_sin_cos(0.5 * rpy[0], &roll[1], &roll[0]);
    mf_sin_cos(0.5 * rpy[1], &pitch[2], &pitch[0]);
    mf_sin_cos(0.5 * rpy[2], &yaw[3], &yaw[0]);
    double rotated[4];
    mf_quat_multiply(rotated, pitch, roll);
    mf_quat_multiply(out, yaw, rotated);
}

void mf_quat_to_rpy(double out[3], const double q[4]) {
    double m[9];
    mf_quat_to_matrix(m, q);
    // First column of R: (cos yaw cos pitch, sin yaw cos pitch, -sin pitch). The arc tangent of
    // both keeps its accuracy near +-90 degrees, where the arc sine loses half the digits.
    double level = mf_sqrt(m[0] * m[0] + m[3] * m[3]);
    double pitch = mf_atan2(-m[6], level);
    // Below this cosine of pitch roll and yaw are rounding noise of the matrix.
    if (level < 1e-12) {
        mf_vec3_set(out, 0.0, pitch, mf_atan2(-m[1], m[4]));
        return;
    }
    mf_vec3_set(out, mf_atan2(m[7], m[8]), pitch, mf_atan2(m[3], m[0]));
}

void mf_quat_to_rotation_vector(double out[3], const double q[4]) {
    const double sign = q[0] < 0.0 ? -1.0 : 1.0;
    const double size = mf_vec3_length(q + 1);
    // 2 atan2(s, w) / s goes to 2 / w.
    const double factor = size > 1e-9 ? 2.0 * mf_atan2(size, sign * q[0]) / size : 2.0;
    mf_vec3_scale(out, q + 1, sign * factor);
}

void mf_quat_to_matrix(double out[9], const double q[4]) {
    double w = q[0], x = q[1], y = q[2], z = q[3];
    mf_vec3_set(out, 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y));
    mf_vec3_set(out + 3, 2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x));
    mf_vec3_set(out + 6, 2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y));
}

void mf_quat_from_matrix(double out[4], const double matrix[9]) {
    const double *m = matrix;
    double trace = m[0] + m[4] + m[8];
    double q[4];
    // Four times the product of the largest component with each of the others.
    if (trace >= m[0] && trace >= m[4] && trace >= m[8]) {
        q[0] = 1.0 + trace;
        mf_vec3_set(q + 1, m[7] - m[5], m[2] - m[6], m[3] - m[1]);
    } else if (m[0] >= m[4] && m[0] >= m[8]) {
        q[0] = m[7] - m[5];
        mf_vec3_set(q + 1, 1.0 + m[0] - m[4] - m[8], m[1] + m[3], m[2] + m[6]);
    } else if (m[4] >= m[8]) {
        q[0] = m[2] - m[6];
        mf_vec3_set(q + 1, m[1] + m[3], 1.0 - m[0] + m[4] - m[8], m[5] + m[7]);
    } else {
        q[0] = m[3] - m[1];
        mf_vec3_set(q + 1, m[2] + m[6], m[5] + m[7], 1.0 - m[0] - m[4] + m[8]);
    }
    mf_quat_normalize(q);
    double sign = q[0] < 0.0 ? -1.0 : 1.0;
    for (int i = 0; i < 4; i++)
        out[i] = sign * q[i];
}
