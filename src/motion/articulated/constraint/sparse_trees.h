// Vectors and trees of the solver of large plans (sparse_kernel.c, whose order of sums this is).
#pragma once

#include "motion/articulated/constraint/problem_cost.h"
#include "motion/articulated/constraint/sparse.h"

enum { WIDE_SUMS = 16, WIDE_PARTS = WIDE_SUMS / MF_LANES };
enum { WIDE_ROUND = 6 }; // [1] to a multiple of this the numbers of dofs are rounded up

// Packs of one class: of the same number of constraints that are alike.
typedef struct WideClass {
    const mf_SparseConstraint *like;
    uint32_t members;
    uint32_t count, filled; // [1] lanes; those that have their constraints
    uint32_t first;         // [1] pack
} WideClass;

// In each lane constraints of the same dofs, one in each block.
typedef struct Pack {
    uint32_t first, members; // [1] blocks
    uint32_t filled;         // [1] lanes
    uint32_t part;           // [1] of WIDE_PARTS, which sums it adds to
} Pack;

typedef struct TreeKind {       // trees of one pattern
    uint32_t first, dofs;       // [1] of the first tree
    uint32_t count, positioned; // [1] trees; those that have their position
    uint32_t position, entry;   // [1] of the first WIDE_SUMS trees
} TreeKind;

typedef struct Wide {
    const mf_Sparse *in;
    uint32_t dofs;
    const uint32_t *start; // pattern of the trees
    const uint16_t *column;
    uint32_t *tree; // [1] per dof, the first dof of its tree
    uint32_t
        *position;   // [1] per dof, where it is in the vectors below; one more, which is always 0
    uint32_t *entry; // [1] per entry of the trees' pattern, where it is in the matrices below
    uint32_t kind_count;
    TreeKind *kinds;
    uint32_t *kind_of; // [1] per tree
    uint32_t class_count, pack_count, block_count;
    WideClass *classes;
    uint32_t *class_of; // [1] per first constraint of a pack's lane
    Pack *packs;
    Constraint *blocks;
    uint32_t *part;   // [1] per block, that of its pack
    uint32_t *source; // [1] constraints of the problem, MF_LANES per block
    // As in a problem, with blocks for constraints; a slot is one number per lane.
    mf_lane *weight, *rest, *slack, *along, *force, *numbers, *curve;
    mf_mask *zones;
    Ray *rays;
    uint32_t *slots;        // dofs
    int32_t *positions;     // and where they are
    mf_lane *values, *sums; // per dof of a pack
    // Of the trees: of alike ones WIDE_SUMS lie side by side, entry by entry.
    uint32_t entries; // [1]
    mf_real *mass, *factor, *inverse;
    // Per dof in the same order, with zeros where a row of trees is not full.
    uint32_t size; // [1]
    mf_real *x, *inertial, *gradient, *descent, *ahead;
    mf_real *left, *eased, *search, *bent; // of conjugate gradients: r, P^-1 r, direction, H of it
} Wide;

// Which constraints are alike.
static inline void wide_carve_classes(uint32_t constraints, mf_Carver *carver, Wide *w) {
    MF_CARVE(carver, w->classes, constraints);
    MF_CARVE(carver, w->class_of, constraints);
}

