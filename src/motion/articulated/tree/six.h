// The six equations of a free base.
#pragma once

#include "math/lane_functions.h"

// Solves the symmetric positive definite system m x = r in place by L D L^T.
static inline void solve_six(mf_lane m[6][6], mf_lane inverse[6], mf_lane r[6]) {
    for (int k = 0; k < 6; k++) {
        inverse[k] = mf_set((mf_real)1) / m[k][k];
        for (int i = k + 1; i < 6; i++) {
            mf_lane factor = m[i][k] * inverse[k];
            for (int j = k + 1; j <= i; j++)
                m[i][j] = mf_fma(-factor, m[j][k], m[i][j]);
            r[i] = mf_fma(-factor, r[k], r[i]);
        }
    }
    for (int k = 5; k >= 0; k--) {
        mf_lane sum = r[k];
        for (int i = k + 1; i < 6; i++)
            sum = mf_fma(-m[i][k], r[i], sum);
        r[k] = sum * inverse[k];
    }
}
