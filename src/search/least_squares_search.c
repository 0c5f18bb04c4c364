// Search over the ranges of unknowns: covariance matrix adaptation (Hansen, "The CMA Evolution
// Strategy: A Tutorial", arXiv:1604.00772, 2016, with its default parameters), in coordinates that
// each go from 0 to 1 over the range. A candidate beyond an end is mirrored. The first generation
// contains the initial point. Random numbers depend on seed, generation, candidate and unknown.
#include "search/least_squares.h"

#include "base/memory.h"
#include "math/scalar.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STREAM = 0x66697473 }; // of random numbers
#define FIRST 0.25            // [1] standard deviation of the first generation, of the range
#define LAST 1e-3             // [1] standard deviation at which the search ends

typedef struct Search {
    const mf_LeastSquares *problem;
    uint32_t n;                      // [1] unknowns that are searched
    uint32_t *unknown;               // [1] their numbers
    double *mean, *path, *size_path; // n each: evolution paths of covariance and size
    double *covariance, *vectors, *scratch, *values;
    double *steps, *points, *residuals, *costs; // of a generation
    uint32_t *order;
    double *weights;
    double size; // [1] sigma
    double best;
} Search;

// ---- coordinates -------------------------------------------------------------------------------

static double value_of(const mf_Unknown *unknown, double u) {
    const double width = unknown->upper - unknown->lower;
    if (unknown->scale == MF_UNKNOWN_LOG)
        return unknown->lower * mf_exp(u * log(unknown->upper / unknown->lower));
    return unknown->lower + width * (unknown->scale == MF_UNKNOWN_SQUARE ? u * u : u);
}

static double coordinate_of(const mf_Unknown *unknown, double x) {
    const double inside = mf_clamp(x, unknown->lower, unknown->upper);
    const double part = (inside - unknown->lower) / (unknown->upper - unknown->lower);
    if (unknown->scale == MF_UNKNOWN_LOG)
        return log(inside / unknown->lower) / log(unknown->upper / unknown->lower);
    return unknown->scale == MF_UNKNOWN_SQUARE ? mf_sqrt(part) : part;
}

static double mirror(double u) {
    u = mf_abs(u - 2.0 * mf_floor(0.5 * u));
    return u > 1.0 ? 2.0 - u : u;
}

// ---- a generation ------------------------------------------------------------------------------

// A normal number, as the sum of twelve even ones.
static double normal(uint64_t seed, uint32_t generation, uint32_t candidate, uint32_t unknown) {
    double sum = -6.0;
    for (uint32_t part = 0; part < 6; part++) {
        uint32_t words[4];
        mf_random(seed, candidate, STREAM + generation, (uint64_t)unknown << 8 | part, words);
        sum +=
            mf_random_unit_double(words[0], words[1]) + mf_random_unit_double(words[2], words[3]);
    }
    return sum;
}

static void sample(Search *own, uint32_t generation, const double *x) {
    const mf_LeastSquares *problem = own->problem;
    const uint32_t n = own->n, all = problem->unknown_count;
    memcpy(own->scratch, own->covariance, (size_t)n * n * sizeof(double));
    mf_symmetric_eigen(n, own->scratch, own->values, own->vectors);
    for (uint32_t c = 0; c < problem->population; c++) {
        double *step = own->steps + (size_t)c * n, *point = own->points + (size_t)c * all;
        memset(step, 0, n * sizeof *step);
        memcpy(point, x, all * sizeof *point);
        for (uint32_t k = 0; k < n && (c > 0 || generation > 0); k++) {
            const double along =
                normal(problem->seed, generation, c, k) * mf_sqrt(mf_larger(own->values[k], 1e-20));
            for (uint32_t i = 0; i < n; i++)
                step[i] += own->vectors[i * n + k] * along;
        }
        for (uint32_t i = 0; i < n; i++) {
            const double u = mirror(own->mean[i] + own->size * step[i]);
            step[i] = (u - own->mean[i]) / own->size;
            point[own->unknown[i]] = value_of(&problem->unknowns[own->unknown[i]], u);
        }
    }
}

// Candidates by their sums, of equals the first one.
static void rank(Search *own) {
    for (uint32_t c = 0; c < own->problem->population; c++) {
        uint32_t at = c;
        for (; at > 0 && own->costs[c] < own->costs[own->order[at - 1]]; at--)
            own->order[at] = own->order[at - 1];
        own->order[at] = c;
    }
}

// C^(-1/2) times the mean step.
static void whiten(const Search *own, const double *step, double *out) {
    const uint32_t n = own->n;
    memset(out, 0, n * sizeof *out);
    for (uint32_t k = 0; k < n; k++) {
        double along = 0.0;
        for (uint32_t i = 0; i < n; i++)
            along += own->vectors[i * n + k] * step[i];
        along /= mf_sqrt(mf_larger(own->values[k], 1e-20));
        for (uint32_t i = 0; i < n; i++)
            out[i] += own->vectors[i * n + k] * along;
    }
}

