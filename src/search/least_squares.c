// Refinement of a sum of squares: Levenberg-Marquardt within ranges (More, 1978, for the method;
// unknowns that press against an end of their range rest in a step).
//
// Slopes are differences of residuals, all points of which are one batch. So are the steps of
// several dampings, of which the best is taken.
#include "search/least_squares.h"

#include "base/memory.h"
#include "math/scalar.h"

#include <float.h>
#include <string.h>

enum {
    DAMPINGS = 4, // [1] tried at once, each ten times the one before
    STEPS = 40    // [1] most
};
#define ENOUGH 1e-6        // [1] relative change of the sum at which it ends
#define DIFFERENCE 1e-3    // [1] of a difference, relative to the unknown
#define DIFFERENCE_AT 1e-2 // [1] least unknown there, relative to its range

double mf_least_squares_sum(const mf_LeastSquares *problem, const double *x,
                            const double *residuals) {
    double sum = 0.0;
    for (uint32_t i = 0; i < problem->residual_count; i++)
        sum += residuals[i] * residuals[i];
    for (uint32_t i = 0; i < problem->unknown_count; i++) {
        const mf_Unknown *own = &problem->unknowns[i];
        const double far = (x[i] - own->center) / own->width;
        sum += far * far;
    }
    return mf_is_finite(sum) ? sum : DBL_MAX;
}

// ---- slopes ------------------------------------------------------------------------------------

static double difference(const mf_Unknown *unknown, double x) {
    return DIFFERENCE * mf_larger(mf_abs(x), DIFFERENCE_AT * (unknown->upper - unknown->lower));
}

// Differences upwards, at the upper end downwards, against the residuals at x.
static mf_Status find_slopes(const mf_LeastSquares *problem, const double *x,
                             const double *residuals, double *points, double *columns,
                             mf_Error *error) {
    const uint32_t n = problem->unknown_count;
    const size_t m = problem->residual_count;
    for (uint32_t i = 0; i < n; i++) {
        const double step = difference(&problem->unknowns[i], x[i]);
        memcpy(points + (size_t)i * n, x, n * sizeof *x);
        points[(size_t)i * n + i] += x[i] + step > problem->unknowns[i].upper ? -step : step;
    }
    MF_TRY(problem->evaluate(problem->user, points, n, columns, error));
    for (uint32_t i = 0; i < n; i++) {
        const double step = points[(size_t)i * n + i] - x[i];
        for (size_t r = 0; r < m; r++)
            columns[i * m + r] = (columns[i * m + r] - residuals[r]) / step;
    }
    return MF_OK;
}

mf_Status mf_least_squares_slopes(const mf_LeastSquares *problem, const double *x, double *columns,
                                  mf_Error *error) {
    const uint32_t n = problem->unknown_count;
    const size_t m = problem->residual_count;
    double *points, *values;
    const mf_Array arrays[] = {MF_ARRAY(points, 2 * (size_t)n * n), MF_ARRAY(values, 2 * n * m)};
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, 2), error, "fit");
    for (uint32_t i = 0; i < 2 * n; i++) {
        const mf_Unknown *own = &problem->unknowns[i / 2];
        const double step = difference(own, x[i / 2]);
        memcpy(points + (size_t)i * n, x, n * sizeof *x);
        points[(size_t)i * n + i / 2] =
            mf_clamp(x[i / 2] + (i % 2 == 0 ? step : -step), own->lower, own->upper);
    }
    mf_Status status = problem->evaluate(problem->user, points, 2 * n, values, error);
    for (uint32_t i = 0; i < n && status == MF_OK; i++) {
        const double step = points[(size_t)(2 * i) * n + i] - points[((size_t)(2 * i) + 1) * n + i];
        for (size_t r = 0; r < m; r++)
            columns[i * m + r] = (values[2 * i * m + r] - values[(2 * i + 1) * m + r]) / step;
    }
    mf_release(problem->context, points);
    return status;
}

// ---- steps -------------------------------------------------------------------------------------

typedef struct Refinement {
    const mf_LeastSquares *problem;
    double *x, *residuals, *columns; // at the present point
    double *points, *values;         // of a batch
    double *matrix, *gradient;       // half the second derivatives and half the first of the sum
    double *scratch, *step;
    double damping; // [1]
    double cost;
} Refinement;

