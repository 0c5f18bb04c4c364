// The displacement that the ground asks for, by one friction model or the other, and what it does
// to the body and to the anchors of its contacts.
#ifndef MF_MOTION_POINTS_SOLVE_H
#define MF_MOTION_POINTS_SOLVE_H

#include "motion/points/coulomb.h"
#include "motion/points/coupled.h"
#include "motion/points/fit.h"
#include "motion/points/state.h"
#include "motion/points/support.h"

static MF_INLINE mf_lane fit_weight(const Step *s, uint32_t row) {
    mf_lane before = s->contacts.row[row].before;
    return s->plan->config.weighted ? before
                                    : mf_keep(mf_less(mf_zero(), before), mf_set((mf_real)1));
}

// The paper's fit over the contacts for which `in_both` holds; adds to `shift`.
static MF_INLINE Vec fit_friction(Step *s, const Body *body, const Shift *shift, bool joints) {
    Contacts *contacts = &s->contacts;
    mf_lane zero = mf_zero(), margin = mf_set(s->constant[MF_PLAN_MARGIN]);
    Fit fit = fit_start();
    for (uint32_t i = 0; i < contacts->count; i++) {
        if (!mf_any(mf_less(zero, contacts->row[i].before)))
            continue;
        mf_mask now = mf_less(zero, contacts->row[i].press);
        if (joints) {
            mf_lane above = contact_rise(shift, contacts->row[i].place) - contacts->row[i].depth;
            now = mf_less(above, margin);
        }
        Vec slip = contact_slip(s, body, i), place = contacts->row[i].place;
        mf_lane slip_x = slip.x - shift->turn.z * place.y + shift->turn.y * place.z;
        mf_lane slip_y = slip.y + shift->turn.z * place.x - shift->turn.x * place.z;
        fit_add(&fit, place, slip_x, slip_y, mf_keep(now, fit_weight(s, i)));
    }
    return fit_solve(&fit);
}

// A second round for joint updates: what the soft contacts still gave way is added to their depth,
// so that the points end at the surface and no penetration is left that would cost energy later.
static Shift lift_clear(Step *s, const Sym *inverse_world, mf_real softness, mf_real inverse_mass) {
    Contacts *contacts = &s->contacts;
    mf_lane given[MF_POINTS_MAX_CONTACTS];
    for (uint32_t i = 0; i < contacts->count; i++) {
        given[i] = contacts->row[i].press;
        contacts->row[i].depth = contacts->row[i].depth + given[i];
    }
    Shift shift = support_solve(contacts, inverse_world, softness, inverse_mass);
    for (uint32_t i = 0; i < contacts->count; i++)
        contacts->row[i].depth = contacts->row[i].depth - given[i];
    return shift;
}

static MF_INLINE Shift solve_fit(Step *s, const Body *body, const Sym *inverse_world, bool joints) {
    mf_real softness = s->constant[MF_PLAN_COMPLIANCE] * (joints ? (mf_real)0.01 : (mf_real)1);
    mf_real inverse_mass = s->constant[MF_PLAN_INVERSE_MASS];
    Shift shift = support_solve(&s->contacts, inverse_world, softness, inverse_mass);
    if (joints)
        shift = lift_clear(s, inverse_world, softness, inverse_mass);
    Vec fit = fit_friction(s, body, &shift, joints);
    shift.move.x = fit.x;
    shift.move.y = fit.y;
    shift.turn.z = shift.turn.z + fit.z;
    if (joints || !(s->constant[MF_PLAN_FRICTION] <= MF_REAL_MAX))
        return shift;
    mf_lane spin_mass = mf_set(s->constant[MF_PLAN_INVERSE_MASS]) / inverse_world->zz;
    Shift release = coulomb_release(s->plan, s->constant, &s->contacts, fit, spin_mass);
    shift.move = vec_add(shift.move, release.move);
    shift.turn.z = shift.turn.z + release.turn.z;
    return shift;
}

static Shift solve_coupled(Step *s, const Body *body, const Mat *turn, bool joints) {
    Contacts *contacts = &s->contacts;
    Sym inertia_world = sym_turn(turn, &body->inertia);
    mf_real softness = s->constant[MF_PLAN_COMPLIANCE] * (joints ? (mf_real)0.01 : (mf_real)1);
    // Weights by load have the mean 1 over the contacts that hold.
    mf_lane holding = mf_zero(), total = mf_zero(), one = mf_set((mf_real)1);
    for (uint32_t i = 0; i < contacts->count; i++) {
        mf_lane before = contacts->row[i].before;
        holding = holding + mf_keep(mf_less(mf_zero(), before), one);
        total = total + before;
    }
    mf_lane mean = holding / mf_select(mf_less(mf_zero(), total), total, one);
    for (uint32_t i = 0; i < contacts->count; i++) {
        mf_mask held = mf_less(mf_zero(), contacts->row[i].before);
        s->weight[i] = fit_weight(s, i);
        if (s->plan->config.weighted)
            s->weight[i] = s->weight[i] * mean;
        Vec slip = contact_slip(s, body, i);
        contacts->row[i].slip =
            (Vec){mf_keep(held, slip.x), mf_keep(held, slip.y), mf_keep(held, slip.z)};
    }
    return coupled_solve(s->plan, s->constant, contacts, &inertia_world, softness, s->weight,
                         s->hold);
}

static MF_INLINE Shift solve(Step *s, const Body *body, const Mat *turn, bool joints) {
    if (s->plan->config.friction == MF_FRICTION_COUPLED)
        return solve_coupled(s, body, turn, joints);
    Sym inverse_world = sym_turn(turn, &body->inverse);
    return solve_fit(s, body, &inverse_world, joints);
}

// Lanes in the air keep theirs to the bit, as they do when no other robot is in the batch.
static MF_INLINE void apply_shift(const Step *s, Body *body, const Shift *shift) {
    mf_lane limit = mf_set((mf_real)0.5), low = mf_set((mf_real)-0.5);
    Vec turn = {mf_clamp(shift->turn.x, low, limit), mf_clamp(shift->turn.y, low, limit),
                mf_clamp(shift->turn.z, low, limit)};
    body->com = vec_select(s->near, vec_add(body->com, shift->move), body->com);
    body->attitude = quat_select(s->near, quat_turn(body->attitude, turn), body->attitude);
}

// Remembers where the contacts are now. A contact that the solver lets slide in part (coupled
// friction) keeps the stretch that its friction can bear.
static MF_INLINE void store_anchor(const Step *s, const Body *body, const Mat *turn, uint32_t row) {
    uint32_t contact = s->contacts.row[row].index;
    Vec local = vec_load(s->block->points, 3 * contact);
    Vec place = vec_add(body->com, mat_apply(turn, local));
    if (s->plan->config.friction == MF_FRICTION_COUPLED) {
        mf_mask stays = mf_and(mf_less(mf_zero(), s->contacts.row[row].before),
                               mf_less(mf_zero(), s->contacts.row[row].press));
        Vec anchor = vec_load(s->block->anchor, 3 * contact);
        Vec slip = vec_scale(vec_sub(place, anchor), s->hold[row]);
        place = vec_select(stays, vec_sub(place, slip), place);
    }
    keep_vec_where(s, mf_less(mf_zero(), s->contacts.row[row].press), s->block->anchor, 3 * contact,
                   place);
}

#endif
