// The ground below a point (terrain/lookup_lane.h).
#ifndef MF_MOTION_POINTS_GROUND_H
#define MF_MOTION_POINTS_GROUND_H

#include "motion/points/plan.h"
#include "motion/points/vector.h"
#include "terrain/lookup_lane.h"

#if defined(MF_KERNEL_F64)
#define MF_PLAN_CONSTANTS(plan) mf_points_plan_constants_f64(plan)
#else
#define MF_PLAN_CONSTANTS(plan) mf_points_plan_constants_f32(plan)
#endif

// Height [m] and, where the ground slopes, the unit normal. `map` is not read where the ground is
// level.
static MF_INLINE mf_lane ground_at(const mf_PointsPlan *plan, const mf_LaneMap *map,
                                   const mf_real *constant, mf_lane x, mf_lane y, Vec *normal) {
    if (plan->level)
        return mf_set(constant[MF_PLAN_HIGHEST]);
    mf_lane slope_x, slope_y, one = mf_set((mf_real)1);
    mf_lane height = mf_map_surface(map, x, y, &slope_x, &slope_y);
    if (plan->slopes) {
        mf_lane length = one / mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
        *normal = MF_VALUE(Vec, -(slope_x * length), -(slope_y * length), length);
    }
    return height;
}

#endif
