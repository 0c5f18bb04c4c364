// Broad and narrow phase of robots that differ in their shapes: the same operations
// (collide_kernel.c), so each lane has the result of a robot of its model alone.
#define MF_COLLIDE_VARIED
#include "contact/collide_kernel.c"
