// What tasks want to see of robots besides their state: poses of links, inertia and velocity of
// bodies, forces on them. Found for a block of robots at a time, in lanes (sight_kernel.c).
#ifndef MAYFLY_ENVIRONMENT_SIGHT_H
#define MAYFLY_ENVIRONMENT_SIGHT_H

#include "tree/tree.h"

typedef struct mf_SightBody {
    uint32_t link, parent; // MF_NONE: it stands still; it has no parent
    bool turned;           // its main axes are not the link's
    double center[3];      // [m] in the link
    double axes[4];        // of its moments, in the link
    double moments[3];     // [kg m^2]
    double mass;           // [kg]
} mf_SightBody;

typedef struct mf_SightPlan {
    mf_Tree *tree; // of links, on vectors of the model
    mf_SightBody *bodies;
    uint32_t body_count;
    double mass; // [kg]
} mf_SightPlan;

// Rows of MF_BLOCK values of the group's precision. Places are seen from the base's origin: far
// from the world's, they would lose digits.
typedef struct mf_SightBatch {
    const mf_SightPlan *plan;
    uint32_t wants;                  // MF_TASK_*: POSES alone, and BODIES, OUTER where they are in
    const void *position, *velocity; // [1] the model's vectors
    const void *raw;                 // [N], [N m] 6 per body, sensor.outer; NULL: none
    void *place, *turn;              // [m] 3 and (w, x, y, z) per link
    void *axes;                      // 9 per link: turn as a matrix
    void *speed;                     // [m/s], [rad/s] 6 per link, world axes
    void *center;                    // [m] 3: centre of mass
    void *inertia, *twist, *outer;   // as in mf_TaskView
} mf_SightBatch;

typedef void (*mf_SightFn)(const mf_SightBatch *batch);
MF_KERNEL_COPIES(void, mf_sight_run, (const mf_SightBatch *batch));

mf_Status mf_sight_plan(mf_Context *context, const mf_Model *model, mf_SightPlan *plan,
                        mf_Error *error);
void mf_sight_release(mf_Context *context, mf_SightPlan *plan);

#endif
