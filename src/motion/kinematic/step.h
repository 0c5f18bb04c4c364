// The copies of the `kinematic` kernel.
#ifndef MF_MOTION_KINEMATIC_STEP_H
#define MF_MOTION_KINEMATIC_STEP_H

#include "math/kernel.h"
#include "motion/kinematic/plan.h"

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_kinematic_step, (const mf_KinBlock *block));
// [byte] of scratch that a step needs.
MF_KERNEL_COPIES(size_t, mf_kinematic_scratch_size, (const mf_KinPlan *plan));

#endif
