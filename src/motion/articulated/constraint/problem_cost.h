// The costs s of the constraints, their forces -s', and curvatures (MuJoCo documentation,
// "Computation", friction cones; Todorov 2014). Every cost is convex, once differentiable and
// piecewise smooth; `zones` say on which piece each row is.
//
//   quadratic   D s^2 / 2
//   dry         the same within |s| <= F / D, from there on a straight line of slope F
//   push        D s^2 / 2 where s < 0
//   pyramid     push along each edge n +- mu_k t_k
//   elliptic    with U = (mu s_0, mu_k s_k), N = U_0, T = |U_1 ..|: nothing where N >= mu T, all
//               rows quadratic where mu N + T <= 0, else D_0 (N - mu T)^2 / (2 mu^2 (1 + mu^2))
#pragma once

#include "motion/articulated/constraint/problem.h"

enum { LINE_STEPS = 40, FEW_STEPS = 10 };

// Tolerance of the line search, relative to the initial slope. If the file allows few steps, no
// later step may correct an inexact one.
static inline mf_real search_part(uint32_t steps_most) {
    if (steps_most > FEW_STEPS)
        return (mf_real)1e-3;
    return sizeof(mf_real) == 4 ? (mf_real)1e-6 : (mf_real)1e-12;
}

// What one constraint does at given slacks.
typedef struct Reply {
    mf_lane force[CONTACT_ROWS];
    mf_lane cost;
    mf_mask zones[2 * CONTACT_ROWS];
} Reply;

static MF_INLINE uint32_t zone_count(const Constraint *c) {
    switch (c->kind) {
    case CONSTRAINT_QUADRATIC:
        return 0;
    case CONSTRAINT_ONE_SIDED:
        return 1;
    case CONSTRAINT_DRY:
    case CONSTRAINT_ELLIPTIC:
        return 2;
    case CONSTRAINT_PYRAMID:
        break;
    }
    return 2 * (c->rows - 1);
}

static MF_INLINE void reply_dry(const Constraint *c, mf_lane weight, mf_lane slack, Reply *out) {
    const mf_lane half = mf_set((mf_real)0.5), force = -(weight * slack);
    const mf_mask low = mf_less(c->most, force), high = mf_less(force, -c->most);
    const mf_mask slips = mf_or(low, high);
    out->force[0] = mf_clamp(force, -c->most, c->most);
    // F (|s| - F / (2 D)), without a division where D may be 0.
    mf_lane line = c->most * (mf_abs(slack) - half * c->most / weight);
    out->cost = mf_select(slips, line, half * weight * slack * slack);
    out->zones[0] = low;
    out->zones[1] = high;
}

static MF_INLINE void force_reply(mf_lane weight, mf_lane slack, Reply *out) {
    const mf_lane load = -(weight * mf_min(slack, mf_zero()));
    out->force[0] = load;
    out->cost = mf_set((mf_real)-0.5) * load * slack;
    out->zones[0] = mf_less(slack, mf_zero());
}

static MF_INLINE void reply_pyramid(const Constraint *c, mf_lane weight, const mf_lane *slack,
                                    Reply *out) {
    mf_lane normal = mf_zero(), cost = mf_zero();
    for (uint32_t k = 1; k < c->rows; k++) {
        const mf_lane mu = c->friction[k - 1];
        const mf_lane a = mf_min(mf_fma(mu, slack[k], slack[0]), mf_zero());
        const mf_lane b = mf_min(mf_fma(-mu, slack[k], slack[0]), mf_zero());
        normal = normal - weight * (a + b);
        out->force[k] = -(weight * (mu * (a - b)));
        cost = mf_fma(a, a, mf_fma(b, b, cost));
        out->zones[2 * k - 2] = mf_less(a, mf_zero());
        out->zones[2 * k - 1] = mf_less(b, mf_zero());
    }
    out->force[0] = normal;
    out->cost = mf_set((mf_real)0.5) * weight * cost;
}

// The regularized cone: its axes scaled so that it is round.
typedef struct Cone {
    mf_lane u[CONTACT_ROWS];
    mf_lane across;   // T
    mf_mask top, low; // force 0; quadratic
    mf_lane beyond;   // N - mu T
} Cone;

