// Exponentials of lanes and of set-up code within their stated error, normal numbers with the
// moments and tails of a normal distribution, and the same bits on every instruction set.
#include "math/kernel_table.h"
#include "math/lane_more.h"

#include "math/scalar.h"

#include "rig/rig.h"

enum { COUNT = 65536 };

static const mf_Isa sets[] = {MF_ISA_SCALAR, MF_ISA_AVX2, MF_ISA_AVX512};
enum { SETS = sizeof sets / sizeof *sets };

typedef void (*MapFn)(const void *x, void *out, uint32_t count);
typedef void (*NormalFn)(uint64_t seed, uint64_t tick, void *out, uint32_t count);
static const MapFn exp_table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_test_exp);
static const MapFn log_table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_test_log);
static const NormalFn normal_table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_test_normal);

static void *aligned(size_t size) {
    void *memory = aligned_alloc(64, size);
    assert_non_null(memory);
    memset(memory, 0, size);
    return memory;
}

// Runs a map on every set that this processor has; all must agree to the bit.
static void run_map(const MapFn table[MF_KERNEL_ROWS][2], int precision, const void *x, void *out) {
    size_t size = COUNT * (precision ? sizeof(double) : sizeof(float));
    AUTO(end_memory) void *other = aligned(size);
    table[mf_kernel_row(MF_ISA_SCALAR)][precision](x, out, COUNT);
    for (int i = 1; i < SETS; i++) {
        if (!mf_isa_available(sets[i]))
            continue;
        table[mf_kernel_row(sets[i])][precision](x, other, COUNT);
        assert_memory_equal(out, other, size);
    }
}

// Reference: the C library's expl in long double.
TEST(exponential_of_lanes) {
    AUTO(end_memory) float *x = aligned(COUNT * sizeof *x), *y = aligned(COUNT * sizeof *y);
    AUTO(end_memory) double *u = aligned(COUNT * sizeof *u), *v = aligned(COUNT * sizeof *v);
    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)(-87.0 + 174.0 * i / (COUNT - 1));
        u[i] = -708.0 + 1416.0 * i / (COUNT - 1);
    }
    run_map(exp_table, 0, x, y);
    run_map(exp_table, 1, u, v);
    for (int i = 0; i < COUNT; i++) {
        long double single = expl((long double)x[i]), twice = expl((long double)u[i]);
        assert_true(fabsl(y[i] - single) <= 2.5e-7L * single);
        assert_true(fabsl(v[i] - twice) <= 5e-16L * twice);
    }
    static const double specials[] = {0.0, -0.0, 1e9, -1e9, INFINITY, -INFINITY, 1e-30, 88.0};
    for (int i = 0; i < COUNT; i++)
        u[i] = i % 9 == 8 ? NAN : specials[i % 9];
    run_map(exp_table, 1, u, v);
    assert_true(v[0] == 1.0 && v[1] == 1.0 && v[6] == 1.0);
    assert_true(fabs(v[2] / exp(708.0) - 1.0) < 1e-15 && v[4] == v[2]);
    assert_true(fabs(v[3] / exp(-708.0) - 1.0) < 1e-15 && v[5] == v[3]);
    assert_true(isnan(v[8]));
    for (int i = 0; i < COUNT; i++)
        x[i] = i % 9 == 8 ? NAN : (float)specials[i % 9];
    run_map(exp_table, 0, x, y);
    assert_true(y[0] == 1.0f && y[1] == 1.0f && y[6] == 1.0f && y[2] == y[7] && y[4] == y[2]);
    assert_true(isnan(y[8]) && y[3] > 0.0f);
}

TEST(logarithm_of_lanes) {
    AUTO(end_memory) float *x = aligned(COUNT * sizeof *x), *y = aligned(COUNT * sizeof *y);
    AUTO(end_memory) double *u = aligned(COUNT * sizeof *u), *v = aligned(COUNT * sizeof *v);
    for (int i = 0; i < COUNT; i++) {
        x[i] = 0.5f + 0.5f * (float)i / COUNT;
        u[i] = 0.5 + 0.5 * i / COUNT;
    }
    run_map(log_table, 0, x, y);
    run_map(log_table, 1, u, v);
    for (int i = 0; i < COUNT; i++) {
        assert_true(fabs(y[i] - log((double)x[i])) <= 2e-7);
        assert_true(fabs(v[i] - log(u[i])) <= 1e-12);
    }
}

