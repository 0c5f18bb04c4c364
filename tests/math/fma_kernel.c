// Runs mf_fma over arrays; compiled once per instruction set and precision like every kernel.
#include "fma_cases.h"

#include "math/lane.h"

void MF_KERNEL(mf_fma_run)(const void *a, const void *b, const void *c, void *out, uint32_t count,
                           mf_FmaForm form) {
    const mf_real *x = (const mf_real *)a, *y = (const mf_real *)b, *z = (const mf_real *)c;
    for (uint32_t at = 0; at < count; at += MF_LANES) {
        mf_lane left = mf_load(x + at), right = mf_load(y + at), term = mf_load(z + at);
        mf_lane sum = form == MF_FMA_NEGATED   ? mf_fma(-left, right, -term)
                      : form == MF_FMA_ROTATED ? -mf_fma(left, right, term)
                                               : mf_fma(left, right, term);
        mf_store((mf_real *)out + at, sum);
    }
}
