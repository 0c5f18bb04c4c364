// Wrenches of collisions on single links. push_add.h converts them into joint forces.
#ifndef MF_MOTION_ARTICULATED_PUSH_H
#define MF_MOTION_ARTICULATED_PUSH_H

#include "motion/articulated/state.h"

// Forces and torques about the origin of the base, world axes; those of the base at 0.
typedef struct Pushes {
    Vec *force;          // [N] on each plan link by itself
    Vec *torque;         // [N m]
    Vec linear, angular; // [N], [N m] what programs push the base with, as in Rates
} Pushes;

static inline void pushes_carve(const mf_ArtPlan *plan, mf_Carver *carver, Pushes *pushes) {
    MF_CARVE(carver, pushes->force, plan->link_count + 1);
    MF_CARVE(carver, pushes->torque, plan->link_count + 1);
}

#endif
