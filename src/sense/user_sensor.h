// Common host code of a model's sensors and user-defined sensors.
#pragma once

#include <mayfly/world.h>

// Copies `count` components of a field of any type, from `component` on, to the components from
// `row` on of a field of the group's precision, for the robots of some blocks.
void mf_sense_copy(mf_Field *to, uint32_t row, const mf_Field *from, uint32_t component,
                   uint32_t count, uint32_t first_block, uint32_t block_count);
