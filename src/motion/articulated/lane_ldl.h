// Symmetric positive definite matrices in lanes, sparse: A = L^T D L by rows from the last to the
// first, so that a row adds entries only to those before it (Featherstone 2005). The pattern, with
// what the factors add to it, is found once and is the same in all lanes.
#ifndef MF_MOTION_ARTICULATED_LANE_LDL_H
#define MF_MOTION_ARTICULATED_LANE_LDL_H

#include "math/carve.h"
#include "math/lane.h"
#include "motion/articulated/plan.h"

#include <string.h>

enum {
    LDL_ENTRIES = 6144, // of the lower half, at most
    LDL_WORDS = MF_ARTICULATED_MAX_DOFS / 64 + 1
};

typedef struct LdlPattern {
    uint32_t words; // [1] of a row
    uint64_t *bits; // bit k of row i: entry (i, k), k <= i
} LdlPattern;

typedef struct LaneLdl {
    uint32_t size, capacity; // [1] rows, and entries that there is memory for
    uint32_t *start;         // [1] of the rows; the diagonal is the last of each
    uint16_t *column;        // [1] rising within a row
    mf_lane *entry;          // of A, then of L
    mf_lane *inverse;        // of D
} LaneLdl;

// For up to `size` rows.
static inline void ldl_carve(uint32_t size, mf_Carver *carver, LdlPattern *pattern, LaneLdl *a) {
    const uint32_t whole = size * (size + 1) / 2;
    pattern->words = size / 64 + 1;
    a->capacity = whole < LDL_ENTRIES ? whole : LDL_ENTRIES;
    MF_CARVE(carver, pattern->bits, (size_t)size * pattern->words);
    MF_CARVE(carver, a->start, size + 1);
    MF_CARVE(carver, a->column, a->capacity);
    MF_CARVE(carver, a->entry, a->capacity);
    MF_CARVE(carver, a->inverse, size);
}

static MF_INLINE uint64_t *ldl_row(const LdlPattern *pattern, uint32_t i) {
    return pattern->bits + (size_t)i * pattern->words;
}

static inline void ldl_begin(uint32_t size, const LdlPattern *pattern) {
    memset(pattern->bits, 0, (size_t)size * pattern->words * sizeof *pattern->bits);
    for (uint32_t i = 0; i < size; i++)
        ldl_row(pattern, i)[i / 64] = (uint64_t)1 << i % 64;
}

static MF_INLINE void ldl_mark(const LdlPattern *pattern, uint32_t i, uint32_t k) {
    ldl_row(pattern, i)[k / 64] |= (uint64_t)1 << k % 64;
}

// What eliminating a row adds is what its other columns have in common with the largest of them.
static inline void ldl_fill(uint32_t size, const LdlPattern *pattern) {
    for (uint32_t i = size; i-- > 1;) {
        uint64_t rest[LDL_WORDS];
        memcpy(rest, ldl_row(pattern, i), (i / 64 + 1) * sizeof *rest);
        rest[i / 64] &= ~((uint64_t)1 << i % 64);
        uint32_t w = i / 64 + 1;
        while (w > 0 && rest[w - 1] == 0)
            w--;
        if (w == 0)
            continue;
        const uint32_t top = 64 * w - 1 - (uint32_t)__builtin_clzll(rest[w - 1]);
        for (uint32_t v = 0; v < w; v++)
            ldl_row(pattern, top)[v] |= rest[v];
    }
}

// Rows and columns from the pattern. False when the entries have no space.
static inline bool ldl_index(uint32_t size, const LdlPattern *pattern, LaneLdl *a) {
    uint32_t used = 0;
    ldl_fill(size, pattern);
    a->size = size;
    for (uint32_t i = 0; i < size; i++) {
        a->start[i] = used;
        for (uint32_t w = 0; w <= i / 64; w++)
            for (uint64_t left = ldl_row(pattern, i)[w]; left != 0; left &= left - 1) {
                if (used == a->capacity)
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
