// The problem's Hessian H = M + J^T W J, constraint by constraint, in tiles of a few rows.
#pragma once

#include "motion/articulated/constraint/problem.h"

// ---- problem factor -----------------------------------------------------------------------------

// The factors of the problem's Hessian H = M + J^T W J: H = L^T D L by rows from the last to the
// first (Featherstone 2005, "Efficient factorization of the joint-space inertia matrix for
// branched kinematic trees"). Constraints that touch the ancestors of one link only leave the
// pattern of the tree as it is; others add entries, which are found before numbers are. Where these
// fill most of the matrix, all of it is kept: the same sums, in loops that a processor foresees.

// ---- pattern ------------------------------------------------------------------------------------

// Whether the dofs of a constraint are one chain: each is in the row of the last.
static bool is_chain(const Problem *p, const Constraint *c) {
    const uint16_t *slot = &p->slots[c->first_slot];
    if (c->count < 2)
        return true;
    const uint32_t last = slot[c->count - 1], *start = mf_art_tree_start(p->plan);
    uint32_t k = start[last];
    const uint16_t *tree_column = mf_art_tree_column(p->plan);
    for (uint32_t i = 0; i < c->count; i++, k++) {
        while (k < start[last + 1] && tree_column[k] < slot[i])
            k++;
        if (k == start[last + 1] || tree_column[k] != slot[i])
            return false;
    }
    return true;
}

static MF_INLINE uint64_t *bits_row(const Problem *p, uint32_t i) {
    return p->bits + (size_t)i * problem_words(p->plan);
}

static MF_INLINE void bits_mark(const Problem *p, uint32_t i, uint32_t column) {
    bits_row(p, i)[column / 64] |= (uint64_t)1 << column % 64;
}

static void bits_of_tree(const Problem *p) {
    const uint32_t *tree_start = mf_art_tree_start(p->plan);
    const uint16_t *tree_column = mf_art_tree_column(p->plan);
    memset(p->bits, 0, (size_t)p->dofs * problem_words(p->plan) * sizeof *p->bits);
    for (uint32_t i = 0; i < p->dofs; i++)
        for (uint32_t k = tree_start[i]; k < tree_start[i + 1]; k++)
            bits_mark(p, i, tree_column[k]);
}

// What eliminating row i, from the last on, adds to the row of its largest other column.
static void bits_fill(const Problem *p) {
    uint64_t *rest = bits_row(p, p->dofs);
    for (uint32_t i = p->dofs; i-- > 1;) {
        memcpy(rest, bits_row(p, i), (i / 64 + 1) * sizeof *rest);
        rest[i / 64] &= ~((uint64_t)1 << i % 64);
        for (uint32_t w = i / 64 + 1; w-- > 0;) {
            if (rest[w] == 0)
                continue;
            const uint32_t top = 64 * w + 63 - (uint32_t)__builtin_clzll(rest[w]);
            for (uint32_t v = 0; v <= w; v++)
                bits_row(p, top)[v] |= rest[v];
            break;
        }
    }
}

static __attribute__((noinline)) void pattern_fill(Problem *p) {
    uint32_t used = 0;
    bits_of_tree(p);
    for (uint32_t n = 0; n < p->constraint_count; n++) {
        const Constraint *c = &p->constraints[n];
        const uint16_t *slot = &p->slots[c->first_slot];
        if (c->chain)
            continue;
        for (uint32_t i = 1; i < c->count; i++)
            for (uint32_t k = 0; k < i; k++)
                bits_mark(p, slot[i], slot[k]);
    }
    bits_fill(p);
    for (uint32_t i = 0; i < p->dofs; i++) {
        p->own_start[i] = used;
        for (uint32_t w = 0; w <= i / 64; w++)
            for (uint64_t left = bits_row(p, i)[w]; left != 0; left &= left - 1)
                p->own_column[used++] = (uint16_t)(64 * w + (uint32_t)__builtin_ctzll(left));
    }
    p->own_start[p->dofs] = used;
    p->pattern = MF_VALUE(Pattern, p->own_start, p->own_column);
}

static inline Pattern tree_pattern(const Problem *p) {
    return MF_VALUE(Pattern, mf_art_tree_start(p->plan), mf_art_tree_column(p->plan));
}

