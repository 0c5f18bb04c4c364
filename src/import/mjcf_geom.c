// Geoms: size and pose from the file (center and orientation, two ends, or a mesh to be fitted),
// and their mass properties.
#include "import/mjcf.h"

#include "math/scalar.h"

#include <string.h>

#define TINY 1e-14 // lengths, volumes and masses below this count as zero, as in MuJoCo

uint32_t mf_mjcf_size_count(int32_t type) {
    if (type > MF_SHAPE_HEIGHTS)
        return 0;
    return type == MF_SHAPE_PLANE ? 2 : mf_shape_kinds[type].half_count;
}

// NULL: not a solid of its own.
static const mf_ShapeKind *kind_of(const mf_MjcfGeom *geom) {
    const bool solid = geom->type <= MF_SHAPE_HEIGHTS && mf_shape_kinds[geom->type].volume != NULL;
    return solid ? &mf_shape_kinds[geom->type] : NULL;
}

// ---- size and pose -----------------------------------------------------------------------------

static mf_Status from_ends(const mf_Mjcf *m, mf_MjcfGeom *geom) {
    if (kind_of(geom) == NULL || kind_of(geom)->half_count < 2)
        return mf_mjcf_fail(m, geom->node,
                            "<geom> fromto: expected a capsule, cylinder or another solid with "
                            "two ends, found a %s",
                            mf_mjcf_shapes[geom->type]);
    return mf_mjcf_between_ends(m, geom->node, geom->fromto, geom->type, geom->position,
                                geom->rotation, geom->size);
}

