// Moving a state ahead by its velocities and accelerations.
#pragma once

#include "motion/articulated/state.h"

// How much q changes when it is rotated by a constant rate [rad/s], body axes, for `step` [s]:
// exact, also where that is far less than the last digit of q.
static MF_INLINE Quat quat_change(Quat q, Vec rate, mf_lane step) {
    const mf_lane half = mf_set((mf_real)0.5), one = mf_set((mf_real)1);
    Vec rotation_vector = vec_scale(rate, step * half);
    mf_lane square = vec_dot(rotation_vector, rotation_vector), angle = mf_sqrt(square), sine,
            cosine;
    sin_cos(half * angle, &sine, &cosine);
    // sin(a) / a, by its series near 0, and cos(a) - 1 = -2 sin^2(a / 2).
    mf_mask small = mf_less(square, mf_set((mf_real)1e-6));
    mf_lane twice = sine + sine, series = mf_fma(square, mf_set((mf_real)(-1.0 / 6.0)), one);
    mf_lane ratio = mf_select(small, series, twice * cosine / mf_select(small, one, angle));
    rotation_vector = vec_scale(rotation_vector, ratio);
    return quat_multiply(q, MF_VALUE(Quat, -(twice * sine), rotation_vector.x, rotation_vector.y,
                                     rotation_vector.z));
}

static MF_INLINE Quat quat_zero(void) {
    return MF_VALUE(Quat, mf_zero(), mf_zero(), mf_zero(), mf_zero());
}

// q after that.
static MF_INLINE Quat quat_integrate(Quat q, Vec rate, mf_lane step) {
    Quat low = quat_zero();
    return quat_sum_plus(quat_change(q, rate, step), q, &low);
}

// Semi-implicit Euler: velocities first, positions with the new ones.
static inline void integrate_euler(const mf_ArtPlan *plan, State *state, State *low,
                                   const Rates *rates, mf_lane step) {
    if (!plan->fixed) {
        state->velocity = vec_sum_fma(rates->linear, step, state->velocity, &low->velocity);
        state->rate = vec_sum_fma(rates->angular, step, state->rate, &low->rate);
        state->position = vec_sum_fma(state->velocity, step, state->position, &low->position);
        state->attitude = quat_sum_plus(quat_change(state->attitude, state->rate, step),
                                        state->attitude, &low->attitude);
    }
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (links[l].kind == MF_ART_BALL)
            continue;
        state->speed[l] = sum_fma(rates->joint[l], step, state->speed[l], &low->speed[l]);
        state->angle[l] = sum_fma(state->speed[l], step, state->angle[l], &low->angle[l]);
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        state->ball_rate[b] =
            vec_sum_fma(rates->ball[b], step, state->ball_rate[b], &low->ball_rate[b]);
        state->ball[b] = quat_sum_plus(quat_change(state->ball[b], state->ball_rate[b], step),
                                       state->ball[b], &low->ball[b]);
    }
}

// ---- Runge and Kutta ----------------------------------------------------------------------------

// Derivative of an attitude that turns with `rate` in its own axes.
static MF_INLINE Quat quat_rate(Quat q, Vec rate) {
    const mf_lane half = mf_set((mf_real)0.5);
    Vec w = vec_scale(rate, half);
    return quat_multiply(q, MF_VALUE(Quat, mf_zero(), w.x, w.y, w.z));
}

static MF_INLINE Quat quat_fma(Quat a, mf_lane s, Quat b) {
    return MF_VALUE(Quat, mf_fma(a.w, s, b.w), mf_fma(a.x, s, b.x), mf_fma(a.y, s, b.y),
                    mf_fma(a.z, s, b.z));
}

// What changes a state: rates of its positions, and accelerations. Attitudes are turned from where
// they were at the beginning of the step, and what is summed is the rate of that turn
// (Munthe-Kaas 1998), so that they are as exact as the rest.
typedef struct Slope {
    Vec position;
    Vec angular, *ball_rate; // [rad/s] own axes
    mf_lane *angle;
    Rates rates;
} Slope;

static inline void slope_carve(const mf_ArtPlan *plan, mf_Carver *carver, Slope *slope) {
    MF_CARVE(carver, slope->ball_rate, plan->ball_count);
    MF_CARVE(carver, slope->angle, plan->link_count);
    rates_carve(plan, carver, &slope->rates);
}

