// What the geometry of a truss says about its stiffness: ranks by Gaussian elimination with
// complete pivoting.
#include "math/scalar.h"
#include "base/floats.h"
#include "base/memory.h"
#include "motion/truss/model.h"

#include <string.h>

#define MF_TRUSS_ENTRIES 4000000u // [1] of the largest matrix whose rank is taken

typedef struct Matrix {
    double *value; // row after row
    uint32_t rows, columns;
} Matrix;

static void swap_rows(Matrix *m, uint32_t one, uint32_t two) {
    for (uint32_t c = 0; c < m->columns && one != two; c++) {
        const double kept = m->value[(size_t)one * m->columns + c];
        m->value[(size_t)one * m->columns + c] = m->value[(size_t)two * m->columns + c];
        m->value[(size_t)two * m->columns + c] = kept;
    }
}

static void swap_columns(Matrix *m, uint32_t one, uint32_t two) {
    for (uint32_t r = 0; r < m->rows && one != two; r++) {
        double *row = m->value + (size_t)r * m->columns;
        const double kept = row[one];
        row[one] = row[two];
        row[two] = kept;
    }
}

// Brings the largest entry from (at, at) on to (at, at); returns its size.
static double pivot(Matrix *m, uint32_t at) {
    double most = 0.0;
    uint32_t row = at, column = at;
    for (uint32_t r = at; r < m->rows; r++) {
        for (uint32_t c = at; c < m->columns; c++) {
            const double size = mf_abs(m->value[(size_t)r * m->columns + c]);
            if (size > most) {
                most = size;
                row = r;
                column = c;
            }
        }
    }
    swap_rows(m, at, row);
    swap_columns(m, at, column);
    return most;
}

// Destroys the matrix.
static uint32_t rank_of(Matrix *m) {
    double largest = 0.0;
    uint32_t rank = 0;
    while (rank < m->rows && rank < m->columns) {
        const double size = pivot(m, rank);
        largest = rank == 0 ? size : largest;
        if (size <= 1e-9 * largest)
            break;
        const double *top = m->value + (size_t)rank * m->columns;
        for (uint32_t r = rank + 1; r < m->rows; r++) {
            double *row = m->value + (size_t)r * m->columns;
            const double factor = row[rank] / top[rank];
            for (uint32_t c = rank; c < m->columns && factor != 0.0; c++)
                row[c] -= factor * top[c];
        }
        rank++;
    }
    return rank;
}

// The unit vectors of bars, one row per bar, without fixed axes.
static void fill_bars(const mf_Truss *truss, const uint32_t *column, Matrix *m) {
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const uint32_t *ends = truss->bars[b].ends;
        double along[3];
        mf_vec3_sub(along, truss->vertices[ends[1]].position, truss->vertices[ends[0]].position);
        const double length = mf_vec3_length(along); // > 0, or the bar stretches in no way
        for (int i = 0; i < 6; i++) {
            const uint32_t at = column[3 * ends[i / 3] + (uint32_t)i % 3];
            if (at != MF_NONE)
                m->value[(size_t)b * m->columns + at] =
                    (i < 3 ? -1.0 : 1.0) * along[i % 3] / (length > 0.0 ? length : 1.0);
        }
    }
}

// Velocities of axes in the six movements of a rigid body, one row per axis: of all, or of the
// fixed ones.
static uint32_t rigid_rank(const mf_Truss *truss, const uint32_t *column, bool fixed, Matrix *m) {
    const double *origin = truss->vertices[0].position;
    m->rows = 0;
    m->columns = 6;
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        double p[3];
        mf_vec3_sub(p, truss->vertices[v].position, origin);
        for (uint32_t axis = 0; axis < 3; axis++) {
            if (fixed && column[3 * v + axis] != MF_NONE)
                continue;
            double *row = m->value + 6 * (size_t)m->rows++;
            const uint32_t next = (axis + 1) % 3, last = (axis + 2) % 3;
            memset(row, 0, 6 * sizeof *row);
            row[axis] = 1.0;
            row[3 + next] = p[last]; // (w x p)_axis = w_next p_last - w_last p_next
            row[3 + last] = -p[next];
        }
    }
    return rank_of(m);
}

static uint32_t root_of(uint32_t *parent, uint32_t v) {
    while (parent[v] != v)
        v = parent[v] = parent[parent[v]];
    return v;
}

static void count_parts(const mf_Truss *truss, uint32_t *capacity, mf_TrussStatics *out) {
    const uint32_t vertices = truss->vertex_count;
    uint32_t *parent = capacity, *degree = capacity + vertices;
    for (uint32_t v = 0; v < vertices; v++) {
        parent[v] = v;
        degree[v] = 0;
    }
    out->parts = vertices;
    for (uint32_t b = 0; b < truss->bar_count; b++) {
        const uint32_t *ends = truss->bars[b].ends;
        const uint32_t one = root_of(parent, ends[0]), two = root_of(parent, ends[1]);
        degree[ends[0]]++;
        degree[ends[1]]++;
        out->parts -= one != two;
        parent[one] = two;
    }
    for (uint32_t v = 0; v < vertices; v++) {
        const bool *fixed = truss->vertices[v].fixed;
        out->dangling += degree[v] == 1 && !fixed[0] && !fixed[1] && !fixed[2];
    }
}

static void analyze(const mf_Truss *truss, uint32_t *capacity, double *values,
                    mf_TrussStatics *out) {
    uint32_t *column = capacity;
    for (uint32_t v = 0; v < truss->vertex_count; v++) {
        for (uint32_t axis = 0; axis < 3; axis++)
            column[3 * v + axis] = truss->vertices[v].fixed[axis] ? MF_NONE : out->freedoms++;
    }
    Matrix m = {values, truss->bar_count, out->freedoms};
    fill_bars(truss, column, &m);
    out->rank = rank_of(&m);
    const uint32_t rigid = rigid_rank(truss, column, false, &m);
    out->rigid_modes = rigid - rigid_rank(truss, column, true, &m);
    out->mechanisms = out->freedoms - out->rank - out->rigid_modes;
    out->redundant = truss->bar_count - out->rank;
    count_parts(truss, capacity, out);
}

mf_Status mf_truss_statics(mf_Context *context, const mf_Truss *truss, mf_TrussStatics *out,
                           mf_Error *error) {
    MF_DEFAULT_FLOATS;
    MF_NEED(context != NULL && out != NULL, error, "mf_truss_statics: an argument is NULL");
    *out = (mf_TrussStatics){0};
    MF_TRY(mf_truss_check(truss, error));
    size_t entries = 3 * (size_t)truss->vertex_count * truss->bar_count;
    if (entries > MF_TRUSS_ENTRIES)
        return mf_fail(error, MF_LIMIT, "truss: %u vertices and %u bars are too many for a rank",
                       truss->vertex_count, truss->bar_count);
    if (entries < 18 * (size_t)truss->vertex_count)
        entries = 18 * (size_t)truss->vertex_count;
    double *values;
    uint32_t *capacity;
    const mf_Array arrays[] = {MF_ARRAY(values, entries),
                               MF_ARRAY(capacity, 3 * (size_t)truss->vertex_count)};
    if (!mf_allocate_arrays(context, arrays, sizeof arrays / sizeof *arrays))
        return mf_fail(error, MF_NO_MEMORY, "truss: out of memory");
    analyze(truss, capacity, values, out);
    mf_release(context, values);
    return MF_OK;
}
