// Static friction by least squares (Fischer and Ihme 2024, equations 1-6): the displacement
// (a1, a2) and the yaw a3 that bring the points in contact in both time steps closest to where they
// were, after the first-order expansion of the rotation:
//     minimize sum_i w_i |slip_i + a + a3 (-y_i, x_i)|^2.
// Taken about the weighted centroid the three equations decouple. One contact gives a displacement
// only; none gives none; points in one position fix no yaw.
#pragma once

#include "motion/points/contacts.h"

typedef struct Fit {
    mf_lane weight, x, y, square, slip_x, slip_y, cross;
} Fit;

static MF_INLINE Fit fit_start(void) {
    mf_lane zero = mf_zero();
    return MF_VALUE(Fit, zero, zero, zero, zero, zero, zero, zero);
}

// One contact where the mask holds.
static MF_INLINE void fit_add_where(Fit *fit, mf_mask mask, Vec position, mf_lane slip_x,
                                    mf_lane slip_y) {
    mf_lane x = position.x, y = position.y;
    fit->weight = mf_add_where(mask, fit->weight, mf_set((mf_real)1));
    fit->x = mf_add_where(mask, fit->x, x);
    fit->y = mf_add_where(mask, fit->y, y);
    fit->square = mf_fma_where(mask, x, x, mf_fma_where(mask, y, y, fit->square));
    fit->slip_x = mf_add_where(mask, fit->slip_x, slip_x);
    fit->slip_y = mf_add_where(mask, fit->slip_y, slip_y);
    fit->cross = mf_fma_where(mask, x, slip_y, mf_fma_where(mask, -y, slip_x, fit->cross));
}

static MF_INLINE void fit_add(Fit *fit, Vec position, mf_lane slip_x, mf_lane slip_y,
                              mf_lane weight) {
    mf_lane x = weight * position.x, y = weight * position.y;
    fit->weight = fit->weight + weight;
    fit->x = fit->x + x;
    fit->y = fit->y + y;
    fit->square = mf_fma(x, position.x, mf_fma(y, position.y, fit->square));
    fit->slip_x = mf_fma(weight, slip_x, fit->slip_x);
    fit->slip_y = mf_fma(weight, slip_y, fit->slip_y);
    fit->cross = mf_fma(x, slip_y, mf_fma(-y, slip_x, fit->cross));
}

// (a1, a2, a3). The yaw of one step is limited to half a radian, where the expansion still holds.
static MF_INLINE Vec fit_solve(const Fit *fit) {
    mf_lane one = mf_set((mf_real)1), zero = mf_zero(), limit = mf_set((mf_real)0.5);
    mf_mask any = mf_less(zero, fit->weight);
    mf_lane inverse = one / mf_select(any, fit->weight, one);
    // Spread and twist about the centroid, times the weight, so that the two divisions are
    // independent.
    mf_lane whole = fit->square * fit->weight;
    mf_lane spread = mf_fma(-fit->x, fit->x, mf_fma(-fit->y, fit->y, whole));
    mf_mask wide = mf_less(whole * mf_set(64 * MF_REAL_EPSILON), spread);
    mf_lane torsion =
        mf_fma(fit->cross, fit->weight, mf_fma(fit->y, fit->slip_x, -(fit->x * fit->slip_y)));
    mf_lane yaw = mf_keep(wide, -torsion / mf_select(wide, spread, one));
    mf_lane cx = fit->x * inverse, cy = fit->y * inverse;
    yaw = mf_clamp(yaw, zero - limit, limit);
    mf_lane a1 = mf_fma(yaw, cy, -(fit->slip_x * inverse));
    mf_lane a2 = mf_fma(-yaw, cx, -(fit->slip_y * inverse));
    return MF_VALUE(Vec, mf_keep(any, a1), mf_keep(any, a2), yaw);
}
