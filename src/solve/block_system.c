// Systems of 6x6 blocks (block_system.h). Diagonal blocks of the factor hold C of C C^T (Cholesky)
// in their lower triangle; a block below holds L = A C^-T.
//
// Invariant: a solution depends on the values and blocks of its own range only.
#include "base/memory.h"
#include "solve/block_system.h"
#include "math/scalar.h"

#include <string.h>

enum { ROWS = MF_BLOCK_ROWS, VALUES = MF_BLOCK_VALUES, ITERATIONS = 400 };

static const double accuracy = 1e-11; // [1] of the right side, where the factor is not exact

mf_Status mf_block_system_create(mf_Context *context, uint32_t node_capacity,
                                 uint32_t block_capacity, mf_BlockSystem *out, mf_Error *error) {
    const size_t nodes = node_capacity, blocks = block_capacity;
    *out = (mf_BlockSystem){.node_capacity = node_capacity, .block_capacity = block_capacity};
    const mf_Array arrays[] = {
        MF_ARRAY(out->starts, nodes + 1),        MF_ARRAY(out->rows, blocks),
        MF_ARRAY(out->diagonal, VALUES * nodes), MF_ARRAY(out->factor, VALUES * nodes),
        MF_ARRAY(out->below, VALUES * blocks),   MF_ARRAY(out->factor_below, VALUES * blocks),
        MF_ARRAY(out->work, 4 * ROWS * nodes)};
    if (mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return MF_OK;
    *out = (mf_BlockSystem){.node_count = 0};
    return mf_fail(error, MF_NO_MEMORY, "solver: no memory for %u links", node_capacity);
}

void mf_block_system_destroy(mf_Context *context, mf_BlockSystem *system) {
    mf_release(context, system->starts);
    *system = (mf_BlockSystem){.node_count = 0};
}

uint32_t mf_block_system_find(const mf_BlockSystem *system, uint32_t column, uint32_t row) {
    uint32_t low = system->starts[column], high = system->starts[column + 1];
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (system->rows[middle] == row)
            return middle;
        if (system->rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return MF_NONE;
}

static size_t block_span(const mf_BlockSystem *system, uint32_t first, uint32_t end) {
    return (size_t)(system->starts[end] - system->starts[first]) * VALUES * sizeof(double);
}

void mf_block_system_clear(mf_BlockSystem *system, uint32_t first, uint32_t end) {
    memset(system->diagonal + (size_t)first * VALUES, 0,
           (size_t)(end - first) * VALUES * sizeof(double));
    memset(system->below + (size_t)system->starts[first] * VALUES, 0,
           block_span(system, first, end));
}

// ---- the factor ---------------------------------------------------------------------------------

// A = C C^T in the lower triangle. `whole`: the block before any elimination.
static void factor_diagonal(double *a, const double *whole, double least) {
    for (int j = 0; j < ROWS; j++) {
        const double element = whole[(ROWS + 1) * j];
        double pivot = a[(ROWS + 1) * j];
        for (int k = 0; k < j; k++)
            pivot -= a[ROWS * j + k] * a[ROWS * j + k];
        if (!(pivot > least * element))
            pivot = element;
        const double root = mf_sqrt(pivot);
        a[(ROWS + 1) * j] = root;
        for (int i = j + 1; i < ROWS; i++) {
            double sum = a[ROWS * i + j];
            for (int k = 0; k < j; k++)
                sum -= a[ROWS * i + k] * a[ROWS * j + k];
            a[ROWS * i + j] = sum / root;
        }
    }
}

// L = A C^-T, row after row.
static void divide(double *a, const double *c) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double sum = a[ROWS * i + j];
            for (int k = 0; k < j; k++)
                sum -= a[ROWS * i + k] * c[ROWS * j + k];
            a[ROWS * i + j] = sum / c[(ROWS + 1) * j];
        }
}

// to -= a b^T
static void subtract(double *to, const double *a, const double *b) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < ROWS; j++) {
            double sum = 0.0;
            for (int k = 0; k < ROWS; k++)
                sum += a[ROWS * i + k] * b[ROWS * j + k];
            to[ROWS * i + j] -= sum;
        }
}

// Nodes behind `node` lose what it explains, as far as there are blocks for it. False: it was more.
static bool eliminate(mf_BlockSystem *system, uint32_t node) {
    const uint32_t end = system->starts[node + 1];
    bool whole = true;
    for (uint32_t b = system->starts[node]; b < end; b++) {
        const uint32_t column = system->rows[b], last = system->starts[column + 1];
        const double *second = system->factor_below + (size_t)b * VALUES;
        subtract(system->factor + (size_t)column * VALUES, second, second);
        uint32_t at = system->starts[column];
        for (uint32_t a = b + 1; a < end; a++) {
            while (at < last && system->rows[at] < system->rows[a])
                at++;
            if (at == last || system->rows[at] != system->rows[a]) {
                whole = false;
                continue;
            }
            subtract(system->factor_below + (size_t)at * VALUES,
                     system->factor_below + (size_t)a * VALUES, second);
        }
    }
    return whole;
}

