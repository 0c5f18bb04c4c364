// From a group to its plan; for the host side.
#ifndef MF_MOTION_ARTICULATED_HOST_H
#define MF_MOTION_ARTICULATED_HOST_H

#include "motion/articulated/plan.h"

// NULL when the group does not move by `articulated`.
const mf_ArtPlan *mf_art_plan_of(const mf_Group *group);

// The largest depth [m] of each pair of plan->collide when every joint is at `angle` (model's
// order, balls and floating joints unturned): pair_count values.
void mf_art_overlaps(const mf_ArtPlan *plan, const mf_Model *model, const double *angle,
                     double *depth);

// The rest makes a step store what sensors ask for. The group must move by `articulated` and not
// have been asked before; fields of zeros remain after a failure.

// The field sensor.outer: for each of `bodies` the force [N] and the torque [N m], about the origin
// of its model link, that come from outside on all that it carries: contacts, equality constraints
// and programs. World axes. MF_LIMIT: more than 64. MF_UNSUPPORTED: a body that is fixed to one
// that it does not carry, when both can be pushed.
mf_Status mf_art_report_forces(mf_Group *group, const uint32_t *bodies, uint32_t count,
                               mf_Error *error);

// The fields joint.limit_force and tendon.limit_force.
mf_Status mf_art_report_limits(mf_Group *group, mf_Error *error);

#endif
