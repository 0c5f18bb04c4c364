// The height map seen by lanes: the convention of terrain/lookup.h.
#ifndef MF_MOTION_POINTS_GROUND_H
#define MF_MOTION_POINTS_GROUND_H

#include "motion/points/plan.h"
#include "motion/points/vector.h"

#if defined(MF_KERNEL_F64)
#define MF_PLAN_CONSTANTS(plan) ((plan)->constants_f64)
#define MF_HEIGHTS(terrain) ((terrain)->height_f64)
#else
#define MF_PLAN_CONSTANTS(plan) ((plan)->constants_f32)
#define MF_HEIGHTS(terrain) ((terrain)->height_f32)
#endif

// `value` in [0, last]; NaN gives 0.
static inline mf_lane ground_clamp(mf_lane value, mf_lane last) {
    return mf_min(mf_max(value, mf_zero()), last);
}

static inline mf_lane ground_nearest(const mf_PointsPlan *plan, const mf_real *constant, mf_lane x,
                                     mf_lane y) {
    mf_lane scale = mf_set(constant[MF_PLAN_INVERSE_CELL]);
    mf_lane column = ground_clamp((x - mf_set(constant[MF_PLAN_ORIGIN_X])) * scale,
                                  mf_set(constant[MF_PLAN_LAST_COLUMN]));
    mf_lane row = ground_clamp((y - mf_set(constant[MF_PLAN_ORIGIN_Y])) * scale,
                               mf_set(constant[MF_PLAN_LAST_ROW]));
    mf_index width = mf_set_index((int32_t)plan->terrain->columns);
    mf_index index = mf_to_index(row) * width + mf_to_index(column);
    return mf_gather(MF_HEIGHTS(plan->terrain), index);
}

typedef struct GroundSpan {
    mf_index index, next;
    mf_lane fraction, inside;
} GroundSpan;

static inline GroundSpan ground_span(mf_lane value, mf_real last) {
    mf_lane at = value - mf_set((mf_real)0.5), clamped = ground_clamp(at, mf_set(last));
    mf_lane lower = mf_from_index(mf_to_index(clamped));
    mf_real highest_lower = last > 0 ? last - 1 : 0;
    lower = mf_min(lower, mf_set(highest_lower));
    mf_mask inside = mf_and(mf_less_equal(at, clamped), mf_less_equal(clamped, at));
    return (GroundSpan){mf_to_index(lower), mf_set_index(last > 0), clamped - lower,
                        mf_keep(inside, mf_set((mf_real)1))};
}

// Height, and the unit normal of the bilinear surface.
static inline mf_lane ground_bilinear(const mf_PointsPlan *plan, const mf_real *constant, mf_lane x,
                                      mf_lane y, Vec *normal) {
    const mf_real *heights = MF_HEIGHTS(plan->terrain);
    mf_lane scale = mf_set(constant[MF_PLAN_INVERSE_CELL]), one = mf_set((mf_real)1);
    GroundSpan across = ground_span((x - mf_set(constant[MF_PLAN_ORIGIN_X])) * scale,
                                    constant[MF_PLAN_LAST_COLUMN]);
    GroundSpan along = ground_span((y - mf_set(constant[MF_PLAN_ORIGIN_Y])) * scale,
                                   constant[MF_PLAN_LAST_ROW]);
    mf_index width = mf_set_index((int32_t)plan->terrain->columns);
    mf_index low = along.index * width + across.index, high = low + along.next * width;
    mf_lane low_first = mf_gather(heights, low), high_first = mf_gather(heights, high);
    mf_lane low_rise = mf_gather(heights, low + across.next) - low_first;
    mf_lane high_rise = mf_gather(heights, high + across.next) - high_first;
    mf_lane low_height = low_first + across.fraction * low_rise;
    mf_lane high_height = high_first + across.fraction * high_rise;
    mf_lane rise = high_height - low_height;
    mf_lane slope_x =
        (low_rise + along.fraction * (high_rise - low_rise)) * scale * across.inside;
    mf_lane slope_y = rise * scale * along.inside;
    mf_lane length = one / mf_sqrt(one + slope_x * slope_x + slope_y * slope_y);
    *normal = (Vec){mf_zero() - slope_x * length, mf_zero() - slope_y * length, length};
    return low_height + along.fraction * rise;
}

#endif
