// The composite rigid body of the whole tree at the present angles: mass, first and second moments;
// for `prescribed` also the force and torque of the commanded joint motion with a base that rotates
// but does not accelerate (Walker and Orin 1982; Luh, Walker and Paul 1980).
//
// Outward: rotations, heights and motions of the links; inward: their sums; in the links' axes,
// about their origins. The motion of a link with w and dw/dt is its acceleration tensor
//     S = [dw/dt] + [w] [w]
// since a point r has the acceleration a + S r, with a that of the origin. With mass m, first
// moment h and second moments Z (integrals of r and r r^T over the mass)
//     f = m a + S h,    n = h x a + (antisymmetric part of Z S^T) .
#pragma once

#include "motion/articulated/contact/contact.h"
#include "motion/articulated/tree/linkage.h"
#include "motion/articulated/load_store.h"
#include "motion/body/plan.h"

// ---- path ---------------------------------------------------------------------------------------

// Paths of joints. At the beginning of a control interval T a joint at q with rate v gets a knot p,
// its target within its limits and speed, and moves there by the cubic
//     a = (6 D / T - 4 v - 2 e) / T,    j = (6 v + 6 e - 12 D / T) / T^2,    D = p - q
// which has rate e at the knot. e is the slope of the parabola through the last three knots, (3 D -
// D') / (2 T) with the travel D' of the interval before: paths are then as smooth as the samples
// allow, whereas a rate of 0 would stop every joint at every knot. A cubic lies between its Bezier
// points q, q + v T / 3, p - e T / 3 and p, so e is limited such that this interval and the next
// stay within the limits.

#if defined(MF_KERNEL_F64)
#define MF_DRIVEN_CONSTANTS(plan) mf_driven_constants_f64(plan)
#else
#define MF_DRIVEN_CONSTANTS(plan) mf_driven_constants_f32(plan)
#endif

// Of plan link `link`, -1 = base.
static MF_INLINE const mf_real *driven_constants(const mf_DrivenPlan *plan, int32_t link) {
    return MF_DRIVEN_CONSTANTS(plan) + MF_DRIVEN_SETTINGS +
           (size_t)(link + 1) * MF_DRIVEN_LINK_VALUES;
}
static MF_INLINE mf_lane driven_setting(const mf_DrivenPlan *plan, uint32_t which) {
    return mf_set(MF_DRIVEN_CONSTANTS(plan)[which]);
}

typedef struct Paths {
    // Per plan link:
    mf_lane *acceleration; // [rad/s^2] or [m/s^2] at the beginning
    mf_lane *jerk;         // [rad/s^3] or [m/s^3]
    mf_lane *travel;       // [rad] or [m]
} Paths;

static inline void paths_carve(const mf_ArtPlan *plan, mf_Carver *carver, Paths *paths) {
    MF_CARVE(carver, paths->acceleration, plan->link_count);
    MF_CARVE(carver, paths->jerk, plan->link_count);
    MF_CARVE(carver, paths->travel, plan->link_count);
}

typedef struct Knot {
    mf_lane position; // [rad] or [m]
    mf_lane rate;     // [rad/s] or [m/s]
} Knot;

// The knot of a joint that mimics no other.
static MF_INLINE Knot knot_of(const mf_DrivenBlock *block, uint32_t l) {
    const mf_DrivenPlan *plan = block->plan;
    const mf_real *c = driven_constants(plan, (int32_t)l);
    const uint32_t row = mf_art_links(mf_driven_art(plan))[l].row;
    const mf_lane lower = mf_set(c[MF_DRIVEN_LOWER]), upper = mf_set(c[MF_DRIVEN_UPPER]),
                  most = mf_set(c[MF_DRIVEN_TRAVEL]), fastest = mf_set(c[MF_DRIVEN_FASTEST]),
                  zero = mf_zero(), per_second = driven_setting(plan, MF_DRIVEN_INVERSE_INTERVAL);
    mf_lane now = row_load(row_of(&block->art, MF_ART_ROW_ANGLE), row);
    mf_lane target = row_load(row_of(&block->art, MF_ART_ROW_TARGET), row);
    mf_lane passed = row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_PASSED], row);
    mf_lane position = mf_clamp(now + mf_clamp(target - now, zero - most, most), lower, upper);
    mf_lane travel = position - now;
    mf_lane rate =
        mf_fma(mf_set((mf_real)3), travel, -passed) * (per_second * mf_set((mf_real)0.5));
    mf_lane space = mf_max(mf_min(upper - position, position - lower), zero);
    mf_lane limit = mf_min(space * (per_second * mf_set((mf_real)3)), fastest);
    return MF_VALUE(Knot, position, mf_clamp(rate, zero - limit, limit));
}