// All entries of the lower half.
static void pattern_full(Problem *p) {
    uint32_t used = 0;
    for (uint32_t i = 0; i < p->dofs; i++) {
        p->own_start[i] = used;
        for (uint32_t k = 0; k <= i; k++)
            p->own_column[used++] = (uint16_t)k;
    }
    p->own_start[p->dofs] = used;
    p->pattern = MF_VALUE(Pattern, p->own_start, p->own_column);
    p->full = true;
}

// Whether so many entries are better kept as all of them.
static bool is_mostly_full(const Problem *p, uint32_t entries) {
    const uint32_t all = p->dofs * (p->dofs + 1) / 2;
    return 2 * entries > all;
}

static inline void pattern_find(Problem *p) {
    bool chains = true;
    p->full = false;
    p->pattern = tree_pattern(p);
    for (uint32_t n = 0; n < p->constraint_count; n++) {
        Constraint *c = &p->constraints[n];
        c->chain = is_chain(p, c);
        chains = chains && c->chain;
    }
    if (chains)
        return;
    const uint32_t *tree_start = mf_art_tree_start(p->plan);
    bool full = is_mostly_full(p, tree_start[p->dofs]);
    if (!full) {
        pattern_fill(p);
        full = !p->overflow && is_mostly_full(p, p->own_start[p->dofs]);
    }
    if (full)
        pattern_full(p);
}

// ---- numbers ------------------------------------------------------------------------------------

// to += f from, entry by entry; four at a time, because compilers do not unroll by themselves.
static MF_INLINE void entries_add(mf_lane *MF_RESTRICT to, const mf_lane *MF_RESTRICT from,
                                  size_t count, mf_lane f) {
    const mf_lane *const end = from + count, *const fours = from + (count & ~(size_t)3);
    for (; from != fours; to += 4, from += 4) {
        to[0] = mf_fma(f, from[0], to[0]);
        to[1] = mf_fma(f, from[1], to[1]);
        to[2] = mf_fma(f, from[2], to[2]);
        to[3] = mf_fma(f, from[3], to[3]);
    }
    for (; from != end; to++, from++)
        *to = mf_fma(f, *from, *to);
}

// Row i of H less f times the first `size` entries of row k, which are columns of row i too.
static MF_INLINE void row_less(Problem *p, uint32_t i, uint32_t k, uint32_t size, mf_lane f) {
    const uint32_t first = p->used.start[i], width = p->used.start[i + 1] - first;
    const uint16_t *own = p->used.column + first;
    const uint16_t *column = p->used.column + p->used.start[k], *const end = column + size;
    mf_lane *to = p->factor + first;
    const mf_lane *from = p->factor + p->used.start[k];
    if (width == size) {
        entries_add(to, from, size, -f);
    } else if (width == i + 1) { // all columns
        for (; column != end; column++, from++)
            to[*column] = mf_fma(-f, *from, to[*column]);
    } else {
        for (; column != end; column++, from++, own++, to++) {
            for (; *own != *column; own++)
                to++;
            *to = mf_fma(-f, *from, *to);
        }
    }
}

static void sparse_factor(Problem *p) {
    const uint32_t *start = p->used.start;
    const mf_lane one = mf_set((mf_real)1);
    for (uint32_t k = p->dofs; k-- > 0;) {
        const uint32_t first = start[k], last = start[k + 1] - 1;
        const mf_lane inverse = one / p->factor[last];
        p->inverse[k] = inverse;
        for (uint32_t e = last; e-- > first;) {
            const mf_lane f = p->factor[e] * inverse;
            row_less(p, p->used.column[e], k, e - first + 1, f);
            p->factor[e] = f;
        }
    }
}

static MF_INLINE bool is_full(const Problem *p) {
    return p->full && p->used.start == p->own_start;
}

static MF_INLINE bool is_tree(const Problem *p) {
    return p->used.start == mf_art_tree_start(p->plan);
}

// Whether a row's columns begin those of all rows behind it, up to nested_end, that have its own
// one, and of no others: so if all entries are kept, and in a tree whose links are in order of
// depth first.
static MF_INLINE bool is_nested(const Problem *p) {
    return is_full(p) || (is_tree(p) && p->plan->nested);
}

static MF_INLINE uint32_t nested_end(const Problem *p, uint32_t i) {
    return is_tree(p) ? mf_art_tree_end(p->plan)[i] : p->dofs;
}

