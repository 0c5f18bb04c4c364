// Gusts by the Dryden model for a block of lanes: Beard and McLain (2012), section 4.4, after
// MIL-F-8785C. With a = V / L and white noise of unit density
//
//   forward  sigma sqrt(2 a) / (s + a)        left, up  sigma sqrt(3 a) (s + a / sqrt 3) / (s +
//   a)^2
//
// whose outputs have the variance sigma^2. Both are stepped exactly in time as two first-order
// filters in a row; mf_wing_gusts() makes the constants so that the sampled output keeps the
// variance. The noise of an agent depends on seed, instance, stream and tick alone.
//
// Included by the kernel only.
#ifndef MF_MOTION_FIXED_WING_GUST_H
#define MF_MOTION_FIXED_WING_GUST_H

#include "math/lane_random.h"
#include "motion/fixed_wing/aero.h"

enum { GUST_STATES = 5 }; // forward 1, left 2, up 2

typedef struct Gust {
    mf_lane state[GUST_STATES]; // [1]
    Vec velocity;               // [m/s] body axes
} Gust;

static MF_INLINE mf_lane gust_axis(const mf_real *c, mf_lane *first, mf_lane *second,
                                   mf_lane noise) {
    mf_lane keep = set(c, MF_WING_GUST_KEEP), was = *first;
    *first = mf_fma(was, keep, noise * set(c, MF_WING_GUST_NOISE1));
    *second = mf_fma(*second, keep,
                     mf_fma(was, set(c, MF_WING_GUST_PASS), noise * set(c, MF_WING_GUST_NOISE2)));
    return mf_fma(*first, set(c, MF_WING_GUST_OUT1), *second * set(c, MF_WING_GUST_OUT2));
}

static void gust_step(Gust *gust, const mf_real *c, const mf_WingBlock *block) {
    mf_lane noise[4], none = mf_zero();
    mf_normal_lanes(block->plan->seed, block->instance, block->plan->stream, block->tick, noise);
    const mf_real *axis = c + MF_WING_GUST;
    gust->velocity.x = gust_axis(axis, &gust->state[0], &none, noise[0]);
    axis += MF_WING_GUST_VALUES;
    gust->velocity.y = gust_axis(axis, &gust->state[1], &gust->state[2], noise[1]);
    axis += MF_WING_GUST_VALUES;
    gust->velocity.z = gust_axis(axis, &gust->state[3], &gust->state[4], noise[2]);
}

#endif
