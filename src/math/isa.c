// Instruction sets: names, those of the processor and this build, and the choice by MAYFLY_ISA.
#include "math/kernel_table.h"
#include "base/floats.h"

#include <stdlib.h>
#include <string.h>

static const char *const isa_names[] = {"auto", "scalar", "avx2", "avx512"};

const char *mf_isa_name(mf_Isa isa) {
    size_t index = (size_t)isa;
    return index < sizeof isa_names / sizeof *isa_names ? isa_names[index] : "unknown";
}

// True for instruction sets that every processor of the target architecture has.
static bool processor_has(mf_KernelRow row) {
    switch (row) {
#if defined(__x86_64__)
    case MF_ROW_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case MF_ROW_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("fma");
    case MF_ROW_SINGLE:
        return __builtin_cpu_supports("fma");
#endif
    default:
        return true;
    }
}

bool mf_kernel_row_available(mf_KernelRow row) {
    static const bool built[MF_KERNEL_ROWS] = {MF_HAS_SCALAR, MF_HAS_AVX2, MF_HAS_AVX512,
                                               MF_HAS_SINGLE};
    return built[row] && processor_has(row);
}

mf_KernelRow mf_kernel_row_single(mf_Isa isa) {
    const bool wide = isa == MF_ISA_AVX2 || isa == MF_ISA_AVX512 || !MF_HAS_SCALAR;
    return wide && mf_kernel_row_available(MF_ROW_SINGLE) ? MF_ROW_SINGLE : MF_ROW_SCALAR;
}

mf_KernelPick mf_kernel_pick(mf_Isa isa, bool double_precision) {
    static const uint32_t vectors[MF_KERNEL_ROWS] = {1, 8, 16, 1}; // floats
    mf_KernelPick pick = {.wide = mf_kernel_row(isa),
                          .single = mf_kernel_row_single(isa),
                          .double_precision = double_precision};
    pick.lanes = vectors[pick.wide];
    if (pick.lanes > 1 && double_precision)
        pick.lanes /= 2;
    return pick;
}

bool mf_isa_available(mf_Isa isa) {
    return isa == MF_ISA_AUTO ||
           ((unsigned)isa <= MF_ISA_AVX512 && mf_kernel_row_available(mf_kernel_row(isa)));
}

static mf_Isa best_isa(void) {
    mf_Isa best = MF_ISA_AVX512;
    while (best > MF_ISA_SCALAR && !mf_isa_available(best))
        best--;
    return best;
}

static mf_Status refuse(mf_Isa isa, mf_Isa best, mf_Error *error) {
    const bool missing = processor_has(mf_kernel_row(isa));
    return mf_fail(error, MF_UNSUPPORTED, "MAYFLY_ISA=%s: this %s does not have it (best here: %s)",
                   mf_isa_name(isa), missing ? "build" : "processor", mf_isa_name(best));
}

mf_Status mf_isa_detect(mf_Isa *out, mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(out != NULL, error, "mf_isa_detect: out is NULL");
    *out = best_isa();
    MF_CHECK(mf_isa_available(*out), error, MF_UNSUPPORTED,
             "this build is for another processor: expected one with fused multiply-add, "
             "or a build with -DMAYFLY_COPIES=all");
    const char *name = getenv("MAYFLY_ISA");
    if (name == NULL || *name == '\0' || strcmp(name, "auto") == 0)
        return MF_OK;
    for (mf_Isa isa = MF_ISA_SCALAR; isa <= MF_ISA_AVX512; isa++) {
        if (strcmp(name, mf_isa_name(isa)) != 0)
            continue;
        if (!mf_isa_available(isa))
            return refuse(isa, *out, error);
        *out = isa;
        return MF_OK;
    }
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "MAYFLY_ISA=%.40s: expected auto, scalar, avx2 or avx512", name);
}
