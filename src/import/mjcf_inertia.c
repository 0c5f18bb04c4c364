// Mass of bodies: from <inertial>, or summed over the body's geoms.
//
// Principal axes follow MuJoCo's convention, because it is observable (sensors may be in the
// inertial frame): Jacobi rotations of the largest off-diagonal element, accumulated as a
// quaternion; moments in descending order. Method: Golub and Van Loan 2013, 8.5.
#include "import/mjcf_rows.h"

#include "math/scalar.h"

#include <string.h>

#define TINY 1e-14
#define CONVERGED 1e-15 // [1] of the trace

// D = R^T A R for the rotation matrix of the quaternion.
static void rotated(double out[9], const double rotation[4], const double full[9]) {
    double orientation[9], back[9];
    mf_quat_to_matrix(orientation, rotation);
    mf_mat3_transpose(back, orientation);
    mf_mat3_multiply(out, back, full);
    mf_mat3_multiply(out, out, orientation);
}

// One Jacobi rotation in the plane (row, column); false when it is the identity.
static bool jacobi(double rotation[4], const double d[9], int row, int column) {
    double theta = (d[4 * column] - d[4 * row]) / (2.0 * d[3 * row + column]);
    double root = mf_sqrt(1.0 + theta * theta);
    double t = theta >= 0.0 ? 1.0 / (theta + root) : -1.0 / (root - theta);
    double c = 1.0 / mf_sqrt(1.0 + t * t);
    if (c == 1.0)
        return false;
    int axis = 3 - row - column;
    double orientation[4] = {0.0, 0.0, 0.0, 0.0};
    double half = mf_sqrt(0.5 - 0.5 * c);
    orientation[axis + 1] = (theta >= 0.0) == (axis == 1) ? half : -half;
    orientation[0] = mf_sqrt(1.0 - half * half);
    mf_quat_normalize(orientation);
    mf_quat_multiply(rotation, rotation, orientation);
    mf_quat_normalize(rotation);
    return true;
}

bool mf_mjcf_principal(double moments[3], double axes[4], const double inertia[6]) {
    const double *a = inertia;
    const double full[9] = {a[0], a[3], a[4], a[3], a[1], a[5], a[4], a[5], a[2]};
    double d[9];
    double small = CONVERGED * (mf_abs(a[0]) + mf_abs(a[1]) + mf_abs(a[2]));
    mf_quat_identity(axes);
    for (int sweep = 0; sweep < 500; sweep++) {
        rotated(d, axes, full);
        mf_vec3_set(moments, d[0], d[4], d[8]);
        double xy = mf_abs(d[1]), xz = mf_abs(d[2]), yz = mf_abs(d[5]);
        int row = xy > xz && xy > yz ? 0 : xz > yz ? 0 : 1;
        int column = xy > xz && xy > yz ? 1 : 2;
        if (!(mf_abs(d[3 * row + column]) > small) || !jacobi(axes, d, row, column))
            break;
    }
    // Bubble sort; each swap is a rotation by 90 degrees about the third axis.
    for (int pass = 0; pass < 3; pass++) {
        int at = pass % 2;
        if (!(moments[at] + small < moments[at + 1]))
            continue;
        double swap = moments[at], rotation[4] = {0.707106781186548, 0.0, 0.0, 0.0};
        moments[at] = moments[at + 1];
        moments[at + 1] = swap;
        rotation[(at + 2) % 3 + 1] = rotation[0];
        mf_quat_multiply(axes, axes, rotation);
        mf_quat_normalize(axes);
    }
    mf_mjcf_unit(axes);
    return moments[2] >= TINY;
}

// ---- <inertial> --------------------------------------------------------------------------------

typedef struct Inertial {
    double position[3], mass, diagonal[3], full[6];
    mf_MjcfOrientation orientation;
} Inertial;

#define T Inertial
static const mf_MjcfField inertial_fields[] = {NUMBERS("pos", 3, 3, position),
                                               NUMBER("mass", mass),
                                               NUMBERS("diaginertia", 3, 3, diagonal),
                                               NUMBERS("fullinertia", 6, 6, full),
                                               ORIENTATION(orientation),
                                               END};

static mf_Status read_inertial(mf_Mjcf *m, mf_MjcfBody *body) {
    Inertial inertial = {.orientation = {MF_MJCF_QUAT, {1.0}}};
    const mf_XmlNode *node = body->inertial;
    MF_TRY(mf_mjcf_read(m, node, inertial_fields, &inertial));
    MF_TRY(mf_mjcf_rotation(m, node, &inertial.orientation, body->axes));
    if (mf_xml_attribute(node, "mass") == NULL || mf_xml_attribute(node, "pos") == NULL)
        return mf_mjcf_fail(m, node, "<inertial> needs the attributes 'pos' and 'mass'");
    body->mass = inertial.mass;
    mf_vec3_copy(body->center, inertial.position);
    mf_vec3_copy(body->moments, inertial.diagonal);
    if (mf_xml_attribute(node, "fullinertia") == NULL)
        return MF_OK;
    for (uint32_t i = 0; i < node->attribute_count; i++) {
        const char *name = node->attributes[i].name;
        if (strcmp(name, "pos") != 0 && strcmp(name, "mass") != 0 &&
            strcmp(name, "fullinertia") != 0)
            return mf_mjcf_fail(m, node, "<inertial>: fullinertia excludes %.40s", name);
    }
    if (!mf_mjcf_principal(body->moments, body->axes, inertial.full))
        return mf_mjcf_fail(m, node,
                            "<inertial> fullinertia: its principal moments must be > 0, found %g",
                            body->moments[2]);
    return MF_OK;
}

