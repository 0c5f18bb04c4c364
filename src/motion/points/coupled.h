// Support and friction in one fit over all six degrees of freedom: roll and pitch take part in the
// friction, contacts push along the ground's normal, and each obeys Coulomb's limit.
//
// With J_i the motion of contact i for a displacement u = (translation, rotation) of the body, d_i
// its depth, s_i its slip since the contact was made, n_i the normal and P_i the projection on the
// tangent plane, the displacement is the root of
//   R(u) = eps (M/m) u - sum J_i^T (N_i n_i + T_i),   N_i = max(0, n_i . (d_i - J_i u)),
//   T_i = -w_i t_i, but of length mu N_i at most,     t_i = P_i (s_i + J_i u).
// This is one implicit step with springs in all directions whose tangential part yields at mu N
// (elastic-plastic friction; Simo and Hughes, Computational Inelasticity, 1998, chapter 3): loads
// carry the weight at every step, and no energy is created.
//
// R is continuous and piecewise smooth, so Newton's method with the derivative of the present piece
// converges in a few rounds (semismooth Newton; Alart and Curnier, Comput. Methods Appl. Mech. Eng.
// 92, 1991, eq. 50 for the derivative of Coulomb's law). Each step is halved until the residual
// falls or, where R is the gradient of a convex function, that function does. If it does not, the
// root is followed from that without friction, where R is the gradient of a convex function, to the
// full coefficient, in increasingly small parts. `residual` is |R| relative to the sum of the sizes
// of its terms.
//
// With infinite friction T_i is unbounded: the contacts that bear load without friction stick,
// which is convex again.
//
// In a joint update the body was already lifted (solve.h), and its loads are unknown. Standing feet
// then stay in the ground's plane, N_i = n_i . (d_i - J_i u) of either sign: gravity, which is not
// part of an update, holds them down. Without that, tilting the body, which lifts feet at no cost
// and pushes others into the ground, would be a way to undo a slip. N_i counts a hundred times as
// much as T_i, so a slip of 20 mm moves a foot by less than 0.2 mm along the normal.
//
// Invariant: a lane that has converged, or cannot be improved, does not change any more, so results
// do not depend on the other lanes.
#pragma once

#include "motion/points/contacts.h"

enum {
    COUPLED_ROUNDS = 25,  // of Newton's method
    COUPLED_HALVINGS = 8, // of one step
    COUPLED_PARTS = 16    // of the coefficient, at most
};

// The problem, without the displacement.
typedef struct Coupled {
    const mf_PointsPlan *plan;
    Contacts *contacts;
    const mf_lane *weight; // tangential stiffness of each contact, 0 for one that was not there
    Sym inertia;           // eps I/m
    mf_lane softness;      // eps
    mf_lane friction;      // mu
    bool holds;            // friction without limit
    bool stands;           // contacts with a tangential stiffness keep their height
} Coupled;

// R at a displacement, and its size.
typedef struct Balance {
    mf_lane force[6];
    mf_lane wrong; // R^2, each part over its mass
    mf_lane size;  // the same of the sums of the sizes of its terms, rounding included
} Balance;

// A contact at a displacement.
typedef struct Grip {
    Vec normal, along; // unit; the direction of the stretch
    Vec stretch;       // t
    mf_lane press;     // N
    mf_mask pressed;   // N depends on u
    mf_lane hold;      // part of w t that friction bears
    mf_mask slides;
} Grip;

static inline Vec shift_at(const Shift *shift, Vec position) {
    return vec_add(shift->move, vec_cross(shift->rotation_vector, position));
}

static inline Vec tangent_part(Vec a, Vec n) {
    return vec_sub(a, vec_scale(n, vec_dot(a, n)));
}

// A unit vector across n, which never points down.
static inline Vec tangent_of(Vec n) {
    mf_lane one = mf_set((mf_real)1), scale = one / (one + n.z);
    return MF_VALUE(Vec, one - n.x * n.x * scale, mf_zero() - n.x * n.y * scale, mf_zero() - n.x);
}

static inline mf_lane vec_size(Vec a) {
    return mf_abs(a.x) + mf_abs(a.y) + mf_abs(a.z);
}

