// The factors of the problem's Hessian H = M + J^T W J: H = L^T D L by rows from the last to the
// first (Featherstone 2005, "Efficient factorization of the joint-space inertia matrix for
// branched kinematic trees"). Constraints that touch the ancestors of one link only leave the
// pattern of the tree as it is; others add entries, which are found before numbers are. Where these
// fill most of the matrix, all of it is kept: the same sums, in loops that a processor foresees.
#ifndef MF_MOTION_ARTICULATED_PROBLEM_FACTOR_H
#define MF_MOTION_ARTICULATED_PROBLEM_FACTOR_H

#include "motion/articulated/problem.h"

// ---- pattern ------------------------------------------------------------------------------------

// Whether the dofs of a constraint are one chain: each is in the row of the last.
static bool is_chain(const Problem *p, const Constraint *c) {
    const uint16_t *slot = &p->slots[c->ways];
    if (c->count < 2)
        return true;
    const uint32_t last = slot[c->count - 1], *start = p->plan->tree_start;
    uint32_t k = start[last];
    for (uint32_t i = 0; i < c->count; i++, k++) {
        while (k < start[last + 1] && p->plan->tree_column[k] < slot[i])
            k++;
        if (k == start[last + 1] || p->plan->tree_column[k] != slot[i])
            return false;
    }
    return true;
}

static void bits_of_tree(const Problem *p, uint64_t (*bits)[PROBLEM_WORDS]) {
    for (uint32_t i = 0; i < p->dofs; i++) {
        memset(bits[i], 0, sizeof bits[i]);
        for (uint32_t k = p->plan->tree_start[i]; k < p->plan->tree_start[i + 1]; k++)
            bits[i][p->plan->tree_column[k] / 64] |= (uint64_t)1 << p->plan->tree_column[k] % 64;
    }
}

// What eliminating row i, from the last on, adds to the row of its largest other column.
static void bits_fill(uint32_t dofs, uint64_t (*bits)[PROBLEM_WORDS]) {
    for (uint32_t i = dofs; i-- > 1;) {
        uint64_t rest[PROBLEM_WORDS];
        memcpy(rest, bits[i], sizeof rest);
        rest[i / 64] &= ~((uint64_t)1 << i % 64);
        for (uint32_t w = i / 64 + 1; w-- > 0;) {
            if (rest[w] == 0)
                continue;
            const uint32_t top = 64 * w + 63 - (uint32_t)__builtin_clzll(rest[w]);
            for (uint32_t v = 0; v <= w; v++)
                bits[top][v] |= rest[v];
            break;
        }
    }
}

static __attribute__((noinline)) void pattern_fill(Problem *p) {
    uint64_t bits[PROBLEM_DOFS][PROBLEM_WORDS];
    uint32_t used = 0;
    bits_of_tree(p, bits);
    for (uint32_t n = 0; n < p->constraint_count; n++) {
        const Constraint *c = &p->constraints[n];
        const uint16_t *slot = &p->slots[c->ways];
        if (is_chain(p, c))
            continue;
        for (uint32_t i = 1; i < c->count; i++)
            for (uint32_t k = 0; k < i; k++)
                bits[slot[i]][slot[k] / 64] |= (uint64_t)1 << slot[k] % 64;
    }
    bits_fill(p->dofs, bits);
    for (uint32_t i = 0; i < p->dofs; i++) {
        p->own_start[i] = used;
        for (uint32_t w = 0; w <= i / 64; w++)
            for (uint64_t left = bits[i][w]; left != 0; left &= left - 1) {
                if (used == PROBLEM_ENTRIES) {
                    p->overflow = true;
                    return;
                }
                p->own_column[used++] = (uint16_t)(64 * w + (uint32_t)__builtin_ctzll(left));
            }
    }
    p->own_start[p->dofs] = used;
    p->pattern = (Pattern){p->own_start, p->own_column};
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
    p->pattern = (Pattern){p->own_start, p->own_column};
    p->full = true;
}

// Whether so many entries are better kept as all of them.
static bool is_mostly_full(const Problem *p, uint32_t entries) {
    const uint32_t all = p->dofs * (p->dofs + 1) / 2;
    return all <= PROBLEM_ENTRIES && 2 * entries > all;
}

