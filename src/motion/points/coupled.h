// Support and friction in one fit over all six degrees of freedom: roll and pitch take part in the
// friction, contacts push along the ground's normal, and each obeys Coulomb's limit.
//
// With J_i the motion of contact i for a displacement u = (move, turn) of the body, minimise
//   1/2 eps u^T (M/m) u + 1/2 sum max(0, n_i . (d_i - J_i u))^2 + 1/2 sum phi_i |P_i (s_i + J_i
//   u)|^2
// where d_i is the depth, s_i the slip since the contact was made, P_i the projection on the
// tangent plane and phi_i <= 1 the factor that keeps friction within mu N (iteratively reweighted
// least squares). One implicit step with springs in all directions: no energy is created.
#ifndef MF_MOTION_POINTS_COUPLED_H
#define MF_MOTION_POINTS_COUPLED_H

#include "motion/points/contacts.h"

enum { COUPLED_ITERATIONS = 12, COUPLED_ENTRIES = 21 };

typedef struct Coupled {
    mf_lane h[6][6]; // lower triangle used
    mf_lane b[6];
} Coupled;

static inline Vec shift_at(const Shift *shift, Vec place) {
    return vec_add(shift->move, vec_cross(shift->turn, place));
}

static inline Vec tangent_part(Vec a, Vec n) {
    return vec_sub(a, vec_scale(n, vec_dot(a, n)));
}

// Adds the term stiffness k along `direction` for contact `place` with target displacement `goal`:
// row r = (direction, place x direction), h += k r r^T, b += k goal r.
static inline void coupled_add(Coupled *c, Vec place, Vec direction, mf_lane k, mf_lane goal) {
    Vec arm = vec_cross(place, direction);
    mf_lane row[6] = {direction.x, direction.y, direction.z, arm.x, arm.y, arm.z};
    for (int i = 0; i < 6; i++) {
        mf_lane scaled = k * row[i];
        c->b[i] = c->b[i] + scaled * goal;
        for (int j = 0; j <= i; j++)
            c->h[i][j] = c->h[i][j] + scaled * row[j];
    }
}

static inline Shift coupled_factor(Coupled *c) {
    mf_lane inverse[6];
    for (int j = 0; j < 6; j++) {
        mf_lane pivot = c->h[j][j];
        for (int k = 0; k < j; k++)
            pivot = pivot - c->h[j][k] * c->h[j][k] * c->h[k][k];
        c->h[j][j] = pivot;
        inverse[j] = mf_set((mf_real)1) / pivot;
        for (int i = j + 1; i < 6; i++) {
            mf_lane sum = c->h[i][j];
            for (int k = 0; k < j; k++)
                sum = sum - c->h[i][k] * c->h[j][k] * c->h[k][k];
            c->h[i][j] = sum * inverse[j];
        }
    }
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < i; k++)
            c->b[i] = c->b[i] - c->h[i][k] * c->b[k];
    for (int i = 5; i >= 0; i--) {
        c->b[i] = c->b[i] * inverse[i];
        for (int k = i + 1; k < 6; k++)
            c->b[i] = c->b[i] - c->h[k][i] * c->b[k];
    }
    return (Shift){{c->b[0], c->b[1], c->b[2]}, {c->b[3], c->b[4], c->b[5]}};
}

// Two unit vectors that complete n (which never points down).
static inline void tangent_basis(Vec n, Vec *first, Vec *second) {
    mf_lane one = mf_set((mf_real)1), scale = one / (one + n.z);
    mf_lane xy = mf_zero() - n.x * n.y * scale;
    *first = (Vec){one - n.x * n.x * scale, xy, mf_zero() - n.x};
    *second = (Vec){xy, one - n.y * n.y * scale, mf_zero() - n.y};
}

static inline Vec coupled_normal(const mf_PointsPlan *plan, const Contacts *contacts, size_t i) {
    Vec up = {mf_zero(), mf_zero(), mf_set((mf_real)1)};
    return ground_slopes(plan) ? contacts->row[i].normal : up;
}

