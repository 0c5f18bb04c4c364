// Minimization of a sum of squares that is known by simulation only: points are evaluated in
// batches and no derivative is asked for.
#pragma once

#include <mayfly/base.h>

// How the search distributes candidates over the range of an unknown: evenly, more densely at the
// lower end (0 included), or evenly over orders of magnitude (lower > 0).
typedef enum mf_UnknownScale { MF_UNKNOWN_EVEN, MF_UNKNOWN_SQUARE, MF_UNKNOWN_LOG } mf_UnknownScale;

typedef struct mf_Unknown {
    double lower, upper;  // [1] lower < upper
    double center, width; // [1] adds ((x - center) / width)^2 to the sum
    mf_UnknownScale scale;
    bool searched; // varied by mf_least_squares_search, else only by the refinement
} mf_Unknown;

typedef struct mf_LeastSquares {
    mf_Context *context;
    uint32_t unknown_count;  // [1] 1 .. MF_UNKNOWN_MOST
    uint32_t residual_count; // [1]
    const mf_Unknown *unknowns;
    uint32_t population;  // [1] >= 4 of the search
    uint32_t generations; // [1] most
    uint64_t seed;        // [1]
    // Writes residual_count values for each of `count` points of unknown_count values. A point that
    // cannot be evaluated gets values that are not finite.
    mf_Status (*evaluate)(void *user, const double *points, uint32_t count, double *residuals,
                          mf_Error *error);
    void *user;
} mf_LeastSquares;

enum { MF_UNKNOWN_MOST = 256 }; // [1]

// From x on, the best of a covariance matrix adaptation (Hansen, arXiv:1604.00772, 2016) within the
// ranges.
mf_Status mf_least_squares_search(const mf_LeastSquares *problem, double *x, mf_Error *error);
// Levenberg-Marquardt steps with differences for derivatives, each with several dampings in one
// batch, until the sum changes by less than 1e-6 of itself. *cost: the sum at x.
mf_Status mf_least_squares_refine(const mf_LeastSquares *problem, double *x, double *cost,
                                  mf_Error *error);
// The sum at x with these residuals; DBL_MAX where it is not finite.
double mf_least_squares_sum(const mf_LeastSquares *problem, const double *x,
                            const double *residuals);
// Central differences at x: `columns` [unknown][residual]; one-sided at the ends of ranges.
mf_Status mf_least_squares_slopes(const mf_LeastSquares *problem, const double *x, double *columns,
                                  mf_Error *error);

// ---- symmetric matrices, n rows of n ------------------------------------------------------------

// Eigenvalues, rising, and eigenvectors as columns of `vectors`, by rotations (Jacobi 1846);
// `matrix` is overwritten.
void mf_symmetric_eigen(uint32_t n, double *matrix, double *values, double *vectors);
// Solves matrix x = b in place, by Cholesky; `matrix` is overwritten. False: not positive definite.
bool mf_symmetric_solve(uint32_t n, double *matrix, double *b);