// ---- from geoms --------------------------------------------------------------------------------

// [kg m^2] of a geom about the body's center, body axes.
static void add_inertia(double sum[6], const mf_MjcfGeom *geom, const double center[3]) {
    const double diagonal[6] = {geom->moments[0], geom->moments[1], geom->moments[2], 0, 0, 0};
    double rotated_inertia[6], offset[3];
    mf_inertia_rotate(rotated_inertia, diagonal, geom->axes);
    mf_vec3_sub(offset, geom->center, center);
    mf_inertia_translate(rotated_inertia, rotated_inertia, geom->weight, offset);
    for (int i = 0; i < 6; i++)
        sum[i] += rotated_inertia[i];
}

static mf_Status sum_geoms(mf_Mjcf *m, mf_MjcfBody *body) {
    if (body->geom_count == 0)
        return MF_OK;
    const mf_MjcfGeom *geoms = mf_mjcf_geoms(m) + body->first_geom, *only = NULL;
    uint32_t count = 0;
    double mass = 0.0, center[3] = {0, 0, 0}, inertia[6] = {0};
    for (uint32_t i = 0; i < body->geom_count; i++) {
        if (!(geoms[i].weight > TINY))
            continue;
        only = &geoms[i];
        count++;
        mass += geoms[i].weight;
        mf_vec3_add_scaled(center, center, geoms[i].weight, geoms[i].center);
    }
    if (count == 0)
        return MF_OK;
    body->mass = mass;
    if (count == 1) {
        mf_vec3_copy(body->center, only->center);
        memcpy(body->axes, only->axes, sizeof body->axes);
        mf_vec3_copy(body->moments, only->moments);
        return MF_OK;
    }
    for (int i = 0; i < 3; i++)
        body->center[i] = center[i] / mass;
    for (uint32_t i = 0; i < body->geom_count; i++) {
        if (geoms[i].weight > TINY)
            add_inertia(inertia, &geoms[i], body->center);
    }
    if (!mf_mjcf_principal(body->moments, body->axes, inertia))
        return mf_mjcf_fail(m, body->node, "body '%.100s': the inertia of its geoms must be > 0",
                            body->name);
    return MF_OK;
}

// ---- bounds ------------------------------------------------------------------------------------

static mf_Status check_body(mf_Mjcf *m, mf_MjcfBody *body) {
    const mf_XmlNode *node = body->inertial ? body->inertial : body->node;
    double *i = body->moments;
    if (!(body->mass >= 0.0) || !(i[0] >= 0.0) || !(i[1] >= 0.0) || !(i[2] >= 0.0) ||
        !mf_is_finite(body->mass) || !mf_all_finite(i, 3) || !mf_all_finite(body->center, 3))
        return mf_mjcf_fail(
            m, node,
            "body '%.100s': mass and inertia must be >= 0 and finite, found %g kg and %g, %g, %g",
            body->name, body->mass, i[0], i[1], i[2]);
    body->mass = body->mass > m->bound_mass ? body->mass : m->bound_mass;
    for (int k = 0; k < 3; k++)
        i[k] = i[k] > m->bound_inertia ? i[k] : m->bound_inertia;
    if (i[0] + i[1] >= i[2] && i[1] + i[2] >= i[0] && i[0] + i[2] >= i[1])
        return MF_OK;
    if (!m->balance_inertia)
        return mf_mjcf_fail(m, node,
                            "body '%.100s': no solid has the principal moments %g, %g, %g (each "
                            "must be at most the sum of the others; balanceinertia repairs it)",
                            body->name, i[0], i[1], i[2]);
    double mean = (i[0] + i[1] + i[2]) / 3.0;
    mf_vec3_set(i, mean, mean, mean);
    return mf_draft_note(&m->draft, true, node->line,
                         "body '%.100s': impossible inertia replaced by its mean (balanceinertia)",
                         body->name);
}

// Scales all masses according to settotalmass.
static mf_Status set_total(mf_Mjcf *m) {
    double sum = 0.0;
    for (uint32_t i = 1; i < m->bodies.count; i++)
        sum += mf_mjcf_bodies(m)[i].mass;
    if (!(m->total_mass > 0.0))
        return MF_OK;
    double scale = m->total_mass / (sum > 1e-15 ? sum : 1e-15);
    for (uint32_t i = 1; i < m->bodies.count; i++) {
        mf_MjcfBody *body = &mf_mjcf_bodies(m)[i];
        body->mass *= scale;
        mf_vec3_scale(body->moments, body->moments, scale);
    }
    return MF_OK;
}

mf_Status mf_mjcf_weigh_bodies(mf_Mjcf *m) {
    mf_quat_identity(mf_mjcf_bodies(m)[0].axes);
    for (uint32_t i = 1; i < m->bodies.count; i++) {
        mf_MjcfBody *body = &mf_mjcf_bodies(m)[i];
        mf_quat_identity(body->axes);
        if (body->inertial != NULL)
            MF_TRY(read_inertial(m, body));
        else // MuJoCo's compiler gives the frame of the inertia the values of the body's own
            mf_vec3_copy(body->center, body->given);
        bool from_geoms = m->inertia_from_geom == MF_MJCF_TRUE ||
                          (m->inertia_from_geom == MF_MJCF_AUTO && body->inertial == NULL);
        if (from_geoms)
            MF_TRY(sum_geoms(m, body));
        MF_TRY(check_body(m, body));
    }
    return set_total(m);
}