static mf_Status check_size(const mf_Mjcf *m, const mf_MjcfGeom *geom) {
    const uint32_t count = mf_mjcf_size_count(geom->type);
    for (uint32_t i = 0; i < count; i++) {
        bool endless = geom->type == MF_SHAPE_PLANE && geom->size[i] == 0.0;
        if (!(geom->size[i] > 0.0) && !endless)
            return mf_mjcf_fail(m, geom->node, "<geom> size, %s: expected %u numbers > 0, found %g",
                                mf_mjcf_shapes[geom->type], count, geom->size[i]);
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

// Fits a primitive to a mesh: the smallest whose box contains that of the mesh (fitaabb), or the
// one with the mesh's inertia box.
static mf_Status fit(mf_Mjcf *m, mf_MjcfGeom *geom, mf_MjcfMesh *mesh) {
    static const double identity[4] = {1.0, 0.0, 0.0, 0.0};
    double half[3], middle[3] = {0.0, 0.0, 0.0};
    MF_TRY(mf_mjcf_weigh_mesh(m, mesh));
    const double *i = mesh->moments;
    if (m->fit_box)
        bound_mesh(m, mesh, half, middle);
    else
        mf_vec3_set(half, mf_sqrt(6.0 * (i[1] + i[2] - i[0]) / mesh->volume) / 2,
                    mf_sqrt(6.0 * (i[0] + i[2] - i[1]) / mesh->volume) / 2,
                    mf_sqrt(6.0 * (i[0] + i[1] - i[2]) / mesh->volume) / 2);
    if (kind_of(geom) == NULL)
        return mf_mjcf_fail(m, geom->node, "<geom>: a %s cannot be fitted to a mesh",
                            mf_mjcf_shapes[geom->type]);
    kind_of(geom)->fit(half, m->fit_box, geom->size);
    mf_vec3_scale(geom->size, geom->size, geom->fit_scale);
    mf_mjcf_compose(geom->position, geom->rotation, geom->position, geom->rotation, mesh->center,
                    mesh->axes);
    if (m->fit_box)
        mf_mjcf_compose(geom->position, geom->rotation, geom->position, geom->rotation, middle,
                        identity);
    return MF_OK;
}

static mf_Status find_asset(mf_Mjcf *m, mf_MjcfGeom *geom) {
    const char *name = geom->type == MF_SHAPE_HEIGHTS ? geom->hfield : geom->mesh;
    const mf_Names *names = geom->type == MF_SHAPE_HEIGHTS ? &m->height_names : &m->mesh_names;
    const char *kind = geom->type == MF_SHAPE_HEIGHTS ? "hfield" : "mesh";
    if (geom->type != MF_SHAPE_HEIGHTS && geom->hfield != NULL)
        return mf_mjcf_fail(m, geom->node, "<geom> hfield: expected type hfield, found %s",
                            mf_mjcf_shapes[geom->type]);
    if (name == NULL && (geom->type == MF_SHAPE_HEIGHTS || geom->type == MF_SHAPE_MESH))
        return mf_mjcf_fail(m, geom->node, "<geom> of type %s needs the attribute '%s'", kind,
                            kind);
    if (name == NULL)
        return MF_OK;
    return mf_mjcf_find(m, geom->node, kind, name, names, kind, &geom->asset);
}

static mf_Status place_geom(mf_Mjcf *m, mf_MjcfGeom *geom) {
    MF_TRY(find_asset(m, geom));
    bool ends = mf_is_finite(geom->fromto[0]);
    if (ends && geom->asset != MF_NONE)
        return mf_mjcf_fail(m, geom->node, "<geom> fromto: a mesh has no ends");
    MF_TRY(ends ? from_ends(m, geom)
                : mf_mjcf_rotation(m, geom->node, &geom->orientation, geom->rotation));
    if (geom->asset != MF_NONE && geom->type != MF_SHAPE_HEIGHTS && geom->type != MF_SHAPE_MESH) {
        MF_TRY(fit(m, geom, &mf_mjcf_meshes(m)[geom->asset]));
        geom->asset = MF_NONE;
    }
    MF_TRY(check_size(m, geom));
    if (geom->framed)
        mf_mjcf_compose(geom->position, geom->rotation, geom->frame_position, geom->frame_rotation,
                        geom->position, geom->rotation);
    return MF_OK;
}

static mf_Status check_geom(mf_Mjcf *m, mf_MjcfGeom *geom) {
    if (geom->type > MF_SHAPE_HEIGHTS)
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
    if (geom->type == MF_SHAPE_PLANE && mf_mjcf_bodies(m)[geom->body].moves)
        return mf_mjcf_fail(m, geom->node, "<geom>: a plane must be in a body that cannot move");
    return MF_OK;
}

// ---- mass --------------------------------------------------------------------------------------

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
    bool meshed = geom->type == MF_SHAPE_MESH;
    bool dropped = meshed && geom->asset == MF_NONE;
    if (dropped || !wants_mass(m, geom))
        return MF_OK;
    if (geom->shell && meshed)
        return mf_mjcf_fail(
            m, geom->node, "<geom> shellinertia: for meshes use the attribute 'inertia' of <mesh>");
    const mf_ShapeKind *kind = kind_of(geom);
    if (geom->shell && kind != NULL && kind->area == NULL)
        return mf_mjcf_refuse(m, geom->node, "shellinertia of this type");
    mf_MjcfMesh *mesh = meshed ? &mf_mjcf_meshes(m)[geom->asset] : NULL;
    MF_TRY(mesh ? mf_mjcf_weigh_mesh(m, mesh) : MF_OK);
    double size = mesh           ? mesh->volume
                  : kind == NULL ? 0.0
                  : geom->shell  ? kind->area(geom->size)
                                 : kind->volume(geom->size);
    if (mf_is_finite(geom->mass))
        geom->weight = size > TINY ? geom->mass : 0.0;
    else
        geom->weight = geom->density * size;
    if (mesh == NULL) {
        if (kind != NULL)
            kind->moments(geom->size, geom->weight, geom->shell, geom->moments);
        return MF_OK;
    }
    mf_vec3_scale(geom->moments, mesh->moments, geom->weight / mesh->volume);
    mf_mjcf_compose(geom->center, geom->axes, geom->position, geom->rotation, mesh->center,
                    mesh->axes);
    return MF_OK;
}

mf_Status mf_mjcf_place_geoms(mf_Mjcf *m) {
    for (uint32_t i = 0; i < m->geoms.count; i++) {
        mf_MjcfGeom *geom = &mf_mjcf_geoms(m)[i];
        MF_TRY(check_geom(m, geom));
        if (geom->type > MF_SHAPE_HEIGHTS)
            continue;
        MF_TRY(place_geom(m, geom));
        MF_TRY(weigh_geom(m, geom));
        if (!mf_all_finite(geom->moments, 3))
            return mf_mjcf_fail(m, geom->node, "<geom>: numbers too large");
    }
    return MF_OK;
}
