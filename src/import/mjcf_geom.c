// Geoms: size and pose from the file (center and orientation, two ends, or a mesh to be fitted),
// and their mass properties.
//
// Solids: textbook moments of inertia. Shells have their mass distributed over the surface: sphere
// 2/3 m r^2; cylinder and capsule as a tube with two discs or half spheres; box as six plates.
#include "import/mjcf.h"

#include "math/scalar.h"

#include <string.h>

#define TINY 1e-14 // lengths, volumes and masses below this count as zero, as in MuJoCo

static const uint8_t size_counts[] = {2, 0, 1, 2, 3, 2, 3, 0, 0}; // by geom type

// ---- size and pose -----------------------------------------------------------------------------

static mf_Status from_ends(const mf_Mjcf *m, mf_MjcfGeom *geom) {
    mf_MjcfOrientation z = {MF_MJCF_ZAXIS, {0.0}};
    if (geom->type != MF_MJCF_CAPSULE && geom->type != MF_MJCF_CYLINDER &&
        geom->type != MF_MJCF_ELLIPSOID && geom->type != MF_MJCF_BOX)
        return mf_mjcf_fail(m, geom->node,
                            "<geom> fromto: expected a capsule, cylinder, ellipsoid "
                            "or box, found a %s",
                            mf_mjcf_shapes[geom->type]);
    mf_vec3_sub(z.value, geom->fromto, geom->fromto + 3);
    double half = mf_vec3_length(z.value) / 2;
    if (half < TINY)
        return mf_mjcf_fail(m, geom->node, "<geom> fromto: the two points are the same");
    for (int i = 0; i < 3; i++)
        geom->position[i] = (geom->fromto[i] + geom->fromto[i + 3]) / 2;
    geom->size[2] = half;
    geom->size[1] = size_counts[geom->type] == 3 ? geom->size[0] : half;
    return mf_mjcf_rotation(m, geom->node, &z, geom->rotation);
}

static mf_Status check_size(const mf_Mjcf *m, const mf_MjcfGeom *geom) {
    for (uint32_t i = 0; i < size_counts[geom->type]; i++) {
        bool endless = geom->type == MF_MJCF_PLANE && geom->size[i] == 0.0;
        if (!(geom->size[i] > 0.0) && !endless)
            return mf_mjcf_fail(m, geom->node, "<geom> size: a %s needs %u numbers > 0, found %g",
                                mf_mjcf_shapes[geom->type], size_counts[geom->type], geom->size[i]);
    }
    return MF_OK;
}

// Half the edges and the middle of the box along the mesh's principal axes that contains it.
static void bound_mesh(const mf_Mjcf *m, const mf_MjcfMesh *mesh, double half[3],
                       double middle[3]) {
    const uint32_t count = mf_draft_meshes(&m->draft)[mesh->draft].vertex_count;
    double low[3] = {1e30, 1e30, 1e30}, high[3] = {-1e30, -1e30, -1e30};
    for (uint32_t i = 0; i < count; i++) {
        double at[3];
        mf_vec3_sub(at, &mesh->exact[3 * (size_t)i], mesh->center);
        mf_quat_rotate_inverse(at, mesh->axes, at);
        for (int axis = 0; axis < 3; axis++) {
            low[axis] = at[axis] < low[axis] ? at[axis] : low[axis];
            high[axis] = at[axis] > high[axis] ? at[axis] : high[axis];
        }
    }
    for (int axis = 0; axis < 3; axis++) {
        middle[axis] = (low[axis] + high[axis]) / 2;
        half[axis] = high[axis] - middle[axis];
    }
}

// Fits the smallest primitive whose box contains that of the mesh (fitaabb).
static mf_Status fit_bounds(mf_Mjcf *m, mf_MjcfGeom *geom, mf_MjcfMesh *mesh) {
    static const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    double half[3], middle[3];
    mf_Status status = mf_mjcf_weigh_mesh(m, mesh);
    if (status != MF_OK)
        return status;
    bound_mesh(m, mesh, half, middle);
    mf_vec3_copy(geom->size, half);
    const double wide = mf_larger(half[1], half[0]);
    if (geom->type == MF_MJCF_SPHERE)
        geom->size[0] = mf_larger(half[2], wide);
    else if (geom->type == MF_MJCF_CAPSULE || geom->type == MF_MJCF_CYLINDER)
        mf_vec3_set(geom->size, wide, geom->type == MF_MJCF_CAPSULE ? half[2] - wide : half[2],
                    0.0);
    else if (geom->type != MF_MJCF_ELLIPSOID && geom->type != MF_MJCF_BOX)
        return mf_mjcf_fail(m, geom->node, "<geom>: a %s cannot be fitted to a mesh",
                            mf_mjcf_shapes[geom->type]);
    mf_vec3_scale(geom->size, geom->size, geom->fit_scale);
    mf_mjcf_compose(geom->position, geom->rotation, geom->position, geom->rotation, mesh->center,
                    mesh->axes);
    mf_mjcf_compose(geom->position, geom->rotation, geom->position, geom->rotation, middle,
                    identity);
    return MF_OK;
}

