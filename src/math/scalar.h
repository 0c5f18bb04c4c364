// Plain double arithmetic for set-up code: importers, builders, poses for pictures. It gives the
// same bits on every machine, compiler and optimization level and needs no libm: only + - * / and
// the square root, all correctly rounded by IEEE 754, and no contraction. Motion kernels use
// math/lane.h instead.
//
// Conventions: quaternions are (w, x, y, z); matrices are 3x3, row-major, nine doubles; symmetric
// matrices and inertias are six doubles xx, yy, zz, xy, xz, yz. Outputs come first and may be the
// same array as an input.
#pragma once

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Excess precision (x87) would change bits; 16 only adds a type narrower than float.
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,
               "mayfly needs arithmetic in the precision of its types");

#define MF_PI 3.14159265358979323846

// ---- numbers -----------------------------------------------------------------------------------

static inline uint64_t mf_bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// By the exponent bits, so that no compiler flag can remove the test.
static inline bool mf_is_finite(double x) {
    return (mf_bits_of(x) & UINT64_C(0x7ff0000000000000)) != UINT64_C(0x7ff0000000000000);
}

static inline bool mf_all_finite(const double *values, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (!mf_is_finite(values[i]))
            return false;
    }
    return true;
}

// Correctly rounded; NaN for x < 0.
static inline double mf_sqrt(double x) {
    return __builtin_sqrt(x);
}

static inline double mf_smaller(double a, double b) {
    return b < a ? b : a;
}

static inline double mf_larger(double a, double b) {
    return b > a ? b : a;
}

static inline uint32_t mf_smaller_u32(uint32_t a, uint32_t b) {
    return b < a ? b : a;
}

static inline uint32_t mf_larger_u32(uint32_t a, uint32_t b) {
    return b > a ? b : a;
}

static inline double mf_abs(double x) {
    return __builtin_fabs(x);
}

// False for NaN.
static inline bool mf_between(double x, double low, double high) {
    return x >= low && x <= high;
}

// `x` limited to [lower, upper]; NaN gives `lower`.
static inline double mf_clamp(double x, double lower, double upper) {
    if (!(x > lower))
        return lower;
    return x < upper ? x : upper;
}

// Largest integer <= x, exact; infinities and NaN come back unchanged.
double mf_floor(double x);

// `angle` [rad] in -pi .. pi.
static inline double mf_wrap_angle(double angle) {
    return angle - 2.0 * MF_PI * mf_floor((angle + MF_PI) / (2.0 * MF_PI));
}

// Sine and cosine of `angle` [rad]. Error below 1 ulp for every finite angle, however large;
// not finite gives NaN. Either pointer may be NULL.
void mf_sin_cos(double angle, double *sine, double *cosine);

// Angle [rad] of the vector (x, y) in [-pi, pi], with the special cases of C's atan2. Error below
// 2 ulp.
double mf_atan2(double y, double x);

// Arc sine and arc cosine [rad]; arguments beyond +-1 count as +-1, NaN gives NaN. Error below
// 2 ulp (arc cosine: of pi/2).
double mf_asin(double x);
double mf_acos(double x);

// e to the power x; 0 below -745.2, infinite above 709.8. Error below 2 ulp of normal results.
double mf_exp(double x);

// Natural logarithm; -infinite at 0, NAN below. Error below 2 ulp.
double mf_log(double x);

// ---- vectors -----------------------------------------------------------------------------------

static inline void mf_vec3_set(double out[3], double x, double y, double z) {
    out[0] = x;
    out[1] = y;
    out[2] = z;
}

static inline void mf_vec3_copy(double out[3], const double a[3]) {
    mf_vec3_set(out, a[0], a[1], a[2]);
}

static inline void mf_vec3_add(double out[3], const double a[3], const double b[3]) {
    mf_vec3_set(out, a[0] + b[0], a[1] + b[1], a[2] + b[2]);
}

