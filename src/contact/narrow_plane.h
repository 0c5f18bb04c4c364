// A plane (solid below) with all kinds of solids, in closed form. The normal is the plane's.
#ifndef MF_CONTACT_NARROW_PLANE_H
#define MF_CONTACT_NARROW_PLANE_H

#include "contact/narrow_face.h"
#include "contact/narrow_hull.h"

typedef struct Floor { // the plane in the axes of b
    Vec up;            // [1]
    mf_lane height;    // [m] of the centre of b above it
} Floor;

static MF_INLINE mf_lane height_above(const Floor *ground, Vec point) {
    return vec_dot_add(ground->up, point, ground->height);
}

// A point of b [m], in its axes, `radius` above what touches.
static void put_on_plane(Meet *meet, uint32_t i, mf_mask where, const Floor *ground, Vec point,
                         mf_lane radius) {
    mf_lane depth = radius - height_above(ground, point);
    point = vec_fma(ground->up, mf_fma(mf_set((mf_real)0.5), depth, -radius), point);
    put(meet, i, where, mat_apply_add(&meet->b.turn, point, meet->b.place),
        mat_apply(&meet->b.turn, ground->up), depth);
}

// The lower corners of a box.
static void plane_box(Meet *meet, const Floor *ground) {
    Face face;
    face_of_box(&meet->b, vec_minus(ground->up), &face);
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(meet, i, mf_mask_all(), ground, face.corner[i], mf_zero());
}

// The lowest vertex of a hull and corners of a face about it (hull.h).
static void plane_hull(Meet *meet, const Floor *ground) {
    HullCorners corners;
    hull_on_plane(meet->b.hull, meet->sound, ground->up, &corners);
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(meet, i, corners.exists[i], ground, corners.at[i], mf_zero());
}

// The lowest points of both rims, and two more a third of a turn away on the lower one.
static void plane_cylinder(Meet *meet, const Floor *ground, Vec down) {
    const mf_lane zero = mf_zero(), radius = half(&meet->b, 0), tall = half(&meet->b, 1);
    const mf_lane back = mf_set((mf_real)-0.5), wide = mf_set((mf_real)0.86602540378443865);
    mf_lane length;
    Vec out = unit_or(MF_VALUE(Vec, down.x, down.y, zero), constant_vec(1, 0, 0), &length);
    Vec along = {-out.y, out.x, zero}, end = {zero, zero, with_sign(tall, down.z)};
    Vec left = vec_fma(out, back, vec_scale(along, wide));
    Vec right = vec_fma(out, back, vec_scale(along, minus(wide)));
    const Vec points[4] = {vec_fma(out, radius, end), vec_sub(vec_scale(out, radius), end),
                           vec_fma(left, radius, end), vec_fma(right, radius, end)};
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(meet, i, mf_mask_all(), ground, points[i], zero);
}

static void plane_any(Meet *meet) {
    const mf_lane zero = mf_zero();
    Vec up = axis_z(&meet->a.turn);
    Floor ground = {mat_apply_transposed(&meet->b.turn, up),
                    vec_dot(up, vec_sub(meet->b.place, meet->a.place))};
    Vec down = vec_minus(ground.up);
    mf_lane radius = half(&meet->b, 0), tall = half(&meet->b, 1);
    switch (meet->b.kind) {
    case MF_COLLIDE_SPHERE:
        put_on_plane(meet, 0, mf_mask_all(), &ground, constant_vec(0, 0, 0), radius);
        return;
    case MF_COLLIDE_CAPSULE: // the lower end first
        tall = with_sign(tall, down.z);
        put_on_plane(meet, 0, mf_mask_all(), &ground, MF_VALUE(Vec, zero, zero, tall), radius);
        put_on_plane(meet, 1, mf_mask_all(), &ground, MF_VALUE(Vec, zero, zero, -tall), radius);
        return;
    case MF_COLLIDE_ELLIPSOID:
        put_on_plane(meet, 0, mf_mask_all(), &ground, ellipsoid_reach(&meet->b, down), zero);
        return;
    case MF_COLLIDE_CYLINDER:
        plane_cylinder(meet, &ground, down);
        return;
    case MF_COLLIDE_BOX:
        plane_box(meet, &ground);
        return;
    case MF_COLLIDE_HULL:
        plane_hull(meet, &ground);
        return;
    case MF_COLLIDE_PLANE: // never a pair
        return;
    }
}

#endif
