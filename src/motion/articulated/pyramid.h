// Contacts with the ground as MuJoCo has them (documentation, "Computation", constraint model and
// friction cones), for implicit and Runge-Kutta steps `like_mujoco`.
//
// A contact with friction mu is four constraints along d = n +- mu t, t two sides along the ground;
// one without friction is one constraint along n. Each pushes with
//     f = D (k z depth - b v.d - a.d)      D = m z / (1 - z)
// and never pulls; depth, v and z are those of the beginning of the step. a is J times the change
// of the velocities of the joints, which is the acceleration of the point less what it has where
// those do not change: MuJoCo leaves the turn of J out. So D d d^T is an inertia at the point, and
// the rest is a force. What slides is braked in the step in which it touches, and lifted.
//
// The sides are those of MuJoCo's contact frames: a capsule's axis along the ground; for other
// shapes, and where it is upright, the world's y axis. The point is in the middle of the depth.
#ifndef MF_MOTION_ARTICULATED_PYRAMID_H
#define MF_MOTION_ARTICULATED_PYRAMID_H

#include "motion/articulated/contact.h"

static MF_INLINE Vec side_of(const mf_real *c, const Mat *turn, Vec normal) {
    const mf_lane one = mf_set((mf_real)1);
    Vec side = {turn->yx, turn->yy, turn->yz}; // the world's y axis, seen from the link
    side = vec_fma(normal, -vec_dot(normal, side), side);
    if (!(c[4] != 0 || c[5] != 0 || c[6] != 0))
        return vec_scale(side, one / mf_sqrt(vec_dot(side, side)));
    Vec axis = vec_constant(c + 4);
    axis = vec_fma(normal, -vec_dot(normal, axis), axis);
    mf_mask leans = mf_less(mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON), vec_dot(axis, axis));
    side = vec_select(leans, axis, side);
    return vec_scale(side, one / mf_sqrt(vec_dot(side, side)));
}

// Acceleration of the point that those of the links do not have: gravity, which they have taken
// away, less what the point has where the velocities of base and joints do not change.
static MF_INLINE Vec point_drift(const Touch *touch, mf_lane gravity, Vec down, Vec angular,
                                 Vec linear) {
    return vec_sub(vec_scale(down, gravity), vec_cross_add(angular, touch->arm, linear));
}

// Nothing of this contact acts.
static MF_INLINE void edges_leave(Touch *touch) {
    touch->presses = mf_not(mf_mask_all());
    for (uint32_t e = 0; e < 4; e++)
        touch->edge[e] = touch->presses;
}

// `again`: edges that pushed in the stage before are the first guess for those that do now.
static MF_INLINE void edges_find(const mf_real *c, uint32_t count, const Mat *turn, bool again,
                                 Touch *touch) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), mu = mf_set(c[MF_ART_TOUCH_SLIDING]);
    const Vec n = touch->normal;
    touch->edges[0] = n;
    if (count == 4) {
        Vec across = vec_scale(side_of(c, turn, n), mu), along = vec_cross(n, across);
        touch->edges[0] = vec_add(n, across);
        touch->edges[1] = vec_sub(n, across);
        touch->edges[2] = vec_add(n, along);
        touch->edges[3] = vec_sub(n, along);
    }
    mf_lane z = impedance_at(c + MF_ART_TOUCH_WIDTH, touch->depth);
    mf_lane mass = mf_set(c[MF_ART_TOUCH_EASE]) * z / (one - z);
    touch->edge_mass = mf_keep(mf_less(zero, touch->depth), mass);
    mf_lane push = mf_set(c[MF_ART_TOUCH_PUSH]) * z * touch->depth;
    const mf_mask none = mf_not(mf_mask_all());
    const mf_mask on = mf_and(touch->may, mf_less(zero, touch->depth));
    const mf_mask pressed = again ? touch->presses : none;
    touch->presses = none;
    for (uint32_t e = 0; e < count; e++) {
        mf_lane speed = vec_dot(touch->edges[e], touch->velocity);
        touch->edge_push[e] =
            touch->edge_mass * mf_fma(-mf_set(c[MF_ART_TOUCH_BRAKING]), speed, push);
        mf_mask guess = mf_less(zero, touch->edge_push[e]);
        if (again)
            guess = mf_or(mf_and(pressed, touch->edge[e]), mf_and(mf_not(pressed), guess));
        touch->edge[e] = mf_and(on, guess);
        touch->presses = mf_or(touch->presses, touch->edge[e]);
    }
    touch->push = touch->drag = touch->slip = zero;
    touch->turns = false;
}