static void adapt(Search *own, uint32_t generation, uint32_t parents, double effective) {
    const uint32_t n = own->n;
    const double d = (double)n;
    // Tutorial, table 1.
    const double c_sigma = (effective + 2.0) / (d + effective + 5.0);
    const double root = mf_sqrt((effective - 1.0) / (d + 1.0)) - 1.0;
    const double damp = 1.0 + 2.0 * mf_larger(0.0, root) + c_sigma;
    const double c_path = (4.0 + effective / d) / (d + 4.0 + 2.0 * effective / d);
    const double c_one = 2.0 / ((d + 1.3) * (d + 1.3) + effective);
    const double c_mu = mf_smaller(1.0 - c_one, 2.0 * (0.25 + effective + 1.0 / effective - 2.0) /
                                                    ((d + 2.0) * (d + 2.0) + effective));
    const double expected = mf_sqrt(d) * (1.0 - 1.0 / (4.0 * d) + 1.0 / (21.0 * d * d));
    double *step = own->scratch, *white = own->scratch + n, length = 0.0;
    memset(step, 0, n * sizeof *step);
    for (uint32_t c = 0; c < parents; c++)
        for (uint32_t i = 0; i < n; i++)
            step[i] += own->weights[c] * own->steps[(size_t)own->order[c] * n + i];
    whiten(own, step, white);
    for (uint32_t i = 0; i < n; i++) {
        own->mean[i] += own->size * step[i];
        own->size_path[i] = (1.0 - c_sigma) * own->size_path[i] +
                            mf_sqrt(c_sigma * (2.0 - c_sigma) * effective) * white[i];
        length += own->size_path[i] * own->size_path[i];
    }
    length = mf_sqrt(length);
    const double kept = 1.0 - pow(1.0 - c_sigma, 2.0 * (generation + 1.0));
    const bool grows = length / mf_sqrt(kept) < (1.4 + 2.0 / (d + 1.0)) * expected;
    const double lost = grows ? 0.0 : c_one * c_path * (2.0 - c_path);
    for (uint32_t i = 0; i < n; i++)
        own->path[i] = (1.0 - c_path) * own->path[i] +
                       (grows ? mf_sqrt(c_path * (2.0 - c_path) * effective) * step[i] : 0.0);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < n; k++) {
            double sum = (1.0 - c_one - c_mu + lost) * own->covariance[i * n + k] +
                         c_one * own->path[i] * own->path[k];
            for (uint32_t c = 0; c < parents; c++) {
                const double *one = own->steps + (size_t)own->order[c] * n;
                sum += c_mu * own->weights[c] * one[i] * one[k];
            }
            own->covariance[i * n + k] = sum;
        }
    own->size = mf_smaller(own->size * mf_exp(c_sigma / damp * (length / expected - 1.0)), 1.0);
}

// Weights of the better half; their effective number.
static double weigh(Search *own, uint32_t parents) {
    double sum = 0.0, squares = 0.0;
    for (uint32_t c = 0; c < parents; c++) {
        own->weights[c] = log(parents + 0.5) - log(c + 1.0);
        sum += own->weights[c];
    }
    for (uint32_t c = 0; c < parents; c++) {
        own->weights[c] /= sum;
        squares += own->weights[c] * own->weights[c];
    }
    return 1.0 / squares;
}

static mf_Status run(Search *own, double *x, mf_Error *error) {
    const mf_LeastSquares *problem = own->problem;
    const uint32_t all = problem->unknown_count, parents = problem->population / 2;
    const double effective = weigh(own, parents);
    own->best = INFINITY;
    for (uint32_t g = 0; g < problem->generations; g++) {
        sample(own, g, x);
        MF_TRY(problem->evaluate(problem->user, own->points, problem->population, own->residuals,
                                 error));
        for (uint32_t c = 0; c < problem->population; c++)
            own->costs[c] =
                mf_least_squares_sum(problem, own->points + (size_t)c * all,
                                     own->residuals + (size_t)c * problem->residual_count);
        rank(own);
        if (own->costs[own->order[0]] < own->best) {
            own->best = own->costs[own->order[0]];
            memcpy(x, own->points + (size_t)own->order[0] * all, all * sizeof *x);
        }
        adapt(own, g, parents, effective);
        if (own->size < LAST)
            break;
    }
    return MF_OK;
}

mf_Status mf_least_squares_search(const mf_LeastSquares *problem, double *x, mf_Error *error) {
    const uint32_t all = problem->unknown_count, population = problem->population;
    Search own = {.problem = problem, .size = FIRST};
    uint32_t n = 0;
    for (uint32_t i = 0; i < all; i++)
        n += problem->unknowns[i].searched;
    if (n == 0 || problem->generations == 0)
        return MF_OK;
    const size_t square = (size_t)n * n + 2 * n;
    const mf_Array arrays[] = {
        MF_ARRAY(own.mean, n),
        MF_ARRAY(own.path, n),
        MF_ARRAY(own.size_path, n),
        MF_ARRAY(own.covariance, square),
        MF_ARRAY(own.vectors, square),
        MF_ARRAY(own.scratch, square),
        MF_ARRAY(own.values, n),
        MF_ARRAY(own.steps, (size_t)population * n),
        MF_ARRAY(own.points, (size_t)population * all),
        MF_ARRAY(own.residuals, (size_t)population * problem->residual_count),
        MF_ARRAY(own.costs, population),
        MF_ARRAY(own.weights, population),
        MF_ARRAY(own.order, population),
        MF_ARRAY(own.unknown, n)};
    MF_NEED_MEMORY(mf_allocate_arrays(problem->context, arrays, sizeof arrays / sizeof *arrays),
                   error, "fit");
    for (uint32_t i = 0, k = 0; i < all; i++)
        if (problem->unknowns[i].searched) {
            own.mean[k] = coordinate_of(&problem->unknowns[i], x[i]);
            own.covariance[(size_t)k * n + k] = 1.0;
            own.unknown[k++] = i;
        }
    own.n = n;
    mf_Status status = run(&own, x, error);
    mf_release(problem->context, own.mean);
    return status;
}
