// The copies of the `rigid` kernel.
#ifndef MF_MOTION_RIGID_STEP_H
#define MF_MOTION_RIGID_STEP_H

#include "math/kernel.h"
#include "motion/driven/plan.h"

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_rigid_step, (const mf_DrivenBlock *block));

#endif
