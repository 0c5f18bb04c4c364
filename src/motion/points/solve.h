// The displacement by contact with the ground, with one friction model or the other, and its effect
// on the body and on the anchors of its contacts.
#ifndef MF_MOTION_POINTS_SOLVE_H
#define MF_MOTION_POINTS_SOLVE_H

#include "motion/points/coulomb.h"
#include "motion/points/coupled.h"
#include "motion/points/fit.h"
#include "motion/points/state.h"
#include "motion/points/support.h"

// The paper's fit over the contacts that were there before and are there now, after `shift`.
static MF_INLINE Vec fit_friction(Step *s, size_t count, const Body *body, const Shift *shift,
                                  bool joints) {
    Contacts *contacts = &s->contacts;
    const mf_lane zero = mf_zero(), margin = mf_set(s->constant[MF_PLAN_MARGIN]);
    const bool weighted = s->plan->weighted;
    Fit fit = fit_start();
    for (const Contact *row = contacts->row; row < contacts->row + count; row++) {
        mf_mask both = mf_less(zero, row->before);
        if (joints)
            both = mf_and(both, mf_less(contact_rise(shift, row->position) - row->depth, margin));
        else
            both = mf_and(both, row->pressed);
        if (!mf_any(both))
            continue;
        Vec slip = contact_slip(s, body, row), position = row->position;
        mf_lane slip_x = mf_fma(-shift->rotation_vector.z, position.y,
                                mf_fma(shift->rotation_vector.y, position.z, slip.x));
        mf_lane slip_y = mf_fma(shift->rotation_vector.z, position.x,
                                mf_fma(-shift->rotation_vector.x, position.z, slip.y));
        if (weighted)
            fit_add(&fit, position, slip_x, slip_y, mf_keep(both, row->before));
        else
            fit_add_where(&fit, both, position, slip_x, slip_y);
    }
    return fit_solve(&fit);
}

// A second round for joint updates: what the soft contacts still gave way is added to their depth,
// so that the points end at the surface and no penetration is left that would cost energy later.
static MF_INLINE Shift lift_clear(Step *s, size_t count, const Sym *inverse_world, mf_real softness,
                                  mf_real inverse_mass) {
    Contacts *contacts = &s->contacts;
    mf_lane *depth = s->depth;
    for (size_t i = 0; i < count; i++) {
        depth[i] = contacts->row[i].depth;
        contacts->row[i].depth = depth[i] + contacts->row[i].press;
    }
    Shift shift =
        support_solve(contacts, count, inverse_world, softness, inverse_mass, true, &s->residual);
    for (size_t i = 0; i < count; i++)
        contacts->row[i].depth = depth[i];
    return shift;
}

static MF_INLINE Shift solve_rows(Step *s, size_t count, const Body *body, const Sym *inverse_world,
                                  bool joints) {
    mf_real softness = s->constant[MF_PLAN_COMPLIANCE] * (joints ? (mf_real)0.01 : (mf_real)1);
    mf_real inverse_mass = s->constant[MF_PLAN_INVERSE_MASS];
    Shift shift = support_solve(&s->contacts, count, inverse_world, softness, inverse_mass, false,
                                &s->residual);
    if (joints)
        shift = lift_clear(s, count, inverse_world, softness, inverse_mass);
    Vec fit = fit_friction(s, count, body, &shift, joints);
    shift.move.x = fit.x;
    shift.move.y = fit.y;
    shift.rotation_vector.z = shift.rotation_vector.z + fit.z;
    if (joints || !(s->constant[MF_PLAN_FRICTION] <= MF_REAL_MAX))
        return shift;
    mf_lane torsion_mass = mf_set(s->constant[MF_PLAN_INVERSE_MASS]) / inverse_world->zz;
    Shift release = coulomb_release(s->plan, s->constant, &s->contacts, fit, torsion_mass);
    shift.move = vec_add(shift.move, release.move);
    shift.rotation_vector.z = shift.rotation_vector.z + release.rotation_vector.z;
    return shift;
}

// Most robots stand on four or six feet: loops of a length that is known are unrolled.
static MF_INLINE Shift solve_fit(Step *s, const Body *body, const Sym *inverse_world, bool joints) {
    switch (s->contacts.count) {
    case 4:
        return solve_rows(s, 4, body, inverse_world, joints);
    case 6:
        return solve_rows(s, 6, body, inverse_world, joints);
    default:
        return solve_rows(s, s->contacts.count, body, inverse_world, joints);
    }
}

