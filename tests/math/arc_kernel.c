// The arc tangent of a ratio and the short sine and cosine, over arrays, for test_arc.c.
#include "math/lane_functions.h"
#include "math/kernel.h"
#include "arc_cases.h"

void MF_KERNEL(mf_arc_run)(const mf_ArcBatch *batch) {
    const mf_real *a = batch->a, *b = batch->b;
    mf_real *atan = batch->atan, *sine = batch->sine, *cosine = batch->cosine;
    for (uint32_t i = 0; i < batch->count; i += MF_LANES) {
        mf_lane x = mf_load(a + i);
        mf_store(atan + i, mf_atan_ratio_lane(x, mf_load(b + i)));
        mf_store(sine + i, mf_sin_short_lane(x));
        mf_store(cosine + i, mf_cos_short_lane(x));
    }
}