// All else; the constraints, rows and numbers of `size` are those of blocks.
static inline void wide_carve(const mf_SparseSize *size, mf_Carver *carver, Wide *w) {
    // As if no two trees were alike.
    const size_t dofs = size->dofs, values = WIDE_SUMS * (dofs + 1);
    MF_CARVE(carver, w->tree, dofs + 1);
    MF_CARVE(carver, w->position, dofs + 1);
    MF_CARVE(carver, w->entry, size->entries);
    MF_CARVE(carver, w->kinds, dofs);
    MF_CARVE(carver, w->kind_of, dofs);
    MF_CARVE(carver, w->blocks, size->constraints);
    MF_CARVE(carver, w->packs, size->constraints);
    MF_CARVE(carver, w->part, size->constraints);
    MF_CARVE(carver, w->source, (size_t)MF_LANES * size->constraints);
    MF_CARVE(carver, w->weight, size->rows);
    MF_CARVE(carver, w->rest, size->rows);
    MF_CARVE(carver, w->slack, size->rows);
    MF_CARVE(carver, w->along, size->rows);
    MF_CARVE(carver, w->force, size->rows);
    MF_CARVE(carver, w->zones, 2 * size->rows);
    MF_CARVE(carver, w->curve, (size_t)CONTACT_PRODUCTS * size->constraints);
    MF_CARVE(carver, w->rays, size->constraints);
    MF_CARVE(carver, w->numbers, size->numbers);
    MF_CARVE(carver, w->slots, (size_t)MF_LANES * size->numbers);
    MF_CARVE(carver, w->positions, (size_t)MF_LANES * size->numbers);
    MF_CARVE(carver, w->values, dofs + WIDE_ROUND);
    MF_CARVE(carver, w->sums, dofs + WIDE_ROUND);
    MF_CARVE(carver, w->mass, (size_t)WIDE_SUMS * size->entries);
    MF_CARVE(carver, w->factor, (size_t)WIDE_SUMS * size->entries);
    MF_CARVE(carver, w->inverse, values);
    mf_real **const rows[] = {&w->x,    &w->inertial, &w->gradient, &w->descent, &w->ahead,
                              &w->left, &w->eased,    &w->search,   &w->bent};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        MF_CARVE(carver, *rows[i], values);
}

// ---- vectors ------------------------------------------------------------------------------------

static inline mf_real real_sqrt(mf_real value) {
    const mf_lane root = mf_sqrt(mf_set(value));
    return lane_get(&root, 0);
}

static inline mf_real sums_total(const mf_lane *sums) {
    mf_real total = 0;
    for (uint32_t i = 0; i < WIDE_SUMS; i++)
        total += lane_get(&sums[i / MF_LANES], i % MF_LANES);
    return total;
}

static inline void sums_clear(mf_lane *sums) {
    for (uint32_t i = 0; i < WIDE_PARTS; i++)
        sums[i] = mf_zero();
}

static inline mf_real wide_dot(const Wide *w, const mf_real *a, const mf_real *b) {
    mf_lane sums[WIDE_PARTS];
    sums_clear(sums);
    for (uint32_t i = 0; i < w->size; i += WIDE_SUMS)
        for (uint32_t k = 0; k < WIDE_PARTS; k++)
            sums[k] = mf_fma(mf_load(a + i + k * MF_LANES), mf_load(b + i + k * MF_LANES), sums[k]);
    return sums_total(sums);
}

// to += f from
static inline void wide_add(const Wide *w, mf_real *to, mf_real f, const mf_real *from) {
    const mf_lane factor = mf_set(f);
    for (uint32_t i = 0; i < w->size; i += MF_LANES)
        mf_store(to + i, mf_fma(factor, mf_load(from + i), mf_load(to + i)));
}

// to = from + f to
static inline void wide_extend(const Wide *w, mf_real *to, mf_real f, const mf_real *from) {
    const mf_lane factor = mf_set(f);
    for (uint32_t i = 0; i < w->size; i += MF_LANES)
        mf_store(to + i, mf_fma(factor, mf_load(to + i), mf_load(from + i)));
}

static inline void wide_clear(const Wide *w, mf_real *to) {
    memset(to, 0, w->size * sizeof *to);
}

// ---- trees --------------------------------------------------------------------------------------

// The trees that are done at once: MF_LANES alike ones.
typedef struct Trees {
    const uint32_t *start; // of the first tree of their kind; entries and columns count from there
    const uint16_t *column;
    uint32_t dofs, first, first_entry;
    size_t position, entry; // of the first lane
    size_t stride;          // [1] from one number to the next: 1 where there is one tree
} Trees;

static MF_INLINE Trees trees_of(const Wide *w, const TreeKind *kind, uint32_t number) {
    const uint32_t row = number / WIDE_SUMS, lane = number % WIDE_SUMS;
    const uint32_t entries = w->start[kind->first + kind->dofs] - w->start[kind->first];
    return MF_VALUE(Trees, w->start + kind->first, w->column, kind->dofs, kind->first,
                    w->start[kind->first],
                    kind->position + (size_t)row * kind->dofs * WIDE_SUMS + lane,
                    kind->entry + (size_t)row * entries * WIDE_SUMS + lane,
                    (size_t)(kind->count == 1 ? 1 : WIDE_SUMS));
}

static MF_INLINE size_t trees_dof(const Trees *t, uint32_t dof) {
    return t->position + (dof - t->first) * t->stride;
}

