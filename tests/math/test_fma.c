// The fused multiply-add of every copy against literals computed by hand and against the
// processor's instruction (or the C library's function) for operands of all kinds, subnormal ones
// included.
#include "math/fma_cases.h"
#include "math/kernel_table.h"

#include "rig/rig.h"

// ROUNDS * COUNT = 5e6 sets of operands for each precision.
enum { COUNT = 7 * 16 * 64, ROUNDS = 700 };

typedef struct Copy {
    const char *name;
    mf_KernelRow row;
    void (*run)(const void *a, const void *b, const void *c, void *out, uint32_t count,
                mf_FmaForm form);
} Copy;

#define COPY_F32(row, name) {#name "_f32", row, mf_fma_run_##name##_f32},
#define COPY_F64(row, name) {#name "_f64", row, mf_fma_run_##name##_f64},

static const Copy copies_f32[] = {MF_EACH_COPY(COPY_F32)};
static const Copy copies_f64[] = {MF_EACH_COPY(COPY_F64)};
enum { COPIES = sizeof copies_f32 / sizeof *copies_f32 };

// Weyl sequence and a mixing function (Steele, Lea and Flood 2014, SplitMix64).
static uint64_t random_state;

static uint64_t next_random(void) {
    uint64_t z = random_state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

typedef struct Literal_f32 {
    float a, b, c, plain; // a b + c
} Literal_f32;
typedef struct Literal_f64 {
    double a, b, c, plain;
} Literal_f64;

#define REAL float
#define BITS uint32_t
#define NAME(x) x##_f32
#define DIGITS 24
#define EXPONENTS 8
#define FMA fmaf
#include "math/fma_check.h"
#undef REAL
#undef BITS
#undef NAME
#undef DIGITS
#undef EXPONENTS
#undef FMA

#define REAL double
#define BITS uint64_t
#define NAME(x) x##_f64
#define DIGITS 53
#define EXPONENTS 11
#define FMA fma
#include "math/fma_check.h"

TEST(literals_come_out) {
    static const Literal_f32 f32[] = {
        // (1 + u)^2 - 1 keeps u^2, which a rounded product loses: 2 u + u^2 with u = 2^-12
        {0x1.001p0f, 0x1.001p0f, -1.0f, 0x1.0008p-11f},
        // the error of the product 0.1f 0.1f, exactly
        {0x1.99999ap-4f, 0x1.99999ap-4f, -0x1.47ae16p-7f, -0x1.c28f5cp-32f},
        // 1 + 2^-24 is a tie and goes to 1; a little more goes up, a little less stays
        {0x1p-12f, 0x1p-12f, 1.0f, 1.0f},
        {0x1.000002p-12f, 0x1p-12f, 1.0f, 0x1.000002p0f},
        {0x1.fffffep-13f, 0x1p-12f, 1.0f, 1.0f},
        // a little less than a tie, by a digit that a sum in double loses
        {0x1.000002p-12f, 0x1.fffffcp-13f, 0x1.000002p0f, 0x1.000002p0f},
        // signs of zeros
        {-1.0f, 0.0f, 0.0f, 0.0f},
        {-1.0f, 0.0f, -0.0f, -0.0f},
        {1.0f, 1.0f, -1.0f, 0.0f},
        // a product beyond the largest number, brought back; and one that stays there
        {0x1p127f, 2.0f, -0x1p127f, 0x1p127f},
        {0x1p127f, 2.0f, 0.0f, INFINITY},
        {0x1p127f, 2.0f, -INFINITY, -INFINITY},
        // subnormal results and operands
        {0x1p-100f, 0x1p-30f, 0.0f, 0x1p-130f},
        {-0x1p-100f, 0x1p-30f, 0.0f, -0x1p-130f},
        {0x1p-130f, 0x1p100f, 1.0f, 1.0f},
        {0x1p-130f, 0x1p127f, 0.0f, 0x1p-3f},
        {1.0f, 1.0f, 0x1p-130f, 1.0f},
        {0x1p-80f, -0x1p-80f, 0x1p-126f, 0x1p-126f}, // 2^-126 less next to nothing
        // 2^-126 - 2^-150 is a tie: half a unit below the smallest normal number, which is even.
        // 2^-126 - 2^-149 is subnormal.
        {0x1p-75f, -0x1p-76f, 0x1p-126f, 0x1p-126f},
        {0x1p-75f, -0x1p-74f, 0x1p-126f, 0x1.fffffcp-127f},
    };
    static const Literal_f64 f64[] = {
        {0x1.0000001p0, 0x1.0000001p0, -1.0, 0x1.00000008p-27},
        {0x1p-27, 0x1p-26, 1.0, 1.0},
        {0x1.0000000000001p-27, 0x1p-26, 1.0, 0x1.0000000000001p0},
        {0x1.fffffffffffffp-28, 0x1p-26, 1.0, 1.0},
        {-1.0, 0.0, 0.0, 0.0},
        {-1.0, 0.0, -0.0, -0.0},
        {1.0, 1.0, -1.0, 0.0},
        {0x1p1023, 2.0, -0x1p1023, 0x1p1023},
        {0x1p1023, 2.0, 0.0, INFINITY},
        {0x1p1023, 2.0, -INFINITY, -INFINITY},
        {0x1p-1000, 0x1p-30, 0.0, 0x1p-1030},
        {-0x1p-1000, 0x1p-30, 0.0, -0x1p-1030},
        {0x1p-1030, 0x1p1000, 1.0, 0x1.00000004p0},
        {1.0, 1.0, 0x1p-1030, 1.0},
        {0x1p-600, -0x1p-600, 0x1p-1022, 0x1p-1022},
        {0x1p-538, -0x1p-538, 0x1p-1022, 0x1p-1022},
        {0x1p-537, -0x1p-537, 0x1p-1022, 0x1.ffffffffffffep-1023},
        // all of the product but its last digits cancels
        {0x1.fffffffffffffp0, 0x1.fffffffffffffp0, -0x1.ffffffffffffep1, 0x1p-104},
    };
    check_literals_f32(copies_f32, f32, sizeof f32 / sizeof *f32);
    check_literals_f64(copies_f64, f64, sizeof f64 / sizeof *f64);
}

TEST(all_copies_equal_the_instruction) {
    const Copy *real_f32 = NULL, *real_f64 = NULL;
    for (int i = 0; i < COPIES && real_f32 == NULL; i++)
        if (copies_f32[i].row >= MF_ROW_AVX2 && mf_kernel_row_available(copies_f32[i].row)) {
            real_f32 = &copies_f32[i];
            real_f64 = &copies_f64[i];
        }
    random_state = 1;
    check_random_f32(copies_f32, real_f32);
    check_random_f64(copies_f64, real_f64);
}
