// The problem's Hessian H = M + J^T W J, constraint by constraint, in tiles of a few rows.
#ifndef MF_MOTION_ARTICULATED_PROBLEM_HESSIAN_H
#define MF_MOTION_ARTICULATED_PROBLEM_HESSIAN_H

#include "motion/articulated/problem_factor.h"

enum { TILE = 4 }; // [1] rows

// ---- rows ---------------------------------------------------------------------------------------

// Row i of M, in a pattern with more entries.
static MF_INLINE void row_start(Problem *p, uint32_t i) {
    const uint32_t *tree_start = mf_art_tree_start(p->plan);
    const uint32_t first = tree_start[i], last = tree_start[i + 1];
    const uint16_t *tree = mf_art_tree_column(p->plan), *column = p->used.column + p->used.start[i];
    mf_lane *to = p->factor + p->used.start[i];
    for (uint32_t e = 0; e < p->used.start[i + 1] - p->used.start[i]; e++)
        to[e] = mf_zero();
    for (uint32_t k = first, e = 0; k < last; k++) {
        for (; !p->full && column[e] != tree[k]; e++) {
        }
        to[p->full ? tree[k] : e] = p->mass[k];
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

#endif
