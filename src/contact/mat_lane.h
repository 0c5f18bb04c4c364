// Products of matrices of lanes.
#pragma once

#include "math/lane_vector.h"

// a b
static inline Mat mat_times(const Mat *a, const Mat *b) {
    Vec x = mat_apply(a, MF_VALUE(Vec, b->xx, b->yx, b->zx)),
        y = mat_apply(a, MF_VALUE(Vec, b->xy, b->yy, b->zy)),
        z = mat_apply(a, MF_VALUE(Vec, b->xz, b->yz, b->zz));
    return MF_VALUE(Mat, x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z);
}

// m^T b
static inline Mat mat_transposed_times(const Mat *m, const Mat *b) {
    Vec x = mat_apply_transposed(m, MF_VALUE(Vec, b->xx, b->yx, b->zx));
    Vec y = mat_apply_transposed(m, MF_VALUE(Vec, b->xy, b->yy, b->zy));
    Vec z = mat_apply_transposed(m, MF_VALUE(Vec, b->xz, b->yz, b->zz));
    return MF_VALUE(Mat, x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z);
}
