// Data of the `kinematic` kernels about a model and the settings: frozen before the first step,
// shared by all threads. The tree and the positions of contacts are those of the `articulated`
// plan, without forces.
#ifndef MF_MOTION_KINEMATIC_PLAN_H
#define MF_MOTION_KINEMATIC_PLAN_H

#include <mayfly/kinematic.h>

#include "motion/articulated/plan.h"

// Rows of the constants, in both precisions: settings first, then joints and feet.
enum {
    MF_KIN_STEP,         // [s]
    MF_KIN_INVERSE_STEP, // [1/s]
    MF_KIN_FALL,         // [m/s] g dt
    MF_KIN_REACH,        // [m] a length that no foot is farther from the base than
    MF_KIN_JOIN,         // [m] contacts this much above the lowest begin to stand
    MF_KIN_LEAVE,        // [m] a foot stops to when it is this much above the ground on the mean
    MF_KIN_PART,         // [m] and one of its contacts when it is this much above the lowest
    MF_KIN_SETTLE,       // [1/m] one over the height within which contacts are settled on; 0: never
    MF_KIN_SETTLE_PART,  // [1] of the way in one step
    MF_KIN_WEIGHT,       // [N]
    MF_KIN_HIGHEST,      // [m] highest ground
    MF_KIN_SETTINGS
};

enum { // per joint that is commanded
    MF_KIN_LOWER,
    MF_KIN_UPPER,
    MF_KIN_MULTIPLIER,
    MF_KIN_OFFSET,
    MF_KIN_JOINT_VALUES
};

enum { MF_KIN_FOOT_VALUES = 4 }; // [m] position in its link's plan frame, radius

typedef struct mf_KinJoint {
    uint32_t row;   // [1] component of joint.angle
    uint32_t mimic; // [1] index of the joint that it follows, MF_NONE; leaders come first
} mf_KinJoint;

// A link on the way to a foot, parents first.
typedef struct mf_KinLink {
    uint32_t link;  // [1] of the tree
    int32_t parent; // [1] of this list, -1 = base
    uint32_t joint; // [1] of the list of joints; MF_NONE: ball, or slide of a floating joint
} mf_KinLink;

typedef struct mf_KinFoot {
    int32_t link; // [1] of the list of links, -1 = base
    uint32_t row; // [1] component of contact.load
} mf_KinFoot;

enum {
    MF_KIN_ROW_POSITION,
    MF_KIN_ROW_ORIENTATION,
    MF_KIN_ROW_LINEAR,
    MF_KIN_ROW_ANGULAR,
    MF_KIN_ROW_ANGLE,
    MF_KIN_ROW_RATE,
    MF_KIN_ROW_TARGET,
    MF_KIN_ROW_LOAD,
    MF_KIN_ROW_HOLDS,
    MF_KIN_ROW_ANCHOR,
    MF_KIN_ROW_BALL, // absent rows are NULL
    MF_KIN_ROW_FREE,
    MF_KIN_ROWS
};

struct mf_KinBlock;
typedef void (*mf_KinStepFn)(const struct mf_KinBlock *block);

typedef struct mf_KinPlan {
    mf_KinematicConfig config;
    mf_ArtPlan *tree;
    uint32_t joint_count, link_count, foot_count; // [1]
    mf_KinJoint *joints;
    mf_KinLink *links;
    mf_KinFoot *feet;
    uint32_t joint_offset, foot_offset; // [1] of the constants
    bool round;                         // a foot is a ball
    size_t value_count;                 // [1]
    double *constants_f64;
    float *constants_f32;
    mf_KinStepFn step;     // `dispatch.lanes` lanes at once
    mf_KinStepFn step_one; // one lane
    mf_Dispatch dispatch;
    mf_WarningFields warnings;
    bool double_precision;
    mf_Field *rows[MF_KIN_ROWS];
    mf_Row row[MF_KIN_ROWS]; // their data
} mf_KinPlan;

// Pointers to lane 0 of the lanes to step; values of one lane are MF_BLOCK apart.
typedef struct mf_KinBlock {
    const mf_KinPlan *plan;
    void *rows[MF_KIN_ROWS];
    uint32_t *fault;
    mf_WarningRows warnings;
    void *scratch; // what the kernel needs meanwhile, aligned to 64 bytes
} mf_KinBlock;

mf_Status mf_kin_plan_create(mf_Group *group, const mf_KinematicConfig *config, mf_KinPlan **out,
                             mf_Error *error);
void mf_kin_plan_destroy(mf_Context *context, mf_KinPlan *plan); // NULL is fine

// NULL when the group does not move by `kinematic`.
const mf_KinPlan *mf_kin_plan_of(const mf_Group *group);

#endif
