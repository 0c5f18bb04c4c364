// Repair of inertias that no rigid body has.
//
// A rigid body has second moments >= 0 along its principal axes, which are the triangle inequality
// of its moments of inertia and their sign. A file that violates this (digits cut off, another
// robot's numbers) gets the nearest inertia that a body can have: in the matrix of second moments
// S = trace(I) / 2 - I, negative eigenvalues become 0, which is nearest in the Frobenius norm
// (Wensing, Kim, Slotine, Linear matrix inequalities for physically consistent inertial parameter
// identification, 2018, give the condition on S). Everything else stays as the file has it, also
// what is unlikely. Links of one mass point are legal, too, unless nothing else of what they carry
// turns with them.
#include "import/mesh.h"
#include "import/urdf.h"
#include "model/shape_kinds.h"

#include "math/scalar.h"

#include <stdio.h>
#include <string.h>

#define ROUNDING 1e-6 // [1] of the largest moment: no negative one, but a rounded 0
#define DIGITS 1e-3   // [1] of the largest moment: files have three or four digits

// The box around a link's solids in the link frame: collision geometry and visual primitives.
// Visual meshes are not used, because they may not be loaded and must not change the model.
typedef struct Bounds {
    bool known;
    double low[3];
    double high[3];
} Bounds;

static void solid_box(const mf_Urdf *urdf, const mf_UrdfSolid *solid, double half[3],
                      double middle[3]) {
    const mf_Mesh *meshes = mf_draft_meshes(&urdf->draft);
    mf_shape_box(solid->type, solid->size,
                 solid->type == MF_SHAPE_MESH ? &meshes[solid->mesh] : NULL, middle, half);
}

// `link` gives the frame of the solid's link in that of the bounds.
static void add_solid(Bounds *bounds, const mf_Urdf *urdf, const mf_UrdfLink *link,
                      const mf_UrdfSolid *solid) {
    double half[3], middle[3];
    solid_box(urdf, solid, half, middle);
    for (int corner = 0; corner < 8; corner++) {
        double position[3];
        for (int axis = 0; axis < 3; axis++)
            position[axis] = middle[axis] + (corner >> axis & 1 ? half[axis] : -half[axis]);
        mf_quat_rotate(position, solid->rotation, position);
        mf_vec3_add(position, position, solid->position);
        mf_quat_rotate(position, link->rotation, position);
        mf_vec3_add(position, position, link->position);
        for (int axis = 0; axis < 3; axis++) {
            if (!bounds->known || position[axis] < bounds->low[axis])
                bounds->low[axis] = position[axis];
            if (!bounds->known || position[axis] > bounds->high[axis])
                bounds->high[axis] = position[axis];
        }
        bounds->known = true;
    }
}

