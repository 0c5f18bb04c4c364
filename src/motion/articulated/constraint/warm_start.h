// Stored forces of contacts between links, the initial value of the next step.
//
// A pair of shapes keeps its whole force and the first moment of the loads, not the loads of single
// contacts: which point is a face's first contact changes with the last bit of its depth. In the
// next step the loads of least norm that have this sum and this moment are taken for the contacts
// that there are then; where a pair rests that is what it ended with. The memory is the field
// warm_start.force, and of pairs that are not listed warm_start.floating, so it is part of the
// state; a lane writes its own part only, and forgets pairs that do not touch.
#pragma once

#include "motion/articulated/contact/contact_pairs.h"

// Two directions across a unit vector (Duff et al. 2017).
static MF_INLINE void across(Vec n, Vec out[2]) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane sign = mf_select(mf_less(n.z, mf_zero()), -one, one);
    mf_lane a = -one / (sign + n.z), b = n.x * n.y * a;
    out[0] = MF_VALUE(Vec, mf_fma(sign * n.x, n.x * a, one), sign * b, -(sign * n.x));
    out[1] = MF_VALUE(Vec, b, mf_fma(n.y, n.y * a, sign), -n.y);
}

// The contacts of one pair follow each other in the list.
static MF_INLINE uint32_t contact_run(const LinkContacts *all, uint32_t first) {
    uint32_t count = 1;
    while (first + count < all->count && all->list[first + count].pair == all->list[first].pair)
        count++;
    return count;
}

// From where moments of a pair are taken: a link that moves with it.
static MF_INLINE Vec pair_origin(const mf_ArtPlan *plan, const Contacts *contacts, uint32_t pair) {
    const mf_CollidePair shapes = mf_collide_pair_of(mf_art_collide(plan), pair);
    int32_t link = contact_plan_link(plan, shapes.b);
    if (link == MF_ART_WORLD)
        link = contact_plan_link(plan, shapes.a);
    return contacts->pose[link + 1].position;
}

// [m/s^2] Of the robot's mass, in a pair's load: ten times its weight. Shapes that are stuck in
// each other press without bound; what they ended with is no guess to begin with.
#define GUESS_MOST 100.0

typedef struct LoadDistribution { // loads over the contacts of a pair: mean + along . way from the
                                  // middle
    mf_lane mean;                 // [N]
    Vec along;                    // [N/m]
    Vec middle;                   // [m]
} LoadDistribution;

// Loads of least norm with the given sum and first moment about `origin`.
static inline LoadDistribution distribute_loads(const LinkContact *list, uint32_t count, Vec origin,
                                                Vec normal, mf_lane load, Vec moment) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    mf_lane number = zero, xx = zero, xy = zero, yy = zero;
    Vec middle = vec_zero(), axes[2];
    for (uint32_t i = 0; i < count; i++) {
        number = number + mf_keep(list[i].exists, one);
        middle = vec_add(middle, vec_keep(list[i].exists, vec_sub(list[i].point, origin)));
    }
    mf_lane part = one / mf_max(number, one);
    middle = vec_scale(middle, part);
    across(normal, axes);
    for (uint32_t i = 0; i < count; i++) {
        Vec offset = vec_sub(vec_sub(list[i].point, origin), middle);
        mf_lane x = mf_keep(list[i].exists, vec_dot(axes[0], offset));
        mf_lane y = mf_keep(list[i].exists, vec_dot(axes[1], offset));
        xx = mf_fma(x, x, xx);
        xy = mf_fma(x, y, xy);
        yy = mf_fma(y, y, yy);
    }
    // Contacts on a line say nothing of the moment about it; single ones of none.
    mf_lane size = xx + yy;
    mf_mask wide = mf_less(mf_set((mf_real)1e-12), size);
    mf_lane soft = mf_select(wide, size * mf_set(16 * MF_REAL_EPSILON), one);
    Vec rest = vec_fma(middle, -load, moment);
    mf_lane u = vec_dot(axes[0], rest), v = vec_dot(axes[1], rest);
    xx = xx + soft;
    yy = yy + soft;
    mf_lane scale = one / mf_max(mf_fma(xx, yy, -(xy * xy)), soft * soft);
    mf_lane a = mf_keep(wide, mf_fma(yy, u, -(xy * v)) * scale);
    mf_lane b = mf_keep(wide, mf_fma(xx, v, -(xy * u)) * scale);
    return MF_VALUE(LoadDistribution, load * part, vec_fma(axes[0], a, vec_scale(axes[1], b)),
                    middle);
}

// ---- pairs of floating shapes
// --------------------------------------------------------------------

