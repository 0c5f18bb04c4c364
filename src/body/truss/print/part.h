// The solids of the parts of a bar.
#pragma once

#include "body/truss/print/joint.h"
#include "body/truss/print/solid.h"

// Adds a part of a bar whose vertices are `length` [m] apart: the first in the origin, the second
// on +z. `first` and `second` say which halves: a plain bar is both, an actuated bar has a part for
// each, with the seat of the actuator's body at the first and that of its rod at the second vertex.
mf_Status mf_part_draw(mf_SolidDraft *draft, const mf_JointPlan *plan, uint32_t bar, double length,
                       bool first, bool second, mf_Error *error);

// Adds the actuator of a bar of that length.
void mf_part_draw_actuator(mf_SolidDraft *draft, const mf_JointPlan *plan, uint32_t bar,
                           double length);

// [1] sockets at the hub of an end.
uint32_t mf_part_sockets(const mf_JointPlan *plan, uint32_t bar, uint32_t end);
