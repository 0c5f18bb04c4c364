// The copies of the `points` kernel.
#ifndef MF_MOTION_POINTS_STEP_H
#define MF_MOTION_POINTS_STEP_H

#include "math/kernel.h"
#include "motion/points/plan.h"

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_points_step, (const mf_PointsBlock *block));
// [byte] of scratch that a step needs.
MF_KERNEL_COPIES(size_t, mf_points_scratch_size, (const mf_PointsPlan *plan));

#endif
