// Lenses: where a ray meets the picture, and back.
//
// Brown's distortion (1966, "Decentering distortion of lenses", in the order of Bouguet's toolbox
// and OpenCV): with r^2 = x^2 + y^2,
//     x' = x (1 + k1 r^2 + k2 r^4 + k3 r^6) + 2 p1 x y + p2 (r^2 + 2 x^2)
//     y' = y (1 + k1 r^2 + k2 r^4 + k3 r^6) + p1 (r^2 + 2 y^2) + 2 p2 x y.
// By angle (MuRoSimF, section 6.2) and Kannala and Brandt (2006, equation 6): x', y' have the
// direction of x, y and the length of a polynomial of the angle.
//
// A lens maps rays to one pixel each up to the angle at which its radial function stops growing;
// beyond it there is no answer in either direction.
#include <mayfly/camera.h>

#include "math/scalar.h"

enum { SLOPE_STEPS = 4096, NEWTON_STEPS = 20 };
enum { K1, K2, P1, P2, K3 };

static bool is_straight(const mf_Lens *lens) {
    return lens->type == MF_LENS_PINHOLE || lens->type == MF_LENS_BROWN;
}

// ---- the radial function ------------------------------------------------------------------------

// Distance from the center [focal lengths] and its slope: of r, the tangent of the angle, for
// straight lenses, else of the angle.
static double radial(const mf_Lens *lens, double r, double *slope) {
    const double *c = lens->coefficients, s = r * r;
    double value = 1.0, sum = 1.0, power = 1.0;
    switch (lens->type) {
    case MF_LENS_BROWN:
        value = 1.0 + s * (c[K1] + s * (c[K2] + s * c[K3]));
        sum = 1.0 + s * (3.0 * c[K1] + s * (5.0 * c[K2] + s * 7.0 * c[K3]));
        break;
    case MF_LENS_ANGLE:
        for (int i = 0; i < 6; i++) {
            power *= r;
            value += c[i] * power;
            sum += (i + 2) * c[i] * power;
        }
        break;
    case MF_LENS_FISHEYE:
        for (int i = 0; i < 4; i++) {
            power *= s;
            value += c[i] * power;
            sum += (2 * i + 3) * c[i] * power;
        }
        break;
    default:
        break;
    }
    *slope = sum;
    return r * value;
}

// What `radial` takes, of an angle [rad].
static double argument_of(const mf_Lens *lens, double angle) {
    double sine, cosine;
    if (!is_straight(lens))
        return angle;
    mf_sin_cos(angle, &sine, &cosine);
    return cosine > 0.0 ? sine / cosine : (double)__builtin_inf();
}

static bool grows(const mf_Lens *lens, double angle) {
    double slope;
    radial(lens, argument_of(lens, angle), &slope);
    return slope > 0.0;
}

// The first angle at which the radial function does not grow.
static double find_limit(const mf_Lens *lens) {
    const double end = is_straight(lens) ? MF_PI / 2 : MF_PI;
    double low = 0.0, high = end;
    if (lens->type == MF_LENS_PINHOLE)
        return end;
    for (int i = 1; i < SLOPE_STEPS; i++) {
        high = end * i / SLOPE_STEPS;
        if (!grows(lens, high))
            break;
        low = high;
    }
    if (low == high)
        return end;
    while (high - low > 1e-15 * end) {
        const double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high)
            break;
        if (grows(lens, middle))
            low = middle;
        else
            high = middle;
    }
    return low;
}

mf_Lens mf_lens_of(const mf_Camera *camera) {
    if (camera == NULL)
        return (mf_Lens){.limit = 0.0};
    mf_Lens lens = {.type = camera->lens};
    for (int i = 0; i < 2; i++) {
        lens.focal[i] = camera->focal[i];
        lens.center[i] = camera->center[i];
    }
    for (int i = 0; i < 6; i++)
        lens.coefficients[i] = camera->coefficients[i];
    lens.limit = find_limit(&lens);
    return lens;
}

// ---- forward ------------------------------------------------------------------------------------

// Brown's x', y' and, unless NULL, the derivatives dx'/dx, dx'/dy, dy'/dx, dy'/dy.
static void distort(const mf_Lens *lens, double x, double y, double out[2], double slope[4]) {
    const double *c = lens->coefficients, s = x * x + y * y;
    const double factor = 1.0 + s * (c[K1] + s * (c[K2] + s * c[K3]));
    out[0] = x * factor + 2.0 * c[P1] * x * y + c[P2] * (s + 2.0 * x * x);
    out[1] = y * factor + c[P1] * (s + 2.0 * y * y) + 2.0 * c[P2] * x * y;
    if (slope == NULL)
        return;
    const double bend = 2.0 * (c[K1] + s * (2.0 * c[K2] + s * 3.0 * c[K3]));
    slope[0] = factor + x * x * bend + 2.0 * c[P1] * y + 6.0 * c[P2] * x;
    slope[1] = slope[2] = x * y * bend + 2.0 * c[P1] * x + 2.0 * c[P2] * y;
    slope[3] = factor + y * y * bend + 6.0 * c[P1] * y + 2.0 * c[P2] * x;
}