// Accelerations (gravity taken away) of its link.
static MF_INLINE Vec edges_gain(const Touch *touch, Vec angular, Vec linear) {
    return vec_cross_add(angular, touch->arm, vec_add(linear, touch->drift));
}

// What the edges push with at this acceleration of the point, those that are taken to; and all of
// them together.
static MF_INLINE mf_lane edges_load(const Touch *touch, uint32_t count, Vec gain, mf_lane load[4]) {
    mf_lane sum = mf_zero();
    for (uint32_t e = 0; e < count; e++) {
        load[e] = mf_fma(-touch->edge_mass, vec_dot(touch->edges[e], gain), touch->edge_push[e]);
        sum = sum + mf_keep(touch->edge[e], load[e]);
    }
    return sum;
}

static MF_INLINE Vec edges_force(const Touch *touch, uint32_t count, const mf_lane load[4]) {
    Vec force = vec_zero();
    for (uint32_t e = 0; e < count; e++)
        force = vec_fma(touch->edges[e], mf_keep(touch->edge[e], load[e]), force);
    return force;
}

// Corrects which edges push. Returns the lanes in which one was wrong.
static MF_INLINE mf_mask edges_revise(Touch *touch, uint32_t count, Vec gain) {
    mf_lane load[4];
    mf_mask wrong = mf_not(mf_mask_all()), any = wrong;
    edges_load(touch, count, gain, load);
    for (uint32_t e = 0; e < count; e++) {
        mf_mask pushes = mf_and(touch->may, mf_less(mf_zero(), load[e]));
        wrong = mf_or(wrong, mf_differ(pushes, touch->edge[e]));
        touch->edge[e] = pushes;
        any = mf_or(any, pushes);
    }
    touch->presses = any;
    return wrong;
}

// They push on with what they push now.
static MF_INLINE void edges_freeze(Touch *touch, uint32_t count, Vec gain) {
    mf_lane load[4];
    edges_load(touch, count, gain, load);
    for (uint32_t e = 0; e < count; e++)
        touch->edge_push[e] = mf_max(load[e], mf_zero());
    touch->edge_mass = mf_zero();
}

// Adds them to the body `a` of their link.
static MF_INLINE void edges_add(const Touch *touch, uint32_t count, Art *a) {
    const mf_lane zero = mf_zero();
    Sym mass = {zero, zero, zero, zero, zero, zero};
    for (uint32_t e = 0; e < count; e++) {
        const Vec d = touch->edges[e];
        Vec bent = vec_scale(d, mf_keep(touch->edge[e], touch->edge_mass));
        mass = (Sym){mf_fma(bent.x, d.x, mass.xx), mf_fma(bent.y, d.y, mass.yy),
                     mf_fma(bent.z, d.z, mass.zz), mf_fma(bent.x, d.y, mass.xy),
                     mf_fma(bent.x, d.z, mass.xz), mf_fma(bent.y, d.z, mass.yz)};
    }
    Vec force = edges_force(touch, count, touch->edge_push);
    resist_at(touch->arm, vec_sub(force, sym_apply(&mass, touch->drift)), mass, a);
}

// Adds the contacts of a link (-1 = base) to its body `a`.
static inline void contacts_add(const mf_ArtPlan *plan, int32_t link, uint32_t first,
                                uint32_t count, mf_lane step, const Contacts *contacts, Vec rate,
                                Art *a) {
    Vec down = pose_down(plan, contacts, link);
    for (uint32_t i = first; i < first + count; i++) {
        const Touch *touch = &contacts->touch[i];
        if (!touch->near || !mf_any(touch->presses))
            continue;
        if (plan->contacts[i].edges > 0)
            edges_add(touch, plan->contacts[i].edges, a);
        else
            touch_add(touch, step, setting(plan, MF_ART_GRAVITY), down, rate, a);
    }
}

#endif
