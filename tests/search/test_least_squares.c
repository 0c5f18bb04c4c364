// The sum of squares against closed forms: a straight line and its covariance, Rosenbrock's valley,
// unknowns that only their sum shows, and an optimum beyond the end of a range.
#include "rig/rig.h"
#include "search/least_squares.h"

GROUP_FIXTURE(make_context, drop_context);

enum { SAMPLES = 40 };
#define NOISE 0.1 // [1] standard deviation

static double line_value(uint32_t i) {
    return 0.7 - 0.3 * i + NOISE * ((i * 7919 % 13) / 6.0 - 1.0);
}

// (a + b i - y) / noise
static mf_Status line(void *user, const double *points, uint32_t count, double *out,
                      mf_Error *error) {
    (void)user, (void)error;
    for (uint32_t p = 0; p < count; p++)
        for (uint32_t i = 0; i < SAMPLES; i++)
            *out++ = (points[2 * p] + points[2 * p + 1] * i - line_value(i)) / NOISE;
    return MF_OK;
}

static mf_Status valley(void *user, const double *points, uint32_t count, double *out,
                        mf_Error *error) {
    (void)user, (void)error;
    for (uint32_t p = 0; p < count; p++, points += 2) {
        *out++ = 10.0 * (points[1] - points[0] * points[0]);
        *out++ = 1.0 - points[0];
    }
    return MF_OK;
}

// Only the sum of both shows.
static mf_Status sum(void *user, const double *points, uint32_t count, double *out,
                     mf_Error *error) {
    (void)user, (void)error;
    for (uint32_t p = 0; p < count; p++, points += 2)
        for (uint32_t i = 0; i < SAMPLES; i++)
            *out++ = (points[0] + points[1] - 3.0) * i;
    return MF_OK;
}

typedef mf_Status (*Residuals)(void *, const double *, uint32_t, double *, mf_Error *);

static mf_LeastSquares problem_of(mf_Context *context, const mf_Unknown *unknowns,
                                  Residuals residuals) {
    return (mf_LeastSquares){.context = context,
                             .unknown_count = 2,
                             .residual_count = residuals == valley ? 2 : SAMPLES,
                             .unknowns = unknowns,
                             .population = 12,
                             .generations = 60,
                             .seed = 1,
                             .evaluate = residuals};
}

#define WIDE                                                                                       \
    { -100.0, 100.0, 0.0, 1e9, MF_UNKNOWN_EVEN, true }
static const mf_Unknown wide[2] = {WIDE, WIDE};

// J^T J with the term of the widths.
static void curvature(const mf_LeastSquares *problem, const double *x, double h[4]) {
    double columns[2 * SAMPLES];
    MUST(mf_least_squares_slopes(problem, x, columns, &error));
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t k = 0; k < 2; k++) {
            const double width = problem->unknowns[i].width;
            h[2 * i + k] = i == k ? 1.0 / (width * width) : 0.0;
            for (uint32_t r = 0; r < problem->residual_count; r++)
                h[2 * i + k] += columns[i * problem->residual_count + r] *
                                columns[k * problem->residual_count + r];
        }
}

// Slope and offset of the normal equations; variances noise^2 / S and noise^2 (1/n + mean^2 / S),
// covariance -noise^2 mean / S, with S the sum of squares about the mean.
TEST(a_line_and_its_covariance) {
    const mf_LeastSquares problem = problem_of(*state, wide, line);
    double x[2] = {5.0, 5.0}, cost, mean = 0.0, height = 0.0, s = 0.0, product = 0.0, h[4];
    for (uint32_t i = 0; i < SAMPLES; i++) {
        mean += (double)i / SAMPLES;
        height += line_value(i) / SAMPLES;
    }
    for (uint32_t i = 0; i < SAMPLES; i++) {
        s += (i - mean) * (i - mean);
        product += (i - mean) * (line_value(i) - height);
    }
    MUST(mf_least_squares_refine(&problem, x, &cost, &error));
    assert_true(fabs(x[1] - product / s) < 1e-8);
    assert_true(fabs(x[0] - (height - product / s * mean)) < 1e-7);
    curvature(&problem, x, h);
    const double variance[3] = {NOISE * NOISE * (1.0 / SAMPLES + mean * mean / s),
                                -NOISE * NOISE * mean / s, NOISE * NOISE / s};
    for (uint32_t i = 0; i < 2; i++) {
        double copy[4], unit[2] = {i == 0, i == 1};
        memcpy(copy, h, sizeof copy);
        assert_true(mf_symmetric_solve(2, copy, unit));
        assert_true(fabs(unit[0] / variance[i] - 1.0) < 1e-6);
        assert_true(fabs(unit[1] / variance[i + 1] - 1.0) < 1e-6);
    }
}