// What registers can hold: a processor has 32 of 64 bytes or 16 of 32.
enum { NESTED_SUMS = sizeof(mf_lane) == 64 ? 16 : 8 };

// The pivots of row i, and of row i - 1 where there are two, the factors of these columns in the
// rows behind, and `width` entries before the pivots less what those rows take.
static MF_INLINE void nested_close(Problem *p, uint32_t i, uint32_t end, const uint32_t rows,
                                   const uint32_t width) {
    const uint32_t *start = p->used.start, at = start[i + 1] - start[i] - rows - width;
    const mf_lane one = mf_set((mf_real)1);
    mf_lane *own = p->factor + start[i] + at, *other = p->factor + start[i - (rows - 1)] + at;
    mf_lane sum[5], next[4];
    for (uint32_t e = 0; e < width + rows; e++)
        sum[e] = own[e];
    for (uint32_t e = 0; rows == 2 && e <= width; e++)
        next[e] = other[e];
    for (uint32_t k = end - 1; k > i; k--) {
        mf_lane *from = p->factor + start[k] + at, last[2];
        for (uint32_t r = 0; r < rows; r++) {
            last[r] = from[width + r];
            from[width + r] = last[r] * p->inverse[k];
        }
        const mf_lane f = -from[width + rows - 1], g = -from[width];
        for (uint32_t e = 0; e < width + rows; e++) {
            const mf_lane value = e < width ? from[e] : last[e - width];
            sum[e] = mf_fma(f, value, sum[e]);
            if (rows == 2 && e <= width)
                next[e] = mf_fma(g, value, next[e]);
        }
    }
    p->inverse[i] = one / sum[width + rows - 1];
    for (uint32_t e = 0; e < width + rows - 1; e++)
        own[e] = sum[e];
    if (rows == 2) {
        own[width] = sum[width] * p->inverse[i];
        for (uint32_t e = 0; e <= width; e++)
            other[e] = mf_fma(-own[width], sum[e], next[e]);
        p->inverse[i - 1] = one / other[width];
    }
}

// `width` other entries of the same rows, from number c on, less what the rows behind take, from
// the last on. The sums stay in registers.
static MF_INLINE void nested_part(Problem *p, uint32_t i, uint32_t end, uint32_t c,
                                  const uint32_t rows, const uint32_t width) {
    const uint32_t *start = p->used.start, at = start[i + 1] - 1 - start[i];
    mf_lane *own = p->factor + start[i] + c, *other = p->factor + start[i - (rows - 1)] + c;
    mf_lane sum[8], next[8];
    for (uint32_t e = 0; e < width; e++) {
        sum[e] = own[e];
        next[e] = other[e];
    }
    for (uint32_t k = end - 1; k > i; k--) {
        const mf_lane *from = p->factor + start[k], f = -from[at], g = -from[at - (rows - 1)];
        for (uint32_t e = 0; e < width; e++) {
            const mf_lane value = from[c + e];
            sum[e] = mf_fma(f, value, sum[e]);
            if (rows == 2)
                next[e] = mf_fma(g, value, next[e]);
        }
    }
    for (uint32_t e = 0; e < width; e++) {
        own[e] = sum[e];
        if (rows == 2)
            other[e] = mf_fma(-p->factor[start[i] + at - 1], sum[e], next[e]);
    }
}

static MF_INLINE void nested_rows(Problem *p, uint32_t i, uint32_t end, const uint32_t rows) {
    const uint32_t *start = p->used.start, count = start[i + 1] - start[i] - rows;
    switch (count % 4) {
    case 3:
        nested_close(p, i, end, rows, 3);
        break;
    case 2:
        nested_close(p, i, end, rows, 2);
        break;
    case 1:
        nested_close(p, i, end, rows, 1);
        break;
    default:
        nested_close(p, i, end, rows, 0);
        break;
    }
    if (rows == 1 && end == i + 1)
        return;
    uint32_t c = 0;
    for (; rows * 8 <= NESTED_SUMS && c + 8 <= count; c += 8)
        nested_part(p, i, end, c, rows, 8);
    for (; c + 4 <= count; c += 4)
        nested_part(p, i, end, c, rows, 4);
}

