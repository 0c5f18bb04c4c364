// Derived quantities of robots for tasks: poses of links, inertia and velocity of bodies, forces on
// them. Computed for a block of robots in lanes (body_state_kernel.c).
#pragma once

#include "base/flat.h"
#include "multibody/tree.h"

typedef struct mf_BodyStateBody {
    uint32_t link, parent; // MF_NONE: fixed; no parent
    bool rotated;          // its principal axes are not the link's axes
    double center[3];      // [m] in the link
    double axes[4];        // of its moments, in the link
    double moments[3];     // [kg m^2]
    double mass;           // [kg]
} mf_BodyStateBody;

typedef struct mf_BodyStatePlan {
    uint32_t bytes;
    uint32_t body_count;
    double mass; // [kg]
    MF_FLAT_ARRAY(bodies);
    MF_FLAT_ARRAY(tree); // one: of links, on vectors of the model
} mf_BodyStatePlan;
MF_FLAT_READER(mf_BodyStatePlan, mf_body_state_plan, mf_BodyStateBody, bodies)
MF_FLAT_READER(mf_BodyStatePlan, mf_body_state_plan, mf_Tree, tree)

// Rows of MF_BLOCK values of the group's precision. Positions are relative to the base's origin,
// because world positions far from the origin lose digits.
typedef struct mf_BodyStateBatch {
    const mf_BodyStatePlan *plan;
    uint32_t wants;                   // MF_TASK_*: POSES alone, or with BODIES and EXTERNAL
    const void *position, *velocity;  // [1] the model's vectors
    const void *raw;                  // [N], [N m] 6 per body, sensor.outer; NULL: none
    void *point, *rotation;           // [m] 3 and (w, x, y, z) per link
    void *axes;                       // 9 per link: rotation as a matrix
    void *speed;                      // [m/s], [rad/s] 6 per link, world axes
    void *center;                     // [m] 3: center of mass
    void *inertia, *twist, *external; // as in mf_TaskView
} mf_BodyStateBatch;

typedef void (*mf_BodyStateFn)(const mf_BodyStateBatch *batch);
MF_KERNEL_COPIES(void, mf_body_state_run, (const mf_BodyStateBatch *batch));

// The caller frees *out with mf_release. MF_NO_MEMORY.
mf_Status mf_body_state_create(mf_Context *context, const mf_Model *model,
                               const mf_BodyStatePlan **out, mf_Error *error);
