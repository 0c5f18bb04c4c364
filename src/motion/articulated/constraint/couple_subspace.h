// Solves all rows of the solver of couplings that are within their bounds together, between
// projected Gauss-Seidel sweeps. Sweeps find the active set quickly, but need very many iterations
// to pass loads through tall stacks or from heavy bodies to light ones. (Projected Gauss-Seidel
// with subspace minimization: Silcowitz, Niebe, Erleben 2010.)
//
// With the rows w of couple.h, the sum y of w times impulse, and velocities v = value + w y at the
// end of the step, the impulses are those that minimize
//     y^2 / 2 + sum of (value - given / slope) impulse + impulse^2 / (2 slope)
// within their bounds, with constant bounds of friction. Rows within their bounds are free, the
// others keep their impulse. The free ones change by Newton's method, with slopes of at most
// `stiffest`, so that the matrix stays regular with redundant rows:
//     (1 + sum of k w w^T) dy = -sum of w b,   d impulse = -(b + k w dy)
//     k = stiffest slope / (stiffest + slope),  b = k (v + (impulse - given) / slope)
// The matrix has the size of the velocities and the sparsity of the tree; the solution is repeated
// with the same factors, which removes the error of `stiffest`. Rows that leave their bounds are
// clamped and fixed, and the others solved again. If the cost rises nevertheless, the first change
// is shortened to the first bound. Rounds of a solution and sweeps therefore never raise the cost,
// and converge to the same result as sweeps.
#pragma once

#include "motion/articulated/contact/contact_rows.h"
#include "math/carve.h"
#include "math/lane.h"
#include "motion/articulated/plan.h"

#include <string.h>

// ---- lane ldl -----------------------------------------------------------------------------------

// Symmetric positive definite matrices in lanes, sparse: A = L^T D L by rows from the last to the
// first, so that a row adds entries only to those before it (Featherstone 2005). The pattern, with
// the fill-in of the factors, is computed once and is the same in all lanes.

enum { LDL_ENTRIES = 6144 }; // of the lower half, at most

