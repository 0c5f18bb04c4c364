// The host's side of the motion `points`: what kernels do not see.
#pragma once

#include "motion/points/plan.h"

typedef struct mf_PointsMotion {
    const mf_PointsPlan *plan;
    const mf_TerrainImage *terrain;
    mf_PointsConfig config;
    uint32_t interval;        // [1] steps between joint updates
    mf_PointsStepFn step;     // `dispatch.lanes` lanes at once
    mf_PointsStepFn step_one; // one lane
    mf_PointsStepFn step_varied, step_one_varied;
    void *varied; // constants of the robots in its lanes, rows of MF_BLOCK; NULL: all have its own
    mf_Field *numbers; // where robots of the group differ (mf_points_vary); else NULL
    mf_Row numbers_row;
    mf_Context *context;
    mf_Dispatch dispatch;
    mf_WarningFields warnings;
    mf_Field *rows[MF_POINTS_ROWS];        // the fields in the order of mf_PointsBlock
    mf_Row row[MF_POINTS_ROWS];            // their data
    mf_Row wrench_row;                     // of wrench.link
    const mf_Field *wrench, *wrench_count; // wrenches of collisions on links, or NULL
} mf_PointsMotion;

// Refuses settings and models that the motion cannot step.
mf_Status mf_points_check(const mf_Group *group, const mf_Model *model,
                          const mf_PointsConfig *config, mf_Error *error);
// Makes the plan of a model for checked settings; the caller frees *out with mf_release.
// MF_NO_MEMORY.
mf_Status mf_points_plan_create(mf_Group *group, const mf_Model *model,
                                const mf_PointsConfig *config, const mf_PointsPlan **out,
                                mf_Error *error);

// Whether the plans are of one tree: bodies that differ in lengths, masses and limits.
bool mf_points_alike(const mf_PointsPlan *a, const mf_PointsPlan *b);
// Of the motion table. MF_UNSUPPORTED: the model's plan has another structure, or the group's
// robots dock or touch others.
mf_Status mf_points_vary(mf_Group *group, void *plan, const mf_Model *model,
                         const uint32_t *instances, uint32_t count, mf_Error *error);
// A constant of an instance.
double mf_points_number(const mf_PointsMotion *motion, uint32_t row, uint32_t instance);
