// Meshes of an MJCF model: read once when a geom needs them; vertices moved to the mesh's reference
// frame and scaled; volume, center and inertia.
//
// Mass properties: the sum over the pyramids between each triangle and a point, by the divergence
// theorem; the second moment of a pyramid with corners a, b, c and its tip at the origin is
//     V/20 (2 (a_i a_j + b_i b_j + c_i c_j) + all mixed products).
// This is exact for a closed surface that faces outward. MuJoCo's default kind "legacy" counts
// every pyramid as positive, with the tip in the middle of the surface; it is exact for surfaces
// that are star-shaped about that point. Shells have V replaced by the triangle's area and 20 by
// 12.
#include "import/mesh.h"
#include "import/mjcf.h"
#include "import/package.h"

#include "math/scalar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 1e-15 // areas and volumes below this count as zero, as in MuJoCo

// ---- files -------------------------------------------------------------------------------------

static mf_Status resolve_asset(mf_Mjcf *m, const char *beside, const char *what, const char *folder,
                               const char *file, char *path, mf_Error *reason) {
    char address[MF_PATH_LIMIT];
    int length =
        snprintf(address, sizeof address, "%s%s%s", folder, *folder == '\0' ? "" : "/", file);
    if (length < 0 || (size_t)length >= sizeof address)
        return mf_fail(reason, MF_BAD_FILE, "the path is too long");
    return mf_package_resolve(m->context, beside, m->config, what, NULL, address, path, reason);
}

// Assets are looked up in their folder next to the main file, then next to the included file that
// names them, then in both places without the folder. The first failure is reported.
mf_Status mf_mjcf_find_asset(mf_Mjcf *m, const mf_XmlNode *node, const char *what,
                             const char *folder, const char *file, char *path) {
    const char *main_file = mf_mjcf_settings(m, node)->file;
    const char *beside[2] = {main_file, node->file};
    const char *folders[2] = {folder && file[0] != '/' ? folder : "", ""};
    mf_Error reason = {0}, other = {0};
    mf_Status status = resolve_asset(m, main_file, what, folders[0], file, path, &reason);
    for (int i = 1; i < 4 && (status == MF_NOT_FOUND || status == MF_BAD_FILE); i++) {
        if (resolve_asset(m, beside[i % 2], what, folders[i / 2], file, path, &other) == MF_OK)
            return MF_OK;
    }
    if (status == MF_OK)
        return MF_OK;
    return mf_xml_fail(&m->xml, node, status, "%.300s", reason.message);
}

static mf_Status read_inline(mf_Mjcf *m, const mf_MjcfMesh *mesh, mf_MeshData *data) {
    double *vertices, *faces;
    uint32_t numbers, corners;
    MF_TRY(mf_mjcf_list(m, mesh->node, "vertex", &vertices, &numbers));
    MF_TRY(mf_mjcf_list(m, mesh->node, "face", &faces, &corners));
    if (numbers % 3 != 0 || numbers < 12 || corners % 3 != 0)
        return mf_mjcf_fail(
            m, mesh->node,
            "<mesh>: expected at least 4 vertices and whole triangles, found %u and %u numbers",
            numbers, corners);
    for (uint32_t i = 0; i < corners; i++) {
        if (!(faces[i] >= 0.0 && faces[i] < numbers / 3) || faces[i] != mf_floor(faces[i]))
            return mf_mjcf_fail(m, mesh->node,
                                "<mesh> face: expected vertex numbers below %u, found %g",
                                numbers / 3, faces[i]);
    }
    if (!mf_mesh_reserve(data, numbers / 3, corners / 3, false)) {
        mf_mesh_release(data);
        return mf_mjcf_no_memory(m);
    }
    for (uint32_t i = 0; i < numbers; i++)
        data->vertices[i] = (float)mf_clamp(vertices[i], -3e38, 3e38);
    for (uint32_t i = 0; i < corners; i++)
        data->triangles[i] = (uint32_t)faces[i];
    data->vertex_count = numbers / 3;
    data->triangle_count = corners / 3;
    return MF_OK;
}

