// Steps of the `points` motion (step.h) for robots of one body.
#include "motion/points/step.h"

#if defined(MF_KERNEL_F64)
#define CONSTANTS(plan) mf_points_plan_constants_f64(plan)
#else
#define CONSTANTS(plan) mf_points_plan_constants_f32(plan)
#endif

size_t MF_KERNEL(mf_points_scratch_size)(const mf_PointsPlan *plan) {
    Step s;
    s.plan = plan;
    carve_contacts(&s, NULL);
    return carve_rest(&s);
}

void MF_KERNEL(mf_points_step)(const mf_PointsBlock *block) {
    points_step(block, CONSTANTS(block->plan));
}
