// The lane type: one value of MF_LANES robots side by side.
//
// A kernel includes this header and is compiled once per instruction set (MF_KERNEL_SCALAR,
// _AVX2, _AVX512, and _SINGLE: one lane with the processor's fused multiply-add) and precision
// (MF_KERNEL_F32, _F64); MF_KERNEL(name) gives each copy its own name. `+ - * /` and a
// minus sign work on lanes; everything else is a function here with one meaning on every set. All
// of them are IEEE operations or exact selections, so all copies give the same bits.
// mf_fma(a, b, c) is a b + c rounded once; mf_fma(-a, b, c) is one instruction too.
// The scalar copy is also the shape of a GPU thread; NEON would be one more lane_<set>.h.
//
// Types: mf_real (float or double), mf_lane, mf_mask (one truth value per lane), mf_index (one
// int32 per lane). Vectors are types of their own, not those of the intrinsics: a store of __m256
// may alias anything, so that the compiler would read pointers and counts again after each.
#pragma once

#include <float.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "math/dialect.h"

// For the functions of a kernel's hot path, so that lanes stay in registers.
#if defined(__GNUC__)
#define MF_INLINE inline __attribute__((always_inline))
#else
#define MF_INLINE inline
#endif

#define MF_JOIN3_(a, b, c) a##_##b##_##c
#define MF_JOIN3(a, b, c) MF_JOIN3_(a, b, c)

#if defined(MF_KERNEL_F64)
typedef double mf_real;
#define MF_PRECISION_NAME f64
#define MF_REAL_MAX DBL_MAX
#define MF_REAL_EPSILON DBL_EPSILON
#else
typedef float mf_real;
#define MF_PRECISION_NAME f32
#define MF_REAL_MAX FLT_MAX
#define MF_REAL_EPSILON FLT_EPSILON
#endif

#if defined(MF_KERNEL_AVX512)
#define MF_ISA_SUFFIX avx512
#include "math/lane_avx512.h"
#elif defined(MF_KERNEL_AVX2)
#define MF_ISA_SUFFIX avx2
#include "math/lane_avx2.h"
#elif defined(MF_KERNEL_SINGLE)
#define MF_ISA_SUFFIX single
#include "math/lane_scalar.h"
#else
#define MF_ISA_SUFFIX scalar
#include "math/lane_scalar.h"
#endif

// The name of this copy of a kernel function: MF_KERNEL(mf_points_step) is, for example,
// mf_points_step_avx512_f32.
#define MF_KERNEL(name) MF_JOIN3(name, MF_ISA_SUFFIX, MF_PRECISION_NAME)

// ---- what follows from the operations above -----------------------------------------------------

static inline mf_lane mf_zero(void) {
    return mf_set((mf_real)0);
}

static inline mf_lane mf_clamp(mf_lane a, mf_lane low, mf_lane high) {
    return mf_min(mf_max(a, low), high);
}

// `a` where the mask holds, else 0.
static inline mf_lane mf_keep(mf_mask mask, mf_lane a) {
    return mf_select(mask, a, mf_zero());
}

// True where `a` is neither infinite nor NaN.
static inline mf_mask mf_finite(mf_lane a) {
    return mf_less_equal(mf_abs(a), mf_set(MF_REAL_MAX));
}

// Largest whole number <= a, for |a| < 2^31.
static inline mf_lane mf_floor_lane(mf_lane a) {
    mf_lane whole = mf_from_index(mf_to_index(a));
    return mf_select(mf_less(a, whole), whole - mf_set((mf_real)1), whole);
}