// Slots per lane, in the order of the pairs that press: both floating shapes, force and moment. The
// second shape is 0 in free slots, which are behind all others. Pairs beyond their number begin
// without a guess.
enum { SLOT_VALUES = 8 };

typedef struct Slots {
    uint32_t most;         // [1] per lane
    uint32_t at[MF_LANES]; // [1] the lane's next one
} Slots;

static MF_INLINE mf_real *slot_value(const LinkContacts *all, uint32_t slot, uint32_t value,
                                     int lane) {
    return all->slots + ((size_t)slot * SLOT_VALUES + value) * MF_BLOCK + lane;
}

// [1] The number of the pair in a slot, MF_NONE: a free one.
static MF_INLINE uint32_t slot_pair(const mf_ArtPlan *plan, const LinkContacts *all, uint32_t slot,
                                    int lane) {
    const uint32_t first = (uint32_t)*slot_value(all, slot, 0, lane),
                   second = (uint32_t)*slot_value(all, slot, 1, lane);
    return second == 0 ? MF_NONE : mf_collide_number(mf_art_collide(plan), first, second);
}

static inline Slots slots_start(const mf_ArtPlan *plan) {
    Slots slots;
    slots.most = warm_start_slots(plan);
    for (int lane = 0; lane < MF_LANES; lane++)
        slots.at[lane] = 0;
    return slots;
}

// The stored values of a pair, 0 in lanes that have none; pairs come in the order of their numbers.
static inline void slots_load(const mf_ArtPlan *plan, const LinkContacts *all, uint32_t pair,
                              Slots *slots, Vec *force, Vec *moment) {
    MF_ALIGNED(64) mf_real values[6][MF_LANES];
    for (int lane = 0; lane < MF_LANES; lane++) {
        uint32_t *at = &slots->at[lane];
        while (*at < slots->most && slot_pair(plan, all, *at, lane) < pair)
            ++*at;
        const bool found = *at < slots->most && slot_pair(plan, all, *at, lane) == pair;
        for (uint32_t i = 0; i < 6; i++)
            values[i][lane] = found ? *slot_value(all, *at, 2 + i, lane) : 0;
    }
    *force = MF_VALUE(Vec, mf_load(values[0]), mf_load(values[1]), mf_load(values[2]));
    *moment = MF_VALUE(Vec, mf_load(values[3]), mf_load(values[4]), mf_load(values[5]));
}

