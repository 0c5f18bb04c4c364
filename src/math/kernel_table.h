// Which copies of the kernels this build has (MAYFLY_COPIES, cmake/kernels.cmake), and tables of
// them, from which host code picks one:
//
//   static const GpRunFn table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_gp_run);
//   table[mf_kernel_row(mf_world_isa(world))][double_precision]
//
// A single robot is fastest with a copy for one lane: mf_kernel_row_single().
#pragma once

#include "math/kernel.h"

#include <math/copies.h> // made by the build: MF_HAS_SCALAR and so on, 0 or 1

#include <mayfly/world.h>

#if MF_HAS_SCALAR
#define MF_IF_SCALAR_(...) __VA_ARGS__
#else
#define MF_IF_SCALAR_(...)
#endif
#if MF_HAS_AVX2
#define MF_IF_AVX2_(...) __VA_ARGS__
#else
#define MF_IF_AVX2_(...)
#endif
#if MF_HAS_AVX512
#define MF_IF_AVX512_(...) __VA_ARGS__
#else
#define MF_IF_AVX512_(...)
#endif
#if MF_HAS_SINGLE
#define MF_IF_SINGLE_(...) __VA_ARGS__
#else
#define MF_IF_SINGLE_(...)
#endif

// X(row, isa) for every copy of this build, where `isa` is the word in the names of functions.
#define MF_EACH_COPY(X)                                                                            \
    MF_IF_SCALAR_(X(MF_ROW_SCALAR, scalar))                                                        \
    MF_IF_AVX2_(X(MF_ROW_AVX2, avx2))                                                              \
    MF_IF_AVX512_(X(MF_ROW_AVX512, avx512))                                                        \
    MF_IF_SINGLE_(X(MF_ROW_SINGLE, single))

// Rows that this build does not have are NULL.
#define MF_KERNEL_TABLE(name)                                                                      \
    {                                                                                              \
        [MF_ROW_SCALAR] = {MF_IF_SCALAR_(name##_scalar_f32, name##_scalar_f64)},                   \
        [MF_ROW_AVX2] = {MF_IF_AVX2_(name##_avx2_f32, name##_avx2_f64)},                           \
        [MF_ROW_AVX512] = {MF_IF_AVX512_(name##_avx512_f32, name##_avx512_f64)},                   \
        [MF_ROW_SINGLE] = {MF_IF_SINGLE_(name##_single_f32, name##_single_f64)},                   \
    }

// The same of a kernel in double alone, one column.
#define MF_KERNEL_TABLE_DOUBLE(name)                                                               \
    {                                                                                              \
        [MF_ROW_SCALAR] = {MF_IF_SCALAR_(name##_scalar_f64)},                                      \
        [MF_ROW_AVX2] = {MF_IF_AVX2_(name##_avx2_f64)},                                            \
        [MF_ROW_AVX512] = {MF_IF_AVX512_(name##_avx512_f64)},                                      \
        [MF_ROW_SINGLE] = {MF_IF_SINGLE_(name##_single_f64)},                                      \
    }

// The same of a kernel in float alone, likewise.
#define MF_KERNEL_TABLE_FLOAT(name)                                                                \
    {                                                                                              \
        [MF_ROW_SCALAR] = {MF_IF_SCALAR_(name##_scalar_f32)},                                      \
        [MF_ROW_AVX2] = {MF_IF_AVX2_(name##_avx2_f32)},                                            \
        [MF_ROW_AVX512] = {MF_IF_AVX512_(name##_avx512_f32)},                                      \
        [MF_ROW_SINGLE] = {MF_IF_SINGLE_(name##_single_f32)},                                      \
    }

// Sets function pointers to the copies of a kernel that a pick names: the wide one and that of one
// lane, or the wide one alone.
#define MF_KERNEL_CHOOSE(wide_copy, single_copy, name, pick)                                       \
    do {                                                                                           \
        static const __typeof__(wide_copy) copies[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(name);      \
        (wide_copy) = copies[(pick).wide][(pick).double_precision];                                \
        (single_copy) = copies[(pick).single][(pick).double_precision];                            \
    } while (0)
#define MF_KERNEL_CHOOSE_WIDE(copy, name, pick)                                                    \
    do {                                                                                           \
        static const __typeof__(copy) copies[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(name);           \
        (copy) = copies[(pick).wide][(pick).double_precision];                                     \
    } while (0)

// A copy of one double per lane that every processor runs which this build is for.
#if MF_HAS_SCALAR
#define MF_ONE_LANE(name) name##_scalar_f64
#else
#define MF_ONE_LANE(name) name##_single_f64
#endif

// Whether this build has the copies of `row` and this processor can run them.
bool mf_kernel_row_available(mf_KernelRow row);

// The row for one lane: the one with the fused multiply-add where the processor has the
// instruction, else the scalar one. The bits are the same.
mf_KernelRow mf_kernel_row_single(mf_Isa isa);

// The table's row for an instruction set that is available here; never MF_ISA_AUTO.
static inline mf_KernelRow mf_kernel_row(mf_Isa isa) {
    if (isa == MF_ISA_SCALAR)
        return MF_HAS_SCALAR ? MF_ROW_SCALAR : MF_ROW_SINGLE;
    return isa == MF_ISA_AVX2 ? MF_ROW_AVX2 : MF_ROW_AVX512;
}

mf_KernelPick mf_kernel_pick(mf_Isa isa, bool double_precision);
