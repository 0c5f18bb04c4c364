// The lane type: every operation on every instruction set against its definition in plain C, to the
// bit; functions with the same bits on all sets and within their stated error.
#include "math/kernel_table.h"
#include "math/lane_cases.h"

#include "rig/rig.h"
#include <float.h>

enum { COUNT = 8192 };

typedef struct Copies {
    const char *name;
    mf_KernelRow row;
    void (*run)(mf_LaneCase which, const mf_LaneInput *input, void *out);
    uint32_t (*masks)(const mf_LaneInput *input, int32_t *out);
    uint32_t (*scatter)(const mf_LaneInput *input, void *out, int32_t *list);
    uint32_t (*records)(const mf_LaneInput *input, void *out, int32_t *list);
} Copies;

#define COPIES_OF(row, name)                                                                       \
    {#name,                                                                                        \
     row,                                                                                          \
     mf_lane_run_##name,                                                                           \
     mf_lane_masks_##name,                                                                         \
     mf_lane_scatter_##name,                                                                       \
     mf_lane_records_##name},
#define COPIES_OF_F32(row, name) COPIES_OF(row, name##_f32)
#define COPIES_OF_F64(row, name) COPIES_OF(row, name##_f64)

static const Copies copies_f32[] = {MF_EACH_COPY(COPIES_OF_F32)};
static const Copies copies_f64[] = {MF_EACH_COPY(COPIES_OF_F64)};
enum { COPIES = sizeof copies_f32 / sizeof *copies_f32 };

static void *aligned(size_t size) {
    void *memory = aligned_alloc(64, (size + 63) / 64 * 64);
    assert_non_null(memory);
    return memory;
}

// Among them the smallest normal numbers and factors whose products with these are just below them.
static const double specials[] = {
    0.0,       -0.0,        1.0,      -1.0,      0.5,           -1.5,
    2.0,       1e-30,       -3e-39,   1e-44,     -1e-44,        1.2e-38,
    1e-310,    -5e-324,     3.0e38,   -3.0e38,   1e300,         -1e300,
    INFINITY,  -INFINITY,   NAN,      8192.0,    16777216,      3.1415927,
    1.5707963, -0.78539816, 0x1p-126, 0x1p-1022, 0x1.fffffep-1, 0x1.fffffffffffffp-1};
enum { SPECIALS = sizeof specials / sizeof *specials };

#define MAKE_VALUES(REAL, NAME)                                                                    \
    typedef struct NAME(Values) {                                                                  \
        _Alignas(64) REAL a[COUNT];                                                                \
        REAL b[COUNT];                                                                             \
        REAL small[COUNT]; /* |small| < 2^30 */                                                    \
        int32_t i[COUNT];                                                                          \
        int32_t j[COUNT];                                                                          \
    } NAME(Values);                                                                                \
    /* All pairs of special values, then random numbers of all sizes. */                           \
    static NAME(Values) * NAME(make_values)(void) {                                                \
        NAME(Values) *values = aligned(sizeof *values);                                            \
        for (uint32_t k = 0; k < COUNT; k++) {                                                     \
            uint32_t word[4];                                                                      \
            mf_random(11, k, 0, 0, word);                                                          \
            double sign = word[0] & 1 ? 1.0 : -1.0;                                                \
            double unit = mf_random_unit_double(word[0], word[1]);                                 \
            bool special = k < SPECIALS * SPECIALS;                                                \
            values->a[k] = (REAL)(special ? specials[k / SPECIALS]                                 \
                                          : sign * ldexp(unit, (int)(word[2] % 60) - 30));         \
            values->b[k] = (REAL)(special ? specials[k % SPECIALS]                                 \
                                          : ldexp(unit - 0.3, (int)(word[3] % 60) - 30));          \
            values->small[k] = (REAL)(sign * ldexp(unit, (int)(word[2] % 30)));                    \
            if (k % 8 == 0)                                                                        \
                values->small[k] = (REAL)floor((double)values->small[k]);                          \
            values->i[k] = (int32_t)(word[2] % 32);                                                \
            values->j[k] = (int32_t)(word[3] % 4001) - 2000;                                       \
        }                                                                                          \
        return values;                                                                             \
    }

#define NAME_F32(x) x##_f32
#define NAME_F64(x) x##_f64
MAKE_VALUES(float, NAME_F32)
MAKE_VALUES(double, NAME_F64)

// Bounds that lane_functions.h states.
#define REAL float
#define NAME(x) x##_f32
#define MAX FLT_MAX
#define SQRT sqrtf
#define FMA fmaf
#define ATAN2_BOUND 3e-7
#include "math/lane_reference.h"
#undef REAL
#undef NAME
#undef MAX
#undef SQRT
#undef FMA
#undef ATAN2_BOUND

#define REAL double
#define NAME(x) x##_f64
#define MAX DBL_MAX
#define SQRT sqrt
#define FMA fma
#define ATAN2_BOUND 6e-16
#include "math/lane_reference.h"

TEST(operations_match_their_definition) {
    for (int k = 0; k < COPIES; k++) {
        if (!mf_kernel_row_available(copies_f32[k].row))
            continue;
        check_operations_f32(&copies_f32[k]);
        check_operations_f64(&copies_f64[k]);
        check_masks_f32(&copies_f32[k]);
        check_masks_f64(&copies_f64[k]);
        check_scatter_f32(&copies_f32[k]);
        check_scatter_f64(&copies_f64[k]);
        check_records_f32(&copies_f32[k]);
        check_records_f64(&copies_f64[k]);
    }
}

TEST(functions_have_the_same_bits) {
    for (int k = 1; k < COPIES; k++) {
        if (!mf_kernel_row_available(copies_f32[k].row))
            continue;
        check_functions_f32(&copies_f32[0], &copies_f32[k]);
        check_functions_f64(&copies_f64[0], &copies_f64[k]);
    }
}

TEST(functions_are_accurate) {
    const Copies *f32 = &copies_f32[0], *f64 = &copies_f64[0];
    for (int k = 1; k < COPIES; k++) // the fastest that runs here; all have the same bits
        if (mf_kernel_row_available(copies_f32[k].row)) {
            f32 = &copies_f32[k];
            f64 = &copies_f64[k];
        }
    static const double small = 7.0;
    for (mf_LaneCase which = MF_LANE_SINE; which <= MF_LANE_COSINE; which++) {
        assert_true(largest_error_f32(f32, which, small) < FLT_EPSILON);
        assert_true(largest_error_f32(f32, which, 8190.0) < FLT_EPSILON);
        assert_true(largest_error_f64(f64, which, small) < DBL_EPSILON);
        assert_true(largest_error_f64(f64, which, 999998.0) < DBL_EPSILON);
    }
    assert_true(largest_error_f32(f32, MF_LANE_ATAN2, 2.0) < 3e-7);
    assert_true(largest_error_f64(f64, MF_LANE_ATAN2, 2.0) < 6e-16);
    check_special_f32(f32);
    check_special_f64(f64);
}
