// Contact of vertices with solids: where a point is from the surface of each kind, in the solid's
// axes, and the push that it gets there, opposite to that on the solid.
#ifndef MF_MOTION_CLOTH_OBSTACLE_H
#define MF_MOTION_CLOTH_OBSTACLE_H

#include "motion/cloth/solve.h"
#include "terrain/distance_lane.h"

// ---- ground -------------------------------------------------------------------------------------

// Contact of vertices with the ground: a vertex below it moves out along the normal, and friction
// takes back of its way along the ground at most the coefficient times that (Coulomb's law on
// positions: Macklin, Mueller, Chentanez, Kim 2014, equation 24). Depth that was there before the
// substep moves the vertex without giving it a velocity.

typedef struct ContactPoint { // some points that move
    Vec x;                    // [m]
    Vec predicted;            // [m] where the velocity alone would have taken it
    Vec v;                    // [m/s] that velocity
    mf_lane free;             // [1] 0: pinned, or no vertex
    mf_lane touches;          // [1] 1: it touched something in this step
} ContactPoint;

// Moves a point out of a surface: `depth` along the unit normal, > 0 inside; the surface moved by
// `direction` [m] in the substep. Returns what friction and normal moved it, but for depth that was
// there before.
static MF_INLINE Vec contact_point_leave(ContactPoint *s, Vec normal, mf_lane depth, Vec direction,
                                         mf_lane friction, mf_lane substep) {
    const mf_lane zero = mf_zero();
    const mf_mask inside = mf_and(mf_less(zero, depth), mf_less(zero, s->free));
    if (!mf_any(inside))
        return MF_VALUE(Vec, zero, zero, zero);
    depth = mf_keep(inside, depth);
    Vec moved = vec_sub(vec_fma(s->v, substep, vec_sub(s->x, s->predicted)), direction);
    mf_lane approach = vec_dot(moved, normal);
    mf_lane before = mf_clamp(depth + approach, zero, depth);
    Vec along = vec_fma(normal, -approach, moved);
    mf_lane size = mf_sqrt(vec_dot(along, along) + mf_set((mf_real)1e-30));
    mf_lane clamped = mf_min(friction * (depth - before) / size, mf_set((mf_real)1));
    Vec push = vec_fma(along, mf_keep(inside, -clamped), vec_scale(normal, depth - before));
    // Selected, as adding nothing would still turn -0 into 0 where another lane is inside.
    s->x = vec_select(inside, vec_fma(normal, before, vec_add(s->x, push)), s->x);
    s->predicted = vec_select(inside, vec_fma(normal, before, s->predicted), s->predicted);
    s->touches = mf_select(inside, mf_set((mf_real)1), s->touches);
    return push;
}

static MF_INLINE void contact_point_touch_ground(ContactPoint *s, const mf_ClothPlan *plan,
                                                 const mf_LaneMap *map, mf_lane substep) {
    const mf_lane one = mf_set((mf_real)1), radius = mf_set((mf_real)plan->radius);
    const mf_lane friction = mf_set((mf_real)plan->friction), zero = mf_zero();
    const Vec still = MF_VALUE(Vec, zero, zero, zero);
    if (plan->level) {
        const mf_lane depth = mf_set((mf_real)plan->height) + radius - s->x.z;
        contact_point_leave(s, MF_VALUE(Vec, zero, zero, one), depth, still, friction, substep);
        return;
    }
    if (map->ends) {
        Vec out;
        const mf_lane distance = mf_map_distance(map, s->x, (mf_real)plan->radius, &out);
        contact_point_leave(s, out, radius - distance, still, friction, substep);
        return;
    }
    mf_lane slope_x, slope_y, height = mf_map_surface(map, s->x.x, s->x.y, &slope_x, &slope_y);
    mf_lane up = one / mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
    const Vec normal = MF_VALUE(Vec, -slope_x * up, -slope_y * up, up);
    contact_point_leave(s, normal, mf_fma(height - s->x.z, up, radius), still, friction, substep);
}

// ---- obstacle -----------------------------------------------------------------------------------

typedef struct Near { // of a point in the solid's axes
    mf_lane distance; // [m] < 0 inside
    Vec normal;       // [1] outward
} Near;

