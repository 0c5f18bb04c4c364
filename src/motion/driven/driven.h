// The host side that `rigid` and `prescribed` share: plans, fields, stepping.
#ifndef MF_MOTION_DRIVEN_DRIVEN_H
#define MF_MOTION_DRIVEN_DRIVEN_H

#include "motion/driven/plan.h"

// [s] that contacts take to give way, as they come. Joints that are where they are told leave
// nothing to give way but the ground: with stiffer contacts two feet fight each other, most of the
// load is on single corners, and walkers spin (docs/ladder.md).
#define MF_DRIVEN_CONTACT_TIME 0.012

typedef struct mf_DrivenConfig {
    const char *name; // of the motion and its system
    mf_Motion own;
    mf_SystemFn run;
    const mf_DrivenStepFn (*kernels)[2]; // rows as in math/kernel.h
    mf_ArticulatedConfig art;
    mf_Time control_interval; // [ns]
    bool limits, speeds;
    bool bounces;         // contacts are stiffer on approach than on separation
    double separation;    // [1]
    double spin_friction; // [m] NAN: as the shapes say
} mf_DrivenConfig;

// Makes the plan and its fields and adds the system, whose `user` is the plan, to the group. The
// group must not have that motion yet.
mf_Status mf_driven_add(mf_Group *group, const mf_DrivenConfig *config, mf_DrivenPlan **out,
                        mf_Error *error);

// The plan of the group's system that calls `run`; NULL when there is none.
mf_DrivenPlan *mf_driven_plan_of(const mf_Group *group, mf_SystemFn run);

// What `run` does.
void mf_driven_run(const mf_SystemRun *run, const mf_DrivenPlan *plan);

// Begins new paths from the present angles and rates.
void mf_driven_refresh(const mf_DrivenPlan *plan, uint32_t instance);

// Constants, after the tree and its contacts are there (constants.c).
mf_Status mf_driven_constants_fill(mf_DrivenPlan *plan, const mf_Model *model,
                                   const mf_DrivenConfig *config, mf_Context *context,
                                   mf_Error *error);

#endif
