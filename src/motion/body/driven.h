// The host side that `rigid` and `prescribed` share: plans, fields, stepping.
#pragma once

#include <mayfly/rigid.h>
#include <mayfly/prescribed.h>
#include "motion/articulated/motion.h"
#include "motion/body/plan.h"
#include "motion/table.h"

// [s] that contacts take to give way, with default settings. Joints that are at the commanded
// positions leave nothing to give way but the ground: with stiffer contacts two feet fight each
// other, most of the load is on single corners, and walkers spin (docs/explanation/ladder.md).
#define MF_DRIVEN_CONTACT_TIME 0.012

typedef struct mf_DrivenConfig {
    const mf_MotionRow *row;
    const void *given;          // the motion's own settings, which the plan keeps
    size_t given_size;          // [byte]
    mf_PrescribedConfig common; // what they mean; struct_size belongs to `given`
    bool moves;                 // moving limbs have a reaction
    bool bounces;               // contacts are stiffer on approach than on separation
    double separation;          // [1]
    double torsional_friction;  // [m] NAN: as the file says
    double usual_torsion;       // [m] where no file says anything; NAN: as the shapes say
} mf_DrivenConfig;

typedef void (*mf_DrivenStepFn)(const mf_DrivenBlock *block);

// What is around a plan, and its arrays as pointers into it (before: allocations of their own).
typedef struct mf_DrivenMotion {
    mf_DrivenPlan *plan;
    MF_DRIVEN_ARRAYS(MF_FLAT_POINTER, )
    mf_ArtMotion *art;    // its plan is in this one's
    const char *name;     // of the motion
    uint64_t interval;    // [1] steps between two readings of joint.target
    mf_DrivenStepFn step; // `dispatch.lanes` lanes at once
    mf_DrivenStepFn step_one;
    mf_Dispatch dispatch;
    mf_Field *rows[MF_DRIVEN_ROWS];
    mf_Row row[MF_DRIVEN_ROWS]; // their data
    union {                     // as they were given
        mf_RigidConfig rigid;
        mf_PrescribedConfig prescribed;
    } config;
} mf_DrivenMotion;

// Makes `image`, which holds the same as motion->plan, the plan from now on, also of motion->art;
// the caller releases what was the plan.
void mf_driven_bind_plan(mf_DrivenMotion *motion, mf_DrivenPlan *image);

// Makes the plan and its fields.
mf_Status mf_driven_make(mf_Group *group, const mf_DrivenConfig *config, mf_DrivenMotion *motion,
                         mf_Error *error);

// What the rows of both motions have in common. The limbs of `rigid` have no energy and momentum of
// their own.
extern const char *const mf_driven_reads[], *const mf_driven_writes[];
uint64_t mf_driven_hash(const void *motion);
void mf_driven_run(const mf_SystemRun *run, void *motion);
void mf_driven_reset(mf_Group *group, uint32_t instance, void *motion);
void mf_driven_destroy(mf_Context *context, void *motion);
void mf_driven_enter(mf_Group *group, uint32_t instance, void *motion); // begins paths anew
mf_ArticulatedBase mf_driven_base(const void *motion);
void mf_driven_momentum(const mf_Group *group, const void *motion, uint32_t instance,
                        double center[3], double linear[3], double angular[3]);
mf_MotionEnergy mf_driven_energy(const mf_Group *group, const void *motion, uint32_t instance);

// Constants, after the tree and its contacts are there (constants.c).
mf_Status mf_driven_constants_fill(mf_DrivenMotion *motion, const mf_Model *model,
                                   const mf_DrivenConfig *config, mf_Context *context,
                                   mf_Error *error);
