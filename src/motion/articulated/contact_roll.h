// How a point of contact moves over the surface of a shape while its link turns.
//
// The contact of a convex shape is where its surface has the outward normal m, which stays in the
// world while the link turns by w: in the link's axes it goes by m x w, and the contact over the
// surface by H (m x w) with H the second derivative of the support function, whose eigenvalues are
// the radii of curvature. In the world the arm r of the contact changes by
//     r' = w x r + H (m x w)
// and the velocity of the contact, v + w x r, by w x r' instead of the w x (w x r) of a material
// point. For a sphere r' is that of its center. Corners, edges and flat faces have no radius.
// (Montana 1988 has the general case; here the other surface is flat next to this one.)
#ifndef MF_MOTION_ARTICULATED_CONTACT_ROLL_H
#define MF_MOTION_ARTICULATED_CONTACT_ROLL_H

#include "motion/articulated/contact_pairs.h"

// An ellipsoid with these radii [m] has the support function sqrt(m . a), a = radii^2 m, so H x is
// (radii^2 x) / s - a (a . x) / s^3. Shape's axes.
static MF_INLINE Vec roll_ellipsoid(Vec radii, Vec normal, Vec direction) {
    const Vec square = {radii.x * radii.x, radii.y * radii.y, radii.z * radii.z};
    const Vec a = {square.x * normal.x, square.y * normal.y, square.z * normal.z};
    const mf_lane size = mf_sqrt(vec_dot(a, normal)), over = mf_set((mf_real)1) / size;
    const Vec first = {square.x * direction.x, square.y * direction.y, square.z * direction.z};
    return vec_scale(vec_fma(a, -(vec_dot(a, direction) * over * over), first), over);
}

// A cylinder about z rolls on its side or rim: radius / s along the rim, with s the sine between
// axis and normal. One that stands has no such radius, so it fades below s = 0.1.
static MF_INLINE Vec roll_cylinder(mf_lane radius, Vec normal, Vec direction) {
    const mf_lane least = mf_set((mf_real)0.1);
    const mf_lane size = mf_sqrt(mf_fma(normal.x, normal.x, normal.y * normal.y));
    const mf_lane over = mf_set((mf_real)1) / mf_max(size, least);
    const Vec along = {-normal.y * over, normal.x * over, mf_zero()};
    return vec_scale(along, radius * over * vec_dot(along, direction));
}

// H (m x w) of a shape for a point of contact at `arm` and `inside` [m] below its surface; link's
// axes.
static MF_INLINE Vec contact_roll(const mf_CollidePlan *collide, uint32_t shape, Vec normal,
                                  mf_lane inside, Vec arm, Vec rate) {
    const double *values = mf_collide_values_f64(collide) + (size_t)shape * MF_COLLIDE_SHAPE_VALUES;
    const double *half = values + MF_COLLIDE_HALF, *r = values + MF_COLLIDE_ROTATION;
    const Vec direction = vec_cross(normal, rate);
    const mf_lane radius = mf_set((mf_real)half[0]);
    const mf_CollideKind kind = mf_collide_shapes(collide)[shape].kind;
    if (kind == MF_COLLIDE_SPHERE || kind == MF_COLLIDE_CAPSULE)
        return vec_scale(direction, radius - inside);
    if (kind == MF_COLLIDE_HULL) { // of many facets: as the ball about its center that is as high
        const double *c = values + MF_COLLIDE_POSITION;
        const Vec center = {mf_set((mf_real)c[0]), mf_set((mf_real)c[1]), mf_set((mf_real)c[2])};
        return vec_scale(direction, vec_dot(normal, vec_sub(arm, center)));
    }
    if (kind != MF_COLLIDE_CYLINDER && kind != MF_COLLIDE_ELLIPSOID)
        return vec_zero();
    const Mat frame = {mf_set((mf_real)r[0]), mf_set((mf_real)r[1]), mf_set((mf_real)r[2]),
                       mf_set((mf_real)r[3]), mf_set((mf_real)r[4]), mf_set((mf_real)r[5]),
                       mf_set((mf_real)r[6]), mf_set((mf_real)r[7]), mf_set((mf_real)r[8])};
    const Vec m = mat_apply_transposed(&frame, normal), x = mat_apply_transposed(&frame, direction);
    const Vec radii = {radius, mf_set((mf_real)half[1]), mf_set((mf_real)half[2])};
    const Vec moves =
        kind == MF_COLLIDE_CYLINDER ? roll_cylinder(radius, m, x) : roll_ellipsoid(radii, m, x);
    return mat_apply(&frame, vec_fma(x, -inside, moves));
}

#endif
