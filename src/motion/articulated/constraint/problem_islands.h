// Islands: constraints of a lane that trees tie together, so that they share no force with others.
// A tree is named by its first dof; an island by the least of its trees.
#pragma once

#include "motion/articulated/constraint/problem_cost.h"

typedef struct Islands {
    uint32_t tree_count;
    uint16_t *trees;   // [1] their first dofs
    uint16_t *tree_of; // [1] per dof, its number among them
    mf_lane *names;    // [1] per tree: its island
    mf_lane *own;      // [1] per constraint, where there are several trees
    mf_lane *gain;     // per island: what a sweep gained
    mf_mask *busy;     // per island
    mf_mask any;       // an island is busy
} Islands;

// Number k of row's dof i of a constraint.
static MF_INLINE mf_lane jacobian(const Problem *p, const Constraint *c, uint32_t k, uint32_t i) {
    return p->numbers[c->first + i * c->rows + k];
}

// Whether the dof is one that a constraint of that lane acts on.
static MF_INLINE mf_mask island_touches(const Problem *p, const Constraint *c, uint32_t i) {
    const mf_lane zero = mf_zero();
    mf_mask any = mf_not(mf_mask_all());
    for (uint32_t k = 0; k < c->rows; k++) {
        const mf_lane value = mf_abs(jacobian(p, c, k, i));
        any = mf_or(any, mf_less(zero, value));
    }
    return mf_and(any, c->exists);
}

static MF_INLINE mf_lane island_least(const Problem *p, const Islands *all, const Constraint *c) {
    mf_lane least = mf_set((mf_real)p->dofs);
    for (uint32_t i = 0; i < c->count; i++) {
        const mf_lane name = all->names[all->tree_of[p->slots[c->first_slot + i]]];
        least = mf_select(island_touches(p, c, i), mf_min(least, name), least);
    }
    return least;
}

static MF_INLINE bool is_of_one_tree(const Problem *p, const Islands *all, const Constraint *c) {
    bool one = true;
    for (uint32_t i = 1; i < c->count; i++)
        one = one &&
              all->tree_of[p->slots[c->first_slot + i]] == all->tree_of[p->slots[c->first_slot]];
    return one;
}

// Gives all trees of a constraint the least of their names. Whether a name changes.
static inline bool island_join(const Problem *p, Islands *all, const Constraint *c) {
    mf_mask changes = mf_not(mf_mask_all());
    if (is_of_one_tree(p, all, c))
        return false;
    const mf_lane least = island_least(p, all, c);
    for (uint32_t i = 0; i < c->count; i++) {
        mf_lane *name = &all->names[all->tree_of[p->slots[c->first_slot + i]]];
        const mf_mask lower = mf_and(island_touches(p, c, i), mf_less(least, *name));
        *name = mf_select(lower, least, *name);
        changes = mf_or(changes, lower);
    }
    return mf_any(changes);
}

static inline void islands_find(const Problem *p, Islands *all) {
    all->tree_count = 0;
    const uint16_t *tree_column = mf_art_tree_column(p->plan);
    const uint32_t *tree_start = mf_art_tree_start(p->plan);
    for (uint32_t i = 0; i < p->dofs; i++) {
        const uint32_t first = tree_column[tree_start[i]];
        if (first == i)
            all->trees[all->tree_count++] = (uint16_t)i;
        all->tree_of[i] = (uint16_t)(all->tree_count - 1);
    }
    for (uint32_t t = 0; t < all->tree_count; t++) {
        all->names[t] = mf_set((mf_real)t);
        all->busy[t] = p->lanes;
    }
    all->any = p->lanes;
    if (all->tree_count < 2)
        return;
    for (bool joins = true; joins;) {
        joins = false;
        for (uint32_t n = 0; n < p->constraint_count; n++)
            joins = island_join(p, all, &p->constraints[n]) || joins;
    }
    for (uint32_t n = 0; n < p->constraint_count; n++)
        all->own[n] = island_least(p, all, &p->constraints[n]);
}

static inline void islands_clear(Islands *all) {
    for (uint32_t t = 0; t < all->tree_count; t++)
        all->gain[t] = mf_zero();
}

// The lanes in which constraint n is of that island.
static MF_INLINE mf_mask island_has(const Islands *all, uint32_t island, uint32_t n) {
    const mf_lane name = mf_set((mf_real)island);
    if (all->tree_count < 2)
        return mf_mask_all();
    return mf_and(mf_less_equal(name, all->own[n]), mf_less_equal(all->own[n], name));
}

static inline void islands_gain(Islands *all, uint32_t n, mf_lane gain) {
    for (uint32_t t = 0; t < all->tree_count; t++)
        all->gain[t] = all->gain[t] + mf_keep(island_has(all, t, n), gain);
}

static inline mf_mask islands_busy(const Islands *all, uint32_t n) {
    mf_mask busy = mf_not(mf_mask_all());
    for (uint32_t t = 0; t < all->tree_count; t++)
        busy = mf_or(busy, mf_and(all->busy[t], island_has(all, t, n)));
    return busy;
}

// Islands that gained less than `least` are done.
static inline void islands_end(Islands *all, mf_lane least) {
    all->any = mf_not(mf_mask_all());
    for (uint32_t t = 0; t < all->tree_count; t++) {
        all->busy[t] = mf_and(all->busy[t], mf_less_equal(least, all->gain[t]));
        all->any = mf_or(all->any, all->busy[t]);
    }
}
