// The copies of the `articulated` kernels.
#ifndef MF_MOTION_ARTICULATED_STEP_H
#define MF_MOTION_ARTICULATED_STEP_H

#include "math/kernel.h"
#include "motion/articulated/plan.h"

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_articulated_step, (const mf_ArtBlock *block));

// Answers a question about the tree.
MF_KERNEL_COPIES(void, mf_articulated_query, (const mf_ArtQuery *query));

#endif
