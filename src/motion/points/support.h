// Normal response: the smallest rise, roll and pitch that take the points out of the ground.
//
// With u = (rise, roll, pitch) and a_i = (1, y_i, -x_i), minimize
//     1/2 eps u^T (M/m) u + 1/2 sum_i max(0, depth_i - a_i u)^2,
// where M is the mass matrix of these three motions when only vertical forces act. This is one
// implicit step with contact springs of stiffness m / (eps dt^2) that push and never pull, so
// kinetic plus potential plus spring energy cannot rise, any set of contacts (none, one, two, all
// in a line) has exactly one solution, and loads at rest are those of least norm. Solved by
// Newton's method on the piecewise quadratic function: a set of pressed points, a 3x3 motion,
// again.
#ifndef MF_MOTION_POINTS_SUPPORT_H
#define MF_MOTION_POINTS_SUPPORT_H

#include "motion/points/contacts.h"

enum { SUPPORT_ITERATIONS = 8 };

typedef struct Support {
    mf_lane zz, zr, zp, rr, rp, pp; // sum of a_i a_i^T: rise, roll, pitch
    mf_lane z, r, p;                // sum of a_i depth_i
} Support;

static MF_INLINE void support_add(Support *s, const Contact *row, mf_mask pressed) {
    mf_lane x = row->position.x, y = row->position.y, depth = row->depth;
    s->zz = mf_add_where(pressed, s->zz, mf_set((mf_real)1));
    s->zr = mf_add_where(pressed, s->zr, y);
    s->zp = mf_add_where(pressed, s->zp, -x);
    s->rr = mf_fma_where(pressed, y, y, s->rr);
    s->rp = mf_fma_where(pressed, -x, y, s->rp);
    s->pp = mf_fma_where(pressed, x, x, s->pp);
    s->z = mf_add_where(pressed, s->z, depth);
    s->r = mf_fma_where(pressed, y, depth, s->r);
    s->p = mf_fma_where(pressed, -x, depth, s->p);
}

// Solves the 3x3 motion, which is positive definite because of the mass terms: the rise is
// eliminated, the tilts follow by Cramer's rule. Two divisions.
static MF_INLINE Vec support_solve_sum(const Support *s) {
    mf_lane one = mf_set((mf_real)1), first = one / s->zz;
    mf_lane lr = s->zr * first, lp = s->zp * first;
    mf_lane rr = mf_fma(-lr, s->zr, s->rr), rp = mf_fma(-lr, s->zp, s->rp);
    mf_lane pp = mf_fma(-lp, s->zp, s->pp);
    mf_lane r = mf_fma(-lr, s->z, s->r), p = mf_fma(-lp, s->z, s->p);
    mf_lane scale = one / mf_fma(rr, pp, -(rp * rp));
    mf_lane roll = mf_fma(r, pp, -(p * rp)) * scale, pitch = mf_fma(p, rr, -(r * rp)) * scale;
    mf_lane rise = mf_fma(-lr, roll, mf_fma(-lp, pitch, s->z * first));
    return MF_VALUE(Vec, rise, roll, pitch); // x holds the rise
}

// Inverse of the upper left 2x2 block of the world's inverse inertia: (xx, xy, yy).
static MF_INLINE Vec support_inertia(const Sym *inverse_world) {
    mf_lane xx = inverse_world->xx, yy = inverse_world->yy, xy = inverse_world->xy;
    mf_lane scale = mf_set((mf_real)1) / mf_fma(xx, yy, -(xy * xy));
    return MF_VALUE(Vec, yy * scale, -(xy * scale), xx * scale);
}

// Presses each contact by what is left of its depth after `shift`; true while a set changes.
static MF_INLINE bool support_press(Contacts *contacts, size_t count, const Shift *shift) {
    mf_lane zero = mf_zero(), has = zero;
    mf_mask changed = mf_not(mf_mask_all());
    for (Contact *row = contacts->row; row < contacts->row + count; row++) {
        mf_lane rest =
            mf_fma(-shift->rotation_vector.x, row->position.y, row->depth - shift->move.z);
        rest = mf_fma(shift->rotation_vector.y, row->position.x, rest);
        mf_mask was = row->pressed, is = mf_less(zero, rest);
        row->pressed = is;
        row->press = mf_max(rest, zero);
        has = mf_fma(row->press, row->press, has);
        changed = mf_or(changed, mf_differ(was, is));
    }
    contacts->has = has;
    return mf_any(changed);
}

// The system for the pressed points. At first those that were pressed before, or, for a robot that
// comes from the air, those below the ground; later those that the last round found.
static MF_INLINE Support support_system(Contacts *contacts, size_t count, mf_lane softness,
                                        Vec masses, bool first) {
    mf_lane zero = mf_zero();
    Support sum = {softness, zero, zero, masses.x, masses.y, masses.z, zero, zero, zero};
    for (Contact *row = contacts->row; row < contacts->row + count; row++) {
        if (first)
            row->pressed = mf_less(zero, mf_select(contacts->standing, row->before, row->depth));
        support_add(&sum, row, row->pressed);
    }
    return sum;
}

// How far the next solution would be from `u`, over both.
static __attribute__((noinline)) mf_lane support_rest(const Support *sum, Vec u) {
    const Vec next = support_solve_sum(sum), offset = vec_sub(next, u);
    const mf_lane size = vec_dot(next, next) + vec_dot(u, u), tiny = mf_set(MF_REAL_EPSILON);
    return mf_sqrt(vec_dot(offset, offset) / mf_max(size, tiny * tiny));
}

// Fills `press` and returns the shift (no horizontal move). `softness` is eps. With `again` the
// search starts from the points that were found pressed last time. `count` is contacts->count.
// Where the rounds end first `residual` is raised.
static MF_INLINE Shift support_solve(Contacts *contacts, size_t count, const Sym *inverse_world,
                                     mf_real softness, mf_real inverse_mass, bool again,
                                     mf_lane *residual) {
    Vec tilt = support_inertia(inverse_world);
    Vec masses = vec_scale(tilt, mf_set(softness * inverse_mass)); // eps M/m of roll and pitch
    mf_lane zero = mf_zero();
    Shift shift = {{zero, zero, zero}, {zero, zero, zero}};
    Support sum = support_system(contacts, count, mf_set(softness), masses, !again);
    for (int iteration = 1;; iteration++) {
        Vec u = support_solve_sum(&sum);
        shift.move.z = u.x;
        shift.rotation_vector.x = u.y;
        shift.rotation_vector.y = u.z;
        // The same set gives the same solution, so stopping early changes no bit.
        if (!support_press(contacts, count, &shift))
            break;
        sum = support_system(contacts, count, mf_set(softness), masses, false);
        if (iteration < SUPPORT_ITERATIONS)
            continue;
        *residual = mf_max(*residual, support_rest(&sum, u));
        break;
    }
    // A vertical force also turns a tilted body about the vertical.
    mf_lane torque_x = mf_fma(tilt.x, shift.rotation_vector.x, tilt.y * shift.rotation_vector.y);
    mf_lane torque_y = mf_fma(tilt.y, shift.rotation_vector.x, tilt.z * shift.rotation_vector.y);
    shift.rotation_vector.z = mf_fma(inverse_world->xz, torque_x, inverse_world->yz * torque_y);
    return shift;
}

#endif
