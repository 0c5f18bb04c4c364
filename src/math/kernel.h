// Choosing one of the copies of a kernel: the build compiles a `*_kernel.c` file once per
// instruction set and precision (see math/lane.h); these macros declare the copies and make the
// table from which host code picks one.
//
//   MF_KERNEL_COPIES(void, mf_gp_run, (const mf_GpBatch *batch));        in the kernel's header
//   static const GpRunFn table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_gp_run);
//   table[mf_kernel_row(mf_world_isa(world))][double_precision]
//
// A lone robot is best served by a copy for one lane: mf_kernel_row_single(). A build for checking
// (MF_FEW_COPIES, cmake/kernels.cmake) knows the scalar and the baseline copies only.
#ifndef MF_MATH_KERNEL_H
#define MF_MATH_KERNEL_H

#include <mayfly/world.h>

#if defined(__x86_64__) && !defined(MF_FEW_COPIES)
#define MF_WIDE_COPIES // AVX2, AVX-512, and one lane with the fused multiply-add of those
#endif

#define MF_KERNEL_PAIR_(result, name, isa, arguments)                                              \
    result name##_##isa##_f32 arguments;                                                           \
    result name##_##isa##_f64 arguments

#if defined(MF_WIDE_COPIES)
enum { MF_KERNEL_ROWS = 5 };
#define MF_KERNEL_COPIES(result, name, arguments)                                                  \
    MF_KERNEL_PAIR_(result, name, scalar, arguments);                                              \
    MF_KERNEL_PAIR_(result, name, baseline, arguments);                                            \
    MF_KERNEL_PAIR_(result, name, avx2, arguments);                                                \
    MF_KERNEL_PAIR_(result, name, avx512, arguments);                                              \
    MF_KERNEL_PAIR_(result, name, single, arguments)
#define MF_KERNEL_TABLE(name)                                                                      \
    {                                                                                              \
        {name##_scalar_f32, name##_scalar_f64}, {name##_baseline_f32, name##_baseline_f64},        \
            {name##_avx2_f32, name##_avx2_f64}, {name##_avx512_f32, name##_avx512_f64},            \
            {name##_single_f32, name##_single_f64},                                                \
    }
#else
enum { MF_KERNEL_ROWS = 2 };
#define MF_KERNEL_COPIES(result, name, arguments)                                                  \
    MF_KERNEL_PAIR_(result, name, scalar, arguments);                                              \
    MF_KERNEL_PAIR_(result, name, baseline, arguments)
#define MF_KERNEL_TABLE(name)                                                                      \
    { {name##_scalar_f32, name##_scalar_f64}, {name##_baseline_f32, name##_baseline_f64}, }
#endif

// The table's row for an instruction set that this processor has; never MF_ISA_AUTO.
static inline int mf_kernel_row(mf_Isa isa) {
#if defined(MF_WIDE_COPIES)
    return isa == MF_ISA_SCALAR ? 0 : isa == MF_ISA_BASELINE ? 1 : isa == MF_ISA_AVX2 ? 2 : 3;
#else
    return isa == MF_ISA_SCALAR ? 0 : 1;
#endif
}

// The row of the copy for one lane: with the wide sets comes the fused multiply-add.
static inline int mf_kernel_row_single(mf_Isa isa) {
#if defined(MF_WIDE_COPIES)
    return isa == MF_ISA_AVX2 || isa == MF_ISA_AVX512 ? 4 : 0;
#else
    (void)isa;
    return 0;
#endif
}

#endif
