// The floating-point mode of a step: round to nearest, no traps, subnormal operands and results are
// zero. Whatever the host program, a plugin or a library has set, a step computes the same bits;
// and the processor's slow path for subnormal numbers (100 cycles and more) is never taken.
#ifndef MF_MATH_FLOAT_MODE_H
#define MF_MATH_FLOAT_MODE_H

#include <stdbool.h>

#if defined(__SSE2__)
#include <xmmintrin.h>

#define MF_STEP_FLOAT_MODE 0x9fc0u // MXCSR: flush to zero, denormals are zero, all masked, nearest

// Returns the previous mode.
static inline unsigned mf_float_mode_enter(void) {
    unsigned before = _mm_getcsr();
    _mm_setcsr(MF_STEP_FLOAT_MODE);
    return before;
}

static inline void mf_float_mode_leave(unsigned before) {
    _mm_setcsr(before);
}

// The current mode, for comparison.
static inline unsigned mf_float_mode_read(void) {
    return _mm_getcsr();
}

// Whether subnormal results become zero, and whether subnormal operands count as zero.
static inline bool mf_float_mode_flushes(void) {
    return (_mm_getcsr() & 0x8000u) != 0;
}

static inline bool mf_float_mode_ignores(void) {
    return (_mm_getcsr() & 0x40u) != 0;
}
#else
static inline unsigned mf_float_mode_enter(void) {
    return 0;
}

static inline void mf_float_mode_leave(unsigned before) {
    (void)before;
}

static inline unsigned mf_float_mode_read(void) {
    return 0;
}

static inline bool mf_float_mode_flushes(void) {
    return false;
}

static inline bool mf_float_mode_ignores(void) {
    return false;
}
#endif

#endif
