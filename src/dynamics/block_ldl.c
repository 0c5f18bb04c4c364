// L D L^T of symmetric systems of 6x6 blocks (block_ldl.h). Diagonal blocks are factored as
// C C^T (Cholesky) and hold C; a block below holds L = A C^-T, so that A = (L C^-1) D (L C^-1)^T.
#include "dynamics/block_ldl.h"
#include "math/scalar.h"

#include <string.h>

enum { ROWS = MF_BLOCK_ROWS, VALUES = MF_BLOCK_VALUES };

// ---- which blocks there are ---------------------------------------------------------------------

typedef struct Symbolic {
    uint32_t *heads;   // [1] per node: its first list entry
    uint32_t *next;    // [1] per list entry
    uint32_t *members; // [1] per list entry
    uint32_t *stamp;   // [1] per node: last node whose blocks it was found in, plus 1
} Symbolic;

static void sort(uint32_t *values, uint32_t count) {
    for (uint32_t gap = count / 2; gap > 0; gap /= 2)
        for (uint32_t i = gap; i < count; i++) {
            const uint32_t value = values[i];
            uint32_t at = i;
            for (; at >= gap && values[at - gap] > value; at -= gap)
                values[at] = values[at - gap];
            values[at] = value;
        }
}

static void take(Symbolic *work, uint32_t node, uint32_t row, uint32_t *rows, uint32_t *count) {
    if (row <= node || work->stamp[row] == node + 1)
        return;
    work->stamp[row] = node + 1;
    rows[(*count)++] = row;
}

// Blocks of a node: those of the matrix, and those below its children in the elimination tree.
// Entries of children come behind those of pairs; `below` holds the rows of the nodes before.
static uint32_t find_rows(Symbolic *work, uint32_t node, const uint32_t *starts,
                          const uint32_t *below, uint32_t pair_entries, uint32_t *rows) {
    uint32_t count = 0;
    for (uint32_t e = work->heads[node]; e != MF_NONE; e = work->next[e]) {
        if (e < pair_entries) {
            take(work, node, work->members[e], rows, &count);
            continue;
        }
        const uint32_t child = e - pair_entries;
        for (uint32_t i = starts[child]; i < starts[child + 1]; i++)
            take(work, node, below[i], rows, &count);
    }
    return count;
}

static void chain(Symbolic *work, uint32_t node, uint32_t entry) {
    work->next[entry] = work->heads[node];
    work->heads[node] = entry;
}

static mf_Status grow(mf_Context *context, uint32_t **rows, uint32_t *room, uint32_t wanted,
                      mf_Error *error) {
    if (wanted <= *room)
        return MF_OK;
    const uint32_t larger = 2 * wanted;
    uint32_t *moved = mf_allocate(context, larger, sizeof *moved);
    if (moved == NULL)
        return mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u blocks", larger);
    if (*room > 0)
        memcpy(moved, *rows, *room * sizeof *moved);
    mf_release(context, *rows);
    *rows = moved;
    *room = larger;
    return MF_OK;
}

static mf_Status find_blocks(mf_Context *context, mf_BlockLdl *out, Symbolic *work,
                             uint32_t pair_count, mf_Error *error) {
    uint32_t room = 0;
    for (uint32_t node = 0; node < out->node_count; node++) {
        const uint32_t start = out->starts[node];
        mf_Status status = grow(context, &out->rows, &room, start + out->node_count - node, error);
        if (status != MF_OK)
            return status;
        uint32_t *rows = out->rows + start;
        const uint32_t count = find_rows(work, node, out->starts, out->rows, pair_count, rows);
        sort(rows, count);
        out->starts[node + 1] = start + count;
        if (count > 0)
            chain(work, rows[0], pair_count + node);
    }
    return MF_OK;
}

static void release(mf_Context *context, Symbolic *work) {
    mf_release(context, work->heads);
    mf_release(context, work->next);
    mf_release(context, work->members);
    mf_release(context, work->stamp);
}

mf_Status mf_block_ldl_create(mf_Context *context, uint32_t node_count, const mf_BlockPair *pairs,
                              uint32_t pair_count, mf_BlockLdl *out, mf_Error *error) {
    Symbolic work = {.heads = mf_allocate(context, node_count, sizeof(uint32_t)),
                     .next =
                         mf_allocate(context, (size_t)pair_count + node_count, sizeof(uint32_t)),
                     .members = mf_allocate(context, pair_count, sizeof(uint32_t)),
                     .stamp = mf_allocate(context, node_count, sizeof(uint32_t))};
    mf_Status status = MF_OK;
    *out = (mf_BlockLdl){.node_count = node_count};
    out->starts = mf_allocate(context, (size_t)node_count + 1, sizeof *out->starts);
    if (!work.heads || !work.next || !work.members || !work.stamp || !out->starts)
        status = mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u joints", node_count);
    if (status == MF_OK) {
        memset(work.heads, 0xff, node_count * sizeof *work.heads); // MF_NONE
        for (uint32_t p = 0; p < pair_count; p++) {
            work.members[p] = pairs[p].second;
            chain(&work, pairs[p].first, p);
        }
        status = find_blocks(context, out, &work, pair_count, error);
    }
    release(context, &work);
    if (status == MF_OK) {
        out->diagonal = mf_allocate(context, node_count, VALUES * sizeof(double));
        out->below = mf_allocate(context, out->starts[node_count], VALUES * sizeof(double));
        out->whole = mf_allocate(context, node_count, ROWS * sizeof(double));
        if (out->diagonal == NULL || out->below == NULL || out->whole == NULL)
            status = mf_fail(error, MF_NO_MEMORY, "joints: no memory for %u joints", node_count);
    }
    if (status != MF_OK)
        mf_block_ldl_destroy(context, out);
    return status;
}