static MF_INLINE size_t trees_entry(const Trees *t, uint32_t entry) {
    return t->entry + (entry - t->first_entry) * t->stride;
}

// A number of all trees, or of the only one in every lane.
static MF_INLINE mf_lane trees_load(const Trees *t, const mf_real *from) {
    return t->stride == 1 ? mf_set(*from) : mf_load(from);
}

static MF_INLINE void trees_store(const Trees *t, mf_real *to, mf_lane value) {
    if (t->stride == 1)
        *to = lane_get(&value, 0);
    else
        mf_store(to, value);
}

// y = M x
static MF_INLINE void trees_mass(const Wide *w, const Trees *t, const mf_real *x, mf_real *y) {
    for (uint32_t i = 0; i < t->dofs; i++) {
        const uint32_t last = t->start[i + 1] - 1;
        const size_t own = trees_dof(t, t->first + i);
        const mf_lane value = trees_load(t, x + own);
        mf_lane sum = trees_load(t, w->mass + trees_entry(t, last)) * value;
        for (uint32_t e = t->start[i]; e < last; e++) {
            const mf_lane entry = trees_load(t, w->mass + trees_entry(t, e));
            const size_t other = trees_dof(t, t->column[e]);
            sum = mf_fma(entry, trees_load(t, x + other), sum);
            trees_store(t, y + other, mf_fma(entry, value, trees_load(t, y + other)));
        }
        trees_store(t, y + own, sum);
    }
}

// L^T D L of what is in `factor` (as sparse_factor of problem_hessian.h).
static MF_INLINE void trees_factor(Wide *w, const Trees *t) {
    for (uint32_t k = t->dofs; k-- > 0;) {
        const uint32_t first = t->start[k], last = t->start[k + 1] - 1;
        const mf_lane inverse =
            mf_set((mf_real)1) / trees_load(t, w->factor + trees_entry(t, last));
        trees_store(t, w->inverse + trees_dof(t, t->first + k), inverse);
        for (uint32_t e = last; e-- > first;) {
            const mf_lane f = trees_load(t, w->factor + trees_entry(t, e)) * inverse;
            // The row of an ancestor ends as this one does at its column.
            mf_real *row = w->factor + trees_entry(t, w->start[t->column[e] + 1] - (e - first + 1));
            const mf_real *own = w->factor + trees_entry(t, first);
            for (uint32_t n = first; n <= e; n++, row += t->stride, own += t->stride)
                trees_store(t, row, mf_fma(-f, trees_load(t, own), trees_load(t, row)));
            trees_store(t, w->factor + trees_entry(t, e), f);
        }
    }
}

// x = P^-1 x
static MF_INLINE void trees_ease(const Wide *w, const Trees *t, mf_real *x) {
    for (uint32_t k = t->dofs; k-- > 0;) {
        const mf_lane own = trees_load(t, x + trees_dof(t, t->first + k));
        for (uint32_t e = t->start[k]; e < t->start[k + 1] - 1; e++) {
            mf_real *other = x + trees_dof(t, t->column[e]);
            trees_store(
                t, other,
                mf_fma(-trees_load(t, w->factor + trees_entry(t, e)), own, trees_load(t, other)));
        }
    }
    for (uint32_t k = 0; k < t->dofs; k++) {
        const size_t own = trees_dof(t, t->first + k);
        mf_lane sum = trees_load(t, x + own) * trees_load(t, w->inverse + own);
        for (uint32_t e = t->start[k]; e < t->start[k + 1] - 1; e++)
            sum = mf_fma(-trees_load(t, w->factor + trees_entry(t, e)),
                         trees_load(t, x + trees_dof(t, t->column[e])), sum);
        trees_store(t, x + own, sum);
    }
}

static inline void wide_mass(const Wide *w, const mf_real *x, mf_real *y) {
    for (uint32_t k = 0; k < w->kind_count; k++)
        for (uint32_t n = 0; n < w->kinds[k].count; n += MF_LANES) {
            const Trees trees = trees_of(w, &w->kinds[k], n);
            trees_mass(w, &trees, x, y);
        }
}

static inline void wide_factor(Wide *w) {
    for (uint32_t k = 0; k < w->kind_count; k++)
        for (uint32_t n = 0; n < w->kinds[k].count; n += MF_LANES) {
            const Trees trees = trees_of(w, &w->kinds[k], n);
            trees_factor(w, &trees);
        }
}

