// The multiply-add rate of one core: independent chains of fused multiply-adds, more of them than
// two units with a latency of four or five cycles can have in flight. All values stay in registers,
// so the figure is clock times width times units at this moment: other load on the machine reduces
// it.
//
// The instruction is written as assembly, because without contraction (-ffp-contract=off) no
// compiler generates it from a product and a sum of vectors.
#include "bench_time.h"

#include <stdint.h>

#define SECONDS 0.05 // [s] of measuring
enum {
    CHAINS = 12, // [1] with two constants they fit into 16 registers
    ROUNDS = 20000
};

// A round of all chains, CHAINS multiply-adds.
typedef void (*RoundsFn)(uint32_t rounds);

#if defined __x86_64__

#define MULTIPLY_ADD(a) "vfmadd213ps %[c], %[m], %[" #a "]\n\t"
#define CHAIN(a) [a] "+v"(a)
// One function for one type of vector; x -> 0.999 x + 0.001 goes to 1 and stays a normal number.
#define DEFINE_ROUNDS(name, isa, bytes)                                                            \
    __attribute__((target(isa))) static void name(uint32_t rounds) {                               \
        typedef float Vector __attribute__((vector_size(bytes)));                                  \
        const Vector m = (Vector){0} + 0.999f, c = (Vector){0} + 0.001f;                           \
        Vector a0 = c, a1 = c, a2 = c, a3 = c, a4 = c, a5 = c;                                     \
        Vector a6 = c, a7 = c, a8 = c, a9 = c, aa = c, ab = c;                                     \
        for (uint32_t i = 0; i < rounds; i++)                                                      \
            __asm__ volatile(MULTIPLY_ADD(a0) MULTIPLY_ADD(a1) MULTIPLY_ADD(a2) MULTIPLY_ADD(a3)   \
                                 MULTIPLY_ADD(a4) MULTIPLY_ADD(a5) MULTIPLY_ADD(a6)                \
                                     MULTIPLY_ADD(a7) MULTIPLY_ADD(a8) MULTIPLY_ADD(a9)            \
                                         MULTIPLY_ADD(aa) MULTIPLY_ADD(ab)                         \
                             : CHAIN(a0), CHAIN(a1), CHAIN(a2), CHAIN(a3), CHAIN(a4), CHAIN(a5),   \
                               CHAIN(a6), CHAIN(a7), CHAIN(a8), CHAIN(a9), CHAIN(aa), CHAIN(ab)    \
                             : [m] "v"(m), [c] "v"(c));                                            \
    }

DEFINE_ROUNDS(rounds_avx512, "avx512f", 64)
DEFINE_ROUNDS(rounds_avx2, "avx2,fma", 32)

#endif

// A constraint that keeps a vector of 16 bytes in a register.
#if defined __x86_64__
#define KEPT "+x"
#elif defined __aarch64__
#define KEPT "+w"
#else
#define KEPT "+m"
#endif

// Any other processor: four lanes, as the compiler does them.
static void rounds_plain(uint32_t rounds) {
    typedef float Vector __attribute__((vector_size(16)));
    const Vector m = (Vector){0} + 0.999f, c = (Vector){0} + 0.001f;
    Vector a[CHAINS];
    for (int k = 0; k < CHAINS; k++)
        a[k] = c;
    for (uint32_t i = 0; i < rounds; i++) {
#pragma GCC unroll 12
        for (int k = 0; k < CHAINS; k++) {
#if defined __FP_FAST_FMAF
            for (int lane = 0; lane < 4; lane++)
                a[k][lane] = __builtin_fmaf(a[k][lane], m[lane], c[lane]);
#else
            a[k] = a[k] * m + c;
#endif
            __asm__ volatile("" : KEPT(a[k])); // every round is done
        }
    }
}

static RoundsFn choose_rounds(uint32_t *lanes) {
#if defined __x86_64__
    if (mf_isa_available(MF_ISA_AVX512)) {
        *lanes = 16;
        return rounds_avx512;
    }
    if (mf_isa_available(MF_ISA_AVX2)) {
        *lanes = 8;
        return rounds_avx2;
    }
#endif
    *lanes = 4;
    return rounds_plain;
}

double mf_core_rate(void) {
    uint32_t lanes;
    const RoundsFn run = choose_rounds(&lanes);
    const double work = 2.0 * CHAINS * (double)lanes * ROUNDS; // [1] operations of a slice
    double best = 0.0;
    const double begin = mf_clock_seconds();
    for (double now = begin; now - begin < SECONDS;) {
        const double then = now;
        run(ROUNDS);
        now = mf_clock_seconds();
        if (work > best * (now - then))
            best = work / (now - then);
    }
    return 1e-9 * best;
}
