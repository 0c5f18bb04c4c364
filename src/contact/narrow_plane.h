// A plane (solid below) with all kinds of solids, in closed form. The normal is the plane's.
#ifndef MF_CONTACT_NARROW_PLANE_H
#define MF_CONTACT_NARROW_PLANE_H

#include "contact/narrow_face.h"
#include "contact/narrow_hull.h"

typedef struct Floor { // the plane in the axes of b
    Vec up;            // [1]
    mf_lane height;    // [m] of the center of b above it
} Floor;

static MF_INLINE mf_lane height_above(const Floor *ground, Vec point) {
    return vec_dot_add(ground->up, point, ground->height);
}

// A point of b [m], in its axes, `radius` above what touches.
static void put_on_plane(PairTest *test, uint32_t i, mf_mask where, const Floor *ground, Vec point,
                         mf_lane radius) {
    mf_lane depth = radius - height_above(ground, point);
    point = vec_fma(ground->up, mf_fma(mf_set((mf_real)0.5), depth, -radius), point);
    put(test, i, where, mat_apply_add(&test->b.rotation, point, test->b.position),
        mat_apply(&test->b.rotation, ground->up), depth);
}

// The lower corners of a box.
static void plane_box(PairTest *test, const Floor *ground) {
    Face face;
    face_of_box(&test->b, vec_minus(ground->up), &face);
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(test, i, mf_mask_all(), ground, face.corner[i], mf_zero());
}

// The lowest vertex of a hull and corners of a face about it (hull.h).
static void plane_hull(PairTest *test, const Floor *ground) {
    HullCorners corners;
    hull_on_plane(test->b.hull, test->sound, ground->up, &corners);
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(test, i, corners.exists[i], ground, corners.at[i], mf_zero());
}

// The lowest points of both rims, and two more a third of a turn away on the lower one.
static void plane_cylinder(PairTest *test, const Floor *ground, Vec down) {
    const mf_lane zero = mf_zero(), radius = half(&test->b, 0), tall = half(&test->b, 1);
    const mf_lane back = mf_set((mf_real)-0.5), wide = mf_set((mf_real)0.86602540378443865);
    mf_lane length;
    Vec out = unit_or(MF_VALUE(Vec, down.x, down.y, zero), constant_vec(1, 0, 0), &length);
    Vec along = {-out.y, out.x, zero}, end = {zero, zero, with_sign(tall, down.z)};
    Vec left = vec_fma(out, back, vec_scale(along, wide));
    Vec right = vec_fma(out, back, vec_scale(along, minus(wide)));
    const Vec points[4] = {vec_fma(out, radius, end), vec_sub(vec_scale(out, radius), end),
                           vec_fma(left, radius, end), vec_fma(right, radius, end)};
    for (uint32_t i = 0; i < 4; i++)
        put_on_plane(test, i, mf_mask_all(), ground, points[i], zero);
}

static void plane_any(PairTest *test) {
    const mf_lane zero = mf_zero();
    Vec up = axis_z(&test->a.rotation);
    Floor ground = {mat_apply_transposed(&test->b.rotation, up),
                    vec_dot(up, vec_sub(test->b.position, test->a.position))};
    Vec down = vec_minus(ground.up);
    mf_lane radius = half(&test->b, 0), tall = half(&test->b, 1);
    switch (test->b.kind) {
    case MF_COLLIDE_SPHERE:
        put_on_plane(test, 0, mf_mask_all(), &ground, constant_vec(0, 0, 0), radius);
        return;
    case MF_COLLIDE_CAPSULE: // the lower end first
        tall = with_sign(tall, down.z);
        put_on_plane(test, 0, mf_mask_all(), &ground, MF_VALUE(Vec, zero, zero, tall), radius);
        put_on_plane(test, 1, mf_mask_all(), &ground, MF_VALUE(Vec, zero, zero, -tall), radius);
        return;
    case MF_COLLIDE_ELLIPSOID:
        put_on_plane(test, 0, mf_mask_all(), &ground, ellipsoid_reach(&test->b, down), zero);
        return;
    case MF_COLLIDE_CYLINDER:
        plane_cylinder(test, &ground, down);
        return;
    case MF_COLLIDE_BOX:
        plane_box(test, &ground);
        return;
    case MF_COLLIDE_HULL:
        plane_hull(test, &ground);
        return;
    case MF_COLLIDE_PLANE: // never a pair
        return;
    }
}

#endif