static MF_INLINE Cone cone_of(const Constraint *c, const mf_lane *slack) {
    const mf_lane zero = mf_zero(), mu = c->cone;
    Cone cone;
    mf_lane square = zero;
    cone.u[0] = mu * slack[0];
    for (uint32_t k = 1; k < c->rows; k++) {
        cone.u[k] = c->friction[k - 1] * slack[k];
        square = mf_fma(cone.u[k], cone.u[k], square);
    }
    cone.across = mf_sqrt(square);
    cone.top = mf_less_equal(mu * cone.across, cone.u[0]);
    cone.low = mf_and(mf_not(cone.top), mf_less_equal(mf_fma(mu, cone.u[0], cone.across), zero));
    cone.beyond = mf_fma(-mu, cone.across, cone.u[0]);
    return cone;
}

static MF_INLINE void reply_elliptic(const Constraint *c, const mf_lane *weight,
                                     const mf_lane *slack, Reply *out) {
    const mf_lane zero = mf_zero(), half = mf_set((mf_real)0.5), one = mf_set((mf_real)1);
    const Cone cone = cone_of(c, slack);
    const mf_mask sides = mf_not(mf_or(cone.top, cone.low));
    const mf_lane load = -(c->stiff * cone.beyond * c->cone);
    const mf_lane part = load / mf_select(mf_less(zero, cone.across), cone.across, one);
    mf_lane cost = zero;
    for (uint32_t k = 0; k < c->rows; k++) {
        const mf_lane flat = -(weight[k] * slack[k]);
        mf_lane round = load;
        if (k > 0)
            round = -(part * cone.u[k] * c->friction[k - 1]);
        cost = mf_fma(weight[k] * slack[k], slack[k], cost);
        out->force[k] = mf_keep(mf_not(cone.top), mf_select(sides, round, flat));
    }
    cost = mf_select(sides, c->stiff * cone.beyond * cone.beyond, cost);
    out->cost = half * mf_keep(mf_not(cone.top), cost);
    out->zones[0] = sides;
    out->zones[1] = cone.low;
}

static MF_INLINE void reply_find(const Constraint *c, const mf_lane *weight, const mf_lane *slack,
                                 Reply *out) {
    out->cost = mf_zero();
    switch (c->kind) {
    case CONSTRAINT_QUADRATIC:
        out->cost = mf_zero();
        for (uint32_t k = 0; k < c->rows; k++) {
            out->force[k] = -(weight[k] * slack[k]);
            out->cost = mf_fma(mf_set((mf_real)-0.5) * out->force[k], slack[k], out->cost);
        }
        break;
    case CONSTRAINT_DRY:
        reply_dry(c, weight[0], slack[0], out);
        break;
    case CONSTRAINT_ONE_SIDED:
        force_reply(weight[0], slack[0], out);
        break;
    case CONSTRAINT_PYRAMID:
        reply_pyramid(c, weight[0], slack, out);
        break;
    case CONSTRAINT_ELLIPTIC:
        reply_elliptic(c, weight, slack, out);
        break;
    }
    for (uint32_t k = 0; k < c->rows; k++)
        out->force[k] = mf_keep(c->exists, out->force[k]);
    out->cost = mf_keep(c->exists, out->cost);
}

// ---- curvature ----------------------------------------------------------------------------------

// Of the sides of the elliptic cone, with S = diag(mu, mu_k), u = U_k / T:
//     W = S [w (e - mu u)(e - mu u)^T - w (N - mu T) mu / T (1 - u u^T)] S
static MF_INLINE void curve_sides(const Constraint *c, const Cone *cone, mf_lane *w) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), mu = c->cone;
    const mf_lane inverse = one / mf_select(mf_less(zero, cone->across), cone->across, one);
    const mf_lane round = -(c->stiff * cone->beyond * mu * inverse);
    const mf_lane outer = mf_fma(c->stiff * mu, mu, -round);
    mf_lane scale[CONTACT_ROWS], side[CONTACT_ROWS];
    scale[0] = mu;
    for (uint32_t k = 1; k < c->rows; k++) {
        scale[k] = c->friction[k - 1];
        side[k] = cone->u[k] * inverse;
    }
    w[0] = c->stiff * mu * mu;
    for (uint32_t i = 1; i < c->rows; i++) {
        mf_lane *row = w + i * (i + 1) / 2;
        row[0] = -(c->stiff * mu * side[i]) * (scale[0] * scale[i]);
        for (uint32_t k = 1; k <= i; k++) {
            mf_lane entry = outer * side[i] * side[k];
            if (i == k)
                entry = entry + round;
            row[k] = entry * (scale[i] * scale[k]);
        }
    }
}

