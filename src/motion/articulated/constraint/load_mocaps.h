// Poses of mocap bodies from their fields.
#pragma once

#include "motion/articulated/tree/aba_velocity.h"
#include "motion/articulated/load_store.h"

// Poses of mocap bodies, for the whole step.
static inline void load_mocaps(const mf_ArtBlock *block, Work *work) {
    const mf_ArtPlan *plan = block->plan;
    for (uint32_t i = 0; i < plan->mocap_count; i++)
        work->contacts.pose[plan->link_count + 1 + i] = MF_VALUE(
            Pose,
            quat_matrix(quat_normalize(quat_load(row_of(block, MF_ART_ROW_MOCAP_ROTATION), 4 * i))),
            vec_load(row_of(block, MF_ART_ROW_MOCAP_POSITION), 3 * i), vec_zero());
}
