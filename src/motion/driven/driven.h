// The host side that `rigid` and `prescribed` share: plans, fields, stepping.
#ifndef MF_MOTION_DRIVEN_DRIVEN_H
#define MF_MOTION_DRIVEN_DRIVEN_H

#include "motion/driven/plan.h"

// [s] that contacts take to give way, as they come. Joints that are where they are told leave
// nothing to give way but the ground: with stiffer contacts two feet fight each other, most of the
// load is on single corners, and walkers spin (docs/explanation/ladder.md).
#define MF_DRIVEN_CONTACT_TIME 0.012

typedef struct mf_DrivenConfig {
    const char *name; // of the motion and its system
    mf_Motion own;
    const mf_DrivenStepFn (*kernels)[2]; // rows as in math/kernel.h
    const void *given;                   // the motion's own settings, which the plan keeps
    size_t given_size;                   // [byte]
    mf_PrescribedConfig common;          // what they mean; struct_size is that of `given`
    bool bounces;                        // contacts are stiffer on approach than on separation
    double separation;                   // [1]
    double spin_friction;                // [m] NAN: as the shapes say
} mf_DrivenConfig;

// Makes the plan and its fields and adds the system, whose `user` is the plan, to the group.
mf_Status mf_driven_add(mf_Group *group, const mf_DrivenConfig *config, mf_Error *error);

// The plan by which the group moves, or can, by `own`; NULL when there is none.
const mf_DrivenPlan *mf_driven_find(const mf_Group *group, mf_Motion own);

// What mf_rigid_* and mf_prescribed_* do; the group moves by `own`. The limbs of `rigid` have no
// energy and momentum of their own.
void mf_driven_refresh(const mf_Group *group, mf_Motion own, uint32_t instance);
void mf_driven_energy(const mf_Group *group, mf_Motion own, uint32_t instance, double *kinetic,
                      double *potential);
void mf_driven_momentum(const mf_Group *group, mf_Motion own, uint32_t instance, double center[3],
                        double linear[3], double angular[3]);

// Constants, after the tree and its contacts are there (constants.c).
mf_Status mf_driven_constants_fill(mf_DrivenPlan *plan, const mf_Model *model,
                                   const mf_DrivenConfig *config, mf_Context *context,
                                   mf_Error *error);

#endif