static MF_INLINE Vec vec_number(const double *a) {
    return MF_VALUE(Vec, mf_set((mf_real)a[0]), mf_set((mf_real)a[1]), mf_set((mf_real)a[2]));
}

// A ball of this radius; `direction` [m] is from its center to the point.
static MF_INLINE Near near_ball(Vec direction, mf_real radius) {
    const mf_lane length = mf_sqrt(vec_dot(direction, direction) + mf_set((mf_real)1e-30));
    return MF_VALUE(Near, length - mf_set(radius),
                    vec_scale(direction, mf_set((mf_real)1) / length));
}

static MF_INLINE Near near_capsule(Vec p, const mf_real *half) {
    p.z = p.z - mf_clamp(p.z, mf_set(-half[1]), mf_set(half[1]));
    return near_ball(p, half[0]);
}

// Where the axes that stick out of the box are, or of the innermost side.
static MF_INLINE Near near_box(Vec p, const mf_real *half) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    const Vec q = {mf_abs(p.x) - mf_set(half[0]), mf_abs(p.y) - mf_set(half[1]),
                   mf_abs(p.z) - mf_set(half[2])};
    const Vec side = {mf_select(mf_less(p.x, zero), -one, one),
                      mf_select(mf_less(p.y, zero), -one, one),
                      mf_select(mf_less(p.z, zero), -one, one)};
    const Vec out = {mf_max(q.x, zero), mf_max(q.y, zero), mf_max(q.z, zero)};
    const mf_lane length = mf_sqrt(vec_dot(out, out) + mf_set((mf_real)1e-30));
    const mf_lane most = mf_max(q.x, mf_max(q.y, q.z));
    const mf_mask x = mf_less_equal(most, q.x), y = mf_and(mf_not(x), mf_less_equal(most, q.y));
    const mf_mask z = mf_not(mf_or(x, y)), outside = mf_less(zero, most);
    Near near;
    near.distance = mf_select(outside, length, most);
    near.normal.x = side.x * mf_select(outside, out.x / length, mf_keep(x, one));
    near.normal.y = side.y * mf_select(outside, out.y / length, mf_keep(y, one));
    near.normal.z = side.z * mf_select(outside, out.z / length, mf_keep(z, one));
    return near;
}

// A rectangle of radius and height.
static MF_INLINE Near near_cylinder(Vec p, const mf_real *half) {
    const mf_lane zero = mf_zero();
    const mf_lane round = mf_sqrt(mf_fma(p.x, p.x, p.y * p.y) + mf_set((mf_real)1e-30));
    const mf_real box[3] = {half[0], MF_REAL_MAX, half[1]};
    const Near flat = near_box(MF_VALUE(Vec, round, zero, p.z), box);
    const mf_lane along = flat.normal.x / round;
    return MF_VALUE(Near, flat.distance, MF_VALUE(Vec, along * p.x, along * p.y, flat.normal.z));
}

// To first order in the distance: the ellipsoid's equation over its gradient.
static MF_INLINE Near near_ellipsoid(Vec p, const mf_real *half) {
    const mf_lane one = mf_set((mf_real)1), tiny = mf_set((mf_real)1e-30);
    const Vec a = {one / mf_set(half[0]), one / mf_set(half[1]), one / mf_set(half[2])};
    const Vec q = {p.x * a.x, p.y * a.y, p.z * a.z}, r = {q.x * a.x, q.y * a.y, q.z * a.z};
    const mf_lane k0 = mf_sqrt(vec_dot(q, q) + tiny), k1 = mf_sqrt(vec_dot(r, r) + tiny);
    return MF_VALUE(Near, k0 * (k0 - one) / k1, vec_scale(r, one / k1));
}

// The face that is farthest out.
static MF_INLINE Near near_hull(Vec p, const mf_ClothObstacle *obstacle) {
    Near near;
    near.distance = mf_set(-MF_REAL_MAX);
    near.normal = MF_VALUE(Vec, mf_zero(), mf_zero(), mf_set((mf_real)1));
    for (uint32_t face = 0; face < obstacle->face_count; face++) {
        const Vec normal = vec_number(obstacle->faces + 4 * (size_t)face);
        const mf_lane out =
            vec_dot(normal, p) - mf_set((mf_real)obstacle->faces[4 * (size_t)face + 3]);
        const mf_mask more = mf_less(near.distance, out);
        near.distance = mf_select(more, out, near.distance);
        near.normal = vec_select(more, normal, near.normal);
    }
    return near;
}