static inline void slots_store(const mf_ArtPlan *plan, const LinkContacts *all, uint32_t pair,
                               mf_mask lanes, Vec force, Vec moment, Slots *slots) {
    MF_ALIGNED(64) mf_real values[6][MF_LANES], presses[MF_LANES];
    uint32_t indices[2];
    mf_collide_indices(mf_art_collide(plan), pair, indices);
    const mf_lane parts[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    const mf_lane size = mf_abs(force.x) + mf_abs(force.y) + mf_abs(force.z);
    for (uint32_t i = 0; i < 6; i++)
        mf_store(values[i], parts[i]);
    mf_store(presses, mf_keep(mf_and(lanes, mf_less(mf_zero(), size)), mf_set((mf_real)1)));
    for (int lane = 0; lane < MF_LANES; lane++) {
        if (!(presses[lane] > 0) || slots->at[lane] == slots->most)
            continue;
        const uint32_t slot = slots->at[lane]++;
        *slot_value(all, slot, 0, lane) = (mf_real)indices[0];
        *slot_value(all, slot, 1, lane) = (mf_real)indices[1];
        for (uint32_t i = 0; i < 6; i++)
            *slot_value(all, slot, 2 + i, lane) = values[i][lane];
    }
}

// Frees the slots that are not used any more.
static inline void slots_finish(const LinkContacts *all, mf_mask lanes, const Slots *slots) {
    MF_ALIGNED(64) mf_real taken[MF_LANES];
    mf_store(taken, mf_keep(lanes, mf_set((mf_real)1)));
    for (int lane = 0; lane < MF_LANES; lane++) {
        uint32_t slot = slots->at[lane];
        for (; taken[lane] > 0 && slot<slots->most && * slot_value(all, slot, 1, lane)> 0; slot++)
            for (uint32_t i = 0; i < SLOT_VALUES; i++)
                *slot_value(all, slot, i, lane) = 0;
    }
}

static MF_INLINE bool is_listed(const mf_ArtPlan *plan, uint32_t pair) {
    return pair < mf_art_collide(plan)->pair_count;
}

// ---- first guesses ------------------------------------------------------------------------------

// First guesses of the forces of all contacts between links in the list.
static inline void warm_start_load(const mf_ArtPlan *plan, const Contacts *contacts,
                                   LinkContacts *all) {
    const mf_lane zero = mf_zero(), one = mf_set((mf_real)1);
    Slots slots = slots_start(plan);
    for (uint32_t first = 0, count; first < all->count; first += count) {
        LinkContact *list = &all->list[first];
        count = contact_run(all, first);
        if (list->pair == MF_NONE)
            continue;
        Vec force, moment, normal = vec_zero();
        if (is_listed(plan, list->pair)) {
            force = vec_load(all->memory, 6 * list->pair);
            moment = vec_load(all->memory, 6 * list->pair + 3);
        } else {
            slots_load(plan, all, list->pair, &slots, &force, &moment);
        }
        if (!mf_any(mf_less(zero, mf_abs(force.x) + mf_abs(force.y) + mf_abs(force.z))))
            continue;
        for (uint32_t i = count; i-- > 0;)
            normal = vec_select(list[i].exists, list[i].normal, normal);
        const Vec origin = pair_origin(plan, contacts, list->pair);
        mf_lane load = mf_max(vec_dot(normal, force), zero), sum = zero, loads[MF_COLLIDE_CONTACTS];
        mf_lane most = mf_set((mf_real)(GUESS_MOST * plan->mass));
        mf_lane scale = most / mf_max(load, most);
        load = load * scale;
        force = vec_scale(force, scale);
        moment = vec_scale(moment, scale);
        LoadDistribution distribution = distribute_loads(list, count, origin, normal, load, moment);
        for (uint32_t i = 0; i < count; i++) {
            Vec offset = vec_sub(vec_sub(list[i].point, origin), distribution.middle);
            loads[i] = mf_max(vec_dot_add(distribution.along, offset, distribution.mean), zero);
            loads[i] = mf_keep(list[i].exists, loads[i]);
            sum = sum + loads[i];
        }
        // Fewer contacts than before may not be able to bear the moment; the sum holds.
        mf_mask pressed = mf_and(mf_less(zero, sum), mf_less(zero, load));
        mf_lane share = mf_keep(pressed, one / mf_select(pressed, sum, one));
        Vec aside = vec_fma(normal, -load, force);
        for (uint32_t i = 0; i < count; i++)
            list[i].force = vec_scale(vec_fma(list[i].normal, load, aside), loads[i] * share);
    }
}

static MF_INLINE void memory_store(const LinkContacts *all, uint32_t pair, mf_mask lanes, Vec force,
                                   Vec moment) {
    const mf_lane values[6] = {force.x, force.y, force.z, moment.x, moment.y, moment.z};
    for (uint32_t i = 0; i < 6; i++)
        mf_store_where(lanes, all->memory + (size_t)(6 * pair + i) * MF_BLOCK, values[i]);
}

// Keeps the forces that the contacts of these lanes ended with.
static inline void warm_start_store(const mf_ArtPlan *plan, const Contacts *contacts,
                                    const LinkContacts *all, mf_mask lanes) {
    const mf_lane zero = mf_zero();
    Slots slots = slots_start(plan);
    lanes = mf_and(lanes, all->alive);
    for (uint32_t pair = 0; pair < mf_art_collide(plan)->pair_count; pair++) {
        Vec force = vec_load(all->memory, 6 * pair);
        mf_lane size = mf_abs(force.x) + mf_abs(force.y) + mf_abs(force.z);
        mf_mask pressed = mf_and(lanes, mf_less(zero, size));
        if (mf_any(pressed))
            memory_store(all, pair, pressed, vec_zero(), vec_zero());
    }
    for (uint32_t first = 0, count; first < all->count; first += count) {
        const LinkContact *list = &all->list[first];
        count = contact_run(all, first);
        if (list->pair == MF_NONE)
            continue;
        const Vec origin = pair_origin(plan, contacts, list->pair);
        Vec force = vec_zero(), moment = vec_zero();
        for (uint32_t i = 0; i < count; i++) {
            Vec own = vec_keep(list[i].exists, list[i].force);
            force = vec_add(force, own);
            moment = vec_fma(vec_sub(list[i].point, origin), vec_dot(list[i].normal, own), moment);
        }
        mf_lane sum = force.x + force.y + force.z + moment.x + moment.y + moment.z;
        const mf_mask kept = mf_and(lanes, mf_finite(sum));
        if (is_listed(plan, list->pair))
            memory_store(all, list->pair, kept, force, moment);
        else
            slots_store(plan, all, list->pair, kept, force, moment, &slots);
    }
    slots_finish(all, lanes, &slots);
}
