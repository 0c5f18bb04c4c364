// Contacts between links, and hard ones with the ground, as the broad and narrow phases of
// src/contact find them: once a step.
#pragma once

#include "contact/narrow.h"
#include "motion/articulated/contact/contact.h"
#include "motion/warn.h"

// Found at a time, all lanes together, at most; more for each body and shape. Pairs of
// floating shapes count as so many per shape.
enum { LINK_CONTACTS_MOST = 512, LINK_CONTACTS_CLUTTER = 16, LINK_CONTACTS_PAIRS = 16 };

typedef struct LinkContact {
    uint32_t pair;  // [1] of the plan's; MF_NONE: with the ground
    uint32_t touch; // [1] which contact with the ground
    mf_mask exists;
    Vec point, normal; // [m], [1] world; from the first shape to the second
    mf_lane depth;     // [m]
    Vec force;         // [N] on the second link, first guess and then result (warm_start.h)
} LinkContact;

typedef struct LinkContacts {
    bool found, overflow; // `found`: the list is that of this state
    uint32_t count, lost; // [1] lost: those beyond the capacity
    mf_mask unsure;       // lanes in which the search for a contact ended early
    mf_lane gap;          // [m] and by how much it may be off
    mf_mask deep;         // lanes with a contact about as deep as a body is thick
    mf_lane deepest;      // [m] of those
    mf_real *memory;      // rows of warm_start.force, NULL: none (warm_start.h)
    mf_real *slots;       // and of warm_start.floating
    mf_mask alive;        // lanes that may write there
    uint32_t most;        // [1] capacity of the list
    LinkContact *list;
    // Space for what is examined by the way: pairs that are near, contacts by depth.
    NearSearch search;
    LinkContact **order;
} LinkContacts;

// Whether contacts begin with the forces of the last step.
static MF_INLINE bool link_contacts_remember(const LinkContacts *all) {
    return all->memory != NULL || all->slots != NULL;
}

static inline uint32_t link_contacts_most(const mf_ArtPlan *plan) {
    size_t most = plan->hard ? plan->contact_count : 0;
    const mf_CollidePlan *collide = mf_art_collide(plan);
    if (collide != NULL)
        most += collide->listed_contacts +
                (size_t)collide->floating_count * LINK_CONTACTS_PAIRS * MF_COLLIDE_CONTACTS;
    const uint32_t bound = LINK_CONTACTS_MOST + LINK_CONTACTS_CLUTTER * plan->clutter;
    return most < bound ? (uint32_t)most : bound;
}

static inline void link_contacts_carve(const mf_ArtPlan *plan, mf_Carver *carver,
                                       LinkContacts *all) {
    const mf_CollidePlan *collide = mf_art_collide(plan);
    all->most = link_contacts_most(plan);
    MF_CARVE(carver, all->list, all->most);
    MF_CARVE(carver, all->order, all->most);
    if (collide == NULL)
        return;
    near_carve(collide, carver, &all->search);
}

// The values of the shapes of each lane, where robots differ in them (vary.h); else NULL.
static MF_INLINE const ShapeValue *own_shapes(const mf_ArtPlan *plan) {
#if defined(MF_COLLIDE_VARIED)
    return (const ShapeValue *)((uintptr_t)plan + (uintptr_t)plan->shapes_own);
#else
    (void)plan;
    return NULL;
#endif
}

static MF_INLINE const ShapeValue *values_of_shape(const mf_ArtPlan *plan, uint32_t shape) {
    return shape_values(mf_art_collide(plan), own_shapes(plan)) +
           (size_t)shape * MF_COLLIDE_SHAPE_VALUES;
}

// Plan links of a pair's shapes; mocap bodies are the world.
static MF_INLINE int32_t contact_plan_link(const mf_ArtPlan *plan, uint32_t shape) {
    uint32_t frame = mf_collide_shapes(mf_art_collide(plan))[shape].frame;
    return frame == MF_NONE || frame > plan->link_count ? MF_ART_WORLD : (int32_t)frame - 1;
}

static MF_INLINE mf_mask lane_range(uint32_t first, uint32_t count) {
    mf_index lane = mf_lane_numbers();
    return mf_and(mf_not(mf_index_less(lane, mf_set_index((int32_t)first))),
                  mf_index_less(lane, mf_set_index((int32_t)(first + count))));
}