static MF_INLINE Near near_solid(Vec p, const mf_ClothObstacle *obstacle) {
    const mf_real half[3] = {(mf_real)obstacle->half[0], (mf_real)obstacle->half[1],
                             (mf_real)obstacle->half[2]};
    switch (obstacle->kind) {
    case MF_COLLIDE_SPHERE:
        return near_ball(p, half[0]);
    case MF_COLLIDE_CAPSULE:
        return near_capsule(p, half);
    case MF_COLLIDE_ELLIPSOID:
        return near_ellipsoid(p, half);
    case MF_COLLIDE_CYLINDER:
        return near_cylinder(p, half);
    case MF_COLLIDE_BOX:
        return near_box(p, half);
    default:
        return near_hull(p, obstacle);
    }
}

// Adds what the vertex got, with the opposite sign, to the sums of the obstacle.
static MF_INLINE void add_push(mf_real *rows, uint32_t lane, Vec impulse, Vec arm) {
    const Vec moment = vec_cross(arm, impulse);
    const mf_lane more[MF_CLOTH_PUSH] = {impulse.x, impulse.y, impulse.z,
                                         moment.x,  moment.y,  moment.z};
    for (uint32_t i = 0; i < MF_CLOTH_PUSH; i++) {
        mf_real *row = rows + i * MF_CLOTH_LANES + lane;
        mf_store(row, mf_load(row) - more[i]);
    }
}

static MF_INLINE void contact_point_touch_obstacle(ContactPoint *s, const mf_ClothJob *job,
                                                   const mf_ClothObstacle *obstacle, mf_real *rows,
                                                   uint32_t lane) {
    const mf_lane radius = mf_set((mf_real)job->plan->radius);
    const mf_lane h = mf_set((mf_real)job->substep);
    const Vec from = vec_sub(s->x, vec_number(obstacle->position));
    // Wide enough for rounding: what it leaves out must not depend on the other lanes.
    const mf_lane reach = (mf_set((mf_real)obstacle->radius) + radius) * mf_set((mf_real)1.001);
    if (!mf_any(mf_and(mf_less(vec_dot(from, from), reach * reach), mf_less(mf_zero(), s->free))))
        return;
    Mat rotation;
    const double *r = obstacle->rotation;
    const Vec rows_of[3] = {vec_number(r), vec_number(r + 3), vec_number(r + 6)};
    rotation = MF_VALUE(Mat, rows_of[0].x, rows_of[0].y, rows_of[0].z, rows_of[1].x, rows_of[1].y,
                        rows_of[1].z, rows_of[2].x, rows_of[2].y, rows_of[2].z);
    const Near near = near_solid(mat_apply_transposed(&rotation, from), obstacle);
    const Vec normal = mat_apply(&rotation, near.normal);
    const mf_lane depth = radius - near.distance;
    if (!mf_any(mf_and(mf_less(mf_zero(), depth), mf_less(mf_zero(), s->free))))
        return;
    const Vec speed =
        vec_cross_add(vec_number(obstacle->rate), from, vec_number(obstacle->velocity));
    const Vec push = contact_point_leave(s, normal, depth, vec_scale(speed, h),
                                         mf_set((mf_real)job->plan->friction), h);
    const mf_lane weight = mf_keep(mf_less(mf_zero(), s->free),
                                   mf_set((mf_real)1) / mf_max(s->free, mf_set((mf_real)1e-30)));
    add_push(rows, lane, vec_scale(push, weight / h),
             vec_sub(s->x, vec_number(obstacle->reference)));
}

static MF_INLINE void contact_point_touch_obstacles(ContactPoint *s, const mf_ClothJob *job,
                                                    uint32_t lane, uint32_t piece) {
    const size_t each = (size_t)MF_CLOTH_PUSH * MF_CLOTH_LANES;
    mf_real *rows = (mf_real *)job->pushes + piece * job->obstacle_count * each;
    for (uint32_t i = 0; i < job->obstacle_count; i++)
        contact_point_touch_obstacle(s, job, &job->obstacles[i], rows + i * each, lane);
}

#endif