// Fits a primitive to a mesh: the one with the mesh's inertia box.
static mf_Status fit(mf_Mjcf *m, mf_MjcfGeom *geom, mf_MjcfMesh *mesh) {
    if (m->fit_box)
        return fit_bounds(m, geom, mesh);
    mf_Status status = mf_mjcf_weigh_mesh(m, mesh);
    if (status != MF_OK)
        return status;
    const double *i = mesh->moments;
    double half[3] = {mf_sqrt(6.0 * (i[1] + i[2] - i[0]) / mesh->volume) / 2,
                      mf_sqrt(6.0 * (i[0] + i[2] - i[1]) / mesh->volume) / 2,
                      mf_sqrt(6.0 * (i[0] + i[1] - i[2]) / mesh->volume) / 2};
    switch (geom->type) {
    case MF_MJCF_SPHERE:
        geom->size[0] = (half[0] + half[1] + half[2]) / 3;
        break;
    case MF_MJCF_CAPSULE:
        geom->size[0] = (half[0] + half[1]) / 2;
        geom->size[1] = half[2] - geom->size[0] / 2 > 0.0 ? half[2] - geom->size[0] / 2 : 0.0;
        break;
    case MF_MJCF_CYLINDER:
        geom->size[0] = (half[0] + half[1]) / 2;
        geom->size[1] = half[2];
        break;
    case MF_MJCF_ELLIPSOID:
    case MF_MJCF_BOX:
        mf_vec3_copy(geom->size, half);
        break;
    default:
        return mf_mjcf_fail(m, geom->node, "<geom>: a %s cannot be fitted to a mesh",
                            mf_mjcf_shapes[geom->type]);
    }
    mf_vec3_scale(geom->size, geom->size, geom->fit_scale);
    mf_mjcf_compose(geom->position, geom->rotation, geom->position, geom->rotation, mesh->center,
                    mesh->axes);
    return MF_OK;
}

static mf_Status find_asset(mf_Mjcf *m, mf_MjcfGeom *geom) {
    const char *name = geom->type == MF_MJCF_HFIELD ? geom->hfield : geom->mesh;
    const mf_Names *names = geom->type == MF_MJCF_HFIELD ? &m->height_names : &m->mesh_names;
    const char *kind = geom->type == MF_MJCF_HFIELD ? "hfield" : "mesh";
    if (geom->type != MF_MJCF_HFIELD && geom->hfield != NULL)
        return mf_mjcf_fail(m, geom->node, "<geom> hfield: expected type hfield, found %s",
                            mf_mjcf_shapes[geom->type]);
    if (name == NULL && (geom->type == MF_MJCF_HFIELD || geom->type == MF_MJCF_MESH))
        return mf_mjcf_fail(m, geom->node, "<geom> of type %s needs the attribute '%s'", kind,
                            kind);
    if (name == NULL)
        return MF_OK;
    return mf_mjcf_find(m, geom->node, kind, name, names, kind, &geom->asset);
}

static mf_Status place_geom(mf_Mjcf *m, mf_MjcfGeom *geom) {
    mf_Status status = find_asset(m, geom);
    bool ends = mf_is_finite(geom->fromto[0]);
    if (status != MF_OK)
        return status;
    if (ends && geom->asset != MF_NONE)
        return mf_mjcf_fail(m, geom->node, "<geom> fromto: a mesh has no ends");
    status = ends ? from_ends(m, geom)
                  : mf_mjcf_rotation(m, geom->node, &geom->orientation, geom->rotation);
    if (status == MF_OK && geom->asset != MF_NONE && geom->type != MF_MJCF_HFIELD &&
        geom->type != MF_MJCF_MESH) {
        status = fit(m, geom, &mf_mjcf_meshes(m)[geom->asset]);
        geom->asset = MF_NONE;
    }
    if (status == MF_OK)
        status = check_size(m, geom);
    if (status == MF_OK && geom->framed)
        mf_mjcf_compose(geom->position, geom->rotation, geom->frame_position, geom->frame_rotation,
                        geom->position, geom->rotation);
    return status;
}