bool mf_lens_project(const mf_Lens *lens, const double point[3], double pixel[2]) {
    if (lens == NULL || point == NULL || pixel == NULL)
        return false;
    const double x = -point[1], y = -point[2], z = point[0];
    const double side = mf_sqrt(x * x + y * y), angle = mf_atan2(side, z);
    double at[2], slope;
    if (!mf_all_finite(point, 3) || !(angle < lens->limit))
        return false;
    if (is_straight(lens)) {
        at[0] = x / z;
        at[1] = y / z;
        if (lens->type == MF_LENS_BROWN)
            distort(lens, x / z, y / z, at, NULL);
    } else {
        const double length = radial(lens, angle, &slope);
        at[0] = side > 0.0 ? length * (x / side) : 0.0;
        at[1] = side > 0.0 ? length * (y / side) : 0.0;
    }
    for (int i = 0; i < 2; i++)
        pixel[i] = lens->focal[i] * at[i] + lens->center[i];
    return true;
}

// ---- back ---------------------------------------------------------------------------------------

// The argument at which the radial function, which grows up to `most`, has the value; below 0:
// there is none. Newton's steps, within an interval that shrinks around the answer.
static double invert(const mf_Lens *lens, double value, double most) {
    double low = 0.0, high = most, slope, at = value < most ? value : 0.5 * most;
    if (mf_is_finite(most) && value >= radial(lens, most, &slope))
        return -1.0;
    for (int i = 0; i < 8 * NEWTON_STEPS; i++) {
        const double error = radial(lens, at, &slope) - value;
        if (error > 0.0)
            high = at;
        else
            low = at;
        double next = at - error / slope;
        if (!(slope > 0.0 && next >= low && next <= high))
            next = mf_is_finite(high) ? 0.5 * (low + high) : 2.0 * low + 1.0;
        if (mf_abs(next - at) <= 1e-16 * (1.0 + at))
            return next;
        at = next;
    }
    return at;
}

// Newton's method in both coordinates, from the answer without tangential distortion.
static bool undistort(const mf_Lens *lens, double at[2]) {
    const double target[2] = {at[0], at[1]}, most = argument_of(lens, lens->limit);
    const double length = mf_sqrt(at[0] * at[0] + at[1] * at[1]);
    double radius = invert(lens, length, most), x, y, error = 0.0;
    if (radius < 0.0)
        radius = most; // the tangential part may still bring it back
    x = length > 0.0 ? at[0] * (radius / length) : 0.0;
    y = length > 0.0 ? at[1] * (radius / length) : 0.0;
    for (int i = 0; i < NEWTON_STEPS; i++) {
        double got[2], d[4];
        distort(lens, x, y, got, d);
        const double u = got[0] - target[0], v = got[1] - target[1];
        const double area = d[0] * d[3] - d[1] * d[2];
        error = mf_abs(u) + mf_abs(v);
        if (!(area > 0.0) || error == 0.0)
            break;
        x -= (d[3] * u - d[1] * v) / area;
        y -= (d[0] * v - d[2] * u) / area;
    }
    at[0] = x;
    at[1] = y;
    return error <= 1e-14 * (1.0 + length) && mf_atan2(mf_sqrt(x * x + y * y), 1.0) < lens->limit;
}

bool mf_lens_ray(const mf_Lens *lens, const double pixel[2], double ray[3]) {
    double at[2], out[3];
    if (lens == NULL || pixel == NULL || ray == NULL)
        return false;
    for (int i = 0; i < 2; i++)
        at[i] = (pixel[i] - lens->center[i]) / lens->focal[i];
    if (!mf_all_finite(at, 2) || (lens->type == MF_LENS_BROWN && !undistort(lens, at)))
        return false;
    if (is_straight(lens)) {
        mf_vec3_set(out, 1.0, -at[0], -at[1]);
    } else {
        const double length = mf_sqrt(at[0] * at[0] + at[1] * at[1]);
        const double angle = invert(lens, length, lens->limit);
        double sine, cosine;
        if (angle < 0.0)
            return false;
        mf_sin_cos(angle, &sine, &cosine);
        const double side = length > 0.0 ? sine / length : 0.0;
        mf_vec3_set(out, cosine, -at[0] * side, -at[1] * side);
    }
    if (!mf_vec3_normalize(out))
        return false;
    mf_vec3_copy(ray, out);
    return true;
}