// The attribute texcoord of a mesh with inline vertices: two numbers for each of them.
static mf_Status read_positions(mf_Mjcf *m, const mf_MjcfMesh *mesh, mf_MeshData *data) {
    double *values;
    uint32_t count;
    MF_TRY(mf_mjcf_list(m, mesh->node, "texcoord", &values, &count));
    if (count == 0 || data->triangle_count == 0)
        return MF_OK;
    if (count != 2 * data->vertex_count)
        return mf_mjcf_fail(
            m, mesh->node,
            "<mesh> texcoord: expected two numbers for each of %u vertices, found %u numbers",
            data->vertex_count, count);
    data->coordinates =
        mf_allocate(m->context, 6 * (size_t)data->triangle_count, sizeof *data->coordinates);
    if (data->coordinates == NULL)
        return mf_mjcf_no_memory(m);
    for (size_t i = 0; i < 3 * (size_t)data->triangle_count; i++)
        for (size_t k = 0; k < 2; k++)
            data->coordinates[2 * i + k] =
                (float)mf_clamp(values[2 * (size_t)data->triangles[i] + k], -1e6, 1e6);
    return MF_OK;
}

// The vertices in the mesh's own frame, as doubles and rounded.
static mf_Status transform(mf_Mjcf *m, mf_MjcfMesh *mesh, mf_MeshData *data) {
    double rotation[4];
    memcpy(rotation, mesh->plain.reference_rotation, sizeof rotation);
    if (!mf_mjcf_unit(rotation))
        return mf_mjcf_fail(m, mesh->node, "<mesh> refquat: expected a rotation, found zeros");
    bool rotated = rotation[1] != 0.0 || rotation[2] != 0.0 || rotation[3] != 0.0;
    mesh->exact = mf_allocate(m->context, 3 * (size_t)data->vertex_count, sizeof *mesh->exact);
    if (mesh->exact == NULL)
        return mf_mjcf_no_memory(m);
    for (uint32_t i = 0; i < data->vertex_count; i++) {
        float *vertex = &data->vertices[3 * (size_t)i];
        double *exact = &mesh->exact[3 * (size_t)i];
        mf_vec3_set(exact, vertex[0], vertex[1], vertex[2]);
        mf_vec3_sub(exact, exact, mesh->plain.reference_position);
        if (rotated)
            mf_quat_rotate_inverse(exact, rotation, exact);
        for (int axis = 0; axis < 3; axis++) {
            exact[axis] *= mesh->plain.scale[axis];
            if (!(mf_abs(exact[axis]) < 1e30))
                return mf_mjcf_fail(m, mesh->node, "<mesh>: a scaled vertex is too large");
            vertex[axis] = (float)exact[axis];
        }
    }
    // A mirrored mesh must still face outward.
    for (uint32_t i = 0; i < data->triangle_count; i++) {
        if (mesh->plain.scale[0] * mesh->plain.scale[1] * mesh->plain.scale[2] > 0.0)
            break;
        mf_mesh_reverse(data, i);
    }
    return MF_OK;
}

static mf_Status add_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh, const char *path, mf_MeshData *data) {
    mf_Status status = transform(m, mesh, data);
    mf_Mesh item = mesh->plain;
    item.path = path;
    item.name = mesh->name;
    item.vertex_count = data->vertex_count;
    item.triangle_count = data->triangle_count;
    item.vertices = data->vertices;
    item.triangles = data->triangles;
    item.coordinates = data->coordinates;
    item.shell = mesh->mass_kind == MF_MJCF_MASS_SHELL;
    item.hull_limit = mesh->hull_limit > 0 ? (uint32_t)mesh->hull_limit : 0;
    mesh->draft = m->draft.meshes.count;
    MF_THEN(status, mf_mjcf_add(m, mesh->node, MF_ITEM_MESH, &item, NULL));
    if (status != MF_OK) {
        mf_mesh_release(data);
        return status;
    }
    mesh->loaded = true;
    // A cloud of points stands for its convex hull.
    return item.triangle_count == 0 ? mf_mjcf_hull_mesh(m, mesh) : MF_OK;
}