static inline void mf_vec3_sub(double out[3], const double a[3], const double b[3]) {
    mf_vec3_set(out, a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

static inline void mf_vec3_scale(double out[3], const double a[3], double factor) {
    mf_vec3_set(out, a[0] * factor, a[1] * factor, a[2] * factor);
}

// out = a + factor * b
static inline void mf_vec3_add_scaled(double out[3], const double a[3], double factor,
                                      const double b[3]) {
    mf_vec3_set(out, a[0] + factor * b[0], a[1] + factor * b[1], a[2] + factor * b[2]);
}

static inline double mf_vec3_dot(const double a[3], const double b[3]) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static inline void mf_vec3_cross(double out[3], const double a[3], const double b[3]) {
    mf_vec3_set(out, a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
                a[0] * b[1] - a[1] * b[0]);
}

// Without intermediate overflow or underflow.
double mf_vec3_length(const double a[3]);

// Scales `a` to length 1. False, and `a` unchanged, when it is zero or not finite.
bool mf_vec3_normalize(double a[3]);

// ---- rotations ---------------------------------------------------------------------------------

static inline void mf_quat_identity(double out[4]) {
    out[0] = 1.0;
    out[1] = out[2] = out[3] = 0.0;
}

// The inverse of a unit quaternion.
static inline void mf_quat_conjugate(double out[4], const double a[4]) {
    out[0] = a[0];
    mf_vec3_set(out + 1, -a[1], -a[2], -a[3]);
}

// out = a b: rotates by b first, then by a.
void mf_quat_multiply(double out[4], const double a[4], const double b[4]);

// Scales to length 1. False, and `q` becomes the identity, when it is zero or not finite.
bool mf_quat_normalize(double q[4]);

// out = q v q*, for a unit quaternion: from body to world when q is body to world.
void mf_quat_rotate(double out[3], const double q[4], const double v[3]);
void mf_quat_rotate_inverse(double out[3], const double q[4], const double v[3]);

// out = position + q v: from a frame at `position` that is rotated by q to the frame that it is in;
// and of a pose in that frame, position and rotation.
void mf_pose_point(double out[3], const double position[3], const double q[4], const double v[3]);
void mf_pose_multiply(double out_position[3], double out_rotation[4], const double position[3],
                      const double q[4], const double inner_position[3],
                      const double inner_rotation[4]);

// Right-handed rotation by `angle` [rad] about `axis`, which need not have length 1; a zero or
// non-finite axis gives the identity.
void mf_quat_from_axis_angle(double out[4], const double axis[3], double angle);

// Roll, pitch, yaw [rad] as in URDF: about the fixed axes x, then y, then z
// (R = Rz(yaw) Ry(pitch) Rx(roll)). The inverse gives roll and yaw in [-pi, pi] and pitch in
// [-pi/2, pi/2]; looking straight up or down, where only a combination of both is defined, it
// gives roll 0.
void mf_quat_from_rpy(double out[4], const double rpy[3]);
void mf_quat_to_rpy(double out[3], const double q[4]);

// Rotation vector [rad] of a unit quaternion, the short way round.
void mf_quat_to_rotation_vector(double out[3], const double q[4]);

// Rotation matrix of a unit quaternion and back (with w >= 0).
void mf_quat_to_matrix(double out[9], const double q[4]);
void mf_quat_from_matrix(double out[4], const double matrix[9]);

// ---- matrices and inertias ---------------------------------------------------------------------

void mf_mat3_multiply(double out[9], const double a[9], const double b[9]);
void mf_mat3_transpose(double out[9], const double a[9]);
void mf_mat3_apply(double out[3], const double a[9], const double v[3]); // out = a v
// out = a^T v
void mf_mat3_apply_transposed(double out[3], const double a[9], const double v[3]);
double mf_mat3_determinant(const double a[9]);
// out = s v, of a symmetric matrix xx, yy, zz, xy, xz, yz.
static inline void mf_sym3_apply(double out[3], const double s[6], const double v[3]) {
    mf_vec3_set(out, s[0] * v[0] + s[3] * v[1] + s[4] * v[2],
                s[3] * v[0] + s[1] * v[1] + s[5] * v[2], s[4] * v[0] + s[5] * v[1] + s[2] * v[2]);
}

// Eigenvalues in rising order and unit eigenvectors as the columns of `vectors`, right-handed
// (a rotation from eigen axes to the given axes). `vectors` may be NULL. For finite values
// whose squares do not overflow.
void mf_mat3_eigen(double values[3], double vectors[9], const double symmetric[6]);

// Inertia [kg m^2] about the same point, in axes rotated by `rotation` (old to new): R I R^T.
void mf_inertia_rotate(double out[6], const double inertia[6], const double rotation[4]);

// Inertia [kg m^2] about a point `offset` [m] away from the center of mass, given the one about the
// center (parallel axis theorem): adds mass * (|offset|^2 E - offset offset^T). A negative mass
// gives the inverse.
void mf_inertia_translate(double out[6], const double inertia[6], double mass,
                          const double offset[3]);