// As sparse_factor, where a row takes from all behind it at once, or two that follow each other do.
static void nested_factor(Problem *p) {
    for (uint32_t i = p->dofs; i-- > 0;) {
        const uint32_t end = nested_end(p, i);
        if (i > 0 && nested_end(p, i - 1) == end)
            nested_rows(p, i--, end, 2);
        else
            nested_rows(p, i, end, 1);
    }
}

static __attribute__((noinline)) void hessian_factor(Problem *p) {
    if (is_nested(p))
        nested_factor(p);
    else
        sparse_factor(p);
}

// x = H^-1 x; two rows at once where they have the same columns.
static inline void hessian_solve(const Problem *p, mf_lane *x) {
    const uint32_t *start = p->used.start;
    for (uint32_t k = p->dofs; k-- > 0;) {
        const mf_lane *f = p->factor + start[k], *g = p->factor + start[k - (k > 0)];
        const uint16_t *column = p->used.column + start[k];
        uint32_t count = start[k + 1] - start[k] - 1;
        if (!row_continues(p->used, k)) {
            for (uint32_t e = 0; e < count; e++)
                x[column[e]] = mf_fma(-f[e], x[k], x[column[e]]);
            continue;
        }
        const mf_lane last = -x[k], next = -mf_fma(f[--count], last, x[k - 1]);
        for (uint32_t e = 0; e < count; e++)
            x[column[e]] = mf_fma(g[e], next, mf_fma(f[e], last, x[column[e]]));
        x[--k] = -next;
    }
    for (uint32_t k = 0; k < p->dofs; k++) {
        const mf_lane *f = p->factor + start[k], *g = p->factor + start[k + 1];
        const uint16_t *column = p->used.column + start[k];
        const uint32_t count = start[k + 1] - start[k] - 1;
        mf_lane sum = x[k] * p->inverse[k];
        if (k + 1 == p->dofs || !row_continues(p->used, k + 1)) {
            for (uint32_t e = 0; e < count; e++)
                sum = mf_fma(-f[e], x[column[e]], sum);
            x[k] = sum;
            continue;
        }
        mf_lane next = x[k + 1] * p->inverse[k + 1];
        for (uint32_t e = 0; e < count; e++) {
            const mf_lane value = -x[column[e]];
            sum = mf_fma(f[e], value, sum);
            next = mf_fma(g[e], value, next);
        }
        x[k++] = sum;
        x[k] = mf_fma(-g[count], sum, next);
    }
}

// ---- problem hessian ----------------------------------------------------------------------------

enum { TILE = 4 }; // [1] rows

// ---- rows ---------------------------------------------------------------------------------------

// Row i of M, in a pattern with more entries.
static MF_INLINE void row_start(Problem *p, uint32_t i) {
    const uint32_t *tree_start = mf_art_tree_start(p->plan);
    const uint16_t *tree = mf_art_tree_column(p->plan), *column = p->used.column + p->used.start[i];
    mf_lane *to = p->factor + p->used.start[i];
    for (uint32_t k = tree_start[i]; k < tree_start[i + 1]; k++) {
        for (; *column != tree[k]; column++)
            *to++ = mf_zero();
        *to++ = p->mass[k];
        column++;
    }
}

// entry + sum over a constraint's rows of left J, in a column of J.
static MF_INLINE mf_lane entry_with(mf_lane entry, const mf_lane *left, const mf_lane *j,
                                    const uint32_t rows) {
    for (uint32_t r = 0; r < rows; r++)
        entry = mf_fma(left[r], j[r], entry);
    return entry;
}

// left = (W J)^T at a dof, W symmetric with its lower half in `w`.
static MF_INLINE void left_find(const mf_lane *w, const mf_lane *j, mf_lane *left,
                                const uint32_t rows) {
    for (uint32_t r = 0; r < rows; r++) {
        left[r] = w[r * (r + 1) / 2] * j[0];
        for (uint32_t s = 1; s < rows; s++)
            left[r] = mf_fma(w[s <= r ? r * (r + 1) / 2 + s : s * (s + 1) / 2 + r], j[s], left[r]);
    }
}

// Where the columns slot[0 .. last] are in row slot[last].
static MF_INLINE const uint16_t *row_slots(const Problem *p, const uint16_t *slot, uint32_t last,
                                           uint16_t *capacity) {
    const uint32_t first = p->used.start[slot[last]];
    const uint16_t *column = p->used.column + first;
    for (uint32_t b = 0, k = 0; b <= last; b++) {
        while (column[k] != slot[b])
            k++;
        capacity[b] = (uint16_t)k;
    }
    return capacity;
}

