// Steps of the `points` motion (step.h) for robots of bodies that differ in their constants: the
// same operations, so each lane has the bits of a robot of its body alone.
#define MF_POINTS_VARIED
#include "motion/points/step.h"

void MF_KERNEL(mf_points_step_varied)(const mf_PointsBlock *block) {
    points_step(block, (const mf_real *)block->varied);
}
