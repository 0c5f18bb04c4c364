// Instruction sets: names, what the processor has, what MAYFLY_ISA asks for.
#include "math/kernel.h"

#include <stdlib.h>
#include <string.h>

static const char *const isa_names[] = {"auto", "scalar", "baseline", "avx2", "avx512"};

const char *mf_isa_name(mf_Isa isa) {
    size_t index = (size_t)isa;
    return index < sizeof isa_names / sizeof *isa_names ? isa_names[index] : "unknown";
}

bool mf_isa_available(mf_Isa isa) {
    switch (isa) {
    case MF_ISA_AUTO:
    case MF_ISA_SCALAR:
    case MF_ISA_BASELINE:
        return true;
#if defined(MF_WIDE_COPIES)
    case MF_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    case MF_ISA_AVX512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("fma");
#endif
    default:
        return false;
    }
}

static mf_Isa best_isa(void) {
    if (mf_isa_available(MF_ISA_AVX512))
        return MF_ISA_AVX512;
    return mf_isa_available(MF_ISA_AVX2) ? MF_ISA_AVX2 : MF_ISA_BASELINE;
}

mf_Status mf_isa_detect(mf_Isa *out, mf_Error *error) {
    if (out == NULL)
        return mf_fail(error, MF_BAD_ARGUMENT, "mf_isa_detect: out is NULL");
    *out = best_isa();
    const char *wanted = getenv("MAYFLY_ISA");
    if (wanted == NULL || *wanted == '\0' || strcmp(wanted, "auto") == 0)
        return MF_OK;
    for (int i = MF_ISA_SCALAR; i <= MF_ISA_AVX512; i++) {
        if (strcmp(wanted, isa_names[i]) != 0)
            continue;
        if (!mf_isa_available((mf_Isa)i))
            return mf_fail(error, MF_UNSUPPORTED,
                           "MAYFLY_ISA=%s: this processor does not have it (best here: %s)", wanted,
                           mf_isa_name(*out));
        *out = (mf_Isa)i;
        return MF_OK;
    }
    return mf_fail(error, MF_BAD_ARGUMENT,
                   "MAYFLY_ISA=%.40s: expected auto, scalar, baseline, avx2 or avx512", wanted);
}
