// The floating-point environment while the library computes: rounding to nearest, no traps, gradual
// underflow, as C's default, so that what the library makes does not depend on its host. The host's
// comes back. A result below the smallest normal number is subnormal in every precision on every
// processor: some flush it to zero for float alone, and some before they round and others after.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
// Builtins of the compiler: <xmmintrin.h> is longer than all that most files include.

typedef struct mf_Floats {
    uint32_t control; // of SSE
    uint16_t old;     // of the x87 unit, which the C library asks for the rounding mode
    bool changed;
} mf_Floats;

static inline mf_Floats mf_floats_enter(void) {
    mf_Floats before = {.control = __builtin_ia32_stmxcsr()};
    const uint16_t usual = 0x037f;
    __asm__ volatile("fnstcw %0" : "=m"(before.old));
    before.changed = (before.control & 0xffc0u) != 0x1f80u || (before.old & 0x0f3fu) != 0x033fu;
    if (before.changed) {
        __builtin_ia32_ldmxcsr(0x1f80u);
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(usual));
    }
    return before;
}

// After calls of foreign code: whether the environment still is the default.
static inline bool mf_floats_kept(void) {
    uint16_t old;
    __asm__ volatile("fnstcw %0" : "=m"(old));
    return (__builtin_ia32_stmxcsr() & 0xffc0u) == 0x1f80u && (old & 0x0f3fu) == 0x033fu;
}

static inline void mf_floats_leave(const mf_Floats *before) {
    if (before->changed) {
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(before->old));
        __builtin_ia32_ldmxcsr(before->control);
    }
}
#else
#include <fenv.h>

typedef fenv_t mf_Floats;

static inline mf_Floats mf_floats_enter(void) {
    mf_Floats before;
    fegetenv(&before);
    fesetenv(FE_DFL_ENV);
    return before;
}

static inline bool mf_floats_kept(void) {
    return fegetround() == FE_TONEAREST;
}

static inline void mf_floats_leave(const mf_Floats *before) {
    fesetenv(before);
}
#endif

// The first line of a public function that computes: what it replaces comes back when it returns.
#define MF_DEFAULT_FLOATS                                                                          \
    __attribute__((cleanup(mf_floats_leave), unused)) const mf_Floats mf_floats_before =           \
        mf_floats_enter()
