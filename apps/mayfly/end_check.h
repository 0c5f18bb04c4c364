// Checks the end of a run: whether any robot still moves.
#ifndef MAYFLY_APP_END_CHECK_H
#define MAYFLY_APP_END_CHECK_H

#include <mayfly/world.h>

// If every robot of the world has a fault, prints the reasons on stderr and returns MF_EXIT_FAILED,
// else MF_EXIT_DONE. Collisions and fences of a swarm do not count.
int mf_end_check(mf_World *world);

#endif