static Grip coupled_grip(const Coupled *c, size_t i, const Shift *shift) {
    const Contact *row = &c->contacts->row[i];
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Grip grip;
    grip.normal = c->plan->slopes ? row->normal : MF_VALUE(Vec, zero, zero, one);
    Vec moved = shift_at(shift, row->position);
    mf_lane rest = row->depth * grip.normal.z - vec_dot(grip.normal, moved);
    grip.pressed = mf_less(zero, rest);
    if (c->stands)
        grip.pressed = mf_or(grip.pressed, mf_less(zero, c->weight[i]));
    grip.press = mf_keep(grip.pressed, rest);
    grip.stretch = tangent_part(vec_add(row->slip, moved), grip.normal);
    mf_lane length = mf_sqrt(vec_dot(grip.stretch, grip.stretch));
    mf_mask drawn = mf_less(zero, length);
    grip.along = vec_select(drawn, vec_scale(grip.stretch, one / mf_select(drawn, length, one)),
                            tangent_of(grip.normal));
    mf_lane pull = c->weight[i] * length, most = c->friction * grip.press;
    grip.slides = c->holds ? mf_not(mf_mask_all()) : mf_less(most, pull);
    grip.hold = mf_select(grip.slides, most / mf_select(grip.slides, pull, one), one);
    return grip;
}

static Balance coupled_balance(const Coupled *c, const Shift *shift) {
    const mf_lane e = c->softness, rounding = mf_set((mf_real)0.01);
    Vec move = vec_scale(shift->move, e), moment = sym_apply(&c->inertia, shift->rotation_vector);
    mf_lane force_size = vec_size(move), torsion = vec_size(moment);
    for (size_t i = 0; i < c->contacts->count; i++) {
        const Contact *row = &c->contacts->row[i];
        Grip grip = coupled_grip(c, i, shift);
        mf_lane share = c->weight[i] * grip.hold;
        Vec force = vec_scale(grip.normal, grip.press);
        force = vec_sub(force, vec_scale(grip.stretch, share));
        move = vec_sub(move, force);
        moment = vec_sub(moment, vec_cross(row->position, force));
        // Depths and slips are differences of larger numbers.
        mf_lane large = mf_abs(row->depth) + vec_size(shift_at(shift, row->position));
        large = mf_keep(grip.pressed, large);
        large = vec_size(force) + rounding * (large + share * vec_size(row->slip));
        force_size = force_size + large;
        torsion = torsion + large * vec_size(row->position);
    }
    Balance b = {.force = {move.x, move.y, move.z, moment.x, moment.y, moment.z}};
    const mf_lane one = mf_set((mf_real)1);
    mf_lane over[4] = {one / e, one / c->inertia.xx, one / c->inertia.yy, one / c->inertia.zz};
    b.wrong = vec_dot(move, move) * over[0] + moment.x * moment.x * over[1] +
              moment.y * moment.y * over[2] + moment.z * moment.z * over[3];
    b.size = force_size * force_size * over[0] + torsion * torsion * (over[1] + over[2] + over[3]);
    return b;
}

// ---- one round ----------------------------------------------------------------------------------

typedef struct Rows {
    mf_lane h[6][6];
    mf_lane b[6];
} Rows;

// h += left right^T for the motions of a contact along two directions.
static inline void rows_add(Rows *r, Vec position, Vec left, Vec right) {
    Vec left_arm = vec_cross(position, left), right_arm = vec_cross(position, right);
    const mf_lane a[6] = {left.x, left.y, left.z, left_arm.x, left_arm.y, left_arm.z};
    const mf_lane b[6] = {right.x, right.y, right.z, right_arm.x, right_arm.y, right_arm.z};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            r->h[i][j] = r->h[i][j] + a[i] * b[j];
}

