// A plane (solid below) with all kinds of solids, in closed form. The normal is the plane's.
#ifndef MF_CONTACT_NARROW_PLANE_H
#define MF_CONTACT_NARROW_PLANE_H

#include "contact/narrow_face.h"

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

// The corners of the face of b that looks down.
static void plane_face(Meet *meet, const Floor *ground, Vec down) {
    Face face;
    face_of(meet, &meet->b, down, &face);
    if (meet->b.kind != MF_COLLIDE_HULL) {
        for (uint32_t i = 0; i < 4; i++)
            put_on_plane(meet, i, mf_mask_all(), ground, face.corner[i], mf_zero());
        return;
    }
    // The lowest vertex of a hull, then those of its lowest face that are no neighbours of it.
    Vec lowest = hull_reach(&meet->b, down);
    put_on_plane(meet, 0, mf_mask_all(), ground, lowest, mf_zero());
    mf_lane apart = meet->small * mf_set((mf_real)0.01), least = apart * apart;
    Vec kept[4] = {lowest, lowest, lowest, lowest};
    mf_mask taken[4] = {mf_mask_all(), mf_not(mf_mask_all()), mf_not(mf_mask_all()),
                        mf_not(mf_mask_all())};
    for (uint32_t i = 0; i < 4; i++) {
        mf_mask fresh = mf_mask_all();
        for (uint32_t k = 0; k < 4; k++) {
            Vec way = vec_sub(face.corner[i], kept[k]);
            fresh = mf_and(fresh, mf_less(least, vec_dot(way, way)));
        }
        for (uint32_t k = 1; k < 4; k++) {
            mf_mask here = mf_and(fresh, mf_not(taken[k]));
            kept[k] = vec_select(here, face.corner[i], kept[k]);
            taken[k] = mf_or(taken[k], here);
            fresh = mf_and(fresh, mf_not(here));
        }
    }
    for (uint32_t k = 1; k < 4; k++)
        put_on_plane(meet, k, taken[k], ground, kept[k], mf_zero());
}

static void plane_cylinder(Meet *meet, const Floor *ground, Vec down) {
    Face face;
    face_of_cylinder(&meet->b, down, mf_zero(), &face);
    mf_mask end = mf_less(mf_set((mf_real)0.7), mf_abs(down.z));
    put_on_plane(meet, 0, mf_mask_all(), ground, face.corner[0], mf_zero());
    put_on_plane(meet, 1, mf_mask_all(), ground, face.corner[1], mf_zero());
    put_on_plane(meet, 2, end, ground, face.corner[2], mf_zero());
    put_on_plane(meet, 3, end, ground, face.corner[3], mf_zero());
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
        put_on_plane(meet, 0, mf_mask_all(), &ground, (Vec){zero, zero, tall}, radius);
        put_on_plane(meet, 1, mf_mask_all(), &ground, (Vec){zero, zero, -tall}, radius);
        return;
    case MF_COLLIDE_ELLIPSOID:
        put_on_plane(meet, 0, mf_mask_all(), &ground, ellipsoid_reach(&meet->b, down), zero);
        return;
    case MF_COLLIDE_CYLINDER:
        plane_cylinder(meet, &ground, down);
        return;
    case MF_COLLIDE_BOX:
    case MF_COLLIDE_HULL:
        plane_face(meet, &ground, down);
        return;
    case MF_COLLIDE_PLANE: // never a pair
        return;
    }
}

#endif
