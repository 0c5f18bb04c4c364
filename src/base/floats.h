// The floating-point environment of the host while the library computes outside of steps: rounding,
// traps and flushing of subnormal numbers are those of C's default, so that what the library makes
// does not depend on its host, and the host's come back. Steps have their own (float_mode.h).
#ifndef MAYFLY_BASE_FLOATS_H
#define MAYFLY_BASE_FLOATS_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <xmmintrin.h>

typedef struct mf_Floats {
    uint32_t control; // of SSE
    uint16_t old;     // of the x87 unit, which the C library asks for the rounding mode
    bool changed;
} mf_Floats;

static inline mf_Floats mf_floats_enter(void) {
    mf_Floats before = {.control = _mm_getcsr()};
    const uint16_t usual = 0x037f;
    __asm__ volatile("fnstcw %0" : "=m"(before.old));
    before.changed = (before.control & 0xffc0u) != 0x1f80u || (before.old & 0x0f3fu) != 0x033fu;
    if (before.changed) {
        _mm_setcsr(0x1f80u);
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(usual));
    }
    return before;
}

static inline void mf_floats_leave(const mf_Floats *before) {
    if (before->changed) {
        __asm__ volatile("fnclex\n\tfldcw %0" : : "m"(before->old));
        _mm_setcsr(before->control);
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

static inline void mf_floats_leave(const mf_Floats *before) {
    fesetenv(before);
}
#endif

// The first line of a public function that computes: what it replaces comes back when it returns.
#define MF_DEFAULT_FLOATS                                                                          \
    __attribute__((cleanup(mf_floats_leave), unused)) const mf_Floats mf_floats_before =           \
        mf_floats_enter()

#endif
