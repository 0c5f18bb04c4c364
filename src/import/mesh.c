// Processing of meshes after reading.
//
// Contact points: for each of a fixed set of directions the farthest vertex (the support point, so
// a vertex of the convex hull), thinned by farthest point sampling (T. Gonzalez, "Clustering to
// minimize the maximum intercluster distance", 1985). Ties go to the lower index, so the result
// depends on the mesh alone.
#include "import/mesh.h"

#include "math/scalar.h"

#include "import/xml.h"

#include <string.h>
#include <strings.h>

#define DIRECTIONS_LIMIT (4 * MF_MESH_POINTS_LIMIT)

bool mf_mesh_reserve(mf_MeshData *mesh, size_t vertices, size_t triangles, bool coordinates) {
    mf_Context *context = mesh->context;
    mesh->vertices = mf_allocate(context, 3 * vertices, sizeof *mesh->vertices);
    mesh->triangles = mf_allocate(context, 3 * triangles, sizeof *mesh->triangles);
    if (coordinates)
        mesh->coordinates = mf_allocate(context, 6 * triangles, sizeof *mesh->coordinates);
    return mesh->vertices != NULL && mesh->triangles != NULL &&
           (!coordinates || mesh->coordinates != NULL);
}

void mf_mesh_release(mf_MeshData *mesh) {
    mf_release(mesh->context, mesh->vertices);
    mf_release(mesh->context, mesh->triangles);
    mf_release(mesh->context, mesh->coordinates);
    *mesh = (mf_MeshData){.context = mesh->context};
}

mf_Status mf_mesh_load(mf_Context *context, const char *path, mf_MeshData *out, mf_Error *error) {
    *out = (mf_MeshData){.context = context};
    char *data;
    size_t size;
    mf_Status status = mf_file_read(context, path, MF_FILE_LIMIT, &data, &size, error);
    if (status != MF_OK)
        return status;
    const char *ending = strrchr(path, '.');
    if (ending != NULL && strcasecmp(ending, ".obj") == 0)
        status = mf_obj_parse(context, path, data, size, out, error);
    else if (ending != NULL && strcasecmp(ending, ".msh") == 0)
        status = mf_msh_parse(context, path, data, size, out, error);
    else if (ending != NULL && strcasecmp(ending, ".dae") == 0)
        status = mf_dae_parse(context, path, data, size, out, error);
    else
        status = mf_stl_parse(context, path, data, size, out, error);
    mf_release(context, data);
    return status;
}

void mf_mesh_reverse(mf_MeshData *mesh, uint32_t triangle) {
    uint32_t *corner = &mesh->triangles[3 * (size_t)triangle];
    const uint32_t second = corner[1];
    corner[1] = corner[2];
    corner[2] = second;
    for (int k = 2; mesh->coordinates != NULL && k < 4; k++) {
        float *position = &mesh->coordinates[6 * (size_t)triangle];
        const float kept = position[k];
        position[k] = position[k + 2];
        position[k + 2] = kept;
    }
}

void mf_mesh_scale(mf_MeshData *mesh, const double scale[3]) {
    for (uint32_t i = 0; i < 3 * mesh->vertex_count; i++)
        mesh->vertices[i] = (float)(mesh->vertices[i] * scale[i % 3]);
    if (!(scale[0] * scale[1] * scale[2] < 0.0))
        return;
    for (uint32_t i = 0; i < mesh->triangle_count; i++)
        mf_mesh_reverse(mesh, i);
}

static void get_vertex(double out[3], const mf_MeshData *mesh, uint32_t index) {
    for (int axis = 0; axis < 3; axis++)
        out[axis] = mesh->vertices[3 * (size_t)index + axis];
}

double mf_mesh_volume(const mf_MeshData *mesh) {
    double volume = 0.0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        double corner[3][3], normal[3];
        for (int k = 0; k < 3; k++)
            get_vertex(corner[k], mesh, mesh->triangles[3 * (size_t)i + k]);
        mf_vec3_cross(normal, corner[1], corner[2]);
        volume += mf_vec3_dot(corner[0], normal) / 6;
    }
    return volume;
}