// Joint updates move the body by its feet as `fit` does: they know no loads, so nothing slips
// there.
static Shift solve_coupled(Step *s, const Body *body, const Mat *rotation, bool joints) {
    Contacts *contacts = &s->contacts;
    Sym inertia = body_inertia(s), inertia_world = sym_rotate(rotation, &inertia);
    mf_real softness = s->constant[MF_PLAN_COMPLIANCE] * (joints ? (mf_real)0.01 : (mf_real)1);
    // Weights by load have the mean 1 over the contacts that hold.
    mf_lane holding = mf_zero(), total = contacts->sums.fixed, one = mf_set((mf_real)1);
    for (size_t i = 0; i < contacts->count; i++)
        holding = mf_add_where(mf_less(mf_zero(), contacts->row[i].before), holding, one);
    mf_lane mean = holding / mf_select(mf_less(mf_zero(), total), total, one);
    for (size_t i = 0; i < contacts->count; i++) {
        mf_mask fixed = mf_less(mf_zero(), contacts->row[i].before);
        s->weight[i] = mf_keep(fixed, one);
        if (s->plan->weighted)
            s->weight[i] = contacts->row[i].before * mean;
        Vec slip = contact_slip(s, body, &contacts->row[i]);
        contacts->row[i].slip =
            MF_VALUE(Vec, mf_keep(fixed, slip.x), mf_keep(fixed, slip.y), mf_keep(fixed, slip.z));
    }
    const mf_real friction = s->constant[MF_PLAN_FRICTION];
    const mf_lane masses = mf_set(softness * s->constant[MF_PLAN_INVERSE_MASS]);
    const Sym *m = &inertia_world;
    Coupled c = {.plan = s->plan,
                 .contacts = contacts,
                 .inertia = {m->xx * masses, m->yy * masses, m->zz * masses, m->xy * masses,
                             m->xz * masses, m->yz * masses},
                 .softness = mf_set(softness),
                 .friction = mf_set(friction),
                 .holds = joints || !(friction <= MF_REAL_MAX)};
    mf_lane margin = joints ? mf_set(s->constant[MF_PLAN_MARGIN]) : mf_zero(), residual;
    Shift shift = coupled_solve(&c, s->weight, s->hold, margin, s->alive, &residual);
    s->residual = mf_max(s->residual, mf_keep(s->alive, residual));
    contacts->has = mf_zero();
    for (size_t i = 0; i < contacts->count; i++)
        contacts->has = mf_fma(contacts->row[i].press, contacts->row[i].press, contacts->has);
    return shift;
}

static MF_INLINE Shift solve(Step *s, const Body *body, const Mat *rotation, bool joints) {
    if (s->plan->coupled)
        return solve_coupled(s, body, rotation, joints);
    Sym inverse = body_inverse(s), inverse_world = sym_rotate(rotation, &inverse);
    return solve_fit(s, body, &inverse_world, joints);
}

// A turn is at most half a radian about each axis, which is as far as its linear equations hold. A
// longer one is shortened together with the move that belongs to it: a move alone would carry the
// body farther than its feet reach.
static MF_INLINE Shift limit_shift(const Shift *shift) {
    const mf_lane limit = mf_set((mf_real)0.5);
    mf_lane x = mf_abs(shift->rotation_vector.x), y = mf_abs(shift->rotation_vector.y),
            z = mf_abs(shift->rotation_vector.z);
    mf_lane most = mf_max(x, mf_max(y, z));
    mf_mask far = mf_less(limit, most);
    if (!mf_any(far))
        return *shift;
    mf_lane one = mf_set((mf_real)1);
    mf_lane scale = mf_select(far, limit / mf_select(far, most, one), one);
    return MF_VALUE(Shift, vec_scale(shift->move, scale), vec_scale(shift->rotation_vector, scale));
}

// Lanes in the air keep theirs to the bit, as they do when no other robot is in the batch.
static MF_INLINE void apply_shift(Step *s, Body *body, const Shift *target) {
    Shift shift = limit_shift(target);
    Vec low = s->low.com, com = vec_sum_plus(shift.move, body->com, &low);
    Quat attitude = quat_rotation(body->attitude, shift.rotation_vector);
    if (!mf_all(s->near)) {
        com = vec_select(s->near, com, body->com);
        low = vec_select(s->near, low, s->low.com);
        attitude = quat_select(s->near, attitude, body->attitude);
    }
    body->com = com;
    s->low.com = low;
    body->attitude = attitude;
}

// Remembers where a contact is now. One that the solver lets slide in part (coupled friction) keeps
// the stretch that its friction can bear.
static MF_INLINE void store_anchor(const Step *s, const Body *body, const Mat *rotation,
                                   const Contact *row) {
    Vec local = vec_load((const mf_real *)s->block->points, 3 * row->index);
    Vec position = mat_apply_add(rotation, local, body->com);
    mf_mask bears = mf_less(mf_zero(), row->press);
    if (s->plan->coupled) {
        mf_mask stays = mf_and(mf_less(mf_zero(), row->before), bears);
        Vec anchor = vec_load((const mf_real *)s->block->anchor, 3 * row->index);
        Vec left = vec_fma(vec_sub(anchor, position), s->hold[row - s->contacts.row], position);
        position = vec_select(stays, left, position);
    }
    keep_vec_where(s, bears, s->block->anchor, 3 * row->index, position);
}

#endif
