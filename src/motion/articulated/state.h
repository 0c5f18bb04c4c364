// What the kernels compute on: the state of a few lanes in the plan's terms, and the constants.
#ifndef MF_MOTION_ARTICULATED_STATE_H
#define MF_MOTION_ARTICULATED_STATE_H

#include "math/carve.h"
#include "math/lane_sum.h"
#include "motion/articulated/plan.h"
#include "motion/articulated/spatial.h"

#include <string.h>

#if defined(MF_KERNEL_F64)
#define MF_ART_CONSTANTS(plan) mf_art_constants_f64(plan)
#else
#define MF_ART_CONSTANTS(plan) mf_art_constants_f32(plan)
#endif

typedef struct State {
    Vec position;   // [m] base origin, world
    Quat attitude;  // [1] base to world
    Vec velocity;   // [m/s] of the base origin, world axes
    Vec rate;       // [rad/s] body axes
    mf_lane *angle; // [rad] or [m] hinges and slides, per plan link
    mf_lane *speed; // [rad/s] or [m/s] likewise
    Quat *ball;     // [1] child to joint, per ball joint
    Vec *ball_rate; // [rad/s] child's axes
} State;

// What sums have lost to rounding is of the same type as the state whose sums they are; in comments
// and names it is `low` (math/lane_sum.h).

// Gives a state its arrays.
static inline void state_carve(const mf_ArtPlan *plan, mf_Carver *carver, State *state) {
    MF_CARVE(carver, state->angle, plan->link_count);
    MF_CARVE(carver, state->speed, plan->link_count);
    MF_CARVE(carver, state->ball, plan->ball_count);
    MF_CARVE(carver, state->ball_rate, plan->ball_count);
}

// Between states that have their arrays.
static inline void state_copy(const mf_ArtPlan *plan, const State *from, State *to) {
    to->position = from->position;
    to->attitude = from->attitude;
    to->velocity = from->velocity;
    to->rate = from->rate;
    memcpy(to->angle, from->angle, plan->link_count * sizeof *to->angle);
    memcpy(to->speed, from->speed, plan->link_count * sizeof *to->speed);
    memcpy(to->ball, from->ball, plan->ball_count * sizeof *to->ball);
    memcpy(to->ball_rate, from->ball_rate, plan->ball_count * sizeof *to->ball_rate);
}

// Zeros, also instead of unit quaternions.
static inline void state_clear(const mf_ArtPlan *plan, State *state) {
    memset(&state->position, 0, sizeof state->position);
    memset(&state->attitude, 0, sizeof state->attitude);
    memset(&state->velocity, 0, sizeof state->velocity);
    memset(&state->rate, 0, sizeof state->rate);
    memset(state->angle, 0, plan->link_count * sizeof *state->angle);
    memset(state->speed, 0, plan->link_count * sizeof *state->speed);
    memset(state->ball, 0, plan->ball_count * sizeof *state->ball);
    memset(state->ball_rate, 0, plan->ball_count * sizeof *state->ball_rate);
}

// Accelerations or forces in the same terms.
typedef struct Rates {
    Vec linear;     // world axes
    Vec angular;    // body axes
    mf_lane *joint; // per plan link
    Vec *ball;      // per ball joint
} Rates;

static inline void rates_carve(const mf_ArtPlan *plan, mf_Carver *carver, Rates *rates) {
    MF_CARVE(carver, rates->joint, plan->link_count);
    MF_CARVE(carver, rates->ball, plan->ball_count);
}

static inline void rates_copy(const mf_ArtPlan *plan, const Rates *from, Rates *to) {
    to->linear = from->linear;
    to->angular = from->angular;
    memcpy(to->joint, from->joint, plan->link_count * sizeof *to->joint);
    memcpy(to->ball, from->ball, plan->ball_count * sizeof *to->ball);
}

static MF_INLINE const mf_real *link_constants(const mf_ArtPlan *plan, uint32_t link) {
    return MF_ART_CONSTANTS(plan) + plan->link_offset + (size_t)link * MF_ART_LINK_VALUES;
}
static MF_INLINE const mf_real *base_constants(const mf_ArtPlan *plan) {
    return MF_ART_CONSTANTS(plan) + MF_ART_SETTINGS;
}
static MF_INLINE mf_lane setting(const mf_ArtPlan *plan, uint32_t which) {
    return mf_set(MF_ART_CONSTANTS(plan)[which]);
}
static MF_INLINE Vec vec_constant(const mf_real *c) {
    return MF_VALUE(Vec, mf_set(c[0]), mf_set(c[1]), mf_set(c[2]));
}
static MF_INLINE Sym sym_constant(const mf_real *c) {
    return MF_VALUE(Sym, mf_set(c[0]), mf_set(c[1]), mf_set(c[2]), mf_set(c[3]), mf_set(c[4]),
                    mf_set(c[5]));
}
static MF_INLINE Mat mat_constant(const mf_real *c) {
    return MF_VALUE(Mat, mf_set(c[0]), mf_set(c[1]), mf_set(c[2]), mf_set(c[3]), mf_set(c[4]),
                    mf_set(c[5]), mf_set(c[6]), mf_set(c[7]), mf_set(c[8]));
}
// Against gravity, in world axes and in those of a body.
static MF_INLINE Vec up_in_world(const mf_ArtPlan *plan) {
    return vec_constant(MF_ART_CONSTANTS(plan) + MF_ART_ZENITH);
}
static MF_INLINE Vec up_of(const mf_ArtPlan *plan, const Mat *rotation) {
    if (plan->upright)
        return MF_VALUE(Vec, rotation->zx, rotation->zy, rotation->zz);
    return mat_apply_transposed(rotation, up_in_world(plan));
}
static MF_INLINE Vec vec_zero(void) {
    return MF_VALUE(Vec, mf_zero(), mf_zero(), mf_zero());
}
static MF_INLINE Vec vec_negative(Vec a) {
    return MF_VALUE(Vec, -a.x, -a.y, -a.z);
}
static MF_INLINE Mat mat_multiply(const Mat *a, const Mat *b) {
    Vec x = mat_apply(a, MF_VALUE(Vec, b->xx, b->yx, b->zx));
    Vec y = mat_apply(a, MF_VALUE(Vec, b->xy, b->yy, b->zy));
    Vec z = mat_apply(a, MF_VALUE(Vec, b->xz, b->yz, b->zz));
    return MF_VALUE(Mat, x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z);
}
static MF_INLINE Quat quat_unit(void) {
    return MF_VALUE(Quat, mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero());
}

#endif