// A joint that is at its knot and rests, to 1e-15 rad or m and per second, is set there: a path
// comes closer by a factor per interval only, down to subnormal numbers. Returns where it has to
// move.
static MF_INLINE mf_mask path_arrive(mf_lane target, uint32_t l, State *state, State *low) {
    const mf_lane least = mf_set((mf_real)1e-15);
    const mf_mask moves = mf_or(mf_less(least, mf_abs(target - state->angle[l])),
                                mf_less(least, mf_abs(state->speed[l])));
    state->angle[l] = mf_select(moves, state->angle[l], target);
    state->speed[l] = mf_keep(moves, state->speed[l]);
    if (low != NULL) {
        low->angle[l] = mf_keep(moves, low->angle[l]);
        low->speed[l] = mf_keep(moves, low->speed[l]);
    }
    return moves;
}

// `low`: remainders of the joints' sums; NULL: there are none.
static inline void path_begin(const mf_DrivenBlock *block, uint32_t l, State *state, State *low,
                              Paths *paths) {
    const mf_DrivenPlan *plan = block->plan;
    const uint32_t leader = mf_driven_all(plan)[l + 1].leader;
    const mf_lane per_second = driven_setting(plan, MF_DRIVEN_INVERSE_INTERVAL),
                  six = mf_set((mf_real)6);
    Knot knot = knot_of(block, leader);
    if (leader != l) {
        const mf_real *c = driven_constants(plan, (int32_t)l);
        const mf_lane multiplier = mf_set(c[MF_DRIVEN_MULTIPLIER]);
        knot = MF_VALUE(Knot, mf_fma(knot.position, multiplier, mf_set(c[MF_DRIVEN_SHIFT])),
                        knot.rate * multiplier);
    }
    const mf_mask moves = path_arrive(knot.position, l, state, low);
    knot.rate = mf_keep(moves, knot.rate);
    const mf_lane travel = knot.position - state->angle[l], rate = state->speed[l];
    const mf_lane mean = travel * per_second;
    mf_lane down = mf_fma(mf_set((mf_real)-4), rate, mf_set((mf_real)-2) * knot.rate);
    paths->acceleration[l] = mf_fma(six, mean, down) * per_second;
    mf_lane sum = mf_fma(mf_set((mf_real)-2), mean, rate + knot.rate);
    paths->jerk[l] = six * sum * (per_second * per_second);
    paths->travel[l] = travel;
}

// Clamps drop NaN, so it is checked here.
static inline void paths_check(Step *s, const mf_DrivenBlock *block) {
    const mf_ArtPlan *plan = s->plan;
    mf_lane commanded = mf_zero(), passed = mf_zero();
    const mf_ArtLink *links = mf_art_links(plan);
    const mf_DrivenLink *roles = mf_driven_all(block->plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const uint32_t row = links[l].row;
        if (links[l].kind == MF_ART_BALL || roles[l + 1].leader != l)
            continue;
        commanded = commanded + mf_abs(row_load(row_of(&block->art, MF_ART_ROW_TARGET), row));
        passed = passed + mf_abs(row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_PASSED], row));
    }
    for (uint32_t i = 0; i < plan->contact_count; i++)
        passed = passed + mf_abs(row_load(row_of(&block->art, MF_ART_ROW_LOAD), i)) +
                 mf_abs(row_load(row_of(&block->art, MF_ART_ROW_SLIP), i));
    raise_fault(s, mf_finite(commanded), MF_FAULT_INPUT);
    raise_fault(s, mf_finite(passed), MF_FAULT_NONFINITE);
}

