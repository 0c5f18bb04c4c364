// The table of shapes, and what it says of any shape.
//
// Solids: textbook moments of inertia. Shells have their mass distributed over the surface: sphere
// 2/3 m r^2; cylinder and capsule as a tube with two discs or half spheres; box as six plates.
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

// ---- volumes and areas --------------------------------------------------------------------------

static double box_volume(const double half[3]) {
    return 8.0 * half[0] * half[1] * half[2];
}

static double box_area(const double half[3]) {
    return 8.0 * (half[0] * half[1] + half[1] * half[2] + half[2] * half[0]);
}

static double cylinder_volume(const double half[3]) {
    return MF_PI * half[0] * half[0] * (2.0 * half[1]);
}

static double cylinder_area(const double half[3]) {
    return 2.0 * MF_PI * half[0] * half[0] + 2.0 * MF_PI * half[0] * (2.0 * half[1]);
}

static double sphere_volume(const double half[3]) {
    return 4.0 * MF_PI * half[0] * half[0] * half[0] / 3.0;
}

static double sphere_area(const double half[3]) {
    return 4.0 * MF_PI * half[0] * half[0];
}

static double capsule_volume(const double half[3]) {
    const double r = half[0];
    return MF_PI * (r * r * (2.0 * half[1]) + 4.0 * r * r * r / 3.0);
}

static double capsule_area(const double half[3]) {
    return 4.0 * MF_PI * half[0] * half[0] + 2.0 * MF_PI * half[0] * (2.0 * half[1]);
}

static double ellipsoid_volume(const double half[3]) {
    return 4.0 * MF_PI * half[0] * half[1] * half[2] / 3.0;
}

// ---- moments of inertia -------------------------------------------------------------------------

static void box_moments(const double s[3], double mass, bool shell, double out[3]) {
    double square[3] = {s[0] * s[0], s[1] * s[1], s[2] * s[2]}, second[3];
    // Second moment of mass along each axis.
    double area = s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
    for (int i = 0; i < 3; i++) {
        double plates = s[(i + 1) % 3] * s[(i + 2) % 3]; // the plates at the ends of axis i
        second[i] = shell ? mass * square[i] * (plates + (area - plates) / 3.0) / area
                          : mass * square[i] / 3.0;
    }
    for (int i = 0; i < 3; i++)
        out[i] = second[(i + 1) % 3] + second[(i + 2) % 3];
}

static void sphere_moments(const double half[3], double mass, bool shell, double out[3]) {
    const double ball = (shell ? 2.0 / 3.0 : 0.4) * mass * half[0] * half[0];
    mf_vec3_set(out, ball, ball, ball);
}

// Tube of height h with two caps of mass `cap` each, whose moments about the tube's center are
// `across` perpendicular to the axis and `along` about it.
static void tube_moments(double out[3], double tube, double wall, double r, double h, double across,
                         double along) {
    // wall: 3 for a solid cylinder, 6 for a thin wall
    out[0] = out[1] = tube * (wall * r * r + h * h) / 12.0 + 2.0 * across;
    out[2] = tube * r * r * wall / 6.0 + 2.0 * along;
}

static void capsule_moments(const double half[3], double mass, bool shell, double out[3]) {
    double r = half[0], h = 2.0 * half[1];
    if (shell) {
        double balls = mass * 2.0 * r / (2.0 * r + h), own = 2.0 * balls * r * r / 3.0;
        double middle = h / 2.0 + r / 2.0; // of a half sphere
        tube_moments(out, mass - balls, 6.0, r, h,
                     (own + balls * (middle * middle - r * r / 4.0)) / 2.0, own / 2.0);
        return;
    }
    double balls = mass * 4.0 * r / (4.0 * r + 3.0 * h), own = 2.0 * balls * r * r / 5.0;
    tube_moments(out, mass - balls, 3.0, r, h, (own + balls * h * (3.0 * r + 2.0 * h) / 8.0) / 2.0,
                 own / 2.0);
}

static void cylinder_moments(const double half[3], double mass, bool shell, double out[3]) {
    double r = half[0], h = 2.0 * half[1];
    if (!shell) {
        tube_moments(out, mass, 3.0, r, h, 0.0, 0.0);
        return;
    }
    double disc = mass * r / (2.0 * r + 2.0 * h);
    tube_moments(out, mass - 2.0 * disc, 6.0, r, h, disc * (r * r + h * h) / 4.0,
                 disc * r * r / 2.0);
}

static void ellipsoid_moments(const double s[3], double mass, bool shell, double out[3]) {
    (void)shell; // has no area
    for (int i = 0; i < 3; i++)
        out[i] = mass * (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]) / 5.0;
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

// ---- normals ------------------------------------------------------------------------------------