static inline void link_contacts_append(LinkContacts *all, const LinkContact *contact,
                                        mf_mask lanes) {
    mf_mask exists = mf_and(contact->exists, lanes);
    if (!mf_any(exists))
        return;
    if (all->count == all->most) {
        all->overflow = true;
        all->lost++;
        return;
    }
    all->list[all->count] = *contact;
    all->list[all->count++].exists = exists;
}

// Solids that are apart may be reported nearer than they are (docs/explanation/contact.md), so
// whether a pair is examined in one lane for the sake of another could show. Only lanes count in
// which the spheres about the shapes are near enough for it to be examined in any case.
static inline mf_mask contact_pair_allowed(const mf_ArtPlan *plan, const mf_CollidePair *item,
                                           const mf_lane *spheres, mf_real reach) {
    const mf_lane *a = spheres + 4 * (size_t)item->a, *b = spheres + 4 * (size_t)item->b;
    if (mf_collide_shapes(mf_art_collide(plan))[item->a].kind == MF_COLLIDE_PLANE)
        return mf_mask_all();
    Vec direction = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    mf_lane sum = a[3] + b[3] + mf_set((mf_real)0.5 * reach);
    return mf_less(vec_dot(direction, direction), sum * sum);
}

// Half the radius of the smaller of the spheres about the shapes; planes have no other side.
static inline mf_lane contact_thickness(const mf_ArtPlan *plan, const mf_CollidePair *item,
                                        const mf_lane *spheres) {
    const mf_lane half = mf_set((mf_real)0.5);
    const mf_lane a = spheres[4 * (size_t)item->a + 3], b = spheres[4 * (size_t)item->b + 3];
    if (mf_collide_shapes(mf_art_collide(plan))[item->a].kind == MF_COLLIDE_PLANE)
        return half * b;
    return half * mf_min(a, b);
}

// Whether a pair that is near is examined; `requested` as below.
static inline bool link_pair_is_due(const mf_ArtPlan *plan, const uint8_t *requested,
                                    uint32_t pair) {
    const mf_CollidePlan *collide = mf_art_collide(plan);
    if (pair < collide->pair_count)
        return requested != NULL ? requested[pair] != 0 : mf_art_pair_allowed(plan)[pair];
    if (requested == NULL)
        return true;
    uint32_t indices[2];
    mf_collide_indices(collide, pair, indices);
    const uint8_t *sides = requested + collide->pair_count;
    return mf_art_sides_match(sides[indices[0]], sides[indices[1]]) != 0;
}

// Adds what touches of a pair in `lanes`.
static inline void link_contacts_examine(const mf_ArtPlan *plan, uint32_t number,
                                         const Frames *frames, mf_real reach, mf_mask lanes,
                                         LinkContacts *all) {
    const mf_CollidePlan *collide = mf_art_collide(plan);
    const mf_CollidePair pair = mf_collide_pair_of(collide, number);
    Manifold manifold;
    MF_COLLIDE_KERNEL(mf_collide_pair)(collide, number, frames, reach, &manifold);
    if (manifold.count == 0)
        return;
    mf_mask where = mf_mask_all();
    mf_lane least = mf_set(-reach);
    if (plan->law)
        least = -law_at(plan, &mf_art_laws(plan)[pair.touches].margin);
    // The law counts its margins itself (problem_points.h).
    mf_lane margin = mf_zero();
    if (!plan->law && !plan->hard && reach > 0) {
        margin = mf_set((mf_real)mf_collide_classes(collide)[pair.touches].margin);
        least = mf_zero() - margin;
    }
    all->unsure = mf_or(all->unsure, manifold.unsure);
    all->gap = mf_max(all->gap, manifold.gap);
    if (reach > 0)
        where = contact_pair_allowed(plan, &pair, all->search.spheres, reach);
    const mf_lane thickness = contact_thickness(plan, &pair, all->search.spheres);
    for (uint32_t k = 0; k < manifold.count; k++) {
        const ShapeContact *contact = &manifold.contact[k];
        mf_mask deep = mf_and(contact->exists, mf_less(least, contact->depth));
        mf_mask too_deep = mf_and(mf_and(deep, where), mf_less(thickness, contact->depth));
        all->deep = mf_or(all->deep, too_deep);
        all->deepest = mf_max(all->deepest, mf_keep(too_deep, contact->depth));
        LinkContact link_contact = {.pair = number,
                                    .exists = mf_and(deep, where),
                                    .point = contact->point,
                                    .normal = contact->normal,
                                    .depth = contact->depth + margin,
                                    .force = vec_zero()};
        link_contacts_append(all, &link_contact, lanes);
    }
}

