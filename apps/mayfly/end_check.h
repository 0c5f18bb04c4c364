// What is wrong with an end: nobody left that moves.
#ifndef MAYFLY_APP_END_CHECK_H
#define MAYFLY_APP_END_CHECK_H

#include <mayfly/world.h>

// When every robot of the world is out of order: says so with the reasons on stderr and returns
// MF_EXIT_FAILED, else MF_EXIT_DONE. Collisions and fences of a swarm are no reasons.
int mf_end_check(mf_World *world);

#endif
