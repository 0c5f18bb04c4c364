// Data of the kernels of `rigid` and `prescribed` in addition to the plan of the tree: paths of
// joints, sums of masses, and distances of contacts. Frozen before the first step.
//
// In both motions joints track given paths exactly.
#pragma once

#include <mayfly/prescribed.h>
#include <mayfly/rigid.h>

#include "math/kernel.h"
#include "motion/articulated/plan.h"

// Rows of the constants, in both precisions: settings, then the base and the links.
enum {
    MF_DRIVEN_INTERVAL,         // [s] between two readings of joint.target
    MF_DRIVEN_INVERSE_INTERVAL, // [1/s]
    MF_DRIVEN_SEPARATION,       // [1] stiffness of contacts on separation over that on approach
    MF_DRIVEN_EASE,             // [m/s] separation at which contacts are as soft as they get
    MF_DRIVEN_REACH,            // [m] farthest that a contact can be from the base's origin
    MF_DRIVEN_SETTINGS
};

// Of the base and of each link, in its plan frame.
enum {
    MF_DRIVEN_CARRIED,      // [kg] its mass and that of all that it carries
    MF_DRIVEN_INERTIA,      // [kg m^2] second moments of mass: xx, yy, zz, xy, xz, yz
    MF_DRIVEN_BALL = 7,     // [m] 3 values: center of a ball around its contacts
    MF_DRIVEN_RADIUS = 10,  // [m] of that ball, with the contacts' margins
    MF_DRIVEN_EXTENT = 11,  // [m] farthest that a contact of what the joint carries can be from it,
                            // of a slide [1] 1
    MF_DRIVEN_LOWER = 12,   // [rad] or [m]
    MF_DRIVEN_UPPER = 13,   // [rad] or [m]
    MF_DRIVEN_TRAVEL = 14,  // [rad] or [m] most in a control interval
    MF_DRIVEN_FASTEST = 15, // [rad/s] or [m/s]
    MF_DRIVEN_MULTIPLIER = 16, // [1] of the leader's angle
    MF_DRIVEN_SHIFT = 17,      // [rad] or [m] added to it
    MF_DRIVEN_LINK_VALUES = 18
};

// Fields that the plan of the tree has no rows for; absent rows are NULL.
enum {
    MF_DRIVEN_ROW_ACCELERATION,
    MF_DRIVEN_ROW_JERK,
    MF_DRIVEN_ROW_PASSED,       // joint.travel
    MF_DRIVEN_ROW_WRENCH,       // wrench.link
    MF_DRIVEN_ROW_WRENCH_COUNT, // wrench.count
    MF_DRIVEN_ROWS
};

typedef struct mf_DrivenLink {
    uint32_t leader; // [1] plan link whose path its own is made of; itself without mimic
    bool oblique;    // second moments xy, xz or yz are not 0
    uint32_t bulk;   // [1] bits 1, 2, 4: x, y, z of the first moment are not 0
    bool touches;    // it has contacts
} mf_DrivenLink;

// Arrays of a plan.
#define MF_DRIVEN_ARRAYS(X, of)                                                                    \
    X(mf_DrivenLink, all, (of)->all_count) /* of the base at 0, of link l at l + 1 */              \
    X(double, constants_f64, (of)->value_count)                                                    \
    X(float, constants_f32, (of)->value_count)

// A flat image (base/flat.h).
typedef struct mf_DrivenPlan {
    uint32_t bytes;       // [byte] of the image
    uint32_t all_count;   // [1] links of the tree, and the base
    uint32_t value_count; // [1] of the constants
    uint32_t model_links; // [1] elements of wrench.link
    bool moves;           // moving limbs have a reaction
    bool bounces;         // contacts are stiffer on approach than on separation
    bool rotates;         // some contact has friction against torsion
    MF_DRIVEN_ARRAYS(MF_FLAT_MEMBER, )
    MF_FLAT_ARRAY(art); // the plan of the tree, an image in this one
} mf_DrivenPlan;

#define MF_DRIVEN_READER(Type, name, count) MF_FLAT_INDEXED(mf_DrivenPlan, mf_driven, Type, name)
MF_DRIVEN_ARRAYS(MF_DRIVEN_READER, )
MF_FLAT_INDEXED(mf_DrivenPlan, mf_driven, mf_ArtPlan, art)

// Pointers to lane 0 of the lanes to step.
typedef struct mf_DrivenBlock {
    mf_ArtBlock art;
    const mf_DrivenPlan *plan;
    void *rows[MF_DRIVEN_ROWS];
    bool due; // joint.target is read in this step
} mf_DrivenBlock;

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_driven_step, (const mf_DrivenBlock *block));
// [byte] of scratch that a step needs.
MF_KERNEL_COPIES(size_t, mf_driven_scratch_size, (const mf_DrivenPlan *plan));
