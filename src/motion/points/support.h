// Normal response: the smallest rise, roll and pitch that take the points out of the ground.
//
// With u = (rise, roll, pitch) and a_i = (1, y_i, -x_i), minimise
//     1/2 eps u^T (M/m) u + 1/2 sum_i max(0, depth_i - a_i u)^2,
// where M is the mass matrix of these three motions when only vertical forces act. This is one
// implicit step with contact springs of stiffness m / (eps dt^2) that push and never pull, so
// kinetic plus potential plus spring energy cannot rise, any set of contacts (none, one, two, all
// in a line) has exactly one solution, and loads at rest are those of least norm. Solved by
// Newton's method on the piecewise quadratic function: a set of pressed points, a 3x3 system,
// again.
#ifndef MF_MOTION_POINTS_SUPPORT_H
#define MF_MOTION_POINTS_SUPPORT_H

#include "motion/points/contacts.h"

enum { SUPPORT_ITERATIONS = 8 };

typedef struct Support {
    mf_lane zz, zr, zp, rr, rp, pp; // sum of a_i a_i^T: rise, roll, pitch
    mf_lane z, r, p;                // sum of a_i depth_i
} Support;

static MF_INLINE void support_sum(Support *s, Vec place, mf_lane depth, mf_mask pressed) {
    mf_lane x = place.x, y = place.y, left = mf_zero() - x;
    s->zz = mf_add_where(pressed, s->zz, mf_set((mf_real)1));
    s->zr = mf_add_where(pressed, s->zr, y);
    s->zp = mf_add_where(pressed, s->zp, left);
    s->rr = mf_add_where(pressed, s->rr, y * y);
    s->rp = mf_add_where(pressed, s->rp, left * y);
    s->pp = mf_add_where(pressed, s->pp, x * x);
    s->z = mf_add_where(pressed, s->z, depth);
    s->r = mf_add_where(pressed, s->r, y * depth);
    s->p = mf_add_where(pressed, s->p, left * depth);
}

// Solves the 3x3 system, which is positive definite because of the mass terms: the rise is
// eliminated, the tilts follow by Cramer's rule. Two divisions.
static inline Vec support_solve_sum(const Support *s) {
    mf_lane one = mf_set((mf_real)1), first = one / s->zz;
    mf_lane lr = s->zr * first, lp = s->zp * first;
    mf_lane rr = s->rr - lr * s->zr, rp = s->rp - lr * s->zp, pp = s->pp - lp * s->zp;
    mf_lane r = s->r - lr * s->z, p = s->p - lp * s->z;
    mf_lane scale = one / (rr * pp - rp * rp);
    mf_lane roll = (r * pp - p * rp) * scale, pitch = (p * rr - r * rp) * scale;
    return (Vec){s->z * first - (lr * roll + lp * pitch), roll, pitch}; // x holds the rise
}

// Inverse of the upper left 2x2 block of the world's inverse inertia: (xx, xy, yy).
static inline Vec support_inertia(const Sym *inverse_world) {
    mf_lane scale = mf_set((mf_real)1) /
                    (inverse_world->xx * inverse_world->yy - inverse_world->xy * inverse_world->xy);
    return (Vec){inverse_world->yy * scale, mf_zero() - inverse_world->xy * scale,
                 inverse_world->xx * scale};
}

// Presses each contact by what is left of its depth after `shift`; true while a set changes.
static MF_INLINE bool support_press(Contacts *contacts, const Shift *shift) {
    mf_lane zero = mf_zero();
    mf_mask changed = mf_not(mf_mask_all());
    for (uint32_t i = 0; i < contacts->count; i++) {
        mf_lane rest = contacts->row[i].depth - contact_rise(shift, contacts->row[i].place);
        mf_mask was = mf_less(zero, contacts->row[i].press), is = mf_less(zero, rest);
        contacts->row[i].press = mf_max(rest, zero);
        changed = mf_or(changed, mf_differ(was, is));
    }
    return mf_any(changed);
}

// Fills `press` and returns the shift (no horizontal move). `softness` is eps. `press` holds a
// first guess of the pressed points on entry.
static MF_INLINE Shift support_solve(Contacts *contacts, const Sym *inverse_world, mf_real softness,
                                     mf_real inverse_mass) {
    Vec tilt = support_inertia(inverse_world);
    Vec masses = vec_scale(tilt, mf_set(softness * inverse_mass)); // eps M/m of roll and pitch
    mf_lane zero = mf_zero();
    Shift shift = {{zero, zero, zero}, {zero, zero, zero}};
    for (int iteration = 0; iteration < SUPPORT_ITERATIONS; iteration++) {
        Support sum = {mf_set(softness), zero, zero, masses.x, masses.y,
                       masses.z,         zero, zero, zero};
        for (uint32_t i = 0; i < contacts->count; i++)
            support_sum(&sum, contacts->row[i].place, contacts->row[i].depth,
                        mf_less(zero, contacts->row[i].press));
        Vec u = support_solve_sum(&sum);
        shift.move.z = u.x;
        shift.turn.x = u.y;
        shift.turn.y = u.z;
        // The same set gives the same solution, so stopping early changes no bit.
        if (!support_press(contacts, &shift))
            break;
    }
    // A vertical force also turns a tilted body about the vertical.
    mf_lane torque_x = tilt.x * shift.turn.x + tilt.y * shift.turn.y;
    mf_lane torque_y = tilt.y * shift.turn.x + tilt.z * shift.turn.y;
    shift.turn.z = inverse_world->xz * torque_x + inverse_world->yz * torque_y;
    return shift;
}

#endif