// dR/du at the displacement. Along the sliding direction only the normal force has a derivative;
// across it the direction of friction rotates with the stretch.
static void coupled_slope(const Coupled *c, const Shift *shift, Rows *r) {
    const mf_lane zero = mf_zero();
    const mf_lane one = mf_set((mf_real)1);
    const Sym *m = &c->inertia;
    const mf_lane rotation[3][3] = {
        {m->xx, m->xy, m->xz}, {m->xy, m->yy, m->yz}, {m->xz, m->yz, m->zz}};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            r->h[i][j] = i >= 3 && j >= 3 ? rotation[i - 3][j - 3] : i == j ? c->softness : zero;
    for (size_t i = 0; i < c->contacts->count; i++) {
        Grip grip = coupled_grip(c, i, shift);
        Vec position = c->contacts->row[i].position, across = vec_cross(grip.normal, grip.along);
        mf_lane pressed = mf_keep(grip.pressed, one);
        mf_lane share = c->weight[i] * grip.hold;
        mf_lane drag = mf_keep(grip.slides, c->friction * pressed);
        Vec forces = vec_sub(vec_scale(grip.normal, pressed), vec_scale(grip.along, drag));
        rows_add(r, position, forces, grip.normal);
        rows_add(r, position, vec_scale(grip.along, mf_select(grip.slides, zero, share)),
                 grip.along);
        rows_add(r, position, vec_scale(across, share), across);
    }
}

static inline void rows_swap(Rows *r, int i, int j, mf_mask where) {
    for (int k = 0; k < 6; k++) {
        mf_lane above = r->h[i][k];
        r->h[i][k] = mf_select(where, r->h[j][k], above);
        r->h[j][k] = mf_select(where, above, r->h[j][k]);
    }
    mf_lane above = r->b[i];
    r->b[i] = mf_select(where, r->b[j], above);
    r->b[j] = mf_select(where, above, r->b[j]);
}

// Gaussian elimination with column pivoting, as Coulomb's law makes the system unsymmetric.
static Shift rows_solve(Rows *r) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane inverse[6];
    for (int j = 0; j < 6; j++) {
        for (int i = j + 1; i < 6; i++)
            rows_swap(r, j, i, mf_less(mf_abs(r->h[j][j]), mf_abs(r->h[i][j])));
        mf_mask fine = mf_less(mf_zero(), mf_abs(r->h[j][j]));
        inverse[j] = mf_keep(fine, one / mf_select(fine, r->h[j][j], one));
        for (int i = j + 1; i < 6; i++) {
            mf_lane factor = r->h[i][j] * inverse[j];
            for (int k = j + 1; k < 6; k++)
                r->h[i][k] = r->h[i][k] - factor * r->h[j][k];
            r->b[i] = r->b[i] - factor * r->b[j];
        }
    }
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++)
            r->b[i] = r->b[i] - r->h[i][k] * r->b[k];
        r->b[i] = r->b[i] * inverse[i];
    }
    return MF_VALUE(Shift, {r->b[0], r->b[1], r->b[2]}, {r->b[3], r->b[4], r->b[5]});
}

static inline Shift shift_select(mf_mask where, const Shift *yes, const Shift *no) {
    return MF_VALUE(Shift, vec_select(where, yes->move, no->move),
                    vec_select(where, yes->rotation_vector, no->rotation_vector));
}

static inline void balance_take(Balance *b, mf_mask where, const Balance *other) {
    for (int i = 0; i < 6; i++)
        b->force[i] = mf_select(where, other->force[i], b->force[i]);
    b->wrong = mf_select(where, other->wrong, b->wrong);
    b->size = mf_select(where, other->size, b->size);
}

// Lanes whose residual is above `part` of the sizes.
static inline mf_mask balance_off(const Balance *b, mf_real part) {
    return mf_not(mf_less_equal(b->wrong, mf_set(part * part) * b->size));
}

// Lanes in which the convex function whose gradient is `b` falls all along a step that leads there.
static inline mf_mask balance_falls(const Balance *b, const Shift *step) {
    const Vec force = {b->force[0], b->force[1], b->force[2]};
    const Vec moment = {b->force[3], b->force[4], b->force[5]};
    return mf_less(vec_dot(force, step->move) + vec_dot(moment, step->rotation_vector), mf_zero());
}