// to = P^-1 from
static inline void wide_ease(const Wide *w, const mf_real *from, mf_real *to) {
    memcpy(to, from, w->size * sizeof *to);
    for (uint32_t k = 0; k < w->kind_count; k++)
        for (uint32_t n = 0; n < w->kinds[k].count; n += MF_LANES) {
            const Trees trees = trees_of(w, &w->kinds[k], n);
            trees_ease(w, &trees, to);
        }
}

static inline bool is_of_kind(const Wide *w, const TreeKind *kind, uint32_t first, uint32_t dofs) {
    const uint32_t own = w->start[first], like = w->start[kind->first];
    const uint32_t entries = w->start[first + dofs] - own;
    if (kind->dofs != dofs || w->start[kind->first + dofs] - like != entries)
        return false;
    for (uint32_t i = 0; i < dofs; i++)
        if (w->start[first + i] - own != w->start[kind->first + i] - like)
            return false;
    for (uint32_t e = 0; e < entries; e++)
        if (w->column[own + e] - first != w->column[like + e] - kind->first)
            return false;
    return true;
}

static inline uint32_t rounded_up(uint32_t count) {
    return (count + WIDE_SUMS - 1) / WIDE_SUMS * WIDE_SUMS;
}

static inline uint32_t tree_at(const Wide *w, uint32_t dof) {
    return w->in->tree != NULL ? w->in->tree[dof] : w->column[w->start[dof]];
}

// Kinds of trees, and where their dofs and entries are.
static inline void trees_find(Wide *w) {
    uint32_t trees = 0, position = 0, entry = 0;
    w->kind_count = 0;
    for (uint32_t first = 0, end; first < w->dofs; first = end, trees++) {
        uint32_t k = 0;
        for (end = first; end < w->dofs && tree_at(w, end) == first; end++)
            w->tree[end] = first;
        while (k < w->kind_count && !is_of_kind(w, &w->kinds[k], first, end - first))
            k++;
        if (k == w->kind_count)
            w->kinds[w->kind_count++] = MF_VALUE(TreeKind, .first = first, .dofs = end - first);
        w->kinds[k].count++;
        w->kind_of[trees] = k;
    }
    for (uint32_t k = 0; k < w->kind_count; k++) {
        TreeKind *kind = &w->kinds[k];
        const uint32_t lanes = kind->count == 1 ? 1 : rounded_up(kind->count);
        kind->position = position;
        kind->entry = entry;
        position += rounded_up(lanes * kind->dofs);
        entry += rounded_up(lanes * (w->start[kind->first + kind->dofs] - w->start[kind->first]));
    }
    w->entries = entry;
    w->size = position + WIDE_SUMS;
    w->tree[w->dofs] = w->dofs;
    w->position[w->dofs] = position;
    trees = 0;
    for (uint32_t first = 0, end; first < w->dofs; first = end, trees++) {
        TreeKind *kind = &w->kinds[w->kind_of[trees]];
        const Trees own = trees_of(w, kind, kind->positioned++);
        end = first + kind->dofs;
        for (uint32_t i = first; i < end; i++)
            w->position[i] = (uint32_t)trees_dof(&own, i - first + own.first);
        for (uint32_t e = w->start[first]; e < w->start[end]; e++)
            w->entry[e] = (uint32_t)trees_entry(&own, e - w->start[first] + own.first_entry);
    }
}

// Where a row of trees is not full, the mass is 1.
static inline void masses_load(Wide *w) {
    const mf_real *mass = (const mf_real *)w->in->mass;
    memset(w->mass, 0, w->entries * sizeof *w->mass);
    for (uint32_t k = 0; k < w->kind_count; k++) {
        const TreeKind *kind = &w->kinds[k];
        for (uint32_t n = kind->count; kind->count > 1 && n % WIDE_SUMS != 0; n++) {
            const Trees none = trees_of(w, kind, n);
            for (uint32_t i = 0; i < kind->dofs; i++)
                w->mass[trees_entry(&none, none.start[i + 1] - 1)] = 1;
        }
    }
    for (uint32_t e = 0; e < w->start[w->dofs]; e++)
        w->mass[w->entry[e]] = mass[(size_t)e * w->in->stride];
}
