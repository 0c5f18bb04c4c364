// Bars that meet bars: the penetration energy of two cylinders with round ends, of a spring between
// the closest points of their axes. Bars that share a vertex do not meet.
#pragma once

#include "motion/truss/state.h"

// [m] Axes that cross have no direction to push each other, and rounding must not make one up.
#define MF_TRUSS_CORE ((mf_real)1e-6)

// [1] Two vertices whose coordinates move by at most 1 come closer by at most twice the root of 3.
#define MF_TRUSS_CLOSING ((mf_real)3.4642)

// Pairs that have not moved enough to meet are passed over. Those contribute nothing.
static MF_INLINE bool pair_apart(const Frame *f, const Pair *pair) {
    return pair->apart > f->closer;
}

static MF_INLINE mf_lane unit_clamp(mf_lane a) {
    return mf_clamp(a, mf_zero(), mf_set((mf_real)1));
}

// Closest points of two segments p + s u and q + t v, s and t in [0, 1] (Ericson, Real-Time
// Collision Detection, 2005, section 5.1.9).
static MF_INLINE void closest_shares(Vec u, Vec v, Vec between, mf_lane share[2]) {
    const mf_lane tiny = mf_set((mf_real)1e-18);
    mf_lane a = mf_max(vec_dot(u, u), tiny), e = mf_max(vec_dot(v, v), tiny);
    mf_lane b = vec_dot(u, v), c = vec_dot(u, between), d = vec_dot(v, between);
    mf_lane area = a * e - b * b;
    mf_mask parallel = mf_less_equal(area, mf_set((mf_real)1e-9) * a * e);
    mf_lane s = mf_select(parallel, mf_set((mf_real)0.5),
                          unit_clamp((b * d - c * e) / mf_max(area, tiny * tiny)));
    mf_lane t = unit_clamp((b * s + d) / e);
    share[0] = unit_clamp((b * t - c) / a);
    share[1] = t;
}

static MF_INLINE ClosestPoints closest_points_of(const Frame *f, const Pair *pair, const Vec *at,
                                                 bool same) {
    const Bar *one = &f->bar[pair->first], *two = &f->bar[pair->second];
    Vec p = vertex_get(at, &one->ends[0], same), q = vertex_get(at, &two->ends[0], same);
    Vec u = vec_sub(vertex_get(at, &one->ends[1], same), p);
    Vec v = vec_sub(vertex_get(at, &two->ends[1], same), q), between = vec_sub(p, q);
    ClosestPoints m;
    closest_shares(u, v, between, m.share);
    Vec gap = vec_sub(vec_fma(v, m.share[1], q), vec_fma(u, m.share[0], p));
    mf_lane distance = mf_sqrt(vec_dot(gap, gap) + mf_set(MF_TRUSS_CORE * MF_TRUSS_CORE));
    m.normal = vec_scale(gap, mf_set((mf_real)1) / distance);
    m.depth = one->radius + two->radius - distance;
    return m;
}

// Lanes in which both bars exist and have no vertex in common.
static MF_INLINE mf_mask strangers(const Bar *one, const Bar *two) {
    mf_mask touches =
        mf_or(mf_less_equal(one->stiffness, mf_zero()), mf_less_equal(two->stiffness, mf_zero()));
    for (int i = 0; i < 4; i++)
        touches = mf_or(touches, mf_index_equal(one->ends[i / 2].vertex, two->ends[i % 2].vertex));
    return mf_not(touches);
}

static MF_INLINE mf_lane pairs_energy(const Frame *f, const Vec *at, Vec *gradient, bool same) {
    mf_lane sum = mf_zero();
    const mf_lane stiffness = f->spring, one = mf_set((mf_real)1);
    for (uint32_t i = 0; i < f->pair_count; i++) {
        const Pair *pair = &f->pair[i];
        if (pair_apart(f, pair))
            continue;
        const Bar *bars[2] = {&f->bar[pair->first], &f->bar[pair->second]};
        ClosestPoints m = closest_points_of(f, pair, at, same);
        mf_mask deep = mf_and(strangers(bars[0], bars[1]), mf_less(mf_zero(), m.depth));
        if (!mf_any(deep))
            continue;
        mf_lane force = stiffness * m.depth;
        sum = mf_add_where(deep, sum, mf_set((mf_real)0.5) * force * m.depth);
        for (int e = 0; e < 4 && gradient != NULL; e++) {
            mf_lane t = m.share[e / 2], share = e % 2 != 0 ? t : one - t;
            Vec push = vec_scale(m.normal, e / 2 != 0 ? -(force * share) : force * share);
            vertex_add(gradient, &bars[e / 2]->ends[e % 2], same, mf_and(f->alive, deep), push);
        }
    }
    return sum;
}

// How a pair meets at the positions; false where it does so in no lane that is alive.
static MF_INLINE bool bar_contact_of(const Frame *f, const Pair *pair, BarContact *bar_contact,
                                     bool same) {
    if (pair_apart(f, pair))
        return false;
    bar_contact->first = pair->first;
    bar_contact->second = pair->second;
    bar_contact->closest = closest_points_of(f, pair, f->position, same);
    mf_mask deep = strangers(&f->bar[pair->first], &f->bar[pair->second]);
    deep = mf_and(deep, mf_less(mf_zero(), bar_contact->closest.depth));
    bar_contact->deep = mf_and(deep, f->alive);
    return mf_any(bar_contact->deep);
}

