// The host's side of `kinematic` around the plan of its kernels (plan.h).
#pragma once

#include <mayfly/kinematic.h>
#include "motion/articulated/motion.h"
#include "motion/kinematic/plan.h"

typedef void (*mf_KinStepFn)(const mf_KinBlock *block);

typedef struct mf_KinMotion {
    mf_KinPlan *plan;
    MF_KIN_ARRAYS(MF_FLAT_POINTER, ) // in the plan; before: allocations of their own
    mf_ArtMotion *tree;              // its plan is in this one's
    mf_KinematicConfig config;       // as given; `feet` is NULL
    mf_KinStepFn step;               // `dispatch.lanes` lanes at once
    mf_KinStepFn step_one;           // one lane
    mf_Dispatch dispatch;
    mf_WarningFields warnings;
    bool double_precision;
    mf_Field *rows[MF_KIN_ROWS];
    mf_Row row[MF_KIN_ROWS]; // their data
} mf_KinMotion;

// Fills `motion`, which is zeros; also where it fails mf_kin_destroy releases it.
mf_Status mf_kin_make(mf_Group *group, const mf_KinematicConfig *config, mf_KinMotion *motion,
                      mf_Error *error);
void mf_kin_destroy(mf_Context *context, void *motion);

// Makes `image`, which holds the same as motion->plan, the plan from now on, also of motion->tree;
// the caller releases what was the plan.
void mf_kin_bind_plan(mf_KinMotion *motion, mf_KinPlan *image);

// NULL when the group does not move by `kinematic`.
const mf_KinMotion *mf_kin_motion_of(const mf_Group *group);

// Center of mass [m] of the links in their present poses, world frame; the base's origin if the
// model has no mass.
void mf_kinematic_center(const mf_KinMotion *motion, uint32_t instance, double center[3]);

// [1] Contacts that can stand, in the order of stance.holds; 0 without this motion.
uint32_t mf_kinematic_foot_count(const mf_Group *group);