// One step of Newton's method, halved until it is an improvement; returns the lanes of `active` in
// which it was.
static mf_mask coupled_round(const Coupled *c, Shift *shift, Balance *now, mf_mask active) {
    Rows rows;
    coupled_slope(c, shift, &rows);
    for (int i = 0; i < 6; i++)
        rows.b[i] = mf_zero() - now->force[i];
    const Shift step = rows_solve(&rows), from = *shift;
    const mf_lane before = now->wrong;
    mf_mask left = active;
    mf_real length = 1;
    for (int k = 0; k < COUPLED_HALVINGS && mf_any(left); k++, length *= (mf_real)0.5) {
        Shift trial = {vec_fma(step.move, mf_set(length), from.move),
                       vec_fma(step.rotation_vector, mf_set(length), from.rotation_vector)};
        Balance then = coupled_balance(c, &trial);
        mf_lane enough = before * mf_set(1 - (mf_real)1e-4 * length);
        mf_mask better = mf_less(then.wrong, enough);
        if (c->holds)
            better = mf_or(better, balance_falls(&then, &step));
        better = mf_and(left, better);
        *shift = shift_select(better, &trial, shift);
        balance_take(now, better, &then);
        left = mf_and(left, mf_not(better));
    }
    return mf_and(active, mf_not(left));
}

// Newton's method from `shift` in the lanes `open`.
static Balance coupled_newton(const Coupled *c, Shift *shift, mf_mask open) {
    const mf_real enough = 1000 * MF_REAL_EPSILON;
    Balance now = coupled_balance(c, shift);
    mf_mask active = mf_and(open, balance_off(&now, enough));
    for (int round = 0; round < COUPLED_ROUNDS && mf_any(active); round++) {
        active = coupled_round(c, shift, &now, active);
        active = mf_and(active, balance_off(&now, enough));
    }
    return now;
}

// ---- the whole problem --------------------------------------------------------------------------

// For lanes in which Newton's method failed: from no friction to the full coefficient.
static void coupled_follow(Coupled *c, Shift *shift, Balance *found, mf_mask alive) {
    const mf_lane friction = c->friction;
    for (int parts = 1; parts <= COUPLED_PARTS; parts *= 4) {
        mf_mask open = mf_and(alive, balance_off(found, (mf_real)1e-3));
        if (!mf_any(open))
            break;
        const mf_lane zero = mf_zero();
        Shift path = {{zero, zero, zero}, {zero, zero, zero}};
        Balance now;
        for (int k = 0; k <= parts; k++) {
            c->friction = friction * mf_set((mf_real)k / (mf_real)parts);
            now = coupled_newton(c, &path, open);
        }
        mf_mask better = mf_and(open, mf_less(now.wrong * found->size, found->wrong * now.size));
        *shift = shift_select(better, &path, shift);
        balance_take(found, better, &now);
    }
    c->friction = friction;
}

// Friction without limit: contacts that bear load without friction hold.
static Balance coupled_hold(Coupled *c, Shift *shift, mf_lane *weight, mf_mask alive) {
    c->friction = mf_zero();
    c->holds = false;
    coupled_newton(c, shift, alive);
    for (size_t i = 0; i < c->contacts->count; i++) {
        Grip grip = coupled_grip(c, i, shift);
        weight[i] = mf_keep(grip.pressed, weight[i]);
    }
    c->holds = true;
    return coupled_newton(c, shift, alive);
}

// Fills press (along the normal) and `hold` (1 = sticks, less = slides), and `residual` [1].
// `weight` holds each contact's tangential stiffness; those that do not hold lose it.
static Shift coupled_solve(Coupled *c, mf_lane *weight, mf_lane *hold, mf_mask alive,
                           mf_lane *residual) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Shift shift = {{zero, zero, zero}, {zero, zero, zero}};
    Balance found;
    c->weight = weight;
    if (c->holds && !c->stands) {
        found = coupled_hold(c, &shift, weight, alive);
    } else {
        found = coupled_newton(c, &shift, alive);
        if (!c->holds)
            coupled_follow(c, &shift, &found, alive);
    }
    for (size_t i = 0; i < c->contacts->count; i++) {
        Grip grip = coupled_grip(c, i, &shift);
        c->contacts->row[i].press = grip.press;
        hold[i] = grip.hold;
    }
    mf_mask any = mf_less(zero, found.size);
    *residual = mf_keep(any, mf_sqrt(found.wrong / mf_select(any, found.size, one)));
    return shift;
}
