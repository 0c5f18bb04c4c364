// Boxes about the shapes of a plan of collisions, along their axes.
#pragma once

#include "contact/collide.h"

// Values of a shape's box; those of all shapes follow the margins of the classes in the
// plan's values.
enum {
    MF_COLLIDE_BOX_HALF,       // [m] 3 values: half edges
    MF_COLLIDE_BOX_MIDDLE = 3, // [m] 3 values: its center, from the shape's
    MF_COLLIDE_BOX_VALUES = 6
};

static inline size_t mf_collide_box_at(const mf_CollidePlan *plan, uint32_t shape) {
    return (size_t)plan->shape_count * MF_COLLIDE_SHAPE_VALUES + plan->class_count +
           (size_t)shape * MF_COLLIDE_BOX_VALUES;
}
