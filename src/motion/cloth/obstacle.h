// Contact of vertices with the ground and with solids: the push that a vertex gets, opposite to
// that on the solid.
#pragma once

#include "contact/solid_lane.h"
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
// `displacement` [m] in the substep. Returns what friction and normal moved it, but for depth that
// was there before.
static MF_INLINE Vec contact_point_leave(ContactPoint *s, Vec normal, mf_lane depth,
                                         Vec displacement, mf_lane friction, mf_lane substep) {
    const mf_lane zero = mf_zero();
    const mf_mask inside = mf_and(mf_less(zero, depth), mf_less(zero, s->free));
    if (!mf_any(inside))
        return MF_VALUE(Vec, zero, zero, zero);
    depth = mf_keep(inside, depth);
    Vec moved = vec_sub(vec_fma(s->v, substep, vec_sub(s->x, s->predicted)), displacement);
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
                                                   const mf_Solid *obstacle, mf_real *rows,
                                                   uint32_t lane) {
    const mf_lane radius = mf_set((mf_real)job->plan->radius);
    const mf_lane h = mf_set((mf_real)job->substep);
    const Vec from = vec_sub(s->x, vec_set(obstacle->center));
    // Wide enough for rounding: what it leaves out must not depend on the other lanes.
    const mf_lane reach = (mf_set((mf_real)obstacle->radius) + radius) * mf_set((mf_real)1.001);
    if (!mf_any(mf_and(mf_less(vec_dot(from, from), reach * reach), mf_less(mf_zero(), s->free))))
        return;
    const Gap gap = solid_gap(obstacle, s->x);
    const mf_lane depth = radius - gap.distance;
    if (!mf_any(mf_and(mf_less(mf_zero(), depth), mf_less(mf_zero(), s->free))))
        return;
    const Vec push =
        contact_point_leave(s, gap.normal, depth, vec_scale(solid_velocity(obstacle, s->x), h),
                            mf_set((mf_real)job->plan->friction), h);
    const mf_lane weight = mf_keep(mf_less(mf_zero(), s->free),
                                   mf_set((mf_real)1) / mf_max(s->free, mf_set((mf_real)1e-30)));
    add_push(rows, lane, vec_scale(push, weight / h), vec_sub(s->x, vec_set(obstacle->about)));
}

static MF_INLINE void contact_point_touch_obstacles(ContactPoint *s, const mf_ClothJob *job,
                                                    uint32_t lane, uint32_t piece) {
    const size_t each = (size_t)MF_CLOTH_PUSH * MF_CLOTH_LANES;
    mf_real *rows = (mf_real *)job->pushes + piece * job->obstacle_count * each;
    for (uint32_t i = 0; i < job->obstacle_count; i++)
        contact_point_touch_obstacle(s, job, &job->obstacles[i], rows + i * each, lane);
}