// True: the factor is exact.
static bool factor(mf_BlockSystem *system, uint32_t first, uint32_t end, double least) {
    bool whole = true;
    const size_t nodes = (size_t)first * VALUES, blocks = (size_t)system->starts[first] * VALUES;
    memcpy(system->factor + nodes, system->diagonal + nodes,
           (size_t)(end - first) * VALUES * sizeof(double));
    memcpy(system->factor_below + blocks, system->below + blocks, block_span(system, first, end));
    for (uint32_t node = first; node < end; node++) {
        double *diagonal = system->factor + (size_t)node * VALUES;
        factor_diagonal(diagonal, system->diagonal + (size_t)node * VALUES, least);
        for (uint32_t b = system->starts[node]; b < system->starts[node + 1]; b++)
            divide(system->factor_below + (size_t)b * VALUES, diagonal);
        whole = eliminate(system, node) && whole;
    }
    return whole;
}

static void apply_factor(const mf_BlockSystem *system, uint32_t first, uint32_t end, double *x) {
    for (uint32_t node = first; node < end; node++) {
        const double *c = system->factor + (size_t)node * VALUES;
        double *own = x + (size_t)node * ROWS;
        for (int i = 0; i < ROWS; i++) {
            for (int k = 0; k < i; k++)
                own[i] -= c[ROWS * i + k] * own[k];
            own[i] /= c[(ROWS + 1) * i];
        }
        for (uint32_t b = system->starts[node]; b < system->starts[node + 1]; b++) {
            const double *a = system->factor_below + (size_t)b * VALUES;
            double *row = x + (size_t)system->rows[b] * ROWS;
            for (int i = 0; i < ROWS; i++)
                for (int k = 0; k < ROWS; k++)
                    row[i] -= a[ROWS * i + k] * own[k];
        }
    }
    for (uint32_t node = end; node-- > first;) {
        const double *c = system->factor + (size_t)node * VALUES;
        double *own = x + (size_t)node * ROWS;
        for (uint32_t b = system->starts[node]; b < system->starts[node + 1]; b++) {
            const double *a = system->factor_below + (size_t)b * VALUES;
            const double *row = x + (size_t)system->rows[b] * ROWS;
            for (int k = 0; k < ROWS; k++)
                for (int i = 0; i < ROWS; i++)
                    own[k] -= a[ROWS * i + k] * row[i];
        }
        for (int i = ROWS; i-- > 0;) {
            for (int k = i + 1; k < ROWS; k++)
                own[i] -= c[ROWS * k + i] * own[k];
            own[i] /= c[(ROWS + 1) * i];
        }
    }
}

// ---- conjugate gradients ------------------------------------------------------------------------

static void multiply(const mf_BlockSystem *system, uint32_t first, uint32_t end, const double *x,
                     double *out) {
    memset(out + (size_t)first * ROWS, 0, (size_t)(end - first) * ROWS * sizeof(double));
    for (uint32_t node = first; node < end; node++) {
        const double *a = system->diagonal + (size_t)node * VALUES;
        const double *own = x + (size_t)node * ROWS;
        double *to = out + (size_t)node * ROWS;
        for (int i = 0; i < ROWS; i++)
            for (int k = 0; k < ROWS; k++)
                to[i] += a[ROWS * i + k] * own[k];
        for (uint32_t b = system->starts[node]; b < system->starts[node + 1]; b++) {
            const size_t row = (size_t)system->rows[b] * ROWS;
            a = system->below + (size_t)b * VALUES;
            for (int i = 0; i < ROWS; i++)
                for (int k = 0; k < ROWS; k++) {
                    out[row + (size_t)i] += a[ROWS * i + k] * own[k];
                    to[k] += a[ROWS * i + k] * x[row + (size_t)i];
                }
        }
    }
}

static double dot(const double *a, const double *b, size_t first, size_t end) {
    double sum = 0.0;
    for (size_t i = first; i < end; i++)
        sum += a[i] * b[i];
    return sum;
}

static uint32_t iterate(mf_BlockSystem *system, uint32_t first, uint32_t end, const double *b,
                        double *x) {
    const size_t from = (size_t)first * ROWS, to = (size_t)end * ROWS;
    const size_t span = (size_t)system->node_capacity * ROWS;
    double *left = system->work, *near = left + span, *direction = near + span,
           *image = direction + span;
    const size_t bytes = (to - from) * sizeof(double);
    memcpy(left + from, b + from, bytes);
    memset(x + from, 0, bytes);
    memcpy(near + from, left + from, bytes);
    apply_factor(system, first, end, near);
    memcpy(direction + from, near + from, bytes);
    double size = dot(left, near, from, to);
    const double enough = accuracy * accuracy * size;
    uint32_t count = 0;
    for (; count < ITERATIONS && size > enough; count++) {
        multiply(system, first, end, direction, image);
        const double step = size / dot(direction, image, from, to);
        for (size_t i = from; i < to; i++) {
            x[i] += step * direction[i];
            left[i] -= step * image[i];
        }
        memcpy(near + from, left + from, bytes);
        apply_factor(system, first, end, near);
        const double next = dot(left, near, from, to), keep = next / size;
        for (size_t i = from; i < to; i++)
            direction[i] = near[i] + keep * direction[i];
        size = next;
    }
    return count;
}

uint32_t mf_block_system_solve(mf_BlockSystem *system, uint32_t first, uint32_t end, double least,
                               const double *b, double *x) {
    if (!factor(system, first, end, least))
        return iterate(system, first, end, b, x);
    const size_t from = (size_t)first * ROWS;
    memcpy(x + from, b + from, (size_t)(end - first) * ROWS * sizeof(double));
    apply_factor(system, first, end, x);
    return 0;
}
