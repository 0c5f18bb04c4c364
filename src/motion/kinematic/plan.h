// Data of the `kinematic` kernels about a model and the settings: frozen before the first step,
// shared by all threads. The tree and the positions of contacts are those of the `articulated`
// plan, without forces.
#pragma once

#include <mayfly/kinematic.h>

#include "math/kernel.h"
#include "motion/articulated/plan.h"
#include "terrain/image.h"

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

// Arrays of a plan.
#define MF_KIN_ARRAYS(X, of)                                                                       \
    X(mf_KinJoint, joints, (of)->joint_count)                                                      \
    X(mf_KinLink, links, (of)->link_count)                                                         \
    X(mf_KinFoot, feet, (of)->foot_count)                                                          \
    X(double, constants_f64, (of)->value_count)                                                    \
    X(float, constants_f32, (of)->value_count)

// A flat image (base/flat.h).
typedef struct mf_KinPlan {
    uint32_t bytes;                               // [byte] of the image
    uint32_t joint_count, link_count, foot_count; // [1]
    uint32_t joint_offset, foot_offset;           // [1] of the constants
    uint32_t value_count;                         // [1]
    MF_KIN_ARRAYS(MF_FLAT_MEMBER, )
    MF_FLAT_ARRAY(tree); // its plan, an image in this one
} mf_KinPlan;

#define MF_KIN_READER(Type, name, count) MF_FLAT_INDEXED(mf_KinPlan, mf_kin, Type, name)
MF_KIN_ARRAYS(MF_KIN_READER, )
MF_FLAT_INDEXED(mf_KinPlan, mf_kin, mf_ArtPlan, tree)

// What a kernel gets: the image, and pointers to lane 0 of the lanes to step; values of one lane
// are MF_BLOCK apart.
typedef struct mf_KinBlock {
    const mf_KinPlan *plan;
    const mf_TerrainImage *terrain;
    void *rows[MF_KIN_ROWS];
    size_t low_position, low_orientation; // [byte] from values to their remainders; 0: none
    uint32_t *fault;
    mf_WarningRows warnings;
    void *scratch; // what the kernel needs meanwhile, aligned to 64 bytes
} mf_KinBlock;

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_kinematic_step, (const mf_KinBlock *block));
// [byte] of scratch that a step needs.
MF_KERNEL_COPIES(size_t, mf_kinematic_scratch_size, (const mf_KinPlan *plan));
