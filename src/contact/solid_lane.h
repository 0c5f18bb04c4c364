// Signed distances of points from solids (contact/solid.h), in lanes.
#pragma once

#include "contact/shape_lane.h"
#include "contact/solid.h"

// The largest distance from a face: exact inside and before faces, too small before edges.
static MF_INLINE Gap hull_gap(Vec at, const mf_Solid *solid) {
    Gap gap = {mf_set((mf_real)-1e30), {mf_zero(), mf_zero(), mf_set((mf_real)1)}};
    for (uint32_t f = 0; f < solid->face_count; f++) {
        const mf_SolidFace *face = &solid->faces[f];
        Vec normal = {mf_set((mf_real)face->normal[0]), mf_set((mf_real)face->normal[1]),
                      mf_set((mf_real)face->normal[2])};
        mf_lane distance = vec_dot(normal, at) - mf_set((mf_real)face->distance);
        mf_mask more = mf_less(gap.distance, distance);
        gap.distance = mf_select(more, distance, gap.distance);
        gap.normal = vec_select(more, normal, gap.normal);
    }
    return gap;
}

static MF_INLINE Mat solid_axes(const mf_Solid *solid) {
    const double *m = solid->rotation;
    return MF_VALUE(Mat, mf_set((mf_real)m[0]), mf_set((mf_real)m[1]), mf_set((mf_real)m[2]),
                    mf_set((mf_real)m[3]), mf_set((mf_real)m[4]), mf_set((mf_real)m[5]),
                    mf_set((mf_real)m[6]), mf_set((mf_real)m[7]), mf_set((mf_real)m[8]));
}

static MF_INLINE Vec vec_set(const double a[3]) {
    return MF_VALUE(Vec, mf_set((mf_real)a[0]), mf_set((mf_real)a[1]), mf_set((mf_real)a[2]));
}

// In the solid's axes.
static MF_INLINE Gap own_gap(Vec p, const mf_Solid *solid) {
    return solid->kind == MF_COLLIDE_HULL ? hull_gap(p, solid)
                                          : shape_gap(solid->kind, solid->half, p);
}

// In its axes.
static MF_INLINE Vec solid_position(const mf_Solid *solid, const Mat *axes, Vec at) {
    return mat_apply_transposed(axes, vec_sub(at, vec_set(solid->center)));
}

static MF_INLINE Gap solid_gap(const mf_Solid *solid, Vec at) {
    const Mat axes = solid_axes(solid);
    Gap gap = own_gap(solid_position(solid, &axes, at), solid);
    gap.normal = mat_apply(&axes, gap.normal);
    return gap;
}

// Velocity of the solid at a point.
static MF_INLINE Vec solid_velocity(const mf_Solid *solid, Vec at) {
    return vec_cross_add(vec_set(solid->rate), vec_sub(at, vec_set(solid->center)),
                         vec_set(solid->velocity));
}