static void gather(Refinement *own) {
    const mf_LeastSquares *problem = own->problem;
    const uint32_t n = problem->unknown_count;
    const size_t m = problem->residual_count;
    for (uint32_t i = 0; i < n; i++) {
        const double width = problem->unknowns[i].width;
        const double *a = own->columns + i * m;
        double sum = (own->x[i] - problem->unknowns[i].center) / (width * width);
        for (size_t r = 0; r < m; r++)
            sum += a[r] * own->residuals[r];
        own->gradient[i] = sum;
        for (uint32_t k = 0; k <= i; k++) {
            const double *b = own->columns + k * m;
            double product = k == i ? 1.0 / (width * width) : 0.0;
            for (size_t r = 0; r < m; r++)
                product += a[r] * b[r];
            own->matrix[i * n + k] = own->matrix[k * n + i] = product;
        }
    }
}

// Whether the sum falls beyond the end of the range at which the unknown is.
static bool rests(const Refinement *own, uint32_t i) {
    const mf_Unknown *unknown = &own->problem->unknowns[i];
    return (own->x[i] <= unknown->lower && own->gradient[i] > 0.0) ||
           (own->x[i] >= unknown->upper && own->gradient[i] < 0.0);
}

// The point that a step with this damping leads to. False: the matrix is not positive definite.
static bool aim(Refinement *own, double damping, double *point) {
    const uint32_t n = own->problem->unknown_count;
    for (uint32_t i = 0; i < n; i++) {
        const bool still = rests(own, i);
        for (uint32_t k = 0; k < n; k++)
            own->scratch[i * n + k] =
                i != k && (still || rests(own, k)) ? 0.0 : own->matrix[i * n + k];
        own->scratch[i * n + i] *= 1.0 + damping;
        own->step[i] = still ? 0.0 : -own->gradient[i];
    }
    if (!mf_symmetric_solve(n, own->scratch, own->step))
        return false;
    for (uint32_t i = 0; i < n; i++)
        point[i] = mf_clamp(own->x[i] + own->step[i], own->problem->unknowns[i].lower,
                            own->problem->unknowns[i].upper);
    return true;
}

// One step. *done: the sum falls no more, or too little.
static mf_Status advance(Refinement *own, bool *done, mf_Error *error) {
    const mf_LeastSquares *problem = own->problem;
    const uint32_t n = problem->unknown_count;
    const size_t m = problem->residual_count;
    uint32_t best = DAMPINGS;
    double least = own->cost;
    MF_TRY(find_slopes(problem, own->x, own->residuals, own->points, own->columns, error));
    gather(own);
    for (uint32_t i = 0; i < DAMPINGS; i++, own->damping *= 10.0)
        if (!aim(own, own->damping, own->points + (size_t)i * n))
            memcpy(own->points + (size_t)i * n, own->x, n * sizeof(double));
    MF_TRY(problem->evaluate(problem->user, own->points, DAMPINGS, own->values, error));
    for (uint32_t i = 0; i < DAMPINGS; i++) {
        const double cost =
            mf_least_squares_sum(problem, own->points + (size_t)i * n, own->values + i * m);
        if (cost < least) {
            least = cost;
            best = i;
        }
    }
    if (best == DAMPINGS) { // none was small enough a step
        *done = own->damping > 1e12;
        return MF_OK;
    }
    *done = own->cost - least <= ENOUGH * own->cost;
    own->cost = least;
    for (uint32_t i = best; i < DAMPINGS; i++)
        own->damping /= 10.0;
    own->damping = mf_larger(own->damping / 100.0, 1e-12);
    memcpy(own->x, own->points + (size_t)best * n, n * sizeof(double));
    memcpy(own->residuals, own->values + best * m, m * sizeof(double));
    return MF_OK;
}

mf_Status mf_least_squares_refine(const mf_LeastSquares *problem, double *x, double *cost,
                                  mf_Error *error) {
    const uint32_t n = problem->unknown_count;
    const size_t m = problem->residual_count, batch = n > DAMPINGS ? n : DAMPINGS;
    Refinement own = {.problem = problem, .x = x, .damping = 1e-4};
    const mf_Array arrays[] = {
        MF_ARRAY(own.residuals, m),           MF_ARRAY(own.columns, n * m),
        MF_ARRAY(own.points, batch * n),      MF_ARRAY(own.values, batch * m),
        MF_ARRAY(own.matrix, (size_t)n * n),  MF_ARRAY(own.gradient, n),
        MF_ARRAY(own.scratch, (size_t)n * n), MF_ARRAY(own.step, n)};
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, sizeof arrays / sizeof *arrays),
                   error, "fit");
    bool done = false;
    mf_Status status = problem->evaluate(problem->user, x, 1, own.residuals, error);
    own.cost = mf_least_squares_sum(problem, x, own.residuals);
    for (uint32_t i = 0; i < STEPS && status == MF_OK && !done; i++)
        status = advance(&own, &done, error);
    *cost = own.cost;
    mf_release(problem->context, own.residuals);
    return status;
}