mf_Status mf_mjcf_load_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh) {
    char path[MF_PATH_LIMIT] = "";
    mf_MeshData data = {.context = m->context};
    if (mesh->loaded)
        return MF_OK;
    if (mesh->vertices != NULL) {
        mf_Status status = read_inline(m, mesh, &data);
        MF_THEN(status, read_positions(m, mesh, &data));
        if (status != MF_OK)
            mf_mesh_release(&data);
        return status == MF_OK ? add_mesh(m, mesh, "", &data) : status;
    }
    if (m->in_memory)
        return mf_xml_fail(&m->xml, mesh->node, MF_UNSUPPORTED,
                           "<mesh> needs a file, found text in memory");
    MF_TRY(mf_mjcf_find_asset(m, mesh->node, "mesh", mf_mjcf_settings(m, mesh->node)->mesh_folder,
                              mesh->file, path));
    mf_Status status = mf_mesh_load(m->context, path, &data, m->error);
    if (status == MF_OK && data.first_object > 0 && data.first_object < data.triangle_count) {
        // As MuJoCo: the surface of the first object, among the vertices of all.
        data.triangle_count = data.first_object;
        status = mf_mjcf_pass(m, mesh->node, "objects of an OBJ but the first");
        if (status != MF_OK)
            mf_mesh_release(&data);
    }
    return status == MF_OK ? add_mesh(m, mesh, path, &data) : status;
}

// ---- mass --------------------------------------------------------------------------------------

typedef struct Surface {
    const mf_MjcfMesh *mesh;
    const uint32_t *triangles;
    uint32_t count;
} Surface;

static void corners_of(const Surface *surface, uint32_t triangle, const double *corner[3]) {
    for (int k = 0; k < 3; k++)
        corner[k] = &surface->mesh->exact[3 * (size_t)surface->triangles[3 * (size_t)triangle + k]];
}

// Twice the area times the outward normal, and the middle.
static double measure(const double *corner[3], double normal[3], double middle[3]) {
    double a[3], b[3];
    mf_vec3_sub(a, corner[1], corner[0]);
    mf_vec3_sub(b, corner[2], corner[0]);
    mf_vec3_cross(normal, a, b);
    for (int axis = 0; axis < 3; axis++)
        middle[axis] = (corner[0][axis] + corner[1][axis] + corner[2][axis]) / 3;
    return mf_vec3_length(normal) / 2;
}

// Volume of the pyramid over a triangle, or the triangle's area.
static double weight_of(const mf_MjcfMesh *mesh, const double normal[3], const double to_middle[3],
                        double area) {
    if (mesh->mass_kind == MF_MJCF_MASS_SHELL)
        return area;
    double volume = mf_vec3_dot(normal, to_middle) / 6;
    return mesh->mass_kind == MF_MJCF_MASS_LEGACY ? mf_abs(volume) : volume;
}

static double find_middle(const Surface *surface, double middle[3]) {
    double total = 0.0;
    mf_vec3_set(middle, 0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < surface->count; i++) {
        const double *corner[3];
        double normal[3], center[3];
        corners_of(surface, i, corner);
        double area = measure(corner, normal, center);
        mf_vec3_add_scaled(middle, middle, area, center);
        total += area;
    }
    if (total >= SMALLEST)
        mf_vec3_scale(middle, middle, 1 / total);
    return total;
}

static double find_center(const Surface *surface, const double tip[3], double center[3]) {
    bool shell = surface->mesh->mass_kind == MF_MJCF_MASS_SHELL;
    double total = 0.0;
    mf_vec3_set(center, 0.0, 0.0, 0.0);
    for (uint32_t i = 0; i < surface->count; i++) {
        const double *corner[3];
        double normal[3], middle[3], arm[3];
        corners_of(surface, i, corner);
        double area = measure(corner, normal, middle);
        mf_vec3_sub(arm, middle, tip);
        double weight = weight_of(surface->mesh, normal, arm, area);
        total += weight;
        mf_vec3_add_scaled(center, center, shell ? weight : weight * 0.75, middle);
        mf_vec3_add_scaled(center, center, shell ? 0.0 : weight * 0.25, tip);
    }
    if (total >= SMALLEST)
        mf_vec3_scale(center, center, 1 / total);
    return total;
}

