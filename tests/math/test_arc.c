// mf_atan_ratio_lane, mf_sin_short_lane and mf_cos_short_lane: error against the C library in long
// double, symmetry to the bit, special values, the same bits on every instruction set.
#include "rig/rig.h"
#include "arc_cases.h"

#include "math/kernel_table.h"

typedef void (*ArcFn)(const mf_ArcBatch *batch);
static const ArcFn table[MF_KERNEL_ROWS][2] = MF_KERNEL_TABLE(mf_arc_run);

enum { COUNT = 1 << 16 };
static _Alignas(64) double in64[2][COUNT], out64[3][COUNT], first64[3][COUNT];
static _Alignas(64) float in32[2][COUNT], out32[3][COUNT], first32[3][COUNT];

static void run(int row, bool precise) {
    mf_ArcBatch batch = {.count = COUNT,
                         .a = in32[0],
                         .b = in32[1],
                         .atan = out32[0],
                         .sine = out32[1],
                         .cosine = out32[2]};
    if (precise)
        batch = (mf_ArcBatch){.count = COUNT,
                              .a = in64[0],
                              .b = in64[1],
                              .atan = out64[0],
                              .sine = out64[1],
                              .cosine = out64[2]};
    table[row][precise](&batch);
}

// Angles over [-pi/2, pi/2], ratios over twelve decades, both signs of each.
static void fill(void) {
    for (int i = 0; i < COUNT; i++) {
        double part = (double)(i / 2) / (COUNT / 2 - 1), sign = i % 2 ? -1.0 : 1.0;
        double angle = sign * part * 1.57079632679489661923;
        double b = pow(10.0, 6.0 * sin(0.37 * (i / 2)));
        in64[0][i] = angle;
        in64[1][i] = b;
        in32[0][i] = (float)angle;
        in32[1][i] = (float)b;
    }
}

TEST(errors_are_as_promised) {
    long double worst[6] = {0};
    run(mf_kernel_row(MF_ISA_SCALAR), true);
    run(mf_kernel_row(MF_ISA_SCALAR), false);
    for (int i = 0; i < COUNT; i++) {
        long double a = in64[0][i], b = in64[1][i], c = in32[0][i], d = in32[1][i];
        const long double off[6] = {out64[0][i] - atanl(a / b), out64[1][i] - sinl(a),
                                    out64[2][i] - cosl(a),      out32[0][i] - atanl(c / d),
                                    out32[1][i] - sinl(c),      out32[2][i] - cosl(c)};
        for (int k = 0; k < 6; k++)
            worst[k] = fmaxl(worst[k], fabsl(off[k]));
    }
    static const double bound[6] = {6e-16, 3e-16, 3e-16, 3e-7, 1.5e-7, 1.5e-7};
    for (int k = 0; k < 6; k++)
        if (!((double)worst[k] < bound[k]))
            fail_msg("function %d: off by %.3g, promised %.3g", k, (double)worst[k], bound[k]);
}

TEST(signs_are_symmetric_to_the_bit) {
    run(mf_kernel_row(MF_ISA_SCALAR), true);
    run(mf_kernel_row(MF_ISA_SCALAR), false);
    for (int i = 0; i < COUNT; i += 2) {
        assert_true(out64[0][i] == -out64[0][i + 1] && out32[0][i] == -out32[0][i + 1]);
        assert_true(out64[1][i] == -out64[1][i + 1] && out32[1][i] == -out32[1][i + 1]);
        assert_true(out64[2][i] == out64[2][i + 1] && out32[2][i] == out32[2][i + 1]);
    }
}

TEST(copies_give_the_same_bits) {
    run(mf_kernel_row(MF_ISA_SCALAR), true);
    run(mf_kernel_row(MF_ISA_SCALAR), false);
    memcpy(first64, out64, sizeof out64);
    memcpy(first32, out32, sizeof out32);
    for (int row = 0; row < MF_KERNEL_ROWS; row++) {
        if (!mf_kernel_row_available((mf_KernelRow)row))
            continue;
        memset(out64, 0, sizeof out64);
        memset(out32, 0, sizeof out32);
        run(row, true);
        run(row, false);
        assert_memory_equal(first64, out64, sizeof out64);
        assert_memory_equal(first32, out32, sizeof out32);
    }
}

TEST(special_ratios) {
    static const double cases[][3] = {{1, 0, 1.57079632679489661923},
                                      {-2, 0, -1.57079632679489661923},
                                      {0, 3, 0},
                                      {1, 1, 0.78539816339744830962},
                                      {-1, 1, -0.78539816339744830962},
                                      {1e300, 1, 1.57079632679489661923}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        in64[0][i] = cases[i][0];
        in64[1][i] = cases[i][1];
    }
    in64[0][10] = NAN;
    run(mf_kernel_row(MF_ISA_SCALAR), true);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_true(fabs(out64[0][i] - cases[i][2]) < 3e-16);
    assert_true(isnan(out64[0][10]) && isnan(out64[1][10]) && isnan(out64[2][10]));
    fill();
}

int main(void) {
    fill();
    return run_listed_tests();
}
