// The vectors of the motion kernels are those of math/lane_vector.h.
#ifndef MF_MOTION_POINTS_VECTOR_H
#define MF_MOTION_POINTS_VECTOR_H

#include "math/lane_vector.h"

#endif