static void add_solids(Bounds *bounds, const mf_Urdf *urdf, const mf_UrdfLink *link) {
    for (uint32_t i = link->first_solid; i != MF_NONE; i = mf_urdf_solids(urdf)[i].next) {
        const mf_UrdfSolid *solid = &mf_urdf_solids(urdf)[i];
        if (!solid->visual || solid->type != MF_SHAPE_MESH)
            add_solid(bounds, urdf, link, solid);
    }
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

// The nearest inertia with second moments >= 0.
static void clear_negative(mf_MassProperties *body) {
    double moments[3], axes[9];
    mf_mass_second_moments(moments, axes, body); // negative ones are 0
    for (int i = 0; i < 6; i++) {
        static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
        double second = 0.0;
        for (int axis = 0; axis < 3; axis++)
            second += moments[axis] * axes[3 * rows[i] + axis] * axes[3 * columns[i] + axis];
        body->inertia[i] = (i < 3 ? moments[0] + moments[1] + moments[2] : 0.0) - second;
    }
}

static mf_Status repair(mf_Urdf *urdf, mf_UrdfLink *link, bool *repaired) {
    double principal[3];
    mf_mat3_eigen(principal, NULL, link->body.inertia);
    const bool positive = principal[0] >= -ROUNDING * principal[2] && principal[2] >= 0.0;
    *repaired = !positive || principal[0] + principal[1] < principal[2] * (1.0 - DIGITS);
    if (!*repaired)
        return MF_OK;
    clear_negative(&link->body);
    const int32_t line = link->inertial->line;
    return positive
               ? mf_draft_note(&urdf->draft, true, line,
                               "link '%.100s': inertia violates the triangle inequality (%.3g + "
                               "%.3g < %.3g): repaired",
                               link->name, principal[0], principal[1], principal[2])
               : mf_draft_note(
                     &urdf->draft, true, line,
                     "link '%.100s': inertia is not positive (principal moment %.3g): repaired",
                     link->name, principal[0]);
}

// Links whose mass would have to lie outside of their geometry: often a slip of units.
typedef struct Wide {
    uint32_t count;
    const mf_UrdfLink *first;
    double gyration, reach; // [m] of the first
} Wide;

static bool is_wide(const mf_MassProperties *body, const Bounds *bounds, double *gyration,
                    double *reach) {
    double moments[3], axes[9];
    mf_mass_second_moments(moments, axes, body);
    *gyration = mf_sqrt(moments[0] / body->mass);
    *reach = find_reach(body, bounds);
    return *gyration > *reach;
}

static mf_Status check_body(mf_Urdf *urdf, mf_UrdfLink *link, Wide *wide) {
    bool repaired;
    mf_Status status = repair(urdf, link, &repaired);
    Bounds bounds = {0};
    double gyration = 0.0, reach = 0.0;
    add_solids(&bounds, urdf, link); // not merged yet: in its own frame
    if (status != MF_OK || !bounds.known || !(link->body.mass > 0.0) ||
        !is_wide(&link->body, &bounds, &gyration, &reach))
        return status;
    if (wide->count++ == 0)
        *wide = (Wide){1, link, gyration, reach};
    if (urdf->config->inertia == MF_IMPORT_INERTIA_GEOMETRY)
        take_box(&link->body, &bounds);
    return MF_OK;
}

static mf_Status note_wide(mf_Urdf *urdf, const Wide *wide) {
    const bool replaced = urdf->config->inertia == MF_IMPORT_INERTIA_GEOMETRY;
    if (wide->count == 0)
        return MF_OK;
    char links[40] = "inertia of a link is";
    if (wide->count > 1)
        snprintf(links, sizeof links, "inertias of %u links are", wide->count);
    return mf_draft_note(
        &urdf->draft, true, wide->first->inertial->line,
        "%s large for the geometry ('%.80s': radius of gyration %.3g m, reach %.3g m): %s", links,
        wide->first->name, wide->gyration, wide->reach,
        replaced ? "replaced by those of uniform boxes"
                 : "kept (import.inertia: geometry replaces them)");
}

// ---- links without mass --------------------------------------------------------------------

static double solid_volume(const mf_Urdf *urdf, const mf_UrdfSolid *solid) {
    double half[3];
    if (solid->type == MF_SHAPE_MESH) {
        const mf_Mesh *mesh = &mf_draft_meshes(&urdf->draft)[solid->mesh];
        const mf_MeshData data = {.vertices = (float *)mesh->vertices,
                                  .triangles = (uint32_t *)mesh->triangles,
                                  .vertex_count = mesh->vertex_count,
                                  .triangle_count = mesh->triangle_count};
        return mf_abs(mf_mesh_volume(&data));
    }
    mf_shape_half(solid->type, solid->size, half);
    return mf_shape_kinds[solid->type].volume(half);
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
        solid_box(urdf, solid, half, part.center);
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
    return count == 1
               ? mf_draft_note(&urdf->draft, false, first->node->line,
                               "link '%.100s' has no mass in the file: %s", first->name, what)
               : mf_draft_note(&urdf->draft, false, first->node->line,
                               "%u links have no mass in the file ('%.100s' is the first): %s",
                               count, first->name, what);
}

// Many files of arms are for kinematics alone.
static mf_Status note_weightless(mf_Urdf *urdf) {
    double mass = 0.0;
    for (uint32_t i = 0; i < urdf->links.count; i++)
        mass += mf_urdf_links(urdf)[i].body.mass;
    urdf->draft.weightless = mass == 0.0;
    return mass > 0.0
               ? MF_OK
               : mf_draft_note(&urdf->draft, true, 0,
                               "no link has a mass: only `kinematic` moves the robot; "
                               "import.density gives links one, by the volume of what collides");
}

static bool is_empty(const mf_MassProperties *body) {
    bool empty = body->mass == 0.0;
    for (int i = 0; i < 6; i++)
        empty = empty && body->inertia[i] == 0.0;
    return empty;
}

mf_Status mf_urdf_check_inertias(mf_Urdf *urdf) {
    uint32_t missing = 0;
    const mf_UrdfLink *first = NULL;
    Wide wide = {0};
    for (uint32_t i = 0; i < urdf->links.count; i++) {
        mf_UrdfLink *link = &mf_urdf_links(urdf)[i];
        if (is_empty(&link->body)) {
            first = missing++ == 0 ? link : first;
            if (urdf->config->density > 0.0)
                weigh_solids(urdf, link);
            continue;
        }
        MF_TRY(check_body(urdf, link, &wide));
    }
    MF_TRY(note_wide(urdf, &wide));
    MF_TRY(note_weightless(urdf));
    return note_massless(urdf, missing, first);
}

// ---- merged links of mass points ----------------------------------------------------------------

// What a joint at the origin of a frame, or a free base, turns: the least moment of inertia [kg
// m^2] of a body about the joint's axis, or about any.
static double least_moment(const mf_MassProperties *body, const mf_Joint *joint) {
    double inertia[6], principal[3];
    memcpy(inertia, body->inertia, sizeof inertia);
    if (joint != NULL && joint->type != MF_JOINT_FLOATING)
        mf_inertia_translate(inertia, inertia, body->mass, body->center);
    if (joint != NULL && joint->type == MF_JOINT_HINGE) {
        const double *a = joint->axis;
        return inertia[0] * a[0] * a[0] + inertia[1] * a[1] * a[1] + inertia[2] * a[2] * a[2] +
               2.0 *
                   (inertia[3] * a[0] * a[1] + inertia[4] * a[0] * a[2] + inertia[5] * a[1] * a[2]);
    }
    mf_mat3_eigen(principal, NULL, inertia);
    return principal[0];
}

static bool is_rotational(const mf_Joint *joint) {
    return joint == NULL || joint->type == MF_JOINT_HINGE || joint->type == MF_JOINT_BALL ||
           joint->type == MF_JOINT_FLOATING;
}

static mf_Status spread(mf_Urdf *urdf, uint32_t link, mf_MassProperties *body) {
    const char *name = mf_draft_links(&urdf->draft)[link].name;
    Bounds bounds = {0};
    int32_t line = 0;
    for (uint32_t i = 0; i < urdf->order_count; i++) {
        const mf_UrdfLink *part = &mf_urdf_links(urdf)[urdf->order[i]];
        if (part->draft != link)
            continue;
        add_solids(&bounds, urdf, part);
        line = line == 0 ? part->node->line : line;
    }
    take_box(body, &bounds);
    return mf_draft_note(&urdf->draft, true, line,
                         "link '%.100s': inertia is zero and nothing turns with it; %s", name,
                         bounds.known ? "replaced by that of a uniform box around its geometry"
                                      : "it stays a point mass, because it has no geometry");
}

mf_Status mf_urdf_spread_points(mf_Urdf *urdf, mf_MassProperties *bodies) {
    const mf_Draft *draft = &urdf->draft;
    const uint32_t count = draft->links.count;
    mf_MassProperties *sums = mf_allocate(urdf->context, count, sizeof *sums);
    mf_Status status = sums != NULL ? MF_OK : mf_urdf_no_memory(urdf);
    for (uint32_t i = 0; status == MF_OK && i < count; i++)
        sums[i] = bodies[i];
    for (uint32_t i = count; status == MF_OK && i-- > 0;) { // children before parents
        const mf_Joint *joint = i > 0 ? &mf_draft_joints(draft)[i - 1] : NULL;
        const bool still = i == 0 && draft->base_type == MF_BASE_FIXED;
        const double *own = bodies[i].inertia;
        const bool point = bodies[i].mass > 0.0 && own[0] + own[1] + own[2] == 0.0;
        if (point && !still && is_rotational(joint) && !(least_moment(&sums[i], joint) > 0.0)) {
            status = spread(urdf, i, &bodies[i]);
            for (int c = 0; c < 6; c++)
                sums[i].inertia[c] += bodies[i].inertia[c];
        }
        if (joint == NULL)
            continue;
        const mf_MassProperties part =
            mf_mass_transform(&sums[i], joint->position, joint->rotation);
        sums[joint->parent] = mf_mass_add(&sums[joint->parent], &part);
    }
    mf_release(urdf->context, sums);
    return status;
}