// A pair that was looked at and does not meet is passed over until it may have come closer again.
static MF_INLINE void pair_renew(const Frame *f, Pair *pair, const BarContact *bar_contact) {
    if (pair_apart(f, pair))
        return;
    const mf_lane nowhere = mf_set((mf_real)-1e30);
    mf_mask counts = mf_and(f->alive, strangers(&f->bar[pair->first], &f->bar[pair->second]));
    const mf_real apart =
        f->closer - lanes_most(mf_select(counts, bar_contact->closest.depth, nowhere));
    pair->apart = apart > pair->apart ? apart : pair->apart;
}

// Keeps what meets at the positions; returns the lanes in which bars meet.
static MF_INLINE mf_mask bar_contacts_find(Frame *f, bool same) {
    mf_mask touching_bars = mf_not(mf_mask_all());
    const uint32_t capacity = bar_contacts_kept(f->plan);
    uint32_t i = 0;
    BarContact other;
    f->bar_contact_count = 0;
    for (; i < f->pair_count && f->bar_contact_count < capacity; i++) {
        BarContact *bar_contact = &f->bar_contacts[f->bar_contact_count];
        if (!bar_contact_of(f, &f->pair[i], bar_contact, same)) {
            pair_renew(f, &f->pair[i], bar_contact);
            continue;
        }
        touching_bars = mf_or(touching_bars, bar_contact->deep);
        f->bar_contact_count++;
    }
    f->bar_contact_next = i;
    for (; i < f->pair_count; i++)
        if (bar_contact_of(f, &f->pair[i], &other, same))
            touching_bars = mf_or(touching_bars, other.deep);
    return touching_bars;
}

// The contact number `*at` of the list, or the next one behind it that is not kept; `*at` becomes
// the next number. NULL: there are no more.
static MF_INLINE const BarContact *bar_contacts_next(const Frame *f, uint32_t *at,
                                                     BarContact *other, bool same) {
    if (*at < f->bar_contact_count)
        return &f->bar_contacts[(*at)++];
    for (uint32_t i = *at - f->bar_contact_count + f->bar_contact_next; i < f->pair_count; i++)
        if (bar_contact_of(f, &f->pair[i], other, same)) {
            *at = i + 1 - f->bar_contact_next + f->bar_contact_count;
            return other;
        }
    return NULL;
}

// Lets the rows of vertices that meet begin with the first of them; `same` as ever.
static MF_INLINE void bar_contacts_widen(Frame *f, bool same) {
    uint32_t at = 0;
    BarContact other;
    for (uint32_t row = 0; row < f->vertices && !same; row++)
        f->first[row] = 0;
    for (const BarContact *bar_contact;
         same && (bar_contact = bar_contacts_next(f, &at, &other, same)) != NULL;) {
        uint32_t row[4], low = MF_TRUSS_MOST;
        for (int e = 0; e < 4; e++) {
            row[e] =
                f->bar[e / 2 != 0 ? bar_contact->second : bar_contact->first].ends[e % 2].same_row;
            low = row[e] < low ? row[e] : low;
        }
        for (int e = 0; e < 4; e++)
            f->first[row[e]] = low < f->first[row[e]] ? low : f->first[row[e]];
    }
}

// Adds the pair to the list where it can meet in one of the lanes `close`.
static MF_INLINE void pair_list(Frame *f, uint32_t one, uint32_t two, mf_mask close, mf_lane margin,
                                bool same) {
    close = mf_and(mf_and(close, f->alive), strangers(&f->bar[one], &f->bar[two]));
    if (!mf_any(close))
        return;
    Pair pair = {one, two, 0};
    ClosestPoints m = closest_points_of(f, &pair, f->position, same);
    mf_lane depth = mf_select(close, m.depth, mf_set((mf_real)-1e30));
    if (!mf_any(mf_less(-margin, depth)))
        return;
    pair.apart = -lanes_most(depth);
    f->pair[f->pair_count++] = pair;
}

// Lists the pairs that can meet while no coordinate of a vertex moves by more than `most` [m].
static MF_INLINE void pairs_find(Frame *f, mf_lane most, bool same) {
    const mf_lane half = mf_set((mf_real)0.5), margin = most * mf_set(MF_TRUSS_CLOSING);
    f->pair_count = 0;
    f->closer = 0;
    for (uint32_t i = 0; i < f->bars; i++) {
        const Bar *one = &f->bar[i];
        Hull *hull = &f->hull[i];
        Vec p = vertex_get(f->position, &one->ends[0], same);
        Vec u = vec_scale(vec_sub(vertex_get(f->position, &one->ends[1], same), p), half);
        hull->center = vec_add(p, u);
        hull->radius = mf_sqrt(vec_dot(u, u)) + one->radius;
        mf_lane reach = hull->radius + margin;
        for (uint32_t j = 0; j < i; j++) {
            const Hull *other = &f->hull[j];
            Vec gap = vec_sub(other->center, hull->center);
            mf_lane far = reach + other->radius;
            mf_mask close = mf_less_equal(vec_dot(gap, gap), far * far);
            if (mf_any(close))
                pair_list(f, i, j, close, margin, same);
        }
    }
}
