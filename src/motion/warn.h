// Warnings of a step, for kernels: collected while lanes are stepped, stored once at the end, so
// that warning.steps counts steps (mayfly/world.h). A step without warnings costs one test.
#pragma once

#include "math/lane.h"
#include "motion/dispatch.h"

typedef struct Warnings {
    bool any; // the rest is set
    mf_mask where[MF_WARNING_KINDS];
    mf_lane residual[MF_WARNING_KINDS];
} Warnings;

static inline void warnings_raise(Warnings *all, mf_mask where, uint32_t bit, mf_lane residual) {
    if (!mf_any(where))
        return;
    for (uint32_t k = 0; k < MF_WARNING_KINDS && !all->any; k++) {
        all->where[k] = mf_not(mf_mask_all());
        all->residual[k] = mf_zero();
    }
    all->any = true;
    uint32_t kind = 0;
    while (bit >> kind != 1)
        kind++;
    all->where[kind] = mf_or(all->where[kind], where);
    all->residual[kind] = mf_max(all->residual[kind], mf_keep(where, residual));
}

static inline void warnings_store(const Warnings *all, const mf_WarningRows *rows, mf_mask alive) {
    if (!all->any || rows->word == NULL)
        return;
    mf_index word = mf_load_index((const int32_t *)rows->word);
    for (uint32_t k = 0; k < MF_WARNING_KINDS; k++) {
        const mf_mask where = mf_and(all->where[k], alive);
        if (!mf_any(where))
            continue;
        int32_t *steps = (int32_t *)rows->steps + (size_t)k * MF_BLOCK;
        mf_real *residual = (mf_real *)rows->residual + (size_t)k * MF_BLOCK;
        const mf_index count = mf_load_index(steps);
        word = mf_select_index(where, word | mf_set_index(INT32_C(1) << k), word);
        mf_store_index(steps, mf_select_index(where, count + mf_set_index(1), count));
        mf_store_where(where, residual, mf_max(mf_load(residual), all->residual[k]));
    }
    mf_store_index((int32_t *)rows->word, word);
}