// Adds left J to a row in the columns at position[0 .. last].
static MF_INLINE void row_add(mf_lane *to, const uint16_t *index, uint32_t last,
                              const mf_lane *left, const mf_lane *j, const uint32_t rows) {
    for (uint32_t b = 0; b <= last; b++, j += rows)
        to[index[b]] = entry_with(to[index[b]], left, j, rows);
}

// The same for the rows of dofs a .. a + 3, whose columns are at the same positions.
static MF_INLINE void tile_add(Problem *p, const uint16_t *slot, const uint16_t *index, uint32_t a,
                               const mf_lane *w, const mf_lane *j, const uint32_t rows) {
    mf_lane *to[TILE], left[TILE][CONTACT_ROWS];
    for (uint32_t t = 0; t < TILE; t++) {
        to[t] = p->factor + p->used.start[slot[a + t]];
        left_find(w, j + (a + t) * rows, left[t], rows);
    }
    for (uint32_t b = 0; b < a; b++, j += rows) {
        const uint32_t at = index[b];
        for (uint32_t t = 0; t < TILE; t++)
            to[t][at] = entry_with(to[t][at], left[t], j, rows);
    }
    for (uint32_t b = 0; b < TILE; b++, j += rows) {
        const uint32_t at = index[a + b];
        for (uint32_t t = b; t < TILE; t++)
            to[t][at] = entry_with(to[t][at], left[t], j, rows);
    }
}

// Where the columns of all rows of a constraint are; NULL: at different places.
static MF_INLINE const uint16_t *shared_slots(const Problem *p, const Constraint *c) {
    const uint16_t *slot = &p->slots[c->first_slot];
    const uint32_t *row = &p->used.start[slot[c->count - 1]];
    if (is_full(p))
        return slot;
    // The last row of a whole chain has all its dofs and no other, so have those before it.
    return is_tree(p) && row[1] - row[0] == c->count ? p->counting : NULL;
}

// Adds J^T W J of a constraint; `rows` is a constant where this is called.
static MF_INLINE void hessian_rows(Problem *p, const Constraint *c, const mf_lane *w,
                                   const uint32_t rows) {
    const uint16_t *slot = &p->slots[c->first_slot], *shared = shared_slots(p, c);
    const mf_lane *j = &p->numbers[c->first];
    uint32_t a = 0;
    for (; shared != NULL && a + TILE <= c->count; a += TILE)
        tile_add(p, slot, shared, a, w, j, rows);
    for (; a < c->count; a++) {
        mf_lane left[CONTACT_ROWS];
        const uint16_t *index = shared != NULL ? shared : row_slots(p, slot, a, p->entry_slots);
        left_find(w, j + a * rows, left, rows);
        row_add(p->factor + p->used.start[slot[a]], index, a, left, j, rows);
    }
}

// The same where it touches one dof by one row.
static MF_INLINE void hessian_diagonal(Problem *p, const Constraint *c, mf_lane w) {
    mf_lane *entry = &p->factor[p->used.start[p->slots[c->first_slot] + 1] - 1];
    const mf_lane j = p->numbers[c->first];
    *entry = mf_fma(w * j, j, *entry);
}

static MF_INLINE void hessian_add(Problem *p, const Constraint *c, const mf_lane *w) {
    switch (c->rows) {
    case 1:
        if (has_one_number(c))
            hessian_diagonal(p, c, w[0]);
        else
            hessian_rows(p, c, w, 1);
        break;
    case 3:
        hessian_rows(p, c, w, 3);
        break;
    case 4:
        hessian_rows(p, c, w, 4);
        break;
    default:
        hessian_rows(p, c, w, 6);
        break;
    }
}

// H = M, in the pattern of the tree or the problem's.
static inline void hessian_start(Problem *p, Pattern pattern) {
    p->used = pattern;
    if (is_tree(p)) {
        memcpy(p->factor, p->mass, pattern.start[p->dofs] * sizeof *p->mass);
        return;
    }
    for (uint32_t i = 0; i < p->dofs; i++)
        row_start(p, i);
}
