// Adhesion: actuators that pull what touches a body to it. The force is shared by all contacts of
// the body in equal parts and acts along their normals, on both sides (MuJoCo's documentation,
// "XML reference", actuator/adhesion). It is a force of the beginning of the step, like those of
// other actuators; contacts within their margin are pulled together before they touch.
#ifndef MF_MOTION_ARTICULATED_ADHESION_H
#define MF_MOTION_ARTICULATED_ADHESION_H

#include "motion/articulated/actuate_site.h"

static MF_INLINE mf_mask touch_exists(const Touch *touch) {
    return mf_and(touch->may, mf_less(mf_zero(), touch->depth));
}

static MF_INLINE bool contact_at(const mf_ArtPlan *plan, const LinkContact *contact,
                                 uint32_t body) {
    const mf_CollidePair *pair;
    if (contact->pair == MF_NONE) // with the ground: a touch, too
        return false;
    pair = &mf_collide_pairs(mf_art_collide(plan))[contact->pair];
    return mf_art_shape_body(plan)[pair->a] == body || mf_art_shape_body(plan)[pair->b] == body;
}

// How many contacts a body has in each lane.
static inline mf_lane adhesion_count(const mf_ArtPlan *plan, const Work *work, uint32_t body) {
    const mf_lane one = mf_set((mf_real)1);
    mf_lane count = mf_zero();
    const uint32_t *contact_body = mf_art_contact_body(plan);
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++)
        if (work->contacts.touch[i].near && contact_body[i] == body)
            count = count + mf_keep(touch_exists(&work->contacts.touch[i]), one);
    for (uint32_t i = 0; i < work->link_contacts.count; i++)
        if (contact_at(plan, &work->link_contacts.list[i], body))
            count = count + mf_keep(work->link_contacts.list[i].exists, one);
    return count;
}

// Pulls with `share` [N] at each contact of a body.
static inline void adhesion_pull(const mf_ArtPlan *plan, uint32_t body, mf_lane share,
                                 mf_mask lanes, Work *work) {
    const mf_ArtContact *contacts = mf_art_contacts(plan);
    const uint32_t *contact_body = mf_art_contact_body(plan);
    for (uint32_t i = 0; work->contacts.any && i < plan->contact_count; i++) {
        const Touch *touch = &work->contacts.touch[i];
        const int32_t link = contacts[i].link;
        if (!touch->near || contact_body[i] != body || is_still(plan, link))
            continue;
        const mf_lane pull = mf_keep(mf_and(lanes, touch_exists(touch)), share);
        const Vec force = vec_scale(touch->normal, -pull);
        Wrench *wrench = &work->actuation.wrench[link + 1];
        wrench->force = vec_add(wrench->force, force);
        wrench->torque = vec_cross_add(touch->arm, force, wrench->torque);
    }
    for (uint32_t i = 0; i < work->link_contacts.count; i++) {
        const LinkContact *contact = &work->link_contacts.list[i];
        if (!contact_at(plan, contact, body))
            continue;
        const mf_CollidePair *pair = &mf_collide_pairs(mf_art_collide(plan))[contact->pair];
        const mf_lane pull = mf_keep(mf_and(lanes, contact->exists), share);
        const Vec force = vec_scale(contact->normal, pull);
        force_from_world(plan, contact_plan_link(plan, pair->a), contact->point, force, vec_zero(),
                         work);
        force_from_world(plan, contact_plan_link(plan, pair->b), contact->point,
                         vec_negative(force), vec_zero(), work);
    }
}

static inline void adhesion_lanes(const mf_ArtPlan *plan, mf_mask lanes, Work *work) {
    const mf_lane one = mf_set((mf_real)1);
    const mf_ArtActuator *actuators = mf_art_actuators(plan);
    for (uint32_t i = 0; i < plan->actuator_count; i++) {
        const mf_ArtActuator *actuator = &actuators[i];
        if (actuator->acts != MF_ART_ADHESION)
            continue;
        const mf_lane count = adhesion_count(plan, work, actuator->body);
        adhesion_pull(plan, actuator->body, work->actuation.force[i] / mf_max(count, one), lanes,
                      work);
    }
}

// Poses, forces of actuators and contacts with the ground must be there. Contacts between links are
// found in parts of the lanes where they are more than the list holds.
static inline void adhere(const mf_ArtPlan *plan, Work *work) {
    LinkContacts *all = &work->link_contacts;
    all->count = 0;
    if (mf_art_collide(plan) == NULL) {
        adhesion_lanes(plan, mf_mask_all(), work);
        return;
    }
    for (uint32_t first = 0, width; first < MF_LANES; first += width) {
        width = MF_LANES - first;
        link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        while (all->overflow && width > 1) {
            width /= 2;
            link_contacts_find(plan, &work->contacts, NULL, lane_range(first, width), all);
        }
        adhesion_lanes(plan, lane_range(first, width), work);
        // The solver of MuJoCo's law goes on with a list of all lanes; others look again.
        all->found = plan->law && width == MF_LANES && !all->overflow;
    }
}

#endif