TEST(rosenbrocks_valley_leads_to_one) {
    const mf_LeastSquares problem = problem_of(*state, wide, valley);
    double x[2] = {-1.2, 1.0}, cost;
    MUST(mf_least_squares_refine(&problem, x, &cost, &error));
    assert_true(fabs(x[0] - 1.0) < 1e-5 && fabs(x[1] - 1.0) < 2e-5 && cost < 1e-10);
}

// The direction that nothing shows has the curvature of the widths alone, and what the unknowns
// share is divided by their widths' squares.
TEST(a_direction_that_nothing_shows_is_that_of_the_widths) {
    const mf_Unknown unknowns[2] = {{-10.0, 10.0, 0.0, 1.0, MF_UNKNOWN_EVEN, true},
                                    {-10.0, 10.0, 0.0, 1.0, MF_UNKNOWN_EVEN, true}};
    const mf_LeastSquares problem = problem_of(*state, unknowns, sum);
    double x[2] = {4.0, -4.0}, cost, h[4], values[2], vectors[4];
    MUST(mf_least_squares_refine(&problem, x, &cost, &error));
    assert_true(fabs(x[0] - 1.5) < 1e-3 && fabs(x[1] - 1.5) < 1e-3);
    curvature(&problem, x, h);
    mf_symmetric_eigen(2, h, values, vectors);
    assert_true(fabs(values[0] - 1.0) < 1e-3 && values[1] > 1e4);
    assert_true(fabs(vectors[0] + vectors[2]) < 1e-6); // (1, -1)
}

TEST(an_optimum_beyond_the_range_stays_at_its_end) {
    const mf_Unknown unknowns[2] = {{2.0, 5.0, 3.0, 1e9, MF_UNKNOWN_EVEN, true}, WIDE};
    const mf_LeastSquares problem = problem_of(*state, unknowns, valley);
    double x[2] = {4.0, 1.0}, cost;
    MUST(mf_least_squares_refine(&problem, x, &cost, &error));
    assert_true(x[0] == 2.0 && fabs(x[1] - 4.0) < 1e-4 && fabs(cost - 1.0) < 1e-6);
}

TEST(the_search_comes_near) {
    const mf_Unknown unknowns[2] = {{-3.0, 3.0, 0.0, 1e9, MF_UNKNOWN_EVEN, true},
                                    {-3.0, 3.0, 0.0, 1e9, MF_UNKNOWN_EVEN, true}};
    const mf_LeastSquares problem = problem_of(*state, unknowns, valley);
    double x[2] = {-2.0, -2.0}, residuals[2];
    MUST(mf_least_squares_search(&problem, x, &error));
    MUST(valley(NULL, x, 1, residuals, &error));
    assert_true(mf_least_squares_sum(&problem, x, residuals) < 0.5);
    assert_true(fabs(x[0]) <= 3.0 && fabs(x[1]) <= 3.0);
}

TEST(an_indefinite_matrix_is_not_solved) {
    double matrix[4] = {1.0, 2.0, 2.0, 1.0}, b[2] = {1.0, 1.0};
    assert_false(mf_symmetric_solve(2, matrix, b));
}