static inline void paths_load(Step *s, const mf_DrivenBlock *block, State *state, State *low,
                              Paths *paths) {
    const mf_ArtPlan *plan = s->plan;
    if (block->due)
        paths_check(s, block);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const mf_ArtLink *link = &links[l];
        if (link->kind == MF_ART_BALL)
            continue;
        if (block->due) {
            path_begin(block, l, state, low, paths);
            continue;
        }
        paths->acceleration[l] =
            row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_ACCELERATION], link->row);
        paths->jerk[l] = row_load((const mf_real *)block->rows[MF_DRIVEN_ROW_JERK], link->row);
    }
}

static inline void paths_store(const Step *s, const mf_DrivenBlock *block, const Paths *paths) {
    const mf_ArtPlan *plan = s->plan;
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        const uint32_t row = links[l].row;
        if (links[l].kind == MF_ART_BALL)
            continue;
        keep_at(s, block->rows[MF_DRIVEN_ROW_ACCELERATION], row, paths->acceleration[l]);
        if (!block->due)
            continue;
        keep_at(s, block->rows[MF_DRIVEN_ROW_JERK], row, paths->jerk[l]);
        keep_at(s, block->rows[MF_DRIVEN_ROW_PASSED], row, paths->travel[l]);
    }
}

// Angle and rate after `step`. The present acceleration becomes the constant one with the same
// change of the rate.
static MF_INLINE void path_ahead(const Paths *paths, uint32_t l, mf_lane step, mf_lane *angle,
                                 mf_lane *rate, mf_lane *acceleration) {
    const mf_lane half = mf_set((mf_real)0.5), third = mf_set((mf_real)(1.0 / 3.0));
    const mf_lane jerk = paths->jerk[l] * step, now = paths->acceleration[l];
    mf_lane bend = mf_fma(jerk, third, now) * half;
    *angle = mf_fma(mf_fma(bend, step, *rate), step, *angle);
    *acceleration = mf_fma(jerk, half, now);
    *rate = mf_fma(*acceleration, step, *rate);
}

// The same, of sums with remainders (math/lane_sum.h).
static MF_INLINE void path_sum(const Paths *paths, uint32_t l, mf_lane step, mf_lane *angle,
                               mf_lane *rate, mf_lane *low_angle, mf_lane *low_rate) {
    const mf_lane half = mf_set((mf_real)0.5), third = mf_set((mf_real)(1.0 / 3.0));
    const mf_lane jerk = paths->jerk[l] * step, now = paths->acceleration[l];
    mf_lane bend = mf_fma(jerk, third, now) * half;
    *angle = sum_fma(mf_fma(bend, step, *rate), step, *angle, low_angle);
    *rate = sum_fma(mf_fma(jerk, half, now), step, *rate, low_rate);
}

// ---- body ---------------------------------------------------------------------------------------

typedef struct Limb {               // a link
    mf_lane cosine, sine;           // [1] of the joint's rotation
    mf_lane direction;              // [m] displacement of a slide
    Vec up;                         // [1] the world's z in its axes
    mf_lane height;                 // [m] of its origin
    Vec rate, angular_acceleration; // [rad/s], [rad/s^2]
    Vec acceleration;               // [m/s^2] acceleration of its origin
    mf_mask near;                   // lanes in which a contact of it may touch
    bool close, posed;              // some lane may; it or a link that it carries is close
} Limb;

typedef struct Body {
    Vec moment;  // [kg m]
    Sym inertia; // [kg m^2]
    Vec force;   // [N]
    Vec torque;  // [N m]
} Body;

typedef struct Limbs {
    Limb *of;   // of link l at l + 1, of the base at 0
    Body *sums; // by depth: sums from the links further out
    Mat *balls; // child's axes to the parent's
    Mat world;  // base to world
    bool any;   // some link is close
} Limbs;

static inline void limbs_carve(const mf_ArtPlan *plan, mf_Carver *carver, Limbs *limbs) {
    MF_CARVE(carver, limbs->of, plan->link_count + 1);
    MF_CARVE(carver, limbs->sums, plan->link_count + 1);
    MF_CARVE(carver, limbs->balls, plan->ball_count);
}

// ---- outward ------------------------------------------------------------------------------------

static MF_INLINE Vec into_limb(const mf_DrivenPlan *plan, uint32_t l, const Limbs *limbs, Vec a) {
    const mf_ArtLink *link = &mf_art_links(mf_driven_art(plan))[l];
    const Limb *own = &limbs->of[l + 1];
    if (link->kind == MF_ART_BALL)
        return mat_apply_transposed(&limbs->balls[link->row], a);
    return vec_back_z(into_joint(link, link_constants(mf_driven_art(plan), l), a), own->cosine,
                      own->sine);
}

