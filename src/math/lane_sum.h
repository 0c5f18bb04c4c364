// Sums of many small steps. In single precision a position of 10 km has digits of 1 mm, so a step
// of a slow body is rounded away. Each sum therefore has a remainder, `low`: what rounding has left
// out of it, which the next step adds again (Kahan 1965). Double precision needs none and has none.
//
// Invariant: a remainder is at most half of the last digit of its sum, so sum + low rounds to sum.
#pragma once

#include "math/lane_vector.h"

// `more` + sum, where `more` holds the remainder already.
static MF_INLINE mf_lane sum_late(mf_lane more, mf_lane sum, mf_lane *low) {
    const mf_lane next = sum + more;
#if defined(MF_KERNEL_F64)
    (void)low;
#else
    *low = more - (next - sum);
#endif
    return next;
}

// a b + sum. (Where `sum` is smaller than what is added, `low` may miss a rounding of the latter.)
static MF_INLINE mf_lane sum_fma(mf_lane a, mf_lane b, mf_lane sum, mf_lane *low) {
#if defined(MF_KERNEL_F64)
    (void)low;
    return mf_fma(a, b, sum);
#else
    return sum_late(mf_fma(a, b, *low), sum, low);
#endif
}

static MF_INLINE mf_lane sum_plus(mf_lane more, mf_lane sum, mf_lane *low) {
#if !defined(MF_KERNEL_F64)
    more = more + *low;
#endif
    return sum_late(more, sum, low);
}

// A sum seen from elsewhere: sum + shift, with all that rounding leaves out, whatever the sizes
// (Knuth 1969, two-sum).
static MF_INLINE mf_lane sum_shift(mf_lane shift, mf_lane sum, mf_lane *low) {
    const mf_lane next = sum + shift;
#if defined(MF_KERNEL_F64)
    (void)low;
#else
    const mf_lane part = next - sum;
    *low = *low + ((sum - (next - part)) + (shift - part));
#endif
    return next;
}

static MF_INLINE Vec vec_sum_fma(Vec a, mf_lane b, Vec sum, Vec *low) {
    return MF_VALUE(Vec, sum_fma(a.x, b, sum.x, &low->x), sum_fma(a.y, b, sum.y, &low->y),
                    sum_fma(a.z, b, sum.z, &low->z));
}

static MF_INLINE Vec vec_sum_plus(Vec more, Vec sum, Vec *low) {
    return MF_VALUE(Vec, sum_plus(more.x, sum.x, &low->x), sum_plus(more.y, sum.y, &low->y),
                    sum_plus(more.z, sum.z, &low->z));
}

static MF_INLINE Vec vec_sum_late(Vec more, Vec sum, Vec *low) {
    return MF_VALUE(Vec, sum_late(more.x, sum.x, &low->x), sum_late(more.y, sum.y, &low->y),
                    sum_late(more.z, sum.z, &low->z));
}

static MF_INLINE Vec vec_sum_shift(Vec shift, Vec sum, Vec *low) {
    return MF_VALUE(Vec, sum_shift(shift.x, sum.x, &low->x), sum_shift(shift.y, sum.y, &low->y),
                    sum_shift(shift.z, sum.z, &low->z));
}

// a b + longer sum + sum.
static MF_INLINE mf_lane sum_fma_longer(mf_lane a, mf_lane b, mf_lane longer, mf_lane sum,
                                        mf_lane *low) {
#if defined(MF_KERNEL_F64)
    (void)low;
    return mf_fma(a, b, mf_fma(longer, sum, sum));
#else
    *low = mf_fma(longer, sum, *low);
    return sum_fma(a, b, sum, low);
#endif
}

// A unit quaternion and its change, a b. A length that is off by more than rounding is brought back
// by a step of Newton's method, which turns nothing; else a body at rest keeps its attitude to the
// bit.
static MF_INLINE Quat quat_sum_fma(Quat a, mf_lane b, Quat q, Quat *low) {
    const mf_lane half = mf_set((mf_real)0.5);
    const mf_lane square = mf_fma(q.w, q.w, q.x * q.x) + mf_fma(q.y, q.y, q.z * q.z);
    mf_lane longer = mf_max(mf_fma(-half, square, half), -half);
    longer = mf_keep(mf_less(mf_set(2 * MF_REAL_EPSILON), mf_abs(longer)), longer);
    return MF_VALUE(Quat, sum_fma_longer(a.w, b, longer, q.w, &low->w),
                    sum_fma_longer(a.x, b, longer, q.x, &low->x),
                    sum_fma_longer(a.y, b, longer, q.y, &low->y),
                    sum_fma_longer(a.z, b, longer, q.z, &low->z));
}

static MF_INLINE Quat quat_sum_plus(Quat change, Quat q, Quat *low) {
    return quat_sum_fma(change, mf_set((mf_real)1), q, low);
}

// ---- remainders in memory -----------------------------------------------------------------------

// The remainders of a row, which are `bytes` behind its values; NULL: it has none (0 bytes).
static MF_INLINE mf_real *low_row(void *row, size_t bytes) {
#if defined(MF_KERNEL_F64)
    (void)row, (void)bytes;
    return NULL;
#else
    return bytes == 0 ? NULL : (mf_real *)((char *)row + bytes);
#endif
}

static MF_INLINE mf_lane low_load(const mf_real *lows, size_t c) {
    return lows == NULL ? mf_zero() : row_load(lows, c);
}

static MF_INLINE Vec low_vec(const mf_real *lows, size_t c) {
    return MF_VALUE(Vec, low_load(lows, c), low_load(lows, c + 1), low_load(lows, c + 2));
}

static MF_INLINE Quat low_quat(const mf_real *lows, size_t c) {
    return MF_VALUE(Quat, low_load(lows, c), low_load(lows, c + 1), low_load(lows, c + 2),
                    low_load(lows, c + 3));
}
