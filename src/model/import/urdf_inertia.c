// Detection and replacement of inertias that are impossible for a rigid body of the link's size.
//
// A rigid body has second moments >= 0 along its principal axes (the triangle inequality of the
// moments of inertia), and along none of them a radius of gyration above the distance to its
// farthest point. Real files violate both (copied from another robot, wrong units); their masses
// are usually right.
#include "model/import/mesh.h"
#include "model/import/urdf.h"

#include "math/scalar.h"

#include <string.h>

// The box around a link's solids in the link frame: collision geometry and visual primitives.
// Visual meshes are not used, because they may not be loaded and must not change the model.
typedef struct Bounds {
    bool known;
    double low[3];
    double high[3];
} Bounds;

static void add_solid(Bounds *bounds, const mf_Urdf *urdf, const mf_UrdfSolid *solid) {
    double half[3], middle[3];
    mf_urdf_solid_bounds(urdf, solid, half, middle);
    for (int corner = 0; corner < 8; corner++) {
        double position[3];
        for (int axis = 0; axis < 3; axis++)
            position[axis] = middle[axis] + (corner >> axis & 1 ? half[axis] : -half[axis]);
        mf_quat_rotate(position, solid->rotation, position);
        mf_vec3_add(position, position, solid->position);
        for (int axis = 0; axis < 3; axis++) {
            if (!bounds->known || position[axis] < bounds->low[axis])
                bounds->low[axis] = position[axis];
            if (!bounds->known || position[axis] > bounds->high[axis])
                bounds->high[axis] = position[axis];
        }
        bounds->known = true;
    }
}

static Bounds find_bounds(const mf_Urdf *urdf, const mf_UrdfLink *link) {
    Bounds bounds = {0};
    for (uint32_t i = link->first_solid; i != MF_NONE; i = mf_urdf_solids(urdf)[i].next) {
        const mf_UrdfSolid *solid = &mf_urdf_solids(urdf)[i];
        if (!solid->visual || solid->type != MF_SHAPE_MESH)
            add_solid(&bounds, urdf, solid);
    }
    return bounds;
}

// A uniform box of that mass around the solids, about the given center of mass.
static void take_box(mf_MassProperties *body, const Bounds *bounds) {
    double square[3] = {0.0, 0.0, 0.0};
    memset(body->inertia, 0, sizeof body->inertia);
    for (int axis = 0; axis < 3 && bounds->known; axis++)
        square[axis] = (bounds->high[axis] - bounds->low[axis]) *
                       (bounds->high[axis] - bounds->low[axis]) * body->mass / 12;
    body->inertia[0] = square[1] + square[2];
    body->inertia[1] = square[0] + square[2];
    body->inertia[2] = square[0] + square[1];
}

// Distance from the center of mass to the furthest corner of the bounds.
static double find_reach(const mf_MassProperties *body, const Bounds *bounds) {
    double far[3];
    for (int axis = 0; axis < 3; axis++) {
        double below = mf_abs(body->center[axis] - bounds->low[axis]);
        double above = mf_abs(bounds->high[axis] - body->center[axis]);
        far[axis] = below > above ? below : above;
    }
    return mf_vec3_length(far);
}

static mf_Status check_body(mf_Urdf *urdf, mf_UrdfLink *link) {
    mf_MassProperties *body = &link->body;
    Bounds bounds = find_bounds(urdf, link);
    const char *instead = bounds.known ? "replaced by a uniform box around its geometry"
                                       : "replaced by a point mass, because it has no geometry";
    int32_t line = link->inertial->line;
    double principal[3];
    mf_mat3_eigen(principal, NULL, body->inertia);
    double largest_second = (principal[1] + principal[2] - principal[0]) / 2;
    bool noted = true;
    if (principal[2] == 0.0 && principal[0] == 0.0) {
        take_box(body, &bounds);
        noted = mf_draft_note(&urdf->draft, true, line, "link '%.100s': inertia is zero; %s",
                              link->name, instead);
    } else if (principal[0] < -1e-6 * principal[2] || principal[2] <= 0.0) {
        take_box(body, &bounds);
        noted = mf_draft_note(&urdf->draft, true, line,
                              "link '%.100s': inertia is not positive (principal moment %.3g); %s",
                              link->name, principal[0], instead);
    } else if (principal[0] + principal[1] < principal[2] * (1.0 - 1e-3)) {
        take_box(body, &bounds);
        noted = mf_draft_note(
            &urdf->draft, true, line,
            "link '%.100s': inertia violates the triangle inequality (%.3g + %.3g < %.3g); %s",
            link->name, principal[0], principal[1], principal[2], instead);
    } else if (bounds.known) {
        double gyration = mf_sqrt(largest_second / body->mass), reach = find_reach(body, &bounds);
        if (gyration <= reach)
            return MF_OK;
        take_box(body, &bounds);
        noted = mf_draft_note(&urdf->draft, true, line,
                              "link '%.100s': inertia too large for its size (radius of gyration "
                              "%.3g m, geometry reaches %.3g m); %s",
                              link->name, gyration, reach, instead);
    }
    return noted ? MF_OK : mf_urdf_no_memory(urdf);
}

