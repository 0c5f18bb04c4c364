// From a group to its plan; for the host side.
#ifndef MF_MOTION_ARTICULATED_HOST_H
#define MF_MOTION_ARTICULATED_HOST_H

#include "motion/articulated/plan.h"

// NULL when the group does not move by `articulated`.
const mf_ArtPlan *mf_art_plan_of(const mf_Group *group);

// Says to the group what the rows of contact.load are; mf_art_plan_create does it.
mf_Status mf_art_tell_contacts(mf_Group *group, const mf_ArtPlan *plan, mf_Error *error);

// The largest depth [m] of each pair of plan->collide when every joint is at `angle` (model's
// order, balls and floating joints unturned): pair_count values.
void mf_art_overlaps(const mf_ArtPlan *plan, const mf_Model *model, const double *angle,
                     double *depth);

#endif
