// The factors of the problem's Hessian H = M + J^T W J: H = L^T D L by rows from the last to the
// first (Featherstone 2005, "Efficient factorization of the joint-space inertia matrix for
// branched kinematic trees"). Constraints that touch the ancestors of one link only leave the
// pattern of the tree as it is; others add entries, which are found before numbers are.
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

static inline void pattern_find(Problem *p) {
    bool chains = true;
    p->pattern = (Pattern){p->plan->tree_start, p->plan->tree_column};
    for (uint32_t n = 0; chains && n < p->constraint_count; n++)
        chains = is_chain(p, &p->constraints[n]);
    if (!chains)
        pattern_fill(p);
}

// ---- numbers ------------------------------------------------------------------------------------

// H = M, in the problem's pattern.
static inline void hessian_start(Problem *p) {
    const mf_ArtPlan *plan = p->plan;
    if (p->pattern.start == plan->tree_start) {
        memcpy(p->factor, p->mass, plan->tree_start[p->dofs] * sizeof *p->mass);
        return;
    }
    for (uint32_t i = 0; i < p->dofs; i++) {
        uint32_t from = plan->tree_start[i];
        for (uint32_t k = p->pattern.start[i]; k < p->pattern.start[i + 1]; k++) {
            const bool there =
                from < plan->tree_start[i + 1] && plan->tree_column[from] == p->pattern.column[k];
            p->factor[k] = there ? p->mass[from++] : mf_zero();
        }
    }
}

// Adds J^T W J of a constraint, W symmetric with its lower half in `w`; `rows` is a constant where
// this is called. Row a is (W J)^T at a times J up to a.
static MF_INLINE void hessian_rows(Problem *p, const Constraint *c, const mf_lane *w,
                                   const uint32_t rows) {
    const uint32_t count = c->count;
    const uint16_t *slot = &p->slots[c->ways];
    const mf_lane *j = &p->numbers[c->first];
    for (uint32_t a = 0; a < count; a++) {
        mf_lane left[CONTACT_ROWS];
        for (uint32_t r = 0; r < rows; r++) {
            left[r] = w[r * (r + 1) / 2] * j[a];
            for (uint32_t s = 1; s < rows; s++)
                left[r] = mf_fma(w[s <= r ? r * (r + 1) / 2 + s : s * (s + 1) / 2 + r],
                                 j[s * count + a], left[r]);
        }
        uint32_t k = p->pattern.start[slot[a]];
        if (p->pattern.start[slot[a] + 1] - k == a + 1) {
            for (uint32_t b = 0; b <= a; b++) {
                mf_lane sum = p->factor[k + b];
                for (uint32_t r = 0; r < rows; r++)
                    sum = mf_fma(left[r], j[r * count + b], sum);
                p->factor[k + b] = sum;
            }
            continue;
        }
        for (uint32_t b = 0; b <= a; b++, k++) {
            while (p->pattern.column[k] != slot[b])
                k++;
            mf_lane sum = p->factor[k];
            for (uint32_t r = 0; r < rows; r++)
                sum = mf_fma(left[r], j[r * count + b], sum);
            p->factor[k] = sum;
        }
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
    uint32_t to = p->pattern.start[i], from = p->pattern.start[k];
    if (p->pattern.start[i + 1] - to == size) {
        for (uint32_t e = 0; e < size; e++)
            p->factor[to + e] = mf_fma(-f, p->factor[from + e], p->factor[to + e]);
        return;
    }
    for (uint32_t e = 0; e < size; e++, to++) {
        while (p->pattern.column[to] != p->pattern.column[from + e])
            to++;
        p->factor[to] = mf_fma(-f, p->factor[from + e], p->factor[to]);
    }
}

static __attribute__((noinline)) void hessian_factor(Problem *p) {
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

// x = H^-1 x
static inline void hessian_solve(const Problem *p, mf_lane *x) {
    const uint32_t *start = p->pattern.start;
    const uint16_t *column = p->pattern.column;
    for (uint32_t k = p->dofs; k-- > 0;)
        for (uint32_t e = start[k]; e < start[k + 1] - 1; e++)
            x[column[e]] = mf_fma(-p->factor[e], x[k], x[column[e]]);
    for (uint32_t k = 0; k < p->dofs; k++) {
        mf_lane sum = x[k] * p->inverse[k];
        for (uint32_t e = start[k]; e < start[k + 1] - 1; e++)
            sum = mf_fma(-p->factor[e], x[column[e]], sum);
        x[k] = sum;
    }
}

#endif
