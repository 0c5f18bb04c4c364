// Which floating shapes are near each other: a tree of boxes along the world's axes, made anew from
// the bounding spheres in each search.
//
// The shapes are sorted along a space-filling curve (Morton 1966) and halved down to leaves of a
// few; a shape then descends where boxes overlap (Lauterbach et al. 2009). What is found is every
// pair whose spheres are near in some lane, in the order of their numbers, and does not depend on
// the tree. Cost: O(n log n) and the pairs.
#pragma once

#include "contact/narrow.h"

static MF_INLINE bool boxes_overlap(const NearBox *a, const NearBox *b) {
    bool overlap = true;
    for (int i = 0; i < 3; i++)
        overlap = overlap && a->low[i] <= b->high[i] && b->low[i] <= a->high[i];
    return overlap;
}

static MF_INLINE void box_clear(NearBox *box) {
    for (int i = 0; i < 3; i++) {
        box->low[i] = MF_REAL_MAX;
        box->high[i] = -MF_REAL_MAX;
    }
    box->last = 0;
}

static MF_INLINE void box_add(NearBox *box, const NearBox *other) {
    for (int i = 0; i < 3; i++) {
        box->low[i] = other->low[i] < box->low[i] ? other->low[i] : box->low[i];
        box->high[i] = other->high[i] > box->high[i] ? other->high[i] : box->high[i];
    }
    box->last = other->last > box->last ? other->last : box->last;
}

// About a sphere in all lanes; a lane that is not a number takes no part.
static inline void box_of_sphere(const mf_lane *sphere, mf_lane more, NearBox *box) {
    MF_ALIGNED(64) mf_real low[MF_LANES], high[MF_LANES];
    const mf_lane size = mf_abs(sphere[0]) + mf_abs(sphere[1]) + mf_abs(sphere[2]);
    const mf_lane radius = mf_fma(more, mf_set((mf_real)0.5), sphere[3]);
    const mf_lane wide = mf_fma(size + radius, mf_set(8 * MF_REAL_EPSILON), radius);
    box_clear(box);
    for (int i = 0; i < 3; i++) {
        mf_store(low, sphere[i] - wide);
        mf_store(high, sphere[i] + wide);
        for (int lane = 0; lane < MF_LANES; lane++) {
            box->low[i] = low[lane] < box->low[i] ? low[lane] : box->low[i];
            box->high[i] = high[lane] > box->high[i] ? high[lane] : box->high[i];
        }
    }
}

// Of ten bits every third one.
static MF_INLINE uint32_t spread_bits(uint32_t bits) {
    bits = (bits | bits << 16) & 0x030000ffu;
    bits = (bits | bits << 8) & 0x0300f00fu;
    bits = (bits | bits << 4) & 0x030c30c3u;
    return (bits | bits << 2) & 0x09249249u;
}

// Where the middle of a box is along the curve through `all`.
static inline uint32_t curve_of(const NearBox *box, const NearBox *all) {
    uint32_t key = 0;
    for (int i = 0; i < 3; i++) {
        const mf_real half = (mf_real)0.5, whole = all->high[i] - all->low[i];
        const mf_real part = (half * box->low[i] + half * box->high[i] - all->low[i]) / whole;
        const mf_real cell = part * 1024;
        const uint32_t bits = cell >= 1023 ? 1023u : cell > 0 ? (uint32_t)cell : 0u;
        key |= spread_bits(bits) << i;
    }
    return key;
}

// Sorts keys by the thirty bits of their upper halves; as many keys behind them are working memory.
static inline void sort_keys(uint64_t *keys, uint32_t count) {
    uint64_t *from = keys, *to = keys + count;
    for (uint32_t shift = 32; shift < 62; shift += 5) { // six times: back in the first half
        uint32_t starts[33] = {0};
        for (uint32_t i = 0; i < count; i++)
            starts[(from[i] >> shift & 31) + 1]++;
        for (uint32_t i = 0; i < 32; i++)
            starts[i + 1] += starts[i];
        for (uint32_t i = 0; i < count; i++)
            to[starts[from[i] >> shift & 31]++] = from[i];
        uint64_t *keep = from;
        from = to;
        to = keep;
    }
}

static inline void boxes_build(const mf_CollidePlan *plan, mf_lane more, NearSearch *search) {
    const mf_CollideFloating *floating = mf_collide_floating(plan);
    const uint32_t count = plan->floating_count;
    NearBox all;
    box_clear(&all);
    for (uint32_t i = 0; i < count; i++) {
        box_of_sphere(search->spheres + 4 * (size_t)floating[i].shape, more, &search->boxes[i]);
        search->boxes[i].last = i;
        box_add(&all, &search->boxes[i]);
    }
    for (uint32_t i = 0; i < count; i++)
        search->keys[i] = (uint64_t)curve_of(&search->boxes[i], &all) << 32 | i;
    sort_keys(search->keys, count);
    search->leaf_count = near_leaves(plan);
    search->next = 0;
    for (uint32_t l = 0; l < search->leaf_count; l++) {
        NearBox *leaf = &search->nodes[search->leaf_count + l];
        box_clear(leaf);
        for (uint32_t i = MF_NEAR_LEAF * l; i < MF_NEAR_LEAF * (l + 1) && i < count; i++)
            box_add(leaf, &search->boxes[(uint32_t)search->keys[i]]);
    }
    for (uint32_t n = search->leaf_count; n-- > 1;) {
        search->nodes[n] = search->nodes[2 * n];
        box_add(&search->nodes[n], &search->nodes[2 * n + 1]);
    }
}

// The shapes behind `first` whose boxes overlap its own, in rising order; returns how many.
static inline uint32_t boxes_near(const mf_CollidePlan *plan, const NearSearch *search,
                                  uint32_t first, uint32_t *out) {
    const NearBox *own = &search->boxes[first];
    uint32_t stack[64], depth = 0, found = 0;
    stack[depth++] = 1;
    while (depth > 0) {
        const uint32_t node = stack[--depth];
        if (search->nodes[node].last <= first || !boxes_overlap(own, &search->nodes[node]))
            continue;
        if (node < search->leaf_count) {
            stack[depth++] = 2 * node + 1;
            stack[depth++] = 2 * node;
            continue;
        }
        const uint32_t begin = MF_NEAR_LEAF * (node - search->leaf_count);
        for (uint32_t i = begin; i < begin + MF_NEAR_LEAF && i < plan->floating_count; i++) {
            const uint32_t other = (uint32_t)search->keys[i];
            if (other <= first || !boxes_overlap(own, &search->boxes[other]))
                continue;
            uint32_t at = found++;
            for (; at > 0 && out[at - 1] > other; at--)
                out[at] = out[at - 1];
            out[at] = other;
        }
    }
    return found;
}
