// Warnings that need no motion's help (inspect.c).
#pragma once

#include "world/group.h"

enum { MF_INSPECT_STEPS = 32 }; // [1] every so many steps

// Whether the state after a step is examined.
static inline bool mf_inspect_due(uint64_t tick) {
    return tick % MF_INSPECT_STEPS == MF_INSPECT_STEPS - 1;
}

// Positions, angles and falls of the robots of some blocks, and encounters within each robot.
void mf_inspect_blocks(mf_Group *group, uint32_t first, uint32_t count);

// Bodies that may have passed through others (inspect_encounters.c). `others`: also through those
// of other robots; no system must run then.
void mf_inspect_encounters(mf_Group *group, uint32_t first, uint32_t count, bool others);

// The values of a component in a block, of a field of numbers; those of double precision as
// `converted`.
const float *mf_inspect_row(const mf_Field *field, uint32_t block, uint32_t component,
                            float converted[MF_BLOCK]);

// To be called again when the fields of the group's motion exist.
void mf_inspect_prepare(mf_Group *group);

// Counts a step with a warning of a robot that has no fault.
void mf_inspect_warn(mf_Group *group, uint32_t instance, uint32_t bit, double residual);