// Reference: the C library's expl.
TEST(exponential_of_set_up_code) {
    for (int i = -70800; i <= 70970; i++) {
        double x = 0.01 * i;
        long double exact = expl((long double)x);
        assert_true(fabsl(mf_exp(x) - exact) <= 4.4e-16L * exact);
    }
    assert_true(mf_exp(0.0) == 1.0 && mf_exp(-800.0) == 0.0 && isinf(mf_exp(710.0)));
    assert_true(mf_exp(-INFINITY) == 0.0 && isinf(mf_exp(INFINITY)) && isnan(mf_exp(NAN)));
    assert_true(mf_exp(-740.0) > 0.0 && mf_exp(-740.0) < 1e-320);
}

// Reference: the C library's logl.
TEST(logarithm_of_set_up_code) {
    for (int i = -70800; i <= 70970; i++) {
        double x = (double)expl(0.01L * i);
        long double exact = logl((long double)x);
        assert_true(fabsl(mf_log(x) - exact) <= 4.4e-16L * fabsl(exact));
    }
    for (int i = -1000; i <= 1000; i++) {
        double x = 1.0 + 0x1p-12 * i;
        assert_true(fabsl(mf_log(x) - logl((long double)x)) <= 4.4e-16L * fabsl(logl(x)));
    }
    assert_true(mf_log(1.0) == 0.0 && mf_log(0.0) == -INFINITY && isinf(mf_log(INFINITY)));
    assert_true(isnan(mf_log(-1.0)) && isnan(mf_log(NAN)) && isnan(mf_log(-INFINITY)));
    assert_true(fabs(mf_log(0x1p-1074) + 744.44007192138126) < 2e-13);
}

// 4 x 65,536 numbers: mean 0, variance 1, fourth moment 3, no correlation between the four or with
// the next tick, and the shares beyond 1, 2 and 3 that a normal distribution has. Bounds are about
// five standard errors.
TEST(numbers_are_normal) {
    const size_t size = 4 * COUNT * sizeof(double);
    AUTO(end_memory) double *value = aligned(size), *next = aligned(size), *other = aligned(size);
    AUTO(end_memory) float *single = aligned(size / 2), *other_single = aligned(size / 2);
    double mean = 0.0, square = 0.0, fourth = 0.0, paired = 0.0, later = 0.0, beyond[3] = {0};
    normal_table[mf_kernel_row(MF_ISA_SCALAR)][1](42, 3, value, COUNT);
    normal_table[mf_kernel_row(MF_ISA_SCALAR)][1](42, 4, next, COUNT);
    normal_table[mf_kernel_row(MF_ISA_SCALAR)][0](42, 3, single, COUNT);
    for (int i = 1; i < SETS; i++) {
        if (!mf_isa_available(sets[i]))
            continue;
        normal_table[mf_kernel_row(sets[i])][1](42, 3, other, COUNT);
        assert_memory_equal(value, other, size);
        normal_table[mf_kernel_row(sets[i])][0](42, 3, other_single, COUNT);
        assert_memory_equal(single, other_single, size / 2);
    }
    const double share = 1.0 / (4.0 * COUNT);
    for (int i = 0; i < 4 * COUNT; i++) {
        double x = value[i];
        mean += share * x;
        square += share * x * x;
        fourth += share * x * x * x * x;
        paired += share * x * value[(i + COUNT) % (4 * COUNT)];
        later += share * x * next[i];
        for (int k = 0; k < 3; k++)
            beyond[k] += fabs(x) > k + 1 ? share : 0.0;
        assert_true(fabs(x) < 6.8);
        assert_true(fabs((double)single[i] - x) < 1e-5);
    }
    assert_true(fabs(mean) < 0.01);
    assert_true(fabs(square - 1.0) < 0.014);
    assert_true(fabs(fourth - 3.0) < 0.1);
    assert_true(fabs(paired) < 0.01 && fabs(later) < 0.01);
    assert_true(fabs(beyond[0] - 0.317311) < 0.005); // erfc(k / sqrt 2)
    assert_true(fabs(beyond[1] - 0.045500) < 0.002);
    assert_true(fabs(beyond[2] - 0.002700) < 0.0005);
}
