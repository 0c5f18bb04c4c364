// The steps of robots that differ in their constants: the same operations (articulated_kernel.c),
// so each lane has the result of a robot of its model alone.
#define MF_ART_VARIED
#define MF_COLLIDE_VARIED
#include "motion/articulated/articulated_kernel.c"
