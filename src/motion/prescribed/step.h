// The copies of the `prescribed` kernel.
#ifndef MF_MOTION_PRESCRIBED_STEP_H
#define MF_MOTION_PRESCRIBED_STEP_H

#include "math/kernel.h"
#include "motion/driven/plan.h"

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_prescribed_step, (const mf_DrivenBlock *block));

#endif
