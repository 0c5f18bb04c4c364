// What the `points` kernels read of a model and the settings: a flat image, frozen before the first
// step and shared by all threads.
#pragma once

#include <mayfly/points.h>

#include "base/flat.h"
#include "math/kernel.h"
#include "motion/dispatch.h"
#include "terrain/image.h"

enum { MF_POINTS_MAX_CONTACTS = 512, MF_POINTS_MAX_LINKS = 512 };

// Rows of the constants, in both precisions: settings first, then links, joints and points.
enum {
    MF_PLAN_STEP,             // [s] dt
    MF_PLAN_INVERSE_STEP,     // [1/s]
    MF_PLAN_FALL,             // [m/s] g dt
    MF_PLAN_MASS,             // [kg]
    MF_PLAN_INVERSE_MASS,     // [1/kg]
    MF_PLAN_WEIGHT,           // [N] m g
    MF_PLAN_COMPLIANCE,       // [1] epsilon
    MF_PLAN_STIFFNESS,        // [N/m] m / (epsilon dt^2)
    MF_PLAN_SOFTNESS,         // [m/N] its inverse
    MF_PLAN_MARGIN,           // [m]
    MF_PLAN_FRICTION,         // [1] Coulomb coefficient
    MF_PLAN_INTERVAL,         // [s] joint interval
    MF_PLAN_INVERSE_INTERVAL, // [1/s]
    MF_PLAN_HIGHEST,          // [m] highest ground
    MF_PLAN_ORIGIN_X,         // [m]
    MF_PLAN_ORIGIN_Y,         // [m]
    MF_PLAN_INVERSE_CELL,     // [1/m]
    MF_PLAN_LAST_COLUMN,      // [1]
    MF_PLAN_LAST_ROW,         // [1]
    MF_PLAN_SETTINGS          // their number
};

// Per link that moves against the base.
enum {
    MF_PLAN_LINK_ROTATION = 0, // [1] 9 values, row after row: this frame in the parent's at angle 0
    MF_PLAN_LINK_POSITION = 9, // [m] 3 values: origin in the parent's frame
    MF_PLAN_LINK_LOWER = 12,   // [rad] or [m]
    MF_PLAN_LINK_UPPER = 13,   // [rad] or [m]
    MF_PLAN_LINK_REACH = 14,   // [rad] or [m] most that the joint moves in one interval
    MF_PLAN_LINK_MULTIPLIER = 15, // [1] of a mimic joint
    MF_PLAN_LINK_OFFSET = 16,     // [rad] or [m] of a mimic joint
    MF_PLAN_LINK_VALUES = 17
};

// Per point: position in its link's plan frame, mass.
enum { MF_PLAN_POINT_VALUES = 4 };

typedef enum mf_PlanJoint { MF_PLAN_HINGE, MF_PLAN_SLIDE, MF_PLAN_FIXED } mf_PlanJoint;

// Frames of the plan are rotated so that the joint's axis is their z axis.
typedef struct mf_PlanLink {
    int32_t parent; // [1] plan link, -1 = base
    uint32_t joint; // [1] component of joint.angle
    int32_t mimic;  // [1] plan link whose joint is followed, -1 = none
    mf_PlanJoint kind;
    bool aligned;                      // TURN is the identity
    uint32_t first_point, point_count; // [1] its points
} mf_PlanLink;

// The fields that a step touches, in the order of the pointers in mf_PointsBlock.
enum {
    MF_ROW_POSITION,
    MF_ROW_ORIENTATION,
    MF_ROW_LINEAR,
    MF_ROW_ANGULAR,
    MF_ROW_ANGLE,
    MF_ROW_RATE,
    MF_ROW_TARGET,
    MF_ROW_POINTS,
    MF_ROW_CENTER,
    MF_ROW_INERTIA,
    MF_ROW_INVERSE,
    MF_ROW_ANCHOR,
    MF_ROW_LOAD,
    MF_ROW_FORCE,
    MF_ROW_TORQUE,
    MF_ROW_RESIDUAL, // of coupled friction only
    MF_POINTS_ROWS
};

#define MF_POINTS_RESIDUAL 1e-3 // [1] above it a solution of the contacts is reported as unsolved

typedef struct mf_PointsPlan {
    uint32_t bytes;
    uint32_t link_count, point_count, contact_count, constant_count; // [1]
    uint32_t joint_count;                  // [1] components of joint.angle that links use
    uint32_t base_points;                  // [1] the first points belong to the base
    uint32_t link_offset, point_offset;    // [1] rows of the constants
    bool level;                            // the ground has one height everywhere
    bool slopes;                           // it has normals that are not vertical
    bool ends;                             // there is nothing beyond its border
    uint32_t columns;                      // [1] cells along x
    bool coupled, weighted, keep_momentum; // as in mf_PointsConfig
    bool mimics;                           // a joint follows another
    MF_FLAT_ARRAY(links);                  // in topological order
    MF_FLAT_ARRAY(contacts); // [1] per plan point: its contact index, -1 = does not collide
    MF_FLAT_ARRAY(constants_f64);
    MF_FLAT_ARRAY(constants_f32);
} mf_PointsPlan;
MF_FLAT_INDEXED(mf_PointsPlan, mf_points_plan, mf_PlanLink, links)
MF_FLAT_INDEXED(mf_PointsPlan, mf_points_plan, int32_t, contacts)
MF_FLAT_INDEXED(mf_PointsPlan, mf_points_plan, double, constants_f64)
MF_FLAT_INDEXED(mf_PointsPlan, mf_points_plan, float, constants_f32)

// Pointers to lane 0 of the lanes to step; values of one lane are MF_BLOCK apart.
typedef struct mf_PointsBlock {
    const mf_PointsPlan *plan;
    const void *varied; // constants of a body for each lane; of mf_points_step_varied only
    const mf_TerrainImage *terrain;
    union {
        struct {
            void *position, *orientation, *linear, *angular, *angle, *rate, *target;
            void *points, *center, *inertia, *inverse, *anchor, *load, *force, *torque;
            void *residual; // NULL but for coupled friction
        };
        void *rows[MF_POINTS_ROWS];
    };
    size_t low[MF_ROW_ANGLE]; // [byte] from values of sums to their remainders; 0: none
    uint32_t *fault;
    mf_WarningRows warnings;
    const void *wrench;           // wrench.link, NULL: robots take no wrenches
    const uint32_t *wrench_count; // wrench.count
    uint32_t wrench_components;   // [1] of wrench.link
    void *scratch;                // what the kernel needs meanwhile, aligned to 64 bytes
    bool joints_due;              // this step begins with a joint update
    bool only_refresh; // compute points, center and inertia from the angles and do nothing else
} mf_PointsBlock;
typedef void (*mf_PointsStepFn)(const mf_PointsBlock *block);

// Advances the lanes of `block` by one step.
MF_KERNEL_COPIES(void, mf_points_step, (const mf_PointsBlock *block));
// The same for lanes of several bodies, whose constants are at block->varied; all else is in the
// plan.
MF_KERNEL_COPIES(void, mf_points_step_varied, (const mf_PointsBlock *block));
// [byte] of scratch that a step needs.
MF_KERNEL_COPIES(size_t, mf_points_scratch_size, (const mf_PointsPlan *plan));
