// The lanes that a step works on: loading, storing, and the parts of a quadrotor. Included by the
// kernel and its parts only.
#ifndef MF_MOTION_QUADROTOR_STATE_H
#define MF_MOTION_QUADROTOR_STATE_H

#include "math/lane_sum.h"
#include "motion/quadrotor/plan.h"

enum { ROTORS = 4 };

typedef struct Lanes {
    const mf_QuadrotorPlan *plan;
    const mf_QuadrotorFields *fields;
    const mf_real *constant;
    size_t block, lane; // where the lanes begin
    mf_mask alive;      // lanes without a fault
    bool all_alive;
} Lanes;

typedef struct Vehicle {
    Vec position, velocity; // world
    Quat attitude;          // body to world
    Vec rate;               // body axes
    mf_lane speed[ROTORS];
} Vehicle;

// Remainders of these sums (lane_sum.h). That of the position is there always, the others of brief
// steps only.
typedef struct Remainder {
    Vec position, velocity, rate;
    Quat attitude;
} Remainder;

static MF_INLINE mf_lane value_of(const Lanes *s, int constant) {
    return mf_set(s->constant[constant]);
}

// c - a b, rounded once.
static MF_INLINE mf_lane less_product(mf_lane a, mf_lane b, mf_lane c) {
    return mf_fma(-a, b, c);
}

// The rows of these lanes in a field with `components` values per agent.
static MF_INLINE mf_real *rows_of(const Lanes *s, void *field, size_t components) {
    return (mf_real *)field + s->block * components * MF_BLOCK + s->lane;
}
static MF_INLINE uint32_t *words_of(const Lanes *s, uint32_t *field) {
    return field + s->block * MF_BLOCK + s->lane;
}

// The remainders of these lanes; NULL: there are none.
static MF_INLINE mf_real *lows_of(const Lanes *s, void *field, size_t components) {
#if defined(MF_KERNEL_F64)
    (void)s, (void)field, (void)components;
    return NULL;
#else
    return field != NULL ? rows_of(s, field, components) : NULL;
#endif
}

// Frozen lanes keep what they have.
static MF_INLINE void keep_row(const Lanes *s, mf_real *rows, uint32_t c, mf_lane a) {
    if (s->all_alive)
        mf_store(rows + (size_t)c * MF_BLOCK, a);
    else
        mf_store_where(s->alive, rows + (size_t)c * MF_BLOCK, a);
}
static MF_INLINE void keep_three(const Lanes *s, mf_real *rows, Vec a) {
    keep_row(s, rows, 0, a.x);
    keep_row(s, rows, 1, a.y);
    keep_row(s, rows, 2, a.z);
}
static MF_INLINE void keep_four(const Lanes *s, mf_real *rows, Quat a) {
    keep_row(s, rows, 0, a.w);
    keep_row(s, rows, 1, a.x);
    keep_row(s, rows, 2, a.y);
    keep_row(s, rows, 3, a.z);
}

static MF_INLINE Vehicle load_vehicle(const Lanes *s) {
    const mf_real *q = rows_of(s, s->fields->orientation, 4);
    const mf_real *speed = rows_of(s, s->fields->speed, ROTORS);
    Vehicle vehicle;
    vehicle.position = vec_load(rows_of(s, s->fields->position, 3), 0);
    vehicle.velocity = vec_load(rows_of(s, s->fields->linear, 3), 0);
    vehicle.attitude =
        MF_VALUE(Quat, row_load(q, 0), row_load(q, 1), row_load(q, 2), row_load(q, 3));
    vehicle.rate = vec_load(rows_of(s, s->fields->angular, 3), 0);
    for (uint32_t i = 0; i < ROTORS; i++)
        vehicle.speed[i] = row_load(speed, i);
    return vehicle;
}

static MF_INLINE void load_remainder(const Lanes *s, bool brief, Remainder *low) {
    low->position = low_vec(lows_of(s, s->fields->position_low, 3), 0);
    if (!brief)
        return;
    low->velocity = low_vec(lows_of(s, s->fields->linear_low, 3), 0);
    low->attitude = low_quat(lows_of(s, s->fields->orientation_low, 4), 0);
    low->rate = low_vec(lows_of(s, s->fields->angular_low, 3), 0);
}

static MF_INLINE void store_remainder(const Lanes *s, bool brief, const Remainder *low) {
    mf_real *position = lows_of(s, s->fields->position_low, 3);
    if (position != NULL)
        keep_three(s, position, low->position);
    if (!brief)
        return;
    keep_four(s, lows_of(s, s->fields->orientation_low, 4), low->attitude);
    keep_three(s, lows_of(s, s->fields->linear_low, 3), low->velocity);
    keep_three(s, lows_of(s, s->fields->angular_low, 3), low->rate);
}

static MF_INLINE void store_vehicle(const Lanes *s, const Vehicle *vehicle) {
    mf_real *q = rows_of(s, s->fields->orientation, 4);
    mf_real *speed = rows_of(s, s->fields->speed, ROTORS);
    keep_three(s, rows_of(s, s->fields->position, 3), vehicle->position);
    keep_three(s, rows_of(s, s->fields->linear, 3), vehicle->velocity);
    keep_four(s, q, vehicle->attitude);
    keep_three(s, rows_of(s, s->fields->angular, 3), vehicle->rate);
    for (uint32_t i = 0; i < ROTORS; i++)
        keep_row(s, speed, i, vehicle->speed[i]);
}

// Adds `bit` to the fault word of the lanes in `bad`.
static void raise_fault(Lanes *s, mf_mask bad, uint32_t bit) {
    if (!mf_any(bad))
        return;
    int32_t *words = (int32_t *)words_of(s, s->fields->fault);
    mf_index word = mf_load_index(words);
    mf_store_index(words, mf_select_index(bad, word | mf_set_index((int32_t)bit), word));
    s->alive = mf_and(s->alive, mf_not(bad));
    s->all_alive = false;
}

#endif