static inline void pattern_find(Problem *p) {
    bool chains = true;
    p->full = false;
    p->pattern = (Pattern){p->plan->tree_start, p->plan->tree_column};
    for (uint32_t n = 0; chains && n < p->constraint_count; n++)
        chains = is_chain(p, &p->constraints[n]);
    if (chains)
        return;
    bool full = is_mostly_full(p, p->plan->tree_start[p->dofs]);
    if (!full) {
        pattern_fill(p);
        full = !p->overflow && is_mostly_full(p, p->own_start[p->dofs]);
    }
    if (full)
        pattern_full(p);
}

// ---- numbers ------------------------------------------------------------------------------------

// Row i of M in a row that has its entries and others: `column` are those of the row.
static MF_INLINE void row_spread(const Problem *p, uint32_t i, const uint16_t *column, mf_lane *to,
                                 uint32_t count) {
    const uint16_t *from = p->plan->tree_column + p->plan->tree_start[i];
    const mf_lane *mass = p->mass + p->plan->tree_start[i];
    for (uint32_t k = 0; k < count; k++) {
        const bool there = column[k] == *from; // the diagonal is the last of both
        to[k] = there ? *mass : mf_zero();
        from += there;
        mass += there;
    }
}

// H = M, in the problem's pattern.
static inline void hessian_start(Problem *p) {
    const uint32_t *tree = p->plan->tree_start, *start = p->pattern.start;
    if (start == tree) {
        memcpy(p->factor, p->mass, tree[p->dofs] * sizeof *p->mass);
        return;
    }
    for (uint32_t i = 0; i < p->dofs; i++) {
        const uint32_t count = start[i + 1] - start[i];
        mf_lane *to = p->factor + start[i];
        row_spread(p, i, p->pattern.column + start[i], to, count);
    }
}

