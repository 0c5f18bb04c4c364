// The ground below a point: terrain/lookup_lane.h with the numbers of a plan.
#ifndef MF_MOTION_POINTS_GROUND_H
#define MF_MOTION_POINTS_GROUND_H

#include "motion/points/plan.h"
#include "motion/points/vector.h"
#include "terrain/lookup_lane.h"

#if defined(MF_KERNEL_F64)
#define MF_PLAN_CONSTANTS(plan) mf_points_plan_constants_f64(plan)
#define MF_PLAN_HEIGHTS(terrain) mf_terrain_image_heights_f64(terrain)
#else
#define MF_PLAN_CONSTANTS(plan) mf_points_plan_constants_f32(plan)
#define MF_PLAN_HEIGHTS(terrain) mf_terrain_image_heights_f32(terrain)
#endif

// Height [m] and, where the ground slopes, the unit normal; `heights` are the ground's.
static MF_INLINE mf_lane ground_at(const mf_PointsPlan *plan, const mf_real *heights,
                                   const mf_real *constant, mf_lane x, mf_lane y, Vec *normal) {
    if (plan->level)
        return mf_set(constant[MF_PLAN_HIGHEST]);
    const mf_LaneMap map = {.height = heights,
                            .columns = (int32_t)plan->columns,
                            .last = {constant[MF_PLAN_LAST_COLUMN], constant[MF_PLAN_LAST_ROW]},
                            .origin = {constant[MF_PLAN_ORIGIN_X], constant[MF_PLAN_ORIGIN_Y]},
                            .inverse_cell = constant[MF_PLAN_INVERSE_CELL],
                            .bilinear = plan->slopes,
                            .ends = plan->ends};
    mf_lane slope_x, slope_y, one = mf_set((mf_real)1);
    mf_lane height = mf_map_surface(&map, x, y, &slope_x, &slope_y);
    if (map.bilinear) {
        mf_lane length = one / mf_sqrt(mf_fma(slope_x, slope_x, mf_fma(slope_y, slope_y, one)));
        *normal = MF_VALUE(Vec, -(slope_x * length), -(slope_y * length), length);
    }
    return height;
}

#endif