static mf_Status check_geom(mf_Mjcf *m, mf_MjcfGeom *geom) {
    if (geom->type > MF_MJCF_MESH)
        return mf_mjcf_refuse(m, geom->node, "type sdf");
    const mf_Shape *plain = &geom->plain;
    if (!mf_mjcf_is_dimension(plain->dimension))
        return mf_mjcf_fail(m, geom->node, "<geom> condim: expected 1, 3, 4 or 6, found %d",
                            (int32_t)plain->dimension);
    for (int i = 0; i < 3; i++) {
        if (!(plain->friction[i] >= 0.0))
            return mf_mjcf_fail(m, geom->node, "<geom> friction: expected numbers >= 0, found %g",
                                plain->friction[i]);
    }
    if (!(geom->density >= 0.0) || geom->mass < 0.0)
        return mf_mjcf_fail(m, geom->node, "<geom>: mass and density must be >= 0, found %g",
                            geom->mass < 0.0 ? geom->mass : geom->density);
    if (geom->type == MF_MJCF_PLANE && mf_mjcf_bodies(m)[geom->body].moves)
        return mf_mjcf_fail(m, geom->node, "<geom>: a plane must be in a body that cannot move");
    return MF_OK;
}

// ---- mass --------------------------------------------------------------------------------------

// Volume, or area of a shell.
static double extent(const mf_MjcfGeom *geom) {
    double r = geom->size[0], length = 2.0 * geom->size[1];
    const double *s = geom->size;
    switch (geom->type) {
    case MF_MJCF_SPHERE:
        return geom->shell ? 4.0 * MF_PI * r * r : 4.0 * MF_PI * r * r * r / 3.0;
    case MF_MJCF_CAPSULE:
        return geom->shell ? 4.0 * MF_PI * r * r + 2.0 * MF_PI * r * length
                           : MF_PI * (r * r * length + 4.0 * r * r * r / 3.0);
    case MF_MJCF_CYLINDER:
        return geom->shell ? 2.0 * MF_PI * r * r + 2.0 * MF_PI * r * length
                           : MF_PI * r * r * length;
    case MF_MJCF_ELLIPSOID:
        return 4.0 * MF_PI * s[0] * s[1] * s[2] / 3.0;
    case MF_MJCF_BOX:
        return geom->shell ? 8.0 * (s[0] * s[1] + s[1] * s[2] + s[2] * s[0])
                           : 8.0 * s[0] * s[1] * s[2];
    default:
        return 0.0;
    }
}

// Tube of height h with two caps of mass `cap` each, whose moments about the tube's center are
// `across` perpendicular to the axis and `along` about it.
static void tube_moments(double out[3], double tube, double wall, double r, double h, double across,
                         double along) {
    // wall: 3 for a solid cylinder, 6 for a thin wall
    out[0] = out[1] = tube * (wall * r * r + h * h) / 12.0 + 2.0 * across;
    out[2] = tube * r * r * wall / 6.0 + 2.0 * along;
}

