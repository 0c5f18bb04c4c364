// What is wrong with a start before the first step: shapes in the ground or in each other; and with
// an end: nobody left that moves.
#ifndef MAYFLY_APP_START_CHECK_H
#define MAYFLY_APP_START_CHECK_H

#include <stdio.h>

#include "start_model.h"

// One line to `out` for the deepest shape below the ground and one for the deepest pair of links in
// each other; nothing where less than a millimetre is.
void mf_start_check(FILE *out, mf_Group *group, const mf_ModelStart *start);

// When every robot of the world is out of order: says so with the reasons on stderr and returns
// MF_EXIT_FAILED, else MF_EXIT_DONE. Collisions and fences of a swarm are no reasons.
int mf_end_check(mf_World *world);

#endif