static inline void coupled_sum(const mf_PointsPlan *plan, const Contacts *contacts,
                               const mf_lane *hold, const mf_lane *weight, Coupled *c) {
    mf_lane zero = mf_zero();
    for (size_t i = 0; i < contacts->count; i++) {
        Vec n = coupled_normal(plan, contacts, i), first, second, slip = contacts->row[i].slip;
        mf_lane pressed = mf_keep(mf_less(zero, contacts->row[i].press), mf_set((mf_real)1));
        coupled_add(c, contacts->row[i].place, n, pressed, contacts->row[i].depth * n.z);
        mf_lane k = hold[i] * weight[i] * pressed;
        tangent_basis(n, &first, &second);
        coupled_add(c, contacts->row[i].place, first, k, zero - vec_dot(first, slip));
        coupled_add(c, contacts->row[i].place, second, k, zero - vec_dot(second, slip));
    }
}

// Near the limit phi comes closer to its solution by only about a factor of 1 + eps an iteration,
// but steadily: Aitken's extrapolation of three values in a row leaps ahead.
static inline mf_lane coupled_leap(mf_lane first, mf_lane second, mf_lane third) {
    mf_lane one = mf_set((mf_real)1), before = second - first, now = third - second;
    mf_lane limit = mf_set((mf_real)0.98) * mf_abs(before);
    mf_mask steady = mf_and(mf_less(mf_zero(), before * now), mf_less(mf_abs(now), limit));
    mf_lane leap = third + now * now / mf_select(steady, before - now, one);
    return mf_select(steady, mf_clamp(leap, mf_set((mf_real)0.1) * third, one), third);
}

// Fills press (along the normal) and `hold` (phi_i: 1 = sticks, less = slides). `weight` holds each
// contact's tangential stiffness, 0 for one that was not there before.
static inline Shift coupled_solve(const mf_PointsPlan *plan, const mf_real *constant,
                                  Contacts *contacts, const Sym *inertia_world, mf_real softness,
                                  const mf_lane *weight, mf_lane *hold) {
    mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane e = mf_set(softness), scale = mf_set(softness * constant[MF_PLAN_INVERSE_MASS]);
    mf_lane friction = mf_set(constant[MF_PLAN_FRICTION]);
    Shift shift = {{zero, zero, zero}, {zero, zero, zero}};
    mf_lane older[MF_POINTS_MAX_CONTACTS];
    for (size_t i = 0; i < contacts->count; i++)
        hold[i] = older[i] = one;
    for (int iteration = 0; iteration <= COUPLED_ITERATIONS; iteration++) {
        for (size_t i = 0; i < contacts->count; i++) {
            Vec n = coupled_normal(plan, contacts, i);
            Vec moved = shift_at(&shift, contacts->row[i].place);
            contacts->row[i].press = mf_max(contacts->row[i].depth * n.z - vec_dot(n, moved), zero);
            Vec stretch = tangent_part(vec_add(contacts->row[i].slip, moved), n);
            mf_lane pull = weight[i] * mf_sqrt(vec_dot(stretch, stretch));
            mf_lane most = friction * contacts->row[i].press;
            mf_mask slides = mf_less(most, pull);
            mf_lane next = mf_select(slides, most / mf_select(slides, pull, one), one);
            if (iteration == 3 || iteration == 6 || iteration == 9)
                next = coupled_leap(older[i], hold[i], next);
            older[i] = hold[i];
            hold[i] = iteration == 0 ? one : next;
        }
        if (iteration == COUPLED_ITERATIONS)
            break;
        Coupled c;
        for (int i = 0; i < 6; i++) {
            c.b[i] = zero;
            for (int j = 0; j < 6; j++)
                c.h[i][j] = i == j && i < 3 ? e : zero;
        }
        c.h[3][3] = inertia_world->xx * scale;
        c.h[4][4] = inertia_world->yy * scale;
        c.h[5][5] = inertia_world->zz * scale;
        c.h[4][3] = inertia_world->xy * scale;
        c.h[5][3] = inertia_world->xz * scale;
        c.h[5][4] = inertia_world->yz * scale;
        coupled_sum(plan, contacts, hold, weight, &c);
        shift = coupled_factor(&c);
    }
    return shift;
}

#endif