// to += f from, entry by entry; four at a time, because compilers do not unroll by themselves.
static MF_INLINE void entries_add(mf_lane *restrict to, const mf_lane *restrict from, size_t count,
                                  mf_lane f) {
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

// entry + sum over rows of left J, in a column of J.
static MF_INLINE mf_lane entry_with(mf_lane entry, const mf_lane *left, const mf_lane *j,
                                    size_t count, const uint32_t rows) {
    for (uint32_t r = 0; r < rows; r++)
        entry = mf_fma(left[r], j[r * count], entry);
    return entry;
}

// Adds left^T J to row `slot[a]`, in the columns slot[0 .. a].
static MF_INLINE void hessian_row(Problem *p, const uint16_t *slot, uint32_t a, const mf_lane *left,
                                  const mf_lane *j, size_t count, const uint32_t rows) {
    const uint32_t first = p->pattern.start[slot[a]];
    const uint32_t size = p->pattern.start[slot[a] + 1] - first;
    mf_lane *to = p->factor + first;
    if (size == a + 1) { // the columns are these
        for (const mf_lane *const end = to + size; to != end; to++, j++)
            *to = entry_with(*to, left, j, count, rows);
    } else if (size == slot[a] + 1u) { // all columns
        for (const uint16_t *const end = slot + a + 1; slot != end; slot++, j++)
            to[*slot] = entry_with(to[*slot], left, j, count, rows);
    } else {
        const uint16_t *column = p->pattern.column + first;
        for (const uint16_t *const end = slot + a + 1; slot != end; slot++, j++, to++, column++) {
            for (; *column != *slot; column++)
                to++;
            *to = entry_with(*to, left, j, count, rows);
        }
    }
}

// Adds J^T W J of a constraint, W symmetric with its lower half in `w`; `rows` is a constant where
// this is called. Row a is (W J)^T at a times J up to a.
static MF_INLINE void hessian_rows(Problem *p, const Constraint *c, const mf_lane *w,
                                   const uint32_t rows) {
    const size_t count = c->count;
    const mf_lane *j = &p->numbers[c->first];
    for (uint32_t a = 0; a < count; a++) {
        mf_lane left[CONTACT_ROWS];
        for (uint32_t r = 0; r < rows; r++) {
            left[r] = w[r * (r + 1) / 2] * j[a];
            for (uint32_t s = 1; s < rows; s++)
                left[r] = mf_fma(w[s <= r ? r * (r + 1) / 2 + s : s * (s + 1) / 2 + r],
                                 j[s * count + a], left[r]);
        }
        hessian_row(p, &p->slots[c->ways], a, left, j, count, rows);
    }
}

static MF_INLINE void hessian_add(Problem *p, const Constraint *c, const mf_lane *w) {
    switch (c->rows) {
    case 1:
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

// Row i of H less f times the first `size` entries of row k, which are columns of row i too.
static MF_INLINE void row_less(Problem *p, uint32_t i, uint32_t k, uint32_t size, mf_lane f) {
    const uint32_t first = p->pattern.start[i], width = p->pattern.start[i + 1] - first;
    const uint16_t *own = p->pattern.column + first;
    const uint16_t *column = p->pattern.column + p->pattern.start[k], *const end = column + size;
    mf_lane *to = p->factor + first;
    const mf_lane *from = p->factor + p->pattern.start[k];
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
    const uint32_t *start = p->pattern.start;
    const mf_lane one = mf_set((mf_real)1);
    for (uint32_t k = p->dofs; k-- > 0;) {
        const uint32_t first = start[k], last = start[k + 1] - 1;
        const mf_lane inverse = one / p->factor[last];
        p->inverse[k] = inverse;
        for (uint32_t e = last; e-- > first;) {
            const mf_lane f = p->factor[e] * inverse;
            row_less(p, p->pattern.column[e], k, e - first + 1, f);
            p->factor[e] = f;
        }
    }
}

// The first `width` entries at `to` in row i less what the rows behind it take, from the last on;
// `from` is the same column of the last row. The sums stay in registers.
static MF_INLINE void full_part(mf_lane *to, const mf_lane *from, const mf_lane *factors,
                                uint32_t i, uint32_t dofs, const uint32_t width) {
    mf_lane sum[8];
    for (uint32_t e = 0; e < width; e++)
        sum[e] = to[e];
    for (uint32_t k = dofs - 1; k > i; from -= k, k--) {
        const mf_lane f = -factors[k];
        for (uint32_t e = 0; e < width; e++)
            sum[e] = mf_fma(f, from[e], sum[e]);
    }
    for (uint32_t e = 0; e < width; e++)
        to[e] = sum[e];
}

// As sparse_factor, row by row, where all entries are kept: row i takes from all behind it at once.
static void full_factor(Problem *p) {
    const uint32_t dofs = p->dofs, *start = p->pattern.start;
    const mf_lane one = mf_set((mf_real)1);
    mf_lane factors[PROBLEM_DOFS];
    for (uint32_t i = dofs; i-- > 0;) {
        mf_lane *row = p->factor + start[i];
        const mf_lane *last = p->factor + start[dofs - 1];
        uint32_t c = 0;
        for (uint32_t k = i + 1; k < dofs; k++)
            factors[k] = p->factor[start[k] + i] * p->inverse[k];
        for (; c + 8 <= i + 1; c += 8)
            full_part(row + c, last + c, factors, i, dofs, 8);
        if ((i + 1) & 4)
            full_part(row + c, last + c, factors, i, dofs, 4);
        c = (i + 1) & ~3u;
        if ((i + 1) & 2)
            full_part(row + c, last + c, factors, i, dofs, 2);
        if ((i + 1) & 1)
            full_part(row + i, last + i, factors, i, dofs, 1);
        for (uint32_t k = i + 1; k < dofs; k++)
            p->factor[start[k] + i] = factors[k];
        p->inverse[i] = one / row[i];
    }
}

static __attribute__((noinline)) void hessian_factor(Problem *p) {
    if (p->full)
        full_factor(p);
    else
        sparse_factor(p);
}

// x = H^-1 x
static inline void hessian_solve(const Problem *p, mf_lane *x) {
    const uint32_t *start = p->pattern.start;
    const uint16_t *column = p->pattern.column;
    for (uint32_t k = p->dofs; k-- > 0;) {
        const mf_lane *factor = p->factor + start[k];
        const uint16_t *to = column + start[k], *const end = column + start[k + 1] - 1;
        if (p->full) {
            entries_add(x, factor, k, -x[k]);
            continue;
        }
        for (; to != end; to++, factor++)
            x[*to] = mf_fma(-*factor, x[k], x[*to]);
    }
    for (uint32_t k = 0; k < p->dofs; k++) {
        const mf_lane *factor = p->factor + start[k];
        const uint16_t *from = column + start[k], *const end = column + start[k + 1] - 1;
        mf_lane sum = x[k] * p->inverse[k];
        for (; from != end; from++, factor++)
            sum = mf_fma(-*factor, x[*from], sum);
        x[k] = sum;
    }
}

#endif