// a b + c with the entries of b = PLACE that are not 0.
static MF_INLINE mf_lane position_dot_add(const mf_ArtLink *link, const mf_real *c, Vec a,
                                          mf_lane b) {
    if (link->shift & 1)
        b = mf_fma(a.x, mf_set(c[MF_ART_POSITION]), b);
    if (link->shift & 2)
        b = mf_fma(a.y, mf_set(c[MF_ART_POSITION + 1]), b);
    if (link->shift & 4)
        b = mf_fma(a.z, mf_set(c[MF_ART_POSITION + 2]), b);
    return b;
}

static MF_INLINE Mat acceleration_tensor(Vec w, Vec d) {
    mf_lane xx = w.x * w.x, yy = w.y * w.y, zz = w.z * w.z;
    return MF_VALUE(Mat, -(yy + zz), mf_fma(w.x, w.y, -d.z), mf_fma(w.x, w.z, d.y),
                    mf_fma(w.x, w.y, d.z), -(xx + zz), mf_fma(w.y, w.z, -d.x),
                    mf_fma(w.x, w.z, -d.y), mf_fma(w.y, w.z, d.x), -(xx + yy));
}

static MF_INLINE void limb_rotation(const mf_DrivenPlan *plan, const State *state, uint32_t l,
                                    Limbs *limbs) {
    const mf_ArtLink *link = &mf_art_links(mf_driven_art(plan))[l];
    const mf_real *c = link_constants(mf_driven_art(plan), l);
    Limb *own = &limbs->of[l + 1];
    if (link->kind == MF_ART_HINGE) {
        sin_cos(state->angle[l] + mf_set(c[MF_ART_OFFSET]), &own->sine, &own->cosine);
    } else if (link->kind == MF_ART_SLIDE) {
        own->sine = mf_set(c[MF_ART_SIN_OFFSET]);
        own->cosine = mf_set(c[MF_ART_COS_OFFSET]);
        own->direction = state->angle[l] + mf_set(c[MF_ART_OFFSET]);
    } else {
        Mat still = mat_constant(c + MF_ART_ROTATION),
            rotation = quat_matrix(state->ball[link->row]);
        limbs->balls[link->row] = mat_multiply(&still, &rotation);
    }
}

static MF_INLINE void limb_height(const mf_DrivenPlan *plan, uint32_t l, Limbs *limbs) {
    const mf_ArtLink *link = &mf_art_links(mf_driven_art(plan))[l];
    const Limb *parent = &limbs->of[link->parent + 1];
    Limb *own = &limbs->of[l + 1];
    own->height =
        position_dot_add(link, link_constants(mf_driven_art(plan), l), parent->up, parent->height);
    own->up = into_limb(plan, l, limbs, parent->up);
    if (link->kind == MF_ART_SLIDE)
        own->height = mf_fma(own->up.z, own->direction, own->height);
}

