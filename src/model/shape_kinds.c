// The table of shapes, and what it says of any shape.
#include "model/shape_kinds.h"

#include "math/scalar.h"

#include <math.h>

static double with_sign(double size, double sign) {
    return sign < 0.0 ? -size : size;
}

// ---- boxes around shapes ------------------------------------------------------------------------

static void edges_box(const double half[3], double out[3]) {
    mf_vec3_copy(out, half);
}

static void sphere_box(const double half[3], double out[3]) {
    mf_vec3_set(out, half[0], half[0], half[0]);
}

static void cylinder_box(const double half[3], double out[3]) {
    mf_vec3_set(out, half[0], half[0], half[1]);
}

static void capsule_box(const double half[3], double out[3]) {
    mf_vec3_set(out, half[0], half[0], half[1] + half[0]);
}

// ---- balls around shapes ------------------------------------------------------------------------

static double sphere_radius(const double half[3]) {
    return half[0];
}

static double cylinder_radius(const double half[3]) {
    return mf_sqrt(half[0] * half[0] + half[1] * half[1]);
}

static double capsule_radius(const double half[3]) {
    return half[0] + half[1];
}

static double ellipsoid_radius(const double half[3]) {
    return mf_larger(half[0], mf_larger(half[1], half[2]));
}

// ---- volumes ------------------------------------------------------------------------------------

static double box_volume(const double half[3]) {
    return 2 * half[0] * (2 * half[1]) * (2 * half[2]);
}

static double cylinder_volume(const double half[3]) {
    return MF_PI * half[0] * half[0] * (2 * half[1]);
}

static double sphere_volume(const double half[3]) {
    return MF_PI * half[0] * half[0] * half[0] * 4 / 3;
}

static double capsule_volume(const double half[3]) {
    return MF_PI * half[0] * half[0] * (2 * half[1] + half[0] * 4 / 3);
}

static double ellipsoid_volume(const double half[3]) {
    return MF_PI * half[0] * half[1] * half[2] * 4 / 3;
}

// ---- lowest points ------------------------------------------------------------------------------

static void box_lowest(const double half[3], const double up[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = -with_sign(half[i], up[i]);
}

static void cylinder_lowest(const double half[3], const double up[3], double out[3]) {
    const double flat = mf_sqrt(up[0] * up[0] + up[1] * up[1]);
    mf_vec3_set(out, 0.0, 0.0, -with_sign(half[1], up[2]));
    for (int i = 0; i < 2 && flat > 0.0; i++)
        out[i] = -half[0] * up[i] / flat;
}

static void sphere_lowest(const double half[3], const double up[3], double out[3]) {
    mf_vec3_scale(out, up, -half[0]);
}

static void capsule_lowest(const double half[3], const double up[3], double out[3]) {
    mf_vec3_scale(out, up, -half[0]);
    out[2] -= with_sign(half[1], up[2]);
}

static void ellipsoid_lowest(const double half[3], const double up[3], double out[3]) {
    double sum = 0.0;
    for (int i = 0; i < 3; i++)
        sum += half[i] * up[i] * half[i] * up[i];
    for (int i = 0; i < 3; i++)
        out[i] = sum > 0.0 ? -half[i] * half[i] * up[i] / mf_sqrt(sum) : 0.0;
}

// ---- the table ----------------------------------------------------------------------------------

const mf_ShapeKind mf_shape_kinds[MF_SHAPE_HEIGHTS + 1] = {
    [MF_SHAPE_POINT] = {.name = "point"},
    [MF_SHAPE_BOX] = {"box", 3, {0.5, 0.5, 0.5}, edges_box, mf_vec3_length, box_volume, box_lowest},
    [MF_SHAPE_CYLINDER] = {"cylinder",
                           2,
                           {1.0, 0.5},
                           cylinder_box,
                           cylinder_radius,
                           cylinder_volume,
                           cylinder_lowest},
    [MF_SHAPE_SPHERE] =
        {"sphere", 1, {1.0}, sphere_box, sphere_radius, sphere_volume, sphere_lowest},
    [MF_SHAPE_CAPSULE] =
        {"capsule", 2, {1.0, 0.5}, capsule_box, capsule_radius, capsule_volume, capsule_lowest},
    [MF_SHAPE_MESH] = {.name = "mesh"},
    [MF_SHAPE_PLANE] = {.name = "plane", .half_count = 3, .half_share = {0.5, 0.5, 0.5}},
    [MF_SHAPE_ELLIPSOID] = {"ellipsoid",
                            3,
                            {1.0, 1.0, 1.0},
                            edges_box,
                            ellipsoid_radius,
                            ellipsoid_volume,
                            ellipsoid_lowest},
    [MF_SHAPE_HEIGHTS] = {.name = "hfield"},
};

void mf_shape_half(mf_ShapeType type, const double size[3], double out[3]) {
    const mf_ShapeKind *kind = &mf_shape_kinds[type];
    for (uint32_t i = 0; i < 3; i++)
        out[i] = i < kind->half_count ? kind->half_share[i] * size[i] : 0.0;
}

bool mf_shape_box(mf_ShapeType type, const double size[3], const mf_Mesh *mesh, double middle[3],
                  double half[3]) {
    double own[3];
    mf_vec3_set(middle, 0.0, 0.0, 0.0);
    mf_vec3_set(half, 0.0, 0.0, 0.0);
    if (mesh != NULL) {
        mf_mesh_box(mesh, middle, half);
        return true;
    }
    if (mf_shape_kinds[type].box == NULL)
        return false;
    mf_shape_half(type, size, own);
    mf_shape_kinds[type].box(own, half);
    return true;
}

double mf_shape_radius(mf_ShapeType type, const double size[3], const mf_Mesh *mesh) {
    double half[3], radius = 0.0;
    for (uint32_t i = 0; mesh != NULL && i < mesh->vertex_count; i++) {
        const float *at = mesh->vertices + 3 * (size_t)i;
        radius = mf_larger(radius, mf_vec3_length((double[3]){at[0], at[1], at[2]}));
    }
    if (mesh != NULL || mf_shape_kinds[type].radius == NULL)
        return radius;
    mf_shape_half(type, size, half);
    return mf_shape_kinds[type].radius(half);
}

void mf_mesh_box(const mf_Mesh *mesh, double middle[3], double half[3]) {
    for (uint32_t c = 0; c < 3; c++) {
        double low = INFINITY, high = -INFINITY;
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            const double at = (double)mesh->vertices[3 * (size_t)i + c];
            low = mf_smaller(low, at);
            high = mf_larger(high, at);
        }
        middle[c] = low <= high ? 0.5 * (low + high) : 0.0;
        half[c] = low <= high ? 0.5 * (high - low) : 0.0;
    }
}