void mf_block_ldl_destroy(mf_Context *context, mf_BlockLdl *ldl) {
    mf_release(context, ldl->starts);
    mf_release(context, ldl->rows);
    mf_release(context, ldl->diagonal);
    mf_release(context, ldl->below);
    mf_release(context, ldl->whole);
    *ldl = (mf_BlockLdl){.node_count = 0};
}

uint32_t mf_block_ldl_find(const mf_BlockLdl *ldl, uint32_t first, uint32_t second) {
    uint32_t low = ldl->starts[first], high = ldl->starts[first + 1];
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (ldl->rows[middle] <= second)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void mf_block_ldl_clear(mf_BlockLdl *ldl) {
    memset(ldl->diagonal, 0, (size_t)ldl->node_count * VALUES * sizeof(double));
    memset(ldl->below, 0, (size_t)ldl->starts[ldl->node_count] * VALUES * sizeof(double));
}

// ---- numbers ------------------------------------------------------------------------------------

// A = C C^T in the lower triangle. `whole`: the diagonal before any elimination.
static void factor_diagonal(double *a, const double *whole, double least) {
    for (int j = 0; j < ROWS; j++) {
        double pivot = a[ROWS * j + j];
        for (int k = 0; k < j; k++)
            pivot -= a[ROWS * j + k] * a[ROWS * j + k];
        if (!(pivot > least * whole[j]))
            pivot = whole[j];
        const double root = mf_sqrt(pivot);
        a[ROWS * j + j] = root;
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
            a[ROWS * i + j] = sum / c[ROWS * j + j];
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

// Rows and columns behind `node` in the order lose what it explains. Its rows behind the first are
// among those of every row before them, so both lists are walked once.
static void eliminate(mf_BlockLdl *ldl, uint32_t node) {
    const uint32_t end = ldl->starts[node + 1];
    for (uint32_t b = ldl->starts[node]; b < end; b++) {
        const uint32_t column = ldl->rows[b];
        const double *second = ldl->below + (size_t)b * VALUES;
        subtract(ldl->diagonal + (size_t)column * VALUES, second, second);
        uint32_t at = ldl->starts[column];
        for (uint32_t a = b + 1; a < end; a++) {
            while (ldl->rows[at] != ldl->rows[a])
                at++;
            subtract(ldl->below + (size_t)at * VALUES, ldl->below + (size_t)a * VALUES, second);
        }
    }
}

void mf_block_ldl_factor(mf_BlockLdl *ldl, double least) {
    for (uint32_t node = 0; node < ldl->node_count; node++)
        for (uint32_t i = 0; i < ROWS; i++)
            ldl->whole[node * ROWS + i] =
                ldl->diagonal[(size_t)node * VALUES + (size_t)(ROWS + 1) * i];
    for (uint32_t node = 0; node < ldl->node_count; node++) {
        double *diagonal = ldl->diagonal + (size_t)node * VALUES;
        factor_diagonal(diagonal, ldl->whole + (size_t)node * ROWS, least);
        for (uint32_t b = ldl->starts[node]; b < ldl->starts[node + 1]; b++)
            divide(ldl->below + (size_t)b * VALUES, diagonal);
        eliminate(ldl, node);
    }
}

void mf_block_ldl_solve(const mf_BlockLdl *ldl, double *x) {
    for (uint32_t node = 0; node < ldl->node_count; node++) {
        const double *c = ldl->diagonal + (size_t)node * VALUES;
        double *own = x + (size_t)node * ROWS;
        for (int i = 0; i < ROWS; i++) {
            for (int k = 0; k < i; k++)
                own[i] -= c[ROWS * i + k] * own[k];
            own[i] /= c[ROWS * i + i];
        }
        for (uint32_t b = ldl->starts[node]; b < ldl->starts[node + 1]; b++) {
            const double *a = ldl->below + (size_t)b * VALUES;
            double *row = x + (size_t)ldl->rows[b] * ROWS;
            for (int i = 0; i < ROWS; i++)
                for (int k = 0; k < ROWS; k++)
                    row[i] -= a[ROWS * i + k] * own[k];
        }
    }
    for (uint32_t node = ldl->node_count; node-- > 0;) {
        const double *c = ldl->diagonal + (size_t)node * VALUES;
        double *own = x + (size_t)node * ROWS;
        for (uint32_t b = ldl->starts[node]; b < ldl->starts[node + 1]; b++) {
            const double *a = ldl->below + (size_t)b * VALUES;
            const double *row = x + (size_t)ldl->rows[b] * ROWS;
            for (int k = 0; k < ROWS; k++)
                for (int i = 0; i < ROWS; i++)
                    own[k] -= a[ROWS * i + k] * row[i];
        }
        for (int i = ROWS; i-- > 0;) {
            for (int k = i + 1; k < ROWS; k++)
                own[i] -= c[ROWS * k + i] * own[k];
            own[i] /= c[ROWS * i + i];
        }
    }
}
