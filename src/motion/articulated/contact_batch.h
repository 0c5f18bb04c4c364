// Which contacts are solved together: lanes in groups, contacts of different lanes in bundles.
//
// A lane has a few contacts between links, all lanes together have many. Contacts of different
// lanes become rows together, a bundle: in each lane the rows are those of its own contact, and 0
// for the links on which only other lanes' contacts are. A lane's contacts keep their order, which
// is that of the sweeps, so results do not depend on the other lanes. When the bundles are more
// than the solver holds, fewer lanes are solved at a time; a lane alone with too many keeps its
// deepest.
#ifndef MF_MOTION_ARTICULATED_CONTACT_BATCH_H
#define MF_MOTION_ARTICULATED_CONTACT_BATCH_H

#include "motion/articulated/warm_start.h"
#include "motion/articulated/aba_velocity.h"

// How a contact rubs, the same for all contacts of a bundle.
typedef struct Surface {
    uint32_t rows;       // [1] 1, 3, 4 or 6
    mf_real friction[5]; // [1] two sliding, [m] torsion, [m] two rolling
} Surface;

typedef struct ContactBatch {
    Surface surface;
    mf_mask exists; // lanes that one of the members is in
    uint32_t count; // [1]
    LinkContact *members[MF_LANES];
} ContactBatch;

typedef struct Group { // lanes that are solved together
    mf_mask lanes;
    uint32_t count, numbers;   // [1] bundles, and numbers of all their rows at most
    uint32_t dropped;          // [1] contacts beyond the capacity
    ContactBatch *column_sets; // space for plan->contact_capacity
} Group;

static inline Surface contact_surface(const mf_ArtPlan *plan, const LinkContact *contact) {
    Surface surface = {.rows = 1};
    uint32_t dimension = 3;
    if (contact->pair == MF_NONE) {
        const mf_real *c = contact_constants(plan, contact->touch);
        surface.friction[0] = surface.friction[1] = c[MF_ART_TOUCH_SLIDING];
        surface.friction[2] = c[MF_ART_TOUCH_TORSION];
        surface.friction[3] = surface.friction[4] = c[MF_ART_TOUCH_ROLLING];
        dimension = 6;
    } else {
        const mf_CollidePair *pair = &mf_collide_pairs(mf_art_collide(plan))[contact->pair];
        dimension = pair->dimension;
        for (int i = 0; i < 5; i++)
            surface.friction[i] = (mf_real)pair->friction[i];
    }
    const mf_real *mu = surface.friction;
    if (dimension >= 3 && mu[0] > 0 && mu[1] > 0)
        surface.rows = 3;
    if (dimension >= 4 && surface.rows == 3 && mu[2] > 0)
        surface.rows = 4;
    if (dimension >= 6 && surface.rows == 4 && mu[3] > 0 && mu[4] > 0)
        surface.rows = 6;
    return surface;
}

static inline bool surface_equal(const Surface *a, const Surface *b) {
    bool equal = a->rows == b->rows;
    for (int i = 0; i < 5; i++)
        equal = equal && !(a->friction[i] < b->friction[i]) && !(b->friction[i] < a->friction[i]);
    return equal;
}

static MF_INLINE uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

// Numbers that the rows of a bundle take at most.
static MF_INLINE uint32_t batch_numbers(const mf_ArtPlan *plan, uint32_t rows, uint32_t members) {
    return rows * least(members * plan->row_of_two, plan->row_of_all);
}

static inline bool group_fits(const mf_ArtPlan *plan, Group *group, uint32_t more) {
    group->numbers += more;
    return group->numbers <= plan->contact_numbers;
}

// Gives a contact its bundle: one behind all those with an earlier contact of one of its lanes.
// False when there is no space.
static inline bool group_add(const mf_ArtPlan *plan, Group *group, LinkContact *contact) {
    const mf_mask lanes = mf_and(contact->exists, group->lanes);
    const Surface surface = contact_surface(plan, contact);
    ContactBatch *batch = NULL;
    for (uint32_t i = group->count; i-- > 0;) {
        ContactBatch *other = &group->column_sets[i];
        if (mf_any(mf_and(other->exists, lanes)))
            break;
        if (surface_equal(&other->surface, &surface))
            batch = other;
    }
    if (batch != NULL) {
        uint32_t before = batch_numbers(plan, surface.rows, batch->count);
        batch->exists = mf_or(batch->exists, lanes);
        batch->members[batch->count++] = contact;
        return group_fits(plan, group, batch_numbers(plan, surface.rows, batch->count) - before);
    }
    if (group->count == plan->contact_capacity)
        return false;
    batch = &group->column_sets[group->count++];
    batch->surface = surface;
    batch->exists = lanes;
    batch->count = 1;
    batch->members[0] = contact;
    return group_fits(plan, group, batch_numbers(plan, surface.rows, 1));
}

// Fills the group with the contacts of its lanes. False when there is no space for all.
static inline bool group_fill(const mf_ArtPlan *plan, LinkContacts *all, Group *group) {
    group->count = group->numbers = 0;
    for (uint32_t i = 0; i < all->count; i++)
        if (mf_any(mf_and(all->list[i].exists, group->lanes)) &&
            !group_add(plan, group, &all->list[i]))
            return false;
    return !all->overflow;
}

// Fills a group of one lane with its deepest contacts, in their order.
static inline void group_fill_deepest(const mf_ArtPlan *plan, LinkContacts *all, Group *group) {
    LinkContact **list = all->order;
    uint32_t count = 0;
    group->count = group->numbers = 0;
    group->dropped = all->lost;
    for (uint32_t i = 0; i < all->count; i++)
        if (mf_any(mf_and(all->list[i].exists, group->lanes)))
            list[count++] = &all->list[i];
    while (count > plan->contact_capacity) {
        uint32_t shallow = 0;
        for (uint32_t i = 1; i < count; i++)
            if (mf_any(mf_and(group->lanes, mf_less(list[i]->depth, list[shallow]->depth))))
                shallow = i;
        list[shallow]->force = vec_select(group->lanes, vec_zero(), list[shallow]->force);
        for (uint32_t i = shallow + 1; i < count; i++)
            list[i - 1] = list[i];
        count--;
        group->dropped++;
    }
    for (uint32_t i = 0; i < count; i++)
        group->dropped += !group_add(plan, group, list[i]);
}

// As many of the lanes from `first` on as have space together; returns how many.
static inline uint32_t group_take(const mf_ArtPlan *plan, Work *work, uint32_t first,
                                  Group *group) {
    LinkContacts *all = &work->link_contacts;
    group->lanes = mf_mask_all();
    group->count = group->dropped = 0;
    if (mf_art_collide(plan) == NULL && !plan->hard)
        return MF_LANES;
    for (uint32_t width = MF_LANES - first;; width /= 2) {
        group->lanes = lane_range(first, width);
        if (!all->found || all->overflow) {
            link_contacts_find(plan, &work->contacts, NULL, group->lanes, all);
            if (all->memory != NULL)
                warm_start_load(plan, &work->contacts, all);
        }
        bool fits = group_fill(plan, all, group);
        if (!fits && width == 1)
            group_fill_deepest(plan, all, group);
        if (fits || width == 1)
            return width;
    }
}

#endif
