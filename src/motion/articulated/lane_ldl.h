// Symmetric positive definite matrices in lanes, sparse: A = L^T D L by rows from the last to the
// first, so that a row adds entries only to those before it (Featherstone 2005). The pattern, with
// what the factors add to it, is found once and is the same in all lanes.
#ifndef MF_MOTION_ARTICULATED_LANE_LDL_H
#define MF_MOTION_ARTICULATED_LANE_LDL_H

#include "math/lane.h"
#include "motion/articulated/plan.h"

#include <string.h>

enum {
    LDL_SIZE = MF_ARTICULATED_MAX_DOFS,
    LDL_ENTRIES = 6144, // of the lower half
    LDL_WORDS = LDL_SIZE / 64 + 1
};

typedef struct LdlPattern { // bit k of row i: entry (i, k), k <= i
    uint64_t bits[LDL_SIZE][LDL_WORDS];
} LdlPattern;

typedef struct LaneLdl {
    uint32_t size;
    uint32_t start[LDL_SIZE + 1]; // [1] of the rows; the diagonal is the last of each
    uint16_t column[LDL_ENTRIES]; // [1] rising within a row
    mf_lane entry[LDL_ENTRIES];   // of A, then of L
    mf_lane inverse[LDL_SIZE];    // of D
} LaneLdl;

static inline void ldl_begin(uint32_t size, LdlPattern *pattern) {
    for (uint32_t i = 0; i < size; i++) {
        memset(pattern->bits[i], 0, sizeof pattern->bits[i]);
        pattern->bits[i][i / 64] = (uint64_t)1 << i % 64;
    }
}

static MF_INLINE void ldl_mark(LdlPattern *pattern, uint32_t i, uint32_t k) {
    pattern->bits[i][k / 64] |= (uint64_t)1 << k % 64;
}

// What eliminating a row adds is what its other columns have in common with the largest of them.
static inline void ldl_fill(uint32_t size, LdlPattern *pattern) {
    for (uint32_t i = size; i-- > 1;) {
        uint64_t rest[LDL_WORDS];
        memcpy(rest, pattern->bits[i], sizeof rest);
        rest[i / 64] &= ~((uint64_t)1 << i % 64);
        uint32_t w = i / 64 + 1;
        while (w > 0 && rest[w - 1] == 0)
            w--;
        if (w == 0)
            continue;
        const uint32_t top = 64 * w - 1 - (uint32_t)__builtin_clzll(rest[w - 1]);
        for (uint32_t v = 0; v < w; v++)
            pattern->bits[top][v] |= rest[v];
    }
}

// Rows and columns from the pattern. False when the entries have no room.
static inline bool ldl_index(uint32_t size, LdlPattern *pattern, LaneLdl *a) {
    uint32_t used = 0;
    ldl_fill(size, pattern);
    a->size = size;
    for (uint32_t i = 0; i < size; i++) {
        a->start[i] = used;
        for (uint32_t w = 0; w <= i / 64; w++)
            for (uint64_t left = pattern->bits[i][w]; left != 0; left &= left - 1) {
                if (used == LDL_ENTRIES)
                    return false;
                a->column[used++] = (uint16_t)(64 * w + (uint32_t)__builtin_ctzll(left));
            }
    }
    a->start[size] = used;
    return true;
}

// A = the unit matrix.
static inline void ldl_unit(LaneLdl *a) {
    for (uint32_t i = 0; i < a->size; i++) {
        for (uint32_t e = a->start[i]; e + 1 < a->start[i + 1]; e++)
            a->entry[e] = mf_zero();
        a->entry[a->start[i + 1] - 1] = mf_set((mf_real)1);
    }
}

// Row i less f times the entries first .. last of a later row, whose columns it has too.
static MF_INLINE void ldl_row_less(LaneLdl *a, uint32_t i, uint32_t first, uint32_t last,
                                   mf_lane f) {
    mf_lane *to = a->entry + a->start[i];
    const uint16_t *own = a->column + a->start[i];
    if (a->start[i + 1] - a->start[i] == last - first + 1) {
        for (uint32_t e = first; e <= last; e++, to++)
            *to = mf_fma(-f, a->entry[e], *to);
        return;
    }
    for (uint32_t e = first; e <= last; e++) {
        for (; *own != a->column[e]; own++)
            to++;
        *to = mf_fma(-f, a->entry[e], *to);
    }
}

static __attribute__((noinline)) void ldl_factor(LaneLdl *a) {
    const mf_lane one = mf_set((mf_real)1);
    for (uint32_t k = a->size; k-- > 0;) {
        const uint32_t first = a->start[k], last = a->start[k + 1] - 1;
        const mf_lane inverse = one / a->entry[last];
        a->inverse[k] = inverse;
        for (uint32_t e = last; e-- > first;) {
            const mf_lane f = a->entry[e] * inverse;
            ldl_row_less(a, a->column[e], first, e, f);
            a->entry[e] = f;
        }
    }
}

// x = A^-1 x
static __attribute__((noinline)) void ldl_solve(const LaneLdl *a, mf_lane *x) {
    for (uint32_t k = a->size; k-- > 0;)
        for (uint32_t e = a->start[k]; e + 1 < a->start[k + 1]; e++)
            x[a->column[e]] = mf_fma(-a->entry[e], x[k], x[a->column[e]]);
    for (uint32_t k = 0; k < a->size; k++) {
        mf_lane sum = x[k] * a->inverse[k];
        for (uint32_t e = a->start[k]; e + 1 < a->start[k + 1]; e++)
            sum = mf_fma(-a->entry[e], x[a->column[e]], sum);
        x[k] = sum;
    }
}

#endif
