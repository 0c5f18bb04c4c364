// Dry friction of joints at the end of a step: a joint sticks where the friction that stops it by
// the end of the step is within +-F, and else F acts against its rate there. That is the projection
// of the impulse onto +-F h, for all joints and contacts together (Moreau 1988).
//
// Which joints stick is guessed first and corrected with the result, as for contacts and limits. A
// joint that sticks is locked: its acceleration is that which ends at rate 0, and it hands its
// link's whole inertia to its parent. A ball joint sticks as a whole; where it turns, F is against
// its rate at the beginning of the step.
//
// Where rows of the solver of couplings act, it does not know locked joints. There joints get the
// friction that was found as a force, and rows for what is missing (dry_rows in couple_dry.h).
#ifndef MF_MOTION_ARTICULATED_DRY_H
#define MF_MOTION_ARTICULATED_DRY_H

#include "motion/articulated/linkage.h"

typedef struct Dry {
    mf_mask sticks;
    mf_lane force; // [N m] or [N] of the friction; where it sticks, what held it
    // Of the last solution: the equation of the joint is
    //     inertia * acceleration + (angular, linear) . (those of the parent) = rest + friction
    mf_lane inertia, rest;
    Vec angular, linear;
} Dry;

typedef struct DryBall {
    mf_mask sticks;
    Vec force; // [N m]
    Sym inertia;
    Vec rest;
} DryBall;

// Rates below this are taken to be at rest at first.
static MF_INLINE Dry dry_start(mf_lane rate, mf_lane most, mf_lane creep) {
    const mf_lane zero = mf_zero();
    Dry dry = {.sticks = mf_less_equal(mf_abs(rate), creep),
               .inertia = zero,
               .rest = zero,
               .angular = vec_zero(),
               .linear = vec_zero()};
    dry.force = mf_keep(mf_not(dry.sticks), mf_select(mf_less(zero, rate), -most, most));
    return dry;
}

static MF_INLINE DryBall dry_ball_start(Vec rate, mf_lane most, mf_lane creep) {
    const mf_lane zero = mf_zero(), size = mf_sqrt(vec_dot(rate, rate));
    DryBall dry = {.sticks = mf_less_equal(size, creep),
                   .inertia = {zero, zero, zero, zero, zero, zero},
                   .rest = vec_zero()};
    dry.force = vec_keep(mf_not(dry.sticks), vec_scale(rate, -most / mf_max(size, creep)));
    return dry;
}

// Friction may be by rounding more than F, or it would start to slip without a cause.
static MF_INLINE mf_lane dry_most(mf_lane most) {
    return most * mf_set((mf_real)1 + 64 * MF_REAL_EPSILON);
}

// Corrects whether the joint sticks, from its acceleration and those of its parent (in its own
// axes). Returns the lanes in which that was wrong.
static MF_INLINE mf_mask dry_revise(Dry *dry, mf_lane most, mf_lane step, mf_lane rate,
                                    mf_lane acceleration, Vec angular, Vec linear) {
    const mf_lane back = vec_dot_add(dry->angular, angular, vec_dot(dry->linear, linear));
    const mf_lane hold = mf_fma(dry->inertia, acceleration, back) - dry->rest;
    const mf_mask slips = mf_less(dry_most(most), mf_abs(hold));
    const mf_mask drives = mf_less(mf_zero(), mf_fma(step, acceleration, rate) * dry->force);
    const mf_mask sticks =
        mf_or(mf_and(dry->sticks, mf_not(slips)), mf_and(mf_not(dry->sticks), drives));
    const mf_mask wrong = mf_differ(sticks, dry->sticks);
    dry->force = mf_select(dry->sticks, mf_clamp(hold, -most, most), dry->force);
    dry->sticks = sticks;
    return wrong;
}

static MF_INLINE mf_mask dry_ball_revise(DryBall *dry, mf_lane most, mf_lane step, Vec rate,
                                         Vec acceleration, Vec others) {
    const mf_lane one = mf_set((mf_real)1);
    const Vec hold = vec_sub(vec_add(sym_apply(&dry->inertia, acceleration), others), dry->rest);
    const mf_lane size = mf_sqrt(vec_dot(hold, hold));
    const mf_mask slips = mf_less(dry_most(most), size);
    const Vec end = vec_fma(acceleration, step, rate);
    const mf_mask drives = mf_less(mf_zero(), vec_dot(end, dry->force));
    const mf_mask sticks =
        mf_or(mf_and(dry->sticks, mf_not(slips)), mf_and(mf_not(dry->sticks), drives));
    const mf_mask wrong = mf_differ(sticks, dry->sticks);
    const mf_lane part = mf_select(slips, most / mf_select(slips, size, one), one);
    dry->force = vec_select(dry->sticks, vec_scale(hold, part), dry->force);
    dry->sticks = sticks;
    return wrong;
}

#endif
