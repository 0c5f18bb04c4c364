// Making and freeing plans; the rest of plan.h is for the kernels.
#ifndef MF_MOTION_POINTS_BUILD_H
#define MF_MOTION_POINTS_BUILD_H

#include "motion/points/plan.h"

mf_Status mf_points_plan_create(mf_Group *group, const mf_PointsConfig *config, mf_PointsPlan **out,
                                mf_Error *error);
void mf_points_plan_destroy(mf_Context *context, mf_PointsPlan *plan); // NULL is fine

#endif