static MF_INLINE void curve_elliptic(const Constraint *c, const mf_lane *weight,
                                     const mf_lane *slack, const mf_mask *zones, mf_lane *w) {
    const Cone cone = cone_of(c, slack);
    mf_lane sides[CONTACT_PRODUCTS];
    const bool any = mf_any(zones[0]);
    if (any)
        curve_sides(c, &cone, sides);
    for (uint32_t i = 0, e = 0; i < c->rows; i++)
        for (uint32_t k = 0; k <= i; k++, e++) {
            w[e] = i == k ? mf_keep(zones[1], weight[i]) : mf_zero();
            if (any)
                w[e] = mf_select(zones[0], sides[e], w[e]);
        }
}

static MF_INLINE void curve_pyramid(const Constraint *c, mf_lane weight, const mf_mask *zones,
                                    mf_lane *w) {
    for (uint32_t i = 0; i < c->rows * (c->rows + 1) / 2; i++)
        w[i] = mf_zero();
    for (uint32_t k = 1; k < c->rows; k++) {
        const mf_lane mu = c->friction[k - 1];
        const mf_lane a = mf_keep(zones[2 * k - 2], weight), b = mf_keep(zones[2 * k - 1], weight);
        w[0] = w[0] + (a + b);
        w[k * (k + 1) / 2] = mu * (a - b);
        w[k * (k + 1) / 2 + k] = mu * mu * (a + b);
    }
}

// The lanes in which a constraint's cost bends.
static MF_INLINE mf_mask curve_where(const Constraint *c, const mf_mask *zones) {
    mf_mask any = c->exists;
    switch (c->kind) {
    case CONSTRAINT_QUADRATIC:
        break;
    case CONSTRAINT_DRY:
        any = mf_not(mf_or(zones[0], zones[1]));
        break;
    case CONSTRAINT_ONE_SIDED:
    case CONSTRAINT_PYRAMID:
        any = zones[0];
        for (uint32_t k = 1; k < zone_count(c); k++)
            any = mf_or(any, zones[k]);
        break;
    case CONSTRAINT_ELLIPTIC:
        any = mf_or(zones[0], zones[1]);
        break;
    }
    return mf_and(any, c->exists);
}

// Second derivatives at the present slacks, the lower half.
static MF_INLINE void curve_find(const Constraint *c, const mf_lane *weight, const mf_lane *slack,
                                 const mf_mask *zones, mf_lane *w) {
    switch (c->kind) {
    case CONSTRAINT_QUADRATIC:
        for (uint32_t i = 0, e = 0; i < c->rows; i++)
            for (uint32_t k = 0; k <= i; k++, e++)
                w[e] = i == k ? weight[i] : mf_zero();
        break;
    case CONSTRAINT_DRY:
    case CONSTRAINT_ONE_SIDED:
        w[0] = mf_keep(curve_where(c, zones), weight[0]);
        break;
    case CONSTRAINT_PYRAMID:
        curve_pyramid(c, weight[0], zones, w);
        break;
    case CONSTRAINT_ELLIPTIC:
        curve_elliptic(c, weight, slack, zones, w);
        break;
    }
    for (uint32_t i = 0; i < c->rows * (c->rows + 1) / 2; i++)
        w[i] = mf_keep(c->exists, w[i]);
}

// ---- along a line -------------------------------------------------------------------------------

// Adds the first two derivatives of the costs of a constraint at slack + distance * along.
static MF_INLINE void along_pyramid(const Constraint *c, mf_lane weight, const mf_lane *slack,
                                    const mf_lane *along, mf_lane distance, mf_lane *first,
                                    mf_lane *second) {
    const mf_lane zero = mf_zero();
    for (uint32_t k = 1; k < c->rows; k++) {
        const mf_lane mu = c->friction[k - 1];
        for (int side = 0; side < 2; side++) {
            const mf_lane sign = side == 0 ? mu : -mu;
            const mf_lane d = mf_fma(sign, along[k], along[0]);
            const mf_lane s = mf_fma(distance, d, mf_fma(sign, slack[k], slack[0]));
            const mf_lane w = mf_keep(mf_and(c->exists, mf_less(s, zero)), weight);
            *first = mf_fma(w * s, d, *first);
            *second = mf_fma(w * d, d, *second);
        }
    }
}