typedef struct LdlPattern {
    uint32_t words; // [1] of a row
    uint64_t *bits; // bit k of row i: entry (i, k), k <= i
    uint64_t *rest; // a row that is being eliminated
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
    const size_t whole = (size_t)size * (size + 1) / 2;
    pattern->words = size / 64 + 1;
    a->capacity = whole < LDL_ENTRIES ? (uint32_t)whole : LDL_ENTRIES;
    MF_CARVE(carver, pattern->bits, (size_t)size * pattern->words);
    MF_CARVE(carver, pattern->rest, pattern->words);
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

// Eliminating a row adds its other columns to the row of the largest of them.
static inline void ldl_fill(uint32_t size, const LdlPattern *pattern) {
    for (uint32_t i = size; i-- > 1;) {
        uint64_t *rest = pattern->rest;
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

// Subtracts f times the entries first .. last of a later row, whose columns row i has, too.
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

// ---- couple subspace ----------------------------------------------------------------------------

enum { SUBSPACE_PASSES = 8, SUBSPACE_REPEATS = 3 };

// Rows with a common range.
typedef struct Part {
    uint32_t row, rows;  // [1] 1 or, in an ellipse, 2
    uint32_t load;       // [1] row whose impulse bounds them; MF_NONE: their own ranges do
    mf_real friction[2]; // [1] or [m] bound over load
} Part;

typedef struct Subspace {
    Couple *couple;
    const mf_lane *target;  // [m/s], [rad/s] values of the equality constraints' rows
    const mf_lane *inverse; // 0 in lanes where such a row is redundant
    uint32_t first, loops;  // [1] those rows
    uint32_t part_count;
    Part *parts;        // space for one per row
    bool *touched;      // per slot: rows touch it
    uint16_t *index;    // [1] of a slot among the velocities that rows touch
    uint16_t *slots;    // [1] of each of them
    mf_lane *stiffness; // k of the free rows, 0 of the others
    mf_lane *gradient;  // v + (impulse - given) / slope
    mf_lane *change;    // of the impulse, without bounds
    mf_lane *tried;     // impulses within bounds
    mf_mask *fixed;     // parts that are not free
    mf_lane *x;         // per velocity
    mf_lane *impulse;   // per row: impulses before a solution
    mf_lane *sum;       // per velocity: of w times impulse before it
    LdlPattern pattern;
    LaneLdl matrix;
} Subspace;

static inline void subspace_carve(const mf_ArtPlan *plan, mf_Carver *carver, Subspace *s) {
    const uint32_t rows = couple_rows(plan), slots = couple_slots(plan), size = plan->row_of_all;
    MF_CARVE(carver, s->parts, rows);
    MF_CARVE(carver, s->touched, slots);
    MF_CARVE(carver, s->index, slots);
    MF_CARVE(carver, s->slots, size);
    MF_CARVE(carver, s->stiffness, rows);
    MF_CARVE(carver, s->gradient, rows);
    MF_CARVE(carver, s->change, rows);
    MF_CARVE(carver, s->tried, rows);
    MF_CARVE(carver, s->fixed, rows);
    MF_CARVE(carver, s->x, size);
    MF_CARVE(carver, s->impulse, rows);
    MF_CARVE(carver, s->sum, size);
    ldl_carve(size, carver, &s->pattern, &s->matrix);
}

// ---- parts and pattern --------------------------------------------------------------------------

static inline void part_add(Subspace *s, uint32_t row, uint32_t rows, uint32_t load,
                            const mf_real *friction) {
    Part *part = &s->parts[s->part_count++];
    part->row = row;
    part->rows = rows;
    part->load = load;
    part->friction[0] = part->friction[1] = 0;
    for (uint32_t k = 0; k < rows && friction != NULL; k++)
        part->friction[k] = friction[k];
}

static inline void parts_of_contact(Subspace *s, const ContactResult *contact) {
    const Surface *surface = &contact->batch->surface;
    const uint32_t first = contact->first;
    part_add(s, first, 1, MF_NONE, NULL);
    if (surface->rows >= 3)
        part_add(s, first + 1, 2, first, surface->friction);
    if (surface->rows >= 4)
        part_add(s, first + 3, 1, first, surface->friction + 2);
    if (surface->rows >= 6)
        part_add(s, first + 4, 2, first, surface->friction + 3);
}

// Numbers the velocities that rows touch, in their order in the tree, and finds the pattern of the
// matrix. False when it has no space.
static inline bool subspace_index(Subspace *s) {
    const Couple *c = s->couple;
    const uint32_t slots = couple_slots(c->plan);
    uint32_t size = 0;
    memset(s->touched, 0, slots * sizeof *s->touched);
    for (uint32_t r = 0; r < c->row_count; r++)
        for (uint32_t i = 0; i < c->rows[r].count; i++)
            s->touched[c->slot[c->rows[r].offset + i]] = true;
    for (uint32_t slot = 0; slot < slots; slot++) {
        if (!s->touched[slot])
            continue;
        s->index[slot] = (uint16_t)size;
        s->slots[size++] = (uint16_t)slot;
    }
    ldl_begin(size, &s->pattern);
    for (uint32_t r = 0; r < c->row_count; r++) {
        const Row *row = &c->rows[r];
        if (r > 0 && row->offset == row[-1].offset)
            continue;
        for (uint32_t i = 0; i < row->count; i++)
            for (uint32_t k = i + 1; k < row->count; k++) // slots fall along a row
                ldl_mark(&s->pattern, s->index[c->slot[row->offset + i]],
                         s->index[c->slot[row->offset + k]]);
    }
    return ldl_index(size, &s->pattern, &s->matrix);
}

// `first_shared` rows belong to equality constraints and tendons. False when the matrix is full.
static inline bool subspace_begin(Subspace *s, uint32_t first_shared, const ContactResult *contact,
                                  uint32_t count) {
    s->part_count = 0;
    for (uint32_t r = 0; r < first_shared; r++)
        part_add(s, r, 1, MF_NONE, NULL);
    for (uint32_t i = 0; i < count; i++)
        parts_of_contact(s, &contact[i]);
    return subspace_index(s);
}

// ---- free rows ----------------------------------------------------------------------------------

static MF_INLINE bool is_equation(const Subspace *s, uint32_t row) {
    return row >= s->first && row < s->first + s->loops;
}

// The largest slope of a row that the precision allows.
static MF_INLINE mf_lane stiffest_of(mf_lane diagonal) {
    const mf_real stiff = 10000;
    const mf_mask real = mf_less(mf_set(MF_REAL_EPSILON * MF_REAL_EPSILON), diagonal);
    return mf_keep(real, mf_set(stiff) / mf_select(real, diagonal, mf_set((mf_real)1)));
}

// The range of a single row; `load` is the impulse that bounds it, if one does.
static MF_INLINE mf_lane highest_of(const Subspace *s, const Part *part, mf_lane load) {
    if (part->load == MF_NONE)
        return s->couple->rows[part->row].high;
    return mf_set(part->friction[0]) * load;
}

static MF_INLINE mf_lane lowest_of(const Subspace *s, const Part *part, mf_lane load) {
    return part->load == MF_NONE ? s->couple->rows[part->row].low : -highest_of(s, part, load);
}

// Lanes in which all rows of a part are within their range.
static MF_INLINE mf_mask part_is_free(const Subspace *s, const Part *part) {
    const Row *row = &s->couple->rows[part->row];
    const mf_real most = (mf_real)0.9999; // of the bound: a difference by rounding is not free
    if (part->load == MF_NONE && is_equation(s, part->row))
        return mf_less(mf_zero(), s->inverse[part->row - s->first]);
    if (part->load == MF_NONE)
        return mf_and(mf_less(row->low, row->impulse), mf_less(row->impulse, row->high));
    const mf_lane bound = mf_set(most) * s->couple->rows[part->load].impulse;
    mf_lane u = row[0].impulse * mf_set((mf_real)1 / part->friction[0]), square = u * u;
    if (part->rows == 2) {
        u = row[1].impulse * mf_set((mf_real)1 / part->friction[1]);
        square = mf_fma(u, u, square);
    }
    return mf_less(square, bound * bound);
}

// Gradients of all rows, stiffness of the free ones and, in `change`, their b.
static inline void rows_renew(Subspace *s) {
    const Couple *c = s->couple;
    const mf_lane one = mf_set((mf_real)1), zero = mf_zero();
    for (uint32_t i = 0; i < s->part_count; i++) {
        const Part *part = &s->parts[i];
        const mf_mask where = mf_not(s->fixed[i]);
        for (uint32_t r = part->row; r < part->row + part->rows; r++) {
            const Row *row = &c->rows[r];
            const mf_lane stiffest = stiffest_of(row->diagonal);
            mf_lane k = stiffest;
            s->gradient[r] = row_value(c, row);
            if (is_equation(s, r)) {
                s->gradient[r] = s->gradient[r] - s->target[r - s->first];
            } else if (part->load == MF_NONE) {
                const mf_mask sloped = mf_less(zero, row->slope);
                const mf_lane slope = mf_select(sloped, row->slope, one);
                const mf_lane stretch = (row->impulse - row->given) / slope;
                s->gradient[r] = s->gradient[r] + mf_keep(sloped, stretch);
                k = mf_keep(sloped, stiffest / (stiffest + slope) * slope);
            }
            s->stiffness[r] = mf_keep(where, k);
            s->change[r] = s->stiffness[r] * s->gradient[r];
        }
    }
}

// ---- solution -----------------------------------------------------------------------------------

// Adds k w w^T of a row.
static inline void matrix_add(Subspace *s, uint32_t r) {
    const Couple *c = s->couple;
    const Row *row = &c->rows[r];
    const mf_lane *w = &c->arena[row->first];
    const uint16_t *slot = &c->slot[row->offset];
    LaneLdl *a = &s->matrix;
    for (uint32_t i = 0; i < row->count; i++) {
        const mf_lane part = s->stiffness[r] * w[i];
        uint32_t e = a->start[s->index[slot[i]]];
        for (uint32_t k = row->count; k-- > i; e++) { // slots fall along a row
            const uint32_t column = s->index[slot[k]];
            while (a->column[e] != column)
                e++;
            a->entry[e] = mf_fma(part, w[k], a->entry[e]);
        }
    }
}

// out += sum of w times `weights`
static inline void rows_sum(const Subspace *s, const mf_lane *weights, mf_lane *out) {
    const Couple *c = s->couple;
    for (uint32_t r = 0; r < c->row_count; r++) {
        const Row *row = &c->rows[r];
        const mf_lane *w = &c->arena[row->first];
        for (uint32_t i = 0; i < row->count; i++) {
            mf_lane *to = &out[s->index[c->slot[row->offset + i]]];
            *to = mf_fma(w[i], weights[r], *to);
        }
    }
}

static MF_INLINE mf_lane row_along(const Subspace *s, uint32_t r, const mf_lane *x) {
    const Couple *c = s->couple;
    const Row *row = &c->rows[r];
    const mf_lane *w = &c->arena[row->first];
    mf_lane sum = mf_zero();
    for (uint32_t i = 0; i < row->count; i++)
        sum = mf_fma(w[i], x[s->index[c->slot[row->offset + i]]], sum);
    return sum;
}

static void x_clear(Subspace *s) {
    for (uint32_t i = 0; i < s->matrix.size; i++)
        s->x[i] = mf_zero();
}

// The factors for the free rows; rows without a busy lane cost nothing.
static __attribute__((noinline)) void matrix_find(Subspace *s, mf_mask busy) {
    ldl_unit(&s->matrix);
    for (uint32_t r = 0; r < s->couple->row_count; r++)
        if (mf_any(mf_and(busy, mf_less(mf_zero(), s->stiffness[r]))))
            matrix_add(s, r);
    ldl_factor(&s->matrix);
}

// Changes of all impulses if the free rows had no bounds. `renewed`: the set of free rows has
// changed.
static __attribute__((noinline)) void changes_find(Subspace *s, mf_mask busy, bool renewed) {
    rows_renew(s);
    if (renewed)
        matrix_find(s, busy);
    x_clear(s);
    rows_sum(s, s->change, s->x);
    ldl_solve(&s->matrix, s->x);
    for (uint32_t r = 0; r < s->couple->row_count; r++)
        s->change[r] = mf_fma(s->stiffness[r], row_along(s, r, s->x), -s->change[r]);
}

// Impulses after `distance` times the changes, clamped to their bounds. Parts that left their
// bounds are fixed from now on; returns the lanes that have some.
static inline mf_mask tries_find(Subspace *s, mf_lane distance, mf_mask lanes) {
    const Row *rows = s->couple->rows;
    mf_mask any = mf_not(mf_mask_all());
    for (uint32_t i = 0; i < s->part_count; i++) {
        const Part *part = &s->parts[i];
        const uint32_t r = part->row;
        mf_lane out[2] = {mf_zero(), mf_zero()};
        for (uint32_t k = 0; k < part->rows; k++)
            s->tried[r + k] = out[k] = mf_fma(distance, s->change[r + k], rows[r + k].impulse);
        if (part->load == MF_NONE && is_equation(s, r))
            continue;
        const mf_lane load = part->load == MF_NONE ? mf_zero() : s->tried[part->load];
        if (part->rows == 2)
            hold_across(&out[0], &out[1], part->friction, load);
        else
            out[0] = mf_clamp(out[0], lowest_of(s, part, load), highest_of(s, part, load));
        mf_lane back = mf_abs(out[0] - s->tried[r]);
        if (part->rows == 2)
            back = back + mf_abs(out[1] - s->tried[r + 1]);
        const mf_mask left = mf_and(mf_and(mf_less(mf_zero(), back), lanes), mf_not(s->fixed[i]));
        s->fixed[i] = mf_or(s->fixed[i], left);
        any = mf_or(any, left);
        for (uint32_t k = 0; k < part->rows; k++)
            s->tried[r + k] = out[k];
    }
    return any;
}

// Applies the trial impulses and their sum to the rows. Returns the change of the cost.
static inline mf_lane tries_store(Subspace *s, mf_mask lanes) {
    Couple *c = s->couple;
    const mf_lane zero = mf_zero(), half = mf_set((mf_real)0.5), one = mf_set((mf_real)1);
    mf_lane cost = zero, square = zero;
    for (uint32_t r = 0; r < c->row_count; r++) {
        Row *row = &c->rows[r];
        const mf_lane change = mf_keep(lanes, s->tried[r] - row->impulse);
        const mf_mask sloped = mf_less(zero, row->slope);
        const mf_lane soft = mf_keep(sloped, half * change / mf_select(sloped, row->slope, one));
        cost = mf_fma(change, s->gradient[r] + soft, cost);
        s->tried[r] = change;
        row->impulse = row->impulse + change;
    }
    x_clear(s);
    rows_sum(s, s->tried, s->x);
    for (uint32_t i = 0; i < s->matrix.size; i++) {
        square = mf_fma(s->x[i], s->x[i], square);
        c->sum[s->slots[i]] = c->sum[s->slots[i]] + s->x[i];
    }
    return mf_fma(half, square, cost);
}

// Largest step along the changes for all free rows.
static inline mf_lane direction_find(const Subspace *s) {
    mf_lane distance = mf_set((mf_real)1);
    for (uint32_t i = 0; i < s->part_count; i++) {
        const Part *part = &s->parts[i];
        const mf_lane impulse = s->couple->rows[part->row].impulse, change = s->change[part->row];
        if (part->rows == 2 || is_equation(s, part->row))
            continue;
        const mf_lane load =
            part->load == MF_NONE ? mf_zero() : s->couple->rows[part->load].impulse;
        const mf_mask falls = mf_less(change, mf_zero());
        const mf_lane end = mf_select(falls, lowest_of(s, part, load), highest_of(s, part, load));
        const mf_mask moves = mf_less(mf_zero(), mf_abs(change));
        const mf_lane most = (end - impulse) / mf_select(moves, change, mf_set((mf_real)1));
        distance = mf_select(moves, mf_min(distance, mf_max(most, mf_zero())), distance);
    }
    return distance;
}

static void impulses_save(Subspace *s) {
    for (uint32_t r = 0; r < s->couple->row_count; r++)
        s->impulse[r] = s->couple->rows[r].impulse;
    for (uint32_t i = 0; i < s->matrix.size; i++)
        s->sum[i] = s->couple->sum[s->slots[i]];
}

static void impulses_restore(const Subspace *s, mf_mask lanes) {
    Couple *c = s->couple;
    for (uint32_t r = 0; r < c->row_count; r++)
        c->rows[r].impulse = mf_select(lanes, s->impulse[r], c->rows[r].impulse);
    for (uint32_t i = 0; i < s->matrix.size; i++)
        c->sum[s->slots[i]] = mf_select(lanes, s->sum[i], c->sum[s->slots[i]]);
}

// One solution in these lanes, if it lowers the cost.
static __attribute__((noinline)) void subspace_solve(Subspace *s, mf_mask lanes) {
    const mf_lane one = mf_set((mf_real)1), last = mf_set((mf_real)SUBSPACE_REPEATS);
    mf_lane cost = mf_zero(), repeats = mf_zero();
    mf_mask open = lanes, left = lanes;
    for (uint32_t i = 0; i < s->part_count; i++)
        s->fixed[i] = mf_not(part_is_free(s, &s->parts[i]));
    impulses_save(s);
    for (int pass = 0; pass < SUBSPACE_PASSES && mf_any(open); pass++) {
        changes_find(s, open, mf_any(left));
        left = tries_find(s, one, open);
        cost = cost + tries_store(s, open);
        repeats = mf_select(left, mf_zero(), repeats + one);
        open = mf_and(open, mf_less(repeats, last));
    }
    const mf_mask worse = mf_and(lanes, mf_not(mf_less_equal(cost, mf_zero())));
    if (!mf_any(worse))
        return;
    impulses_restore(s, worse);
    for (uint32_t i = 0; i < s->part_count; i++)
        s->fixed[i] = mf_not(part_is_free(s, &s->parts[i]));
    changes_find(s, worse, true);
    tries_find(s, direction_find(s), worse);
    cost = tries_store(s, worse);
    impulses_restore(s, mf_and(worse, mf_not(mf_less_equal(cost, mf_zero()))));
}
