// Contact of vertices with the ground: a vertex below it moves out along the normal, and friction
// takes back of its way along the ground at most the coefficient times that (Coulomb's law on
// positions: Macklin, Mueller, Chentanez, Kim 2014, equation 24). Depth that was there before the
// substep moves the vertex without giving it a velocity.
#ifndef MF_MOTION_CLOTH_GROUND_H
#define MF_MOTION_CLOTH_GROUND_H

#include "motion/cloth/solve.h"
#include "terrain/distance_lane.h"

typedef struct ContactPoint { // some places that move
    Vec x;                    // [m]
    Vec predicted;            // [m] where the velocity alone would have taken it
    Vec v;                    // [m/s] that velocity
    mf_lane free;             // [1] 0: pinned, or no vertex
    mf_lane touches;          // [1] 1: it met something in this step
} ContactPoint;

// Moves the spot out of a surface: `depth` along the unit normal, > 0 inside; the surface moved by
// `way` in the substep. Returns what friction and normal moved it, but for depth that was there
// before.
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

#endif
