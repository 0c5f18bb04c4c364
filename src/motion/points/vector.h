// The vectors of the motion kernels are those of math/lane_vector.h.
#pragma once

#include "math/lane_vector.h"