static void capsule_moments(double out[3], const mf_MjcfGeom *geom) {
    double r = geom->size[0], h = 2.0 * geom->size[1], mass = geom->weight;
    if (geom->shell) {
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

static void cylinder_moments(double out[3], const mf_MjcfGeom *geom) {
    double r = geom->size[0], h = 2.0 * geom->size[1], mass = geom->weight;
    if (!geom->shell) {
        tube_moments(out, mass, 3.0, r, h, 0.0, 0.0);
        return;
    }
    double disc = mass * r / (2.0 * r + 2.0 * h);
    tube_moments(out, mass - 2.0 * disc, 6.0, r, h, disc * (r * r + h * h) / 4.0,
                 disc * r * r / 2.0);
}

static void box_moments(double out[3], const mf_MjcfGeom *geom) {
    const double *s = geom->size;
    double square[3] = {s[0] * s[0], s[1] * s[1], s[2] * s[2]}, second[3];
    // Second moment of mass along each axis.
    double area = s[0] * s[1] + s[1] * s[2] + s[2] * s[0];
    for (int i = 0; i < 3; i++) {
        double plates = s[(i + 1) % 3] * s[(i + 2) % 3]; // the plates at the ends of axis i
        second[i] = geom->shell ? geom->weight * square[i] * (plates + (area - plates) / 3.0) / area
                                : geom->weight * square[i] / 3.0;
    }
    for (int i = 0; i < 3; i++)
        out[i] = second[(i + 1) % 3] + second[(i + 2) % 3];
}

static void moments_of(mf_MjcfGeom *geom) {
    const double *s = geom->size;
    double ball = (geom->shell ? 2.0 / 3.0 : 0.4) * geom->weight * s[0] * s[0];
    switch (geom->type) {
    case MF_MJCF_SPHERE:
        mf_vec3_set(geom->moments, ball, ball, ball);
        break;
    case MF_MJCF_CAPSULE:
        capsule_moments(geom->moments, geom);
        break;
    case MF_MJCF_CYLINDER:
        cylinder_moments(geom->moments, geom);
        break;
    case MF_MJCF_ELLIPSOID:
        for (int i = 0; i < 3; i++)
            geom->moments[i] = geom->weight *
                               (s[(i + 1) % 3] * s[(i + 1) % 3] + s[(i + 2) % 3] * s[(i + 2) % 3]) /
                               5.0;
        break;
    case MF_MJCF_BOX:
        box_moments(geom->moments, geom);
        break;
    default:
        break;
    }
}

static bool wants_mass(const mf_Mjcf *m, const mf_MjcfGeom *geom) {
    const mf_MjcfBody *body = &mf_mjcf_bodies(m)[geom->body];
    bool requested =
        geom->body != 0 && (body->inertial == NULL ? m->inertia_from_geom != MF_MJCF_FALSE
                                                   : m->inertia_from_geom == MF_MJCF_TRUE);
    return requested && geom->plain.group >= m->inertia_groups[0] &&
           geom->plain.group <= m->inertia_groups[1] &&
           (mf_is_finite(geom->mass) ? geom->mass != 0.0 : geom->density != 0.0);
}

static mf_Status weigh_geom(mf_Mjcf *m, mf_MjcfGeom *geom) {
    mf_vec3_copy(geom->center, geom->position);
    memcpy(geom->axes, geom->rotation, sizeof geom->axes);
    bool meshed = geom->type == MF_MJCF_MESH;
    bool dropped = meshed && geom->asset == MF_NONE;
    if (dropped || !wants_mass(m, geom))
        return MF_OK;
    if (geom->shell && meshed)
        return mf_mjcf_fail(
            m, geom->node, "<geom> shellinertia: for meshes use the attribute 'inertia' of <mesh>");
    if (geom->shell && geom->type == MF_MJCF_ELLIPSOID)
        return mf_mjcf_refuse(m, geom->node, "shellinertia of an ellipsoid");
    mf_MjcfMesh *mesh = meshed ? &mf_mjcf_meshes(m)[geom->asset] : NULL;
    mf_Status status = mesh ? mf_mjcf_weigh_mesh(m, mesh) : MF_OK;
    if (status != MF_OK)
        return status;
    double size = mesh ? mesh->volume : extent(geom);
    if (mf_is_finite(geom->mass))
        geom->weight = size > TINY ? geom->mass : 0.0;
    else
        geom->weight = geom->density * size;
    if (mesh == NULL) {
        moments_of(geom);
        return MF_OK;
    }
    mf_vec3_scale(geom->moments, mesh->moments, geom->weight / mesh->volume);
    mf_mjcf_compose(geom->center, geom->axes, geom->position, geom->rotation, mesh->center,
                    mesh->axes);
    return MF_OK;
}

mf_Status mf_mjcf_place_geoms(mf_Mjcf *m) {
    mf_Status status = MF_OK;
    for (uint32_t i = 0; status == MF_OK && i < m->geoms.count; i++) {
        mf_MjcfGeom *geom = &mf_mjcf_geoms(m)[i];
        status = check_geom(m, geom);
        if (geom->type > MF_MJCF_MESH)
            continue;
        if (status == MF_OK)
            status = place_geom(m, geom);
        if (status == MF_OK)
            status = weigh_geom(m, geom);
        if (status == MF_OK && !mf_all_finite(geom->moments, 3))
            status = mf_mjcf_fail(m, geom->node, "<geom>: numbers too large");
    }
    return status;
}
