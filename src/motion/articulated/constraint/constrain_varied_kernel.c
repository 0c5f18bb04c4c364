// The constraints of MuJoCo's law of robots that differ in their constants: the same operations
// (constrain_kernel.c), so each lane has the result of a robot of its model alone.
#define MF_ART_VARIED
#define MF_COLLIDE_VARIED
#include "motion/articulated/constraint/constrain_kernel.c"