// out = from + step * slope.
static inline void slope_apply(const mf_ArtPlan *plan, State *out, const State *from,
                               const Slope *slope, mf_lane step) {
    out->position = vec_fma(slope->position, step, from->position);
    out->attitude = quat_integrate(from->attitude, slope->angular, step);
    out->velocity = vec_fma(slope->rates.linear, step, from->velocity);
    out->rate = vec_fma(slope->rates.angular, step, from->rate);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (links[l].kind == MF_ART_BALL)
            continue;
        out->angle[l] = mf_fma(slope->angle[l], step, from->angle[l]);
        out->speed[l] = mf_fma(slope->rates.joint[l], step, from->speed[l]);
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        out->ball[b] = quat_integrate(from->ball[b], slope->ball_rate[b], step);
        out->ball_rate[b] = vec_fma(slope->rates.ball[b], step, from->ball_rate[b]);
    }
}

// The same, of a state with its remainders.
static inline void slope_apply_sums(const mf_ArtPlan *plan, State *state, State *low,
                                    const Slope *slope, mf_lane step) {
    state->position = vec_sum_fma(slope->position, step, state->position, &low->position);
    state->attitude = quat_sum_plus(quat_change(state->attitude, slope->angular, step),
                                    state->attitude, &low->attitude);
    state->velocity = vec_sum_fma(slope->rates.linear, step, state->velocity, &low->velocity);
    state->rate = vec_sum_fma(slope->rates.angular, step, state->rate, &low->rate);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (links[l].kind == MF_ART_BALL)
            continue;
        state->angle[l] = sum_fma(slope->angle[l], step, state->angle[l], &low->angle[l]);
        state->speed[l] = sum_fma(slope->rates.joint[l], step, state->speed[l], &low->speed[l]);
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        state->ball[b] = quat_sum_plus(quat_change(state->ball[b], slope->ball_rate[b], step),
                                       state->ball[b], &low->ball[b]);
        state->ball_rate[b] =
            vec_sum_fma(slope->rates.ball[b], step, state->ball_rate[b], &low->ball_rate[b]);
    }
}

// Rate of the rotation u at which the body turns with `rate`, own axes: rate + u x rate / 2 +
// u x (u x rate) / 12, the inverse of the exponential's derivative up to the fourth order.
static MF_INLINE Vec rotation_rate(Vec rotated, Vec rate) {
    Vec across = vec_cross(rotated, rate);
    rate = vec_fma(vec_cross(rotated, across), mf_set((mf_real)(1.0 / 12.0)), rate);
    return vec_fma(across, mf_set((mf_real)0.5), rate);
}

// The slope of a state with these accelerations that was reached from the beginning by
// `distance` [s] times `slope` as it is; `first`: the state is the beginning.
static inline void slope_find(const mf_ArtPlan *plan, Slope *slope, const State *state,
                              const Rates *rates, bool first, mf_lane distance) {
    slope->position = state->velocity;
    slope->angular =
        first ? state->rate : rotation_rate(vec_scale(slope->angular, distance), state->rate);
    slope->rates.linear = rates->linear;
    slope->rates.angular = rates->angular;
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (links[l].kind == MF_ART_BALL)
            continue;
        slope->angle[l] = state->speed[l];
        slope->rates.joint[l] = rates->joint[l];
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        const Vec rate = state->ball_rate[b];
        slope->ball_rate[b] =
            first ? rate : rotation_rate(vec_scale(slope->ball_rate[b], distance), rate);
        slope->rates.ball[b] = rates->ball[b];
    }
}

static MF_INLINE Vec vec_sum(bool first, Vec sum, Vec more, mf_lane weight) {
    return first ? more : vec_fma(more, weight, sum);
}

// sum = sum + weight * slope; `first`: sum = slope.
static inline void slope_add(const mf_ArtPlan *plan, Slope *sum, const Slope *slope, bool first,
                             mf_lane weight) {
    sum->position = vec_sum(first, sum->position, slope->position, weight);
    sum->angular = vec_sum(first, sum->angular, slope->angular, weight);
    sum->rates.linear = vec_sum(first, sum->rates.linear, slope->rates.linear, weight);
    sum->rates.angular = vec_sum(first, sum->rates.angular, slope->rates.angular, weight);
    const mf_ArtLink *links = mf_art_links(plan);
    for (uint32_t l = 0; l < plan->link_count; l++) {
        if (links[l].kind == MF_ART_BALL)
            continue;
        const mf_lane angle = slope->angle[l], joint = slope->rates.joint[l];
        sum->angle[l] = first ? angle : mf_fma(angle, weight, sum->angle[l]);
        sum->rates.joint[l] = first ? joint : mf_fma(joint, weight, sum->rates.joint[l]);
    }
    for (uint32_t b = 0; b < plan->ball_count; b++) {
        sum->ball_rate[b] = vec_sum(first, sum->ball_rate[b], slope->ball_rate[b], weight);
        sum->rates.ball[b] = vec_sum(first, sum->rates.ball[b], slope->rates.ball[b], weight);
    }
}
