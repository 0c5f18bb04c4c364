// From a group to its plan; for the host side.
#ifndef MF_MOTION_ARTICULATED_HOST_H
#define MF_MOTION_ARTICULATED_HOST_H

#include "motion/articulated/plan.h"

// NULL when the group does not move by `articulated`.
const mf_ArtPlan *mf_art_plan_of(const mf_Group *group);

#endif
