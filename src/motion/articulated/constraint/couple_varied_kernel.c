// The couplings of robots that differ in their constants: the same operations (couple_kernel.c), so
// each lane has the result of a robot of its model alone.
#define MF_ART_VARIED
#define MF_COLLIDE_VARIED
#include "motion/articulated/constraint/couple_kernel.c"
