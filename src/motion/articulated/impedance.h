// The impedance of a constraint in MuJoCo's words (softness.c): it rises with the depth along two
// parabolas or a straight line from its softest to its largest value.
#ifndef MF_MOTION_ARTICULATED_IMPEDANCE_H
#define MF_MOTION_ARTICULATED_IMPEDANCE_H

#include "math/lane.h"

// `c`: one over the depth [m] or [rad] at which it is largest, its value at depth 0, by how much it
// rises, and the part of the way where it turns, 0 for a straight line.
static MF_INLINE mf_lane impedance_at(const mf_real *c, mf_lane depth) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane distance = mf_clamp(depth * mf_set(c[0]), zero, one);
    if (c[3] > 0) {
        mf_lane middle = mf_set(c[3]), left = one - distance;
        distance = mf_select(mf_less(middle, distance), one - left * left / (one - middle),
                             distance * distance / middle);
    }
    return mf_fma(distance, mf_set(c[2]), mf_set(c[1]));
}

#endif
