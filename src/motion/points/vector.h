// Motion kernels use the vectors of math/lane_vector.h.
#pragma once

#include "math/lane_vector.h"
