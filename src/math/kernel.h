// The copies of a kernel: the build compiles a `*_kernel.c` file once per instruction set and
// precision (math/lane.h). This macro declares them, whether a build has all of them or not; host
// code picks one from a table (math/kernel_table.h).
//
//   MF_KERNEL_COPIES(void, mf_gp_run, (const mf_GpBatch *batch));        in the kernel's header
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "math/dialect.h"

#define MF_KERNEL_PAIR_(result, name, isa, arguments)                                              \
    result name##_##isa##_f32 arguments;                                                           \
    result name##_##isa##_f64 arguments

#define MF_KERNEL_COPIES(result, name, arguments)                                                  \
    MF_KERNEL_PAIR_(result, name, scalar, arguments);                                              \
    MF_KERNEL_PAIR_(result, name, avx2, arguments);                                                \
    MF_KERNEL_PAIR_(result, name, avx512, arguments);                                              \
    MF_KERNEL_PAIR_(result, name, single, arguments)

typedef enum mf_KernelRow {
    MF_ROW_SCALAR, // one lane, the fused multiply-add emulated where it is not in every processor
    MF_ROW_AVX2,
    MF_ROW_AVX512,
    MF_ROW_SINGLE, // one lane with the instruction for the fused multiply-add
    MF_KERNEL_ROWS
} mf_KernelRow;

// The copies for a group: of `wide` for `lanes` robots at once, of `single` for one.
typedef struct mf_KernelPick {
    mf_KernelRow wide, single;
    bool double_precision;
    uint32_t lanes; // [1]
} mf_KernelPick;