// Of the side that the point is on.
static void box_normal(const double half[3], const double at[3], double out[3]) {
    int side = 0;
    for (int i = 1; i < 3; i++)
        if (mf_abs(at[i]) - half[i] > mf_abs(at[side]) - half[side])
            side = i;
    mf_vec3_set(out, 0, 0, 0);
    out[side] = at[side] < 0.0 ? -1.0 : 1.0;
}

static void cylinder_normal(const double half[3], const double at[3], double out[3]) {
    const double round = mf_sqrt(at[0] * at[0] + at[1] * at[1]);
    mf_vec3_set(out, at[0], at[1], 0.0);
    if (mf_abs(at[2]) - half[1] > round - half[0])
        mf_vec3_set(out, 0.0, 0.0, at[2] < 0.0 ? -1.0 : 1.0);
}

static void sphere_normal(const double half[3], const double at[3], double out[3]) {
    (void)half;
    mf_vec3_copy(out, at);
}

static void capsule_normal(const double half[3], const double at[3], double out[3]) {
    mf_vec3_set(out, at[0], at[1], at[2] - mf_clamp(at[2], -half[1], half[1]));
}

static void ellipsoid_normal(const double half[3], const double at[3], double out[3]) {
    for (int i = 0; i < 3; i++)
        out[i] = at[i] / (half[i] * half[i]);
}

static void sphere_normals(const double half[3], double out[3]) {
    (void)half;
    mf_vec3_set(out, 0, 0, 0);
}

static void capsule_normals(const double half[3], double out[3]) {
    mf_vec3_set(out, 0, 0, half[1]);
}

// ---- points -------------------------------------------------------------------------------------

static uint32_t ring_points(double (*out)[3], uint32_t ring, double radius, double height) {
    const double diagonal = 0.70710678118654752440; // sqrt(1/2)
    const double circle[8][2] = {
        {1.0, 0.0},  {diagonal, diagonal},   {0.0, 1.0},  {-diagonal, diagonal},
        {-1.0, 0.0}, {-diagonal, -diagonal}, {0.0, -1.0}, {diagonal, -diagonal}};
    uint32_t stride = ring == 8 ? 1 : 2;
    uint32_t count = 0;
    for (uint32_t i = 0; i < 8; i += stride, count++)
        mf_vec3_set(out[count], radius * circle[i][0], radius * circle[i][1], height);
    return count;
}

static uint32_t box_points(const double half[3], uint32_t ring, double (*out)[3]) {
    (void)ring;
    for (uint32_t i = 0; i < 8; i++)
        mf_vec3_set(out[i], i & 1 ? half[0] : -half[0], i & 2 ? half[1] : -half[1],
                    i & 4 ? half[2] : -half[2]);
    return 8;
}

static uint32_t cylinder_points(const double half[3], uint32_t ring, double (*out)[3]) {
    const uint32_t count = ring_points(out, ring, half[0], -half[1]);
    return count + ring_points(out + count, ring, half[0], half[1]);
}

static uint32_t ellipsoid_points(const double half[3], uint32_t ring, double (*out)[3]) {
    (void)ring;
    for (uint32_t i = 0; i < 6; i++) {
        mf_vec3_set(out[i], 0.0, 0.0, 0.0);
        out[i][i / 2] = i & 1 ? half[i / 2] : -half[i / 2];
    }
    return 6;
}

static uint32_t sphere_points(const double half[3], uint32_t ring, double (*out)[3]) {
    const double r = half[0], diagonal = 0.57735026918962576451 * r; // sqrt(1/3)
    ellipsoid_points((double[3]){r, r, r}, ring, out);
    return ring != 8 ? 6 : 6 + box_points((double[3]){diagonal, diagonal, diagonal}, 8, out + 6);
}

static uint32_t capsule_points(const double half[3], uint32_t ring, double (*out)[3]) {
    (void)ring;
    mf_vec3_set(out[0], 0.0, 0.0, -half[1] - half[0]);
    mf_vec3_set(out[1], 0.0, 0.0, half[1] + half[0]);
    return 2 + cylinder_points(half, 4, out + 2);
}

// ---- fits ---------------------------------------------------------------------------------------

static void edges_fit(const double box[3], bool whole, double out[3]) {
    (void)whole;
    mf_vec3_copy(out, box);
}

static void sphere_fit(const double box[3], bool whole, double out[3]) {
    out[0] = whole ? ellipsoid_radius(box) : (box[0] + box[1] + box[2]) / 3;
}

static void cylinder_fit(const double box[3], bool whole, double out[3]) {
    out[0] = whole ? mf_larger(box[1], box[0]) : (box[0] + box[1]) / 2;
    out[1] = box[2];
}