// Up to 26 directions: faces, corners and edges of a cube, in this order. More: a golden-angle
// spiral over the sphere.
typedef struct Directions {
    uint32_t count;
    double cube[26][3];
} Directions;

static Directions make_directions(uint32_t limit) {
    Directions directions = {.count = 0};
    if (limit > 26) {
        directions.count = 4 * limit;
        return directions;
    }
    static const int order[3] = {1, 3, 2}; // coordinates that are not 0
    for (int pass = 0; pass < 3; pass++) {
        for (int code = 0; code < 27; code++) {
            int x = code % 3 - 1, y = code / 3 % 3 - 1, z = code / 9 - 1;
            if ((x != 0) + (y != 0) + (z != 0) != order[pass])
                continue;
            mf_vec3_set(directions.cube[directions.count++], x, y, z);
        }
    }
    return directions;
}

static void get_direction(double out[3], const Directions *directions, uint32_t k) {
    if (directions->count <= 26) {
        mf_vec3_copy(out, directions->cube[k]);
        return;
    }
    const double golden_angle = 2.39996322972865332223; // [rad] pi (3 - sqrt 5)
    double height = 1.0 - (2.0 * k + 1.0) / directions->count, sine, cosine;
    double radius = mf_sqrt(1.0 - height * height);
    mf_sin_cos(golden_angle * k, &sine, &cosine);
    mf_vec3_set(out, radius * cosine, radius * sine, height);
}

static double squared_distance(const double a[3], const double b[3]) {
    double difference[3];
    mf_vec3_sub(difference, a, b);
    return mf_vec3_dot(difference, difference);
}

// The support points of the mesh; a vertex may occur several times.
static void find_extremes(const mf_MeshData *mesh, const Directions *directions, uint32_t *out) {
    for (uint32_t k = 0; k < directions->count; k++) {
        uint32_t best = 0;
        double furthest = 0.0, direction[3];
        get_direction(direction, directions, k);
        for (uint32_t i = 0; i < mesh->vertex_count; i++) {
            const float *v = &mesh->vertices[3 * (size_t)i];
            double reach = direction[0] * v[0] + direction[1] * v[1] + direction[2] * v[2];
            if (i == 0 || reach > furthest) {
                furthest = reach;
                best = i;
            }
        }
        out[k] = best;
    }
}

static uint32_t thin(const mf_MeshData *mesh, const uint32_t *candidate, uint32_t count,
                     uint32_t limit, double (*out)[3]) {
    double middle[3] = {0.0, 0.0, 0.0}, distance[DIRECTIONS_LIMIT], vertex[3];
    for (uint32_t i = 0; i < count; i++) {
        get_vertex(vertex, mesh, candidate[i]);
        mf_vec3_add_scaled(middle, middle, 1.0 / count, vertex);
    }
    for (uint32_t i = 0; i < count; i++) {
        get_vertex(vertex, mesh, candidate[i]);
        distance[i] = squared_distance(vertex, middle);
    }
    uint32_t picked = 0;
    while (picked < limit) {
        uint32_t best = 0;
        for (uint32_t i = 1; i < count; i++)
            best = distance[i] > distance[best] ? i : best;
        if (picked > 0 && !(distance[best] > 0.0))
            break;
        get_vertex(out[picked], mesh, candidate[best]);
        for (uint32_t i = 0; i < count; i++) {
            get_vertex(vertex, mesh, candidate[i]);
            double gap = squared_distance(vertex, out[picked]);
            distance[i] = picked == 0 || gap < distance[i] ? gap : distance[i];
        }
        picked++;
    }
    return picked;
}

uint32_t mf_mesh_points(const mf_MeshData *mesh, uint32_t limit, double (*out)[3]) {
    if (mesh->vertex_count == 0)
        return 0;
    uint32_t extreme[DIRECTIONS_LIMIT];
    const Directions directions = make_directions(limit);
    find_extremes(mesh, &directions, extreme);
    return thin(mesh, extreme, directions.count, limit, out);
}
