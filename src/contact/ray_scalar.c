// One ray against one solid: the double copy of ray.h.
#include "contact/ray.h"

static Vec vec_of(const double a[3]) {
    return MF_VALUE(Vec, mf_set(a[0]), mf_set(a[1]), mf_set(a[2]));
}

double mf_ray_time_scalar_f64(const mf_RaySolid *solid, const double start[3],
                              const double direction[3]) {
    return ray_shape(solid, vec_of(start), vec_of(direction));
}

uint32_t mf_ray_triangle_scalar_f64(const mf_Mesh *mesh, const double start[3],
                                    const double direction[3]) {
    double nearest = RAY_FAR;
    uint32_t found = 0;
    for (uint32_t i = 0; i < mesh->triangle_count; i++) {
        const double time = ray_triangle(vec_of(start), vec_of(direction), mesh, i);
        found = time < nearest ? i : found;
        nearest = time < nearest ? time : nearest;
    }
    return found;
}