static void capsule_fit(const double box[3], bool whole, double out[3]) {
    cylinder_fit(box, whole, out);
    out[1] = whole ? out[1] - out[0] : mf_larger(out[1] - out[0] / 2, 0.0);
}

// ---- the table ----------------------------------------------------------------------------------

#define KIND(base)                                                                                 \
    .volume = base##_volume, .moments = base##_moments, .lowest = base##_lowest,                   \
    .normal = base##_normal, .points = base##_points

const mf_ShapeKind mf_shape_kinds[MF_SHAPE_HEIGHTS + 1] = {
    [MF_SHAPE_POINT] = {.collide = MF_COLLIDE_SPHERE, .touch = MF_TOUCH_BALL},
    [MF_SHAPE_BOX] = {3,
                      {0.5, 0.5, 0.5},
                      MF_COLLIDE_BOX,
                      MF_TOUCH_CORNER,
                      MF_SHAPE_BOX,
                      KIND(box),
                      .radius = mf_vec3_length,
                      .box = edges_box,
                      .area = box_area,
                      .normals = edges_box,
                      .fit = edges_fit},
    [MF_SHAPE_CYLINDER] = {2,
                           {1.0, 0.5},
                           MF_COLLIDE_CYLINDER,
                           MF_TOUCH_RIM,
                           MF_SHAPE_CYLINDER,
                           KIND(cylinder),
                           .radius = cylinder_radius,
                           .box = cylinder_box,
                           .area = cylinder_area,
                           .normals = cylinder_box,
                           .fit = cylinder_fit},
    [MF_SHAPE_SPHERE] = {1,
                         {1.0},
                         MF_COLLIDE_SPHERE,
                         MF_TOUCH_BALL,
                         MF_SHAPE_SPHERE,
                         KIND(sphere),
                         .radius = sphere_radius,
                         .box = sphere_box,
                         .area = sphere_area,
                         .normals = sphere_normals,
                         .fit = sphere_fit},
    [MF_SHAPE_CAPSULE] = {2,
                          {1.0, 0.5},
                          MF_COLLIDE_CAPSULE,
                          MF_TOUCH_BALL,
                          MF_SHAPE_CAPSULE,
                          KIND(capsule),
                          .radius = capsule_radius,
                          .box = capsule_box,
                          .area = capsule_area,
                          .normals = capsule_normals,
                          .fit = capsule_fit},
    [MF_SHAPE_MESH] = {.collide = MF_COLLIDE_HULL, .touch = MF_TOUCH_HULL},
    [MF_SHAPE_PLANE] = {.half_count = 3,
                        .half_share = {0.5, 0.5, 0.5},
                        .collide = MF_COLLIDE_PLANE,
                        .touch = MF_TOUCH_NONE},
    [MF_SHAPE_ELLIPSOID] = {3,
                            {1.0, 1.0, 1.0},
                            MF_COLLIDE_ELLIPSOID,
                            MF_TOUCH_OVAL,
                            MF_SHAPE_SPHERE,
                            KIND(ellipsoid),
                            .radius = ellipsoid_radius,
                            .box = edges_box,
                            .normals = edges_box,
                            .fit = edges_fit},
    [MF_SHAPE_HEIGHTS] = {.collide = MF_COLLIDE_SPHERE, .touch = MF_TOUCH_NONE},
};

#define NAMES "box", "cylinder", "sphere", "capsule", "mesh", "plane", "ellipsoid"
const char *const mf_shape_names[] = {"point", NAMES, "heights", NULL};
const char *const mf_mjcf_shapes[] = {"", NAMES, "hfield", "sdf", NULL};

const mf_ShapeKind *mf_shape_kind_of(mf_CollideKind kind) {
    uint32_t type = MF_SHAPE_BOX;
    while (type < MF_SHAPE_HEIGHTS && mf_shape_kinds[type].collide != kind)
        type++;
    return &mf_shape_kinds[type];
}

void mf_collide_box(mf_CollideKind kind, const double half[3], double out[3]) {
    const mf_ShapeKind *row = mf_shape_kind_of(kind);
    if (row->box != NULL)
        row->box(half, out);
    else
        mf_vec3_copy(out, half);
}

void mf_shape_half(mf_ShapeType type, const double size[3], double out[3]) {
    const mf_ShapeKind *kind = &mf_shape_kinds[type];
    for (uint32_t i = 0; i < 3; i++)
        out[i] = i < kind->half_count ? kind->half_share[i] * size[i] : 0.0;
}

void mf_shape_size(mf_ShapeType type, const double half[3], double out[3]) {
    const mf_ShapeKind *kind = &mf_shape_kinds[type];
    for (uint32_t i = 0; i < 3; i++)
        out[i] = i < kind->half_count ? half[i] / kind->half_share[i] : 0.0;
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