// ---- links without inertial --------------------------------------------------------------------

static double solid_volume(const mf_Urdf *urdf, const mf_UrdfSolid *solid) {
    double r = solid->size[0], length = solid->size[1];
    switch (solid->type) {
    case MF_SHAPE_BOX:
        return solid->size[0] * solid->size[1] * solid->size[2];
    case MF_SHAPE_CYLINDER:
        return MF_PI * r * r * length;
    case MF_SHAPE_SPHERE:
        return MF_PI * r * r * r * 4 / 3;
    case MF_SHAPE_CAPSULE:
        return MF_PI * r * r * (length + r * 4 / 3);
    case MF_SHAPE_MESH: {
        const mf_Mesh *mesh = &mf_draft_meshes(&urdf->draft)[solid->mesh];
        const mf_MeshData data = {.vertices = (float *)mesh->vertices,
                                  .triangles = (uint32_t *)mesh->triangles,
                                  .vertex_count = mesh->vertex_count,
                                  .triangle_count = mesh->triangle_count};
        return mf_abs(mf_mesh_volume(&data));
    }
    case MF_SHAPE_ELLIPSOID:
        return MF_PI * solid->size[0] * solid->size[1] * solid->size[2] * 4 / 3;
    case MF_SHAPE_POINT:
    case MF_SHAPE_PLANE:
    case MF_SHAPE_HEIGHTS:
        break;
    }
    return 0.0;
}

// Each collision solid at the given density, with the inertia of a uniform box of its bounds.
static void weigh_solids(const mf_Urdf *urdf, mf_UrdfLink *link) {
    for (uint32_t i = link->first_solid; i != MF_NONE; i = mf_urdf_solids(urdf)[i].next) {
        const mf_UrdfSolid *solid = &mf_urdf_solids(urdf)[i];
        if (solid->visual)
            continue;
        mf_MassProperties part = {.mass = urdf->config->density * solid_volume(urdf, solid)};
        Bounds bounds = {.known = true};
        double half[3];
        mf_urdf_solid_bounds(urdf, solid, half, part.center);
        mf_vec3_copy(bounds.high, half);
        mf_vec3_scale(bounds.low, half, -1.0);
        take_box(&part, &bounds);
        part = mf_mass_transform(&part, solid->position, solid->rotation);
        link->body = mf_mass_add(&link->body, &part);
    }
}

static mf_Status note_massless(mf_Urdf *urdf, uint32_t count, const mf_UrdfLink *first) {
    const char *what = urdf->config->density > 0.0 ? "mass from the given density" : "massless";
    if (count == 0)
        return MF_OK;
    bool noted = count == 1
                     ? mf_draft_note(&urdf->draft, false, first->node->line,
                                     "link '%.100s' has no <inertial>: %s", first->name, what)
                     : mf_draft_note(&urdf->draft, false, first->node->line,
                                     "%u links have no <inertial> ('%.100s' is the first): "
                                     "%s",
                                     count, first->name, what);
    return noted ? MF_OK : mf_urdf_no_memory(urdf);
}

mf_Status mf_urdf_check_inertias(mf_Urdf *urdf) {
    uint32_t missing = 0;
    const mf_UrdfLink *first = NULL;
    for (uint32_t i = 0; i < urdf->links.count; i++) {
        mf_UrdfLink *link = &mf_urdf_links(urdf)[i];
        mf_Status status = MF_OK;
        if (link->inertial == NULL) {
            first = missing++ == 0 ? link : first;
            if (urdf->config->density > 0.0)
                weigh_solids(urdf, link);
        } else if (link->body.mass > 0.0) {
            status = check_body(urdf, link);
        } else {
            memset(link->body.inertia, 0, sizeof link->body.inertia);
            if (!mf_draft_note(&urdf->draft, true, link->inertial->line,
                               "link '%.100s': mass 0, so its inertia is dropped", link->name))
                status = mf_urdf_no_memory(urdf);
        }
        if (status != MF_OK)
            return status;
    }
    return note_massless(urdf, missing, first);
}