// What touches in `lanes`; contacts of a lane beyond the capacity are left out, with `overflow`
// set. With `requested`, per listed pair and then of floating shapes what a sensor asks of them
// (sensing.h), these pairs are examined instead of those that may touch, and the ground is left
// out.
static inline void link_contacts_find(const mf_ArtPlan *plan, const Contacts *contacts,
                                      const uint8_t *requested, mf_mask lanes, LinkContacts *all) {
    const bool hard = plan->hard && requested == NULL;
    const mf_CollidePlan *collide = mf_art_collide(plan);
    all->found = true;
    all->overflow = false;
    all->count = all->lost = 0;
    all->unsure = mf_not(mf_mask_all());
    all->gap = mf_zero();
    all->deep = all->unsure;
    all->deepest = mf_zero();
    for (uint32_t i = 0; hard && i < plan->contact_count; i++) {
        const Touch *touch = &contacts->touch[i];
        if (!touch->near)
            continue;
        const Pose *pose = &contacts->pose[mf_art_contacts(plan)[i].link + 1];
        LinkContact link_contact = {.pair = MF_NONE,
                                    .touch = i,
                                    .exists = touch->may,
                                    .point =
                                        mat_apply_add(&pose->rotation, touch->arm, pose->position),
                                    .normal = mat_apply(&pose->rotation, touch->normal),
                                    .depth = touch->depth,
                                    .force = vec_zero()};
        link_contacts_append(all, &link_contact, lanes);
    }
    if (collide == NULL)
        return;
    const Frames frames = {(const mf_lane *)&contacts->pose[0], sizeof(Pose) / sizeof(mf_lane),
                           own_shapes(plan)};
    // Hard contacts hold from a little before they touch, or they would start over
    // whenever a bit changes.
    const mf_real step = constant_shared(plan_constants(plan), MF_ART_STEP);
    mf_real reach = hard ? 40 * step * step : 0;
    if (plan->law || (!plan->hard && requested == NULL))
        reach = 2 * (mf_real)plan->reach;
    NearSearch *search = &all->search;
    uint32_t count = MF_COLLIDE_KERNEL(mf_collide_near)(collide, &frames, reach, search);
    do {
        for (uint32_t n = 0; n < count; n++)
            if (link_pair_is_due(plan, requested, search->near[n]))
                link_contacts_examine(plan, search->near[n], &frames, reach, lanes, all);
        count = MF_COLLIDE_KERNEL(mf_collide_near_more)(collide, &frames, reach, search);
    } while (count > 0);
}

// Lanes that have such contacts. A lane does not see by how many contacts of others the list ran
// beyond the capacity; `found` only where the list is that of all.
static inline mf_mask link_contacts_lanes(const mf_ArtPlan *plan, const Contacts *contacts,
                                          LinkContacts *all) {
    mf_mask have = mf_not(mf_mask_all());
    if (mf_art_collide(plan) == NULL && !plan->hard)
        return have;
    for (uint32_t first = 0; first < MF_LANES;) {
        uint32_t width = MF_LANES - first;
        link_contacts_find(plan, contacts, NULL, lane_range(first, width), all);
        for (; all->overflow && width > 1;) {
            width /= 2;
            link_contacts_find(plan, contacts, NULL, lane_range(first, width), all);
        }
        for (uint32_t i = 0; i < all->count; i++)
            have = mf_or(have, all->list[i].exists);
        first += width;
        all->found = width == MF_LANES;
    }
    return have;
}

// Tells of contacts in `lanes` that were not found exactly.
static inline void link_contacts_warn(const LinkContacts *all, mf_mask lanes, Warnings *warnings) {
    warnings_raise(warnings, mf_and(all->unsure, lanes), MF_WARNING_SHAPES, all->gap);
    warnings_raise(warnings, mf_and(all->deep, lanes), MF_WARNING_DEPTH, all->deepest);
}