// Motions for a base that does not accelerate.
static MF_INLINE void limb_move(const mf_DrivenPlan *plan, const State *state, const mf_lane *given,
                                uint32_t l, const Mat *tensors, Limbs *limbs) {
    const mf_ArtLink *link = &mf_art_links(mf_driven_art(plan))[l];
    const mf_real *c = link_constants(mf_driven_art(plan), l);
    const Limb *parent = &limbs->of[link->parent + 1];
    const Mat *t = &tensors[link->parent + 1];
    Limb *own = &limbs->of[l + 1];
    Vec acceleration = {
        position_dot_add(link, c, MF_VALUE(Vec, t->xx, t->xy, t->xz), parent->acceleration.x),
        position_dot_add(link, c, MF_VALUE(Vec, t->yx, t->yy, t->yz), parent->acceleration.y),
        position_dot_add(link, c, MF_VALUE(Vec, t->zx, t->zy, t->zz), parent->acceleration.z)};
    own->rate = into_limb(plan, l, limbs, parent->rate);
    own->angular_acceleration = into_limb(plan, l, limbs, parent->angular_acceleration);
    own->acceleration = into_limb(plan, l, limbs, acceleration);
    if (link->kind == MF_ART_BALL)
        return;
    const mf_lane speed = state->speed[l], w = own->direction;
    Vec *rate = &own->rate, *angular_acceleration = &own->angular_acceleration;
    if (link->kind == MF_ART_HINGE) {
        angular_acceleration->x = mf_fma(rate->y, speed, angular_acceleration->x);
        angular_acceleration->y = mf_fma(-rate->x, speed, angular_acceleration->y);
        angular_acceleration->z = angular_acceleration->z + given[l];
        rate->z = rate->z + speed;
        return;
    }
    const mf_lane twice = speed + speed;
    own->acceleration.x = mf_fma(mf_fma(rate->x, rate->z, angular_acceleration->y), w,
                                 mf_fma(twice, rate->y, own->acceleration.x));
    own->acceleration.y = mf_fma(mf_fma(rate->y, rate->z, -angular_acceleration->x), w,
                                 mf_fma(-twice, rate->x, own->acceleration.y));
    own->acceleration.z =
        mf_fma(-mf_fma(rate->x, rate->x, rate->y * rate->y), w, own->acceleration.z + given[l]);
}

// ---- inward -------------------------------------------------------------------------------------

static MF_INLINE Sym inertia_constant(const mf_real *c) {
    return sym_constant(c + MF_DRIVEN_INERTIA);
}

// Adds a link's own mass and the forces of its motion.
static MF_INLINE void body_add(const mf_DrivenPlan *plan, int32_t l, bool moves, const Limb *limb,
                               const Mat *t, Body *body) {
    const mf_real *d = driven_constants(plan, l);
    const mf_real *c = l < 0 ? base_constants(mf_driven_art(plan))
                             : link_constants(mf_driven_art(plan), (uint32_t)l);
    const mf_DrivenLink *link = &mf_driven_all(plan)[l + 1];
    const Vec h = vec_constant(c + MF_ART_MOMENT), a = limb->acceleration;
    const Sym z = inertia_constant(d);
    if (moves) {
        const mf_lane mass = mf_set(c[MF_ART_MASS]);
        body->force = vec_fma(a, mass, body->force);
        if (link->bulk & 1) {
            body->force = vec_fma(MF_VALUE(Vec, t->xx, t->yx, t->zx), h.x, body->force);
            body->torque.y = mf_fma(-h.x, a.z, body->torque.y);
            body->torque.z = mf_fma(h.x, a.y, body->torque.z);
        }
        if (link->bulk & 2) {
            body->force = vec_fma(MF_VALUE(Vec, t->xy, t->yy, t->zy), h.y, body->force);
            body->torque.z = mf_fma(-h.y, a.x, body->torque.z);
            body->torque.x = mf_fma(h.y, a.z, body->torque.x);
        }
        if (link->bulk & 4) {
            body->force = vec_fma(MF_VALUE(Vec, t->xz, t->yz, t->zz), h.z, body->force);
            body->torque.x = mf_fma(-h.z, a.y, body->torque.x);
            body->torque.y = mf_fma(h.z, a.x, body->torque.y);
        }
        Vec *n = &body->torque;
        n->x = mf_fma(z.yy, t->zy, mf_fma(-z.zz, t->yz, n->x));
        n->y = mf_fma(z.zz, t->xz, mf_fma(-z.xx, t->zx, n->y));
        n->z = mf_fma(z.xx, t->yx, mf_fma(-z.yy, t->xy, n->z));
        if (link->oblique) {
            n->x = mf_fma(z.xy, t->zx, mf_fma(-z.xz, t->yx, n->x));
            n->x = mf_fma(z.yz, t->zz - t->yy, n->x);
            n->y = mf_fma(z.yz, t->xy, mf_fma(-z.xy, t->zy, n->y));
            n->y = mf_fma(z.xz, t->xx - t->zz, n->y);
            n->z = mf_fma(z.xz, t->yz, mf_fma(-z.yz, t->xz, n->z));
            n->z = mf_fma(z.xy, t->yy - t->xx, n->z);
        }
    }
    body->moment = vec_add(body->moment, h);
    body->inertia.xx = body->inertia.xx + z.xx;
    body->inertia.yy = body->inertia.yy + z.yy;
    body->inertia.zz = body->inertia.zz + z.zz;
    if (link->oblique) {
        body->inertia.xy = body->inertia.xy + z.xy;
        body->inertia.xz = body->inertia.xz + z.xz;
        body->inertia.yz = body->inertia.yz + z.yz;
    }
}

