// Wrenches of collisions on single links. push_add.h converts them into joint forces.
#ifndef MF_MOTION_ARTICULATED_PUSH_H
#define MF_MOTION_ARTICULATED_PUSH_H

#include "motion/articulated/state.h"

// Forces and torques about the origin of the base, world axes; those of the base at 0.
typedef struct Pushes {
    Vec force[MF_ARTICULATED_MAX_LINKS + 1];  // [N] on each plan link by itself
    Vec torque[MF_ARTICULATED_MAX_LINKS + 1]; // [N m]
    Vec linear, angular; // [N], [N m] what programs push the base with, as in Rates
} Pushes;

#endif
