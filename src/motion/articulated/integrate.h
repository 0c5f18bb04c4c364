// Moving a state ahead by its velocities and accelerations.
#ifndef MF_MOTION_ARTICULATED_INTEGRATE_H
#define MF_MOTION_ARTICULATED_INTEGRATE_H

#include "motion/articulated/state.h"

// q turned by a constant rate [rad/s], body axes, for `step` [s]: exact.
static MF_INLINE Quat quat_spin(Quat q, Vec rate, mf_lane step) {
    const mf_lane half = mf_set((mf_real)0.5), one = mf_set((mf_real)1);
    Vec turn = vec_scale(rate, step * half);
    mf_lane square = vec_dot(turn, turn), angle = mf_sqrt(square), sine, cosine;
    sin_cos(angle, &sine, &cosine);
    // sin(a) / a, by its series near 0.
    mf_mask small = mf_less(square, mf_set((mf_real)1e-6));
    mf_lane series = mf_fma(square, mf_set((mf_real)(-1.0 / 6.0)), one);
    mf_lane ratio = mf_select(small, series, sine / mf_select(small, one, angle));
    turn = vec_scale(turn, ratio);
    return quat_normalize(quat_multiply(q, (Quat){cosine, turn.x, turn.y, turn.z}));
}

// Semi-implicit Euler: velocities first, positions with the new ones.
static inline void integrate_euler(const mf_ArtPlan *plan, State *state, const Rates *rates,
                                   mf_lane step) {
    if (!plan->fixed) {
        state->velocity = vec_fma(rates->linear, step, state->velocity);
        state->rate = vec_fma(rates->angular, step, state->rate);
        state->place = vec_fma(state->velocity, step, state->place);
        state->attitude = quat_spin(state->attitude, state->rate, step);
    }
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (plan->links[l].kind == MF_ART_BALL)
            continue;
        state->speed[l] = mf_fma(rates->joint[l], step, state->speed[l]);
        state->angle[l] = mf_fma(state->speed[l], step, state->angle[l]);
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        state->ball_rate[b] = vec_fma(rates->ball[b], step, state->ball_rate[b]);
        state->ball[b] = quat_spin(state->ball[b], state->ball_rate[b], step);
    }
}

// ---- Runge and Kutta ----------------------------------------------------------------------------

// Derivative of an attitude that turns with `rate` in its own axes.
static MF_INLINE Quat quat_rate(Quat q, Vec rate) {
    const mf_lane half = mf_set((mf_real)0.5);
    Vec w = vec_scale(rate, half);
    return quat_multiply(q, (Quat){mf_zero(), w.x, w.y, w.z});
}

static MF_INLINE Quat quat_fma(Quat a, mf_lane s, Quat b) {
    return (Quat){mf_fma(a.w, s, b.w), mf_fma(a.x, s, b.x), mf_fma(a.y, s, b.y),
                  mf_fma(a.z, s, b.z)};
}

// What changes a state: derivatives of its positions, and accelerations.
typedef struct Slope {
    Vec place;
    Quat attitude;
    Quat ball[MF_ARTICULATED_MAX_BALLS];
    mf_lane angle[MF_ARTICULATED_MAX_LINKS];
    Rates rates;
} Slope;

// out = from + step * slope; attitudes come out with length 1.
static inline void slope_apply(const mf_ArtPlan *plan, State *out, const State *from,
                               const Slope *slope, mf_lane step) {
    out->place = vec_fma(slope->place, step, from->place);
    out->attitude = quat_normalize(quat_fma(slope->attitude, step, from->attitude));
    out->velocity = vec_fma(slope->rates.linear, step, from->velocity);
    out->rate = vec_fma(slope->rates.angular, step, from->rate);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (plan->links[l].kind == MF_ART_BALL)
            continue;
        out->angle[l] = mf_fma(slope->angle[l], step, from->angle[l]);
        out->speed[l] = mf_fma(slope->rates.joint[l], step, from->speed[l]);
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        out->ball[b] = quat_normalize(quat_fma(slope->ball[b], step, from->ball[b]));
        out->ball_rate[b] = vec_fma(slope->rates.ball[b], step, from->ball_rate[b]);
    }
}

// sum = sum + weight * (slope of `state`, whose accelerations are given); weight 0: sum = slope.
static inline void slope_add(const mf_ArtPlan *plan, Slope *sum, const State *state,
                             const Rates *rates, mf_real weight) {
    const mf_lane w = mf_set(weight > 0 ? weight : (mf_real)1);
    const bool first = !(weight > 0);
    const Vec none = vec_zero();
    const Quat still = {mf_zero(), mf_zero(), mf_zero(), mf_zero()};
    sum->place = vec_fma(state->velocity, w, first ? none : sum->place);
    sum->attitude =
        quat_fma(quat_rate(state->attitude, state->rate), w, first ? still : sum->attitude);
    sum->rates.linear = vec_fma(rates->linear, w, first ? none : sum->rates.linear);
    sum->rates.angular = vec_fma(rates->angular, w, first ? none : sum->rates.angular);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (plan->links[l].kind == MF_ART_BALL)
            continue;
        sum->angle[l] = mf_fma(state->speed[l], w, first ? none.x : sum->angle[l]);
        sum->rates.joint[l] = mf_fma(rates->joint[l], w, first ? none.x : sum->rates.joint[l]);
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        sum->ball[b] = quat_fma(quat_rate(state->ball[b], state->ball_rate[b]), w,
                                first ? still : sum->ball[b]);
        sum->rates.ball[b] = vec_fma(rates->ball[b], w, first ? none : sum->rates.ball[b]);
    }
}

#endif