static MF_INLINE void body_rotate_z(Body *a, bool moves, mf_lane c, mf_lane s) {
    block_rotate(&a->inertia.xx, &a->inertia.yy, &a->inertia.xy, c, s);
    pair_rotate(&a->inertia.xz, &a->inertia.yz, c, s);
    pair_rotate(&a->moment.x, &a->moment.y, c, s);
    if (moves) {
        pair_rotate(&a->force.x, &a->force.y, c, s);
        pair_rotate(&a->torque.x, &a->torque.y, c, s);
    }
}

static MF_INLINE Vec vec_tilt(mf_ArtTilt tilt, Vec a) {
    return tilt == MF_ART_UP     ? MF_VALUE(Vec, a.x, -a.z, a.y)
           : tilt == MF_ART_DOWN ? MF_VALUE(Vec, a.x, a.z, -a.y)
           : tilt == MF_ART_OVER ? MF_VALUE(Vec, a.x, -a.y, -a.z)
                                 : a;
}

// From the axes before the joint's rotation to those of the parent.
static MF_INLINE void body_out(const mf_ArtLink *link, const mf_real *c, bool moves, Body *a) {
    const Sym z = a->inertia;
    switch (link->tilt) {
    case MF_ART_LEVEL:
        break;
    case MF_ART_UP:
        a->inertia = MF_VALUE(Sym, z.xx, z.zz, z.yy, -z.xz, z.xy, -z.yz);
        break;
    case MF_ART_DOWN:
        a->inertia = MF_VALUE(Sym, z.xx, z.zz, z.yy, z.xz, -z.xy, -z.yz);
        break;
    case MF_ART_OVER:
        a->inertia = MF_VALUE(Sym, z.xx, z.yy, z.zz, -z.xy, -z.xz, z.yz);
        break;
    case MF_ART_ANY: {
        const mf_lane cosine = mf_set(c[MF_ART_COS_TILT]), sine = mf_set(c[MF_ART_SIN_TILT]);
        block_rotate(&a->inertia.yy, &a->inertia.zz, &a->inertia.yz, cosine, sine);
        pair_rotate(&a->inertia.xy, &a->inertia.xz, cosine, sine);
        a->moment = vec_rotate_x(a->moment, cosine, sine);
        if (moves) {
            a->force = vec_rotate_x(a->force, cosine, sine);
            a->torque = vec_rotate_x(a->torque, cosine, sine);
        }
        break;
    }
    }
    a->moment = vec_tilt(link->tilt, a->moment);
    if (moves) {
        a->force = vec_tilt(link->tilt, a->force);
        a->torque = vec_tilt(link->tilt, a->torque);
    }
    if (link->spun)
        body_rotate_z(a, moves, mf_set(c[MF_ART_COS_ANGLE]), mf_set(c[MF_ART_SIN_ANGLE]));
}

// The same body about an origin that is shifted by -`d` along one axis: with the first moment h' =
// h + m d there, the second moments grow by d h^T + h' d^T.
static MF_INLINE void body_shift_x(Body *a, bool moves, mf_lane mass, mf_lane d) {
    const Vec h = a->moment;
    a->moment.x = mf_fma(mass, d, h.x);
    a->inertia.xx = mf_fma(d, h.x + a->moment.x, a->inertia.xx);
    a->inertia.xy = mf_fma(d, h.y, a->inertia.xy);
    a->inertia.xz = mf_fma(d, h.z, a->inertia.xz);
    if (moves) {
        a->torque.y = mf_fma(-d, a->force.z, a->torque.y);
        a->torque.z = mf_fma(d, a->force.y, a->torque.z);
    }
}
static MF_INLINE void body_shift_y(Body *a, bool moves, mf_lane mass, mf_lane d) {
    const Vec h = a->moment;
    a->moment.y = mf_fma(mass, d, h.y);
    a->inertia.yy = mf_fma(d, h.y + a->moment.y, a->inertia.yy);
    a->inertia.xy = mf_fma(d, h.x, a->inertia.xy);
    a->inertia.yz = mf_fma(d, h.z, a->inertia.yz);
    if (moves) {
        a->torque.z = mf_fma(-d, a->force.x, a->torque.z);
        a->torque.x = mf_fma(d, a->force.z, a->torque.x);
    }
}
static MF_INLINE void body_shift_z(Body *a, bool moves, mf_lane mass, mf_lane d) {
    const Vec h = a->moment;
    a->moment.z = mf_fma(mass, d, h.z);
    a->inertia.zz = mf_fma(d, h.z + a->moment.z, a->inertia.zz);
    a->inertia.xz = mf_fma(d, h.x, a->inertia.xz);
    a->inertia.yz = mf_fma(d, h.y, a->inertia.yz);
    if (moves) {
        a->torque.x = mf_fma(-d, a->force.y, a->torque.x);
        a->torque.y = mf_fma(d, a->force.x, a->torque.y);
    }
}

