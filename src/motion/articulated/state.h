// What the kernels compute on: the state of a few lanes in the plan's terms, and the constants.
#ifndef MF_MOTION_ARTICULATED_STATE_H
#define MF_MOTION_ARTICULATED_STATE_H

#include "motion/articulated/plan.h"
#include "motion/articulated/spatial.h"

#include <string.h>

#if defined(MF_KERNEL_F64)
#define MF_ART_CONSTANTS(plan) ((plan)->constants_f64)
#else
#define MF_ART_CONSTANTS(plan) ((plan)->constants_f32)
#endif

typedef struct State {
    Vec place;                               // [m] base origin, world
    Quat attitude;                           // [1] base to world
    Vec velocity;                            // [m/s] of the base origin, world axes
    Vec rate;                                // [rad/s] body axes
    mf_lane angle[MF_ARTICULATED_MAX_LINKS]; // [rad] or [m] hinges and slides
    mf_lane speed[MF_ARTICULATED_MAX_LINKS]; // [rad/s] or [m/s]
    Quat ball[MF_ARTICULATED_MAX_BALLS];     // [1] child to joint
    Vec ball_rate[MF_ARTICULATED_MAX_BALLS]; // [rad/s] child's axes
} State;

// Accelerations or forces in the same terms.
typedef struct Rates {
    Vec linear;  // world axes
    Vec angular; // body axes
    mf_lane joint[MF_ARTICULATED_MAX_LINKS];
    Vec ball[MF_ARTICULATED_MAX_BALLS];
} Rates;

// What a plan uses of them: all of it is as large as a processor's nearest memory.
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
    return (Vec){mf_set(c[0]), mf_set(c[1]), mf_set(c[2])};
}
static MF_INLINE Sym sym_constant(const mf_real *c) {
    return (Sym){mf_set(c[0]), mf_set(c[1]), mf_set(c[2]),
                 mf_set(c[3]), mf_set(c[4]), mf_set(c[5])};
}
static MF_INLINE Mat mat_constant(const mf_real *c) {
    return (Mat){mf_set(c[0]), mf_set(c[1]), mf_set(c[2]), mf_set(c[3]), mf_set(c[4]),
                 mf_set(c[5]), mf_set(c[6]), mf_set(c[7]), mf_set(c[8])};
}
// Against gravity, in world axes and in those of a body.
static MF_INLINE Vec up_in_world(const mf_ArtPlan *plan) {
    return vec_constant(MF_ART_CONSTANTS(plan) + MF_ART_ZENITH);
}
static MF_INLINE Vec up_of(const mf_ArtPlan *plan, const Mat *turn) {
    if (plan->upright)
        return (Vec){turn->zx, turn->zy, turn->zz};
    return mat_apply_transposed(turn, up_in_world(plan));
}
static MF_INLINE Vec vec_zero(void) {
    return (Vec){mf_zero(), mf_zero(), mf_zero()};
}
static MF_INLINE Vec vec_negative(Vec a) {
    return (Vec){-a.x, -a.y, -a.z};
}
static MF_INLINE Mat mat_multiply(const Mat *a, const Mat *b) {
    Vec x = mat_apply(a, (Vec){b->xx, b->yx, b->zx});
    Vec y = mat_apply(a, (Vec){b->xy, b->yy, b->zy});
    Vec z = mat_apply(a, (Vec){b->xz, b->yz, b->zz});
    return (Mat){x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
}
static MF_INLINE Quat quat_unit(void) {
    return (Quat){mf_set((mf_real)1), mf_zero(), mf_zero(), mf_zero()};
}

#endif
