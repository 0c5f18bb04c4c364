// A step of one cloth: what its parts share.
#pragma once

#include "motion/cloth/motion.h"

typedef struct mf_ClothStep {
    const mf_ClothMotion *motion;
    mf_Context *context; // NULL: one thread
    uint32_t instance;
    mf_ClothJob job;
    uint8_t *row_pinned;   // [1] per row of slots: 1: a vertex in it is pinned
    mf_ClothSum *sums;     // per piece
    uint32_t pieces, wave; // [1]
    bool ends, begins;     // of mf_cloth_move
    mf_TaskFn task;        // that threads share
    const mf_ClothSurroundings *around;
    mf_Solid *obstacles;
    uint32_t dropped;            // [1] obstacles and near vertices beyond the capacity
    uint32_t passed_by;          // [1] of them obstacles
    mf_ClothResidual *residuals; // per chunk
    char *after;                 // memory for job.after
    double passed;               // [m] way of a vertex that the search for near ones does not cover
    mf_Solid *start;             // the obstacles when the step begins
} mf_ClothStep;

// A value of an array of the working memory.
static inline double mf_cloth_get(const mf_ClothStep *step, uint32_t array, uint32_t at) {
    const size_t index = array * mf_cloth_scratch_size(step->motion->plan) + at;
    return step->motion->wide ? ((const double *)step->job.work)[index]
                              : (double)((const float *)step->job.work)[index];
}

static inline void mf_cloth_put(const mf_ClothStep *step, uint32_t array, uint32_t at,
                                double value) {
    const size_t index = array * mf_cloth_scratch_size(step->motion->plan) + at;
    if (step->motion->wide)
        ((double *)step->job.work)[index] = value;
    else
        ((float *)step->job.work)[index] = (float)value;
}

static inline uint32_t mf_cloth_rows(const mf_ClothPlan *plan) {
    return plan->slot_count / MF_CLOTH_LANES;
}

// Before the substeps: how many vertices are fixed (pins.c); and after them.
uint32_t mf_cloth_begin_pins(mf_ClothStep *step);
void mf_cloth_end_pins(const mf_ClothStep *step);
