// Estimated forces of contacts between links, used while the contacts with the ground and the
// limits are determined.
//
// Their active set depends on all forces, but contacts between links are solved after them. While
// it is determined, contacts between links have a force from their depth or, if it is stored
// (recall.h), that at the end of the previous step, so that a robot that rests on itself mostly
// gets the same active set in every step. The last solution is without these forces: they determine
// the active set, not the forces.
#ifndef MF_MOTION_ARTICULATED_EXPECT_H
#define MF_MOTION_ARTICULATED_EXPECT_H

#include "motion/articulated/recall.h"
#include "motion/articulated/spread.h"

static inline void expect_force(const Contacts *contacts, const Meeting *meeting, int32_t link,
                                mf_real sign, Work *work) {
    if (link == MF_ART_WORLD)
        return;
    const Pose *pose = &contacts->pose[link + 1];
    Expected *own = &work->expected[link + 1];
    Vec force = mat_apply_transposed(&pose->turn, vec_scale(meeting->force, mf_set(sign)));
    Vec arm = mat_apply_transposed(&pose->turn, vec_sub(meeting->point, pose->place));
    own->force = vec_add(own->force, vec_keep(meeting->exists, force));
    own->torque = vec_add(own->torque, vec_keep(meeting->exists, vec_cross(arm, force)));
    work->met[link + 1] = true;
}

// The forces of the contacts in the list. Lanes without a contact of a link get +0, which changes
// no bit of a difference.
static inline bool expect_list(const mf_ArtPlan *plan, Work *work) {
    const Meetings *all = &work->meetings;
    for (uint32_t i = 0; i < all->count; i++) {
        const Meeting *meeting = &all->list[i];
        const mf_CollidePair *pair = &plan->collide->pairs[meeting->pair];
        expect_force(&work->contacts, meeting, meeting_link(plan, pair->a), -1, work);
        expect_force(&work->contacts, meeting, meeting_link(plan, pair->b), 1, work);
    }
    return all->count > 0;
}

// Without a memory the depth tells what a contact at rest bears.
static inline void expect_springs(const mf_ArtPlan *plan, Meetings *all) {
    for (uint32_t i = 0; i < all->count; i++) {
        Meeting *meeting = &all->list[i];
        mf_lane depth = mf_clamp(meeting->depth, mf_zero(), setting(plan, MF_ART_DEEP));
        meeting->force = vec_scale(meeting->normal, setting(plan, MF_ART_PUSH) * depth);
    }
}

static inline void expect_nothing(const mf_ArtPlan *plan, Work *work) {
    for (uint32_t l = 0; l <= plan->link_count; l++) {
        work->expected[l] = MF_VALUE(Expected, vec_zero(), vec_zero());
        work->met[l] = false;
    }
}

// Finds what touches and what it presses with; in parts of the lanes where that is more than the
// list holds. False when nothing touches.
static inline bool expect_forces(const mf_ArtPlan *plan, Work *work) {
    Meetings *all = &work->meetings;
    bool any = false;
    expect_nothing(plan, work);
    for (uint32_t first = 0; first < MF_LANES;) {
        uint32_t width = MF_LANES - first;
        meetings_find(plan, &work->contacts, lane_range(first, width), all);
        for (; all->overflow && width > 1;) {
            width /= 2;
            meetings_find(plan, &work->contacts, lane_range(first, width), all);
        }
        if (all->memory != NULL)
            meetings_recall(plan, &work->contacts, all);
        else
            expect_springs(plan, all);
        any = expect_list(plan, work) || any;
        first += width;
        all->found = width == MF_LANES;
    }
    return any;
}

// Adds what is expected to press on link l (-1 = base).
static MF_INLINE void expect_add(const Work *work, int32_t l, Art *a) {
    if (!work->expects || !work->met[l + 1])
        return;
    a->f = vec_sub(a->f, work->expected[l + 1].force);
    a->n = vec_sub(a->n, work->expected[l + 1].torque);
}

#endif
