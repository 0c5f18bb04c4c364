// Wrenches of collisions on single links. robot_step.h converts them into joint forces.
#pragma once

#include "motion/articulated/state.h"

// Forces and torques about the origin of the base, world axes; those of the base at 0.
typedef struct ExternalWrenches {
    Vec *force;          // [N] on each plan link by itself
    Vec *torque;         // [N m]
    Vec linear, angular; // [N], [N m] the wrench of programs on the base, as in Rates
} ExternalWrenches;

static inline void external_wrenches_carve(const mf_ArtPlan *plan, mf_Carver *carver,
                                           ExternalWrenches *wrenches) {
    MF_CARVE(carver, wrenches->force, plan->link_count + 1);
    MF_CARVE(carver, wrenches->torque, plan->link_count + 1);
}