// An elliptic cone at slack + distance * along: the costs of its pieces as polynomials of the
// distance.
static MF_INLINE void ray_find(const Constraint *c, const mf_lane *weight, const mf_lane *slack,
                               const mf_lane *along, Ray *out) {
    const mf_lane zero = mf_zero();
    *out = MF_VALUE(Ray, .flat = {zero, zero}, .square = {zero, zero, zero});
    for (uint32_t k = 0; k < c->rows; k++) {
        out->flat[0] = mf_fma(weight[k] * slack[k], along[k], out->flat[0]);
        out->flat[1] = mf_fma(weight[k] * along[k], along[k], out->flat[1]);
    }
    out->normal[0] = c->cone * slack[0];
    out->normal[1] = c->cone * along[0];
    for (uint32_t k = 1; k < c->rows; k++) {
        const mf_lane mu = c->friction[k - 1], u = mu * slack[k], v = mu * along[k];
        out->square[0] = mf_fma(u, u, out->square[0]);
        out->square[1] = mf_fma(u, v, out->square[1]);
        out->square[2] = mf_fma(v, v, out->square[2]);
    }
}

static MF_INLINE void along_elliptic(const Constraint *c, const Ray *ray, mf_lane distance,
                                     mf_lane *first, mf_lane *second) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1), mu = c->cone;
    const mf_lane normal = mf_fma(distance, ray->normal[1], ray->normal[0]);
    const mf_lane dot = mf_fma(distance, ray->square[2], ray->square[1]); // U V across
    const mf_lane across =
        mf_sqrt(mf_max(mf_fma(distance, ray->square[1] + dot, ray->square[0]), zero));
    const mf_mask top = mf_less_equal(mu * across, normal);
    const mf_mask low = mf_and(mf_not(top), mf_less_equal(mf_fma(mu, normal, across), zero));
    const mf_mask sides = mf_not(mf_or(top, low)), acts = mf_and(c->exists, mf_not(top));
    const mf_lane beyond = mf_fma(-mu, across, normal);
    const mf_lane inverse = one / mf_select(mf_less(zero, across), across, one);
    const mf_lane rise = dot * inverse;                                               // T'
    const mf_lane bend = mf_max(mf_fma(-rise, rise, ray->square[2]), zero) * inverse; // T''
    const mf_lane slope = mf_fma(-mu, rise, ray->normal[1]);
    const mf_lane round = c->stiff * beyond * slope;
    const mf_lane round_second = c->stiff * mf_fma(slope, slope, -(beyond * mu * bend));
    const mf_lane flat = mf_fma(distance, ray->flat[1], ray->flat[0]);
    *first = *first + mf_keep(acts, mf_select(sides, round, flat));
    *second = *second + mf_keep(acts, mf_select(sides, round_second, ray->flat[1]));
}

static MF_INLINE void along_one(const Constraint *c, mf_lane weight, mf_lane slack, mf_lane along,
                                mf_lane distance, mf_lane *first, mf_lane *second) {
    const mf_lane s = mf_fma(distance, along, slack);
    mf_mask bends = c->exists;
    mf_lane force = weight * s;
    if (c->kind == CONSTRAINT_ONE_SIDED) {
        bends = mf_and(bends, mf_less(s, mf_zero()));
    } else if (c->kind == CONSTRAINT_DRY) {
        const mf_lane clamped = mf_clamp(force, -c->most, c->most);
        *first = mf_fma(mf_keep(c->exists, clamped), along, *first);
        bends = mf_and(bends, mf_less_equal(mf_abs(force), c->most));
        *second = mf_fma(mf_keep(bends, weight) * along, along, *second);
        return;
    }
    *first = mf_fma(mf_keep(bends, force), along, *first);
    *second = mf_fma(mf_keep(bends, weight) * along, along, *second);
}

static MF_INLINE void along_find(const Constraint *c, const mf_lane *weight, const mf_lane *slack,
                                 const mf_lane *along, const Ray *ray, mf_lane distance,
                                 mf_lane *first, mf_lane *second) {
    if (c->kind == CONSTRAINT_PYRAMID)
        along_pyramid(c, weight[0], slack, along, distance, first, second);
    else if (c->kind == CONSTRAINT_ELLIPTIC)
        along_elliptic(c, ray, distance, first, second);
    else
        for (uint32_t k = 0; k < c->rows; k++)
            along_one(c, weight[k], slack[k], along[k], distance, first, second);
}
