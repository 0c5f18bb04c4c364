// Small symmetric matrices: eigenvalues by Jacobi's rotations, and Cholesky's factors.
#include "math/scalar.h"
#include "search/least_squares.h"

#define SWEEPS 60 // [1] far more than it takes

static void rotate(uint32_t n, double *a, double *v, uint32_t p, uint32_t q) {
    const double apq = a[p * n + q];
    if (!(mf_abs(apq) > 0.0))
        return;
    const double theta = (a[q * n + q] - a[p * n + p]) / (2.0 * apq);
    const double t = (theta >= 0.0 ? 1.0 : -1.0) / (mf_abs(theta) + mf_sqrt(theta * theta + 1.0));
    const double c = 1.0 / mf_sqrt(t * t + 1.0), s = t * c;
    for (uint32_t i = 0; i < n; i++) {
        const double x = a[i * n + p], y = a[i * n + q];
        a[i * n + p] = c * x - s * y;
        a[i * n + q] = s * x + c * y;
    }
    for (uint32_t i = 0; i < n; i++) {
        const double x = a[p * n + i], y = a[q * n + i];
        a[p * n + i] = c * x - s * y;
        a[q * n + i] = s * x + c * y;
    }
    a[p * n + q] = a[q * n + p] = 0.0;
    for (uint32_t i = 0; i < n; i++) {
        const double x = v[i * n + p], y = v[i * n + q];
        v[i * n + p] = c * x - s * y;
        v[i * n + q] = s * x + c * y;
    }
}

static void sort(uint32_t n, double *values, double *vectors) {
    for (uint32_t i = 0; i + 1 < n; i++) {
        uint32_t least = i;
        for (uint32_t k = i + 1; k < n; k++)
            least = values[k] < values[least] ? k : least;
        const double value = values[i];
        values[i] = values[least];
        values[least] = value;
        for (uint32_t row = 0; row < n && least != i; row++) {
            const double x = vectors[row * n + i];
            vectors[row * n + i] = vectors[row * n + least];
            vectors[row * n + least] = x;
        }
    }
}

void mf_symmetric_eigen(uint32_t n, double *matrix, double *values, double *vectors) {
    for (uint32_t i = 0; i < n * n; i++)
        vectors[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
    for (uint32_t sweep = 0; sweep < SWEEPS; sweep++) {
        double off = 0.0, all = 0.0;
        for (uint32_t i = 0; i < n * n; i++) {
            all += matrix[i] * matrix[i];
            off += i % (n + 1) == 0 ? 0.0 : matrix[i] * matrix[i];
        }
        if (!(off > 1e-30 * all))
            break;
        for (uint32_t p = 0; p + 1 < n; p++)
            for (uint32_t q = p + 1; q < n; q++)
                rotate(n, matrix, vectors, p, q);
    }
    for (uint32_t i = 0; i < n; i++)
        values[i] = matrix[i * n + i];
    sort(n, values, vectors);
}

bool mf_symmetric_solve(uint32_t n, double *matrix, double *b) {
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k <= i; k++) {
            double sum = matrix[i * n + k];
            for (uint32_t j = 0; j < k; j++)
                sum -= matrix[i * n + j] * matrix[k * n + j];
            if (k == i && !(sum > 0.0))
                return false;
            matrix[i * n + k] = k == i ? mf_sqrt(sum) : sum / matrix[k * n + k];
        }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < i; k++)
            b[i] -= matrix[i * n + k] * b[k];
        b[i] /= matrix[i * n + i];
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t k = i + 1; k < n; k++)
            b[i] -= matrix[k * n + i] * b[k];
        b[i] /= matrix[i * n + i];
    }
    return true;
}
