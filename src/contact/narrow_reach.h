// The point of a solid that is farthest along a direction.
#ifndef MF_CONTACT_NARROW_REACH_H
#define MF_CONTACT_NARROW_REACH_H

#include "contact/narrow_parts.h"

static Vec hull_vertex(const Solid *solid, mf_index at) {
    const mf_real *x = solid->vertices;
    return (Vec){mf_gather(x, at), mf_gather(x + solid->vertex_count, at),
                 mf_gather(x + 2 * (size_t)solid->vertex_count, at)};
}

static Vec hull_reach(const Solid *solid, Vec n) {
    const mf_real *x = solid->vertices, *y = x + solid->vertex_count, *z = y + solid->vertex_count;
    mf_lane best = mf_set(-MF_REAL_MAX);
    mf_index at = mf_set_index(0);
    for (uint32_t i = 0; i < solid->vertex_count; i++) {
        mf_lane value = vec_dot((Vec){mf_set(x[i]), mf_set(y[i]), mf_set(z[i])}, n);
        at = mf_select_index(mf_less(best, value), mf_set_index((int32_t)i), at);
        best = mf_max(value, best);
    }
    return hull_vertex(solid, at);
}

static Vec ellipsoid_reach(const Solid *solid, Vec n) {
    Vec size = halves(solid);
    Vec stretched = {size.x * n.x, size.y * n.y, size.z * n.z};
    mf_lane square = vec_dot(stretched, stretched);
    mf_lane inverse = mf_set((mf_real)1) / mf_sqrt(mf_max(square, TINY));
    return (Vec){size.x * stretched.x * inverse, size.y * stretched.y * inverse,
                 size.z * stretched.z * inverse};
}

static Vec cylinder_reach(const Solid *solid, Vec n) {
    mf_lane square = mf_fma(n.x, n.x, n.y * n.y);
    mf_lane scale = half(solid, 0) / mf_sqrt(mf_max(square, TINY));
    return (Vec){n.x * scale, n.y * scale, with_sign(half(solid, 1), n.z)};
}

// Of the core: a sphere is its centre, a capsule its segment, the others are themselves.
static Vec core_reach(const Solid *solid, Vec n) {
    const mf_lane zero = mf_zero();
    switch (solid->kind) {
    case MF_COLLIDE_CAPSULE:
        return (Vec){zero, zero, with_sign(half(solid, 1), n.z)};
    case MF_COLLIDE_ELLIPSOID:
        return ellipsoid_reach(solid, n);
    case MF_COLLIDE_CYLINDER:
        return cylinder_reach(solid, n);
    case MF_COLLIDE_BOX:
        return (Vec){with_sign(half(solid, 0), n.x), with_sign(half(solid, 1), n.y),
                     with_sign(half(solid, 2), n.z)};
    case MF_COLLIDE_HULL:
        return hull_reach(solid, n);
    case MF_COLLIDE_SPHERE:
    case MF_COLLIDE_PLANE:
        break;
    }
    return (Vec){zero, zero, zero};
}

// [m] around the core.
static mf_lane core_radius(const Solid *solid) {
    bool round = solid->kind == MF_COLLIDE_SPHERE || solid->kind == MF_COLLIDE_CAPSULE;
    return round ? half(solid, 0) : mf_zero();
}

#endif
