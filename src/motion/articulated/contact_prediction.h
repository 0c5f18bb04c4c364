// Estimated forces of contacts between links, used while the contacts with the ground and the
// limits are determined.
//
// Their active set depends on all forces, but contacts between links are solved after them. While
// it is determined, contacts between links have a force from their depth or, if it is stored
// (warm_start.h), that at the end of the previous step, so that a robot that rests on itself mostly
// gets the same active set in every step. The last solution is without these forces: they determine
// the active set, not the forces.
#ifndef MF_MOTION_ARTICULATED_CONTACT_PREDICTION_H
#define MF_MOTION_ARTICULATED_CONTACT_PREDICTION_H

#include "motion/articulated/warm_start.h"
#include "motion/articulated/aba_velocity.h"

static inline void prediction_force(const Contacts *contacts, const LinkContact *contact,
                                    int32_t link, mf_real sign, Work *work) {
    if (link == MF_ART_WORLD)
        return;
    const Pose *pose = &contacts->pose[link + 1];
    PredictedLoad *own = &work->predicted[link + 1];
    Vec force = mat_apply_transposed(&pose->rotation, vec_scale(contact->force, mf_set(sign)));
    Vec arm = mat_apply_transposed(&pose->rotation, vec_sub(contact->point, pose->position));
    own->force = vec_add(own->force, vec_keep(contact->exists, force));
    own->torque = vec_add(own->torque, vec_keep(contact->exists, vec_cross(arm, force)));
    work->touching[link + 1] = true;
}

// The forces of the contacts in the list. Lanes without a contact of a link get +0, which changes
// no bit of a difference.
static inline bool predict_list(const mf_ArtPlan *plan, Work *work) {
    const LinkContacts *all = &work->link_contacts;
    for (uint32_t i = 0; i < all->count; i++) {
        const LinkContact *contact = &all->list[i];
        const mf_CollidePair *pair = &mf_collide_pairs(mf_art_collide(plan))[contact->pair];
        prediction_force(&work->contacts, contact, contact_plan_link(plan, pair->a), -1, work);
        prediction_force(&work->contacts, contact, contact_plan_link(plan, pair->b), 1, work);
    }
    return all->count > 0;
}

// Without a memory the depth tells what a contact at rest bears.
static inline void predict_springs(const mf_ArtPlan *plan, LinkContacts *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        LinkContact *contact = &all->list[i];
        mf_lane depth = mf_clamp(contact->depth, mf_zero(), setting(plan, MF_ART_DEEP));
        contact->force = vec_scale(contact->normal, setting(plan, MF_ART_FORCE) * depth);
    }
}

static inline void prediction_clear(const mf_ArtPlan *plan, Work *work) {
    for (uint32_t l = 0; l <= plan->link_count; l++) {
        work->predicted[l] = MF_VALUE(PredictedLoad, vec_zero(), vec_zero());
        work->touching[l] = false;
    }
}

// Finds what touches and what it presses with; in parts of the lanes where that is more than the
// list holds. False when nothing touches.
static inline bool predict_forces(const mf_ArtPlan *plan, Work *work) {
    LinkContacts *all = &work->link_contacts;
    bool any = false;
    prediction_clear(plan, work);
    work->closing = mf_not(mf_mask_all());
    for (uint32_t first = 0; first < MF_LANES;) {
        uint32_t width = MF_LANES - first;
        link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        for (; all->overflow && width > 1;) {
            width /= 2;
            link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        }
        if (all->memory != NULL)
            warm_start_load(plan, &work->contacts, all);
        else
            predict_springs(plan, all);
        any = predict_list(plan, work) || any;
        for (uint32_t i = 0; i < all->count; i++)
            work->closing = mf_or(work->closing, all->list[i].exists);
        first += width;
        all->found = width == MF_LANES;
    }
    return any;
}

// Adds what is expected to press on link l (-1 = base).
static MF_INLINE void prediction_add(const Work *work, int32_t l, Art *a) {
    if (!work->predicts || !work->touching[l + 1])
        return;
    a->f = vec_sub(a->f, work->predicted[l + 1].force);
    a->n = vec_sub(a->n, work->predicted[l + 1].torque);
}

#endif