static MF_INLINE void body_add_body(Body *a, const Body *b, bool moves) {
    a->moment = vec_add(a->moment, b->moment);
    a->inertia = MF_VALUE(Sym, a->inertia.xx + b->inertia.xx, a->inertia.yy + b->inertia.yy,
                          a->inertia.zz + b->inertia.zz, a->inertia.xy + b->inertia.xy,
                          a->inertia.xz + b->inertia.xz, a->inertia.yz + b->inertia.yz);
    if (moves) {
        a->force = vec_add(a->force, b->force);
        a->torque = vec_add(a->torque, b->torque);
    }
}

static MF_INLINE Body body_nothing(void) {
    const mf_lane zero = mf_zero();
    const Vec none = {zero, zero, zero};
    return MF_VALUE(Body, none, {zero, zero, zero, zero, zero, zero}, none, none);
}

static MF_INLINE void body_hand_in(const mf_DrivenPlan *plan, uint32_t l, bool moves, Limbs *limbs,
                                   Body *a, Body *base) {
    const mf_ArtLink *link = &mf_art_links(mf_driven_art(plan))[l];
    const mf_real *c = link_constants(mf_driven_art(plan), l);
    const mf_lane mass = mf_set(driven_constants(plan, (int32_t)l)[MF_DRIVEN_CARRIED]);
    const Limb *own = &limbs->of[l + 1];
    if (link->kind == MF_ART_BALL) {
        const Mat *rotation = &limbs->balls[link->row];
        a->moment = mat_apply(rotation, a->moment);
        a->inertia = sym_rotate(rotation, &a->inertia);
        a->force = mat_apply(rotation, a->force);
        a->torque = mat_apply(rotation, a->torque);
    } else {
        if (link->kind == MF_ART_SLIDE)
            body_shift_z(a, moves, mass, own->direction);
        body_rotate_z(a, moves, own->cosine, own->sine);
        body_out(link, c, moves, a);
    }
    if (link->shift & 1)
        body_shift_x(a, moves, mass, mf_set(c[MF_ART_POSITION]));
    if (link->shift & 2)
        body_shift_y(a, moves, mass, mf_set(c[MF_ART_POSITION + 1]));
    if (link->shift & 4)
        body_shift_z(a, moves, mass, mf_set(c[MF_ART_POSITION + 2]));
    Body *sum = link->parent < 0 ? base : &limbs->sums[link->depth - 1];
    if (link->last)
        *sum = *a;
    else
        body_add_body(sum, a, moves);
}

// The whole tree about the base's origin, in its axes.
static MF_INLINE void bodies_sum(const mf_DrivenPlan *plan, bool moves, Limbs *limbs,
                                 const Mat *tensors, Body *base) {
    const mf_ArtPlan *art = mf_driven_art(plan);
    *base = body_nothing();
    const mf_ArtLink *links = mf_art_links(art);
    for (uint32_t l = art->link_count; l-- > 0;) {
        Body a = links[l].leaf ? body_nothing() : limbs->sums[links[l].depth];
        body_add(plan, (int32_t)l, moves, &limbs->of[l + 1], &tensors[l + 1], &a);
        body_hand_in(plan, l, moves, limbs, &a, base);
    }
    body_add(plan, -1, moves, &limbs->of[0], &tensors[0], base);
}