static double find_inertia(const Surface *surface, const double center[3], double inertia[6]) {
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    double share = surface->mesh->mass_kind == MF_MJCF_MASS_SHELL ? 12 : 20;
    double total = 0.0, second[6] = {0};
    for (uint32_t i = 0; i < surface->count; i++) {
        const double *corner[3];
        double p[3][3], normal[3], middle[3];
        corners_of(surface, i, corner);
        for (int k = 0; k < 3; k++)
            mf_vec3_sub(p[k], corner[k], center);
        const double *moved[3] = {p[0], p[1], p[2]};
        double area = measure(moved, normal, middle);
        double weight = weight_of(surface->mesh, normal, middle, area);
        total += weight;
        for (int k = 0; k < 6; k++) {
            int u = pairs[k][0], v = pairs[k][1];
            double squares = p[0][u] * p[0][v] + p[1][u] * p[1][v] + p[2][u] * p[2][v];
            double sum_u = p[0][u] + p[1][u] + p[2][u], sum_v = p[0][v] + p[1][v] + p[2][v];
            second[k] += weight / share * (squares + sum_u * sum_v);
        }
    }
    mf_vec3_set(inertia, second[1] + second[2], second[0] + second[2], second[0] + second[1]);
    mf_vec3_set(inertia + 3, -second[3], -second[4], -second[5]);
    return total;
}

typedef struct Edge {
    uint32_t from, to;
} Edge;

static int compare_edges(const void *a, const void *b) {
    const Edge *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

// On a consistently oriented surface no edge occurs twice in the same direction.
static mf_Status check_orientation(mf_Mjcf *m, const Surface *surface) {
    Edge *edges = mf_allocate(m->context, 3 * (size_t)surface->count + 1, sizeof *edges);
    if (edges == NULL)
        return mf_mjcf_no_memory(m);
    size_t count = 0;
    for (uint32_t i = 0; i < surface->count; i++) {
        const double *corner[3];
        double normal[3], middle[3];
        corners_of(surface, i, corner);
        if (!(measure(corner, normal, middle) > 3.2e-8)) // as MuJoCo: degenerate ones do not count
            continue;
        for (int k = 0; k < 3; k++)
            edges[count++] = (Edge){surface->triangles[3 * (size_t)i + k],
                                    surface->triangles[3 * (size_t)i + (k + 1) % 3]};
    }
    qsort(edges, count, sizeof *edges, compare_edges);
    mf_Status status = MF_OK;
    for (size_t i = 1; status == MF_OK && i < count; i++) {
        if (compare_edges(&edges[i - 1], &edges[i]) == 0)
            status = mf_mjcf_fail(m, surface->mesh->node,
                                  "<mesh>: triangles at the edge between vertices %u and %u have "
                                  "inconsistent orientations",
                                  edges[i].from, edges[i].to);
    }
    mf_release(m->context, edges);
    return status;
}

mf_Status mf_mjcf_weigh_mesh(mf_Mjcf *m, mf_MjcfMesh *mesh) {
    MF_TRY(mf_mjcf_load_mesh(m, mesh));
    if (mesh->has_mass)
        return MF_OK;
    bool convex = mesh->mass_kind == MF_MJCF_MASS_CONVEX;
    MF_TRY(convex ? mf_mjcf_hull_mesh(m, mesh) : MF_OK);
    const mf_Mesh *drafted = &mf_draft_meshes(&m->draft)[mesh->draft];
    Surface surface = {mesh, convex ? drafted->hull_triangles : drafted->triangles,
                       convex ? drafted->hull_triangle_count : drafted->triangle_count};
    double tip[3], inertia[6];
    if (mesh->mass_kind == MF_MJCF_MASS_EXACT)
        MF_TRY(check_orientation(m, &surface));
    if (find_middle(&surface, tip) < SMALLEST)
        return mf_mjcf_fail(m, mesh->node, "<mesh>: its surface has no area");
    double total = find_center(&surface, tip, mesh->center);
    if (total < SMALLEST)
        return mf_mjcf_fail(m, mesh->node, "<mesh>: its volume must be > 0, found %g m^3 (%s)",
                            total,
                            total < -SMALLEST ? "its triangles are oriented inward"
                                              : "inertia=\"shell\" gives it area instead");
    mesh->volume = find_inertia(&surface, mesh->center, inertia);
    mf_mjcf_principal(mesh->moments, mesh->axes, inertia);
    if (!(mesh->moments[2] > 0.0) || !mf_all_finite(mesh->moments, 3))
        return mf_mjcf_fail(m, mesh->node, "<mesh>: its inertia must be > 0, found %g",
                            mesh->moments[2]);
    mesh->has_mass = true;
    return MF_OK;
}
