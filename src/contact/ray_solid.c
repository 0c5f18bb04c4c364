// One ray against one solid, with the normal of the surface that it meets.
#include "contact/ray_solid.h"
#include "math/scalar.h"

mf_RaySolid mf_ray_solid(mf_ShapeType type, const double size[3], const mf_Mesh *mesh) {
    mf_RaySolid out = {.type = type, .kind = mf_shape_kinds[type].collide, .mesh = mesh};
    mf_shape_half(type, size, out.size);
    return out;
}

static void mesh_normal(const mf_Mesh *mesh, const double start[3], const double direction[3],
                        double normal[3]) {
    const uint32_t found = mf_ray_triangle_scalar_f64(mesh, start, direction);
    double corner[3][3];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            corner[k][i] = (double)mesh->vertices[3 * (size_t)mesh->triangles[3 * found + k] + i];
    mf_vec3_sub(corner[1], corner[1], corner[0]);
    mf_vec3_sub(corner[2], corner[2], corner[0]);
    mf_vec3_cross(normal, corner[1], corner[2]);
    mf_vec3_scale(normal, normal, mf_vec3_dot(normal, direction) > 0.0 ? -1.0 : 1.0);
}

static void normal_at(const mf_RaySolid *solid, const double start[3], const double direction[3],
                      const double at[3], double normal[3]) {
    const mf_ShapeKind *kind = &mf_shape_kinds[solid->type];
    if (kind->normal != NULL)
        kind->normal(solid->size, at, normal);
    else if (solid->type == MF_SHAPE_MESH)
        mesh_normal(solid->mesh, start, direction, normal);
    else
        mf_vec3_set(normal, 0, 0, 1);
    mf_vec3_normalize(normal);
}

double mf_ray_hit(const mf_RaySolid *solid, const double start[3], const double direction[3],
                  double normal[3]) {
    const double time = mf_ray_time_scalar_f64(solid, start, direction);
    double at[3];
    if (normal == NULL || !(time < MF_RAY_FAR))
        return time;
    mf_vec3_add_scaled(at, start, time, direction);
    normal_at(solid, start, direction, at, normal);
    return time;
}
